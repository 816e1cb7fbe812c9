//! Numeric loops, and how a recording continues at a loop instruction: it closes its own loop, unrolls the loop, or links to another trace
//! (LuaJIT's `rec_for`, `rec_loop_interp`).

use super::iterations::{few_iterations, for_constant};
use super::{Flow, Rec, Recorder, TraceDb, view};
use crate::abort::Abort;
use crate::ir::{FpMath, IrRef, Link, Op, SlotIdx, Ty, conv};
use crate::opt::abc::Induction;
use crate::opt::narrow;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::interp::hook::is_header;
use perilune_vm::object::{BcPos, InsPtr};
use perilune_vm::{TraceId, Value, Vm};

/// The effect of a loop instruction.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// Continues at the first instruction of the body.
    Enter(InsPtr),
    /// Leaves the loop.
    Leave,
}

/// The instructions of a loop, by their addresses.
#[derive(Copy, Clone, Debug)]
pub(super) struct Body {
    first: InsPtr,
    /// After the last one.
    end: InsPtr,
}

impl Body {
    pub(super) fn contains(self, pc: InsPtr) -> bool {
        (self.first.addr()..self.end.addr()).contains(&pc.addr())
    }
    /// The first local of a numeric loop.
    pub(super) fn counter(self) -> Option<usize> {
        let last = view::at(self.end, -1).ins();
        matches!(last.op(), Bc::FORL | Bc::IFORL | Bc::JFORL).then(|| last.a())
    }
}

/// The loop that a root trace at `pc` is made of; `None` for a function, and for a loop that never repeats.
pub(super) fn body(pc: InsPtr, ins: Ins) -> Option<Body> {
    let back = |at: InsPtr| Some(Body { first: view::target(at, at.ins()), end: view::at(at, 1) });
    match ins.op() {
        Bc::FORL | Bc::IFORL | Bc::ITERL | Bc::IITERL => Some(Body { first: view::target(pc, ins), end: view::at(pc, 1) }),
        Bc::ITERN => back(view::at(pc, 1)),
        Bc::LOOP | Bc::ILOOP => {
            // `repeat ... until true` has no jump back.
            let last = view::at(pc, ins.j() as isize);
            let jump = last.ins();
            if jump.op() == Bc::JMP && jump.j() < 0 { back(last) } else { None }
        }
        _ => None,
    }
}

/// The link to the trace that `ins` enters.
pub(super) fn link_to(ins: Ins) -> Rec<Link> {
    ins.trace().map(Link::Root).ok_or(Abort::Error)
}

/// The test whether a numeric loop continues.
struct ForTest {
    /// The first local of the loop.
    ra: usize,
    /// Does it count up?
    up: bool,
    /// Does it continue this time?
    stay: bool,
    idx: IrRef,
    stop: IrRef,
    /// The type of both.
    ty: Ty,
    body: InsPtr,
    after: InsPtr,
}

/// Loops, one in the other, whose traces lead to the innermost one, at most: hardly a program nests more. Traces may also lead to one another in a
/// circle, which must not be followed for ever.
const MOST_LOOPS: usize = 4;

impl Recorder {
    /// Loads limit and step of a loop as constants, if they are.
    pub(super) fn for_constants(&mut self, vm: &Vm, forl: InsPtr, ins: Ins) -> Rec<()> {
        let fori = view::at(view::target(forl, ins), -1);
        let ra = ins.a();
        for (i, back) in [(2, 1), (1, 2)] {
            let Some(k) = for_constant(&self.proto, fori, back, ra + i) else { return Ok(()) };
            if self.slots[self.base + ra + i] != IrRef::NONE {
                continue;
            }
            if view::slot(vm, (ra + i) as isize) == Value::int(k) && view::slot(vm, ra as isize).is_int() {
                // The step is always the same; whether it is an int or a num depends on the index, which is checked.
                self.get(vm, ra)?;
                self.slots[self.base + ra + i] = self.b.kint(k);
            }
        }
        Ok(())
    }

    /// Describes the counter of the loop that the trace starts in.
    pub(super) fn for_induction(&mut self, vm: &Vm, forl: InsPtr, ins: Ins) -> Rec<()> {
        let ra = ins.a();
        let [idx, stop, step] = [0, 1, 2].map(|i| view::slot(vm, (ra + i) as isize));
        let known = self.slots[self.base + ra + 2];
        let (true, Some(stop_now), Some(step)) = (idx.is_int(), stop.as_int(), step.as_int()) else { return Ok(()) };
        if !self.b.flags.abc || !self.b.flags.loop_ || self.b.as_int(known) != Some(step) {
            return Ok(());
        }
        let fori = view::at(view::target(forl, ins), -1);
        let start = if step > 0 { for_constant(&self.proto, fori, 3, ra) } else { None };
        let (idx, stop) = (self.get(vm, ra)?, self.get(vm, ra + 1)?);
        self.start.induction = Some(Induction { idx, start, stop, stop_now });
        Ok(())
    }

