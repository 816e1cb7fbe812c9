//! Formats of `lua_pushfstring` and `luaL_error`.
#![allow(unsafe_code, reason = "after a format come the arguments that it says")]

use crate::abi::VaList;
use perilune_vm::text::format::{put_address, put_integer};
use perilune_vm::text::number::put_num;
use perilune_vm::text::spec::{Conv, Piece, Pieces};
use std::ffi::CStr;

/// The text of a format with its arguments.
///
/// # Safety
/// The list has the arguments that the format says: `int` for integers and characters, `double`, texts that end with a NUL, and pointers.
pub unsafe fn format(format: &[u8], list: &mut VaList) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() + 16);
    for piece in Pieces::new(format) {
        let spec = match piece {
            Piece::Literal(text) => {
                out.extend_from_slice(text);
                continue;
            }
            Piece::Bad(_) => {
                out.push(b'?');
                continue;
            }
            Piece::Spec(spec) => spec,
        };
        // SAFETY: the caller's promise.
        unsafe {
            match spec.conv {
                Conv::Int => put_integer(&mut out, &spec, i64::from(list.word() as i32) as u64),
                Conv::Uint | Conv::Hex | Conv::Oct => put_integer(&mut out, &spec, u64::from(list.word() as u32)),
                Conv::Exp | Conv::Fixed | Conv::General | Conv::HexFloat => put_num(&mut out, list.double()),
                Conv::Char => out.push(list.word() as u8),
                Conv::Str | Conv::Quoted => {
                    let s = list.string();
                    out.extend_from_slice(if s.is_null() { b"(null)" } else { CStr::from_ptr(s).to_bytes() });
                }
                Conv::Ptr => put_address(&mut out, list.word()),
            }
        }
    }
    out
}
