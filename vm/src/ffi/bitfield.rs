//! Bitfields.
#![allow(unsafe_code, reason = "the container of a bitfield is inside of its struct")]

use super::convert::{Mode, What};
use super::ctype::{CTypeId, Info};
use super::scalar::{Number, Scalar};
use crate::Vm;
use crate::error::LuaResult;
use crate::value::Value;

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

const CROSSES: &str = "NYI: packed bit fields";

/// The value of a bitfield.
///
/// # Safety
/// Its container is at the address.
pub unsafe fn load(vm: &mut Vm, info: Info, at: *const u8) -> LuaResult<Value> {
    let Some(mask) = mask(info) else { return Err(vm.rt_error(CROSSES)) };
    // SAFETY: by the contract.
    let word = unsafe { container(info).read(at) }.to_u64() as u32;
    let field = (word & mask) >> info.bit_pos();
    Ok(if info.has(Info::BOOL) {
        Value::bool(field != 0)
    } else if info.has(Info::UNSIGNED) {
        Value::integer(field.into())
    } else {
        let unused = 32 - info.bit_size();
        Value::int((field << unused) as i32 >> unused)
    })
}

/// Stores a value into a bitfield.
///
/// # Safety
/// Its container is at the address.
pub unsafe fn store(vm: &mut Vm, info: Info, at: *mut u8, v: Value) -> LuaResult<()> {
    let mut field = 0u32;
    let id = match (info.has(Info::BOOL), info.has(Info::UNSIGNED)) {
        (true, _) => CTypeId::BOOL,
        (false, true) => CTypeId::UINT32,
        (false, false) => CTypeId::INT32,
    };
    let mode = Mode { cast: false, what: What::Value };
    // SAFETY: these types have at most four bytes.
    unsafe { vm.store_value(id, (&raw mut field).cast(), v, mode)? };
    let Some(mask) = mask(info) else { return Err(vm.rt_error(CROSSES)) };
    let container = container(info);
    // SAFETY: by the contract.
    unsafe {
        let word = container.read(at).to_u64() as u32;
        let word = word & !mask | field << info.bit_pos() & mask;
        container.write(at, Number::Unsigned(word.into()));
    }
    Ok(())
}
