//! One bytecode: dispatches to the code that records it (LuaJIT's `lj_record_ins`).

use super::call::CallSite;
use super::index::Indexed;
use super::loops::{Event, link_to};
use super::{Flow, Rec, Recorder, TraceDb, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, Ty};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::interp::cont;
use perilune_vm::interp::hook::is_header;
use perilune_vm::layout::Field;
use perilune_vm::meta::MM;
use perilune_vm::object::InsPtr;
use perilune_vm::{Value, Vm};

/// The metamethod of an arithmetic instruction.
fn metamethod(op: Bc) -> MM {
    match op {
        Bc::ADDVN | Bc::ADDNV | Bc::ADDVV => MM::Add,
        Bc::SUBVN | Bc::SUBNV | Bc::SUBVV => MM::Sub,
        Bc::MULVN | Bc::MULNV | Bc::MULVV => MM::Mul,
        Bc::DIVVN | Bc::DIVNV | Bc::DIVVV => MM::Div,
        Bc::MODVN | Bc::MODNV | Bc::MODVV => MM::Mod,
        _ => MM::Pow,
    }
}

impl Recorder {
    pub(super) fn dispatch(&mut self, vm: &mut Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        // No exit resumes at the header of a function.
        let header = is_header(ins.op());
        if (self.snaps.needed || self.fuel.is_due) && !header {
            self.snap(pc)?;
            self.take_fuel()?;
            self.sync()?;
        }
        if !header {
            self.check_exits(vm, db, pc, ins)?;
        }
        if ins.op() == Bc::CAT && self.concat_constants(vm, ins)? {
            return Ok(Flow::Next);
        }
        let vm = &*vm;
        match ins.op() {
            Bc::ISLT | Bc::ISGE | Bc::ISLE | Bc::ISGT => return self.order(vm, pc, ins),
            Bc::ISEQV | Bc::ISNEV | Bc::ISEQS | Bc::ISNES | Bc::ISEQN | Bc::ISNEN | Bc::ISEQP | Bc::ISNEP => {
                return self.equality(vm, pc, ins);
            }
            Bc::ISTC | Bc::ISFC | Bc::IST | Bc::ISF => self.test(vm, ins)?,
            Bc::ISTYPE | Bc::ISNUM | Bc::JMP | Bc::MOV | Bc::NOT | Bc::UNM | Bc::LEN => return self.unary(vm, ins),
            op if (Bc::ADDVN..=Bc::POW).contains(&op) => return self.arithmetic(vm, ins),
            op if (Bc::BNOT..=Bc::BSAR).contains(&op) => self.bits(vm, ins)?,
            Bc::CAT => return self.cat(vm, ins),
            op if (Bc::KSTR..=Bc::KNIL).contains(&op) => self.constant(ins)?,
            Bc::UGET | Bc::USETV | Bc::USETS | Bc::USETN | Bc::USETP => self.upvalue(vm, ins)?,
            Bc::FNEW => self.fnew(vm, ins)?,
            Bc::UCLO => self.uclo(vm, pc, ins)?,
            Bc::TNEW => self.tnew(ins)?,
            Bc::TDUP => self.tdup(ins)?,
            Bc::TSETM => self.tsetm(vm, pc, ins)?,
            op if (Bc::GGET..=Bc::TSETR).contains(&op) => return self.table(vm, ins),
            Bc::CALL | Bc::CALLM => {
                if let Some(result) = self.native.selected.take() {
                    self.place_builtin(ins.a(), &[result], ins.b());
                    return Ok(Flow::Next);
                }
                let nargs = self.call_args(vm, ins);
                self.load_args(vm, ins.a() + 2, nargs)?;
                return self.call(vm, CallSite { pc, a: ins.a(), nargs, want: ins.b() });
            }
            Bc::CALLT | Bc::CALLMT => return self.tail_call(vm, pc, ins),
            Bc::VARG => self.varg(vm, pc, ins)?,
            Bc::RETM | Bc::RET | Bc::RET0 | Bc::RET1 => return self.ret(vm, pc, ins),
            _ => return self.control(vm, db, pc, ins),
        }
        Ok(Flow::Next)
    }

