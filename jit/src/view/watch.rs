//! Watching the compiler from Rust: a watcher is called at each start, stop, abort, flush and disabling of a trace.
//!
//! Unlike the handlers of `jit.attach`, a watcher runs no Lua code and does not call the compiler. The objects that it is shown may be
//! freed later: it does not keep them alive.

use crate::Jit;
use crate::trace::{Entry, Registry};
use core::any::Any;
use core::cell::{Cell, RefCell};
use perilune_recorder::ir::history::History;
use perilune_recorder::ir::{SnapId, TraceExit};
use perilune_vm::object::{Gc, Proto};
use perilune_vm::{TraceId, Value, Vm};

/// The start of a recording.
#[derive(Copy, Clone, Debug)]
pub struct Start {
    /// Number of the trace that is to be.
    pub number: TraceId,
    /// The function that it starts in.
    pub func: Value,
    /// Index of the instruction there.
    pub pc: usize,
    /// The trace that it continues, and the exit; no exit if that trace ended in front of a call.
    pub parent: Option<(TraceId, Option<SnapId>)>,
}

/// A trace that was compiled.
pub struct Compiled<'a> {
    /// The state.
    pub vm: &'a Vm,
    /// Its number.
    pub number: TraceId,
    /// The trace.
    pub entry: &'a Entry,
    /// How it was recorded and optimised.
    pub history: &'a History,
    /// The function that is called where it ends before a call.
    pub stitch: Option<Value>,
    /// Its machine code, constants included; none in the evaluator.
    pub code: &'a [u8],
}

/// A guard that failed.
pub struct FailedGuard<'a> {
    /// The trace.
    pub number: TraceId,
    /// The trace.
    pub entry: &'a Entry,
    /// The exit that it was left by.
    pub exit: SnapId,
    /// The instruction of the guard.
    pub guard: usize,
    /// The value that the guard is about ([`perilune_recorder::ir::Trace::witness`]), if it was at hand.
    pub witness: Option<Value>,
}

/// Why a trace was removed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// All traces were thrown away.
    Flushed,
    /// A function that it was made from was collected.
    Collected,
    /// A field that it takes for a constant was stored to. It still exists, but is not entered any more.
    Invalidated,
}

/// A watcher of the compiler.
pub trait Watcher: Any {
    /// A function was parsed or loaded.
    fn proto_made(&mut self, proto: Gc<Proto>);
    /// A function is about to be freed.
    fn proto_freed(&mut self, proto: Gc<Proto>);
    /// A recording starts.
    fn started(&mut self, start: &Start);
    /// An instruction is recorded: its function, its index (none for the call of a builtin), and how many frames were entered since the
    /// start.
    fn recorded(&mut self, func: Value, pc: Option<usize>, depth: usize);
    /// The recording became a trace.
    fn compiled(&mut self, trace: &Compiled<'_>);
    /// The recording was aborted at an instruction of a function.
    fn aborted(&mut self, at: (Value, usize), reason: &str);
    /// A trace was left to the interpreter because guard `failed.guard` did not hold.
    fn left(&mut self, vm: &Vm, failed: &FailedGuard<'_>);
    /// A root trace whose tree lost more time than it saved was disabled.
    fn disabled(&mut self, number: TraceId);
    /// A trace is about to be removed. It was entered `entered` times from the interpreter.
    fn gone(&mut self, number: TraceId, entry: &Entry, entered: u64, why: Fate);
    /// All traces were removed.
    fn flushed(&mut self);
}

/// The observers of the compiler.
#[derive(Default)]
pub(crate) struct Observers {
    /// The watcher, which is written in Rust.
    pub watcher: RefCell<Option<Box<dyn Watcher>>>,
    /// Is a handler of an event running? No other event is sent meanwhile.
    pub in_event: Cell<bool>,
}

impl Jit {
    /// Attaches a watcher; the one that was attached before is returned. It is not called for traces that exist already. While a watcher is
    /// attached, LuaJIT's thresholds apply unless others were set.
    pub fn watch(&self, vm: &mut Vm, watcher: Box<dyn Watcher>) -> Option<Box<dyn Watcher>> {
        self.settle_exits();
        let before = self.observers.watcher.borrow_mut().replace(watcher);
        self.reset_counters(vm);
        before
    }
    /// Detaches the watcher.
    pub fn end_watch(&self, vm: &mut Vm) -> Option<Box<dyn Watcher>> {
        let watcher = self.observers.watcher.borrow_mut().take();
        self.reset_counters(vm);
        watcher
    }
    /// Calls `f` for each trace, with its number and the times that it was entered from the interpreter. `f` must not call the compiler.
    pub fn for_each_entry(&self, mut f: impl FnMut(TraceId, &Entry, u64)) {
        let registry = self.registry.borrow();
        for (n, e) in registry.iter() {
            f(n, e, registry.entries_of(n));
        }
    }
    pub(crate) fn is_watched(&self) -> bool {
        self.observers.watcher.borrow().is_some()
    }
    pub(crate) fn notify(&self, f: impl FnOnce(&mut dyn Watcher)) {
        if let Some(w) = &mut *self.observers.watcher.borrow_mut() {
            f(&mut **w);
        }
    }
    /// Reports the guard that failed.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_left(&self, vm: &Vm, registry: &Registry, (guard, witness): (usize, Option<Value>), at: TraceExit) {
        let Some(entry) = registry.get(at.trace) else { return };
        self.notify(|w| w.left(vm, &FailedGuard { number: at.trace, entry, exit: at.exit, guard, witness }));
    }
    /// Reports a new trace.
    pub(crate) fn report_compiled(&self, vm: &Vm, number: TraceId, stitch: Option<Value>, history: Option<Box<History>>) {
        if !self.is_watched() {
            return;
        }
        let registry = self.registry.borrow();
        let Some(entry) = registry.get(number) else { return };
        let code = self.machine.borrow().bytes(entry.code).unwrap_or_default();
        let history = history.unwrap_or_default();
        self.notify(|w| w.compiled(&Compiled { vm, number, stitch, entry, history: &history, code: &code }));
    }
    /// Reports that traces are about to be removed: those of an owner, or all.
    pub(crate) fn report_gone(&self, owner: Option<Gc<Proto>>) {
        if !self.is_watched() {
            return;
        }
        let why = if owner.is_some() { Fate::Collected } else { Fate::Flushed };
        self.for_each_entry(|n, e, entered| {
            if owner.is_none_or(|p| p == e.owner()) {
                self.notify(|w| w.gone(n, e, entered, why));
            }
        });
        if owner.is_none() {
            self.notify(|w| w.flushed());
        }
    }
}

/// Calls `f` with the compiler's watcher, if there is one of this type.
pub fn with_watcher<W: Watcher, R>(vm: &Vm, f: impl FnOnce(&mut W) -> R) -> Option<R> {
    let jit = Jit::of(vm)?;
    let mut watcher = jit.observers.watcher.borrow_mut();
    let any: &mut dyn Any = &mut **watcher.as_mut()?;
    any.downcast_mut().map(f)
}
