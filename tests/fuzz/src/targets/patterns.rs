//! Patterns: `string.find`, `match`, `gmatch` and `gsub` of any pattern and subject agree with one another.

use crate::input::Input;
use crate::states::{Kept, string};

/// Longest pattern and subject.
const PATTERN: usize = 40;
const SUBJECT: usize = 60;
/// Matching takes as many steps as the subject has bytes to the power of this.
const REPETITIONS: usize = 3;

thread_local! {
    static STATE: Kept = const { Kept::new(include_str!("patterns.lua"), "patterns") };
}

/// Runs the target.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let init = i32::from(input.byte() as i8);
    let (pattern, replacement) = (input.piece(PATTERN), input.piece(8));
    let subject = input.bytes(SUBJECT);
    let repeats = pattern.iter().filter(|c| matches!(c, b'*' | b'+' | b'-' | b'?')).count();
    if repeats > REPETITIONS {
        return;
    }
    STATE.with(|s| {
        s.with(|lua, f| {
            let [subject, pattern, replacement] = [subject, pattern, replacement].map(|bytes| string(lua, bytes));
            f.call::<()>((subject, pattern, replacement, init)).unwrap_or_else(|e| panic!("{e}"));
        });
    });
}
