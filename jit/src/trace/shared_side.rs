//! Side traces that several exits lead to.
//!
//! Paths of a tree that part often join again. Without sharing, the code after the junction would be compiled once for each path, although
//! the exits of these paths resume at the same position and know the same about the slots. So an exit that becomes hot is linked to a side
//! trace that another exit of its tree has, if the side trace fits it.

use crate::Jit;
use crate::trace::{Entry, Registry};
use crate::view::log::{self, Topic};
use perilune_backend::exit_abi::{can_pass, exit_args};
use perilune_recorder::ir::{Const, Op, SlotIdx, SnapId, Snapshot, Trace, TraceExit, Ty, sload};
use perilune_recorder::rec::{Inherited, inherited};
use perilune_vm::hooks::Unboxed;
use perilune_vm::object::{BcAddr, Gc, Proto};
use perilune_vm::{TraceId, Value, Vm};
use std::collections::{HashMap, HashSet};

/// Side traces by the address that their exit resumes at, without those that start over at the start of their root trace. The traces
/// keep the prototypes of these addresses.
#[derive(Debug, Default)]
pub struct SidesByPc(HashMap<BcAddr, Vec<TraceId>>);

impl SidesByPc {
    /// Trace `n` is a side trace that starts at `pc`.
    pub fn add(&mut self, pc: BcAddr, n: TraceId) {
        self.0.entry(pc).or_default().push(n);
    }
    /// Removes traces.
    pub fn remove(&mut self, gone: &HashSet<TraceId>) {
        self.0.retain(|_, sides| {
            sides.retain(|n| !gone.contains(n));
            !sides.is_empty()
        });
    }
    /// Removes all traces.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl Jit {
    /// Links an exit that has become hot to an existing side trace of its tree that continues in the same way, if there is one.
    pub(crate) fn link_to_shared_side(&self, vm: &mut Vm, exit: TraceExit, (proto, pc): (Gc<Proto>, BcAddr)) -> bool {
        let mut registry = self.registry.borrow_mut();
        let Some(side) = registry.find_shared(vm, exit, proto, pc) else { return false };
        registry.link_shared(exit, side);
        self.count(|c| c.shared += 1);
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {} exit {} shares trace {side}]", exit.trace, exit.exit);
        }
        true
    }
}

impl Registry {
    /// The newest side trace that an exit of a function may be linked to.
    fn find_shared(&self, vm: &mut Vm, exit: TraceExit, proto: Gc<Proto>, pc: BcAddr) -> Option<TraceId> {
        let sides = self.sides_by_pc.0.get(&pc)?;
        // An exit before any instruction would lead back to itself for ever.
        let here = At::new(self.get(exit.trace)?, exit.exit).filter(|here| here.snap.done > 0)?;
        sides.iter().rev().copied().find(|&n| self.fits_side(&here, proto, n) && self.goes_there_now(vm, n))
    }
    fn fits_side(&self, here: &At<'_>, proto: Gc<Proto>, n: TraceId) -> bool {
        let Some(side) = self.get(n).filter(|side| side.root == here.entry.root) else { return false };
        // Where a function returns into itself, each exit returns to another position.
        if returns_to(&side.trace, proto) {
            return false;
        }
        let Some(parent) = side.trace.parent else { return false };
        self.get(parent.trace).and_then(|e| At::new(e, parent.exit)).is_some_and(|there| here.goes_on_as(&there, &side.trace))
    }
    /// Does a side trace not leave at once on the running frame, as far as that can be told before it has an effect?
    fn goes_there_now(&self, vm: &mut Vm, n: TraceId) -> bool {
        self.get(n).is_some_and(|side| !super::machine::leaves_early(vm, &side.trace))
    }
    /// Links an exit to the side trace of another one.
    fn link_shared(&mut self, exit: TraceExit, side: TraceId) {
        let Some((root, code)) = self.get(side).map(|e| (e.root, e.code.address)) else { return };
        let mut above = core::iter::successors(Some(exit.trace), |&n| self.get(n)?.trace.parent.map(|p| p.trace));
        let round = above.any(|n| n == side);
        self.link_exit(exit, side, code);
        if round && let Some(root) = self.get_mut(root) {
            root.account.goes_round = true;
        }
    }
}

