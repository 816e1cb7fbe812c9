//! How traces are run: as machine code, or by the evaluator.
//!
//! Next on the way of a hot loop: `backend/src/compile.rs`.
#![allow(
    unsafe_code,
    reason = "the interpreter enters the evaluator as it enters compiled code; code that is read lies in the arena"
)]

use super::code::Code;
use super::room::with_room;
use crate::Jit;
use crate::view::log::{self, Topic};
use perilune_backend::exit_abi::ExitArg;
use perilune_backend::gdb::{self, Registration};
use perilune_backend::perf::Symbol;
use perilune_backend::{Backend, BackendError, CodeMap, CompileRequest, CompiledCode, Config, TraceTree};
use perilune_recorder::abort::Abort;
use perilune_recorder::eval::{self, Outcome};
use perilune_recorder::ir::Trace;
use perilune_recorder::rec::AbortInfo;
use perilune_vm::hooks::Unboxed;
use perilune_vm::object::table::hash_key;
use perilune_vm::state::Unfinished;
use perilune_vm::{ExitId, TraceId, Value, Vm};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

/// What runs traces: the backend, and its state.
#[derive(Default)]
pub struct Machine {
    /// Taken from [`IDLE`], or made, when the first trace is compiled.
    backend: Option<Backend>,
    /// The size of code memory that it was made for.
    limit: usize,
    /// What gdb knows, by address.
    registered: HashMap<usize, Registration>,
    /// Processor time that other threads have spent on compiling since it was last asked for.
    elsewhere: Duration,
}

/// Who looks at the code of a trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    /// The explorer: the code has an address map, and notes the guards that fail.
    pub by_explorer: bool,
    /// See [`Params::code_readers`](crate::params::Params::code_readers): the code has an address map, and is not compiled as a tree.
    pub readers: u32,
}

/// A backend that has written more code than this is dropped with its state.
const KEPT: usize = 1 << 20;

thread_local! {
    /// The backend of a state that was dropped, with the size that it was made for: making one takes as long as compiling a few traces.
    static IDLE: RefCell<Option<(usize, Backend)>> = const { RefCell::new(None) };
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(mut backend) = self.backend.take().filter(|b| b.code_written() <= KEPT) {
            backend.reset();
            // When the thread itself ends, the backend is dropped.
            let _ = IDLE.try_with(|idle| idle.replace(Some((self.limit, backend))));
        }
    }
}

/// Why there is no code for a trace.
pub enum Refused {
    /// Memory for code is used up: all traces must be flushed.
    Full,
    /// The program is being interrupted.
    Interrupted,
    /// Something else.
    Abort(Abort, AbortInfo),
}

