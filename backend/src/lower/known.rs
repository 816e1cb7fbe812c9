//! What is known of stack slots where one trace of a tree follows another.

use super::value::repr;
use super::{Lower, Res};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use perilune_recorder::ir::{Op, SlotIdx, SnapId, Trace, Ty};

/// A stack slot whose value is in a register. Memory has the same value, perhaps as an int where this is a num.
#[derive(Copy, Clone)]
pub(super) struct KnownSlot {
    pub slot: SlotIdx,
    pub ty: Ty,
    pub value: Value,
}

/// A slot among those that are known, if it has a type, or is an int where a num is expected.
pub(super) fn find(known: &[KnownSlot], slot: SlotIdx, ty: Ty) -> Option<KnownSlot> {
    known.iter().find(|k| k.slot == slot).filter(|k| k.ty == ty || (k.ty, ty) == (Ty::Int, Ty::Num)).copied()
}

impl<'a> Lower<'a> {
    /// A known slot as a value of a type that it has or can be converted to.
    pub(super) fn as_type(&mut self, known: KnownSlot, ty: Ty) -> Value {
        if known.ty == ty { known.value } else { self.pos.ins().fcvt_from_sint(types::F64, known.value) }
    }

    /// What is known of slots where the trace is left with a snapshot whose slots have been stored. Slots are numbered from the frame to
    /// resume.
    pub(super) fn known_at(&mut self, snap: SnapId) -> Res<Vec<KnownSlot>> {
        let trace: &'a Trace = self.cur.trace;
        let snap = trace.snap(snap);
        let mut known = Vec::new();
        for s in &snap.slots {
            let Some(slot) = snap.slot_in_side_trace(s.slot) else { continue };
            let ty = self.ty(s.value)?;
            let has_value = s.value.is_const() || {
                let i = s.value.ins_index();
                self.cur.values[i].is_some() && trace.ins[i].op != Op::CARG
            };
            if repr(ty).is_some() && has_value {
                known.push(KnownSlot { slot, ty, value: self.val(s.value)? });
            }
        }
        Ok(known)
    }
}
