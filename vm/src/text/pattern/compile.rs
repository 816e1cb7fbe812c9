//! Compiling patterns.

use super::item::Item;
use super::program::{Greedy, Lazy, Literal, Next, Node, Program};
use super::set::set_at;
use super::{MAX_CAPTURES, MAX_DEPTH, PatternError};
use crate::text::class::class;
use crate::text::until_nul;

impl Program {
    /// Compiles a pattern, in place of the one before. A NUL ends it. If `caret_is_plain`, it cannot have an anchor. `None` if there is no
    /// memory for its nodes, or if they would take more than `most` bytes.
    pub(super) fn compile(&mut self, text: &[u8], caret_is_plain: bool, most: usize) -> Option<()> {
        self.caret_is_plain = caret_is_plain;
        let (anchored, pat) = match until_nul(text) {
            [b'^', rest @ ..] if !caret_is_plain => (true, rest),
            pat => (false, pat),
        };
        self.anchored = anchored;
        if Compiler::run(self, pat, false, most)? >= MAX_DEPTH {
            // It may nest too deeply: it is compiled again, with checks of the depth.
            Compiler::run(self, pat, true, most)?;
        }
        self.link();
        Some(())
    }
}

/// The state of compiling a pattern.
struct Compiler<'a> {
    program: &'a mut Program,
    pat: &'a [u8],
    /// Offset in the pattern.
    p: usize,
    /// Number of captures that start or end, and of repetitions.
    nested: u32,
    /// Number of optional items.
    optional: u32,
    /// Must the depth be checked?
    deep: bool,
    /// The most bytes that the nodes may take.
    most: usize,
    /// Was there no memory for a node?
    is_full: bool,
}