    /// The direction of a loop, guarded unless the step is constant.
    fn direction(&mut self, step: IrRef, v: Value) -> Rec<bool> {
        if v.as_number().is_some_and(f64::is_nan) {
            // No comparison with zero would hold for it.
            return Err(Abort::NyiBytecode);
        }
        let up = match v.as_int() {
            Some(i) => i >= 0,
            None => !v.as_num_unchecked().is_sign_negative(),
        };
        if !step.is_const() {
            if self.ty(step) == Ty::Num {
                if v.as_number() == Some(0.0) {
                    return Err(Abort::NyiBytecode);
                }
                let zero = self.b.knum(0.0);
                self.b.emit(if up { Op::GT } else { Op::LT }, Ty::Num, step, zero)?;
            } else {
                let zero = self.b.kint(0);
                // Where the counter moves, machine code need not look whether it does.
                let test = match v.as_int() {
                    Some(0) => Op::GE,
                    _ if up => Op::GT,
                    _ => Op::LT,
                };
                self.b.emit(test, Ty::Int, step, zero)?;
            }
        }
        Ok(up)
    }

    /// The condition to stay in a loop, or its negation.
    fn for_op(up: bool, stay: bool, ty: Ty) -> Op {
        match (up, stay) {
            (true, true) => Op::LE,
            (false, true) => Op::GE,
            (true, false) if ty == Ty::Num => Op::UGT,
            (false, false) if ty == Ty::Num => Op::ULT,
            (true, false) => Op::GT,
            (false, false) => Op::LT,
        }
    }