impl Machine {
    fn backend(&mut self, limit: usize) -> Result<&mut Backend, BackendError> {
        if self.backend.is_none() {
            let idle = IDLE.try_with(RefCell::take).ok().flatten();
            self.limit = limit;
            self.backend = idle.filter(|i| i.0 == limit).map(|i| i.1);
        }
        if self.backend.is_none() {
            let config = Config { code_size: limit, ..Config::default() };
            self.backend = Some(with_room(|| Backend::new(&config)).map_err(no_thread)??);
        }
        self.backend.as_mut().ok_or(BackendError::ArenaFull)
    }
    /// Compiles a trace. The exit that leads to its start has left the slots `unboxed` and passes `exit_args`. `limit` is the size of all
    /// code, in bytes.
    pub fn compile(
        &mut self,
        vm: &mut Vm,
        (trace, id, sites): (&Trace, TraceId, &[u32]),
        (unboxed, exit_args): (&[Unboxed], &[ExitArg]),
        watched: Watched,
        exit_base: ExitId,
        limit: usize,
    ) -> Result<(Code, CodeMap), Refused> {
        let tree = TraceTree {
            sites,
            notes_helpers: vm.compiled.needs.notes_helpers,
            walked: vm.compiled.needs.walked,
            ..TraceTree::single(trace, id, exit_base)
        };
        let counts_runs = counts_runs(vm, trace) && watched.readers == 0;
        let by_explorer = watched.by_explorer;
        let parts = by_explorer || watched.readers != 0;
        let interruptible = vm.must_check_in_loops();
        let watched = CompileRequest { parts, interruptible, notes_guards: by_explorer, ..request(tree) };
        let flag = vm.interrupt_flag();
        let request = CompileRequest { unboxed, exit_args, counts_runs, interrupt: flag.as_deref(), ..watched };
        let code = self.emit(vm, &request, limit)?;
        Ok((Code { address: code.entry, size: code.size, loop_offset: code.loop_offset.unwrap_or(0) }, code.map))
    }
    /// Compiles a tree of traces as one function.
    pub(super) fn compile_tree(
        &mut self,
        vm: &mut Vm,
        tree: TraceTree<'_>,
        is_watched: bool,
        limit: usize,
    ) -> Result<Code, Refused> {
        let interruptible = vm.must_check_in_loops();
        let flag = vm.interrupt_flag();
        let request = CompileRequest { interruptible, notes_guards: is_watched, interrupt: flag.as_deref(), ..request(tree) };
        let code = self.emit(vm, &request, limit)?;
        Ok(Code { address: code.entry, size: code.size, loop_offset: 0 })
    }
    /// Compiles a trace that leaves at once, which an interrupt must not prevent.
    pub(super) fn compile_leaving(&mut self, vm: &mut Vm, tree: TraceTree<'_>, limit: usize) -> Result<Code, Refused> {
        let code = self.emit(vm, &request(tree), limit)?;
        Ok(Code { address: code.entry, size: code.size, loop_offset: 0 })
    }
    /// Processor time that other threads have spent on compiling since this was last called.
    pub fn take_elsewhere(&mut self) -> Duration {
        core::mem::take(&mut self.elsewhere)
    }
    fn emit(&mut self, vm: &mut Vm, request: &CompileRequest<'_>, limit: usize) -> Result<CompiledCode, Refused> {
        let backend = self.backend(limit).map_err(refused)?;
        vm.set_enter(backend.enter());
        vm.compiled.code = backend.code_range();
        let code = with_room(|| backend.compile(request)).map_err(no_thread).flatten().map_err(refused)?;
        if let Some(l) = &code.listing {
            let what = if request.tree.sides.is_empty() { "TRACE" } else { "TREE" };
            let id = request.tree.id;
            if log::on(Topic::Clif) {
                eprintln!("---- {what} {id} clif\n{}", l.clif);
            }
            if log::on(Topic::Asm) {
                eprintln!("---- {what} {id} code\n{}", l.asm);
            }
        }
        let used = backend.code_memory().0;
        self.elsewhere += code.elsewhere;
        if used > limit { Err(Refused::Full) } else { Ok(code) }
    }
    /// The entry of the exit table for an exit without a side trace.
    pub fn exit_stub(&self) -> usize {
        self.backend.as_ref().map_or(0, Backend::exit_stub)
    }
    /// Bytes of code in use.
    pub fn code_used(&self) -> usize {
        self.backend.as_ref().map_or(0, |b| b.code_memory().0)
    }
    /// Frees all code.
    pub fn reset(&mut self) {
        if let Some(b) = &mut self.backend {
            b.reset();
            self.registered.clear();
        }
    }
    /// Frees the code of a trace.
    pub fn free(&mut self, code: Code) {
        if let Some(b) = &mut self.backend
            && code.size != 0
        {
            b.free(code.address, code.size);
            self.registered.remove(&code.address);
        }
    }
    /// Tells gdb of a piece of code, and first of the code that calls all others.
    pub fn register(&mut self, symbol: &Symbol<'_>) {
        let Some(backend) = &self.backend else { return };
        let enter = backend.enter_code();
        let enter = Symbol { address: enter.as_ptr() as usize, code: enter, name: "enter a trace".into(), parts: Vec::new() };
        for symbol in [&enter, symbol] {
            if let std::collections::hash_map::Entry::Vacant(new) = self.registered.entry(symbol.address)
                && let Some(registration) = gdb::register(symbol)
            {
                new.insert(registration);
            }
        }
    }
    /// The bytes of a trace's code.
    pub fn bytes(&self, code: Code) -> Option<Vec<u8>> {
        let range = self.backend.as_ref()?.code_range();
        if code.address < range.start || code.address + code.size > range.end || code.size == 0 {
            return None;
        }
        // SAFETY: live code inside the arena, which is mapped readable.
        Some(unsafe { core::slice::from_raw_parts(code.address as *const u8, code.size) }.to_vec())
    }
}

