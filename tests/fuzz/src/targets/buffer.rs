//! `string.buffer`: decoding any bytes, values there and back, and the methods against a string.

use crate::input::Input;
use crate::states::Kept;

thread_local! {
    static STATE: Kept = const { Kept::new(include_str!("buffer.lua"), "buffer") };
}

/// Runs the target.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let how = input.below(3);
    let bytes = input.rest();
    STATE.with(|s| {
        s.with(|lua, f| match f.call::<()>((how, lua.create_string(bytes))) {
            Ok(()) => {}
            // Few bytes may ask for much memory.
            Err(e) if e.message().contains("not enough memory") => {}
            Err(e) => panic!("{e}"),
        });
    });
}
