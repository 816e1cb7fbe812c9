//! From an address in machine code to the trace, and to the functions that run there.

use crate::Jit;
use crate::trace::Entry;
use perilune_backend::Part;
use perilune_recorder::ir::{Const, Op, Origin, Trace, TraceExit};
use perilune_vm::object::BcPos;
use perilune_vm::sample::{Callee, CodePosition, StackFrame};
use perilune_vm::{TraceId, Vm};

/// A position in compiled code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// The trace.
    pub trace: TraceId,
    /// The exit, if the code is that of an exit.
    pub exit: Option<u32>,
    /// Id of the builtin that the trace has called there; 1 if the builtin has no id or is not known.
    pub builtin: Option<u32>,
    /// The current instructions of the functions that run, the innermost first; the last one is that of the frame which the trace
    /// counts slots from, unless [`Located::returned`].
    pub functions: Vec<BcPos>,
    /// The last one of the functions has just been left: the frame that slots are counted from is its caller's.
    pub returned: bool,
    /// The trace switches between coroutines.
    pub switches: bool,
}

/// A trace, with the facts that its name is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceName {
    /// Where it starts.
    pub start: Option<BcPos>,
    /// For a side trace: the trace and the exit that it goes on from.
    pub parent: Option<TraceExit>,
    /// How it ends, see `jit.util.traceinfo`.
    pub link: &'static str,
}

/// The most frames that are searched for a function that was running.
pub const SEARCHED: usize = 64;

impl Located {
    /// Puts the functions that ran in compiled code on the stack of the sample. On entry `frames` is the stack of the running coroutine,
    /// taken a little later, the innermost frame first. The interpreter resumes where compiled code was left, so that the function that the
    /// trace started in is still on the stack, and its callers are. If it is not found (it has returned meanwhile), the stack is left as it
    /// is. A trace that switches coroutines may have left the stack of one coroutine for that of another, resumed or resuming: then the
    /// functions are put on top, and true is returned.
    pub fn put_on(&self, frames: &mut Vec<StackFrame>, own: usize) -> bool {
        let started_in = self.functions.last().filter(|_| !self.returned).map(|f| Callee::Lua(f.proto));
        let own = if self.switches { frames.len() } else { own };
        let searched = &frames[..own.min(frames.len()).min(SEARCHED)];
        if let Some(at) = searched.iter().position(|f| Some(f.callee) == started_in) {
            frames.splice(..=at, self.frames());
            return false;
        }
        let elsewhere = self.switches && started_in.is_some();
        if elsewhere {
            frames.splice(..0, self.frames());
        }
        elsewhere
    }
    /// The stack of a sample that was walked at once ([`InCode::Walked`]): its innermost function is that of the frame which the trace
    /// counts slots from.
    ///
    /// [`InCode::Walked`]: perilune_vm::sample::InCode::Walked
    pub fn put_on_walked(&self, frames: &mut Vec<StackFrame>) {
        let replaced = !self.returned && self.frames().last().map(|f| f.callee) == frames.first().map(|f| f.callee);
        frames.splice(..usize::from(replaced && !frames.is_empty()), self.frames());
    }
    fn frames(&self) -> impl DoubleEndedIterator<Item = StackFrame> {
        self.functions.iter().map(|pos| StackFrame { callee: Callee::Lua(pos.proto), pc: Some(pos.pc()) })
    }
}

impl Jit {
    /// Where in compiled code a sample was taken.
    pub fn locate(&self, vm: &Vm, place: CodePosition) -> Option<Located> {
        let registry = self.registry.borrow();
        let (trace, entry, part) = match place {
            CodePosition::Address(a) => {
                let (n, e) = registry.at_code(a)?;
                let at = (a - e.code.address) as u32;
                let part = e.map.parts.partition_point(|p| p.0 <= at).checked_sub(1).map(|i| e.map.parts[i].1);
                (n, e, part.unwrap_or(Part::Other))
            }
            CodePosition::Site(number) => {
                let site = vm.site_of(number)?;
                (site.trace, registry.get(site.trace)?, Part::Ins(usize::from(site.ins)))
            }
        };
        let t = &entry.trace;
        let exit = match part {
            Part::Exit(k) => Some(k.number()),
            _ => None,
        };
        let ins = match part {
            Part::Ins(i) => i,
            // The guard that failed has not been passed; if several guards share the exit, the first of them.
            Part::Exit(k) => t.snaps.get(k.index())?.at.ins_index().saturating_sub(1).max(1),
            Part::Other => 1,
        };
        let mut functions = functions(entry, t.origin_at(ins));
        if functions.is_empty() {
            functions.extend(entry.position_of(t.snaps.first()?.pc));
        }
        let switches = !t.stack_checks.is_empty();
        Some(Located { trace, exit, builtin: builtin(t, ins), functions, returned: has_returned(t, ins), switches })
    }
    /// The facts that the name of trace `n` is made of.
    pub fn trace_name(&self, n: TraceId) -> Option<TraceName> {
        let registry = self.registry.borrow();
        let e = registry.get(n)?;
        let start = e.start.map(|s| s.pos).or_else(|| e.position_of(e.trace.snaps.first()?.pc));
        Some(TraceName { start, parent: e.trace.parent, link: e.trace.link.name() })
    }
}

/// The functions that run where a bytecode was recorded, the innermost first.
fn functions(entry: &Entry, innermost: Origin) -> Vec<BcPos> {
    let places = core::iter::successors(Some(innermost), |at| entry.trace.called_from(*at));
    places.filter_map(|at| entry.position_of(at.pc)).collect()
}

/// The builtin that an instruction calls.
fn builtin(t: &Trace, i: usize) -> Option<u32> {
    let ins = t.ins.get(i).filter(|ins| ins.op == Op::NATIVE)?;
    let snap = t.snaps.iter().rfind(|s| s.at.ins_index() <= i)?;
    let slot = snap.slots.iter().find(|s| s.slot + 2 == ins.a.slot())?;
    match t.konst(slot.value) {
        Some(Const::Gc(f)) => Some(f.as_func().map_or(1, |f| f.ffid())),
        _ => Some(1),
    }
}

/// Has the trace returned from a frame since it began the bytecode instruction that instruction `i` was recorded for?
fn has_returned(t: &Trace, i: usize) -> bool {
    let here = t.origin_at(i);
    let earlier = (1..=i.min(t.ins.len() - 1)).rev().take_while(|&j| t.origin_at(j) == here);
    earlier.into_iter().any(|j| t.ins[j].op.moves_base())
}
