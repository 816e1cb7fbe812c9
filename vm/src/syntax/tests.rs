//! Tests of long jump lists.

use super::compile;
use crate::source::Source;
use std::time::{Duration, Instant};

/// The parser's message about a text, which must not take long: walking a list from its start for each jump took minutes.
fn message(text: &str) -> Option<String> {
    let begun = Instant::now();
    let result = compile(Source::whole(text.as_bytes()), b"=test");
    assert!(begun.elapsed() < Duration::from_secs(20), "{} bytes take {:?}", text.len(), begun.elapsed());
    result.err().map(|e| String::from_utf8_lossy(e.message().expect("a syntax error")).into_owned())
}

#[test]
fn long_chains_take_linear_time() {
    const N: usize = 300_000;
    let chains = [
        ["if a then f() ", &"elseif a then f() ".repeat(N), "end"].concat(),
        ["while true do ", &"if a then break end ".repeat(N), "end"].concat(),
        ["for i = 1, 2 do ", &"if a then continue end ".repeat(N), "end"].concat(),
        ["local x = a", &" or a".repeat(N)].concat(),
        ["local x = a", &" and a".repeat(N)].concat(),
        ["do ", &"if a then goto done end ".repeat(N / 10), "end ::done::"].concat(),
    ];
    for text in chains {
        assert!(message(&text).is_some(), "a function has so much code: {}", &text[..30]);
    }
}

#[test]
fn chains_that_fit() {
    const N: usize = 5_000;
    for text in
        [["if a then f() ", &"elseif a then f() ".repeat(N), "end"].concat(), ["local x = a", &" or a".repeat(N)].concat()]
    {
        assert_eq!(message(&text), None, "{}", &text[..30]);
    }
}
