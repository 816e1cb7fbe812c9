//! Notes about instructions.

use core::ops::Range;
use perilune_vm::bc::Ins;
use std::collections::BTreeMap;

/// Notes by the address of the instruction; those of a function are neighbours.
pub type Places<T> = BTreeMap<*const Ins, T>;

/// Forgets a function's: its addresses may come back for others.
pub fn forget<T>(places: &mut Places<T>, code: &Range<*const Ins>) {
    while let Some(pc) = places.range(code.clone()).next().map(|p| *p.0) {
        places.remove(&pc);
    }
}