/// An exit, with the facts that code after it depends on.
struct At<'a> {
    entry: &'a Entry,
    k: SnapId,
    snap: &'a Snapshot,
}

impl<'a> At<'a> {
    /// Exit `k` of a trace, if an ordinary side trace may start there.
    fn new(entry: &'a Entry, k: SnapId) -> Option<At<'a>> {
        let snap = entry.trace.snaps.get(k.index())?;
        (k != SnapId::FIRST && snap.multres != Snapshot::OPEN).then_some(At { entry, k, snap })
    }
    fn live(&self) -> usize {
        self.snap.live_slots()
    }
    fn unboxed(&self) -> Vec<Unboxed> {
        self.entry.unboxed(self.k)
    }
    fn inherited(&self, side: &Trace) -> Vec<(SlotIdx, Inherited)> {
        inherited(&self.entry.trace, self.k, side.entry).filter_map(|(slot, known)| Some((slot, known?))).collect()
    }

    /// Is the code that was compiled for the exit `there` correct here as well?
    fn goes_on_as(&self, there: &At<'_>, side: &Trace) -> bool {
        let (k, trace) = (self.k, &self.entry.trace);
        let same_frame = self.snap.pc == there.snap.pc && self.snap.multres == there.snap.multres && self.live() == there.live();
        let steps = !trace.exit_allocates(k) || side.ins.iter().any(|i| i.op == Op::GCSTEP);
        same_frame
            && steps
            && trace.checked_at(k) >= there.entry.trace.checked_at(there.k)
            && can_pass(trace, self.k, &exit_args(&there.entry.trace, there.k, side))
            && self.holds_what(there, side)
    }
    /// Do the slots hold what the trace after the exit `there` relies on, and are the same slots left unboxed?
    fn holds_what(&self, there: &At<'_>, side: &Trace) -> bool {
        let (mine, theirs) = (self.inherited(side), there.inherited(side));
        let of = |slot: SlotIdx| mine.iter().find(|m| m.0 == slot).map(|m| &m.1);
        let relies = theirs.iter().all(|(slot, known)| of(*slot).is_some_and(|mine| will_do(mine, known)));
        let fits = mine.iter().all(|(slot, known)| theirs.iter().any(|t| t.0 == *slot) || !contradicts(side, *slot, known));
        if !relies || !fits {
            return false;
        }
        let (left, done) = (self.unboxed(), there.unboxed());
        // Boxing a slot twice does no harm.
        let known = |u: &Unboxed| theirs.iter().any(|t| t.0.from_base() - side.entry.from_base() == u.slot);
        left.iter().all(|u| done.contains(u)) && done.iter().all(|u| left.contains(u) || known(u))
    }
}

/// Does a trace return into a function?
fn returns_to(trace: &Trace, proto: Gc<Proto>) -> bool {
    let function = Some(Const::Gc(Value::proto(proto)));
    trace.ins.iter().any(|i| i.op == Op::RETF && trace.konst(i.a) == function)
}

/// Is what is known of a slot enough for code that relies on `wanted`?
fn will_do(known: &Inherited, wanted: &Inherited) -> bool {
    match (known, wanted) {
        // What was found in the slot may be an int there, though it is known as a num.
        (Inherited::Value { ty: Ty::Num, kept: true }, Inherited::Value { kept: false, .. }) => false,
        (Inherited::Value { ty, .. }, Inherited::Value { ty: wanted, .. }) => ty == wanted,
        (Inherited::Made(made), Inherited::Value { ty, .. }) => *ty == made.ty(),
        (known, wanted) => known == wanted,
    }
}

/// Does a side trace that did not rely on the slot load it with another type?
fn contradicts(side: &Trace, slot: SlotIdx, known: &Inherited) -> bool {
    let ty = match known {
        Inherited::Value { ty, .. } => *ty,
        Inherited::Const(k) => k.ty(),
        Inherited::Made(made) => made.ty(),
    };
    let load = side.ins.iter().find(|i| i.op == Op::SLOAD && i.a.slot() == slot && i.b.0 & sload::PARENT == 0);
    load.is_some_and(|i| i.ty != ty && i.b.0 & sload::TYPECHECK != 0)
}
