//! From an address in machine code to the trace, and the functions that run there.

use crate::Jit;
use crate::registry::Entry;
use perilune_backend::Part;
use perilune_recorder::ir::{Const, Op, Origin, Trace};
use perilune_vm::Vm;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::sample::{Callee, Captured, CapturedFrame, CodePlace, StackFrame};

/// A place in compiled code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// The trace.
    pub trace: u32,
    /// The exit whose code it is, if it is that of one.
    pub exit: Option<u32>,
    /// Id of the builtin that the trace has called there, if it has; 1 for one without an id, or that is not known.
    pub builtin: Option<u32>,
    /// Functions and indices of their current instructions, the innermost first; the last one is that of the frame which the trace
    /// counts slots from, unless [`Located::returned`].
    pub functions: Vec<(Gc<Proto>, usize)>,
    /// The last one of the functions has just been left: the frame that slots are counted from is its caller's.
    pub returned: bool,
    /// How many slots the trace has gone down by returns since it left word of its base.
    pub down: usize,
}

/// The stack of a sample in compiled code.
pub struct SampledStack {
    /// Where in compiled code, if that is known.
    pub located: Option<Located>,
    /// The frames, the innermost first, without the builtin that the trace has called.
    pub frames: Vec<StackFrame>,
    /// How many of them are those of the running coroutine.
    pub own: usize,
}

/// A trace, for whoever names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceName {
    /// Where it starts: function and index of the instruction.
    pub start: Option<(Gc<Proto>, usize)>,
    /// For a side trace: the trace and the exit that it goes on from.
    pub parent: Option<(u32, u32)>,
    /// How it ends, see `jit.util.traceinfo`.
    pub link: &'static str,
}

impl Jit {
    /// The stack of a sample that was taken in compiled code; without a compiler, what lies in memory.
    pub fn sampled_stack(jit: Option<&Jit>, vm: &Vm, sample: &Captured) -> SampledStack {
        let located = jit.and_then(|j| j.locate(vm, sample.place));
        let inlined = located.as_ref().map_or(&[][..], |l| &l.functions);
        // The function that the trace counts slots from is the last one of these, or else below it.
        let down = located.as_ref().map_or(0, |l| l.down + usize::from(!l.returned && !l.functions.is_empty()));
        let is_left = |f: &&CapturedFrame| usize::from(f.below) < down;
        let left = sample.frames[..sample.own].iter().take_while(is_left).count();
        let mut frames = Vec::with_capacity(inlined.len() + sample.frames.len());
        frames.extend(inlined.iter().map(|(p, pc)| StackFrame { callee: Callee::Lua(*p), pc: Some(*pc) }));
        frames.extend(sample.frames[left..].iter().map(|f| StackFrame {
            callee: Callee::of(f.func),
            pc: f.func.proto().and_then(|p| p.pc_of(f.pc.wrapping_sub(1))),
        }));
        let own = inlined.len() + sample.own - left;
        SampledStack { located, frames, own }
    }
    /// Where in compiled code a sample was taken.
    pub fn locate(&self, vm: &Vm, place: CodePlace) -> Option<Located> {
        let registry = self.registry.borrow();
        let (trace, entry, part) = match place {
            CodePlace::Address(a) => {
                let (n, e) = registry.at_code(a)?;
                let at = (a - e.code.0) as u32;
                let part = e.map.parts.partition_point(|p| p.0 <= at).checked_sub(1).map(|i| e.map.parts[i].1);
                (n, e, part.unwrap_or(Part::Other))
            }
            CodePlace::Site(number) => {
                let site = vm.site_of(number)?;
                (site.trace, registry.get(site.trace)?, Part::Ins(usize::from(site.ins)))
            }
        };
        let t = &entry.trace;
        let exit = match part {
            Part::Exit(k) => Some(k as u32),
            _ => None,
        };
        // The instruction, and that behind those which have run.
        let (ins, end) = match part {
            Part::Ins(i) => (i, i + 1),
            Part::Exit(k) => t.snaps.get(k).map(|s| (s.at.ins_index(), s.at.ins_index()))?,
            Part::End => (t.ins.len() - 1, t.ins.len()),
            Part::Other => (1, 1),
        };
        // Elsewhere the base was left before slots were stored.
        let down = if matches!(part, Part::Ins(_)) { slots_down(t, end) } else { 0 };
        let mut functions = functions(entry, t.place(ins));
        if functions.is_empty() {
            functions.extend(entry.place_of(t.snaps.first()?.pc));
        }
        let returned = has_returned(t, ins, end);
        Some(Located { trace, exit, builtin: builtin(t, ins), functions, returned, down })
    }
    /// What trace `n` is called by.
    pub fn trace_name(&self, n: u32) -> Option<TraceName> {
        let registry = self.registry.borrow();
        let e = registry.get(n)?;
        let start = e.start.map(|s| (s.0, s.1)).or_else(|| e.place_of(e.trace.snaps.first()?.pc));
        Some(TraceName { start, parent: e.trace.parent, link: e.trace.link.name() })
    }
}

/// The functions that run where a bytecode was recorded, the innermost first.
fn functions(entry: &Entry, innermost: Origin) -> Vec<(Gc<Proto>, usize)> {
    let places = core::iter::successors(Some(innermost), |at| entry.trace.called_from(*at));
    places.filter_map(|at| entry.place_of(at.pc)).collect()
}

/// The builtin that an instruction calls.
fn builtin(t: &Trace, i: usize) -> Option<u32> {
    let ins = t.ins.get(i).filter(|ins| ins.op == Op::NATIVE)?;
    let snap = t.snaps.iter().rfind(|s| s.at.ins_index() <= i)?;
    let slot = snap.slots.iter().find(|s| s.slot + 2 == ins.a.0)?;
    match t.konst(slot.value) {
        Some(Const::Gc(f)) => Some(f.as_func().map_or(1, |f| f.ffid())),
        _ => Some(1),
    }
}

/// Has the trace left a frame downwards since it came to the bytecode of instruction `i`, by the instructions in front of `end`?
fn has_returned(t: &Trace, i: usize, end: usize) -> bool {
    let here = t.place(i);
    (1..end.min(t.ins.len())).rev().take_while(|&j| t.place(j) == here).any(|j| t.ins[j].op == Op::RETF)
}

/// How many slots the trace has gone down by returns in front of `end`, since it started or an instruction stored slots.
fn slots_down(t: &Trace, end: usize) -> usize {
    let since = t.ins[1..end.min(t.ins.len())].iter().rev().take_while(|i| !matches!(i.op, Op::NATIVE | Op::SYNC));
    let delta = |pc| match t.konst(pc) {
        Some(Const::Ptr(pc)) => crate::frame::delta(pc) as usize,
        _ => 0,
    };
    since.filter(|i| i.op == Op::RETF).map(|i| delta(i.b)).sum()
}
