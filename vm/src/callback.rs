//! Callbacks: handlers of VM events, and functions that are called with samples.
//!
//! A callback leaves the VM as it was: hooks are not called for it, it is not recorded, and the hot counters do not count it. So a program
//! has the same traces whether or not it is watched.

use crate::Vm;
use crate::errno;
use crate::hooks::Mode;
use crate::state::HOT_COUNTERS;

/// The value that a hot counter gets when it underflows in a callback, where nothing becomes hot.
const RESTART: u16 = 1000;

impl Vm {
    /// Runs the callback `f`. Values of the running frame live below `vm.top`.
    pub fn run_callback<T>(&mut self, f: impl FnOnce(&mut Vm) -> T) -> T {
        let _errno = errno::keep();
        let mode = self.interp.mode;
        let registers = (self.multres, self.interp.record_nargs, self.errors.value, self.pc, self.errors.handled);
        let (thread, in_handler) = (self.cur, self.cur.in_handler.get());
        let (counters, resets) = (self.interp.hotcount, self.callback.hot_resets);
        let outer = core::mem::replace(&mut self.callback.running, true);
        self.callback.no_record += 1;
        let hooks = self.suspend_hooks(true);
        let fuel = self.fuel_outside(true);
        self.set_mode(Mode::Interpret);
        let result = f(self);
        self.fuel_outside(fuel);
        self.callback.no_record -= 1;
        self.callback.running = outer;
        if self.callback.hot_resets == resets {
            self.interp.hotcount = counters;
        }
        (self.multres, self.interp.record_nargs, self.errors.value, self.pc, self.errors.handled) = registers;
        thread.in_handler.set(in_handler);
        self.set_mode(mode);
        self.suspend_hooks(hooks);
        result
    }
    /// The compiler resets all hot counters to `n`. This holds even if a callback does it (`jit.off`, `jit.opt.start`).
    pub fn reset_hot_counters(&mut self, n: u16) {
        self.callback.hot_resets = self.callback.hot_resets.wrapping_add(1);
        self.interp.hotcount = [n; HOT_COUNTERS];
    }
    /// The compiler sets a hot counter.
    pub fn set_hot_counter(&mut self, counter: usize, n: u16) {
        self.interp.hotcount[counter] = n;
    }
    /// A hot counter underflowed. If a callback is running, restarts the counter and returns true: nothing becomes hot.
    pub fn underflowed_in_callback(&mut self, counter: usize) -> bool {
        if self.callback.running {
            self.interp.hotcount[counter] = RESTART;
        }
        self.callback.running
    }
}
