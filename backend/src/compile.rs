//! The compiler: from a tree of traces to machine code, and the code arena that it is placed in.
//!
//! Next on the way of a hot loop: `jit/src/trace/patch.rs`.
#![allow(
    unsafe_code,
    reason = "the thunk that enters compiled code was compiled with the signature that it is called by, and lives as long as the arena"
)]

use crate::code::{Arena, Code};
use crate::codegen::Codegen;
use crate::lower::{self, Env};
use crate::output::{CompiledCode, Emitted, Listing};
use crate::request::CompileRequest;
use crate::thunk::{ThunkAddrs, Thunks};
use crate::{BackendError, disas, isa};
use core::ops::Range;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::{FinalizedMachReloc, FinalizedRelocTarget, binemit, ir};
use perilune_vm::helper::Helper;
use perilune_vm::hooks::EnterFn;

/// How to set up a [`Backend`].
#[derive(Copy, Clone)]
pub struct Config {
    /// Limit of machine code, bytes.
    pub code_size: usize,
    /// Addresses of the helpers that compiled code calls.
    pub helper: fn(Helper) -> usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { code_size: 32 << 20, helper: Helper::address }
    }
}

/// Compiles traces for one target; the memory of a compilation is kept for the next.
pub struct Compiler {
    codegen: Codegen,
    helper: fn(Helper) -> usize,
}

impl Compiler {
    /// A compiler for a target, see [`crate::isa`].
    pub fn new(isa: OwnedTargetIsa, helper: fn(Helper) -> usize) -> Compiler {
        Compiler { codegen: Codegen::new(isa), helper }
    }
    /// The target.
    pub fn isa(&self) -> &dyn TargetIsa {
        &**self.codegen.isa()
    }
    /// Compiles a tree.
    pub fn emit(&mut self, req: &CompileRequest<'_>, thunks: &ThunkAddrs) -> Result<Emitted, BackendError> {
        let (ctx, isa) = self.codegen.empty();
        let env = Env { isa, thunks, helper: self.helper };
        lower::lower(&mut ctx.func, &env, req)?;
        ctx.set_disasm(req.listing);
        let clif = req.listing.then(|| ctx.func.display().to_string());
        let (compiled, elsewhere) = self.codegen.run(req.interrupt)?;
        let mut code = compiled.code_buffer().to_vec();
        relocate(&mut code, compiled.buffer.relocs())?;
        let head = req.tree.trace.ins.iter().position(|i| i.op == perilune_recorder::ir::Op::LOOP);
        let body = head.and_then(|head| disas::code_behind(compiled, head));
        let map = || disas::address_map(compiled).collect();
        let listing = clif.map(|clif| Listing { clif, asm: disas::machine_text(compiled), map: map() });
        let mut map = disas::code_map(compiled, req.tree.trace.snaps.len());
        if req.parts || req.tree.notes_helpers {
            map.parts = disas::parts(compiled, req.tree.trace.snaps.len());
        }
        Ok(Emitted { code, body, map, listing, elsewhere })
    }
}

/// Resolves references to Cranelift's math routines, for processors without the instruction. Code has no other references.
fn relocate(code: &mut [u8], relocs: &[FinalizedMachReloc]) -> Result<(), BackendError> {
    for reloc in relocs {
        let target = match &reloc.target {
            FinalizedRelocTarget::ExternalName(ir::ExternalName::LibCall(call)) => libcall(*call),
            FinalizedRelocTarget::ExternalName(_) | FinalizedRelocTarget::Func(_) => None,
        };
        let at = reloc.offset as usize;
        match (reloc.kind, target, code.get_mut(at..at + 8)) {
            (binemit::Reloc::Abs8, Some(target), Some(place)) => {
                place.copy_from_slice(&(target as u64).wrapping_add(reloc.addend as u64).to_le_bytes());
            }
            _ => return Err(BackendError::Codegen(format!("relocation {reloc:?}"))),
        }
    }
    Ok(())
}