impl Compiler<'_> {
    /// Compiles into the nodes of the program; returns the greatest depth of nested matches. `None` without memory.
    fn run(program: &mut Program, pat: &[u8], deep: bool, most: usize) -> Option<u32> {
        program.nodes.clear();
        (program.captures, program.positions, program.unfinished, program.choices) = (0, 0, 0, 0);
        program.refers_back = false;
        let mut c = Compiler { program, pat, p: 0, nested: 0, optional: 0, deep, most, is_full: false };
        let end = loop {
            match c.part() {
                Ok(true) if c.is_full => return None,
                Ok(true) => {}
                Ok(false) => break Node::Done,
                Err(e) => break Node::Error(e),
            }
        };
        c.push(end);
        (!c.is_full).then_some(c.nested + c.optional)
    }
    #[inline(always)]
    fn push(&mut self, node: Node) {
        if self.program.nodes.len() == self.program.nodes.capacity() {
            self.make_room();
        }
        if !self.is_full {
            self.program.nodes.push(node);
        }
    }
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let nodes = &mut self.program.nodes;
        let more = nodes.len().max(8);
        let fits = (nodes.len() + more) * size_of::<Node>() <= self.most;
        self.is_full = !fits || nodes.try_reserve_exact(more).is_err();
    }
    /// Compiles the next part of the pattern; returns whether there was one.
    fn part(&mut self) -> Result<bool, PatternError> {
        let (pat, p) = (self.pat, self.p);
        let Some(&c) = pat.get(p) else { return Ok(false) };
        match (c, pat.get(p + 1)) {
            (b'(', Some(b')')) => {
                self.p += 2;
                self.open(true)?;
            }
            (b'(', _) => {
                self.p += 1;
                self.open(false)?;
            }
            (b')', _) => {
                self.p += 1;
                self.close()?;
            }
            (b'$', None) => {
                self.p += 1;
                self.push(Node::End);
            }
            (b'%', Some(b'b')) => {
                let (Some(&open), Some(&close)) = (pat.get(p + 2), pat.get(p + 3)) else {
                    return Err(PatternError::Unbalanced);
                };
                self.p += 4;
                self.push(Node::Balance(open, close));
            }
            (b'%', Some(b'f')) => {
                if pat.get(p + 2) != Some(&b'[') {
                    return Err(PatternError::MissingFrontierSet);
                }
                let (set, end) = set_at(pat, p + 2)?;
                self.p = end;
                self.push(Node::Frontier(set));
            }
            (b'%', Some(digit @ b'0'..=b'9')) => {
                self.p += 2;
                self.back_reference(*digit)?;
            }
            _ => self.item()?,
        }
        Ok(true)
    }
    fn open(&mut self, is_position: bool) -> Result<(), PatternError> {
        let i = self.program.captures;
        if i >= MAX_CAPTURES {
            return Err(PatternError::TooManyCaptures);
        }
        self.program.captures += 1;
        let mask = if is_position { &mut self.program.positions } else { &mut self.program.unfinished };
        *mask |= 1 << i;
        self.push(Node::Open(i as u8));
        self.nest()
    }
    fn close(&mut self) -> Result<(), PatternError> {
        let i = self.program.unfinished.checked_ilog2().ok_or(PatternError::InvalidCapture)?;
        self.program.unfinished ^= 1 << i;
        self.push(Node::Close(i as u8));
        self.nest()
    }
    fn back_reference(&mut self, digit: u8) -> Result<(), PatternError> {
        let i = usize::from(digit.wrapping_sub(b'1'));
        if i >= self.program.captures || self.program.unfinished >> i & 1 != 0 {
            return Err(PatternError::InvalidIndex);
        }
        // A position capture has no length, so that nothing is another occurrence of it.
        let is_position = self.program.positions >> i & 1 != 0;
        self.program.refers_back = true;
        self.push(if is_position { Node::Fail } else { Node::BackReference(i as u8) });
        Ok(())
    }
    /// An item with its repetition.
    fn item(&mut self) -> Result<(), PatternError> {
        let (item, end) = item_at(self.pat, self.p)?;
        self.p = end + 1;
        let greedy = |least, once| Node::Greedy(Greedy { item, least, once, possessive: false, next: Next::ANY });
        let node = match self.pat.get(end) {
            Some(b'?') => greedy(0, true),
            Some(b'*') => greedy(0, false),
            Some(b'+') => greedy(1, false),
            Some(b'-') => Node::Lazy(Lazy { item, skip: item, next: Next::ANY }),
            _ => {
                self.p = end;
                self.once(item);
                return Ok(());
            }
        };
        self.program.choices += 1;
        if let Node::Greedy(Greedy { once: true, .. }) = node {
            self.optional += 1;
            self.push(node);
            self.check_depth()
        } else {
            self.push(node);
            self.nest()
        }
    }
    /// An item without a repetition.
    fn once(&mut self, item: Item) {
        let Item::Byte(b) = item else { return self.push(Node::Item(item)) };
        let joined = match self.program.nodes.last_mut() {
            Some(Node::Literal(run)) => run.add(b),
            Some(last) => match *last {
                Node::Byte(a) => {
                    *last = Node::Literal(Literal::of(a, b));
                    true
                }
                _ => false,
            },
            None => false,
        };
        if !joined {
            self.push(Node::Byte(b));
        }
    }
    /// The rest of the pattern is nested one level deeper.
    fn nest(&mut self) -> Result<(), PatternError> {
        self.nested += 1;
        self.check_depth()
    }
    fn check_depth(&mut self) -> Result<(), PatternError> {
        // The whole match is one level.
        if self.deep && self.nested >= MAX_DEPTH {
            return Err(PatternError::TooComplex);
        }
        if self.deep {
            self.push(Node::Depth(1 + self.nested));
        }
        Ok(())
    }
}

/// The item at `p` of a pattern and the offset after it. There must be a character at `p`.
#[inline(always)]
fn item_at(pat: &[u8], p: usize) -> Result<(Item, usize), PatternError> {
    match pat[p] {
        b'.' => Ok((Item::Any, p + 1)),
        b'%' => {
            let Some(&c) = pat.get(p + 1) else { return Err(PatternError::EndsWithPercent) };
            let item = match c {
                b'z' => Item::Byte(0),
                b'Z' => Item::Not(0),
                _ => class(c).map_or(Item::Byte(c), |set| Item::Set(*set)),
            };
            Ok((item, p + 2))
        }
        b'[' => {
            let (set, end) = set_at(pat, p)?;
            Ok((Item::of(&set), end))
        }
        c => Ok((Item::Byte(c), p + 1)),
    }
}
