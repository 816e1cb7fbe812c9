//! Thunks: the fixed pieces of code around traces, and the signatures of all that traces call.
//!
//! - *enter*: from Rust into a trace, an ordinary C function around a call in the traces' convention.
//! - *exit stub*: what an exit table entry holds while no side trace is linked there; stores the base to the VM and returns the
//!   exit's number to the caller of *enter*.
//! - *cold helpers*: helpers called on cold paths that rejoin the trace. An ordinary call would make the register allocator keep
//!   everything off the caller-saved registers even if the call is never reached; these preserve all registers. They have no
//!   result; that of the helper is left in `vm.scratch[0]`.
//! - *indirect return*: from a trace that ends in front of a return ([`perilune_recorder::ir::Transfer`]) into the trace after the call, or to
//!   the exit table.
//! - *variadic*: from traces into C functions with variable arguments, on x86-64. Such a function expects the number of vector registers that
//!   have arguments in `al`, which no calling convention of Cranelift sets. There is one for each number; the address of the function comes in
//!   the next vector register.
#![allow(unsafe_code, reason = "thunks are freed when no code is left that calls them")]

use crate::{BackendError, Thunk};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlagsData, Signature, Type, Value, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use perilune_vm::bc::Op;
use perilune_vm::helper::Helper;
use perilune_vm::interp::frame;
use perilune_vm::layout::{AbiType, ofs};
use target_lexicon::Architecture;

const MEM: MemFlagsData = MemFlagsData::trusted();

/// Helpers that traces call on cold paths: those for the collector and for stacks, and those that exits call to make sunk tables and cdata, which
/// return a word.
const COLD: [Helper; 12] = [
    Helper::BarrierTable,
    Helper::BarrierUpval,
    Helper::GcStep,
    Helper::StackRoom,
    Helper::TabNew,
    Helper::TabDup,
    Helper::TabNewKey,
    Helper::TabGet,
    Helper::TabGetInt,
    Helper::TabGetStr,
    Helper::CdataNew,
    Helper::CdataBox,
];

/// Addresses of the thunks.
#[derive(Clone, Debug, Default)]
pub struct ThunkAddrs {
    /// Entry from Rust: a [`perilune_vm::hooks::EnterFn`].
    pub enter: usize,
    /// What the exit table holds for exits without a side trace.
    pub exit_stub: usize,
    cold: [usize; COLD.len()],
    indirect_return: usize,
    variadic: usize,
}

/// Vector registers that may have arguments (x86-64).
const VECTORS: usize = 8;
/// Bytes of a variadic thunk, with what fills it up.
const VARIADIC_SIZE: usize = 16;

/// The variadic thunks, one after the other.
fn variadic_code() -> Vec<u8> {
    let thunk = |n: u8| {
        // movq r11, xmm<n>; mov eax, n; jmp r11
        let mut code = vec![0x66, 0x49, 0x0f, 0x7e, 0xc3 | n << 3, 0xb8, n, 0, 0, 0, 0x41, 0xff, 0xe3];
        // int3
        code.resize(VARIADIC_SIZE, 0xcc);
        code
    };
    (0..VECTORS as u8).flat_map(thunk).collect()
}

impl ThunkAddrs {
    /// Made-up addresses, for code that is compiled but never run.
    pub fn placeholder() -> ThunkAddrs {
        ThunkAddrs {
            enter: 0x1000,
            exit_stub: 0x1100,
            cold: core::array::from_fn(|i| 0x1200 + 0x100 * i),
            indirect_return: 0x1080,
            variadic: 0x2000,
        }
    }
    /// The thunk that calls a function with variable arguments, some of them in so many vector registers; none if no register is left for its
    /// address.
    pub(crate) fn variadic(&self, vectors: usize) -> Option<usize> {
        (vectors < VECTORS).then_some(self.variadic + vectors * VARIADIC_SIZE)
    }
    /// The thunk that executes returns, of the signature [`return_signature`].
    ///
    /// # Errors
    /// [`BackendError::NoThunk`] when it has not been made yet.
    pub(crate) fn indirect_return(&self) -> Result<usize, BackendError> {
        if self.indirect_return == 0 { Err(BackendError::NoThunk(Thunk::IndirectReturn)) } else { Ok(self.indirect_return) }
    }
    /// The thunk of a helper.
    ///
    /// # Errors
    /// [`BackendError::NoThunk`] when it has not been made yet.
    pub(crate) fn cold(&self, helper: Helper) -> Result<usize, BackendError> {
        let made = COLD.iter().position(|&h| h == helper).map(|i| self.cold[i]);
        made.filter(|&address| address != 0).ok_or(BackendError::NoThunk(Thunk::Cold(helper)))
    }
}

