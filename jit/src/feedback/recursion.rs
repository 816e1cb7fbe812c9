//! Functions that were found to recurse: a trace that only returns would hide their recursion from the recorder.

use crate::Jit;
use crate::policy::proto_table::RECURSION_RETRIES;
use crate::record::Origin;
use perilune_recorder::ir::Link;
use perilune_vm::Vm;
use perilune_vm::bc::Op;
use perilune_vm::object::{BcPos, InsPtr};

impl Jit {
    /// A recording followed too many calls of the function at `pc`. If the function has a trace that only returns, that trace would prevent
    /// a trace that recurses: it is no longer entered, and another one is recorded soon.
    pub(crate) fn retry_recursion(&self, vm: &mut Vm, pc: InsPtr) {
        let ins = pc.ins();
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
    /// Has a recording begin at a position after a random small number of further calls.
    fn record_soon(&self, vm: &mut Vm, pos: BcPos) {
        let mut protos = self.protos.borrow_mut();
        protos.at(pos).record_next = true;
        let n = protos.random();
        drop(protos);
        self.set_counter(vm, pos, n);
    }
    /// Does the finished trace only return, though its function is known to recurse? Then another recording is begun soon.
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
