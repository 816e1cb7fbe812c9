//! Assignments, declarations and calls as statements.

use super::emit::NO_JMP;
use super::expr::{Exp, Key, Kind};
use super::lex::{Res, Tok};
use super::ops::BinOp;
use super::term::flag;
use super::{MAX_LEVEL, Parser};
use crate::bc::{Ins, Op};

impl Parser<'_> {
    /// A call, or an assignment. Safe navigation skips the whole statement.
    pub(super) fn parse_call_assign(&mut self) -> Res<()> {
        let (e, skip) = self.navigate(flag::NO_RESULT)?;
        if let Kind::Call { pc, .. } = e.kind {
            self.set_b(pc, 1);
        } else if skip != NO_JMP && self.tok == Tok::Char(b',') {
            return Err(self.err_tok("syntax error"));
        } else if let Some(op) = self.compound_op(&e)? {
            self.parse_compound(op, e)?;
        } else {
            self.parse_assignment(e)?;
        }
        if skip == NO_JMP { Ok(()) } else { self.jmp_tohere(skip) }
    }
    /// The operator of a compound assignment to `e`; it and its `=` are consumed.
    #[inline(never)]
    fn compound_op(&mut self, e: &Exp) -> Res<Option<BinOp>> {
        let Some((op, ..)) = self.bin_op() else { return Ok(None) };
        if !e.is_variable() || !(op.is_compound() || op == BinOp::Ne) {
            return Ok(None);
        }
        self.check_assignable(e)?;
        if self.tok == Tok::Ne {
            // The operator is `~`.
            self.advance()?;
            return Ok(Some(BinOp::BXor));
        }
        if op == BinOp::Ne {
            return Err(self.lex.error_near_text("'=' expected", b"!"));
        }
        if !self.lex.followed_by(b'=') {
            return Err(self.err_expected(&Tok::Char(b'=')));
        }
        self.advance()?;
        self.advance()?;
        Ok(Some(op))
    }
    /// `var op= value`, after the `=`.
    fn parse_compound(&mut self, op: BinOp, var: Exp) -> Res<()> {
        let mut old = var.clone();
        if let Kind::Indexed { .. } = var.kind {
            // The registers of the table and the key are needed again for the store.
            let free = self.fs.free_reg;
            self.discharge(&mut old)?;
            self.fs.free_reg = free;
        }
        if op == BinOp::Concat {
            self.put_next_reg(&mut old)?;
        } else {
            self.put_any_reg(&mut old)?;
        }
        let value = self.expr()?;
        self.binop(op, &mut old, value)?;
        self.store(&var, &mut old)
    }
    /// Reports a constant as the target of an assignment.
    pub(super) fn check_assignable(&mut self, e: &Exp) -> Res<()> {
        let (level, index) = match e.kind {
            Kind::Local { var, .. } => (self.outer.len() as u32, var),
            Kind::Upval { var, .. } => var,
            _ => return Ok(()),
        };
        let var = &self.level_mut(level as usize).locals.all[index as usize];
        if !var.constant {
            return Ok(());
        }
        let name = var.name.clone();
        Err(self.err_name("attempt to assign to const variable", &name))
    }
    fn parse_assignment(&mut self, first: Exp) -> Res<()> {
        let mut vars = vec![first];
        loop {
            if let Some(var) = vars.last() {
                if !var.is_variable() {
                    return Err(self.err_tok("syntax error"));
                }
                self.check_assignable(var)?;
            }
            if !self.opt(b',')? {
                break;
            }
            let var = self.primary(flag::NO_NAV)?;
            if let Kind::Local { reg, .. } = var.kind {
                self.assign_hazard(&mut vars, reg)?;
            }
            if self.level + vars.len() as u32 >= MAX_LEVEL {
                return Err(self.err_limit(MAX_LEVEL, "variable names"));
            }
            vars.push(var);
        }
        self.check(&Tok::Char(b'='))?;
        let (nexps, mut e) = self.expr_list()?;
        if nexps == vars.len() as u32 {
            self.single_value(&mut e);
            if let Some(var) = vars.pop() {
                self.store(&var, &mut e)?;
            }
        } else {
            self.assign_adjust(vars.len() as u32, nexps, &mut e)?;
        }
        while let Some(var) = vars.pop() {
            let mut e = Exp::new(Kind::NonReloc(self.fs.free_reg.saturating_sub(1) as u8));
            self.store(&var, &mut e)?;
        }
        Ok(())
    }
    /// Reduces a call or `...` to a single value.
    fn single_value(&mut self, e: &mut Exp) {
        if let Kind::Call { pc, base } = e.kind {
            if self.fs.ins(pc).op() == Op::VARG {
                self.fs.free_reg = self.fs.free_reg.saturating_sub(1);
                e.kind = Kind::Reloc(pc);
            } else {
                e.kind = Kind::NonReloc(base);
            }
        }
    }
    /// A local that is assigned but also indexes (or is indexed) further left must be copied.
    fn assign_hazard(&mut self, vars: &mut [Exp], reg: u8) -> Res<()> {
        let tmp = self.fs.free_reg as u8;
        let mut hazard = false;
        for v in vars {
            if let Kind::Indexed { table, key } = &mut v.kind {
                if *table == reg {
                    *table = tmp;
                    hazard = true;
                }
                if *key == Key::Reg(reg) {
                    *key = Key::Reg(tmp);
                    hazard = true;
                }
            }
        }
        if hazard {
            self.emit_ad(Op::MOV, tmp, reg as u16)?;
            self.reg_reserve(1)?;
        }
        Ok(())
    }
    /// Adjusts the number of values to that of variables.
    pub(super) fn assign_adjust(&mut self, nvars: u32, nexps: u32, e: &mut Exp) -> Res<()> {
        let mut extra = nvars as i32 - nexps as i32;
        if let Kind::Call { pc, .. } | Kind::CallNav { pc, .. } = e.kind {
            extra = (extra + 1).max(0);
            self.set_b(pc, (extra + 1) as u8);
            if extra > 1 {
                self.reg_reserve(extra as u32 - 1)?;
            }
            if let Kind::CallNav { base, .. } = e.kind {
                // The jump over the nil, and as many nils as the call has results.
                let jump = self.fs.ins(pc + 1);
                *self.fs.ins_mut(pc + 1) = jump.with_a((u32::from(base) + extra as u32) as u8);
                if extra > 1 {
                    *self.fs.ins_mut(pc + 2) = Ins::ad(Op::KNIL, base, u16::from(base) + extra as u16 - 1);
                }
            }
        } else {
            if e.kind != Kind::Void {
                self.put_next_reg(e)?;
            }
            if extra > 0 {
                let reg = self.reg_reserve(extra as u32)?;
                self.emit_nil(reg, extra as u32)?;
            }
        }
        if nexps > nvars {
            self.fs.free_reg = self.fs.free_reg.saturating_sub(nexps - nvars);
        }
        Ok(())
    }
    /// `local` or `const`, after the keyword.
    pub(super) fn parse_local(&mut self, constant: bool) -> Res<()> {
        if self.tok == Tok::Function {
            self.advance()?;
            let name = self.lex_name()?;
            self.var_new(0, name)?;
            self.set_constant(0, constant);
            let reg = self.reg_reserve(1)?;
            self.fs.var_add(1);
            let line = self.line;
            let mut body = self.parse_body(false, line)?;
            self.free_exp(&body);
            self.put_reg(&mut body, reg)?;
            let (var, pc) = (self.fs.locals.map[self.fs.locals.active as usize - 1], self.fs.pc());
            self.fs.locals.all[var as usize].start_pc = pc;
            return Ok(());
        }
        let mut nvars = 0;
        loop {
            let name = self.lex_name()?;
            if constant {
                self.check_redeclared(self.fs.locals.active..self.fs.locals.active + nvars, &name)?;
            }
            self.var_new(nvars, name)?;
            self.set_constant(nvars, constant);
            nvars += 1;
            if !self.opt(b',')? {
                break;
            }
        }
        let first = self.fs.pc();
        let (nexps, mut e) = if self.opt(b'=')? { self.expr_list()? } else { (0, Exp::new(Kind::Void)) };
        self.assign_adjust(nvars, nexps, &mut e)?;
        self.fs.var_add(nvars);
        if (nvars, nexps) == (1, 1) {
            self.fs.watch_table(first);
        }
        Ok(())
    }
}
