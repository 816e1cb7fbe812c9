//! The keywords of C declarations. They are entries of the table of types, so that one search finds what an identifier means.

use super::ctype::{NO_SIZE, cconv};

/// What a keyword means. The words up to [`Keyword::Register`] are specifiers of a declaration.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[allow(missing_docs, reason = "named after the keywords of C")]
pub enum Keyword {
    Void,
    Bool,
    Char,
    Int,
    Float,
    Long,
    /// Two `long`.
    LongLong,
    Short,
    Complex,
    Signed,
    Unsigned,
    Const,
    Volatile,
    Restrict,
    Inline,
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
    Extension,
    Asm,
    Attribute,
    Declspec,
    CallingConvention,
    PointerSize,
    Struct,
    Union,
    Enum,
    Sizeof,
    Alignof,
}

impl Keyword {
    const ALL: [Keyword; 31] = [
        Keyword::Void,
        Keyword::Bool,
        Keyword::Char,
        Keyword::Int,
        Keyword::Float,
        Keyword::Long,
        Keyword::LongLong,
        Keyword::Short,
        Keyword::Complex,
        Keyword::Signed,
        Keyword::Unsigned,
        Keyword::Const,
        Keyword::Volatile,
        Keyword::Restrict,
        Keyword::Inline,
        Keyword::Typedef,
        Keyword::Extern,
        Keyword::Static,
        Keyword::Auto,
        Keyword::Register,
        Keyword::Extension,
        Keyword::Asm,
        Keyword::Attribute,
        Keyword::Declspec,
        Keyword::CallingConvention,
        Keyword::PointerSize,
        Keyword::Struct,
        Keyword::Union,
        Keyword::Enum,
        Keyword::Sizeof,
        Keyword::Alignof,
    ];
    /// The keyword with a number.
    pub fn from_number(n: u32) -> Option<Keyword> {
        Keyword::ALL.get(n as usize).copied()
    }
    /// The keyword as a bit in a set of specifiers.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }
    /// Is it a specifier of a declaration: a word of a type, a qualifier or a storage class?
    pub fn is_specifier(self) -> bool {
        self <= Keyword::Register
    }
    /// Can a declaration begin with it?
    pub fn begins_declaration(self) -> bool {
        self <= Keyword::Enum
    }
    /// A storage class?
    pub fn is_storage_class(self) -> bool {
        (Keyword::Typedef..=Keyword::Register).contains(&self)
    }
}

/// Spelling, size of the type or number of the calling convention, and meaning.
pub const KEYWORDS: &[(&str, u32, Keyword)] = &[
    ("void", NO_SIZE, Keyword::Void),
    ("_Bool", 0, Keyword::Bool),
    ("bool", 1, Keyword::Bool),
    ("char", 1, Keyword::Char),
    ("int", 4, Keyword::Int),
    ("__int8", 1, Keyword::Int),
    ("__int16", 2, Keyword::Int),
    ("__int32", 4, Keyword::Int),
    ("__int64", 8, Keyword::Int),
    ("__int128", 16, Keyword::Int),
    ("float", 4, Keyword::Float),
    ("double", 8, Keyword::Float),
    ("long", 0, Keyword::Long),
    ("short", 0, Keyword::Short),
    ("_Complex", 0, Keyword::Complex),
    ("complex", 0, Keyword::Complex),
    ("__complex", 0, Keyword::Complex),
    ("__complex__", 0, Keyword::Complex),
    ("signed", 0, Keyword::Signed),
    ("__signed", 0, Keyword::Signed),
    ("__signed__", 0, Keyword::Signed),
    ("unsigned", 0, Keyword::Unsigned),
    ("const", 0, Keyword::Const),
    ("__const", 0, Keyword::Const),
    ("__const__", 0, Keyword::Const),
    ("volatile", 0, Keyword::Volatile),
    ("__volatile", 0, Keyword::Volatile),
    ("__volatile__", 0, Keyword::Volatile),
    ("restrict", 0, Keyword::Restrict),
    ("__restrict", 0, Keyword::Restrict),
    ("__restrict__", 0, Keyword::Restrict),
    ("inline", 0, Keyword::Inline),
    ("__inline", 0, Keyword::Inline),
    ("__inline__", 0, Keyword::Inline),
    ("typedef", 0, Keyword::Typedef),
    ("extern", 0, Keyword::Extern),
    ("static", 0, Keyword::Static),
    ("auto", 0, Keyword::Auto),
    ("register", 0, Keyword::Register),
    ("__extension__", 0, Keyword::Extension),
    ("__attribute", 0, Keyword::Attribute),
    ("__attribute__", 0, Keyword::Attribute),
    ("asm", 0, Keyword::Asm),
    ("__asm", 0, Keyword::Asm),
    ("__asm__", 0, Keyword::Asm),
    ("__declspec", 0, Keyword::Declspec),
    ("__cdecl", cconv::CDECL, Keyword::CallingConvention),
    ("__thiscall", cconv::THISCALL, Keyword::CallingConvention),
    ("__fastcall", cconv::FASTCALL, Keyword::CallingConvention),
    ("__stdcall", cconv::STDCALL, Keyword::CallingConvention),
    ("__ptr32", 4, Keyword::PointerSize),
    ("__ptr64", 8, Keyword::PointerSize),
    ("struct", 0, Keyword::Struct),
    ("union", 0, Keyword::Union),
    ("enum", 0, Keyword::Enum),
    ("sizeof", 0, Keyword::Sizeof),
    ("__alignof", 0, Keyword::Alignof),
    ("__alignof__", 0, Keyword::Alignof),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (n, k) in Keyword::ALL.iter().enumerate() {
            assert_eq!(*k as usize, n);
        }
    }
}
