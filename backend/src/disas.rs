//! Texts of compiled code.

use crate::lower::located;
use cranelift_codegen::CompiledCode;

/// The machine code as Cranelift prints it: one instruction per line, blocks and constants labelled.
pub(crate) fn machine_text(code: &CompiledCode) -> String {
    code.vcode.clone().unwrap_or_default()
}

/// Code offset and instruction index of the root trace, ascending by offset.
pub(crate) fn address_map(code: &CompiledCode) -> impl Iterator<Item = (u32, u16)> + '_ {
    code.buffer.get_srclocs_sorted().iter().filter_map(|l| Some((l.start, located(l.loc)? as u16)))
}
