//! The fixed pieces of code around traces, and the signatures of all that traces call.
//!
//! - *enter*: from Rust into a trace, an ordinary C function around a call in the traces' convention.
//! - *exit stub*: what an exit table entry holds while no side trace is linked there; leaves the base in the VM and returns the
//!   exit's number to whoever entered.
//! - *cold helpers*: helpers called on cold paths that rejoin the trace. An ordinary call would make the register allocator keep
//!   everything off the caller-saved registers even if the call is never reached; these preserve all registers. They have no
//!   result; the helper's is left in `vm.scratch[0]`.

use crate::BackendError;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlagsData, Signature, Type, Value, types};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;

const MEM: MemFlagsData = MemFlagsData::trusted();

/// Helpers that traces call on cold paths.
const COLD: [Helper; 3] = [Helper::BarrierBack, Helper::BarrierUpval, Helper::GcStep];

/// Addresses of the thunks.
#[derive(Clone, Debug, Default)]
pub struct ThunkAddrs {
    /// Entry from Rust: a [`perilune_vm::hooks::EnterFn`].
    pub enter: usize,
    /// What the exit table holds for exits without a side trace.
    pub exit_stub: usize,
    cold: [usize; COLD.len()],
}

impl ThunkAddrs {
    /// Made-up addresses, for code that is only looked at.
    pub fn placeholder() -> ThunkAddrs {
        ThunkAddrs { enter: 0x1000, exit_stub: 0x1100, cold: [0x1200, 0x1300, 0x1400] }
    }
    /// The thunk of a helper.
    pub(crate) fn cold(&self, helper: Helper) -> Option<usize> {
        COLD.iter().position(|&h| h == helper).map(|i| self.cold[i])
    }
}

/// `extern "tail" fn(vm, base, n) -> u64`: every trace and the exit stub.
pub(crate) fn trace_signature() -> Signature {
    signature(CallConv::Tail, &[types::I64; 3], Some(types::I64))
}

/// The C calling convention of the target.
pub(crate) fn c_call_conv(isa: &dyn TargetIsa) -> CallConv {
    isa.default_call_conv()
}

/// The signature of a helper, from its row in the table.
pub(crate) fn helper_signature(helper: Helper, call_conv: CallConv) -> Signature {
    signature(call_conv, &params(helper), word_type(helper.ret()))
}

/// The signature of a helper's cold thunk.
pub(crate) fn cold_signature(helper: Helper) -> Signature {
    signature(CallConv::PreserveAll, &params(helper), None)
}

fn params(helper: Helper) -> Vec<Type> {
    let mut params = vec![types::I64];
    params.extend(helper.args().iter().filter_map(|word| word_type(word)));
    params
}

/// The Cranelift type of a word of the helper table.
fn word_type(word: &str) -> Option<Type> {
    match word {
        "Nil" => None,
        "Int" => Some(types::I32),
        "Num" => Some(types::F64),
        _ => Some(types::I64),
    }
}

fn signature(call_conv: CallConv, params: &[Type], result: Option<Type>) -> Signature {
    let mut sig = Signature::new(call_conv);
    sig.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
    sig.returns.extend(result.map(AbiParam::new));
    sig
}

/// Compiles all thunks; `place` puts each piece of code into memory.
pub(crate) fn build(
    isa: &dyn TargetIsa,
    helper: fn(Helper) -> usize,
    mut place: impl FnMut(&[u8]) -> Result<usize, BackendError>,
) -> Result<ThunkAddrs, BackendError> {
    let mut addrs = ThunkAddrs {
        enter: place(&compile(isa, enter_signature(isa), enter)?)?,
        exit_stub: place(&compile(isa, trace_signature(), exit_stub)?)?,
        cold: [0; COLD.len()],
    };
    for (i, h) in COLD.into_iter().enumerate() {
        let body = |pos: &mut FuncCursor<'_>, args: &[Value]| cold_helper(pos, args, h, helper(h), c_call_conv(isa));
        addrs.cold[i] = place(&compile(isa, cold_signature(h), body)?)?;
    }
    Ok(addrs)
}

fn enter_signature(isa: &dyn TargetIsa) -> Signature {
    signature(c_call_conv(isa), &[types::I64, types::I64, types::I32], Some(types::I64))
}

fn enter(pos: &mut FuncCursor<'_>, args: &[Value]) {
    let &[vm, base, trace] = args else { unreachable!("three parameters") };
    let table = pos.ins().load(types::I64, MEM, vm, ofs::VM_TRACE_CODE as i32);
    let n = pos.ins().uextend(types::I64, trace);
    let at = pos.ins().ishl_imm_u(n, 3);
    let entry = pos.ins().iadd(table, at);
    let code = pos.ins().load(types::I64, MEM, entry, 0);
    let sig = pos.func.import_signature(trace_signature());
    let call = pos.ins().call_indirect(sig, code, &[vm, base, n]);
    let exit = pos.func.dfg.first_result(call);
    pos.ins().return_(&[exit]);
}

fn exit_stub(pos: &mut FuncCursor<'_>, args: &[Value]) {
    let &[vm, base, n] = args else { unreachable!("three parameters") };
    pos.ins().store(MEM, base, vm, ofs::VM_JIT_BASE as i32);
    pos.ins().return_(&[n]);
}

fn cold_helper(pos: &mut FuncCursor<'_>, args: &[Value], helper: Helper, address: usize, call_conv: CallConv) {
    let sig = pos.func.import_signature(helper_signature(helper, call_conv));
    let code = pos.ins().iconst(types::I64, address as i64);
    let call = pos.ins().call_indirect(sig, code, args);
    if let Some(&result) = pos.func.dfg.inst_results(call).first() {
        pos.ins().store(MEM, result, args[0], ofs::VM_SCRATCH as i32);
    }
    pos.ins().return_(&[]);
}

/// Compiles a function of one block.
fn compile(
    isa: &dyn TargetIsa,
    signature: Signature,
    body: impl FnOnce(&mut FuncCursor<'_>, &[Value]),
) -> Result<Vec<u8>, BackendError> {
    let mut func = Function::with_name_signature(Default::default(), signature);
    let block = func.dfg.make_block();
    let params: Vec<Type> = func.signature.params.iter().map(|p| p.value_type).collect();
    let args: Vec<Value> = params.into_iter().map(|ty| func.dfg.append_block_param(block, ty)).collect();
    let mut pos = FuncCursor::new(&mut func);
    pos.insert_block(block);
    body(&mut pos, &args);
    let mut ctx = Context::for_function(func);
    let code = ctx.compile(isa, &mut ControlPlane::default()).map_err(|e| BackendError::Codegen(format!("{e:?}")))?;
    Ok(code.code_buffer().to_vec())
}
