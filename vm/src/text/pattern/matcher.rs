//! Matching compiled patterns.

use super::program::{Greedy, Lazy, Node, Program, Start, Tail};
use super::{Capture, MAX_DEPTH, PatternError};
use crate::interrupt::Flag;

/// A node that a match may backtrack to, with offsets in the subject.
#[derive(Copy, Clone, Debug, Default)]
struct Choice {
    node: u32,
    /// The shortest length that a greedy repetition may be reduced to.
    least: u32,
    /// The current end of a repetition.
    at: u32,
    /// Number of optional items matched before.
    taken: u32,
}

/// An array of a variable number of elements, which is allocated only if it is large.
#[derive(Debug)]
struct Room<T, const FEW: usize> {
    few: [T; FEW],
    many: Vec<T>,
}

impl<T: Copy + Default, const FEW: usize> Room<T, FEW> {
    #[inline(always)]
    fn new(n: usize) -> Room<T, FEW> {
        let many = if n <= FEW { Vec::new() } else { vec![T::default(); n - FEW] };
        Room { few: [T::default(); FEW], many }
    }
    #[inline(always)]
    fn at(&mut self, i: usize) -> &mut T {
        if i < FEW { &mut self.few[i] } else { &mut self.many[i - FEW] }
    }
    #[inline(always)]
    fn get(&self, i: usize) -> T {
        if i < FEW { self.few[i] } else { self.many[i - FEW] }
    }
}

/// State of matching one program against one subject.
#[derive(Debug)]
pub struct Matcher<'a> {
    src: &'a [u8],
    program: &'a Program,
    /// Start and end of each capture.
    captures: Room<(u32, u32), 6>,
    choices: Room<Choice, 4>,
    /// Number of choices that can be backtracked to.
    pending: usize,
    /// Number of optional items matched, if the depth is checked.
    taken: u32,
    /// Checked where matching starts again or backtracks, because that may take very long.
    stop: &'a Flag,
}

type Matched = Result<Option<usize>, PatternError>;

impl<'a> Matcher<'a> {
    /// A matcher of a program against a subject. It stops with [`PatternError::Interrupted`] once `stop` is set.
    #[inline(always)]
    pub fn new(src: &'a [u8], program: &'a Program, stop: &'a Flag) -> Matcher<'a> {
        let (captures, choices) = (Room::new(program.captures), Room::new(program.choices.min(MAX_DEPTH as usize)));
        Matcher { src, program, captures, choices, pending: 0, taken: 0, stop }
    }
    /// The subject.
    #[inline(always)]
    pub fn subject(&self) -> &'a [u8] {
        self.src
    }
    /// The first match at or after an offset, or at the offset if the pattern is anchored: its start and end.
    #[inline]
    pub fn find(&mut self, s: usize) -> Result<Option<(usize, usize)>, PatternError> {
        if self.program.anchored {
            return Ok(self.match_at(s)?.map(|e| (s, e)));
        }
        self.search(s)
    }
    fn search(&mut self, mut s: usize) -> Result<Option<(usize, usize)>, PatternError> {
        loop {
            match self.program.start.find(&self.src[s..]) {
                Some(n) => s += n,
                None => return Ok(None),
            }
            if let Some(e) = self.match_at(s)? {
                return Ok(Some((s, e)));
            }
            if let Some(item) = &self.program.lead {
                // The rest of the pattern has failed wherever the repetition can end.
                s += item.span(&self.src[s..]);
            }
            s += 1;
            if s > self.src.len() {
                return Ok(None);
            }
        }
    }
    /// Number of captures.
    #[inline]
    pub fn num_captures(&self) -> usize {
        self.program.captures
    }
    /// Number of values of a match: its captures, or the whole match if it has none.
    #[inline]
    pub fn num_values(&self) -> usize {
        self.program.captures.max(1)
    }
    /// Capture `i` of the last match, which went from `s` to `e`. Without captures, number 0 is the whole match.
    #[inline]
    pub fn capture(&self, i: usize, s: usize, e: usize) -> Result<Capture, PatternError> {
        if i >= self.program.captures {
            return if i == 0 { Ok(Capture::Range(s, e)) } else { Err(PatternError::InvalidIndex) };
        }
        if self.program.unfinished >> i & 1 != 0 {
            return Err(PatternError::Unfinished);
        }
        let (start, end) = self.captures.get(i);
        if self.program.positions >> i & 1 != 0 {
            return Ok(Capture::Position(start as usize + 1));
        }
        Ok(Capture::Range(start as usize, end as usize))
    }

