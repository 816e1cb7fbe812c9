//! Fuel: a limit of the number of bytecode instructions. The count is exact, and the same whether a program is interpreted or compiled.
//!
//! The unit is what the dispatch table executes: a bytecode with the jump that belongs to it, or the header of a function, also of a builtin.
//! While there is a limit the interpreter dispatches by a table whose entries count ([`crate::interp::Dispatching::Counted`]). Compiled code
//! pays in advance: the IR instruction FUEL takes the instructions up to the next FUEL, or leaves if there are not so many; an exit in between
//! gives back what has not run. So compiled code never runs out of fuel: the interpreter does, at the same instruction in all modes.
//!
//! Finalizers, handlers of VM events and consumers of samples run at times that depend on the mode. They have an allowance of their own, as
//! large as the limit.

use crate::Vm;
use crate::bc::{Ins, Op};
use crate::error::{LuaError, LuaResult};
use crate::hooks::Mode;
use crate::state::Fuel;

/// The message of the error.
pub const MESSAGE: &str = "out of fuel";

impl Vm {
    /// Limits the number of instructions that are executed from now on; `None` takes the limit away. Traces that were compiled with a limit
    /// do not serve without one, and the other way round: they are thrown away.
    pub fn set_fuel(&mut self, fuel: Option<u64>) {
        let counts = fuel.is_some();
        let changes = counts != self.fuel.counts;
        let n = fuel.unwrap_or(0);
        self.fuel = Fuel { left: n, other: n, counts, outside: self.fuel.outside, exhausted: false };
        if changes {
            if self.interp.mode == Mode::Record {
                self.abort_recording();
            }
            self.constant_changed();
            self.update_dispatch();
        }
    }
    /// The instructions that may still be executed; `None` without a limit.
    pub fn fuel_left(&self) -> Option<u64> {
        self.fuel.counts.then_some(if self.fuel.outside { self.fuel.other } else { self.fuel.left })
    }
    /// Was the program ended for want of fuel?
    pub fn is_out_of_fuel(&self) -> bool {
        self.fuel.exhausted
    }
    /// Are instructions counted?
    #[inline(always)]
    pub fn counts_fuel(&self) -> bool {
        self.fuel.counts
    }
    /// Takes the fuel of an instruction that is about to be executed.
    ///
    /// # Errors
    /// There is none left.
    #[inline(always)]
    pub(crate) fn burn(&mut self, ins: Ins) -> LuaResult<()> {
        match self.fuel.left.checked_sub(1) {
            // A trace that replaces an ITERN begins with it: the trace pays.
            Some(_) if ins.op() == Op::JLOOP && self.compiler.original_ins(ins).op() == Op::ITERN => Ok(()),
            Some(left) => {
                self.fuel.left = left;
                Ok(())
            }
            None => Err(self.out_of_fuel()),
        }
    }
    #[cold]
    #[inline(never)]
    fn out_of_fuel(&mut self) -> LuaError {
        self.fuel.exhausted |= !self.fuel.outside;
        self.operation_error(MESSAGE)
    }
    /// Something begins to run outside of the program, or ends (`outside` is what this has returned before).
    pub(crate) fn fuel_outside(&mut self, outside: bool) -> bool {
        let before = core::mem::replace(&mut self.fuel.outside, outside);
        if before != outside {
            core::mem::swap(&mut self.fuel.left, &mut self.fuel.other);
        }
        before
    }
}
