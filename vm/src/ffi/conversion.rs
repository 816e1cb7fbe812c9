//! Which conversion turns a value of one C type into another: decided from the types alone.

use super::ctype::{CType, CTypeId, CTypeTable, Ct, Info, NO_SIZE, attrib};
use super::scalar::Scalar;

/// A conversion.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// Between scalars.
    Scalar {
        /// How the source is in memory.
        from: Scalar,
        /// How the destination is.
        to: Scalar,
    },
    /// So many bytes are copied.
    Copy(u32),
    /// A scalar becomes the real part of a complex number.
    ToComplex {
        /// How the source is in memory.
        from: Scalar,
        /// How the parts of the destination are.
        to: Scalar,
    },
    /// Between complex numbers.
    Complex {
        /// How the parts of the source are in memory.
        from: Scalar,
        /// How the parts of the destination are.
        to: Scalar,
    },
    /// A scalar becomes each element of a vector.
    Splat {
        /// How the source is in memory.
        from: Scalar,
        /// How elements are.
        to: Scalar,
        /// Number of elements.
        count: u32,
    },
    /// The address of the source becomes a pointer or an integer.
    Address(Scalar),
}

/// What a conversion may do.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// It is a cast.
    pub cast: bool,
    /// The source is a number of Lua, a string or nil.
    pub from_lua: bool,
}

/// The scalar that an entry is. Pointers of 32 bits are integers.
pub fn scalar(ct: &CType) -> Option<Scalar> {
    if ct.info.is_ptr() && ct.size == 4 { Some(Scalar::U32) } else { Scalar::of(ct.info, ct.size) }
}

/// The type that values of a type have for conversions: without attributes, and the integer that an enumeration is.
pub fn value_type(types: &CTypeTable, id: CTypeId) -> CTypeId {
    let id = types.raw_id(id);
    let ct = types.get(id);
    if ct.info.is_enum() && id != CTypeId::CTYPEID { types.raw_child(ct) } else { id }
}

/// The conversion to the type `d` from the type `s`; none if there is none.
pub fn conversion(types: &CTypeTable, d: CTypeId, s: CTypeId, rules: Rules) -> Option<Conversion> {
    let (d, s) = (value_type(types, d), value_type(types, s));
    let (dt, st) = (types.get(d), types.get(s));
    let same_size = dt.size == st.size && dt.size != NO_SIZE;
    let copy = || same_size.then_some(Conversion::Copy(dt.size));
    // What a scalar is read from: the number itself, or the real part of a complex number.
    let number = || {
        if st.info.is_num() {
            scalar(st)
        } else if st.info.is_complex() {
            scalar(types.raw(st.info.child()))
        } else {
            None
        }
    };
    match dt.info.ct() {
        Ct::Num => {
            let to = scalar(dt);
            match st.info.ct() {
                Ct::Num | Ct::Array if st.info.is_num() || st.info.is_complex() => match (number(), to) {
                    (Some(_), Some(Scalar::Bool)) if st.info.is_complex() => None,
                    (Some(from), Some(to)) => Some(Conversion::Scalar { from, to }),
                    // Numbers of more than 64 bits can be copied.
                    _ if st.info.is_fp() == dt.info.is_fp() && st.info.is_num() => copy(),
                    _ => None,
                },
                Ct::Ptr if rules.cast && dt.info.is_integer() => Some(Conversion::Scalar { from: scalar(st)?, to: to? }),
                Ct::Array if rules.cast && dt.info.is_integer() && st.info.is_plain_array() => Some(Conversion::Address(to?)),
                _ => None,
            }
        }
        Ct::Array if dt.info.is_complex() => {
            let to = scalar(types.get(types.raw_child(dt)))?;
            if st.info.is_complex() {
                return if same_size { copy() } else { Some(Conversion::Complex { from: number()?, to }) };
            }
            let fits = st.info.is_integer() || st.info.is_fp();
            if fits { Some(Conversion::ToComplex { from: number()?, to }) } else { None }
        }
        Ct::Array if dt.info.is_vector() => {
            if st.info.is_vector() {
                return copy();
            }
            let element = types.get(types.raw_child(dt));
            let (to, count) = (scalar(element)?, dt.size / element.size);
            let fits = st.info.is_integer() || st.info.is_fp() || st.info.is_complex();
            if fits { Some(Conversion::Splat { from: number()?, to, count }) } else { None }
        }
        Ct::Array => {
            let fits = st.info.is_plain_array() && !rules.cast && !dt.info.has(Info::VLA);
            if fits && compatible(types, d, s, rules, Qualifiers::Kept) { copy() } else { None }
        }
        Ct::Ptr => {
            let to = scalar(dt)?;
            match st.info.ct() {
                Ct::Num if rules.cast && st.info.is_integer() => Some(Conversion::Scalar { from: scalar(st)?, to }),
                Ct::Num if rules.cast && rules.from_lua && st.info.is_fp() => {
                    Some(Conversion::Scalar { from: scalar(st)?, to: if to == Scalar::U32 { to } else { Scalar::I64 } })
                }
                Ct::Ptr if compatible(types, d, s, rules, Qualifiers::Kept) => Some(Conversion::Scalar { from: scalar(st)?, to }),
                Ct::Array | Ct::Struct
                    if (st.info.is_struct() || st.info.is_plain_array()) && compatible(types, d, s, rules, Qualifiers::Kept) =>
                {
                    Some(Conversion::Address(to))
                }
                _ => None,
            }
        }
        Ct::Struct if d == s && !rules.cast && !dt.info.has(Info::VLA) => copy(),
        _ => None,
    }
}

/// How the qualifiers of what two pointers point to must agree.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Qualifiers {
    /// The destination has all those of the source.
    Kept,
    /// They are the same.
    Same,
    /// They do not matter.
    Ignored,
}

/// The child of an entry without attributes and enumerations, and its qualifiers.
fn qualified_child(types: &CTypeTable, id: CTypeId) -> (CTypeId, u32) {
    let mut id = types.get(id).info.child();
    let mut qual = 0;
    loop {
        let ct = types.get(id);
        match ct.info.ct() {
            Ct::Attrib => {
                if ct.info.attrib() == attrib::QUAL {
                    qual |= ct.size;
                }
            }
            Ct::Enum => {}
            _ => return (id, qual | ct.info.qualifiers()),
        }
        id = ct.info.child();
    }
}

/// Can a pointer (or array) `d` be made from `s`: a pointer or array, or a struct that it then points to? More is accepted than in C.
pub fn compatible(types: &CTypeTable, d: CTypeId, s: CTypeId, rules: Rules, qualifiers: Qualifiers) -> bool {
    if rules.cast || d == s {
        return true;
    }
    let (dc, dqual) = qualified_child(types, d);
    let (sc, squal) = if types.get(s).info.is_struct() { (s, 0) } else { qualified_child(types, s) };
    let (dt, st) = (types.get(dc), types.get(sc));
    match qualifiers {
        Qualifiers::Same if dqual != squal => return false,
        Qualifiers::Kept if dqual & squal != squal => return false,
        // Pointers to void are made from all others.
        Qualifiers::Kept if dt.info.is_void() || st.info.is_void() => return true,
        _ => {}
    }
    if dt.info.ct() != st.info.ct() || dt.size != st.size {
        return false;
    }
    match dt.info.ct() {
        Ct::Num => (dt.info.0 ^ st.info.0) & (Info::BOOL | Info::FP) == 0,
        Ct::Ptr | Ct::Array => compatible(types, dc, sc, rules, Qualifiers::Same),
        Ct::Struct => dc == sc,
        _ => true,
    }
}