    fn control(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        match ins.op() {
            Bc::FORI => {
                let event = self.fori(vm, pc, ins)?;
                Ok(self.loop_begins(view::at(view::target(pc, ins), -1), event))
            }
            Bc::JFORI => {
                let event = self.fori(vm, pc, ins)?;
                let forl = view::at(view::target(pc, ins), -1);
                match forl.ins() {
                    f if f.op() == Bc::JFORL && !self.unrolls_compiled(vm, db, forl) => self.enter_compiled(db, forl, event),
                    _ => Ok(self.loop_begins(forl, event)),
                }
            }
            // A blacklisted loop may still be part of another trace.
            Bc::FORL | Bc::IFORL => {
                let event = self.forl(vm, pc, ins)?;
                self.loop_plain(vm, db, pc, ins, event)
            }
            Bc::JFORL => {
                let event = self.forl(vm, pc, db.original_ins(ins))?;
                self.loop_compiled(vm, db, pc, event)
            }
            Bc::ITERL | Bc::IITERL => {
                let event = self.iterl(vm, pc, ins)?;
                self.loop_plain(vm, db, pc, ins, event)
            }
            Bc::JITERL => {
                let event = self.iterl(vm, pc, db.original_ins(ins))?;
                self.loop_compiled(vm, db, pc, event)
            }
            Bc::LOOP | Bc::ILOOP => {
                self.clear_from(self.base + ins.a());
                self.loop_plain(vm, db, pc, ins, Event::Enter(view::at(pc, 1)))
            }
            Bc::JLOOP => self.jloop(vm, db, pc, ins),
            Bc::ITERC => self.iterc(vm, pc, ins),
            Bc::ISNEXT => self.isnext(vm, ins),
            Bc::ITERN => self.itern_loop(vm, db, pc, ins),
            Bc::FUNCF | Bc::IFUNCF => self.func_header(vm, pc),
            Bc::JFUNCF => self.compiled_function(vm, db, pc, ins),
            Bc::FUNCV | Bc::IFUNCV => self.vararg_header(vm, pc),
            Bc::JFUNCV => self.compiled_function(vm, db, pc, ins),
            op => self.nyi(op),
        }
    }

    /// JLOOP: a LOOP or an ITERN that has a trace.
    fn jloop(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let original = db.original_ins(ins);
        if original.op() != Bc::ITERN {
            self.clear_from(self.base + original.a());
            return self.loop_compiled(vm, db, pc, Event::Enter(view::at(pc, 1)));
        }
        if self.start.is_root {
            if pc == self.start.pc && self.at_start_depth() || self.is_own_loop_above(pc) {
                return self.itern_loop(vm, db, pc, original);
            }
            if pc == self.start.pc && self.comes_round() {
                return Ok(self.close_round(pc));
            }
            if self.starts_in_loop() && !self.has_switched() {
                return Err(Abort::InnerLoop);
            }
        }
        if self.start.pending {
            // The parent trace was left here: one step is recorded to see whether the loop continues.
            self.itern(vm, original)?;
            return Ok(Flow::Next);
        }
        Ok(Flow::Stop(link_to(ins)?, pc))
    }
    fn itern_loop(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        if self.start.is_root && pc == self.start.pc && self.at_start_depth() && !self.start.pending {
            return Ok(Flow::Stop(Link::Loop, pc));
        }
        if pc == self.start.pc && self.comes_round() {
            return Ok(self.close_round(pc));
        }
        if self.is_own_loop_above(pc) {
            // The trace of this loop begins before the step.
            return Ok(Flow::Stop(Link::UpRec, pc));
        }
        if self.ends_at(vm, ins) {
            // Where there is another entry after all, it is in the slots already: they may not be read by what comes before.
            self.snap(pc)?;
        }
        let more = self.itern(vm, ins)?;
        if self.start.is_root && pc == self.start.pc && self.at_start_depth() {
            return if more { Ok(Flow::Next) } else { Err(Abort::LeavingLoop) };
        }
        let iterl = view::at(pc, 1);
        let event = if more { Event::Enter(view::target(iterl, iterl.ins())) } else { Event::Leave };
        self.loop_plain(vm, db, pc, iterl.ins(), event)
    }
    /// Records another iteration from the ITERN that the trace started at, since the loop could not be closed.
    pub(super) fn itern_again(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr) -> Rec<()> {
        let ins = pc.ins();
        let ins = if ins.op() == Bc::JLOOP { db.original_ins(ins) } else { ins };
        if self.itern(vm, ins)? { Ok(()) } else { Err(Abort::LeavingLoop) }
    }
    /// JFUNCF, JFUNCV: links to the function's trace, unless that only returns.
    fn compiled_function(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let link = link_to(ins)?;
        let flow = if ins.op() == Bc::JFUNCV { self.vararg_header(vm, pc)? } else { self.func_header(vm, pc)? };
        if ins.trace().and_then(|n| db.link_of(n)) == Some(Link::Return) {
            return Ok(flow);
        }
        Ok(Flow::Stop(link, view::at(pc, 1)))
    }

