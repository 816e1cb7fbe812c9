//! Detours: what the interpreter runs where compiled code would have gone on, had it not been left for a sample.
//!
//! The hot counters are put back at the end of a detour, which is when compiled code is entered again, so that a program that is
//! sampled gets the traces that it gets otherwise.

use crate::Vm;
use crate::aside::MORE;
use crate::state::HOT_COUNTERS;

/// Whatever is interpreted while so many counters run out is not passed through on the way to compiled code.
const PATIENCE: u32 = 16;

/// The state of the hot counters before a detour.
pub(super) struct Detour {
    counters: [u16; HOT_COUNTERS],
    /// Does one last?
    lasts: bool,
    /// Has the sample that it began with been told of?
    told: bool,
    /// Counters that ran out.
    ran_out: u32,
}

impl Detour {
    pub(super) fn new() -> Box<Detour> {
        Box::new(Detour { counters: [0; HOT_COUNTERS], lasts: false, told: false, ran_out: 0 })
    }
}

impl Vm {
    /// Compiled code was left for a sample, or not entered because of one.
    pub fn begin_detour(&mut self) {
        let counters = self.hotcount;
        if let Some(d) = self.sampling.detour.as_mut().filter(|d| !d.lasts) {
            **d = Detour { counters, lasts: true, told: false, ran_out: 0 };
        }
    }
    /// Compiled code of the program is entered again, or a counter is about to be set.
    #[inline]
    pub fn end_detour(&mut self) {
        if self.is_aside {
            return;
        }
        if let Some(d) = self.sampling.detour.as_mut().filter(|d| d.lasts) {
            d.lasts = false;
            self.hotcount = d.counters;
        }
    }
    /// Is what runs only run because of a sample?
    pub fn is_on_detour(&self) -> bool {
        self.sampling.detour.as_ref().is_some_and(|d| d.lasts)
    }
    /// The detour, if one lasts, is at its end, and counters stay as they are.
    pub(crate) fn forget_detour(&mut self) {
        if let Some(d) = &mut self.sampling.detour {
            d.lasts = false;
        }
    }
    /// A hot counter ran out. True if that was on a detour.
    pub(crate) fn ran_out_on_detour(&mut self, counter: usize) -> bool {
        let Some(d) = self.sampling.detour.as_mut().filter(|d| d.lasts) else { return false };
        d.ran_out += 1;
        self.hotcount[counter] = MORE;
        if d.ran_out > PATIENCE {
            self.end_detour();
        }
        true
    }
    /// A sample is about to be told of. The second one on a detour comes too late for it to be one.
    pub(super) fn tell_on_detour(&mut self) {
        if let Some(d) = &mut self.sampling.detour
            && core::mem::replace(&mut d.told, true)
        {
            self.end_detour();
        }
    }
}
