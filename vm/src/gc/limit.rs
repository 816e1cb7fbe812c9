//! The memory limit. Allocation itself never fails: the limit is checked at safepoints, and before allocations whose size the
//! program controls.

use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::value::Value;

/// Larger single allocations are refused even without a limit.
const MAX_ALLOC: usize = 0x7fff_ff00;

impl Vm {
    /// Limits the heap to `bytes`; `None` takes the limit away.
    pub fn set_memory_limit(&mut self, bytes: Option<usize>) {
        self.heap.memory_limit = bytes;
        self.heap.update_threshold();
    }
    /// The limit of the heap.
    pub fn memory_limit(&self) -> Option<usize> {
        self.heap.memory_limit
    }
    /// To be called before an allocation of `bytes` that may be large. A safepoint if there is a limit: it may collect.
    #[inline]
    pub fn check_alloc(&mut self, bytes: usize) -> LuaResult<()> {
        if bytes > MAX_ALLOC {
            return Err(self.out_of_memory());
        }
        self.enforce_limit(bytes)
    }
    /// Fails if `extra` bytes do not fit below the limit even after a full collection.
    #[inline]
    pub(super) fn enforce_limit(&mut self, extra: usize) -> LuaResult<()> {
        match self.heap.memory_limit {
            Some(limit) if self.heap.total.saturating_add(extra) > limit => self.collect_for(extra, limit),
            _ => Ok(()),
        }
    }
    #[cold]
    #[inline(never)]
    fn collect_for(&mut self, extra: usize, limit: usize) -> LuaResult<()> {
        self.full_gc();
        if self.heap.total.saturating_add(extra) > limit { Err(self.out_of_memory()) } else { Ok(()) }
    }
    /// "not enough memory"
    #[cold]
    pub(crate) fn out_of_memory(&mut self) -> LuaError {
        let e = self.throw(Value::str(self.heap.names.no_memory));
        // There is no room for handlers.
        self.error_handled = true;
        e
    }
}
