//! The verifier: the conditions of a well-formed trace.
//!
//! References name earlier instructions; types fit the operation; snapshots are in order and name values that exist where they first apply;
//! every guard has a snapshot; there is at most one LOOP; PHIs are at the end and carry one type from the body to the part before LOOP.

use super::print::{ByOrder, print_ins};
use super::{Const, FpMath, Ins, IrRef, Mode, Op, SlotIdx, Trace, Ty, conv};
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;

/// A violation of a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The instruction.
    pub at: usize,
    /// The violation.
    pub what: String,
}

impl core::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.what)
    }
}
impl core::error::Error for VerifyError {}

type Res = Result<(), String>;

/// Checks a trace.
pub fn verify(trace: &Trace) -> Result<(), VerifyError> {
    let v = Verifier { t: trace, head: trace.ins.iter().position(|i| i.op == Op::LOOP) };
    let in_trace = |what: String| VerifyError { at: 0, what };
    v.constants().map_err(in_trace)?;
    for i in 0..trace.ins.len() {
        v.instruction(i).map_err(|what| {
            let text = print_ins(trace, i, &ByOrder(trace));
            VerifyError { at: i, what: format!("{what}: {}", text.trim_end()) }
        })?;
    }
    v.snapshots().map_err(in_trace)
}

/// Checks a recorded trace for guards behind effects. A guard leaves to its snapshot, from where everything is executed again: nothing in
/// between may have an effect.
pub fn verify_effects(trace: &Trace) -> Result<(), VerifyError> {
    let mut snaps = trace.snaps.iter().map(|s| s.at.ins_index()).peekable();
    let mut effect = None;
    for (i, &ins) in trace.ins.iter().enumerate() {
        while snaps.next_if(|&at| at <= i).is_some() {
            effect = None;
        }
        if let Some(e) = effect.filter(|e| ins.is_guard() && !(ins.a == IrRef::of_ins(*e) && trace.asks_if_done(ins))) {
            let text = |i| print_ins(trace, i, &ByOrder(trace));
            let what = format!("guard behind an effect: {} after {}", text(i).trim_end(), text(e).trim_end());
            return Err(VerifyError { at: i, what });
        }
        if has_effect(ins) {
            effect = Some(i);
        }
    }
    Ok(())
}

/// Does an instruction change what other code sees, so that it cannot be executed again?
fn has_effect(ins: Ins) -> bool {
    match ins.op {
        Op::ASTORE | Op::HSTORE | Op::USTORE | Op::FSTORE | Op::XSTORE | Op::CALLXS => true,
        Op::CALLS => Helper::ALL.get(usize::from(ins.b.0)).is_some_and(|h| changes(*h)),
        _ => false,
    }
}

/// The same for helpers. Those that are left out read, make room, write barriers, or write what nobody reads before it is written again.
fn changes(helper: Helper) -> bool {
    use Helper as H;
    let tables = [H::TabClear, H::TabInsert, H::TabRemove, H::TabSetList];
    let buffers = [H::BufferPut, H::BufferPutInt, H::BufferPutNum, H::BufferPutPart, H::BufferPutBytes, H::BufferPutBuffer];
    let others = [H::BufferCommit, H::BufferSkip, H::BufferReset, H::BufferSet, H::Random, H::CdataFinalizer, H::SetErrno];
    let memory = [H::MemCopy, H::MemFill, H::MemRepeat];
    tables.contains(&helper) || buffers.contains(&helper) || others.contains(&helper) || memory.contains(&helper)
}

struct Verifier<'a> {
    t: &'a Trace,
    head: Option<usize>,
}

fn check(ok: bool, what: &str) -> Res {
    if ok { Ok(()) } else { Err(what.into()) }
}

/// Do the types have one representation, so that a value of one may be used as the other?
fn fits(ty: Ty, wanted: Ty) -> bool {
    ty == wanted || ty.is_int() && wanted.is_int() || (ty.is_word() || ty == Ty::LightUd) && wanted.is_word()
}

/// Does CONV take or make values of the type?
fn scalar(ty: Ty) -> bool {
    ty.is_int() || ty.is_word() || ty.is_float()
}

/// The type of the operands of a bit operation.
fn bits(ty: Ty) -> Ty {
    if ty.is_word() { ty } else { Ty::Int }
}