/// `extern "tail" fn(vm, base, n) -> u64`: the signature of every trace and of the exit stub. Exit arguments ([`crate::exit_abi`]) come
/// in further registers.
pub(crate) fn trace_signature(more: &[Type]) -> Signature {
    let mut params = vec![types::I64; 3];
    params.extend_from_slice(more);
    signature(CallConv::Tail, &params, Some(types::I64))
}

/// `extern "tail" fn(vm, base, exit, values) -> u64`: the signature of the thunk that executes returns. `values` is what
/// [`returned_values`] makes.
pub(crate) fn return_signature() -> Signature {
    trace_signature(&[types::I64])
}

/// Which values a return returns, as a word: the first slot, and their number from bit 8 on.
pub(crate) fn returned_values(first: u8, count: u8) -> u64 {
    u64::from(first) | u64::from(count) << 8
}

/// The C calling convention of the target.
pub(crate) fn c_call_conv(isa: &dyn TargetIsa) -> CallConv {
    isa.default_call_conv()
}

/// The signature of a helper, from its row in the table.
pub(crate) fn helper_signature(helper: Helper, call_conv: CallConv) -> Signature {
    signature(call_conv, &params(helper), clif_type(helper.ret()))
}

/// The signature of a helper's cold thunk.
pub(crate) fn cold_signature(helper: Helper) -> Signature {
    signature(CallConv::PreserveAll, &params(helper), None)
}

fn params(helper: Helper) -> Vec<Type> {
    let mut params = vec![types::I64];
    params.extend(helper.args().iter().filter_map(|&ty| clif_type(ty)));
    params
}

/// The Cranelift type of an argument or result of a helper; `None` if there is no value.
fn clif_type(ty: AbiType) -> Option<Type> {
    match ty {
        AbiType::Nil => None,
        AbiType::Int => Some(types::I32),
        AbiType::Num => Some(types::F64),
        _ => Some(types::I64),
    }
}

fn signature(call_conv: CallConv, params: &[Type], result: Option<Type>) -> Signature {
    let mut sig = Signature::new(call_conv);
    sig.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
    sig.returns.extend(result.map(AbiParam::new));
    sig
}

/// The thunks, with the executable memory that they are in.
pub(crate) struct Thunks {
    /// The addresses of the thunks.
    pub addrs: ThunkAddrs,
    /// Size of the code of [`ThunkAddrs::enter`], bytes.
    pub enter_size: usize,
    /// Owns their memory; `None` only while it is freed.
    module: Option<JITModule>,
}

impl Thunks {
    /// Compiles those that every trace needs.
    pub fn new(isa: &OwnedTargetIsa) -> Result<Thunks, BackendError> {
        let names = cranelift_module::default_libcall_names();
        let mut module = JITModule::new(JITBuilder::with_isa(OwnedTargetIsa::clone(isa), names));
        let (enter, enter_size) = define(&mut module, enter_signature(&**isa), enter)?;
        let (exit_stub, _) = define(&mut module, trace_signature(&[]), exit_stub)?;
        let variadic = variadic(&mut module)?;
        module.finalize_definitions().map_err(|e| BackendError::Memory(e.to_string()))?;
        let address = |id| module.get_finalized_function(id) as usize;
        let [enter, exit_stub] = [enter, exit_stub].map(address);
        let variadic = variadic.map_or(0, address);
        let addrs = ThunkAddrs { enter, exit_stub, variadic, ..ThunkAddrs::default() };
        Ok(Thunks { addrs, enter_size, module: Some(module) })
    }
    /// Compiles a thunk; `helper` tells the address of a helper.
    pub fn add(&mut self, thunk: Thunk, helper: fn(Helper) -> usize) -> Result<(), BackendError> {
        let Some(module) = &mut self.module else { return Err(BackendError::NoThunk(thunk)) };
        let (at, (id, _)) = match thunk {
            Thunk::Cold(h) => {
                let at = COLD.iter().zip(&mut self.addrs.cold).find(|(cold, _)| **cold == h).map(|(_, at)| at);
                let (at, conv) = (at.ok_or(BackendError::NoThunk(thunk))?, c_call_conv(module.isa()));
                let body = |pos: &mut FunctionBuilder<'_>, args: &[Value]| cold_helper(pos, args, h, helper(h), conv);
                (at, define(module, cold_signature(h), body)?)
            }
            Thunk::IndirectReturn => (&mut self.addrs.indirect_return, define(module, return_signature(), indirect_return)?),
        };
        module.finalize_definitions().map_err(|e| BackendError::Memory(e.to_string()))?;
        *at = module.get_finalized_function(id) as usize;
        Ok(())
    }
}

