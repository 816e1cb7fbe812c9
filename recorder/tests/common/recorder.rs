//! A recorder of the programs in `program`: emits what the statements do to the values they meet.

use super::program::{Arith, Bit, Cmp, MAX_LEN, Machine, Operand, Program, SLOTS, Stmt, arith, compare};
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::buffer::IrBuffer;
use perilune_recorder::ir::{FpMath, IrRef, Link, Op, SlotIdx, SnapSlot, Snapshot, Ty, VmRef, sload};
use perilune_recorder::opt::abc::{self, Induction};
use perilune_recorder::opt::narrow;
use perilune_vm::Value;
use perilune_vm::layout::Field;
use perilune_vm::object::{BcAddr, Gc, Table};

pub struct Recorder<'a> {
    pub b: IrBuffer,
    p: &'a Program,
    /// Reference of each slot's value, once it was read or written.
    slots: [IrRef; SLOTS + 1],
    /// Which slots were written.
    written: [bool; SLOTS + 1],
    /// The counter.
    induction: Option<Induction>,
    /// Must a snapshot be taken before the next guard?
    effect: bool,
    dense: bool,
}

type Res<T> = Result<T, Abort>;

impl<'a> Recorder<'a> {
    /// With `dense`, every statement has a snapshot; otherwise only what follows an effect.
    pub fn new(b: IrBuffer, p: &'a Program, dense: bool) -> Recorder<'a> {
        let none = [IrRef::NONE; SLOTS + 1];
        Recorder { b, p, slots: none, written: [false; SLOTS + 1], induction: None, effect: true, dense }
    }

    pub fn snapshot(&mut self, pc: usize) -> Res<()> {
        let mut slots = Vec::new();
        for (i, &value) in self.slots.iter().enumerate() {
            if self.written[i] {
                slots.push(SnapSlot { slot: SlotIdx::new(i), flags: 0, value });
            }
        }
        self.effect = false;
        self.b.add_snapshot(Snapshot {
            at: self.b.trace.next_ref(),
            base_slot: SlotIdx::BASE,
            nslots: SlotIdx::new(SLOTS + 1),
            pc: BcAddr::new(pc as u64),
            multres: 0,
            decides: false,
            fuel: 0,
            done: 0,
            slots,
        })
    }

    fn write(&mut self, slot: usize, r: IrRef) {
        self.slots[slot] = r;
        self.written[slot] = true;
    }

    /// The value of a slot, of the type that it has now.
    fn read(&mut self, m: &Machine<'_>, slot: usize) -> Res<IrRef> {
        if self.slots[slot] == IrRef::NONE {
            let ty = Ty::of_value(m.get(slot));
            self.slots[slot] = self.b.guard(Op::SLOAD, ty, IrRef(slot as u16), IrRef(sload::TYPECHECK))?;
            if ty.is_pri() {
                self.slots[slot] = self.b.kvalue(m.get(slot));
            }
        }
        Ok(self.slots[slot])
    }
    fn operand(&mut self, m: &Machine<'_>, o: Operand) -> Res<IrRef> {
        match o {
            Operand::Slot(s) => self.read(m, s),
            Operand::K(v) => Ok(self.b.kvalue(v)),
        }
    }
    fn num(&mut self, r: IrRef) -> Res<IrRef> {
        narrow::to_num(&mut self.b, r)
    }
    fn bits(&mut self, r: IrRef) -> Res<IrRef> {
        if self.b.ty(r).is_int() { Ok(r) } else { self.b.emit(Op::TOBIT, Ty::Int, r, IrRef::NIL) }
    }

    /// Emits the statement at `pc`, which is about to be executed and will not stop the program.
    pub fn statement(&mut self, m: &Machine<'_>, pc: usize) -> Res<()> {
        if self.dense || self.effect {
            self.snapshot(pc)?;
        }
        if self.induction.is_none() {
            let (idx, stop) = (self.read(m, self.p.counter)?, self.read(m, self.p.limit)?);
            let stop_now = m.get(self.p.limit).as_int().ok_or(Abort::BadType)?;
            self.induction = Some(Induction { idx, start: Some(0), stop, stop_now });
        }
        let Some(&stmt) = self.p.body.get(pc) else { return self.next_iteration(m, pc) };
        if !m.defined(stmt) {
            return self.undefined(m, stmt);
        }
        match stmt {
            Stmt::Move(d, x) => {
                let r = self.operand(m, x)?;
                self.write(d, r);
            }
            Stmt::Arith(op, d, x, y) => {
                let r = self.arith(m, op, x, y)?;
                self.write(d, r);
            }
            Stmt::Neg(d, x) => {
                let r = self.read(m, x)?;
                let zero = self.b.kint(0);
                let is_int = m.get(x).as_int().is_some_and(|i| i != 0 && i != i32::MIN);
                let r = if is_int {
                    self.b.compare(Op::NE, r, zero)?;
                    let min = self.b.kint(i32::MIN);
                    self.b.compare(Op::NE, r, min)?;
                    self.b.emit(Op::NEG, Ty::Int, r, IrRef::NONE)?
                } else {
                    let n = self.num(r)?;
                    if self.b.ty(r).is_int() {
                        let k = self.b.kint(m.get(x).as_int_unchecked());
                        self.b.compare(Op::EQ, r, k)?;
                    }
                    self.b.emit(Op::NEG, Ty::Num, n, IrRef::NONE)?
                };
                self.write(d, r);
            }
            Stmt::Floor(d, x) => {
                let r = self.read(m, x)?;
                let r =
                    if self.b.ty(r).is_int() { r } else { self.b.emit(Op::FPMATH, Ty::Num, r, IrRef(FpMath::Floor as u16))? };
                self.write(d, r);
            }
            Stmt::Bit(op, d, x, y) => {
                let (x, y) = (self.operand(m, x)?, self.operand(m, y)?);
                let (x, y) = (self.bits(x)?, self.bits(y)?);
                let op = match op {
                    Bit::And => Op::BAND,
                    Bit::Or => Op::BOR,
                    Bit::Xor => Op::BXOR,
                    Bit::Shl => Op::BSHL,
                    Bit::Shr => Op::BSHR,
                    Bit::Sar => Op::BSAR,
                    Bit::Rol => Op::BROL,
                };
                let r = self.b.emit(op, Ty::Int, x, y)?;
                self.write(d, r);
            }
            Stmt::Not(d, x) => {
                let x = self.read(m, x)?;
                let x = self.bits(x)?;
                let r = self.b.emit(Op::BNOT, Ty::Int, x, IrRef::NONE)?;
                self.write(d, r);
            }
            Stmt::Skip(op, x, y, ..) => self.compare(m, op, x, y)?,
            Stmt::Get(d, t, k) => {
                let table = self.read(m, t)?;
                let r = self.get(m, m.get(t).as_table(), table, k)?;
                self.write(d, r);
            }
            Stmt::Set(t, k, v) => {
                let table = self.read(m, t)?;
                self.set(m, m.get(t).as_table(), table, k, v)?;
                self.effect = true;
            }
            Stmt::New(d) => {
                let r = self.b.emit(Op::TNEW, Ty::Tab, IrRef(0), IrRef(0))?;
                self.write(d, r);
            }
            Stmt::Dup(d, n) => {
                let template = self.b.kgc(Value::table(self.p.templates[n]));
                let r = self.b.emit(Op::TDUP, Ty::Tab, template, IrRef::NONE)?;
                self.write(d, r);
            }
            Stmt::Len(d, t) => {
                let t = self.read(m, t)?;
                let r = self.b.emit(Op::ALEN, Ty::Int, t, IrRef::NIL)?;
                self.write(d, r);
            }
            _ => self.string(m, stmt)?,
        }
        Ok(())
    }

    /// A statement that does nothing for these values: guards for what makes it so.
    fn undefined(&mut self, m: &Machine<'_>, stmt: Stmt) -> Res<()> {
        match stmt {
            Stmt::Arith(_, _, x, y) | Stmt::Bit(_, _, x, y) | Stmt::Skip(_, x, y, ..) => {
                self.operand(m, x)?;
                self.operand(m, y)?;
            }
            Stmt::Neg(_, x) | Stmt::Floor(_, x) | Stmt::Not(_, x) | Stmt::Len(_, x) | Stmt::StrLen(_, x) => {
                self.read(m, x)?;
            }
            Stmt::Get(_, t, k) | Stmt::Set(t, k, _) => {
                self.read(m, t)?;
                let k = self.operand(m, k)?;
                if self.b.ty(k) == Ty::Num && m.get(t).is_table() {
                    self.b.compare(Op::NE, k, k)?;
                }
            }
            Stmt::Sub(_, x, i, n) => {
                let s = self.read(m, x)?;
                if self.b.ty(s) == Ty::Str {
                    let len = self.b.emit(Op::FLOAD, Ty::Int, s, IrRef(Field::StrLen as u16))?;
                    let end = self.b.kint(i + n);
                    self.b.emit(Op::LT, Ty::Int, len, end)?;
                }
            }
            Stmt::Concat(_, x, y) => {
                let (x, y) = (self.read(m, x)?, self.read(m, y)?);
                if self.b.ty(x) == Ty::Str && self.b.ty(y) == Ty::Str {
                    let len = self.length(x, y)?;
                    let max = self.b.kint(MAX_LEN as i32);
                    self.b.emit(Op::GT, Ty::Int, len, max)?;
                }
            }
            Stmt::Move(..) | Stmt::New(_) | Stmt::Dup(..) => {}
        }
        Ok(())
    }
    fn length(&mut self, x: IrRef, y: IrRef) -> Res<IrRef> {
        let x = self.b.emit(Op::FLOAD, Ty::Int, x, IrRef(Field::StrLen as u16))?;
        let y = self.b.emit(Op::FLOAD, Ty::Int, y, IrRef(Field::StrLen as u16))?;
        self.b.emit(Op::ADD, Ty::Int, x, y)
    }

    fn string(&mut self, m: &Machine<'_>, stmt: Stmt) -> Res<()> {
        match stmt {
            Stmt::Sub(d, s, i, n) => {
                let s = self.read(m, s)?;
                let len = self.b.emit(Op::FLOAD, Ty::Int, s, IrRef(Field::StrLen as u16))?;
                let (i, n, end) = (self.b.kint(i), self.b.kint(n), self.b.kint(i + n));
                self.b.emit(Op::GE, Ty::Int, len, end)?;
                let p = self.b.emit(Op::STRREF, Ty::P64, s, i)?;
                let r = self.b.emit(Op::SNEW, Ty::Str, p, n)?;
                self.write(d, r);
            }
            Stmt::Concat(d, x, y) => {
                let (x, y) = (self.read(m, x)?, self.read(m, y)?);
                let h = self.b.knull(Ty::P64);
                let h = self.b.emit(Op::BUFHDR, Ty::P64, h, IrRef(0))?;
                let p = self.b.emit(Op::BUFPUT, Ty::P64, h, x)?;
                let p = self.b.emit(Op::BUFPUT, Ty::P64, p, y)?;
                let r = self.b.emit(Op::BUFSTR, Ty::Str, p, h)?;
                let len = self.length(x, y)?;
                let max = self.b.kint(MAX_LEN as i32);
                self.b.emit(Op::LE, Ty::Int, len, max)?;
                self.write(d, r);
            }
            Stmt::StrLen(d, s) => {
                let s = self.read(m, s)?;
                let r = self.b.emit(Op::FLOAD, Ty::Int, s, IrRef(Field::StrLen as u16))?;
                self.write(d, r);
            }
            _ => unreachable!(),
        }
        Ok(())
    }

    fn arith(&mut self, m: &Machine<'_>, op: Arith, x: Operand, y: Operand) -> Res<IrRef> {
        let result = arith(op, m.operand(x), m.operand(y)).ok_or(Abort::BadType)?;
        let (rx, ry) = (self.operand(m, x)?, self.operand(m, y)?);
        let both_int = self.b.ty(rx).is_int() && self.b.ty(ry).is_int();
        let ir = match op {
            Arith::Add => Op::ADD,
            Arith::Sub => Op::SUB,
            Arith::Mul => Op::MUL,
            Arith::Div => Op::DIV,
            Arith::Mod => Op::MOD,
            Arith::Min => Op::MIN,
            Arith::Max => Op::MAX,
        };
        if both_int && result.is_int() {
            let checked = match op {
                Arith::Add => Op::ADDOV,
                Arith::Sub => Op::SUBOV,
                Arith::Mul => Op::MULOV,
                Arith::Mod => {
                    let zero = self.b.kint(0);
                    self.b.compare(Op::NE, ry, zero)?;
                    Op::MOD
                }
                _ => ir,
            };
            return self.b.emit(checked, Ty::Int, rx, ry);
        }
        if both_int && op != Arith::Div {
            // The result is a double for these operands only.
            let (kx, ky) = (self.b.kvalue(m.operand(x)), self.b.kvalue(m.operand(y)));
            self.b.compare(Op::EQ, rx, kx)?;
            self.b.compare(Op::EQ, ry, ky)?;
        }
        let (nx, ny) = (self.num(rx)?, self.num(ry)?);
        self.b.emit(ir, Ty::Num, nx, ny)
    }

    fn compare(&mut self, m: &Machine<'_>, op: Cmp, x: Operand, y: Operand) -> Res<()> {
        let (vx, vy) = (m.operand(x), m.operand(y));
        let yes = compare(op, vx, vy).ok_or(Abort::BadType)?;
        let (rx, ry) = (self.operand(m, x)?, self.operand(m, y)?);
        let (tx, ty) = (self.b.ty(rx), self.b.ty(ry));
        if op == Cmp::Eq && !(tx.is_number() && ty.is_number()) {
            if tx == ty && !tx.is_pri() {
                self.b.compare(if yes { Op::EQ } else { Op::NE }, rx, ry)?;
            }
            return Ok(());
        }
        let (rx, ry) = if tx == ty { (rx, ry) } else { (self.num(rx)?, self.num(ry)?) };
        let op = match (op, yes) {
            (Cmp::Eq, true) => Op::EQ,
            (Cmp::Eq, false) => Op::NE,
            (Cmp::Lt, true) => Op::LT,
            (Cmp::Lt, false) => {
                if self.b.ty(rx) == Ty::Num {
                    Op::UGE
                } else {
                    Op::GE
                }
            }
            (Cmp::Le, true) => Op::LE,
            (Cmp::Le, false) => {
                if self.b.ty(rx) == Ty::Num {
                    Op::UGT
                } else {
                    Op::GT
                }
            }
        };
        self.b.compare(op, rx, ry).map(|_| ())
    }

    /// The address of a slot for a key, and whether it is in the array part; `None` if the key is absent.
    fn slot(&mut self, m: &Machine<'_>, t: Gc<Table>, table: IrRef, k: Operand) -> Res<(Option<IrRef>, bool, IrRef)> {
        let key = m.operand(k);
        let mut rk = self.operand(m, k)?;
        if let Some(i) = key.as_index() {
            rk = narrow::to_index(&mut self.b, rk)?;
            let asize = self.b.emit(Op::FLOAD, Ty::Int, table, IrRef(Field::TabAsize as u16))?;
            if (i as u32) < t.asize() {
                abc::check(&mut self.b, self.induction.as_ref(), asize, rk, t.asize())?;
                let array = self.b.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabArray as u16))?;
                return Ok((Some(self.b.emit(Op::AREF, Ty::P64, array, rk)?), true, rk));
            }
            self.b.emit(Op::ULE, Ty::Int, asize, rk)?;
        }
        let found = t.find(key);
        if let (Some(slot), true) = (found, rk.is_const())
            && let Some(node) = t.node_of(slot)
        {
            let hmask = self.b.emit(Op::FLOAD, Ty::Int, table, IrRef(Field::TabHmask as u16))?;
            let mask = self.b.kint(t.hmask.get() as i32);
            self.b.compare(Op::EQ, hmask, mask)?;
            let nodes = self.b.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabNode as u16))?;
            let kslot = self.b.kslot(rk, node);
            return Ok((Some(self.b.guard(Op::HREFK, Ty::P64, nodes, kslot)?), false, rk));
        }
        let href = self.b.emit(Op::HREF, Ty::P64, table, rk)?;
        let nil = self.b.kvm(VmRef::NilSlot);
        self.b.compare(if found.is_some() { Op::NE } else { Op::EQ }, href, nil)?;
        Ok((found.map(|_| href), false, rk))
    }

    /// Without a metatable, which is all that programs have, nil is nil.
    fn no_meta(&mut self, table: IrRef) -> Res<()> {
        let meta = self.b.emit(Op::FLOAD, Ty::Tab, table, IrRef(Field::TabMeta as u16))?;
        let null = self.b.knull(Ty::Tab);
        self.b.compare(Op::EQ, meta, null).map(|_| ())
    }

    fn get(&mut self, m: &Machine<'_>, t: Option<Gc<Table>>, table: IrRef, k: Operand) -> Res<IrRef> {
        let t = t.ok_or(Abort::BadType)?;
        let value = t.get(m.operand(k));
        let (slot, in_array, _) = self.slot(m, t, table, k)?;
        let Some(slot) = slot else {
            self.no_meta(table)?;
            return Ok(IrRef::NIL);
        };
        let ty = Ty::of_value(value);
        let r = self.b.guard(if in_array { Op::ALOAD } else { Op::HLOAD }, ty, slot, IrRef::NONE)?;
        if value.is_nil() {
            self.no_meta(table)?;
        }
        Ok(if ty.is_pri() { self.b.kvalue(value) } else { r })
    }

    fn set(&mut self, m: &Machine<'_>, t: Option<Gc<Table>>, table: IrRef, k: Operand, v: Operand) -> Res<()> {
        let t = t.ok_or(Abort::BadType)?;
        let value = m.operand(v);
        let old = t.get(m.operand(k));
        let rv = self.operand(m, v)?;
        let ty = self.b.ty(rv);
        let (slot, in_array, rk) = self.slot(m, t, table, k)?;
        if old.is_nil() {
            self.no_meta(table)?;
        }
        match slot {
            Some(slot) => {
                if old.is_nil() {
                    self.b.guard(if in_array { Op::ALOAD } else { Op::HLOAD }, Ty::Nil, slot, IrRef::NONE)?;
                }
                self.b.emit(if in_array { Op::ASTORE } else { Op::HSTORE }, ty, slot, rv)?;
            }
            None if value.is_nil() => return Ok(()),
            None => {
                let slot = self.b.emit(Op::NEWREF, Ty::P64, table, rk)?;
                self.b.emit(Op::HSTORE, ty, slot, rv)?;
            }
        }
        if value.is_gc() {
            self.b.emit(Op::TBAR, Ty::Nil, table, IrRef::NIL)?;
        }
        Ok(())
    }

    fn next_iteration(&mut self, m: &Machine<'_>, pc: usize) -> Res<()> {
        let (i, limit) = (self.read(m, self.p.counter)?, self.read(m, self.p.limit)?);
        self.snapshot(pc)?;
        let stop_now = m.get(self.p.limit).as_int().ok_or(Abort::BadType)?;
        let one = self.b.kint(1);
        let i = narrow::next_index(&mut self.b, i, (one, 1), (limit, stop_now))?;
        self.b.compare(Op::LE, i, limit)?;
        self.write(self.p.counter, i);
        Ok(())
    }

    /// The loop has come back to its start.
    pub fn close(&mut self) -> Res<()> {
        self.snapshot(0)?;
        self.b.trace.link = Link::Loop;
        Ok(())
    }
}
