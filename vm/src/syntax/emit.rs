//! The state of a function being compiled: instructions, constants, registers, jumps.

use super::scope::{Goto, Label, Scope, Var};
use crate::bc::{Ins, KGc, KNum, Op, TableTemplate, UvDesc, VarInfo};
use std::collections::HashMap;
use std::rc::Rc;

/// Kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// No expression.
    Void,
    /// nil
    Nil,
    /// false
    False,
    /// true
    True,
    /// String constant.
    Str(Rc<[u8]>),
    /// Number constant.
    Num(KNum),
    /// Local variable in a register.
    Local(usize),
    /// Upvalue.
    Upval(usize),
    /// Global variable.
    Global(Rc<[u8]>),
    /// Indexed: table register and key.
    Index(usize, Key),
    /// Comparison: its condition jump is at this pc.
    Jmp(usize),
    /// Instruction at this pc whose A is open.
    Reloc(usize),
    /// Value in a register.
    Reg(usize),
    /// Call (or vararg) at this pc with its base register.
    Call(usize, usize),
}

/// Key of an indexed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// In a register.
    Reg(usize),
    /// String constant number.
    Str(usize),
    /// Small integer.
    Byte(u8),
}

/// An expression with the jumps that leave it when it is true or false.
#[derive(Clone, Debug)]
pub struct Exp {
    /// Kind.
    pub k: Kind,
    /// Jumps taken when true.
    pub t: Vec<usize>,
    /// Jumps taken when false.
    pub f: Vec<usize>,
}

impl Exp {
    /// Without jumps.
    pub fn new(k: Kind) -> Exp {
        Exp { k, t: Vec::new(), f: Vec::new() }
    }
    /// Has it jumps?
    pub fn has_jumps(&self) -> bool {
        !self.t.is_empty() || !self.f.is_empty()
    }
    /// A constant without jumps?
    pub fn is_const(&self) -> bool {
        !self.has_jumps() && matches!(self.k, Kind::Nil | Kind::False | Kind::True | Kind::Str(_) | Kind::Num(_))
    }
    /// A number constant without jumps?
    pub fn num(&self) -> Option<KNum> {
        match self.k {
            Kind::Num(n) if !self.has_jumps() => Some(n),
            _ => None,
        }
    }
}

