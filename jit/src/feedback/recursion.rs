//! Functions that were found to recurse: a trace that only returns is not what they are to get.

use crate::Jit;
use crate::frame;
use crate::policy::proto_table::RECURSION_RETRIES;
use crate::record::Origin;
use perilune_recorder::ir::Link;
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::object::BcPos;

impl Jit {
    /// A function called itself too often at `pc`. A trace of it that only returns is in the way of one that recurses: out with it,
    /// to be tried again soon.
    pub(crate) fn retry_recursion(&self, vm: &mut Vm, pc: *const Ins) {
        let ins = frame::ins(pc);
        let registry = self.registry.borrow();
        if matches!(ins.op(), Op::JFUNCF | Op::JFUNCV)
            && let Some(n) = ins.trace()
            && registry.get(n).is_some_and(|e| e.trace.link == Link::Return)
            && let Some(pos) = registry.disarm_root(n)
        {
            self.protos.borrow_mut().at(pos).recursion_retries = RECURSION_RETRIES;
            self.record_soon(vm, pos);
        }
    }
    /// A recording begins at a position after a few more calls; how many is left to chance.
    fn record_soon(&self, vm: &mut Vm, pos: BcPos) {
        let mut protos = self.protos.borrow_mut();
        protos.at(pos).record_next = true;
        let n = protos.random();
        drop(protos);
        self.set_counter(vm, pos, n);
    }
    /// Is the finished trace one that only returns, of a function known to recurse? It is better tried again.
    pub(crate) fn misses_recursion(&self, vm: &mut Vm, origin: Origin, link: Link) -> bool {
        let Origin::Root(pos) = origin else { return false };
        if link != Link::Return || self.protos.borrow().get(pos).is_none_or(|r| r.recursion_retries == 0) {
            return false;
        }
        self.protos.borrow_mut().at(pos).recursion_retries -= 1;
        self.record_soon(vm, pos);
        true
    }
}
