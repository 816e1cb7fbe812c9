//! What is known of stack slots where one trace of a tree follows another.
//!
//! A side trace that begins in a function which its parent has entered knows the slots of the frames below as well: it mostly returns there.

use super::value::repr;
use super::{Lower, Res};
use crate::unboxed::known_word;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use perilune_recorder::ir::{Ins, Op, SlotIdx, SnapId, Trace, Ty};

/// A stack slot whose value is in a register. Memory has the same value, perhaps as an int where this is a num.
#[derive(Copy, Clone)]
pub(super) struct KnownSlot {
    /// Bytes from the base at the start of the trace to the slot, which may be below.
    pub at: i32,
    pub ty: Ty,
    pub value: Value,
    /// What is in the slot, if that is a constant.
    pub word: Option<u64>,
}

/// A slot among those that are known, if it has a type, or is an int where a num is expected.
pub(super) fn find(known: &[KnownSlot], at: i32, ty: Ty) -> Option<KnownSlot> {
    known.iter().find(|k| k.at == at).filter(|k| k.ty == ty || (k.ty, ty) == (Ty::Int, Ty::Num)).copied()
}

/// May the first `n` instructions of a trace have stored to slots that its start knows? Values that the trace gives to slots are in its
/// snapshots; others come by variables of functions in frames below, and by whatever stores all slots. (What helpers store is forgotten where
/// they are called.)
fn may_store_slots(trace: &Trace, n: usize) -> bool {
    let is_closed = |i: &Ins| trace.def(i.a).is_some_and(|address| address.op == Op::UREFC);
    let stores = |i: &Ins| i.op == Op::USTORE && !is_closed(i) || i.op.stores_state() || i.op.moves_base() && i.op != Op::RETF;
    trace.ins.iter().take(n).any(stores)
}

impl<'a> Lower<'a> {
    /// A known slot as a value of a type that it has or can be converted to.
    pub(super) fn as_type(&mut self, known: KnownSlot, ty: Ty) -> Value {
        if known.ty == ty { known.value } else { self.pos.ins().fcvt_from_sint(types::F64, known.value) }
    }
    /// Does a slot of the current frame hold this word for sure?
    pub(super) fn holds(&self, slot: SlotIdx, word: u64) -> bool {
        let at = self.slot_offset(slot);
        self.cur.known.iter().any(|k| k.at == at && k.word == Some(word))
    }
    /// A helper stores to the slots from this one on; what follows them is not used any more.
    pub(super) fn forget_slots_from(&mut self, slot: SlotIdx) {
        let at = self.slot_offset(slot);
        self.cur.known.retain(|k| k.at < at);
    }
    /// The current frame is left for the one below: only slots of frames below it are known further on.
    pub(super) fn forget_frame(&mut self) {
        let frame = self.slot_offset(SlotIdx::FUNC);
        let keep = !may_store_slots(self.cur.trace, self.cur.at);
        self.cur.known.retain(|k| keep && k.at < frame);
    }

    /// What is known of slots where the trace is left with a snapshot whose slots have been stored. Slots are counted from the frame to
    /// resume.
    pub(super) fn known_at(&mut self, snap: SnapId) -> Res<Vec<KnownSlot>> {
        let trace: &'a Trace = self.cur.trace;
        let snap = trace.snap(snap);
        let base = self.slot_offset(snap.base_slot);
        let mut known = Vec::new();
        for s in &snap.slots {
            let ty = self.ty(s.value)?;
            let has_value = s.value.is_const() || {
                let i = s.value.ins_index();
                self.cur.values[i].is_some() && trace.ins[i].op != Op::CARG
            };
            if repr(ty).is_some() && has_value {
                let (at, value) = (self.slot_offset(s.slot) - base, self.val(s.value)?);
                known.push(KnownSlot { at, ty, value, word: known_word(trace, s.value) });
            }
        }
        if !may_store_slots(trace, self.cur.at) {
            // Those that the trace has not changed since its start.
            let is_kept = |k: &&KnownSlot| snap.slots.iter().all(|s| self.slot_offset(s.slot) != k.at);
            let kept = self.cur.known.iter().filter(is_kept).map(|k| KnownSlot { at: k.at - base, ..*k });
            known.extend(kept.collect::<Vec<_>>());
        }
        Ok(known)
    }
}
