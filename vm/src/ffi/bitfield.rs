//! Bitfields.
#![allow(unsafe_code, reason = "the container of a bitfield is inside of its struct")]

use super::ctype::{CTypeId, Info};
use super::scalar::{Number, Scalar};

/// The container of a bitfield: how it is in memory.
pub fn container(info: Info) -> Scalar {
    match info.bit_container() {
        1 => Scalar::U8,
        2 => Scalar::U16,
        _ => Scalar::U32,
    }
}

/// The bits of a bitfield in its container, as a mask. None if it crosses the border of its container.
pub fn mask(info: Info) -> Option<u32> {
    let (pos, bits) = (info.bit_pos(), info.bit_size());
    (pos + bits <= 8 * info.bit_container()).then(|| (u32::MAX >> (32 - bits)) << pos)
}

/// The integer in a bitfield that does not cross the border of its container.
///
/// # Safety
/// Its container is at the address.
pub unsafe fn read(info: Info, mask: u32, at: *const u8) -> Number {
    // SAFETY: by the contract.
    let word = unsafe { container(info).read(at) }.to_u64() as u32;
    let field = (word & mask) >> info.bit_pos();
    if info.has(Info::BOOL) || info.has(Info::UNSIGNED) {
        Number::Unsigned(field.into())
    } else {
        let unused = 32 - info.bit_size();
        Number::Signed(((field << unused) as i32 >> unused).into())
    }
}

/// Writes the low bits of an integer to such a bitfield.
///
/// # Safety
/// Its container is at the address.
pub unsafe fn write(info: Info, mask: u32, at: *mut u8, field: u32) {
    let container = container(info);
    // SAFETY: by the contract.
    unsafe {
        let word = container.read(at).to_u64() as u32;
        let word = word & !mask | field << info.bit_pos() & mask;
        container.write(at, Number::Unsigned(word.into()));
    }
}

/// The type that values are converted to for a bitfield.
pub fn value_type(info: Info) -> CTypeId {
    match (info.has(Info::BOOL), info.has(Info::UNSIGNED)) {
        (true, _) => CTypeId::BOOL,
        (false, true) => CTypeId::UINT32,
        (false, false) => CTypeId::INT32,
    }
}