impl Verifier<'_> {
    fn constants(&self) -> Res {
        let pri = [Const::Pri(Ty::Nil), Const::Pri(Ty::False), Const::Pri(Ty::True)];
        check(self.t.consts.starts_with(&pri), "constants do not start with nil, false, true")?;
        for k in &self.t.consts {
            match k {
                Const::Slot(key, _) => check(self.t.konst(*key).is_some(), "the key of a node is no constant")?,
                Const::Gc(v) => check(v.is_gc() || Ty::of_value(*v) == Ty::LightUd, "an object constant is no object")?,
                _ => {}
            }
        }
        Ok(())
    }

    fn defined(&self, r: IrRef, before: usize) -> Res {
        if r.is_const() {
            return check(self.t.konst(r).is_some(), "operand is no constant");
        }
        check(r.ins_index() < before, "operand is used before it is defined")?;
        check(self.t.ins[r.ins_index()].op != Op::NOP, "operand is a NOP")
    }

    fn instruction(&self, i: usize) -> Res {
        let ins = self.t.ins[i];
        check((i == 0) == (ins.op == Op::BASE), "BASE is not where it belongs")?;
        check(!(Op::KPRI..=Op::KSLOT).contains(&ins.op), "constant among the instructions")?;
        for (mode, r) in [(ins.op.mode_a(), ins.a), (ins.op.mode_b(), ins.b)] {
            let optional = r == IrRef::NONE && matches!(ins.op, Op::ALEN | Op::TOBIT | Op::SNEW) && r == ins.b;
            if mode == Mode::Ref && !optional {
                self.defined(r, i)?;
            }
        }
        let known =
            matches!(ins.op, Op::ADDOV | Op::SUBOV | Op::MULOV | Op::UREFO | Op::UREFC | Op::HREFK | Op::STRTO | Op::RETF);
        let must_guard = ins.op.is_guard() && !known;
        check(!must_guard || ins.is_guard(), "guard without the guard bit")?;
        if ins.is_guard() {
            check(self.t.snaps.first().is_some_and(|s| s.at.ins_index() <= i), "guard without a snapshot")?;
        }
        self.types(ins)?;
        self.structure(i, ins)
    }

    fn operand(&self, r: IrRef, wanted: Ty, what: &str) -> Res {
        let ty = self.t.ty(r);
        if fits(ty, wanted) {
            return Ok(());
        }
        let (ty, wanted) = (Ty::NAMES[ty as usize], Ty::NAMES[wanted as usize]);
        Err(format!("{what} operand is {ty}, not {wanted}"))
    }
    fn left(&self, ins: Ins, ty: Ty) -> Res {
        self.operand(ins.a, ty, "left")
    }
    fn both(&self, ins: Ins, a: Ty, b: Ty) -> Res {
        self.left(ins, a)?;
        self.operand(ins.b, b, "right")
    }
    fn result(&self, ins: Ins, ty: Ty) -> Res {
        check(ins.ty == ty, &format!("type is not {}", Ty::NAMES[ty as usize].trim_end()))
    }
    fn is(&self, r: IrRef, ops: &[Op], what: &str) -> Res {
        check(self.t.def(r).is_some_and(|i| ops.contains(&i.op)), what)
    }

    fn types(&self, ins: Ins) -> Res {
        match ins.op {
            op if op.is_comparison() => {
                if ins.ty.is_pri() {
                    return check(self.t.ty(ins.a).is_pri() && self.t.ty(ins.b).is_pri(), "operands are no primitives");
                }
                self.both(ins, ins.ty, ins.ty)
            }
            Op::ABC => self.both(ins, Ty::Int, Ty::Int),
            Op::BNOT | Op::BSWAP => self.left(ins, bits(ins.ty)),
            Op::BAND | Op::BOR | Op::BXOR => self.both(ins, bits(ins.ty), bits(ins.ty)),
            Op::BSHL | Op::BSHR | Op::BSAR | Op::BROL | Op::BROR => self.both(ins, bits(ins.ty), Ty::Int),
            Op::ADD | Op::SUB | Op::MUL if ins.ty.is_word() => self.word_sum(ins),
            Op::ADD | Op::SUB | Op::MUL => self.both(ins, ins.ty, ins.ty),
            // On ints: floor(x / y), where y is positive.
            Op::DIV if ins.ty == Ty::Int => {
                check(!ins.b.is_const() || matches!(self.t.konst(ins.b), Some(Const::Int(1..))), "divisor is not positive")?;
                self.both(ins, Ty::Int, Ty::Int)
            }
            Op::DIV | Op::POW => {
                check(ins.ty == Ty::Num || ins.ty.is_word(), "type is neither num nor i64 nor u64")?;
                self.both(ins, ins.ty, ins.ty)
            }
            Op::MOD | Op::MIN | Op::MAX => self.both(ins, ins.ty, ins.ty),
            Op::NEG | Op::ABS => self.left(ins, ins.ty),
            Op::LDEXP => self.both(ins, Ty::Num, Ty::Int),
            Op::FPMATH => {
                check(usize::from(ins.b.0) < FpMath::NAMES.len(), "unknown function")?;
                self.left(ins, Ty::Num)
            }
            Op::ADDOV | Op::SUBOV | Op::MULOV => {
                self.result(ins, Ty::Int)?;
                self.both(ins, Ty::Int, Ty::Int)
            }
            Op::CONV => self.conversion(ins),
            Op::TOBIT => self.left(ins, Ty::Num),
            Op::TOSTR => self.left(ins, if ins.b.0 == 1 { Ty::Num } else { Ty::Int }),
            Op::STRTO => self.left(ins, Ty::Str),
            Op::CALLN | Op::CALLA | Op::CALLL | Op::CALLS => self.call(ins),
            _ => self.memory_types(ins),
        }
    }

    /// ADD, SUB, MUL on words. The address of what is inside an object begins with the object itself.
    fn word_sum(&self, ins: Ins) -> Res {
        let (left, right) = (self.t.ty(ins.a), self.t.ty(ins.b));
        // A light userdata is a word, and an address.
        let object = |ty: Ty| ty == Ty::LightUd || ins.ty == Ty::P64 && ins.op == Op::ADD && ty.is_gc();
        check(left.is_word() || object(left), "left operand is no word")?;
        check(right.is_word() || right.is_int() || object(right), "right operand is neither word nor int")
    }

    /// CNEW and CNEWI.
    fn new_cdata(&self, ins: Ins) -> Res {
        self.result(ins, Ty::Cdata)?;
        let constant = |r: IrRef| matches!(self.t.konst(r), Some(Const::Int(_)));
        check(constant(ins.a), "left operand is no number of a ctype")?;
        match ins.op {
            Op::CNEW => check(constant(ins.b), "right operand is no constant size"),
            _ => check(scalar(self.t.ty(ins.b)) || self.t.ty(ins.b) == Ty::LightUd, "right operand is no scalar"),
        }
    }

    /// CALLXS.
    fn foreign_call(&self, ins: Ins) -> Res {
        let passed = |r: IrRef| scalar(self.t.ty(r));
        let function = match self.t.def(ins.b).filter(|i| i.op == Op::CARG) {
            Some(carg) => {
                check(matches!(self.t.konst(carg.b), Some(Const::Int(_))), "right operand has no number of a ctype")?;
                carg.a
            }
            None => ins.b,
        };
        self.operand(function, Ty::P64, "right")?;
        let mut rest = ins.a;
        while let Some(carg) = self.t.def(rest).filter(|i| i.op == Op::CARG) {
            check(passed(carg.b), "argument is no scalar")?;
            rest = carg.a;
        }
        check(rest == IrRef::NIL || passed(rest), "argument is no scalar")
    }

    fn memory_types(&self, ins: Ins) -> Res {
        match ins.op {
            Op::AREF => self.both(ins, Ty::P64, Ty::Int),
            Op::HREFK => {
                check(matches!(self.t.konst(ins.b), Some(Const::Slot(..))), "right operand is no key and node")?;
                self.left(ins, Ty::P64)
            }
            Op::HREF | Op::NEWREF | Op::TBAR | Op::TDUP | Op::ALEN => self.left(ins, Ty::Tab),
            Op::UREFO | Op::UREFC => self.left(ins, Ty::Func),
            Op::STRREF => self.both(ins, Ty::Str, Ty::Int),
            Op::FLOAD => match Field::ALL.get(usize::from(ins.b.0)) {
                Some(f) => self.result(ins, Ty::of_abi(f.ty())),
                None => Err("unknown field".into()),
            },
            Op::FREF => check(usize::from(ins.b.0) < Field::ALL.len(), "unknown field"),
            Op::ALOAD | Op::HLOAD | Op::ULOAD | Op::VLOAD | Op::XLOAD | Op::OBAR => self.left(ins, Ty::P64),
            Op::ASTORE | Op::HSTORE | Op::USTORE => {
                self.left(ins, Ty::P64)?;
                check(fits(self.t.ty(ins.b), ins.ty), "the stored value has another type")
            }
            Op::FSTORE => self.is(ins.a, &[Op::FREF], "left operand is no field"),
            Op::XSTORE => {
                self.left(ins, Ty::P64)?;
                check(fits(self.t.ty(ins.b), ins.ty), "the stored value has another type")
            }
            Op::CNEW | Op::CNEWI => self.new_cdata(ins),
            Op::CALLXS => self.foreign_call(ins),
            Op::SNEW | Op::XSNEW => self.both(ins, Ty::P64, Ty::Int),
            Op::BUFPUT | Op::BUFNUM | Op::BUFFMT | Op::BUFSTR => {
                self.is(ins.a, &[Op::BUFHDR, Op::BUFPUT, Op::BUFNUM, Op::BUFFMT], "left operand is no buffer")?;
                match ins.op {
                    Op::BUFPUT => self.operand(ins.b, Ty::Str, "right"),
                    Op::BUFNUM => check(self.t.ty(ins.b).is_number(), "right operand is no number"),
                    Op::BUFFMT => self.call(self.t.formatting(ins)),
                    _ => Ok(()),
                }
            }
            Op::RETF => {
                let ok = matches!(self.t.konst(ins.b), Some(Const::Ptr(_)));
                check(ok && self.t.ty(ins.a) == Ty::Proto, "operands are no prototype and return address")
            }
            Op::COROOM => self.left(ins, Ty::Thread),
            Op::RESUME | Op::YIELD | Op::COEND => {
                check(matches!(self.t.konst(ins.b), Some(Const::Ptr(_))), "right operand is no return address")?;
                self.left(ins, Ty::Thread)
            }
            _ => Ok(()),
        }
    }

    fn conversion(&self, ins: Ins) -> Res {
        let ty = |n: u16| Ty::ALL.get(usize::from(n & 31)).copied().ok_or("unknown type");
        let (src, dst) = (ty(ins.b.0)?, ty(ins.b.0 >> 5)?);
        check(fits(ins.ty, dst), "type is not that of the conversion")?;
        check(scalar(src) && scalar(dst), "conversion of what is no scalar")?;
        let exact = dst == Ty::Int && ins.b.0 & conv::MODE >= conv::INDEX;
        check(!exact || ins.is_guard(), "exact conversion without the guard bit")?;
        self.left(ins, src)
    }

    fn call(&self, ins: Ins) -> Res {
        let helper = Helper::ALL.get(usize::from(ins.b.0)).ok_or("unknown helper")?;
        self.result(ins, Ty::of_abi(helper.ret()))?;
        check(!helper.may_fail() || ins.is_guard(), "call that may fail without the guard bit")?;
        let params = helper.args();
        if params.is_empty() {
            return check(ins.a == IrRef::NIL, "arguments where none belong");
        }
        let mut rest = ins.a;
        for (n, &param) in params.iter().enumerate().rev() {
            let arg = if n == 0 {
                rest
            } else {
                let carg = self.t.def(rest).filter(|i| i.op == Op::CARG).ok_or("too few arguments")?;
                rest = carg.a;
                carg.b
            };
            check(self.t.def(arg).is_none_or(|i| i.op != Op::CARG), "too many arguments")?;
            let ty = Ty::of_abi(param);
            if ty != Ty::U64 {
                self.operand(arg, ty, "argument")?;
            }
        }
        Ok(())
    }

    fn structure(&self, i: usize, ins: Ins) -> Res {
        match ins.op {
            Op::LOOP => check(self.head == Some(i), "more than one LOOP"),
            Op::PHI => {
                let head = self.head.ok_or("PHI without LOOP")?;
                check(!ins.a.is_const() && ins.a.ins_index() < head, "left operand is not from before LOOP")?;
                check(self.t.ins[i..].iter().all(|i| matches!(i.op, Op::PHI | Op::NOP)), "PHI is not at the end")?;
                let twice = self.t.ins[i + 1..].iter().any(|p| p.op == Op::PHI && p.a == ins.a);
                check(!twice, "two PHIs of one value")?;
                check(!ins.ty.is_pri(), "PHI of a primitive")?;
                self.both(ins, ins.ty, ins.ty)
            }
            _ => Ok(()),
        }
    }

    fn snapshots(&self) -> Res {
        let mut last = IrRef::BASE;
        for (k, snap) in self.t.snaps.iter().enumerate() {
            let here = |what: &str| format!("snapshot {k}: {what}");
            check(snap.at >= last && snap.at.ins_index() <= self.t.ins.len(), &here("out of order"))?;
            last = snap.at;
            check(snap.base_slot >= SlotIdx::BASE, &here("base slot is not a base"))?;
            check(snap.slots.is_sorted_by(|a, b| a.slot < b.slot), &here("slots are out of order"))?;
            for s in &snap.slots {
                self.defined(s.value, snap.at.ins_index()).map_err(|what| format!("snapshot {k}, slot {}: {what}", s.slot))?;
                let carries = self.t.def(s.value).is_none_or(|i| i.op != Op::CARG && i.op != Op::BASE);
                check(carries, &here("slot without a value"))?;
            }
        }
        Ok(())
    }
}