/// What went wrong while emitting; the parser adds the position.
#[derive(Debug)]
pub enum Limit {
    /// More slots than a frame has.
    Slots,
    /// Named limit of a function.
    Count(usize, &'static str),
    /// A jump too far.
    Jump,
}
type Res<T> = Result<T, Limit>;

/// A function being compiled.
#[derive(Default)]
pub struct Func {
    /// Instructions; 0 is the header.
    pub bc: Vec<Ins>,
    /// Their lines.
    pub lines: Vec<u32>,
    /// Object constants.
    pub kgc: Vec<KGc>,
    /// Number constants.
    pub knum: Vec<KNum>,
    pub strings: HashMap<Rc<[u8]>, usize>,
    pub numbers: HashMap<u64, usize>,
    /// Upvalues.
    pub upvalues: Vec<UvDesc>,
    /// Their names.
    pub uv_names: Vec<Rc<[u8]>>,
    /// Active local variables; the index is the register.
    pub active: Vec<Var>,
    /// Debug information of all locals.
    pub vars: Vec<VarInfo>,
    /// Open scopes.
    pub scopes: Vec<Scope>,
    /// Labels in open scopes.
    pub labels: Vec<Label>,
    /// Jumps to labels not seen yet.
    pub gotos: Vec<Goto>,
    /// First free register.
    pub free: usize,
    /// Frame size.
    pub framesize: usize,
    /// Fixed parameters.
    pub num_params: usize,
    /// Takes `...`.
    pub vararg: bool,
    /// Has child prototypes.
    pub children: bool,
    /// A local was captured by a closure.
    pub captured: bool,
    /// Instruction that is a jump target: nothing before it may be changed.
    pub last_target: usize,
    /// Line where the function starts.
    pub first_line: u32,
    /// Line of the token read last.
    pub line: u32,
}

/// Largest frame.
const MAX_SLOTS: usize = 250;

impl Func {
    /// Next instruction.
    pub fn pc(&self) -> usize {
        self.bc.len()
    }
    /// Appends an instruction.
    pub fn emit(&mut self, i: Ins) -> usize {
        self.bc.push(i);
        self.lines.push(self.line);
        self.bc.len() - 1
    }
    pub fn emit_abc(&mut self, op: Op, a: usize, b: usize, c: usize) -> usize {
        self.emit(Ins::abc(op, a as u8, b as u8, c as u8))
    }
    pub fn emit_ad(&mut self, op: Op, a: usize, d: usize) -> usize {
        self.emit(Ins::ad(op, a as u8, d as u16))
    }
    /// Appends a jump without a target yet.
    pub fn jump(&mut self) -> usize {
        let a = self.free.min(255);
        self.emit(Ins::aj(Op::JMP, a as u8, -1))
    }
    /// Directs the jump at `pc` to `target`.
    pub fn patch(&mut self, pc: usize, target: usize) -> Res<()> {
        let d = target as i64 - (pc as i64 + 1);
        if !(-0x8000..0x8000).contains(&d) {
            return Err(Limit::Jump);
        }
        self.bc[pc] = self.bc[pc].with_d((d + 0x8000) as u16);
        Ok(())
    }
    /// Directs jumps to the next instruction.
    pub fn patch_here(&mut self, list: &[usize]) -> Res<()> {
        let here = self.pc();
        if !list.is_empty() {
            self.last_target = here;
        }
        list.iter().try_for_each(|j| self.patch(*j, here))
    }
    /// Makes sure `n` more registers exist.
    pub fn check(&mut self, n: usize) -> Res<()> {
        let size = self.free + n;
        if size > self.framesize {
            if size > MAX_SLOTS {
                return Err(Limit::Slots);
            }
            self.framesize = size;
        }
        Ok(())
    }
    /// Takes `n` registers; the first.
    pub fn reserve(&mut self, n: usize) -> Res<usize> {
        self.check(n)?;
        self.free += n;
        Ok(self.free - n)
    }
    /// Gives a register back if it is the topmost temporary.
    pub fn release(&mut self, r: usize) {
        if r >= self.active.len() && r + 1 == self.free {
            self.free -= 1;
        }
    }
    fn release_exp(&mut self, e: &Exp) {
        if let Kind::Reg(r) = e.k {
            self.release(r);
        }
    }
    /// Index of a string constant.
    pub fn kstr(&mut self, s: &Rc<[u8]>) -> Res<usize> {
        if let Some(i) = self.strings.get(s) {
            return Ok(*i);
        }
        let i = self.kgc(KGc::Str(s.to_vec().into_boxed_slice()))?;
        self.strings.insert(s.clone(), i);
        Ok(i)
    }
    /// A new object constant.
    pub fn kgc(&mut self, k: KGc) -> Res<usize> {
        if self.kgc.len() >= 65536 {
            return Err(Limit::Count(65536, "constants"));
        }
        self.kgc.push(k);
        Ok(self.kgc.len() - 1)
    }
    /// A template table.
    pub fn ktab(&mut self, t: TableTemplate) -> Res<usize> {
        self.kgc(KGc::Table(t))
    }
    /// Index of a number constant.
    pub fn knum(&mut self, n: KNum) -> Res<usize> {
        let bits = match n {
            KNum::Int(i) => f64::from(i).to_bits(),
            KNum::Num(x) => x.to_bits(),
        };
        if let Some(i) = self.numbers.get(&bits) {
            return Ok(*i);
        }
        if self.knum.len() >= 65536 {
            return Err(Limit::Count(65536, "constants"));
        }
        self.knum.push(n);
        self.numbers.insert(bits, self.knum.len() - 1);
        Ok(self.knum.len() - 1)
    }
    /// Turns variables and calls into values that an instruction gives.
    pub fn discharge(&mut self, e: &mut Exp) -> Res<()> {
        e.k = match core::mem::replace(&mut e.k, Kind::Void) {
            Kind::Local(r) => Kind::Reg(r),
            Kind::Upval(i) => Kind::Reloc(self.emit_ad(Op::UGET, 0, i)),
            Kind::Global(s) => {
                let i = self.kstr(&s)?;
                Kind::Reloc(self.emit_ad(Op::GGET, 0, i))
            }
            Kind::Index(t, key) => {
                if let Key::Reg(k) = key {
                    self.release(k);
                }
                self.release(t);
                Kind::Reloc(match key {
                    Key::Reg(k) => self.emit_abc(Op::TGETV, 0, t, k),
                    Key::Str(i) => self.emit_abc(Op::TGETS, 0, t, i),
                    Key::Byte(b) => self.emit_abc(Op::TGETB, 0, t, b as usize),
                })
            }
            Kind::Call(_, base) => Kind::Reg(base),
            k => k,
        };
        Ok(())
    }
    fn load_nil(&mut self, from: usize, n: usize) {
        let pc = self.pc();
        if pc > self.last_target && pc > 1 {
            let last = self.bc[pc - 1];
            match last.op() {
                Op::KPRI if last.d() == 0 && last.a() + 1 == from => {
                    self.bc[pc - 1] = Ins::ad(Op::KNIL, last.a() as u8, (from + n - 1) as u16);
                    return;
                }
                Op::KNIL if last.d() + 1 == from => {
                    self.bc[pc - 1] = last.with_d((from + n - 1) as u16);
                    return;
                }
                _ => {}
            }
        }
        if n == 1 {
            self.emit_ad(Op::KPRI, from, 0);
        } else {
            self.emit_ad(Op::KNIL, from, from + n - 1);
        }
    }
    /// nil into `n` registers.
    pub fn nils(&mut self, from: usize, n: usize) {
        if n > 0 {
            self.load_nil(from, n);
        }
    }
    fn to_reg_nobranch(&mut self, e: &mut Exp, reg: usize) -> Res<()> {
        self.discharge(e)?;
        match &e.k {
            Kind::Str(s) => {
                let i = self.kstr(&s.clone())?;
                self.emit_ad(Op::KSTR, reg, i);
            }
            Kind::Num(KNum::Int(i)) if i16::try_from(*i).is_ok() => {
                self.emit_ad(Op::KSHORT, reg, *i as u16 as usize);
            }
            Kind::Num(n) => {
                let i = self.knum(*n)?;
                self.emit_ad(Op::KNUM, reg, i);
            }
            Kind::Reloc(pc) => self.bc[*pc] = self.bc[*pc].with_a(reg as u8),
            Kind::Reg(r) => {
                if *r != reg {
                    self.emit_ad(Op::MOV, reg, *r);
                }
            }
            Kind::Nil => self.load_nil(reg, 1),
            Kind::False => {
                self.emit_ad(Op::KPRI, reg, 1);
            }
            Kind::True => {
                self.emit_ad(Op::KPRI, reg, 2);
            }
            _ => return Ok(()),
        }
        e.k = Kind::Reg(reg);
        Ok(())
    }
    /// Does a jump come from an instruction that delivers its own value (ISTC, ISFC)?
    fn copies_value(&self, jump: usize) -> bool {
        jump > 0 && matches!(self.bc[jump - 1].op(), Op::ISTC | Op::ISFC)
    }
    /// Value of an expression into a register, its jumps included.
    fn to_reg(&mut self, e: &mut Exp, reg: usize) -> Res<()> {
        self.to_reg_nobranch(e, reg)?;
        if let Kind::Jmp(pc) = e.k {
            e.t.push(pc);
            e.k = Kind::Void;
        }
        if e.has_jumps() {
            let is_jmp = e.k == Kind::Void;
            let needs = |f: &Func, l: &[usize]| l.iter().any(|j| !f.copies_value(*j));
            let (mut at_false, mut at_true) = (0, 0);
            if needs(self, &e.t) || needs(self, &e.f) || is_jmp {
                let skip = if is_jmp { None } else { Some(self.jump()) };
                self.last_target = self.pc();
                at_false = self.emit_ad(Op::KPRI, reg, 1);
                let over = self.emit(Ins::aj(Op::JMP, self.free.min(255) as u8, 1));
                let _ = over;
                at_true = self.emit_ad(Op::KPRI, reg, 2);
                if let Some(j) = skip {
                    self.patch_here(&[j])?;
                }
            }
            let end = self.pc();
            self.last_target = end;
            for (list, plain) in [(core::mem::take(&mut e.t), at_true), (core::mem::take(&mut e.f), at_false)] {
                for j in list {
                    if self.copies_value(j) {
                        self.bc[j - 1] = self.bc[j - 1].with_a(reg as u8);
                        self.patch(j, end)?;
                    } else {
                        self.patch(j, plain)?;
                    }
                }
            }
        }
        e.k = Kind::Reg(reg);
        Ok(())
    }
    /// Value into the next free register.
    pub fn to_next(&mut self, e: &mut Exp) -> Res<usize> {
        self.discharge(e)?;
        self.release_exp(e);
        let r = self.reserve(1)?;
        self.to_reg(e, r)?;
        Ok(r)
    }
    /// Value into any register.
    pub fn to_any(&mut self, e: &mut Exp) -> Res<usize> {
        self.discharge(e)?;
        if let Kind::Reg(r) = e.k {
            if !e.has_jumps() {
                return Ok(r);
            }
            if r >= self.active.len() {
                self.to_reg(e, r)?;
                return Ok(r);
            }
        }
        self.to_next(e)
    }
    /// A value without open jumps.
    pub fn to_val(&mut self, e: &mut Exp) -> Res<()> {
        if e.has_jumps() {
            self.to_any(e)?;
            Ok(())
        } else {
            self.discharge(e)
        }
    }
    /// One value of a parenthesised expression.
    pub fn to_val_single(&mut self, e: &mut Exp) -> Res<()> {
        if e.has_jumps() { Ok(()) } else { self.discharge(e) }
    }
    /// Like [`Func::to_val`], for the right operand of a concatenation.
    pub fn to_val_keep(&mut self, e: &mut Exp) -> Res<()> {
        self.to_val(e)
    }
    /// Value into exactly this register.
    pub fn into_reg(&mut self, e: &mut Exp, reg: usize) -> Res<()> {
        self.to_reg(e, reg)
    }
    /// Assignment to a variable; the value is consumed.
    pub fn store(&mut self, var: &Exp, e: &mut Exp) -> Res<()> {
        match &var.k {
            Kind::Local(r) => {
                self.release_exp(e);
                return self.to_reg(e, *r);
            }
            Kind::Upval(i) => {
                self.to_val(e)?;
                match &e.k {
                    Kind::Nil => self.emit_ad(Op::USETP, *i, 0),
                    Kind::False => self.emit_ad(Op::USETP, *i, 1),
                    Kind::True => self.emit_ad(Op::USETP, *i, 2),
                    Kind::Str(s) => {
                        let k = self.kstr(&s.clone())?;
                        self.emit_ad(Op::USETS, *i, k)
                    }
                    Kind::Num(n) => {
                        let k = self.knum(*n)?;
                        self.emit_ad(Op::USETN, *i, k)
                    }
                    _ => {
                        let r = self.to_any(e)?;
                        self.emit_ad(Op::USETV, *i, r)
                    }
                };
            }
            Kind::Global(s) => {
                let r = self.to_any(e)?;
                let k = self.kstr(s)?;
                self.emit_ad(Op::GSET, r, k);
            }
            Kind::Index(t, key) => {
                let r = self.to_any(e)?;
                match key {
                    Key::Reg(k) => self.emit_abc(Op::TSETV, r, *t, *k),
                    Key::Str(i) => self.emit_abc(Op::TSETS, r, *t, *i),
                    Key::Byte(b) => self.emit_abc(Op::TSETB, r, *t, *b as usize),
                };
            }
            _ => {}
        }
        self.release_exp(e);
        Ok(())
    }
    /// Inverts the comparison before the jump at `pc`.
    fn invert(&mut self, pc: usize) {
        let i = self.bc[pc - 1];
        if let Some(op) = Op::from_u8(i.op() as u8 ^ 1) {
            self.bc[pc - 1] = i.with_op(op);
        }
    }
    /// Emits a test of a value and a jump taken if it is `cond`.
    fn branch(&mut self, e: &mut Exp, cond: bool) -> Res<usize> {
        if let Kind::Reloc(pc) = e.k
            && self.bc[pc].op() == Op::NOT
            && pc + 1 == self.pc()
        {
            let d = self.bc[pc].d();
            self.bc[pc] = Ins::ad(if cond { Op::ISF } else { Op::IST }, 0, d as u16);
            return Ok(self.jump());
        }
        let r = self.to_any_no_jumps(e)?;
        self.release_exp(e);
        self.emit_ad(if cond { Op::ISTC } else { Op::ISFC }, 255, r);
        Ok(self.jump())
    }
    fn to_any_no_jumps(&mut self, e: &mut Exp) -> Res<usize> {
        if let Kind::Reg(r) = e.k {
            return Ok(r);
        }
        let r = self.reserve(1)?;
        self.to_reg_nobranch(e, r)?;
        Ok(r)
    }
    /// Goes on if true; the jumps for false are in `e.f`.
    pub fn go_if_true(&mut self, e: &mut Exp) -> Res<()> {
        self.discharge(e)?;
        match e.k {
            Kind::Str(_) | Kind::Num(_) | Kind::True => {}
            Kind::Jmp(pc) => {
                self.invert(pc);
                e.f.push(pc);
            }
            Kind::Nil | Kind::False => {
                let r = self.to_any_no_jumps(e)?;
                self.release(r);
                self.emit_ad(Op::ISFC, 255, r);
                let j = self.jump();
                e.f.push(j);
            }
            _ => {
                let j = self.branch(e, false)?;
                e.f.push(j);
            }
        }
        let t = core::mem::take(&mut e.t);
        self.fix_tests(&t);
        self.patch_here(&t)
    }
    /// Goes on if false; the jumps for true are in `e.t`.
    pub fn go_if_false(&mut self, e: &mut Exp) -> Res<()> {
        self.discharge(e)?;
        match e.k {
            Kind::Nil | Kind::False => {}
            Kind::Jmp(pc) => e.t.push(pc),
            _ => {
                let j = self.branch(e, true)?;
                e.t.push(j);
            }
        }
        let f = core::mem::take(&mut e.f);
        self.fix_tests(&f);
        self.patch_here(&f)
    }
    /// Tests whose value is not wanted by anyone: ISTC/ISFC become IST/ISF.
    pub fn fix_tests(&mut self, list: &[usize]) {
        for j in list {
            if self.copies_value(*j) {
                let i = self.bc[*j - 1];
                let op = if i.op() == Op::ISTC { Op::IST } else { Op::ISF };
                self.bc[*j - 1] = i.with_op(op).with_a(0);
            }
        }
    }
    /// Instructions that test without a destination, at the end of a function.
    pub fn finish_tests(&mut self) {
        for i in &mut self.bc {
            if matches!(i.op(), Op::ISTC | Op::ISFC) && i.a() == 255 {
                let op = if i.op() == Op::ISTC { Op::IST } else { Op::ISF };
                *i = i.with_op(op).with_a(0);
            }
        }
    }
    /// A local was captured: every return closes the variables first. The return moves to the end of the function.
    pub fn close_before_returns(&mut self) -> Res<()> {
        for pc in 1..self.bc.len() {
            let i = self.bc[pc];
            if matches!(i.op(), Op::RET | Op::RET0 | Op::RET1 | Op::RETM | Op::CALLT | Op::CALLMT) {
                self.line = self.lines[pc];
                let end = self.emit(i);
                self.bc[pc] = Ins::aj(Op::UCLO, 0, 0);
                self.patch(pc, end)?;
            }
        }
        Ok(())
    }
}