    fn unary(&mut self, vm: &Vm, ins: Ins) -> Rec<Flow> {
        if matches!(ins.op(), Bc::ISTYPE | Bc::ISNUM | Bc::JMP) {
            return Ok(Flow::Next);
        }
        let x = self.operand(vm, ins.d())?;
        let r = match ins.op() {
            Bc::MOV => x.0,
            Bc::NOT => self.b.kvalue(Value::bool(!x.1.truthy())),
            Bc::UNM if perilune_vm::meta::to_number(x.1).is_some() => self.unm(x)?,
            Bc::UNM => return self.arith_method(vm, MM::Unm, x, x),
            Bc::LEN if x.1.is_str() => self.field(x.0, Field::StrLen)?,
            Bc::LEN if x.1.is_table() => self.b.emit(Op::ALEN, Ty::Int, x.0, IrRef::NIL)?,
            Bc::LEN => {
                let f = match self.cdata_method(vm, MM::Len, &[x])? {
                    Some(f) => f,
                    None => self.metamethod(vm, x, MM::Len)?,
                };
                return self.call_metamethod(vm, f, &[x, (IrRef::NIL, Value::NIL)], cont::TO_A);
            }
            op => return self.nyi(op),
        };
        self.set(ins.a(), r);
        Ok(Flow::Next)
    }

    fn arithmetic(&mut self, vm: &Vm, ins: Ins) -> Rec<Flow> {
        let mm = metamethod(ins.op());
        let x = self.operand(vm, ins.b())?;
        let (x, y) = match ins.op() {
            Bc::ADDVN | Bc::SUBVN | Bc::MULVN | Bc::DIVVN | Bc::MODVN => (x, self.knum_operand(ins.c())?),
            Bc::ADDNV | Bc::SUBNV | Bc::MULNV | Bc::DIVNV | Bc::MODNV => (self.knum_operand(ins.c())?, x),
            _ => (x, self.operand(vm, ins.c())?),
        };
        let arith = |v: Value| perilune_vm::meta::to_number(v).is_some();
        if !arith(x.1) || !arith(y.1) {
            return self.arith_method(vm, mm, x, y);
        }
        let r = self.arith(mm, x, y)?;
        self.set(ins.a(), r);
        Ok(Flow::Next)
    }

