//! Pattern items: what matches one character.

use super::class::{ByteSet, class};
use super::pattern::PatternError;

/// What one character of the subject is tested against.
#[derive(Copy, Clone, Debug)]
pub enum Item<'c> {
    /// `.`
    Any,
    /// A character for itself.
    Byte(u8),
    /// `%a`, `[...]`
    Set(&'c ByteSet),
}

impl Item<'_> {
    /// Does `c` match?
    #[inline(always)]
    pub fn matches(self, c: u8) -> bool {
        match self {
            Item::Any => true,
            Item::Byte(b) => b == c,
            Item::Set(set) => set.has(c),
        }
    }
    /// Number of characters at the start of `s` that match.
    #[inline]
    pub fn span(self, s: &[u8]) -> usize {
        match self {
            Item::Any => s.len(),
            Item::Byte(b) => s.iter().take_while(|c| **c == b).count(),
            Item::Set(set) => s.iter().take_while(|c| set.has(**c)).count(),
        }
    }
    /// Offset of the first character that matches.
    #[inline]
    pub fn find(self, s: &[u8]) -> Option<usize> {
        match self {
            Item::Any => (!s.is_empty()).then_some(0),
            Item::Byte(b) => super::find_byte(s, b),
            Item::Set(set) => s.iter().position(|c| set.has(*c)),
        }
    }
}

/// Remembers the sets behind the last `[...]` items of one pattern, by their offset.
#[derive(Copy, Clone, Debug)]
pub struct SetCache {
    keys: [u32; Self::SIZE],
    ends: [u32; Self::SIZE],
    sets: [ByteSet; Self::SIZE],
    next: u8,
}

impl SetCache {
    const SIZE: usize = 4;
    /// Nothing remembered.
    pub const EMPTY: SetCache =
        SetCache { keys: [u32::MAX; Self::SIZE], ends: [0; Self::SIZE], sets: [ByteSet::EMPTY; Self::SIZE], next: 0 };

    /// The item at `p` of a pattern and the offset behind it. There must be a character at `p`.
    #[inline]
    pub fn item(&mut self, pat: &[u8], p: usize) -> Result<(Item<'_>, usize), PatternError> {
        match pat[p] {
            b'.' => Ok((Item::Any, p + 1)),
            b'%' => {
                let Some(&c) = pat.get(p + 1) else { return Err(PatternError::EndsWithPercent) };
                Ok((class(c).map_or(Item::Byte(c), Item::Set), p + 2))
            }
            b'[' => {
                let (set, end) = self.set(pat, p)?;
                Ok((Item::Set(set), end))
            }
            c => Ok((Item::Byte(c), p + 1)),
        }
    }
    /// The set `[...]` at `p` of a pattern and the offset behind it.
    #[inline]
    pub fn set(&mut self, pat: &[u8], p: usize) -> Result<(&ByteSet, usize), PatternError> {
        let i = match self.keys.iter().position(|k| *k == p as u32) {
            Some(i) => i,
            None => {
                let end = set_end(pat, p)?;
                let i = usize::from(self.next) % Self::SIZE;
                self.next = self.next.wrapping_add(1);
                self.keys[i] = p as u32;
                self.ends[i] = end as u32;
                self.sets[i] = parse_set(&pat[p + 1..end - 1]);
                i
            }
        };
        Ok((&self.sets[i], self.ends[i] as usize))
    }
}

/// Offset behind the `]` of the set at `p`. A `]` in the first place stands for itself.
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