fn libcall(call: ir::LibCall) -> Option<usize> {
    extern "C" fn floor(x: f64) -> f64 {
        x.floor()
    }
    extern "C" fn ceil(x: f64) -> f64 {
        x.ceil()
    }
    extern "C" fn trunc(x: f64) -> f64 {
        x.trunc()
    }
    let routine: extern "C" fn(f64) -> f64 = match call {
        ir::LibCall::FloorF64 => floor,
        ir::LibCall::CeilF64 => ceil,
        ir::LibCall::TruncF64 => trunc,
        _ => return None,
    };
    Some(routine as usize)
}

/// The compiler of this process, its executable memory and thunks.
pub struct Backend {
    compiler: Compiler,
    arena: Arena,
    thunks: Thunks,
}

impl Backend {
    /// Sets up the compiler, the code arena and the thunks.
    pub fn new(config: &Config) -> Result<Backend, BackendError> {
        Backend::with_isa(isa::host()?, config)
    }
    /// Sets them up for a target that this processor can run.
    pub fn with_isa(isa: OwnedTargetIsa, config: &Config) -> Result<Backend, BackendError> {
        let compiler = Compiler::new(isa, config.helper);
        let arena = Arena::new(config.code_size).map_err(|e| BackendError::Memory(e.to_string()))?;
        let thunks = Thunks::new(compiler.codegen.isa())?;
        Ok(Backend { compiler, arena, thunks })
    }
    /// Compiles a tree and puts it into executable memory.
    pub fn compile(&mut self, req: &CompileRequest<'_>) -> Result<CompiledCode, BackendError> {
        // Few programs need all thunks, so thunks are compiled when a trace first needs them.
        let Emitted { code, body, map, listing, elsewhere } = loop {
            match self.compiler.emit(req, &self.thunks.addrs) {
                Err(BackendError::NoThunk(thunk)) => self.thunks.add(thunk, self.compiler.helper)?,
                done => break done?,
            }
        };
        let loop_offset = body.as_ref().map(|body| body.start);
        let entry = place(&mut self.arena, &code, body)?;
        Ok(CompiledCode { entry, size: code.len(), loop_offset, map, listing, elsewhere })
    }
    /// The function that enters compiled code: for `vm.enter`.
    pub fn enter(&self) -> EnterFn {
        // SAFETY: the thunk was compiled with exactly this signature, and its code lives as long as the arena. Calling it is unsafe and has
        // the contract of `EnterFn`.
        unsafe { core::mem::transmute::<usize, EnterFn>(self.thunks.addrs.enter) }
    }
    /// The code of that function.
    pub fn enter_code(&self) -> &[u8] {
        // SAFETY: the thunks live as long as the backend, and are readable.
        unsafe { core::slice::from_raw_parts(self.thunks.addrs.enter as *const u8, self.thunks.enter_size) }
    }
    /// What the exit table holds for an exit without a side trace.
    pub fn exit_stub(&self) -> usize {
        self.thunks.addrs.exit_stub
    }
    /// Frees the code of all traces. Nothing may refer to it any more: exits are linked to the stub again, and no instruction enters a
    /// trace.
    pub fn reset(&mut self) {
        self.arena.reset();
    }
    /// Frees the code of a compiled tree, as its [`CompiledCode`] described it. Nothing may refer to it any more.
    pub fn free(&mut self, entry: usize, size: usize) {
        self.arena.free(Code::at(entry, size));
    }
    /// Bytes of executable memory: in use, and in all.
    pub fn code_memory(&self) -> (usize, usize) {
        (self.arena.used(), self.arena.capacity())
    }
    /// Bytes of executable memory that were ever written.
    pub fn code_written(&self) -> usize {
        self.arena.written()
    }
    /// Address range of executable memory.
    pub fn code_range(&self) -> core::ops::Range<usize> {
        self.arena.range()
    }
}

// A compilation can be moved to another thread.
const _: () = {
    const fn sendable<T: Send>() {}
    sendable::<Compiler>();
    sendable::<CompileRequest<'static>>();
};

fn place(arena: &mut Arena, code: &[u8], body: Option<Range<u32>>) -> Result<usize, BackendError> {
    let body = body.map(|body| body.start as usize..body.end as usize);
    let buf = arena.alloc(code.len(), body).ok_or(BackendError::ArenaFull)?;
    let code = buf.finish(code).map_err(|e| BackendError::Memory(e.to_string()))?;
    Ok(code.address())
}