    fn bits(&mut self, vm: &Vm, ins: Ins) -> Rec<()> {
        let number = |v: Value| v.is_number();
        if ins.op() == Bc::BNOT {
            let (r, v) = self.operand(vm, ins.d())?;
            if v.is_cdata() {
                let r = self.wide_logic(vm, Op::BNOT, &[(r, v)])?;
                self.set(ins.a(), r);
                return Ok(());
            }
            if !number(v) {
                return self.nyi(ins.op());
            }
            let r = self.to_bits(r, v)?;
            let r = self.b.emit(Op::BNOT, Ty::Int, r, IrRef::NONE)?;
            self.set(ins.a(), r);
            return Ok(());
        }
        let (x, y) = (self.operand(vm, ins.b())?, self.operand(vm, ins.c())?);
        let op = match ins.op() {
            Bc::BAND => Op::BAND,
            Bc::BOR => Op::BOR,
            Bc::BXOR => Op::BXOR,
            Bc::BSHL => Op::BSHL,
            Bc::BSHR => Op::BSHR,
            _ => Op::BSAR,
        };
        let r = if x.1.is_cdata() || y.1.is_cdata() {
            match op {
                Op::BAND | Op::BOR | Op::BXOR => self.wide_logic(vm, op, &[x, y])?,
                _ => self.wide_shift(vm, op, x, y, true)?,
            }
        } else {
            if !number(x.1) || !number(y.1) {
                return self.nyi(ins.op());
            }
            let (x, y) = (self.to_bits(x.0, x.1)?, self.to_bits(y.0, y.1)?);
            self.b.emit(op, Ty::Int, x, y)?
        };
        self.set(ins.a(), r);
        Ok(())
    }

    fn constant(&mut self, ins: Ins) -> Rec<()> {
        let r = match ins.op() {
            Bc::KSTR | Bc::KCDATA => self.kgc_operand(ins.d())?.0,
            Bc::KSHORT => self.b.kint(i32::from(ins.d() as u16 as i16)),
            Bc::KNUM => self.knum_operand(ins.d())?.0,
            Bc::KPRI => [IrRef::NIL, IrRef::FALSE, IrRef::TRUE][ins.d().min(2)],
            Bc::KNIL => {
                for i in ins.a()..=ins.d() {
                    self.set(i, IrRef::NIL);
                }
                return Ok(());
            }
            op => return self.nyi(op),
        };
        self.set(ins.a(), r);
        Ok(())
    }

    fn upvalue(&mut self, vm: &Vm, ins: Ins) -> Rec<()> {
        let value = match ins.op() {
            Bc::UGET => {
                let r = self.uget(vm, ins.d())?;
                self.set(ins.a(), r);
                return Ok(());
            }
            Bc::USETV => self.operand(vm, ins.d())?,
            Bc::USETS => self.kgc_operand(ins.d())?,
            Bc::USETN => self.knum_operand(ins.d())?,
            _ => {
                let v = [Value::NIL, Value::FALSE, Value::TRUE][ins.d().min(2)];
                (self.b.kvalue(v), v)
            }
        };
        self.uset(vm, ins.a(), value)
    }

    fn table(&mut self, vm: &Vm, ins: Ins) -> Rec<Flow> {
        let (object, key) = match ins.op() {
            Bc::GGET | Bc::GSET => {
                let f = (self.func_of_globals(vm)?, view::func(vm, 0));
                let env = Value::table(f.1.env.get());
                ((self.environment(vm, f)?, env), self.kgc_operand(ins.d())?)
            }
            Bc::TGETS | Bc::TSETS => (self.operand(vm, ins.b())?, self.kgc_operand(ins.c())?),
            Bc::TGETB | Bc::TSETB => {
                let k = self.b.kint(ins.c() as i32);
                (self.operand(vm, ins.b())?, (k, Value::int(ins.c() as i32)))
            }
            Bc::TGETV | Bc::TSETV | Bc::TGETR | Bc::TSETR => (self.operand(vm, ins.b())?, self.operand(vm, ins.c())?),
            op => return self.nyi(op),
        };
        if matches!(ins.op(), Bc::GGET | Bc::TGETS | Bc::TGETB | Bc::TGETV | Bc::TGETR) {
            return match self.index(vm, object, key)? {
                Indexed::Value(r) => {
                    self.set(ins.a(), r);
                    Ok(Flow::Next)
                }
                Indexed::Call(f, object) => self.call_metamethod(vm, f, &[object, key], cont::TO_A),
            };
        }
        let value = self.operand(vm, ins.a())?;
        match self.set_index(vm, object, key, value)? {
            Some((f, object)) => self.call_metamethod(vm, f, &[object, key, value], cont::DROP),
            None => Ok(Flow::Next),
        }
    }
}
