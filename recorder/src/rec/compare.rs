//! Comparisons and tests. The snapshot of a comparison resumes at the branch that the trace does not take.

use super::{Flow, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::helper::Helper;
use perilune_vm::meta::MM;
use perilune_vm::object::InsPtr;
use perilune_vm::{Value, Vm};

impl Recorder {
    /// Takes the snapshot for the branch at `pc`, whose jump is `taken`.
    pub(super) fn other_branch(&mut self, pc: InsPtr, taken: bool) -> Rec<()> {
        let jump = view::at(pc, 1);
        let other = if taken { view::at(pc, 2) } else { view::target(jump, jump.ins()) };
        self.snap(other)?;
        self.decide();
        self.snaps.needed = true;
        Ok(())
    }

    /// ISLT to ISGT.
    pub(super) fn order(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let (x, vx) = self.operand(vm, ins.a())?;
        let (y, vy) = self.operand(vm, ins.d())?;
        let less = matches!(ins.op(), Bc::ISLT | Bc::ISGE);
        let negated = matches!(ins.op(), Bc::ISGE | Bc::ISGT);
        if let (Some(s), Some(t)) = (vx.as_str(), vy.as_str()) {
            let order = s.bytes().cmp(t.bytes());
            let yes = if less { order.is_lt() } else { order.is_le() };
            let r = self.b.call(Helper::StrCmp, &[x, y])?;
            let zero = self.b.kint(0);
            self.other_branch(pc, yes != negated)?;
            let op = match (less, yes) {
                (true, true) => Op::LT,
                (true, false) => Op::GE,
                (false, true) => Op::LE,
                (false, false) => Op::GT,
            };
            self.b.emit(op, Ty::Int, r, zero)?;
            return Ok(Flow::Next);
        }
        let (Some(m), Some(n)) = (vx.as_number(), vy.as_number()) else {
            return self.order_method(vm, ins, (x, vx), (y, vy));
        };
        let yes = if less { m < n } else { m <= n };
        let ints = self.ty(x).is_int() && self.ty(y).is_int();
        let (x, y) = if ints { (x, y) } else { (self.to_num(x)?, self.to_num(y)?) };
        let op = match (less, yes, ints) {
            (true, true, _) => Op::LT,
            (true, false, true) => Op::GE,
            (true, false, false) => Op::UGE,
            (false, true, _) => Op::LE,
            (false, false, true) => Op::GT,
            (false, false, false) => Op::UGT,
        };
        self.other_branch(pc, yes != negated)?;
        self.b.emit(op, if ints { Ty::Int } else { Ty::Num }, x, y)?;
        Ok(Flow::Next)
    }

    /// ISEQV to ISNEP.
    pub(super) fn equality(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let (x, vx) = self.operand(vm, ins.a())?;
        let (y, vy) = match ins.op() {
            Bc::ISEQV | Bc::ISNEV => self.operand(vm, ins.d())?,
            Bc::ISEQS | Bc::ISNES => self.kgc_operand(ins.d())?,
            Bc::ISEQN | Bc::ISNEN => self.knum_operand(ins.d())?,
            _ => {
                let v = [Value::NIL, Value::FALSE, Value::TRUE][ins.d().min(2)];
                (self.b.kvalue(v), v)
            }
        };
        let negated = matches!(ins.op(), Bc::ISNEV | Bc::ISNES | Bc::ISNEN | Bc::ISNEP);
        if vx.is_cdata() || vy.is_cdata() {
            if self.cdata_compare(vm, pc, (MM::Eq, negated), (x, vx), (y, vy))? {
                return Ok(Flow::Next);
            }
            let f = self.cdata_method(vm, MM::Eq, &[(x, vx), (y, vy)])?.ok_or(Abort::BadType)?;
            return self.call_equal(vm, negated, f, (x, vx), (y, vy));
        }
        let yes = vx.raw_equals(vy);
        let (tx, ty) = (self.ty(x), self.ty(y));
        if tx.is_number() && ty.is_number() {
            let ints = tx.is_int() && ty.is_int();
            let (x, y) = if ints { (x, y) } else { (self.to_num(x)?, self.to_num(y)?) };
            self.other_branch(pc, yes != negated)?;
            self.b.emit(if yes { Op::EQ } else { Op::NE }, if ints { Ty::Int } else { Ty::Num }, x, y)?;
            return Ok(Flow::Next);
        }
        if tx != ty || tx.is_pri() {
            // The types decide.
            return Ok(Flow::Next);
        }
        if yes && (vx.is_table() || vx.is_udata()) && !is_injected(Fault::EqualByMetamethod) {
            // Other values may be equal by a metamethod: an exit executes the instruction again.
            self.snap(pc)?;
            self.b.compare(Op::EQ, x, y)?;
            return Ok(Flow::Next);
        }
        if !yes && (vx.is_table() || vx.is_udata()) {
            self.b.compare(Op::NE, x, y)?;
            return match self.equal_method(vm, negated, (x, vx), (y, vy))? {
                Some(flow) => Ok(flow),
                None => Ok(Flow::Next),
            };
        }
        self.other_branch(pc, yes != negated)?;
        self.b.compare(if yes { Op::EQ } else { Op::NE }, x, y)?;
        Ok(Flow::Next)
    }

    /// ISTC to ISF: types decide.
    pub(super) fn test(&mut self, vm: &Vm, ins: Ins) -> Rec<()> {
        let (r, v) = self.operand(vm, ins.d())?;
        let copies = match ins.op() {
            Bc::ISTC => v.truthy(),
            Bc::ISFC => !v.truthy(),
            _ => false,
        };
        if copies {
            self.set(ins.a(), r);
        }
        Ok(())
    }

    /// An object constant.
    pub(super) fn kgc_operand(&mut self, i: usize) -> Rec<(IrRef, Value)> {
        let v = self.proto.kgc(i).ok_or(Abort::Error)?;
        Ok((self.b.kgc(v), v))
    }
    /// A number constant.
    pub(super) fn knum_operand(&mut self, i: usize) -> Rec<(IrRef, Value)> {
        let v = self.proto.knum(i).ok_or(Abort::Error)?;
        Ok((self.b.kvalue(v), v))
    }
}