    /// FORL at `pc` (whose original instruction is `ins`).
    pub(super) fn forl(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Event> {
        let ra = ins.a();
        self.for_constants(vm, pc, ins)?;
        let (idx, vi) = self.operand(vm, ra)?;
        let (stop, vl) = self.operand(vm, ra + 1)?;
        let (step, vs) = self.operand(vm, ra + 2)?;
        let ty = self.ty(idx);
        if !ty.is_number()
            || self.ty(stop) != ty
            || self.ty(step) != ty
            || vi.is_int() != vs.is_int()
            || vi.is_int() != ty.is_int()
        {
            return Err(Abort::TypeInstability);
        }
        let up = self.direction(step, vs)?;
        let (next, stay) = match (vi.as_int(), vs.as_int(), vl.as_int()) {
            (Some(i), Some(s), Some(l)) => {
                let Some(n) = i.checked_add(s) else { return Err(Abort::LeavingLoop) };
                (narrow::next_index(&mut self.b, idx, (step, s), (stop, l))?, if up { n <= l } else { n >= l })
            }
            _ => {
                let (i, s, l) = (vi.as_num_unchecked(), vs.as_num_unchecked(), vl.as_num_unchecked());
                let n = i + s;
                // All three are stored as doubles, as the interpreter stores them.
                self.set(ra + 1, stop);
                self.set(ra + 2, step);
                (self.b.emit(Op::ADD, Ty::Num, idx, step)?, if up { n <= l } else { l <= n })
            }
        };
        self.set(ra, next);
        self.set(ra + 3, next);
        let (body, after) = (view::target(pc, ins), view::at(pc, 1));
        self.for_guard(ForTest { ra, up, stay, idx: next, stop, ty, body, after })
    }
    fn for_guard(&mut self, test: ForTest) -> Rec<Event> {
        let ForTest { ra, up, stay, idx, stop, ty, body, after } = test;
        // The loop's variables are live in its body, and no variable of the loop is live after it.
        let (inside, outside) = (self.base + ra + 4, self.base + ra);
        if stay {
            self.snap_below(after, outside)?
        } else {
            self.snap_below(body, inside)?
        };
        self.decide();
        self.b.emit(Recorder::for_op(up, stay, ty), if ty == Ty::Num { ty } else { Ty::Int }, idx, stop)?;
        self.snaps.needed = true;
        self.clear_from(if stay { inside } else { outside });
        Ok(if stay { Event::Enter(body) } else { Event::Leave })
    }

    /// FORI: the loop begins.
    pub(super) fn fori(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Event> {
        let ra = ins.a();
        let mut x = [(IrRef::NONE, Value::NIL); 3];
        for (i, x) in x.iter_mut().enumerate() {
            let (r, v) = self.operand(vm, ra + i)?;
            *x = self.number(r, v)?;
        }
        let canonical = |v: Value| v.as_number().map_or(v, Value::number);
        let (vi, vs) = (canonical(x[0].1), canonical(x[2].1));
        let l = x[1].1.as_number().ok_or(Abort::BadType)?;
        let (stay, up, ty);
        // A loop that may run past the integers counts in doubles, as in the interpreter.
        let outside = is_injected(Fault::PastIntegers);
        let inside = |s: i32| {
            if outside {
                true
            } else if s >= 0 {
                l < 2_147_483_648.0
            } else {
                l > -2_147_483_649.0
            }
        };
        if let (Some(i), Some(s), true) = (vi.as_int(), vs.as_int(), vs.as_int().is_some_and(inside) || l.is_nan()) {
            ty = Ty::Int;
            x[0].0 = self.narrow(x[0].0)?;
            x[2].0 = self.narrow(x[2].0)?;
            up = self.direction(x[2].0, vs)?;
            x[1].0 = self.int_limit(x[1].0, l, up)?;
            stay = if s >= 0 { f64::from(i) <= l } else { f64::from(i) >= l };
            let bound = if up { l.floor() } else { l.ceil() };
            if !stay && self.b.as_int(x[1].0).is_some_and(|k| f64::from(k) != bound) {
                // No int reaches this limit: there is nothing to check.
                self.clear_from(self.base + ra);
                return Ok(Event::Leave);
            }
        } else {
            ty = Ty::Num;
            for x in &mut x {
                x.0 = self.to_num(x.0)?;
            }
            let (i, s) = (vi.as_number().unwrap_or(0.0), vs.as_number().unwrap_or(0.0));
            up = self.direction(x[2].0, Value::num(s))?;
            stay = if s.is_sign_negative() { l <= i } else { i <= l };
        }
        for (i, x) in x.iter().enumerate() {
            self.set(ra + i, x.0);
        }
        self.set(ra + 3, x[0].0);
        let (body, after) = (view::at(pc, 1), view::target(pc, ins));
        self.for_guard(ForTest { ra, up, stay, idx: x[0].0, stop: x[1].0, ty, body, after })
    }
    fn narrow(&mut self, r: IrRef) -> Rec<IrRef> {
        if self.ty(r).is_int() {
            return Ok(r);
        }
        self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK))
    }
    /// The limit of an integer loop.
    fn int_limit(&mut self, r: IrRef, l: f64, up: bool) -> Rec<IrRef> {
        if self.ty(r).is_int() {
            return Ok(r);
        }
        let bound = if up { l.floor() } else { l.ceil() };
        let i = bound as i32;
        if f64::from(i) != bound || bound.to_bits() == (-0.0f64).to_bits() {
            if r.is_const() && !l.is_nan() && f64::from(i) != bound {
                return Ok(self.b.kint(i));
            }
            return Err(Abort::NyiBytecode);
        }
        let round = if up { FpMath::Floor } else { FpMath::Ceil };
        let rounded = if bound == l { r } else { self.b.emit(Op::FPMATH, Ty::Num, r, IrRef(round as u16))? };
        self.b.guard(Op::CONV, Ty::Int, rounded, IrRef(conv::INT_NUM_CHECK))
    }

