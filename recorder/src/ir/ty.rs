//! Types of IR values.

use perilune_vm::Value;
use perilune_vm::layout::AbiType;
use perilune_vm::value as v;

/// The type of an IR value, with LuaJIT's numbering (its tools index an array by it).
///
/// Representation at run time: `Nil`, `False` and `True` have none (the type is the value); strings, tables, functions and the
/// other objects are untagged pointers; `Num` is an `f64`; `Int` (and the narrow integer types of loads, zero- or sign-extended)
/// an `i32`; `Float` is an `f32`; `P64`, `I64`, `U64` are 64-bit words. A [`Ty::U64`] operand of a helper that wants a boxed value is boxed by the
/// backend according to the type of the reference.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Ty {
    /// nil
    Nil = 0,
    /// false
    False = 1,
    /// true
    True = 2,
    /// light userdata
    LightUd = 3,
    /// string
    Str = 4,
    /// 32-bit pointer (unused)
    P32 = 5,
    /// coroutine
    Thread = 6,
    /// prototype
    Proto = 7,
    /// function
    Func = 8,
    /// 64-bit pointer
    P64 = 9,
    /// cdata
    Cdata = 10,
    /// table
    Tab = 11,
    /// userdata
    Udata = 12,
    /// f32
    Float = 13,
    /// f64
    Num = 14,
    /// i8 in memory
    I8 = 15,
    /// u8 in memory
    U8 = 16,
    /// i16 in memory
    I16 = 17,
    /// u16 in memory
    U16 = 18,
    /// i32
    Int = 19,
    /// u32
    U32 = 20,
    /// i64
    I64 = 21,
    /// u64, or any boxed value
    U64 = 22,
    /// (unused)
    SoftFp = 23,
}

impl Ty {
    /// Three-letter names, as LuaJIT's dump prints them.
    pub const NAMES: [&'static str; 24] = [
        "nil", "fal", "tru", "lud", "str", "p32", "thr", "pro", "fun", "p64", "cdt", "tab", "udt", "flt", "num", "i8 ", "u8 ",
        "i16", "u16", "int", "u32", "i64", "u64", "sfp",
    ];
    /// All types in order.
    #[rustfmt::skip]
    pub const ALL: [Ty; 24] = [
        Ty::Nil, Ty::False, Ty::True, Ty::LightUd, Ty::Str, Ty::P32, Ty::Thread, Ty::Proto, Ty::Func, Ty::P64, Ty::Cdata, Ty::Tab,
        Ty::Udata, Ty::Float, Ty::Num, Ty::I8, Ty::U8, Ty::I16, Ty::U16, Ty::Int, Ty::U32, Ty::I64, Ty::U64, Ty::SoftFp,
    ];
    /// The IR type of a field, or of an argument or result of a helper.
    pub const fn of_abi(ty: AbiType) -> Ty {
        match ty {
            AbiType::Nil => Ty::Nil,
            AbiType::Int => Ty::Int,
            AbiType::Num => Ty::Num,
            AbiType::U8 => Ty::U8,
            AbiType::P64 => Ty::P64,
            AbiType::U64 => Ty::U64,
            AbiType::I64 => Ty::I64,
            AbiType::Str | AbiType::NewStr => Ty::Str,
            AbiType::Tab => Ty::Tab,
            AbiType::Func => Ty::Func,
            AbiType::Proto => Ty::Proto,
            AbiType::Thread => Ty::Thread,
            AbiType::Udata => Ty::Udata,
            AbiType::Cdata | AbiType::NewCdata => Ty::Cdata,
        }
    }
    /// The type of a value as a trace sees it.
    #[inline]
    pub const fn of_value(v: Value) -> Ty {
        if v.is_num() {
            Ty::Num
        } else if v.is_int() {
            Ty::Int
        } else {
            // The complement of a tag is LuaJIT's number of the type.
            Ty::ALL[(!v.tag() & 0x1f) as usize]
        }
    }
    /// The value of a type that has only one; `None` for other types.
    pub const fn pri_value(self) -> Option<Value> {
        match self {
            Ty::Nil => Some(Value::NIL),
            Ty::False => Some(Value::FALSE),
            Ty::True => Some(Value::TRUE),
            _ => None,
        }
    }
    /// The tag of boxed values, for types that are untagged pointers in traces.
    pub const fn tag(self) -> Option<u64> {
        match self {
            Ty::LightUd => Some(v::TAG_LIGHTUD),
            Ty::Str => Some(v::TAG_STR),
            Ty::Thread => Some(v::TAG_THREAD),
            Ty::Proto => Some(v::TAG_PROTO),
            Ty::Func => Some(v::TAG_FUNC),
            Ty::Cdata => Some(v::TAG_CDATA),
            Ty::Tab => Some(v::TAG_TAB),
            Ty::Udata => Some(v::TAG_UDATA),
            Ty::Nil | Ty::False | Ty::True | Ty::P32 | Ty::P64 | Ty::Float | Ty::Num | Ty::I8 | Ty::U8 => None,
            Ty::I16 | Ty::U16 | Ty::Int | Ty::U32 | Ty::I64 | Ty::U64 | Ty::SoftFp => None,
        }
    }
    /// Is it one of nil, false, true, which carry no run-time value?
    pub const fn is_pri(self) -> bool {
        (self as u8) <= Ty::True as u8
    }
    /// Is it a number (integer or float)?
    pub const fn is_number(self) -> bool {
        matches!(self, Ty::Num | Ty::Int)
    }
    /// Is it a 32-bit integer (of any width in memory)?
    pub const fn is_int(self) -> bool {
        (self as u8) >= Ty::I8 as u8 && (self as u8) <= Ty::U32 as u8
    }
    /// Is it a 64-bit word: an integer or an address?
    pub const fn is_word(self) -> bool {
        matches!(self, Ty::P64 | Ty::I64 | Ty::U64)
    }
    /// Is it a floating-point number?
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::Num | Ty::Float)
    }
    /// Bytes in memory, for raw loads and stores.
    pub const fn size(self) -> i64 {
        match self {
            Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 => 2,
            Ty::Int | Ty::U32 | Ty::Float => 4,
            _ => 8,
        }
    }
    /// Is it a collectable object?
    pub const fn is_gc(self) -> bool {
        matches!(self, Ty::Str | Ty::Thread | Ty::Proto | Ty::Func | Ty::Cdata | Ty::Tab | Ty::Udata)
    }
}
const _: () = assert!(Ty::ALL[19] as u8 == Ty::Int as u8 && Ty::ALL.len() == Ty::NAMES.len());