    /// Matches at one offset; returns the end of the match.
    #[inline(always)]
    fn match_at(&mut self, s: usize) -> Matched {
        self.check_stop()?;
        self.pending = 0;
        self.taken = 0;
        let (mut node, mut s) = (0, s);
        loop {
            if let Some(e) = self.forward(node, s)? {
                return Ok(Some(e));
            }
            let Some(next) = self.back() else { return Ok(None) };
            (node, s) = next;
            self.check_stop()?;
        }
    }
    #[inline(always)]
    fn check_stop(&self) -> Result<(), PatternError> {
        if self.stop.get().is_some() { Err(PatternError::Interrupted) } else { Ok(()) }
    }
    /// Matches from a node on until something fails.
    ///
    /// Captures need no undoing: each is set again on the path from any choice to where it is read.
    #[inline(always)]
    fn forward(&mut self, mut at: usize, mut s: usize) -> Matched {
        let (src, nodes) = (self.src, &self.program.nodes[..]);
        loop {
            match &nodes[at] {
                Node::Byte(b) if src.get(s) == Some(b) => s += 1,
                Node::Item(item) if src.get(s).is_some_and(|c| item.matches(*c)) => s += 1,
                Node::Literal(run) if starts_with(&src[s..], run.bytes()) => s += run.bytes().len(),
                Node::Greedy(r) => match self.most(r, at, s) {
                    Some(e) => s = e,
                    None => return Ok(None),
                },
                Node::Lazy(r) => match self.least(r, at, s) {
                    Some(e) => s = e,
                    None => return Ok(None),
                },
                Node::LazyTail(item, tail) => match tail.find(&src[s..]) {
                    Some(n) if item.span(&src[s..s + n]) == n => s += n,
                    _ => return Ok(None),
                },
                Node::Open(i) => self.captures.at(usize::from(*i)).0 = s as u32,
                Node::Close(i) => self.captures.at(usize::from(*i)).1 = s as u32,
                Node::Balance(open, close) => match balance(&src[s..], *open, *close) {
                    Some(n) => s += n,
                    None => return Ok(None),
                },
                Node::Frontier(set) => {
                    // Before and after the subject there are NULs.
                    let before = if s == 0 { 0 } else { src[s - 1] };
                    let after = src.get(s).copied().unwrap_or(0);
                    if set.has(before) || !set.has(after) {
                        return Ok(None);
                    }
                }
                Node::BackReference(i) => {
                    let (start, end) = self.captures.get(usize::from(*i));
                    let part = &src[start as usize..end as usize];
                    if !src[s..].starts_with(part) {
                        return Ok(None);
                    }
                    s += part.len();
                }
                Node::End if s == src.len() => {}
                Node::Tail(tail) if src.len() - s >= tail.least && tail.item.span(&src[s..]) == src.len() - s => s = src.len(),
                Node::Depth(depth) if depth + self.taken <= MAX_DEPTH => {}
                Node::Depth(_) => return Err(PatternError::TooComplex),
                Node::Error(e) => return Err(*e),
                Node::Done => return Ok(Some(s)),
                _ => return Ok(None),
            }
            at += 1;
        }
    }
    /// Backtracks to the last choice: returns the node to continue at, and the offset.
    #[inline]
    fn back(&mut self) -> Option<(usize, usize)> {
        let program = self.program;
        while self.pending > 0 {
            self.pending -= 1;
            let Choice { node, least, at, taken } = self.choices.get(self.pending);
            self.taken = taken;
            let node = node as usize;
            let next = match &program.nodes[node] {
                Node::Greedy(r) => self.shorter(r, node, least as usize, at as usize - 1),
                Node::Lazy(r) => self.least(r, node, at as usize),
                _ => None,
            };
            if let Some(s) = next {
                return Some((node + 1, s));
            }
        }
        None
    }
    #[inline(always)]
    fn push(&mut self, node: usize, least: usize, at: usize) {
        let choice = Choice { node: node as u32, least: least as u32, at: at as u32, taken: self.taken };
        *self.choices.at(self.pending) = choice;
        self.pending += 1;
    }
    /// Matches an item as often as possible; returns where the rest may match.
    #[inline(always)]
    fn most(&mut self, r: &Greedy, node: usize, s: usize) -> Option<usize> {
        let rest = &self.src[s..];
        let n = if r.once { usize::from(rest.first().is_some_and(|c| r.item.matches(*c))) } else { r.item.span(rest) };
        if n < r.least {
            return None;
        }
        if r.possessive { Some(s + n) } else { self.shorter(r, node, s + r.least, s + n) }
    }
    /// The longest repetition that ends at `end` or before, but not before `least`, after which the rest may match.
    fn shorter(&mut self, r: &Greedy, node: usize, least: usize, end: usize) -> Option<usize> {
        let at = if end == self.src.len() && r.next.at_end {
            end
        } else {
            let behind = self.src.len().min(end + 1);
            least + r.next.item.find_back(self.src.get(least..behind)?)?
        };
        if at > least {
            self.push(node, least, at);
            self.taken += u32::from(r.once);
        }
        Some(at)
    }
    /// Matches an item as seldom as possible; returns where the rest may match.
    #[inline(always)]
    fn least(&mut self, r: &Lazy, node: usize, s: usize) -> Option<usize> {
        let at = s + r.skip.span(&self.src[s..]);
        let Some(&c) = self.src.get(at) else { return r.next.at_end.then_some(at) };
        if !r.next.item.matches(c) {
            return None;
        }
        if r.item.matches(c) {
            self.push(node, 0, at + 1);
        }
        Some(at)
    }
}

