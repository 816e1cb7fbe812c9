//! Compiled patterns.

use super::PatternError;
use super::item::Item;
use crate::text::class::ByteSet;

/// A pattern, compiled.
#[derive(Debug, Default)]
pub struct Program {
    /// The pattern with its anchor, if a cache keeps it.
    pub(super) text: Vec<u8>,
    /// Does a caret match itself in this pattern?
    pub(super) caret_is_plain: bool,
    /// Does it match only where the search starts?
    pub(super) anchored: bool,
    /// The steps of a match; the last one ends it.
    pub(super) nodes: Vec<Node>,
    /// Number of captures.
    pub(super) captures: usize,
    /// Captures that are positions, as bits.
    pub(super) positions: u32,
    /// Captures that are not finished, as bits.
    pub(super) unfinished: u32,
    /// Is there a back reference? Then what follows the start of a match depends on where it starts.
    pub(super) refers_back: bool,
    /// Number of nodes that a match may backtrack to. If there are more than [`super::MAX_DEPTH`], only so many can be active at a time,
    /// because each nests the rest.
    pub(super) choices: usize,
    /// Where matches can start.
    pub(super) start: Start,
    /// The item of the repetition that the pattern starts with, if a failed match implies that no match starts within the repetition.
    pub(super) lead: Option<Item>,
}

impl Program {
    /// Does it match only where the search starts?
    pub fn is_anchored(&self) -> bool {
        self.anchored
    }
    /// Bytes of memory in use, roughly.
    pub(super) fn memory(&self) -> usize {
        self.nodes_memory() + self.text.capacity() + size_of::<Program>()
    }
    /// Bytes of memory for the nodes.
    pub(super) fn nodes_memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}

/// A step of a match.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// This byte.
    Byte(u8),
    /// One byte that an item matches.
    Item(Item),
    /// These bytes.
    Literal(Literal),
    /// An item as often as possible.
    Greedy(Greedy),
    /// An item as seldom as possible.
    Lazy(Lazy),
    /// An item as seldom as possible, in front of a tail.
    LazyTail(Item, Tail),
    /// A capture starts, or is a position.
    Open(u8),
    /// A capture ends.
    Close(u8),
    /// `%b`
    Balance(u8, u8),
    /// `%f`
    Frontier(ByteSet),
    /// `%1`
    BackReference(u8),
    /// The end of the subject.
    End,
    /// The rest of the subject.
    Tail(Tail),
    /// Fails if the match is nested too deeply, given this depth without the optional items.
    Depth(u32),
    /// Never matches.
    Fail,
    /// The pattern is malformed here.
    Error(PatternError),
    /// The end of the pattern.
    Done,
}

/// A short run of bytes that match themselves.
#[derive(Copy, Clone, Debug)]
pub(super) struct Literal {
    len: u8,
    bytes: [u8; Literal::MAX],
}

impl Literal {
    /// Most bytes.
    const MAX: usize = 31;

    /// A run of two bytes.
    pub(super) fn of(a: u8, b: u8) -> Literal {
        let mut bytes = [0; Literal::MAX];
        bytes[0] = a;
        bytes[1] = b;
        Literal { len: 2, bytes }
    }
    /// Adds a byte if there is room.
    pub(super) fn add(&mut self, b: u8) -> bool {
        let room = self.bytes.get_mut(usize::from(self.len));
        let has_room = room.is_some();
        if let Some(r) = room {
            *r = b;
            self.len += 1;
        }
        has_room
    }
    /// The bytes.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// A condition at an offset of the subject; if it is false, the next node fails there without an error.
#[derive(Copy, Clone, Debug)]
pub(super) struct Next {
    /// The byte there matches.
    pub(super) item: Item,
    /// Or there is no byte there, if this is true.
    pub(super) at_end: bool,
}

impl Next {
    /// Anything is possible.
    pub(super) const ANY: Next = Next { item: Item::Any, at_end: true };
}

/// An item as often as possible.
#[derive(Clone, Debug)]
pub(super) struct Greedy {
    pub(super) item: Item,
    /// Least number of times: 0 or 1.
    pub(super) least: usize,
    /// At most once?
    pub(super) once: bool,
    /// Can the rest match only after the longest repetition?
    pub(super) possessive: bool,
    pub(super) next: Next,
}

/// An item as seldom as possible.
#[derive(Clone, Debug)]
pub(super) struct Lazy {
    pub(super) item: Item,
    /// The bytes that match the item and cannot start the rest.
    pub(super) skip: Item,
    pub(super) next: Next,
}

/// The rest of the subject is some bytes that match an item, at least so many.
#[derive(Copy, Clone, Debug)]
pub(super) struct Tail {
    pub(super) item: Item,
    pub(super) least: usize,
}

/// Where in a subject matches can start.
#[derive(Copy, Clone, Debug, Default)]
pub(super) enum Start {
    /// Everywhere.
    #[default]
    Anywhere,
    /// At a byte.
    Byte(u8),
    /// At one of two bytes.
    Two(u8, u8),
    /// At one of three bytes.
    Three(u8, u8, u8),
    /// At some bytes.
    Literal(Literal),
    /// Where this holds.
    Next(Next),
    /// At a tail.
    Tail(Tail),
}
