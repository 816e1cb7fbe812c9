//! References that the interpreter makes for one use: `a[i]` in `a[i].x = y`. When they were used, nothing refers to them, and the next one is
//! made in the same cell.

use crate::bc::Ins;
use crate::object::{Cdata, Gc};

/// So many temporaries are there at a time: `a[i].x = b[i].y` has two.
const KEPT: usize = 4;

/// Number of instructions that are remembered, a power of two.
const PLACES: usize = 64;

/// Cells for temporaries, and the instructions that make them.
///
/// All is forgotten when a collection has marked what is alive ([`Temporaries::forget`]): none of the cells is freed before that, and none of
/// the instructions.
#[derive(Debug)]
pub struct Temporaries {
    /// Cdata with a payload of 8 bytes that nothing refers to.
    spare: [Option<Gc<Cdata>>; KEPT],
    /// How many.
    count: usize,
    /// Addresses of instructions, and whether what they make is used once. Each is in the place that its address determines.
    makers: [(usize, bool); PLACES],
}

impl Default for Temporaries {
    fn default() -> Temporaries {
        Temporaries { spare: [None; KEPT], count: 0, makers: [(0, false); PLACES] }
    }
}

impl Temporaries {
    /// Other cells from here on.
    pub fn forget(&mut self) {
        *self = Temporaries::default();
    }
    /// A cell for a new temporary.
    pub fn take(&mut self) -> Option<Gc<Cdata>> {
        self.count = self.count.checked_sub(1)?;
        self.spare[self.count].take()
    }
    /// Is what an instruction makes used once? `find` finds it out; the answer is remembered by its address.
    pub fn is_used_once(&mut self, maker: *const Ins, find: impl FnOnce() -> bool) -> bool {
        let place = &mut self.makers[maker as usize / size_of::<Ins>() % PLACES];
        if place.0 != maker as usize {
            *place = (maker as usize, find());
        }
        place.1
    }
    /// Nothing refers to a temporary any more.
    pub fn put(&mut self, c: Gc<Cdata>) {
        if let Some(spare) = self.spare.get_mut(self.count) {
            *spare = Some(c);
            self.count += 1;
        }
    }
}
