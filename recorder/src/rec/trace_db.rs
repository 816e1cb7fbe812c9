//! What the recorder asks about finished traces.

use super::feedback::Site;
use crate::ir::Link;
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::object::{Gc, Proto};
use std::rc::Rc;

/// What the recorder asks about finished traces.
pub trait TraceDb {
    /// How trace `n` ends.
    fn link_of(&self, n: u32) -> Option<Link>;
    /// The instruction that the start of trace `n` replaced.
    fn start_ins(&self, n: u32) -> Ins;
    /// What earlier recordings found at the instruction at `pc`.
    fn site(&self, pc: *const Ins) -> Site {
        let _ = pc;
        Site::default()
    }
    /// Which slots of a function's frame matter where, if that is known.
    fn liveness(&self, proto: Gc<Proto>) -> Option<Rc<Liveness>> {
        find_liveness(self, proto)
    }
    /// Did the loop at `pc` turn out to be left soon, so that unrolling it is the better choice?
    fn loop_left(&self, pc: *const Ins) -> bool {
        let _ = pc;
        false
    }
}

/// Analyses a function, some of whose instructions are the starts of traces.
pub fn find_liveness(db: &(impl TraceDb + ?Sized), proto: Gc<Proto>) -> Option<Rc<Liveness>> {
    let original = |pc| {
        let ins = proto.ins(pc).unwrap_or(Ins(0));
        if matches!(ins.op(), Bc::JFORL | Bc::JITERL | Bc::JLOOP) { db.start_ins(ins.d() as u32) } else { ins }
    };
    Liveness::new(&proto, original).map(Rc::new)
}