    /// FORI of a loop without a trace: its first iteration becomes part of this trace, unless the trace started in this loop, in a frame
    /// further down.
    pub(super) fn loop_begins(&mut self, forl: InsPtr, event: Event) -> Flow {
        if let Event::Enter(body) = event {
            if self.is_own_loop_above(forl) {
                return Flow::Stop(Link::UpRec, body);
            }
            self.unroll.last_loop = self.b.trace.ins.len();
        }
        Flow::Next
    }
    /// A loop instruction that has no trace.
    pub(super) fn loop_plain(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins, event: Event) -> Rec<Flow> {
        if self.start.is_root
            && let Some(flow) = self.own_loop(pc, event)
        {
            return flow;
        }
        if self.start.is_root && !self.has_switched() {
            if let Event::Enter(_) = event {
                if ins.j() != -1 && !BcPos::of_address(self.proto, pc).is_some_and(|pos| db.loop_left(pos)) {
                    return Err(Abort::InnerLoop);
                }
                self.unroll.loops -= 1;
                let n = self.b.trace.ins.len();
                let is_long = self.unroll.last_loop != 0 && n - self.unroll.last_loop > 24;
                let few = || few_iterations(&self.proto, (pc, ins), |i| view::slot(vm, i as isize));
                if is_long && few().is_none() || self.unroll.loops < 0 {
                    return Err(Abort::LoopUnroll);
                }
                self.unroll.last_loop = n;
            }
        } else if let Event::Enter(_) = event {
            self.unroll.loops -= 1;
            if self.unroll.loops < 0 {
                return Err(Abort::LoopUnroll);
            }
        }
        Ok(Flow::Next)
    }
    /// The loop instruction that a root trace started at: the trace ends there, also if it was reached through a call from the loop.
    fn own_loop(&self, pc: InsPtr, event: Event) -> Option<Rec<Flow>> {
        if pc != self.start.pc {
            return None;
        }
        match event {
            Event::Enter(body) if self.comes_round() => Some(Ok(self.close_round(body))),
            Event::Leave if self.at_start_depth() => Some(Err(Abort::LeavingLoop)),
            Event::Enter(body) if self.at_start_depth() => Some(Ok(Flow::Stop(Link::Loop, body))),
            Event::Enter(body) if self.is_own_loop_above(pc) => Some(Ok(Flow::Stop(Link::UpRec, body))),
            _ => None,
        }
    }
    /// Is this a root trace that has switched coroutines? Then it can only loop by a jump to its start, with all slots in memory.
    pub(super) fn comes_round(&self) -> bool {
        self.start.is_root && self.has_switched() && self.b.trace.parent.is_none()
    }
    /// Ends the trace with a jump to its start, from the current frame.
    pub(super) fn close_round(&self, to: InsPtr) -> Flow {
        Flow::Stop(if self.base == SlotIdx::BASE { Link::Loop } else { Link::UpRec }, to)
    }
    /// Has a root trace reached its own loop again, in a frame further up? A side trace that starts at the loop cannot jump to its start,
    /// where it boxes the slots that its parent's exit has left unboxed.
    pub(super) fn is_own_loop_above(&self, pc: InsPtr) -> bool {
        self.start.is_root
            && pc == self.start.pc
            && self.stack.returned == 0
            && !self.has_switched()
            && !self.stack.frames.is_empty()
            && self.b.trace.parent.is_none()
    }
    /// The loop instruction at `pc`, which enters a trace.
    pub(super) fn loop_compiled(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, event: Event) -> Rec<Flow> {
        if self.start.is_root {
            if let Some(flow) = self.own_loop(pc, event) {
                return flow;
            }
            if self.starts_in_loop() && !self.has_switched() {
                // A side trace that starts at the inner loop's exit is better.
                return Err(Abort::InnerLoop);
            }
        }
        if matches!(event, Event::Enter(_)) && self.unrolls_compiled(vm, db, pc) {
            return self.loop_plain(vm, db, pc, db.original_ins(pc.ins()), event);
        }
        self.enter_compiled(db, pc, event)
    }
    /// Does a side trace follow the numeric loop whose FORL at `pc` enters a trace of another tree, since the loop has one or two iterations now?
    /// That trace has the body twice, as it is unrolled here, and hardly goes round; what comes after the loop would be another side trace, with
    /// all slots in memory. (The number of elements that an iterator meets varies more: there a program with trees of points took 1.3 times as
    /// long.)
    pub(super) fn unrolls_compiled(&self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr) -> bool {
        let ins = pc.ins();
        if self.start.is_root || ins.op() != Bc::JFORL || ins.trace() == Some(self.start.place.root) || self.unroll.loops <= 0 {
            return false;
        }
        let n = few_iterations(&self.proto, (pc, db.original_ins(ins)), |i| view::slot(vm, i as isize));
        n.is_some_and(|n| n <= 2)
    }
    /// Does the trace of the loop at `pc` only lead to the root trace of this side trace? Such is that of an outer loop: it ends where the inner one
    /// begins. Then the side trace goes on to the root trace itself, as if the outer loop had no trace. So the code of the tree stays together, and
    /// whichever of the two was hot first makes no difference. Not if it has come by before: then it does not come to the root trace.
    fn leads_back(&mut self, db: &dyn TraceDb, pc: InsPtr) -> bool {
        let root = self.start.place.root;
        if self.start.is_root || self.unroll.led_back.contains(&pc) {
            return false;
        }
        let next = |n: &TraceId| match db.link_of(*n) {
            Some(Link::Root(next)) => Some(next),
            _ => None,
        };
        let leads = core::iter::successors(pc.ins().trace(), next).skip(1).take(MOST_LOOPS).any(|n| n == root);
        if leads {
            self.unroll.led_back.push(pc);
        }
        leads
    }
    /// Links to the trace that the loop instruction at `pc` enters, unless that leads back, or continues after the loop.
    pub(super) fn enter_compiled(&mut self, db: &dyn TraceDb, pc: InsPtr, event: Event) -> Rec<Flow> {
        match event {
            Event::Enter(body) if !self.leads_back(db, pc) => Ok(Flow::Stop(link_to(pc.ins())?, body)),
            _ => Ok(Flow::Next),
        }
    }
    /// Does this root trace start in a loop, not at a function?
    pub(super) fn starts_in_loop(&self) -> bool {
        self.start.body.is_some() || !is_header(self.start.pc.ins().op())
    }
}
