//! `string.format`: any format string and arguments; a buffer's `putf` does the same.

use crate::input::Input;
use crate::states::{Kept, string};
use perilune::{MultiValue, Value};

thread_local! {
    static STATE: Kept = const { Kept::new(include_str!("format.lua"), "format") };
}

/// Runs the target.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    STATE.with(|s| {
        s.with(|lua, f| {
            let mut args = vec![Value::String(string(lua, input.piece(64)))];
            for _ in 0..input.below(7) {
                args.push(match input.below(8) {
                    0..=3 => Value::Number(input.number()),
                    4 | 5 => Value::String(string(lua, input.piece(20))),
                    6 => Value::Boolean(input.below(2) == 0),
                    _ => Value::Nil,
                });
            }
            f.call::<()>(MultiValue::from(args)).unwrap_or_else(|e| panic!("{e}"));
        });
    });
}