impl Drop for Thunks {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the backend is dropped, and with it all code that calls these thunks.
            unsafe { module.free_memory() };
        }
    }
}

fn enter_signature(isa: &dyn TargetIsa) -> Signature {
    signature(c_call_conv(isa), &[types::I64, types::I64, types::I32], Some(types::I64))
}

fn enter(pos: &mut FunctionBuilder<'_>, args: &[Value]) {
    let &[vm, base, trace] = args else { unreachable!("three parameters") };
    let table = pos.ins().load(types::I64, MEM, vm, ofs::VM_TRACE_CODE as i32);
    let n = pos.ins().uextend(types::I64, trace);
    let at = pos.ins().ishl_imm_u(n, 3);
    let entry = pos.ins().iadd(table, at);
    let code = pos.ins().load(types::I64, MEM, entry, 0);
    let sig = pos.func.import_signature(trace_signature(&[]));
    let call = pos.ins().call_indirect(sig, code, &[vm, base, n]);
    let exit = pos.func.dfg.first_result(call);
    pos.ins().return_(&[exit]);
}

fn exit_stub(pos: &mut FunctionBuilder<'_>, args: &[Value]) {
    let &[vm, base, n] = args else { unreachable!("three parameters") };
    pos.ins().store(MEM, base, vm, ofs::VM_JIT_BASE as i32);
    pos.ins().return_(&[n]);
}

fn cold_helper(pos: &mut FunctionBuilder<'_>, args: &[Value], helper: Helper, address: usize, call_conv: CallConv) {
    let sig = pos.func.import_signature(helper_signature(helper, call_conv));
    let code = pos.ins().iconst(types::I64, address as i64);
    let call = pos.ins().call_indirect(sig, code, args);
    if let Some(&result) = pos.func.dfg.inst_results(call).first() {
        pos.ins().store(MEM, result, args[0], ofs::VM_SCRATCH as i32);
    }
    pos.ins().return_(&[]);
}

/// Returns from the frame at `base` to a call whose return address is a STITCH with a trace, if the call takes no more than the returned
/// values; otherwise, and when compiled code is to be left, leaves by `exit`.
fn indirect_return(pos: &mut FunctionBuilder<'_>, args: &[Value]) {
    /// Bytes of a stack slot, and of a function with its link.
    const SLOT: i32 = 8;
    const HEAD: i32 = 2 * SLOT;
    let &[vm, base, exit, values] = args else { unreachable!("four parameters") };
    let leave = pos.create_block();
    let go_on_if = |pos: &mut FunctionBuilder<'_>, cond: Value| {
        let next = pos.create_block();
        pos.ins().brif(cond, next, &[], leave, &[]);
        pos.seal_block(next);
        pos.switch_to_block(next);
    };
    let equal = |pos: &mut FunctionBuilder<'_>, x: Value, k: u64| pos.ins().icmp_imm_u(IntCC::Equal, x, k as i64);
    let requested = pos.ins().load(types::I8, MEM, vm, ofs::VM_EXIT_REQUESTED as i32);
    let stays = equal(pos, requested, 0);
    go_on_if(pos, stays);
    let link = pos.ins().load(types::I64, MEM, base, -SLOT);
    let kind = pos.ins().band_imm_u(link, 3);
    let called_by_lua = equal(pos, kind, frame::LUA);
    go_on_if(pos, called_by_lua);
    // The call, and the instruction after it.
    let both = pos.ins().load(types::I64, MEM, link, -4);
    let behind = pos.ins().ushr_imm_u(both, 32);
    let op = pos.ins().band_imm_u(behind, 0xffff);
    let is_stitch = equal(pos, op, Op::STITCH as u64);
    go_on_if(pos, is_stitch);
    let trace = pos.ins().ushr_imm_u(behind, 16);
    go_on_if(pos, trace);
    // Operand B of the call is the number of results that it takes, plus 1; 0 for all.
    let b = pos.ins().ushr_imm_u(both, 24);
    let b = pos.ins().band_imm_u(b, 0xff);
    let taken = pos.ins().iadd_imm_s(b, -1);
    let count = pos.ins().ushr_imm_u(values, 8);
    let enough = pos.ins().icmp(IntCC::UnsignedLessThanOrEqual, taken, count);
    go_on_if(pos, enough);
    let first = pos.ins().band_imm_u(values, 0xff);
    let offset = pos.ins().ishl_imm_u(first, 3);
    let (from, to) = (pos.ins().iadd(base, offset), pos.ins().iadd_imm_s(base, i64::from(-HEAD)));
    copy_slots(pos, from, to, taken);
    let a = pos.ins().ushr_imm_u(both, 8);
    let a = pos.ins().band_imm_u(a, 0xff);
    let distance = pos.ins().ishl_imm_u(a, 3);
    let caller = pos.ins().isub(to, distance);
    enter_entry(pos, [vm, caller, trace], ofs::VM_TRACE_CODE);
    pos.switch_to_block(leave);
    pos.seal_block(leave);
    enter_entry(pos, [vm, base, exit], ofs::VM_EXIT_TABLE);
}

