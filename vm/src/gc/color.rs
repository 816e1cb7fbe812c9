//! The colour byte of an object ([`GcHeader::marked`]).
//!
//! | bits | colour |
//! |---|---|
//! | one of [`WHITE0`], [`WHITE1`] | white: not reached. The heap's current white is new or not reached yet; the other one is dead |
//! | none | gray: reached, what it refers to is not yet |
//! | [`BLACK`] | black: reached with everything it refers to |
//!
//! Two other bits of the same byte are no colours: [`LEAF`], which keeps the collector from reading arrays of numbers in each cycle, and
//! [`NUMBERED`], which heap snapshots set on objects that have got an id.
//!
//! Strings refer to nothing and stay gray. Threads and open upvalues stay gray because stack stores have no barrier; weak tables stay gray
//! because they are traversed again in the atomic phase.

use crate::object::GcHeader;

/// First white.
pub const WHITE0: u8 = 1;
/// Second white.
pub const WHITE1: u8 = 2;
/// Both whites.
pub const WHITES: u8 = WHITE0 | WHITE1;
/// Black.
pub const BLACK: u8 = 4;
/// On a table: nothing in it referred to an object when it was traversed last, and nothing that does has been stored since. It need not be
/// traversed.
pub const LEAF: u8 = 8;
/// What the barriers of stores into tables test.
pub const BARRIER: u8 = BLACK | LEAF;
/// Never freed before the heap itself.
pub const FIXED: u8 = 0x20;
/// A heap snapshot has given the object an id. A new object at the same address does not have the bit: objects are made with a colour alone.
pub const NUMBERED: u8 = 0x40;
/// All colour bits.
pub const COLORS: u8 = WHITES | BLACK;

impl GcHeader {
    /// Not reached in this cycle (or dead)?
    #[inline(always)]
    pub fn is_white(&self) -> bool {
        self.marked.get() & WHITES != 0
    }
    /// Reached, with everything it refers to?
    #[inline(always)]
    pub fn is_black(&self) -> bool {
        self.marked.get() & BLACK != 0
    }
    /// Reached, but the objects that it refers to are not yet?
    #[inline(always)]
    pub fn is_gray(&self) -> bool {
        self.marked.get() & COLORS == 0
    }
    #[inline(always)]
    pub(crate) fn white_to_gray(&self) {
        self.marked.set(self.marked.get() & !WHITES);
    }
    #[inline(always)]
    pub(crate) fn gray_to_black(&self) {
        self.marked.set(self.marked.get() | BLACK);
    }
    #[inline(always)]
    pub(crate) fn black_to_gray(&self) {
        self.marked.set(self.marked.get() & !BLACK);
    }
    /// Does a store into this table need a barrier?
    #[inline(always)]
    pub fn needs_barrier(&self) -> bool {
        self.marked.get() & BARRIER != 0
    }
    /// Is it a table that refers to nothing?
    #[inline(always)]
    pub fn is_leaf(&self) -> bool {
        self.marked.get() & LEAF != 0
    }
    #[inline(always)]
    pub(crate) fn set_leaf(&self, on: bool) {
        let marked = self.marked.get() & !LEAF;
        self.marked.set(if on { marked | LEAF } else { marked });
    }
    /// Sets [`NUMBERED`]. Was it not set before?
    pub fn number(&self) -> bool {
        let before = self.marked.replace(self.marked.get() | NUMBERED);
        before & NUMBERED == 0
    }
    /// Gives the object the colour `white`.
    #[inline(always)]
    pub(crate) fn make_white(&self, white: u8) {
        self.marked.set(self.marked.get() & !COLORS | white);
    }
}
