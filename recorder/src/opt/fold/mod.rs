//! FOLD: rewriting an instruction according to its operands.
//!
//! Rules live in one file per family; each is a line of algebra and the code for it. A rule looks at the instruction and at most a few
//! levels of operands. Rules hold bit for bit: on nums only what IEEE guarantees (all NaNs count as equal), on ints modulo 2^32, or exactly
//! for the operations that check for overflow.

pub mod applied;
mod arith;
mod bits;
mod cdata;
mod compare;
pub(super) mod convert;
mod equal;
mod memory;
pub mod range;
mod string;
mod word;

use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty};

/// The result of a rule.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Fold {
    /// No rule applies.
    Keep,
    /// This is its value.
    Ref(IrRef),
    /// Another instruction computes the same: it is folded next.
    Retry(Ins),
    /// It has no value and is superfluous.
    Drop,
    /// It is a guard that always fails.
    Fail,
}

pub(crate) type Rule = Result<Fold, Abort>;

/// Limit of rewrites of one instruction, in case rules undo each other's work.
const MAX_STEPS: usize = 20;

/// Folds an instruction: what to emit instead, or the reference that has its value already.
pub(crate) fn fold(b: &mut IrBuffer, ins: Ins) -> Result<Result<Ins, IrRef>, Abort> {
    let mut ins = ins;
    for _ in 0..MAX_STEPS {
        ins = canonical(ins);
        match rules(b, ins)? {
            Fold::Keep => break,
            Fold::Ref(r) => {
                rely_on_operands(b, ins, r)?;
                return Ok(Err(r));
            }
            Fold::Retry(other) => ins = other,
            Fold::Drop => {
                rely_on_operands(b, ins, IrRef::NONE)?;
                return Ok(Err(IrRef::NONE));
            }
            Fold::Fail => return Err(Abort::GuardAlwaysFails),
        }
    }
    Ok(Ok(ins))
}

/// An instruction has the value `r` because its operands are ints: those that `r` is not made of are checked also if nothing else uses them.
fn rely_on_operands(b: &mut IrBuffer, ins: Ins, r: IrRef) -> Result<(), Abort> {
    // A sum or product is its own low bits if it is an int.
    let is_narrowed = ins.op == Op::CONV && ins.ty.is_int() && b.ty(ins.a).is_word();
    let is_own_bits = ins.op == Op::TOBIT || (Op::BNOT..=Op::BROR).contains(&ins.op) || is_narrowed;
    if is_own_bits && !r.is_const() {
        range::rely(b, r)?;
    }
    for operand in ins.operands() {
        let leads_to_it = operand == r || b.def(operand).is_some_and(|i| i.operands().any(|o| o == r));
        if !leads_to_it {
            range::rely(b, operand)?;
        }
    }
    Ok(())
}

/// Puts the operands into a fixed order: the newer one left, constants right.
#[inline]
fn canonical(mut ins: Ins) -> Ins {
    if ins.a < ins.b {
        if ins.op.is_commutative() {
            core::mem::swap(&mut ins.a, &mut ins.b);
        } else if ins.op.is_comparison() {
            // a < b  =>  b > a
            core::mem::swap(&mut ins.a, &mut ins.b);
            ins.op = Op::ALL[ins.op as usize ^ 3];
        }
    }
    ins
}

#[inline]
fn rules(b: &mut IrBuffer, ins: Ins) -> Rule {
    match ins.op {
        Op::LT | Op::GE | Op::LE | Op::GT | Op::ULT | Op::UGE | Op::ULE | Op::UGT => compare::order(b, ins),
        Op::EQ | Op::NE => equal::equal(b, ins),
        Op::ABC => compare::bounds(b, ins),
        Op::BNOT | Op::BSWAP | Op::BAND | Op::BOR | Op::BXOR if ins.ty.is_word() => word::arith(b, ins),
        Op::BSHL | Op::BSHR | Op::BSAR | Op::BROL | Op::BROR if ins.ty.is_word() => word::arith(b, ins),
        Op::BNOT | Op::BSWAP | Op::BAND | Op::BOR | Op::BXOR => bits::logic(b, ins),
        Op::BSHL | Op::BSHR | Op::BSAR | Op::BROL | Op::BROR => bits::shift(b, ins),
        Op::ADD | Op::SUB | Op::MUL | Op::DIV | Op::MOD | Op::POW | Op::NEG | Op::ABS | Op::LDEXP | Op::MIN | Op::MAX => {
            match ins.ty {
                ty if ty.is_word() => word::arith(b, ins),
                Ty::Num => arith::num(b, ins),
                Ty::Int => arith::int(b, ins),
                _ => Ok(Fold::Keep),
            }
        }
        Op::ADDOV | Op::SUBOV | Op::MULOV => arith::checked(b, ins),
        Op::FPMATH => arith::math(b, ins),
        Op::CONV => convert::conv(b, ins),
        Op::TOBIT => convert::tobit(b, ins),
        Op::HREF | Op::NEWREF => memory::key(b, ins),
        Op::HLOAD => memory::load(b, ins),
        Op::TBAR | Op::OBAR => memory::barrier(b, ins),
        Op::FLOAD if b.ty(ins.a) == Ty::Cdata => cdata::field(b, ins),
        Op::FLOAD => string::field(b, ins),
        Op::STRREF => string::reference(b, ins),
        Op::SNEW => string::new(b, ins),
        Op::XLOAD => string::byte(b, ins),
        Op::STRTO => string::number(b, ins),
        Op::BUFPUT | Op::BUFSTR => string::buffer(b, ins),
        Op::CALLN => string::call(b, ins),
        _ => Ok(Fold::Keep),
    }
}

/// The result is a reference that has the value already.
#[track_caller]
pub(crate) fn is(r: IrRef) -> Rule {
    applied::note();
    Ok(Fold::Ref(r))
}
/// The result is another instruction with the same value.
#[track_caller]
pub(crate) fn like(op: Op, ty: Ty, a: IrRef, b: IrRef) -> Rule {
    applied::note();
    Ok(Fold::Retry(Ins::new(op, ty, a, b)))
}
/// The result is another instruction with the same value.
#[track_caller]
pub(crate) fn again(ins: Ins) -> Rule {
    applied::note();
    Ok(Fold::Retry(ins))
}
/// The result of a guard that always holds, or never.
#[track_caller]
pub(crate) fn holds(yes: bool) -> Rule {
    applied::note();
    Ok(if yes { Fold::Drop } else { Fold::Fail })
}

impl IrBuffer {
    /// The instruction that a reference names, if a rule may combine it with its user. In a loop's body a rule may combine with an
    /// instruction before LOOP only if that does not make its operands loop-carried as well.
    #[inline]
    pub(crate) fn inner(&self, r: IrRef) -> Option<Ins> {
        let head = self.newest(Op::LOOP);
        if head != IrRef::NONE && r < head { None } else { self.def(r) }
    }
    /// The instruction that a reference names, if it has this operation.
    #[inline]
    pub(crate) fn is_op(&self, r: IrRef, op: Op) -> Option<Ins> {
        self.def(r).filter(|i| i.op == op)
    }
    /// The int that a num reference is converted from.
    #[inline]
    pub(crate) fn int_source(&self, r: IrRef) -> Option<IrRef> {
        self.is_op(r, Op::CONV).filter(|i| i.b.0 == crate::ir::conv::NUM_INT).map(|i| i.a)
    }
}