/// Copies `n` slots upwards.
fn copy_slots(pos: &mut FunctionBuilder<'_>, from: Value, to: Value, n: Value) {
    let [head, body, done] = [(); 3].map(|()| pos.create_block());
    let [from_now, to_now, left] = [(); 3].map(|()| pos.append_block_param(head, types::I64));
    pos.ins().jump(head, &[from.into(), to.into(), n.into()]);
    pos.switch_to_block(head);
    pos.ins().brif(left, body, &[], done, &[]);
    pos.seal_block(body);
    pos.switch_to_block(body);
    let value = pos.ins().load(types::I64, MEM, from_now, 0);
    pos.ins().store(MEM, value, to_now, 0);
    let [from, to] = [from_now, to_now].map(|at| pos.ins().iadd_imm_s(at, 8));
    let left = pos.ins().iadd_imm_s(left, -1);
    pos.ins().jump(head, &[from.into(), to.into(), left.into()]);
    pos.seal_block(head);
    pos.seal_block(done);
    pos.switch_to_block(done);
}

/// Tail-calls an entry of a table of the VM: `args` are the VM, a base, and the number of the entry.
fn enter_entry(pos: &mut FunctionBuilder<'_>, args: [Value; 3], table: usize) {
    let table = pos.ins().load(types::I64, MEM, args[0], table as i32);
    let at = pos.ins().ishl_imm_u(args[2], 3);
    let entry = pos.ins().iadd(table, at);
    let code = pos.ins().load(types::I64, MEM, entry, 0);
    let sig = pos.func.import_signature(trace_signature(&[]));
    pos.ins().return_call_indirect(sig, code, &args);
}

/// Defines the variadic thunks, where the target needs them.
fn variadic(module: &mut JITModule) -> Result<Option<FuncId>, BackendError> {
    if module.isa().triple().architecture != Architecture::X86_64 {
        return Ok(None);
    }
    let error = |e: cranelift_module::ModuleError| BackendError::Codegen(e.to_string());
    let id = module.declare_anonymous_function(&signature(c_call_conv(module.isa()), &[], None)).map_err(error)?;
    module.define_function_bytes(id, VARIADIC_SIZE as u64, &variadic_code(), &[]).map_err(error)?;
    Ok(Some(id))
}

/// Defines a function; with the size of its code.
fn define(
    module: &mut JITModule,
    signature: Signature,
    body: impl FnOnce(&mut FunctionBuilder<'_>, &[Value]),
) -> Result<(FuncId, usize), BackendError> {
    let error = |e: cranelift_module::ModuleError| BackendError::Codegen(e.to_string());
    let id = module.declare_anonymous_function(&signature).map_err(error)?;
    let mut ctx = module.make_context();
    ctx.func = Function::with_name_signature(Default::default(), signature);
    let mut builder_ctx = FunctionBuilderContext::new();
    let mut pos = FunctionBuilder::new(&mut ctx.func, &mut builder_ctx);
    let block = pos.create_block();
    pos.append_block_params_for_function_params(block);
    pos.switch_to_block(block);
    pos.seal_block(block);
    let args = pos.block_params(block).to_vec();
    body(&mut pos, &args);
    pos.finalize(module.target_config());
    module.define_function(id, &mut ctx).map_err(error)?;
    let size = ctx.compiled_code().map_or(0, |c| c.code_buffer().len());
    Ok((id, size))
}
