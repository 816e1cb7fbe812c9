//! Links the nodes of a program with facts about the nodes that follow them.

use super::item::Item;
use super::program::{Greedy, Lazy, Next, Node, Program, Start, Tail};
use crate::text::class::ByteSet;

/// Facts about the rest of a program.
struct Follow {
    /// The bytes at an offset for which it does not fail there at once; an error counts as not failing.
    set: ByteSet,
    /// Does it not fail at once at the end of the subject?
    at_end: bool,
    /// Does it match everywhere?
    sure: bool,
    /// If it matches a tail and nothing else: the node of the tail.
    tail: Option<usize>,
}

impl Follow {
    const UNKNOWN: Follow = Follow { set: ByteSet::ALL, at_end: true, sure: false, tail: None };

    /// It needs a byte of a set.
    #[inline(always)]
    fn needs(&mut self, set: ByteSet) {
        *self = Follow { set, at_end: false, sure: false, tail: None };
    }
    fn next(&self) -> Next {
        Next { item: Item::of(&self.set), at_end: self.at_end }
    }
    /// An item that may be missing comes in front.
    fn behind(&mut self, item: &Item) {
        self.tail = None;
        item.add_to(&mut self.set);
    }
}

impl Program {
    /// Gives each node the facts about the nodes that follow it, and the program the facts about its start.
    pub(super) fn link(&mut self) {
        let mut follow = Follow::UNKNOWN;
        for i in (0..self.nodes.len()).rev() {
            self.link_node(i, &mut follow);
        }
        let first = self.nodes.iter().find(|n| !matches!(n, Node::Open(_)));
        self.start = match first {
            _ if self.anchored => Start::Anywhere,
            Some(Node::Tail(tail)) => Start::Tail(*tail),
            Some(Node::Literal(run)) => Start::Literal(*run),
            _ => start(&follow),
        };
        self.lead = match first {
            Some(Node::Greedy(Greedy { item, once: false, .. }) | Node::Lazy(Lazy { item, .. })) if !self.refers_back => {
                Some(*item)
            }
            _ => None,
        };
    }
    /// Gives a node the facts about the nodes that follow it, and adds the node to them.
    fn link_node(&mut self, i: usize, follow: &mut Follow) {
        let (front, behind) = self.nodes.split_at_mut(i + 1);
        let node = &mut front[i];
        match node {
            Node::Byte(b) => follow.needs(ByteSet::one(*b)),
            Node::Item(item) => follow.needs(item.set()),
            Node::Literal(run) => follow.needs(ByteSet::one(run.bytes()[0])),
            Node::Greedy(Greedy { item, least, once: false, .. }) if matches!(behind.first(), Some(Node::End)) => {
                let tail = Tail { item: *item, least: *least };
                *node = Node::Tail(tail);
                *follow = Follow { set: tail.item.set(), at_end: tail.least == 0, sure: false, tail: Some(i) };
            }
            Node::Greedy(r) => {
                // A shorter repetition is followed by a byte that matches the item.
                r.possessive = follow.sure || !r.item.meets(&follow.set);
                if !r.possessive {
                    r.next = follow.next();
                }
                if r.least > 0 { follow.needs(r.item.set()) } else { follow.behind(&r.item) }
            }
            Node::Lazy(r) => {
                let item = r.item;
                r.skip = Item::of(&item.set().intersection(&follow.set.complement()));
                r.next = follow.next();
                match follow.tail.and_then(|tail| behind.get(tail - i - 1)) {
                    Some(Node::Tail(tail)) => *node = Node::LazyTail(item, *tail),
                    Some(_) => *node = Node::LazyTail(item, END),
                    None => {}
                }
                follow.behind(&item);
            }
            Node::LazyTail(item, _) => follow.behind(item),
            Node::Open(_) | Node::Close(_) => {}
            Node::Balance(open, _) => follow.needs(ByteSet::one(*open)),
            Node::Frontier(set) => *follow = Follow { set: *set, at_end: set.has(0), sure: false, tail: None },
            Node::End => *follow = Follow { set: ByteSet::EMPTY, at_end: true, sure: false, tail: Some(i) },
            Node::Fail => follow.needs(ByteSet::EMPTY),
            Node::Tail(_) | Node::BackReference(_) | Node::Depth(_) | Node::Error(_) => *follow = Follow::UNKNOWN,
            Node::Done => *follow = Follow { sure: true, ..Follow::UNKNOWN },
        }
    }
}

/// An end is a tail without bytes.
const END: Tail = Tail { item: Item::Set(ByteSet::EMPTY), least: 0 };

/// Where matches can start, according to the facts about the whole program.
fn start(follow: &Follow) -> Start {
    if follow.set == ByteSet::ALL {
        return if follow.at_end { Start::Anywhere } else { Start::Next(follow.next()) };
    }
    let mut rest = follow.set;
    let mut bytes = [0; 3];
    let mut n = 0;
    while n < bytes.len() && !rest.is_empty() {
        bytes[n] = rest.take_first();
        n += 1;
    }
    let [a, b, c] = bytes;
    match n {
        _ if follow.at_end || !rest.is_empty() => Start::Next(follow.next()),
        1 => Start::Byte(a),
        2 => Start::Two(a, b),
        3 => Start::Three(a, b, c),
        _ => Start::Next(follow.next()),
    }
}
