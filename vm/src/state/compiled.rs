//! The part of the VM that compiled code, its exits and their tables use.

use crate::gc::watch::Site;
use crate::hooks::{EnterFn, PlainExit};
use crate::ids::ExitId;
use crate::value::Value;
use core::ops::Range;

/// State that compiled code shares with the interpreter, at fixed offsets ([`crate::layout`]).
#[repr(C)]
pub struct CompiledState {
    /// Trace being entered or left last; 0 when none.
    pub trace: u32,
    /// Number of the position in compiled code that calls a helper, if a watcher or a profiler needs it; else 0 ([`Site`]).
    pub site: u32,
    /// Base of the frame to resume, stored by every exit.
    pub base: *mut Value,
    /// Entry to compiled code: [`CompiledState::plain_enter`], or a wrapper of it for watchers and profilers.
    pub enter: EnterFn,
    /// Code address by trace number (index 0 unused).
    pub trace_code: *mut usize,
    /// Number of times each trace was entered from the interpreter, by its number.
    pub trace_entered: *mut u64,
    /// Code address by exit id: [`CompiledState::exits_linked`] or [`CompiledState::exits_leaving`].
    pub exit_table: *mut usize,
    /// By exit id: the exit stub, or the code of the side trace.
    pub exits_linked: *mut usize,
    /// By exit id: always the exit stub. In use while compiled code is to be left; may be null.
    pub exits_leaving: *mut usize,
    /// By exit id, see [`PlainExit`].
    pub plain_exits: *mut PlainExit,
    /// The [`crate::Vm::stack_limit`] of compiled code. Null while that is to be left: then it finds no room for its frames.
    pub stack_limit: *mut Value,
    /// Depth of native calls at which compiled code runs, while watchers or profilers need sites.
    pub trace_depth: u32,
    /// Guards of exit stress still to pass before one leaves (for tests).
    pub exit_countdown: u32,
    /// Guards of exit stress that pass between two that leave.
    pub exit_every: u32,
    /// Arguments and results of helpers called from compiled code.
    pub scratch: [u64; 16],
    /// Always nil: a failed lookup returns its address.
    pub nil_slot: Value,
    /// Base of the frame that compiled code counts slots from, while it runs and is sampled. Null if the stack has moved since.
    pub frame_base: *mut Value,
    /// By trace number: runs of a side trace until the compiler is asked whether its tree becomes one function.
    pub side_countdown: *mut i32,
    /// The guard that failed last, for code that reports it: the exit id in the upper half; in the lower half one more than the index of the
    /// guard, and [`CompiledState::HAS_WITNESS`]. 0 when it has been read.
    pub failed_guard: u64,
    /// The value that the guard failed for, as the trace has it in a register or in memory.
    pub witness: Value,

    // Compiled code touches nothing from here on.
    /// Entry to compiled code without watching.
    pub plain_enter: EnterFn,
    /// The work that a builtin called by compiled code has left for the interpreter.
    pub unfinished: Unfinished,
    /// Changes whenever compiled code can no longer rely on values that are not on the stack: the atomic phase of a collection, a flush of
    /// traces, Lua code called by a builtin.
    pub invalidations: u32,
    /// Calls of builtins by compiled code that have not returned: the code must not be freed.
    pub native_calls: u32,
    /// The positions that [`CompiledState::site`] numbers.
    pub sites: Vec<Site>,
    /// Upvalues have been joined: two of one function may be one variable.
    pub upvalues_joined: bool,
    /// How often stacks were moved.
    pub(crate) stack_moves: u32,
    /// The addresses of compiled code.
    pub code: Range<usize>,
    /// What an observer needs.
    pub needs: CodeNeeds,
}

/// What compiled code does for an observer ([`crate::hooks::Observer`]).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeNeeds {
    /// It is noted when compiled code runs.
    pub notes_entry: bool,
    /// It stores its position before it calls a helper.
    pub notes_helpers: bool,
    /// Loops that take no exit check whether they are to be left.
    pub checks_in_loops: bool,
    /// Stacks are walked while it runs.
    pub walked: bool,
}

/// What the interpreter must finish after compiled code has called a builtin.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unfinished {
    /// Nothing.
    None,
    /// An error is being raised.
    Error,
    /// It returned this, with its frame at `vm.base`.
    Returned(u32),
}

impl CompiledState {
    /// In [`CompiledState::failed_guard`]: [`CompiledState::witness`] was stored as well.
    pub const HAS_WITNESS: u64 = 1 << 31;

    /// The guard of an exit that failed, and the value that it failed for, if the code that was left by this exit has noted them.
    pub fn take_failed_guard(&mut self, exit: ExitId) -> Option<(usize, Option<Value>)> {
        let noted = core::mem::take(&mut self.failed_guard);
        let index = (noted as u32 & !(Self::HAS_WITNESS as u32)).checked_sub(1)?;
        let witness = (noted & Self::HAS_WITNESS != 0).then_some(self.witness);
        ((noted >> 32) as u32 == exit.get()).then_some((index as usize, witness))
    }
    /// The state before there is any compiled code; `enter` is the function that enters it.
    pub(crate) fn new(enter: EnterFn) -> CompiledState {
        CompiledState {
            trace: 0,
            site: 0,
            base: core::ptr::null_mut(),
            enter,
            trace_code: core::ptr::null_mut(),
            trace_entered: core::ptr::null_mut(),
            exit_table: core::ptr::null_mut(),
            exits_linked: core::ptr::null_mut(),
            exits_leaving: core::ptr::null_mut(),
            plain_exits: core::ptr::null_mut(),
            stack_limit: core::ptr::null_mut(),
            trace_depth: 0,
            exit_countdown: 0,
            exit_every: 0,
            scratch: [0; 16],
            nil_slot: Value::NIL,
            frame_base: core::ptr::null_mut(),
            side_countdown: core::ptr::null_mut(),
            failed_guard: 0,
            witness: Value::NIL,
            plain_enter: enter,
            unfinished: Unfinished::None,
            invalidations: 0,
            native_calls: 0,
            sites: Vec::new(),
            upvalues_joined: false,
            stack_moves: 0,
            code: 0..0,
            needs: CodeNeeds::default(),
        }
    }
}
