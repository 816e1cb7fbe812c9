//! The info words of the table of C types: what an entry is, its attributes, calling conventions, flags.

use super::CTypeId;

/// What an entry of the table is: the highest four bits of its [`Info`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Ct {
    /// An integer, a boolean or a floating-point number.
    Num,
    /// A struct or union; fields follow as siblings.
    Struct,
    /// A pointer or reference.
    Ptr,
    /// An array, vector or complex number.
    Array,
    /// `void`
    Void,
    /// An enumeration; constants follow as siblings.
    Enum,
    /// A function; parameters follow as siblings.
    Func,
    /// A typedef.
    Typedef,
    /// An attribute of its child.
    Attrib,
    /// A field, or a parameter of a function.
    Field,
    /// A bitfield.
    Bitfield,
    /// A constant.
    Constval,
    /// A variable or function of a library.
    Extern,
    /// A keyword.
    Kw,
}

impl Ct {
    const ALL: [Ct; 14] = [
        Ct::Num,
        Ct::Struct,
        Ct::Ptr,
        Ct::Array,
        Ct::Void,
        Ct::Enum,
        Ct::Func,
        Ct::Typedef,
        Ct::Attrib,
        Ct::Field,
        Ct::Bitfield,
        Ct::Constval,
        Ct::Extern,
        Ct::Kw,
    ];
}

/// Attributes, the number in an entry of the kind [`Ct::Attrib`].
pub mod attrib {
    /// Qualifiers; the entry's size has the flags.
    pub const QUAL: u32 = 1;
    /// Another alignment; the entry's size has its logarithm.
    pub const ALIGN: u32 = 2;
    /// A member without a name, whose fields are those of the struct; the entry's size is its offset.
    pub const SUBTYPE: u32 = 3;
    /// The name of the symbol of the entry before.
    pub const REDIR: u32 = 4;
    /// Not a type.
    pub const BAD: u32 = 5;
}

/// Calling conventions, as in the info word of a function. The platforms at hand have one; the words are kept for `ffi.typeinfo`.
pub mod cconv {
    /// `__cdecl`
    pub const CDECL: u32 = 0;
    /// `__thiscall`
    pub const THISCALL: u32 = 1;
    /// `__fastcall`
    pub const FASTCALL: u32 = 2;
    /// `__stdcall`
    pub const STDCALL: u32 = 3;
}

/// The info word of an entry: its kind, flags, and for most kinds its alignment and the number of its child.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Info(pub u32);

impl Info {
    /// A boolean (numbers, bitfields).
    pub const BOOL: u32 = 0x0800_0000;
    /// Floating-point (numbers).
    pub const FP: u32 = 0x0400_0000;
    /// `const`
    pub const CONST: u32 = 0x0200_0000;
    /// `volatile`
    pub const VOLATILE: u32 = 0x0100_0000;
    /// Both qualifiers.
    pub const QUAL: u32 = Info::CONST | Info::VOLATILE;
    /// Unsigned (numbers, bitfields).
    pub const UNSIGNED: u32 = 0x0080_0000;
    /// `long` (numbers).
    pub const LONG: u32 = 0x0040_0000;
    /// Of variable size (arrays, structs).
    pub const VLA: u32 = 0x0010_0000;
    /// A reference (pointers).
    pub const REF: u32 = 0x0080_0000;
    /// A vector (arrays).
    pub const VECTOR: u32 = 0x0800_0000;
    /// A complex number (arrays).
    pub const COMPLEX: u32 = 0x0400_0000;
    /// A union (structs).
    pub const UNION: u32 = 0x0080_0000;
    /// With `...` (functions).
    pub const VARARG: u32 = 0x0080_0000;
    /// The bits of the alignment.
    pub const ALIGN_MASK: u32 = 15 << Info::ALIGN_SHIFT;
    const KIND_SHIFT: u32 = 28;
    pub(super) const ALIGN_SHIFT: u32 = 16;
    const CID_MASK: u32 = 0xffff;
    const KIND_MASK: u32 = 15 << Info::KIND_SHIFT;

