//! What the recorder asks about finished traces.

use super::feedback::Site;
use crate::ir::Link;
use perilune_vm::TraceId;
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::object::{BcAddr, BcPos, Gc, Proto};
use std::rc::Rc;

/// What the recorder asks about finished traces.
pub trait TraceDb {
    /// How a trace ends.
    fn link_of(&self, trace: TraceId) -> Option<Link>;
    /// Was a trace, or one that it is a side trace of, recorded from the instruction at `pc`?
    fn is_recorded_from(&self, trace: TraceId, pc: BcAddr) -> bool;
    /// The instruction that `patched`, which enters a trace, has replaced.
    fn original_ins(&self, patched: Ins) -> Ins;
    /// What earlier recordings found at a position.
    fn site(&self, pos: BcPos) -> Site {
        let _ = pos;
        Site::default()
    }
    /// Which slots of a function's frame are live where, if that is known.
    fn liveness(&self, proto: Gc<Proto>) -> Option<Rc<Liveness>> {
        find_liveness(self, proto)
    }
    /// Was the loop at a position found to be left after few iterations, so that unrolling it is better?
    fn loop_left(&self, pos: BcPos) -> bool {
        let _ = pos;
        false
    }
}

/// Analyses the liveness of a function, some of whose instructions may be patched to enter traces.
pub fn find_liveness(db: &(impl TraceDb + ?Sized), proto: Gc<Proto>) -> Option<Rc<Liveness>> {
    let original = |pc| {
        let ins = proto.ins(pc).unwrap_or(Ins(0));
        if matches!(ins.op(), Bc::JFORL | Bc::JITERL | Bc::JLOOP) { db.original_ins(ins) } else { ins }
    };
    Liveness::new(&proto, original).map(Rc::new)
}
