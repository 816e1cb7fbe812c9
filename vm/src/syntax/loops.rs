//! Loops.

use super::Parser;
use super::lex::{Res, Tok};
use crate::bc::Op;
use std::rc::Rc;

impl Parser<'_> {
    pub(super) fn parse_while(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let start = self.fs.pc();
        self.fs.last_target = start;
        let exit = self.cond()?;
        self.fs.scope_begin(true);
        self.check(&Tok::Do)?;
        let head = self.emit_ad(Op::LOOP, self.fs.locals.active as u8, 0)?;
        self.parse_block()?;
        let jump = self.emit_jmp()?;
        self.jmp_patch(jump, start)?;
        self.check_match(&Tok::End, &Tok::While, line)?;
        self.continue_label(start)?;
        self.scope_end()?;
        self.jmp_tohere(exit)?;
        self.jmp_patchins(head, self.fs.pc())
    }
    pub(super) fn parse_repeat(&mut self, line: u32) -> Res<()> {
        let head = self.fs.pc();
        self.fs.last_target = head;
        self.fs.scope_begin(true);
        self.fs.scope_begin(false);
        self.advance()?;
        self.emit_ad(Op::LOOP, self.fs.locals.active as u8, 0)?;
        self.parse_chunk()?;
        self.check_match(&Tok::Until, &Tok::Repeat, line)?;
        self.continue_label(self.fs.pc())?;
        let mut exit = self.cond()?;
        if self.fs.scope().is_some_and(|s| s.has_upval) {
            self.parse_break()?;
            self.jmp_tohere(exit)?;
            self.scope_end()?;
            exit = self.emit_jmp()?;
        } else {
            self.scope_end()?;
        }
        self.jmp_patch(exit, head)?;
        self.jmp_patchins(head, self.fs.pc())?;
        self.scope_end()
    }
    pub(super) fn parse_for(&mut self, line: u32) -> Res<()> {
        self.fs.scope_begin(true);
        self.advance()?;
        let name = self.lex_name()?;
        match self.tok {
            Tok::Char(b'=') => self.parse_for_num(name, line)?,
            Tok::Char(b',') | Tok::In => self.parse_for_iter(name)?,
            _ => return Err(self.err_tok("'=' or 'in' expected")),
        }
        self.check_match(&Tok::End, &Tok::For, line)?;
        self.scope_end()
    }
    fn parse_for_num(&mut self, name: Rc<[u8]>, line: u32) -> Res<()> {
        let base = self.fs.free_reg as u8;
        for (n, hidden) in ["(for index)", "(for limit)", "(for step)"].iter().enumerate() {
            self.var_new_fixed(n as u32, hidden)?;
        }
        self.var_new(3, name)?;
        self.check(&Tok::Char(b'='))?;
        self.expr_next()?;
        self.check(&Tok::Char(b','))?;
        self.expr_next()?;
        if self.opt(b',')? {
            self.expr_next()?;
        } else {
            let reg = self.reg_reserve(1)?;
            self.emit_ad(Op::KSHORT, reg, 1)?;
        }
        self.fs.var_add(3);
        self.check(&Tok::Do)?;
        let head = self.emit_aj(Op::FORI, base, -1)?;
        self.fs.scope_begin(false);
        self.fs.var_add(1);
        self.reg_reserve(1)?;
        self.parse_block()?;
        self.scope_end()?;
        self.continue_label(self.fs.pc())?;
        let end = self.emit_aj(Op::FORL, base, -1)?;
        self.fs.bc[end as usize].line = line;
        self.jmp_patchins(end, head + 1)?;
        self.jmp_patchins(head, self.fs.pc())
    }
    fn parse_for_iter(&mut self, name: Rc<[u8]>) -> Res<()> {
        let base = (self.fs.free_reg + 3) as u8;
        for (n, hidden) in ["(for generator)", "(for state)", "(for control)"].iter().enumerate() {
            self.var_new_fixed(n as u32, hidden)?;
        }
        let mut nvars = 3;
        self.var_new(nvars, name)?;
        nvars += 1;
        while self.opt(b',')? {
            let name = self.lex_name()?;
            self.var_new(nvars, name)?;
            nvars += 1;
        }
        self.check(&Tok::In)?;
        let (line, start) = (self.line, self.fs.pc());
        let (nexps, mut e) = self.expr_list()?;
        self.assign_adjust(3, nexps, &mut e)?;
        self.reg_bump(4)?;
        let next = nvars <= 5 && self.predict_next(start);
        self.fs.var_add(3);
        self.check(&Tok::Do)?;
        let head = self.emit_aj(if next { Op::ISNEXT } else { Op::JMP }, base, -1)?;
        self.fs.scope_begin(false);
        self.fs.var_add(nvars - 3);
        self.reg_reserve(nvars - 3)?;
        self.parse_block()?;
        self.scope_end()?;
        self.jmp_patchins(head, self.fs.pc())?;
        self.continue_label(self.fs.pc())?;
        let call = self.emit_abc(if next { Op::ITERN } else { Op::ITERC }, base, (nvars - 2) as u8, 3)?;
        let end = self.emit_aj(Op::ITERL, base, -1)?;
        self.fs.bc[call as usize].line = line;
        self.fs.bc[end as usize].line = line;
        self.jmp_patchins(end, head + 1)
    }
    /// Does the code of a generic for start with `pairs` or `next`?
    fn predict_next(&self, pc: u32) -> bool {
        let Some(first) = self.fs.bc.get(pc as usize) else { return false };
        let name = match first.ins.op() {
            Op::MOV if (first.ins.d() as u32) < self.fs.locals.active => self.fs.local_name(first.ins.d()),
            Op::UGET => self.fs.upvalues.names.get(first.ins.d()).map(|n| &**n),
            Op::GGET => self.fs.string_at(first.ins.d()),
            _ => None,
        };
        matches!(name, Some(b"pairs" | b"next"))
    }
}
