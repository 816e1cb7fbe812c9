//! What runs beside the program: handlers of VM events, functions that samples are told to.
//!
//! It leaves the VM as it was. Hooks are not called for it, nothing of it is recorded, and the hot counters do not count it: a program
//! that is watched gets the traces that it gets otherwise.

use crate::Vm;
use crate::hooks::Mode;
use crate::state::HOT_COUNTERS;

/// What a counter is set to that runs out where nothing is to become hot.
pub(crate) const MORE: u16 = 1000;

impl Vm {
    /// Runs `f` beside the program. Values of the running frame live below `vm.top`.
    pub fn run_callback<T>(&mut self, f: impl FnOnce(&mut Vm) -> T) -> T {
        let mode = self.mode;
        let registers = (self.multres, self.record_nargs, self.error, self.pc, self.error_handled, self.in_error);
        let (counters, sets) = (self.hotcount, self.hot_sets);
        let outer = core::mem::replace(&mut self.in_callback, true);
        self.no_record += 1;
        let hooks = self.suspend_hooks(true);
        self.set_mode(Mode::Interpret);
        let result = f(self);
        self.no_record -= 1;
        self.in_callback = outer;
        if self.hot_sets == sets {
            self.hotcount = counters;
        }
        (self.multres, self.record_nargs, self.error, self.pc, self.error_handled, self.in_error) = registers;
        self.set_mode(mode);
        self.suspend_hooks(hooks);
        result
    }
    /// The compiler sets all hot counters, whatever they were meant to go back to.
    pub fn set_hot_counters(&mut self, n: u16) {
        self.forget_detour();
        self.hot_sets = self.hot_sets.wrapping_add(1);
        self.hotcount = [n; HOT_COUNTERS];
    }
    /// The compiler sets a hot counter.
    pub fn set_hot_counter(&mut self, counter: usize, n: u16) {
        self.end_detour();
        self.hotcount[counter] = n;
    }
    /// A hot counter ran out. True if that was beside the program, or in what runs because of a sample: nothing else is to be done
    /// about it.
    pub fn ran_out_in_callback(&mut self, counter: usize) -> bool {
        if self.in_callback {
            self.hotcount[counter] = MORE;
        }
        self.in_callback || self.ran_out_on_detour(counter)
    }
}
