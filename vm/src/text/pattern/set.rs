//! Sets in patterns: `[...]`.

use super::PatternError;
use crate::text::class::{ByteSet, class};

/// The set `[...]` at `p` of a pattern and the offset after it.
pub(super) fn set_at(pat: &[u8], p: usize) -> Result<(ByteSet, usize), PatternError> {
    let end = set_end(pat, p)?;
    Ok((parse_set(&pat[p + 1..end - 1]), end))
}

/// Offset after the `]` of the set at `p`. A `]` as the first character is a member.
fn set_end(pat: &[u8], p: usize) -> Result<usize, PatternError> {
    let mut i = p + 1;
    if pat.get(i) == Some(&b'^') {
        i += 1;
    }
    loop {
        match pat.get(i) {
            None => return Err(PatternError::MissingBracket),
            Some(b'%') => i += 2,
            Some(_) => i += 1,
        }
        if pat.get(i) == Some(&b']') {
            return Ok(i + 1);
        }
    }
}

/// The set between the brackets.
fn parse_set(inner: &[u8]) -> ByteSet {
    let (negated, inner) = match inner {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, inner),
    };
    let mut set = ByteSet::EMPTY;
    let mut i = 0;
    while i < inner.len() {
        match inner[i..] {
            [b'%', c, ..] => {
                match class(c) {
                    Some(class) => set.add_all(class),
                    None => set.add(c),
                }
                i += 2;
            }
            [lo, b'-', hi, ..] => {
                set.add_range(lo, hi);
                i += 3;
            }
            _ => {
                set.add(inner[i]);
                i += 1;
            }
        }
    }
    if negated { set.complement() } else { set }
}
