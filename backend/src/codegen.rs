//! Code generation: Cranelift makes machine code of one function, in one piece.
//!
//! That takes some microseconds for each instruction. A program that its host may interrupt, or that has a time limit, must not wait for a large
//! function: another thread compiles it, and this one waits for the result or for the interrupt. After an interrupt the result is thrown away.

use crate::BackendError;
use core::time::Duration;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::{CompiledCode, Context};
use perilune_vm::clock::processor_time;
use perilune_vm::interrupt::{Flag, with_signals_blocked};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};

/// Instructions of Cranelift IR from which on a function is large: compiling so many takes 3 ms, a third of the time in which an interrupt ends
/// a program. Making a thread takes some 50 us.
const LARGE: usize = 600;
/// How often a waiting thread looks for an interrupt.
const PERIOD: Duration = Duration::from_millis(1);
/// Bytes of the stack of a thread that compiles: what Rust gives to threads, on which Cranelift is used commonly.
pub const STACK: usize = 2 << 20;

/// A thread whose result nobody waits for.
struct Abandoned {
    thread: JoinHandle<()>,
    /// A child of `fork` has the structure, but not the thread.
    process: u32,
}

/// A function, and what Cranelift needs for it.
struct Unit {
    ctx: Context,
    registers: regalloc2::Ctx,
    compiled: Option<CompiledCode>,
}

impl Unit {
    fn new() -> Box<Unit> {
        Box::new(Unit { ctx: Context::new(), registers: regalloc2::Ctx::default(), compiled: None })
    }
    /// Compiles the function: what [`Context::compile`] does without its optimisations. There is no code that is not reached, and a parameter of a
    /// block that always has the same value is rare.
    fn compile(&mut self, isa: &OwnedTargetIsa) -> Result<(), BackendError> {
        let Unit { ctx, registers, compiled } = self;
        let error = |e: &dyn core::fmt::Debug| BackendError::Codegen(format!("{e:?}"));
        ctx.verify_if(&**isa).map_err(|e| error(&e))?;
        ctx.compute_cfg();
        ctx.compute_domtree();
        ctx.func.dfg.resolve_all_aliases();
        let mut plane = ControlPlane::default();
        let stencil = isa.compile_function(&ctx.func, &ctx.domtree, registers, ctx.want_disasm, &mut plane);
        *compiled = Some(stencil.map_err(|e| error(&e))?.apply_params(&ctx.func.params));
        Ok(())
    }
}

/// Compiles functions; the memory of a compilation is kept for the next.
pub(crate) struct Codegen {
    isa: OwnedTargetIsa,
    unit: Box<Unit>,
    abandoned: Vec<Abandoned>,
}

impl Codegen {
    pub(crate) fn new(isa: OwnedTargetIsa) -> Codegen {
        Codegen { isa, unit: Unit::new(), abandoned: Vec::new() }
    }
    /// The target.
    pub(crate) fn isa(&self) -> &OwnedTargetIsa {
        &self.isa
    }
    /// An empty function, and the target to make it for.
    pub(crate) fn empty(&mut self) -> (&mut Context, &dyn TargetIsa) {
        self.unit.ctx.clear();
        self.unit.compiled = None;
        (&mut self.unit.ctx, &*self.isa)
    }
    /// Compiles the function that was made. With it, the processor time that another thread has spent on it.
    pub(crate) fn run(&mut self, interrupt: Option<&Flag>) -> Result<(&CompiledCode, Duration), BackendError> {
        let large = interrupt.filter(|_| self.unit.ctx.func.dfg.num_insts() >= LARGE);
        let elsewhere = match large {
            Some(flag) => self.on_another_thread(flag)?,
            None => {
                self.unit.compile(&self.isa)?;
                Duration::ZERO
            }
        };
        let compiled = self.unit.compiled.as_ref().ok_or(BackendError::Codegen("no result".into()))?;
        Ok((compiled, elsewhere))
    }
    fn on_another_thread(&mut self, flag: &Flag) -> Result<Duration, BackendError> {
        let (order, orders) = mpsc::channel::<Box<Unit>>();
        let (send, results) = mpsc::channel();
        let isa = OwnedTargetIsa::clone(&self.isa);
        let work = move || {
            let Ok(mut unit) = orders.recv() else { return };
            let result = unit.compile(&isa);
            // Nobody receives it after an interrupt.
            let _ = send.send((unit, result, Duration::from_nanos(processor_time())));
        };
        let builder = thread::Builder::new().name("perilune-codegen".into()).stack_size(STACK);
        let Ok(thread) = with_signals_blocked(|| builder.spawn(work)) else {
            // The system allows no more threads.
            return self.unit.compile(&self.isa).map(|()| Duration::ZERO);
        };
        // The thread waits for it.
        let _ = order.send(core::mem::replace(&mut self.unit, Unit::new()));
        loop {
            match results.recv_timeout(PERIOD) {
                Ok((unit, result, elsewhere)) => {
                    self.unit = unit;
                    let _ = thread.join();
                    return result.map(|()| elsewhere);
                }
                Err(RecvTimeoutError::Timeout) if flag.get().is_some() => {
                    self.abandoned.retain(|a| !a.thread.is_finished());
                    self.abandoned.push(Abandoned { thread, process: std::process::id() });
                    return Err(BackendError::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Ok(()) => return Err(BackendError::Codegen("no result".into())),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
            }
        }
    }
}

impl Drop for Codegen {
    /// A library with this code may be unloaded next: no thread may be in it.
    fn drop(&mut self) {
        for Abandoned { thread, process } in self.abandoned.drain(..) {
            if process == std::process::id() {
                // Its panic concerns nobody: the result was thrown away.
                let _ = thread.join();
            }
        }
    }
}