/// Are the runs of a trace counted? Those of side traces are, unless code is compiled for somebody who asks where in it the program is: the
/// function of a tree does not know. A trace that jumps to its own start would count each round.
fn counts_runs(vm: &Vm, trace: &Trace) -> bool {
    trace.parent.is_some() && !trace.restarts() && !vm.wants_sites() && !vm.compiled.needs.walked
}

/// A request for code in the arena, but for what the parent of a side trace hands over.
fn request(tree: TraceTree<'_>) -> CompileRequest<'_> {
    CompileRequest {
        unboxed_exits: true,
        key_hash: hash_key,
        listing: log::on(Topic::Clif) || log::on(Topic::Asm),
        ..CompileRequest::new(tree, crate::frame::delta)
    }
}

fn no_thread(e: std::io::Error) -> BackendError {
    BackendError::Memory(e.to_string())
}

fn refused(e: BackendError) -> Refused {
    match e {
        BackendError::ArenaFull => Refused::Full,
        BackendError::Unsupported(op) => Refused::Abort(Abort::NyiIr, AbortInfo::Ir(op)),
        BackendError::Interrupted => Refused::Interrupted,
        e => {
            let expected = matches!(e, BackendError::Memory(_));
            if cfg!(debug_assertions) && !expected || log::on(Topic::Aborted) {
                eprintln!("perilune: {e}");
            }
            Refused::Abort(Abort::NoCodeMemory, AbortInfo::None)
        }
    }
}

/// Runs a trace by the evaluator, in the place of compiled code.
///
/// # Safety
/// As [`perilune_vm::hooks::EnterFn`].
pub unsafe extern "C" fn evaluate(vm: *mut Vm, base: *mut Value, trace: u32) -> u64 {
    // SAFETY: the interpreter gives its VM, which lives and is not otherwise in use while compiled code runs.
    let Some(jit) = Jit::of(unsafe { &*vm }) else { return 0 };
    let Some(mut n) = TraceId::new(trace) else { return 0 };
    let mut base = base;
    loop {
        let t = jit.registry.borrow().get(n).map(|e| (std::rc::Rc::clone(&e.trace), e.exit_base, e.is_invalid));
        let Some((t, exit_base, is_invalid)) = t else { return 0 };
        if is_invalid {
            // SAFETY: as above.
            unsafe { (*vm).compiled.base = base };
            return u64::from(exit_base.exit(0).get());
        }
        let config = eval::Config { frame_delta: crate::frame::delta, ..eval::Config::default() };
        // SAFETY: traces in the registry were recorded on this VM.
        let end = unsafe { eval::run_with(&config, &t, vm, base) };
        base = end.base;
        // SAFETY: as above.
        if unsafe { (*vm).compiled.unfinished } != Unfinished::None {
            return 0;
        }
        match end.outcome {
            Outcome::Exit(k) => {
                let side = jit.registry.borrow().get(n).and_then(|e| e.exits[k.index()].side);
                // On request all exits leave.
                // SAFETY: as above.
                let side = side.filter(|_| !unsafe { (*vm).is_exit_requested() });
                let Some(side) = side else {
                    // SAFETY: as above.
                    unsafe { (*vm).compiled.base = base };
                    return u64::from(exit_base.exit(k.number()).get());
                };
                n = side;
            }
            Outcome::Root(root) => {
                n = jit.registry.borrow().get(root).and_then(|e| e.replaced_by).unwrap_or(root);
            }
            Outcome::Again | Outcome::OutOfFuel => {}
        }
    }
}

/// Would a trace of the registry leave by its first exit on the running frame, before it has any effect?
pub(super) fn leaves_early(vm: &mut Vm, trace: &Trace) -> bool {
    let config = eval::Config { frame_delta: crate::frame::delta, ..eval::Config::default() };
    let base = vm.base;
    // SAFETY: traces in the registry were recorded on this VM. Nothing is changed.
    unsafe { eval::leaves_early(&config, trace, vm, base) }
}
