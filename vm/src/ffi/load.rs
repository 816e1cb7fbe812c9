//! How a value of a C type becomes a value of Lua: decided from the type alone.

use super::conversion::scalar;
use super::ctype::{CTypeId, CTypeTable, NO_SIZE};
use super::scalar::Scalar;

/// What is made of the bytes at an address.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Load {
    /// A number or boolean.
    Scalar(Scalar),
    /// A cdata of this type and size, with a copy.
    Copy {
        /// Its type.
        id: CTypeId,
        /// Its size.
        size: u32,
    },
    /// A reference to this type.
    Reference(CTypeId),
}

/// How values of a type are loaded, and whether the address is that of a reference, which is followed first.
pub fn load(types: &CTypeTable, id: CTypeId) -> (bool, Load) {
    let ct = types.get(id);
    let (follow, id) = if ct.info.is_ref() { (true, ct.info.child()) } else { (false, id) };
    let raw = types.raw_id(id);
    let ct = types.get(raw);
    let load = match scalar(ct) {
        Some(s) if ct.info.is_num() && !matches!(s, Scalar::I64 | Scalar::U64) => Load::Scalar(s),
        _ if ct.info.is_plain_array() || ct.info.is_struct() || ct.size == NO_SIZE => Load::Reference(id),
        _ => Load::Copy { id: raw, size: ct.size },
    };
    (follow, load)
}
