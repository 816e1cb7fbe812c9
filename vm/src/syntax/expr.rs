//! Expressions: their descriptions, and the code that discharges them into registers.

use super::Parser;
use super::emit::NO_JMP;
use super::error::SyntaxError;
use crate::bc::{KCdata, KGc, KNum, Op};
use std::rc::Rc;

/// How a table is indexed.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Key {
    /// By a register.
    Reg(u8),
    /// By a string constant.
    Str(u8),
    /// By a small integer.
    Byte(u8),
}

/// The form of an expression that is being compiled.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    /// Nothing.
    Void,
    Nil,
    False,
    True,
    Str(Rc<[u8]>),
    Num(KNum),
    Cdata(KCdata),
    /// A local of this function.
    Local {
        reg: u8,
        var: u32,
    },
    /// An upvalue; `var` is the level and the variable there.
    Upval {
        index: u8,
        var: (u32, u32),
    },
    Global(Rc<[u8]>),
    Indexed {
        table: u8,
        key: Key,
    },
    /// The jump taken if it is true.
    Jmp(u32),
    /// An instruction whose A is not yet decided.
    Reloc(u32),
    /// A value in a register.
    NonReloc(u8),
    /// A call or `...`: its instruction and base.
    Call {
        pc: u32,
        base: u8,
    },
    /// A call that safe navigation may skip, with nil as result: the instruction, a jump and a KPRI follow one another.
    CallNav {
        pc: u32,
        base: u8,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Exp {
    pub(super) kind: Kind,
    /// Jumps taken if true.
    pub(super) t: u32,
    /// Jumps taken if false.
    pub(super) f: u32,
}

/// The D operand for nil, false and true.
pub(super) fn pri(kind: &Kind) -> Option<u16> {
    match kind {
        Kind::Nil => Some(0),
        Kind::False => Some(1),
        Kind::True => Some(2),
        _ => None,
    }
}

impl Exp {
    /// Without jumps.
    pub(super) fn new(kind: Kind) -> Exp {
        Exp { kind, t: NO_JMP, f: NO_JMP }
    }
    /// Does it have jumps whose value matters?
    pub(super) fn has_jump(&self) -> bool {
        self.t != self.f
    }
    /// Can it be assigned?
    pub(super) fn is_variable(&self) -> bool {
        matches!(self.kind, Kind::Local { .. } | Kind::Upval { .. } | Kind::Global(_) | Kind::Indexed { .. })
    }
    /// Is it a constant?
    pub(super) fn is_const(&self) -> bool {
        matches!(self.kind, Kind::Nil | Kind::False | Kind::True | Kind::Str(_) | Kind::Num(_))
    }
    /// A constant without jumps?
    pub(super) fn is_plain_const(&self) -> bool {
        self.is_const() && !self.has_jump()
    }
    /// The number, if it is one without jumps.
    pub(super) fn number(&self) -> Option<KNum> {
        match self.kind {
            Kind::Num(n) if !self.has_jump() => Some(n),
            _ => None,
        }
    }
    /// Is it in a temporary?
    pub(super) fn is_temp(&self, nactvar: u32) -> bool {
        matches!(self.kind, Kind::NonReloc(r) if r as u32 >= nactvar)
    }
}

impl Parser<'_> {
    /// Turns a variable or call into a value: a relocatable instruction or a register.
    #[inline(never)]
    pub(super) fn discharge(&mut self, e: &mut Exp) -> Result<(), SyntaxError> {
        let kind = match &e.kind {
            Kind::Upval { index, .. } => Kind::Reloc(self.emit_ad(Op::UGET, 0, *index as u16)?),
            Kind::Global(name) => {
                let k = self.const_str(name)?;
                Kind::Reloc(self.emit_ad(Op::GGET, 0, k)?)
            }
            &Kind::Indexed { table, key } => {
                let (op, c) = match key {
                    Key::Str(k) => (Op::TGETS, k),
                    Key::Byte(b) => (Op::TGETB, b),
                    Key::Reg(r) => {
                        self.fs.reg_free(r);
                        (Op::TGETV, r)
                    }
                };
                self.fs.reg_free(table);
                Kind::Reloc(self.emit_abc(op, 0, table, c)?)
            }
            &Kind::Call { base, .. } | &Kind::CallNav { base, .. } => Kind::NonReloc(base),
            &Kind::Local { reg, .. } => Kind::NonReloc(reg),
            _ => return Ok(()),
        };
        e.kind = kind;
        Ok(())
    }
    /// Puts the value (not that of its jumps) into a register.
    pub(super) fn put_reg_nobranch(&mut self, e: &mut Exp, reg: u8) -> Result<(), SyntaxError> {
        self.discharge(e)?;
        match &e.kind {
            Kind::Str(s) => {
                let k = self.const_str(s)?;
                self.emit_ad(Op::KSTR, reg, k)?;
            }
            &Kind::Num(KNum::Int(i)) if i16::try_from(i).is_ok() => {
                self.emit_ad(Op::KSHORT, reg, i as u16)?;
            }
            &Kind::Num(n) => {
                let k = self.const_num(n)?;
                self.emit_ad(Op::KNUM, reg, k)?;
            }
            &Kind::Cdata(k) => {
                let k = self.const_gc(KGc::Cdata(k))?;
                self.emit_ad(Op::KCDATA, reg, k)?;
            }
            &Kind::Reloc(pc) => {
                let ins = self.fs.ins(pc);
                *self.fs.ins_mut(pc) = ins.with_a(reg);
            }
            &Kind::NonReloc(from) => {
                if from != reg {
                    self.emit_ad(Op::MOV, reg, from as u16)?;
                }
            }
            Kind::Nil => self.emit_nil(reg, 1)?,
            k @ (Kind::True | Kind::False) => {
                let d = pri(k).unwrap_or(0);
                self.emit_ad(Op::KPRI, reg, d)?;
            }
            _ => return Ok(()),
        }
        e.kind = Kind::NonReloc(reg);
        Ok(())
    }
    /// Puts the value into a register.
    pub(super) fn put_reg(&mut self, e: &mut Exp, reg: u8) -> Result<(), SyntaxError> {
        self.put_reg_nobranch(e, reg)?;
        if let Kind::Jmp(pc) = e.kind {
            self.jmp_append(&mut e.t, pc)?;
        }
        if e.has_jump() {
            let (mut jfalse, mut jtrue) = (NO_JMP, NO_JMP);
            if self.fs.jmp_novalue(e.t) || self.fs.jmp_novalue(e.f) {
                let jval = if matches!(e.kind, Kind::Jmp(_)) { NO_JMP } else { self.emit_jmp()? };
                jfalse = self.emit_ad(Op::KPRI, reg, 1)?;
                self.emit_aj(Op::JMP, self.fs.free_reg as u8, 1)?;
                jtrue = self.emit_ad(Op::KPRI, reg, 2)?;
                self.jmp_tohere(jval)?;
            }
            let end = self.fs.pc();
            self.fs.last_target = end;
            self.jmp_patchval(e.f, end, reg, jfalse)?;
            self.jmp_patchval(e.t, end, reg, jtrue)?;
        }
        *e = Exp::new(Kind::NonReloc(reg));
        Ok(())
    }
    /// Puts the value into the next free register.
    #[inline(never)]
    pub(super) fn put_next_reg(&mut self, e: &mut Exp) -> Result<u8, SyntaxError> {
        self.discharge(e)?;
        self.free_exp(e);
        let reg = self.reg_reserve(1)?;
        self.put_reg(e, reg)?;
        Ok(reg)
    }
    /// Puts the value into any register.
    #[inline(never)]
    pub(super) fn put_any_reg(&mut self, e: &mut Exp) -> Result<u8, SyntaxError> {
        self.discharge(e)?;
        if let Kind::NonReloc(reg) = e.kind {
            if !e.has_jump() {
                return Ok(reg);
            }
            if reg as u32 >= self.fs.locals.active {
                self.put_reg(e, reg)?;
                return Ok(reg);
            }
        }
        self.put_next_reg(e)
    }
    /// Turns it into a value without jumps.
    pub(super) fn put_val(&mut self, e: &mut Exp) -> Result<(), SyntaxError> {
        if e.has_jump() {
            self.put_any_reg(e)?;
            return Ok(());
        }
        self.discharge(e)
    }
    /// Releases the register of a value.
    pub(super) fn free_exp(&mut self, e: &Exp) {
        if let Kind::NonReloc(reg) = e.kind {
            self.fs.reg_free(reg);
        }
    }
    /// Stores a value into a variable.
    #[inline(never)]
    pub(super) fn store(&mut self, var: &Exp, e: &mut Exp) -> Result<(), SyntaxError> {
        match &var.kind {
            &Kind::Local { reg, var } => {
                self.mark_written((self.outer.len() as u32, var));
                self.fs.settle_table(reg);
                self.free_exp(e);
                return self.put_reg(e, reg);
            }
            &Kind::Upval { index, var } => {
                self.mark_written(var);
                self.put_val(e)?;
                let (op, d) = match &e.kind {
                    Kind::Str(s) => (Op::USETS, self.const_str(s)?),
                    &Kind::Num(n) => (Op::USETN, self.const_num(n)?),
                    k => match pri(k) {
                        Some(d) => (Op::USETP, d),
                        None => (Op::USETV, self.put_any_reg(e)? as u16),
                    },
                };
                self.emit_ad(op, index, d)?;
            }
            Kind::Global(name) => {
                let reg = self.put_any_reg(e)?;
                let k = self.const_str(name)?;
                self.emit_ad(Op::GSET, reg, k)?;
            }
            &Kind::Indexed { table, key } => {
                let reg = self.put_any_reg(e)?;
                let (op, c) = match key {
                    Key::Str(k) => (Op::TSETS, k),
                    Key::Byte(b) => (Op::TSETB, b),
                    Key::Reg(r) => (Op::TSETV, r),
                };
                if op == Op::TSETS {
                    self.fs.assigns_field(table, c);
                }
                self.emit_abc(op, reg, table, c)?;
            }
            _ => return Err(self.err_tok("syntax error")),
        }
        self.free_exp(e);
        Ok(())
    }
    /// `t[key]`: `t` must be in a register.
    #[inline(never)]
    pub(super) fn index(&mut self, t: &mut Exp, key: &mut Exp) -> Result<(), SyntaxError> {
        let table = match t.kind {
            Kind::NonReloc(reg) => reg,
            _ => self.put_any_reg(t)?,
        };
        let mut small = None;
        if !key.has_jump() {
            match &key.kind {
                &Kind::Num(KNum::Int(i)) => small = u8::try_from(i).ok().map(Key::Byte),
                Kind::Str(s) => small = u8::try_from(self.const_str(s)?).ok().map(Key::Str),
                _ => {}
            }
        }
        let key = match small {
            Some(key) => key,
            None => Key::Reg(self.put_any_reg(key)?),
        };
        t.kind = Kind::Indexed { table, key };
        Ok(())
    }
    /// `obj:name`: puts the function and the object into the slots of a call.
    #[inline(never)]
    pub(super) fn method(&mut self, e: &mut Exp, name: &Rc<[u8]>) -> Result<(), SyntaxError> {
        let obj = self.put_any_reg(e)?;
        self.free_exp(e);
        let func = self.fs.free_reg as u8;
        self.reg_bump(4)?;
        self.emit_ad(Op::MOV, func + 2, obj as u16)?;
        let k = self.const_str(name)?;
        self.reg_reserve(3)?;
        if let Ok(k) = u8::try_from(k) {
            self.emit_abc(Op::TGETS, func, obj, k)?;
        } else {
            self.reg_reserve(1)?;
            self.emit_ad(Op::KSTR, func + 3, k)?;
            self.emit_abc(Op::TGETV, func, obj, func + 3)?;
            self.fs.free_reg -= 1;
        }
        e.kind = Kind::NonReloc(func);
        Ok(())
    }
}
