//! Exceptions of C++ as errors.
#![allow(unsafe_code, reason = "an exception that a border call has caught belongs to the VM until it is raised again")]

use crate::Vm;
use crate::abi::unwind::Exception;
use crate::abi::{FOREIGN, Outcome};
use crate::error::{LuaError, LuaResult};
use crate::value::Value;

impl Vm {
    /// The result of a border call. An exception of C++ becomes the error `"C++ exception"`.
    #[inline]
    pub fn outcome(&mut self, outcome: Outcome) -> LuaResult<u64> {
        if outcome.raised == 0 { Ok(outcome.value) } else { Err(self.caught(outcome)) }
    }
    #[cold]
    #[inline(never)]
    fn caught(&mut self, outcome: Outcome) -> LuaError {
        let exception = outcome.value as usize;
        if outcome.raised == FOREIGN {
            let text = self.new_str(b"C++ exception");
            let error = self.throw(Value::str(text));
            self.errors.exception = exception;
            // As in LuaJIT, handlers are not called for it.
            self.errors.handled = true;
            return error;
        }
        if exception != 0 {
            // SAFETY: the exception that carried the error; it has arrived.
            unsafe { Exception::delete(core::ptr::with_exposed_provenance_mut(exception)) };
        }
        self.raised()
    }
    /// The exception that the error which is being raised stands for, to be raised again; null if there is none.
    pub fn take_exception(&mut self) -> *mut Exception {
        core::ptr::with_exposed_provenance_mut(core::mem::take(&mut self.errors.exception))
    }
    /// The error was caught, or replaced: its exception ends.
    #[inline]
    pub(crate) fn forget_exception(&mut self) {
        if self.errors.exception != 0 {
            let exception = self.take_exception();
            // SAFETY: a border call has caught it, and nothing has raised it again.
            unsafe { Exception::delete(exception) };
        }
    }
}
