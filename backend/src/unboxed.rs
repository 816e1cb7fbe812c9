//! Unboxed exits: slots that an exit stores in the representation that they have in registers.
//!
//! Most guards never fail, and boxing at exits would be most of the code of a trace. So an exit stores only values that compiled code alone
//! knows, unboxed, and no constants. The Lua values are made from them by the runtime, when it handles the exit, or by the first
//! instructions of the side trace. Boxing a slot twice does no harm.

use perilune_recorder::ir::{Const, IrRef, SnapId, Trace, Ty};
use perilune_vm::hooks::Unboxed;
use perilune_vm::value::{self as v, Value};

/// The IR type of a reference; `None` if the trace has no such reference.
pub(crate) fn ty(trace: &Trace, r: IrRef) -> Option<Ty> {
    if !r.is_const() {
        return trace.ins.get(r.ins_index()).map(|ins| ins.ty);
    }
    Some(match *trace.consts.get(r.const_index())? {
        Const::Pri(ty) | Const::Null(ty) | Const::Word(_, ty) => ty,
        Const::Int(_) => Ty::Int,
        Const::Num(_) => Ty::Num,
        Const::Gc(value) => value_ty(value),
        Const::Ptr(_) | Const::Vm(_) => Ty::P64,
        Const::Slot(..) => Ty::Nil,
    })
}

/// The type of a tagged value held by a constant.
pub(crate) fn value_ty(value: Value) -> Ty {
    match value.tag() {
        v::TAG_LIGHTUD => Ty::LightUd,
        v::TAG_STR => Ty::Str,
        v::TAG_THREAD => Ty::Thread,
        v::TAG_PROTO => Ty::Proto,
        v::TAG_FUNC => Ty::Func,
        v::TAG_CDATA => Ty::Cdata,
        v::TAG_TAB => Ty::Tab,
        v::TAG_UDATA => Ty::Udata,
        _ => Ty::U64,
    }
}

/// The boxed value of a reference, if it is known when the trace is compiled.
pub(crate) fn known_word(trace: &Trace, r: IrRef) -> Option<u64> {
    if !r.is_const() {
        return ty(trace, r)?.pri_value().map(|v| v.bits());
    }
    match *trace.consts.get(r.const_index())? {
        Const::Pri(ty) => ty.pri_value().map(|v| v.bits()),
        Const::Int(k) => Some(Value::int(k).bits()),
        Const::Num(bits) => Some(bits),
        Const::Gc(value) => Some(value.bits()),
        Const::Ptr(word) | Const::Word(word, _) => Some(word),
        Const::Null(Ty::P64 | Ty::I64 | Ty::U64) => Some(0),
        Const::Null(_) => Some(Value::NIL.bits()),
        Const::Vm(_) | Const::Slot(..) => None,
    }
}

/// How a stored register becomes a Lua value, for a reference; `None` if it is stored boxed.
fn boxing(trace: &Trace, r: IrRef) -> Option<(u64, u64)> {
    if let Some(word) = known_word(trace, r) {
        return Some((0, word));
    }
    let ty = ty(trace, r)?;
    if ty.is_int() {
        return Some((Unboxed::INT, v::INT_BITS));
    }
    ty.tag().map(|tag| (u64::MAX, tag << v::PAYLOAD_BITS))
}

/// The slots that exit `k` of a trace stores unboxed, from the base of the frame to resume.
pub fn unboxed(trace: &Trace, k: SnapId) -> Vec<Unboxed> {
    let Some(snap) = trace.snaps.get(k.index()) else { return Vec::new() };
    snap.restored()
        .filter_map(|s| {
            let (kept, bits) = boxing(trace, s.value)?;
            Some(Unboxed { slot: s.slot.from_base() - snap.base_slot.from_base(), kept, bits })
        })
        .collect()
}
