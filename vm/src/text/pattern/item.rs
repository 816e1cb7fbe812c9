//! Pattern items, which match one byte.

use crate::text::class::ByteSet;
use crate::text::find_byte;

/// The test for one byte of the subject.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// Any byte.
    Any,
    /// This byte.
    Byte(u8),
    /// Any byte but one.
    Not(u8),
    /// Any byte of a set.
    Set(ByteSet),
}

impl Item {
    /// The item of a set of bytes.
    pub fn of(set: &ByteSet) -> Item {
        if let Some(b) = set.single() {
            return Item::Byte(b);
        }
        let others = set.complement();
        match others.single() {
            Some(b) => Item::Not(b),
            None if others.is_empty() => Item::Any,
            None => Item::Set(*set),
        }
    }
    /// The bytes that match.
    #[inline(always)]
    pub fn set(&self) -> ByteSet {
        match self {
            Item::Any => ByteSet::ALL,
            Item::Byte(b) => ByteSet::one(*b),
            Item::Not(b) => ByteSet::one(*b).complement(),
            Item::Set(set) => *set,
        }
    }
    /// Adds the bytes that match to a set.
    pub fn add_to(&self, set: &mut ByteSet) {
        match self {
            Item::Byte(b) => set.add(*b),
            _ => set.add_all(&self.set()),
        }
    }
    /// Does a byte of a set match?
    pub fn meets(&self, set: &ByteSet) -> bool {
        match self {
            Item::Byte(b) => set.has(*b),
            _ => set.meets(&self.set()),
        }
    }
    /// Does `c` match?
    #[inline(always)]
    pub fn matches(&self, c: u8) -> bool {
        match self {
            Item::Any => true,
            Item::Byte(b) => *b == c,
            Item::Not(b) => *b != c,
            Item::Set(set) => set.has(c),
        }
    }
    /// Number of bytes at the start of `s` that match.
    #[inline(always)]
    pub fn span(&self, s: &[u8]) -> usize {
        match self {
            Item::Any => s.len(),
            Item::Byte(b) => s.iter().position(|c| c != b).unwrap_or(s.len()),
            Item::Not(b) => find_byte(s, *b).unwrap_or(s.len()),
            Item::Set(set) => set.find(s, false).unwrap_or(s.len()),
        }
    }
    /// Number of bytes at the end of `s` that match.
    #[inline]
    pub fn span_back(&self, s: &[u8]) -> usize {
        match self {
            Item::Any => s.len(),
            _ => s.iter().rposition(|c| !self.matches(*c)).map_or(s.len(), |i| s.len() - 1 - i),
        }
    }
    /// Offset of the first byte that matches.
    #[inline]
    pub fn find(&self, s: &[u8]) -> Option<usize> {
        match self {
            Item::Any => (!s.is_empty()).then_some(0),
            Item::Byte(b) => find_byte(s, *b),
            Item::Not(b) => s.iter().position(|c| c != b),
            Item::Set(set) => set.find(s, true),
        }
    }
    /// Offset of the last byte that matches.
    #[inline]
    pub fn find_back(&self, s: &[u8]) -> Option<usize> {
        match self {
            Item::Any => s.len().checked_sub(1),
            Item::Byte(b) => memchr::memrchr(*b, s),
            Item::Not(b) => s.iter().rposition(|c| c != b),
            Item::Set(set) => s.iter().rposition(|c| set.has(*c)),
        }
    }
}
