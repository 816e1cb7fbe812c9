//! Detours: what the interpreter runs where compiled code would have gone on, had it not been left for a sample or for the collector.
//!
//! The hot counters are put back at the end of a detour, which is when compiled code is entered again, so that a program gets the same
//! traces whether it is sampled or not, and wherever collections fall.

use crate::Vm;
use crate::callback::MORE;
use crate::hooks::EnterFn;
use crate::state::HOT_COUNTERS;

/// Whatever is interpreted while so many counters run out is not passed through on the way to compiled code.
const PATIENCE: u32 = 16;

/// The state of the hot counters before a detour.
#[derive(Debug)]
pub struct Detour {
    counters: [u16; HOT_COUNTERS],
    /// Does one last?
    lasts: bool,
    /// Has a sample been told of on it?
    told: bool,
    /// Counters that ran out.
    ran_out: u32,
    /// What enters compiled code otherwise.
    enter: EnterFn,
    /// Has compiled code been left, or is about to be, for the collector?
    to_collect: bool,
}

impl Detour {
    pub(crate) fn new(enter: EnterFn) -> Detour {
        Detour { counters: [0; HOT_COUNTERS], lasts: false, told: false, ran_out: 0, enter, to_collect: false }
    }
}

impl Vm {
    /// Compiled code was left, or not entered, for something beside the program.
    pub fn begin_detour(&mut self) {
        // Under stress the collector is everywhere.
        if self.detour.lasts || self.heap.is_stressed() {
            return;
        }
        let d = &mut self.detour;
        (d.counters, d.lasts, d.told, d.ran_out) = (self.hotcount, true, false, 0);
        self.enter = enter_again;
    }
    /// Compiled code of the program is entered again, or a counter is about to be set.
    pub(crate) fn end_detour(&mut self) {
        if self.detour.lasts && !self.in_callback {
            self.forget_detour();
            self.hotcount = self.detour.counters;
        }
    }
    /// Is what runs only run because of a sample or the collector?
    pub fn is_on_detour(&self) -> bool {
        self.detour.lasts
    }
    /// The detour, if one lasts, is at its end, and counters stay as they are.
    pub(crate) fn forget_detour(&mut self) {
        self.detour.lasts = false;
        self.enter = self.detour.enter;
    }
    /// A hot counter ran out. True if that was on a detour.
    pub(crate) fn ran_out_on_detour(&mut self, counter: usize) -> bool {
        if !self.detour.lasts {
            return false;
        }
        self.detour.ran_out += 1;
        self.hotcount[counter] = MORE;
        if self.detour.ran_out > PATIENCE {
            self.end_detour();
        }
        true
    }
    /// A sample is about to be told of. The second one on a detour comes too late for it to be one.
    pub(crate) fn tell_on_detour(&mut self) {
        if core::mem::replace(&mut self.detour.told, true) {
            self.end_detour();
        }
    }
    /// Compiled code is to leave for the collector. Under stress that is nothing out of the way.
    pub(crate) fn leave_to_collect(&mut self) {
        self.detour.to_collect = !self.heap.is_stressed();
    }
    /// Was compiled code left for the collector? Asked at each exit, once.
    #[inline]
    pub fn has_left_to_collect(&mut self) -> bool {
        core::mem::take(&mut self.detour.to_collect)
    }
    /// The same, to be asked again.
    #[inline]
    pub(crate) fn is_left_to_collect(&self) -> bool {
        self.detour.to_collect
    }
    /// Sets what enters compiled code when there is no detour.
    pub(crate) fn enter_by(&mut self, enter: EnterFn) {
        self.detour.enter = enter;
        if !self.detour.lasts {
            self.enter = enter;
        }
    }
    /// What enters compiled code when there is no detour.
    pub(crate) fn usual_enter(&self) -> EnterFn {
        self.detour.enter
    }
}

/// Enters compiled code on a detour.
///
/// # Safety
/// As for [`EnterFn`].
unsafe extern "C" fn enter_again(vm: *mut Vm, base: *mut crate::Value, trace: u32) -> u64 {
    // SAFETY: by the contract, which is that of what is called as well; no reference to the VM is in use meanwhile.
    unsafe {
        (*vm).end_detour();
        let enter = (*vm).usual_enter();
        enter(vm, base, trace)
    }
}