    /// A word of a kind, with flags.
    pub const fn new(ct: Ct, flags: u32) -> Info {
        Info((ct as u32) << Info::KIND_SHIFT | flags)
    }
    /// The flag bits of an alignment of `1 << log` bytes.
    pub const fn align_flags(log: u32) -> u32 {
        log << Info::ALIGN_SHIFT
    }
    /// The word of an attribute.
    pub const fn attrib_of(number: u32, child: CTypeId) -> Info {
        Info::new(Ct::Attrib, number << Info::ALIGN_SHIFT | child.0)
    }
    /// The word of a pointer.
    pub const fn pointer(child: CTypeId, flags: u32) -> Info {
        Info::new(Ct::Ptr, flags | Info::align_flags(3) | child.0)
    }
    /// The word of a reference.
    pub const fn reference(child: CTypeId) -> Info {
        Info::pointer(child, Info::CONST | Info::REF)
    }
    /// The word of a bitfield: at bit `pos` of a container of `container` bytes, `bits` wide.
    pub const fn bitfield(flags: u32, pos: u32, bits: u32, container: u32) -> Info {
        Info::new(Ct::Bitfield, flags | pos | bits << 8 | container << 16)
    }
    /// The kind.
    pub const fn ct(self) -> Ct {
        let n = (self.0 >> Info::KIND_SHIFT) as usize;
        // Words are made from kinds only.
        if n < Ct::ALL.len() { Ct::ALL[n] } else { Ct::Kw }
    }
    /// The child's number, or 0.
    pub const fn child(self) -> CTypeId {
        CTypeId(self.0 & Info::CID_MASK)
    }
    /// The same word with another child.
    pub const fn with_child(self, child: CTypeId) -> Info {
        Info(self.0 & !Info::CID_MASK | child.0)
    }
    /// Has it all of these flags?
    pub const fn has(self, flags: u32) -> bool {
        self.0 & flags == flags
    }
    /// Its qualifiers.
    pub const fn qualifiers(self) -> u32 {
        self.0 & Info::QUAL
    }
    /// Logarithm of the alignment.
    pub const fn align_log(self) -> u32 {
        self.0 >> Info::ALIGN_SHIFT & 15
    }
    /// The same word with another alignment.
    pub const fn with_align_log(self, log: u32) -> Info {
        Info(self.0 & !Info::ALIGN_MASK | Info::align_flags(log))
    }
    /// The number of an attribute.
    pub const fn attrib(self) -> u32 {
        self.0 >> Info::ALIGN_SHIFT & 0xff
    }
    /// First bit of a bitfield in its container.
    pub const fn bit_pos(self) -> u32 {
        self.0 & 127
    }
    /// Width of a bitfield in bits.
    pub const fn bit_size(self) -> u32 {
        self.0 >> 8 & 127
    }
    /// Bytes of the container of a bitfield.
    pub const fn bit_container(self) -> u32 {
        self.0 >> 16 & 127
    }
    const fn is(self, mask: u32, ct: Ct, flags: u32) -> bool {
        self.0 & (Info::KIND_MASK | mask) == Info::new(ct, flags).0
    }
    /// Is it a number (an integer, a boolean, floating-point)?
    pub const fn is_num(self) -> bool {
        self.is(0, Ct::Num, 0)
    }
    /// An integer, but no boolean?
    pub const fn is_integer(self) -> bool {
        self.is(Info::BOOL | Info::FP, Ct::Num, 0)
    }
    /// An integer or a boolean?
    pub const fn is_integer_or_bool(self) -> bool {
        self.is(Info::FP, Ct::Num, 0)
    }
    /// A boolean?
    pub const fn is_bool(self) -> bool {
        self.is(Info::BOOL, Ct::Num, Info::BOOL)
    }
    /// Floating-point?
    pub const fn is_fp(self) -> bool {
        self.is(Info::FP, Ct::Num, Info::FP)
    }
    /// Is it of this kind?
    pub const fn is_ct(self, ct: Ct) -> bool {
        self.is(0, ct, 0)
    }
    /// A struct or union?
    pub const fn is_struct(self) -> bool {
        self.is_ct(Ct::Struct)
    }
    /// A pointer or reference?
    pub const fn is_ptr(self) -> bool {
        self.is_ct(Ct::Ptr)
    }
    /// A reference?
    pub const fn is_ref(self) -> bool {
        self.is(Info::REF, Ct::Ptr, Info::REF)
    }
    /// A pointer, a reference, or any kind of array?
    pub const fn is_pointer_or_array(self) -> bool {
        self.is_ptr() || self.is_array()
    }
    /// Any kind of array?
    pub const fn is_array(self) -> bool {
        self.is_ct(Ct::Array)
    }
    /// An array that is neither a vector nor complex: it converts to a pointer.
    pub const fn is_plain_array(self) -> bool {
        self.is(Info::VECTOR | Info::COMPLEX, Ct::Array, 0)
    }
    /// A vector?
    pub const fn is_vector(self) -> bool {
        self.is(Info::VECTOR, Ct::Array, Info::VECTOR)
    }
    /// A complex number?
    pub const fn is_complex(self) -> bool {
        self.is(Info::COMPLEX, Ct::Array, Info::COMPLEX)
    }
    /// An array or a struct of variable size?
    pub const fn is_variable(self) -> bool {
        (self.is_array() || self.is_struct()) && self.has(Info::VLA)
    }
    /// An array of variable size?
    pub const fn is_variable_array(self) -> bool {
        self.is_array() && self.has(Info::VLA)
    }
    /// `void`?
    pub const fn is_void(self) -> bool {
        self.is_ct(Ct::Void)
    }
    /// An enumeration?
    pub const fn is_enum(self) -> bool {
        self.is_ct(Ct::Enum)
    }
    /// A function?
    pub const fn is_func(self) -> bool {
        self.is_ct(Ct::Func)
    }
    /// An attribute?
    pub const fn is_attrib(self) -> bool {
        self.is_ct(Ct::Attrib)
    }
    /// The attribute of this number?
    pub const fn is_attrib_of(self, number: u32) -> bool {
        self.is_attrib() && self.attrib() == number
    }
    /// Does the entry's size say how large values of the type are?
    pub const fn has_size(self) -> bool {
        (self.0 >> Info::KIND_SHIFT) <= Ct::Enum as u32
    }
}
