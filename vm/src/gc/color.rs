//! The colour byte of an object ([`GcHeader::marked`]).
//!
//! | bits | colour |
//! |---|---|
//! | one of [`WHITE0`], [`WHITE1`] | white: not reached. The heap's current white is new or not reached yet; the other one is dead |
//! | none | gray: reached, what it refers to is not yet |
//! | [`BLACK`] | black: reached with everything it refers to |
//!
//! Another bit of the same byte, [`NUMBERED`], is no colour: heap snapshots set it on objects that have got an id.
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
/// Black; the one bit that store barriers test.
pub const BLACK: u8 = 4;
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
