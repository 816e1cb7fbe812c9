//! Functions that were found to recurse: a trace that only returns is not what they are to get.

use crate::Jit;
use crate::frame;
use crate::policy::site::RECURSION_TRIES;
use crate::record::Origin;
use perilune_recorder::ir::Link;
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::object::{Gc, Proto};

impl Jit {
    /// A function called itself too often at `pc`. A trace of it that only returns is in the way of one that recurses: out with it,
    /// to be tried again soon.
    pub(crate) fn retry_recursion(&self, vm: &mut Vm, pc: *const Ins) {
        let ins = frame::ins(pc);
        let registry = self.registry.borrow();
        if matches!(ins.op(), Op::JFUNCF | Op::JFUNCV)
            && let Some(n) = ins.trace()
            && registry.get(n).is_some_and(|e| e.trace.link == Link::Return)
            && let Some(place) = registry.disarm_root(n)
        {
            self.sites.borrow_mut().at(place.1).recurses = RECURSION_TRIES;
            self.soon(vm, place);
        }
    }
    /// It is the turn of a place after some more calls: which of them is recorded then is left to chance.
    fn soon(&self, vm: &mut Vm, place: (Gc<Proto>, *const Ins)) {
        let mut sites = self.sites.borrow_mut();
        sites.at(place.1).granted = true;
        let n = sites.random();
        drop(sites);
        self.set_counter(vm, place, n);
    }
    /// Is the finished trace one that only returns, of a function known to recurse? It is better tried again.
    pub(crate) fn misses_recursion(&self, vm: &mut Vm, origin: Origin, link: Link) -> bool {
        let Origin::Root(proto, pc) = origin else { return false };
        if link != Link::Return || self.sites.borrow().get(pc).is_none_or(|s| s.recurses == 0) {
            return false;
        }
        self.sites.borrow_mut().at(pc).recurses -= 1;
        self.soon(vm, (proto, pc));
        true
    }
}
