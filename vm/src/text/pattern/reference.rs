//! The reference that compiled patterns are tested against: a matcher that interprets the text of the pattern.
//!
//! It recurses for captures and at each repetition to try the rest, as LuaJIT's matcher does.

use super::set::set_at;
use super::{Capture, MAX_CAPTURES, MAX_DEPTH, PatternError};
use crate::text::class::{ByteSet, class};

/// Length of a capture whose end is not known yet.
const OPEN: u32 = u32::MAX;
/// Length that marks a position capture.
const POSITION: u32 = u32::MAX - 1;

/// State of matching one pattern (without its anchor) against one subject.
#[derive(Debug)]
pub struct Matcher<'a> {
    src: &'a [u8],
    pat: &'a [u8],
    /// Number of captures, finished or not.
    level: usize,
    depth: u32,
    /// Start and length of each capture.
    captures: [(u32, u32); MAX_CAPTURES],
    sets: SetCache,
}

type Matched = Result<Option<usize>, PatternError>;

impl<'a> Matcher<'a> {
    /// A matcher of `pat`, which has no anchor, against `src`. A NUL ends a pattern.
    pub fn new(src: &'a [u8], pat: &'a [u8]) -> Matcher<'a> {
        let pat = crate::text::until_nul(pat);
        Matcher { src, pat, level: 0, depth: 0, captures: [(0, 0); MAX_CAPTURES], sets: SetCache::EMPTY }
    }
    /// Matches at one offset; the end of the match.
    #[inline]
    pub fn match_at(&mut self, s: usize) -> Matched {
        self.level = 0;
        self.depth = 0;
        self.run(s, 0)
    }
    /// The first match at or after an offset: its start and end.
    pub fn find(&mut self, mut s: usize) -> Result<Option<(usize, usize)>, PatternError> {
        loop {
            if let Some(e) = self.match_at(s)? {
                return Ok(Some((s, e)));
            }
            s += 1;
            if s > self.src.len() {
                return Ok(None);
            }
        }
    }
    /// Number of values of the last match: its captures, or the whole match if it has none.
    pub fn num_values(&self) -> usize {
        self.level.max(1)
    }
    /// Capture `i` of the last match, which went from `s` to `e`. Without captures, number 0 is the whole match.
    #[inline]
    pub fn capture(&self, i: usize, s: usize, e: usize) -> Result<Capture, PatternError> {
        if i >= self.level {
            return if i == 0 { Ok(Capture::Range(s, e)) } else { Err(PatternError::InvalidIndex) };
        }
        let (start, len) = self.captures[i];
        match len {
            OPEN => Err(PatternError::Unfinished),
            POSITION => Ok(Capture::Position(start as usize + 1)),
            _ => Ok(Capture::Range(start as usize, (start + len) as usize)),
        }
    }

    /// Matches the pattern from `p` on at offset `s`.
    fn run(&mut self, s: usize, p: usize) -> Matched {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(PatternError::TooComplex);
        }
        let r = self.step(s, p);
        self.depth -= 1;
        r
    }
    fn step(&mut self, mut s: usize, mut p: usize) -> Matched {
        let (src, pat) = (self.src, self.pat);
        while let Some(&c) = pat.get(p) {
            match c {
                b'(' if pat.get(p + 1) == Some(&b')') => return self.open(s, p + 2, POSITION),
                b'(' => return self.open(s, p + 1, OPEN),
                b')' => return self.close(s, p + 1),
                b'$' if p + 1 == pat.len() => return Ok((s == src.len()).then_some(s)),
                b'%' => match pat.get(p + 1) {
                    Some(b'b') => {
                        let Some(e) = self.balance(s, p + 2)? else { return Ok(None) };
                        s = e;
                        p += 4;
                        continue;
                    }
                    Some(b'f') => {
                        let Some(next) = self.frontier(s, p + 2)? else { return Ok(None) };
                        p = next;
                        continue;
                    }
                    Some(digit @ b'0'..=b'9') => {
                        let Some(e) = self.back_reference(s, *digit)? else { return Ok(None) };
                        s = e;
                        p += 2;
                        continue;
                    }
                    _ => {}
                },
                _ => {}
            }
            let (item, end) = self.sets.item(pat, p)?;
            let matched = src.get(s).is_some_and(|c| item.matches(*c));
            match pat.get(end) {
                Some(b'?') => {
                    if matched && let Some(e) = self.run(s + 1, end + 1)? {
                        return Ok(Some(e));
                    }
                    p = end + 1;
                }
                Some(b'+') if !matched => return Ok(None),
                Some(b'+') => return self.most(s + 1, p, end),
                Some(b'*') => return self.most(s, p, end),
                Some(b'-') => return self.least(s, p, end),
                _ if !matched => return Ok(None),
                _ => {
                    s += 1;
                    p = end;
                }
            }
        }
        Ok(Some(s))
    }
    /// Matches the item at `p` as often as possible, then the rest after the repetition at `end`.
    fn most(&mut self, s: usize, p: usize, end: usize) -> Matched {
        let (item, _) = self.sets.item(self.pat, p)?;
        let mut n = item.span(&self.src[s..]);
        if end + 1 == self.pat.len() {
            // Nothing follows.
            return if self.depth < MAX_DEPTH { Ok(Some(s + n)) } else { Err(PatternError::TooComplex) };
        }
        loop {
            if let Some(e) = self.run(s + n, end + 1)? {
                return Ok(Some(e));
            }
            if n == 0 {
                return Ok(None);
            }
            n -= 1;
        }
    }
    /// Matches the item at `p` as seldom as possible, then the rest after the repetition at `end`.
    fn least(&mut self, mut s: usize, p: usize, end: usize) -> Matched {
        loop {
            if let Some(e) = self.run(s, end + 1)? {
                return Ok(Some(e));
            }
            let (item, _) = self.sets.item(self.pat, p)?;
            match self.src.get(s) {
                Some(c) if item.matches(*c) => s += 1,
                _ => return Ok(None),
            }
        }
    }
    fn open(&mut self, s: usize, p: usize, len: u32) -> Matched {
        if self.level >= MAX_CAPTURES {
            return Err(PatternError::TooManyCaptures);
        }
        self.captures[self.level] = (s as u32, len);
        self.level += 1;
        let r = self.run(s, p)?;
        if r.is_none() {
            self.level -= 1;
        }
        Ok(r)
    }
    fn close(&mut self, s: usize, p: usize) -> Matched {
        let open = self.captures[..self.level].iter().rposition(|c| c.1 == OPEN);
        let i = open.ok_or(PatternError::InvalidCapture)?;
        self.captures[i].1 = s as u32 - self.captures[i].0;
        let r = self.run(s, p)?;
        if r.is_none() {
            self.captures[i].1 = OPEN;
        }
        Ok(r)
    }
    /// `%b`: the end of the balanced part at `s`.
    fn balance(&self, s: usize, p: usize) -> Matched {
        let (Some(&open), Some(&close)) = (self.pat.get(p), self.pat.get(p + 1)) else {
            return Err(PatternError::Unbalanced);
        };
        if self.src.get(s) != Some(&open) {
            return Ok(None);
        }
        let mut nested = 1;
        for (i, &c) in self.src.iter().enumerate().skip(s + 1) {
            if c == close {
                nested -= 1;
                if nested == 0 {
                    return Ok(Some(i + 1));
                }
            } else if c == open {
                nested += 1;
            }
        }
        Ok(None)
    }
    /// `%f`: the offset in the pattern to continue at if there is a frontier at `s`. Before and after the subject there are NULs.
    fn frontier(&mut self, s: usize, p: usize) -> Matched {
        if self.pat.get(p) != Some(&b'[') {
            return Err(PatternError::MissingFrontierSet);
        }
        let (set, end) = self.sets.set(self.pat, p)?;
        let before = if s == 0 { 0 } else { self.src[s - 1] };
        let after = self.src.get(s).copied().unwrap_or(0);
        Ok((!set.has(before) && set.has(after)).then_some(end))
    }
    /// `%1`: the end of another occurrence of a capture at `s`.
    fn back_reference(&self, s: usize, digit: u8) -> Matched {
        let i = usize::from(digit.wrapping_sub(b'1'));
        if i >= self.level {
            return Err(PatternError::InvalidIndex);
        }
        let (start, len) = self.captures[i];
        if len == OPEN {
            return Err(PatternError::InvalidIndex);
        }
        if len == POSITION {
            // A position capture has no length.
            return Ok(None);
        }
        let part = &self.src[start as usize..(start + len) as usize];
        Ok(self.src[s..].starts_with(part).then_some(s + part.len()))
    }
}

/// The test for one character of the subject.
#[derive(Copy, Clone, Debug)]
pub enum Item<'c> {
    /// `.`
    Any,
    /// This character.
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
}

/// Remembers the sets of the last `[...]` items of one pattern, by their offset.
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

    /// The item at `p` of a pattern and the offset after it. There must be a character at `p`.
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
    /// The set `[...]` at `p` of a pattern and the offset after it.
    #[inline]
    pub fn set(&mut self, pat: &[u8], p: usize) -> Result<(&ByteSet, usize), PatternError> {
        let i = match self.keys.iter().position(|k| *k == p as u32) {
            Some(i) => i,
            None => {
                let (set, end) = set_at(pat, p)?;
                let i = usize::from(self.next) % Self::SIZE;
                self.next = self.next.wrapping_add(1);
                self.keys[i] = p as u32;
                self.ends[i] = end as u32;
                self.sets[i] = set;
                i
            }
        };
        Ok((&self.sets[i], self.ends[i] as usize))
    }
}
