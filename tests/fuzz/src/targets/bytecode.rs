//! Binary chunks: any bytes are refused or run, interpreted and compiled.

use crate::states;
use perilune::Lua;

/// Longer chunks are left alone.
const MOST: usize = 1 << 14;

/// Runs the target.
pub fn run(data: &[u8]) {
    if data.len() > MOST || data.first() != Some(&0x1b) {
        return;
    }
    // The bytes are a chunk from the first one on, so that what others write can be used: how it runs hangs on all of them.
    let sum = data.iter().fold(0u32, |sum, b| sum.wrapping_mul(31).wrapping_add(u32::from(*b)));
    run_chunk(data, sum >> 8);
}

/// Runs a chunk in a new state, in one of the modes.
pub fn run_chunk(chunk: &[u8], mode: u32) {
    let (lua, f): (Lua, _) = states::with_function(include_str!("bytecode.lua"), "bytecode");
    let how = match mode % 8 {
        0 | 1 => "native",
        2..=5 => "eval",
        _ => "",
    };
    match f.call::<()>((lua.create_string(chunk).expect("no limit is set"), how)) {
        Ok(()) => {}
        // Whatever a chunk does to the state may end so.
        Err(e) if !e.message().contains("the dump of what was read") => {}
        Err(e) => panic!("{e}"),
    }
}