/// Does `s` start with a short text?
#[inline(always)]
fn starts_with(s: &[u8], text: &[u8]) -> bool {
    let Some(s) = s.get(..text.len()) else { return false };
    let mut i = 0;
    while i < text.len() && s[i] == text[i] {
        i += 1;
    }
    i == text.len()
}

/// `%b`: length of the balanced part at the start.
fn balance(s: &[u8], open: u8, close: u8) -> Option<usize> {
    if s.first() != Some(&open) {
        return None;
    }
    let mut nested = 1;
    for (i, &c) in s.iter().enumerate().skip(1) {
        if c == close {
            nested -= 1;
            if nested == 0 {
                return Some(i + 1);
            }
        } else if c == open {
            nested += 1;
        }
    }
    None
}

impl Tail {
    /// Offset of the first tail in `s`.
    #[inline]
    fn find(&self, s: &[u8]) -> Option<usize> {
        let n = self.item.span_back(s);
        (n >= self.least).then_some(s.len() - n)
    }
}

/// Offset of the first byte of `s` that ends a search. A search by vectors, which takes longer to start, is used for bytes that are not
/// near.
#[inline(always)]
fn near_or_far(s: &[u8], stops: impl Fn(u8) -> bool, far: impl FnOnce(&[u8]) -> Option<usize>) -> Option<usize> {
    const NEAR: usize = 16;
    for (i, c) in s.iter().enumerate() {
        if i == NEAR {
            return far(&s[NEAR..]).map(|n| NEAR + n);
        }
        if stops(*c) {
            return Some(i);
        }
    }
    None
}

impl Start {
    /// Offset of the first byte of `s` where a match can start.
    #[inline(always)]
    fn find(&self, s: &[u8]) -> Option<usize> {
        match self {
            Start::Anywhere => Some(0),
            Start::Byte(a) => crate::text::find_byte(s, *a),
            Start::Two(a, b) => near_or_far(s, |x| x == *a || x == *b, |far| memchr::memchr2(*a, *b, far)),
            Start::Three(a, b, c) => near_or_far(s, |x| x == *a || x == *b || x == *c, |far| memchr::memchr3(*a, *b, *c, far)),
            Start::Literal(run) => crate::text::find_plain(s, run.bytes()),
            Start::Next(next) => match next.item.find(s) {
                None if next.at_end => Some(s.len()),
                found => found,
            },
            Start::Tail(tail) => tail.find(s),
        }
    }
}
