//! Loop heads and back edges, returns below the start of a trace (RETF), and the links at the end of traces.

use super::plan::Class;
use super::value::{MEM, repr};
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types};
use perilune_recorder::ir::{Const, Ins, IrRef, Link, Op, SlotIdx, SnapId, Trace, Ty};
use perilune_vm::layout::ofs;

/// What the head of a loop takes.
struct Head {
    /// The left operands of PHIs, by index.
    lefts: Vec<(usize, Type)>,
    /// Those that are computed again.
    again: Vec<usize>,
    /// Does it take the fuel as well?
    fuel: bool,
}

impl Lower<'_> {
    /// LOOP: from here on the left operands of PHIs are the loop-carried values.
    pub(super) fn loop_head(&mut self) -> Res<()> {
        let trace = self.cur.trace;
        let chunks = self.in_chunks();
        if chunks.is_none() {
            self.leave_long_loop()?;
        }
        self.hoist_constants()?;
        self.hoist_addresses()?;
        self.hoist_reciprocals()?;
        let (mut entry, mut back, mut lefts, mut again) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &phi in trace.ins.iter().filter(|i| i.op == Op::PHI) {
            if phi.a.is_const() {
                return Err(self.bad("PHI of a constant"));
            }
            let Some(ty) = repr(self.ty(phi.a)?) else { continue };
            if is_computed_again(trace, phi) {
                again.push(phi.a.ins_index());
                continue;
            }
            entry.push(self.val(phi.a)?);
            lefts.push((phi.a.ins_index(), ty));
            back.push(phi.b);
        }
        self.copy_invariants(&lefts);
        let fuel = self.fuel_into_loop();
        entry.extend(fuel);
        let head = Head { lefts, again, fuel: fuel.is_some() };
        if let Some(counted) = chunks {
            let at_start = [&*entry, &[self.int(counted.stop)?]].concat();
            let start = self.enter_head(&head, &at_start)?;
            let stop = self.block_param(start, types::I32);
            self.begin_chunk(&counted, start, stop)?;
            for (value, (left, _)) in entry.iter_mut().zip(&head.lefts) {
                *value = self.val(IrRef::of_ins(*left))?;
            }
            let carried = self.cur.fuel.carried();
            if let (Some(last), Some(left)) = (entry.last_mut(), carried) {
                *last = left;
            }
        }
        let block = self.enter_head(&head, &entry)?;
        self.cur.head = Some((block, back));
        Ok(())
    }

    /// Jumps to a new block that takes the loop-carried values as parameters, and continues there.
    fn enter_head(&mut self, head: &Head, values: &[Value]) -> Res<Block> {
        let block = self.block();
        self.jump(block, values);
        for &(left, ty) in &head.lefts {
            self.cur.values[left] = self.block_param(block, ty).into();
        }
        if head.fuel {
            let left = self.block_param(block, types::I64);
            self.fuel_in_loop(left);
        }
        self.enter(block);
        self.cur.exit = None;
        for &left in &head.again {
            self.instruction(left)?;
        }
        Ok(block)
    }

    /// Loads addresses that instructions of the loop add to more than once into registers in front of the loop: each takes ten bytes of code.
    fn hoist_addresses(&mut self) -> Res<()> {
        // They must not take the registers of what the loop works on.
        const MOST: usize = 2;
        let (trace, class) = (self.cur.trace, &self.cur.plan.class);
        let is_base = |i: &Ins| i.op == Op::ADD && i.ty == Ty::P64;
        let uses = trace.ins.iter().zip(class).skip(self.cur.at).filter(|(i, class)| **class == Class::Hot && is_base(i));
        let mut bases: Vec<(IrRef, usize)> = Vec::new();
        for r in uses.flat_map(|(i, _)| [i.a, i.b]).filter(|r| r.is_const()) {
            let is_large = match self.konst(r)? {
                Const::Gc(object) => i32::try_from(object.payload()).is_err(),
                Const::Ptr(word) | Const::Word(word, _) => i32::try_from(word.cast_signed()).is_err(),
                _ => false,
            };
            match bases.iter_mut().find(|base| base.0 == r) {
                Some(base) => base.1 += 1,
                None if is_large => bases.push((r, 1)),
                None => {}
            }
        }
        bases.retain(|base| base.1 > 1);
        bases.sort_by_key(|base| core::cmp::Reverse(base.1));
        for &(r, _) in bases.iter().take(MOST) {
            let value = self.val(r)?;
            self.cur.hoisted.push((r, value));
        }
        Ok(())
    }

    /// Loads constant nums into registers in front of the loop, if instructions of the loop cannot take them from memory, or take the other
    /// operand from there.
    fn hoist_constants(&mut self) -> Res<()> {
        const MOST: usize = 4;
        let trace = self.cur.trace;
        for i in self.cur.at..trace.ins.len() {
            let ins = trace.ins[i];
            let left = ins.ty == Ty::Num && matches!(ins.op, Op::SUB | Op::DIV) && ins.a.is_const();
            let takes_load =
                || matches!(ins.op, Op::ADD | Op::MUL) && trace.def(ins.a).is_some_and(|a| a.op == Op::XLOAD && a.ty == Ty::Num);
            let right = ins.ty == Ty::Num && ins.b.is_const() && (ins.op.is_comparison() || takes_load());
            let k = match (left, right) {
                (true, _) => ins.a,
                (_, true) => ins.b,
                _ => continue,
            };
            if self.cur.hoisted.len() < MOST && !self.cur.hoisted.iter().any(|h| h.0 == k) {
                let value = self.val(k)?;
                self.cur.hoisted.push((k, value));
            }
        }
        Ok(())
    }

    /// RETF: checks the return address, unless that was checked before, then moves the base down to the caller's frame.
    pub(super) fn return_frame(&mut self, ins: Ins) -> Res<()> {
        if !ins.b.is_const() {
            return Err(self.bad("RETF without a return address"));
        }
        let Const::Ptr(pc) = self.konst(ins.b)? else { return Err(self.bad("RETF without a return address")) };
        if ins.is_guard() && !self.holds(SlotIdx::LINK, pc) {
            let at = self.slot_offset(SlotIdx::LINK);
            let link = self.pos.ins().load(types::I64, MEM, self.cur.base, at);
            let expected = self.k64(pc);
            let same = self.pos.ins().icmp(IntCC::Equal, link, expected);
            self.guard(same)?;
        }
        self.forget_frame();
        let delta = (self.req.frame_delta)(pc);
        self.cur.moved -= 8 * delta as i32;
        // Exits from here on count slots from the new base.
        self.cur.exit = None;
        self.store_base();
        Ok(())
    }
    /// Stores the base that slots are counted from to the VM, for stack walks.
    pub(super) fn store_base(&mut self) {
        if self.cur.tree.walked {
            let base = self.slot_address(SlotIdx::BASE);
            self.pos.ins().store(MEM, base, self.vm, ofs::VM_CODE_BASE as i32);
        }
    }

    /// The end of the trace.
    pub(super) fn link(&mut self) -> Res<()> {
        self.cur.at = self.cur.trace.ins.len();
        let last = self.cur.trace.snap_ids().next_back().ok_or(self.bad("trace without snapshots"))?;
        match self.cur.trace.link {
            Link::None => Err(self.bad("trace without an end")),
            Link::Loop if self.cur.head.is_some() => self.back_edge(),
            Link::Loop | Link::TailRec | Link::UpRec | Link::DownRec => self.link_to(&self.cur.start.clone(), last),
            Link::Root(n) => {
                let above = self.starts.iter().find(|(tree, _)| tree.id == n).cloned();
                let asks = above.as_ref().is_some_and(|(tree, _)| tree.trace.checks_stack());
                self.poll_in_tree(asks, last)?;
                if let Some((_, start)) = above {
                    return self.link_to(&start, last);
                }
                self.settle_fuel();
                let base = self.restore(last)?;
                self.forget_cold();
                let codes = self.vm_field(ofs::VM_TRACE_CODE);
                self.tail_call_entry(codes, base, u64::from(n.get()), &[]);
                Ok(())
            }
            Link::Interp | Link::Return | Link::Stitch => self.leave_or_transfer(last),
        }
    }

    /// At the end of a side trace of the tree: leaves on request, unless the trace that it jumps to `asks` as it checks the stack. By
    /// themselves, side traces are entered through the exit table, which leads to the interpreter then.
    fn poll_in_tree(&mut self, asks: bool, last: SnapId) -> Res<()> {
        if self.req.interruptible && !self.is_root() && !asks {
            (self.cur.snap, self.cur.exit) = (last, None);
            self.prof()?;
        }
        Ok(())
    }

    /// The loop-carried values at the end of the loop.
    pub(super) fn carried(&mut self) -> Res<Vec<Value>> {
        let back = self.cur.head.as_ref().map(|h| h.1.clone()).ok_or(self.bad("no loop"))?;
        let mut values = Vec::with_capacity(back.len() + 1);
        for r in back {
            values.push(self.val(r)?);
        }
        values.extend(self.cur.fuel.carried());
        Ok(values)
    }

    fn back_edge(&mut self) -> Res<()> {
        if self.cur.fuel.carried().is_none() {
            self.settle_fuel();
        }
        let args = self.carried()?;
        let Some((head, _)) = self.cur.head.take() else { return Err(self.bad("no loop")) };
        self.rotate()?;
        self.jump(head, &args);
        Ok(())
    }
}

/// Is the left operand of a PHI an address that is computed from loop-carried values in the same way as the right one? Then it is not
/// carried: its computation is part of a load or a store, and costs nothing.
fn is_computed_again(trace: &Trace, phi: Ins) -> bool {
    let (Some(left), Some(right)) = (trace.def(phi.a), trace.def(phi.b)) else { return false };
    let next = |r: IrRef| trace.ins.iter().rev().take_while(|i| i.op == Op::PHI).find(|i| i.a == r).map_or(r, |i| i.b);
    let is_address = matches!(left.op, Op::AREF | Op::STRREF) && right.op == left.op;
    is_address && right.a == next(left.a) && right.b == next(left.b)
}
