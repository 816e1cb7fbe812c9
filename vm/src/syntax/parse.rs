//! Statements, function bodies and the syntax of expressions.

use super::Parser;
use super::emit::{FuncState, NO_JMP};
use super::expr::{Exp, Kind};
use super::lex::{SyntaxError, Tok};
use super::ops::BinOp;
use crate::bc::{Ins, KGc, Op, ProtoData};
use std::rc::Rc;

type Res<T> = Result<T, SyntaxError>;

impl Parser<'_> {
    /// Starts a function.
    pub(super) fn func_begin(&mut self, line: u32) {
        let fs = FuncState::new(line);
        self.outer.push(core::mem::replace(&mut self.fs, fs));
    }
    /// Ends the code of a function: its last return, and the closing of upvalues before earlier returns.
    pub(super) fn func_code_end(&mut self) -> Res<()> {
        let last = self.fs.pc();
        let returns =
            last > 0 && matches!(self.fs.ins(last - 1).op(), Op::CALLMT | Op::CALLT | Op::RETM | Op::RET | Op::RET0 | Op::RET1);
        if last <= self.fs.last_target || !returns {
            if self.fs.scope().is_some_and(|s| s.has_upval) {
                self.emit_aj(Op::UCLO, 0, 0)?;
            }
            self.emit_ad(Op::RET0, 0, 1)?;
        }
        self.scope_end_noclose()?;
        if !self.fs.fixup_return {
            return Ok(());
        }
        for pc in 1..last {
            let ins = self.fs.ins(pc);
            match ins.op() {
                Op::CALLMT | Op::CALLT | Op::RETM | Op::RET | Op::RET0 | Op::RET1 => {
                    let copy = self.emit(ins)?;
                    self.fs.bc[copy as usize].line = self.fs.bc[pc as usize].line;
                    if copy - pc > 0x7fff {
                        return Err(self.err_plain("function too long for return fixup"));
                    }
                    *self.fs.ins_mut(pc) = Ins::aj(Op::UCLO, 0, (copy - (pc + 1)) as i32);
                }
                Op::FNEW => break,
                _ => {}
            }
        }
        Ok(())
    }
    /// A whole chunk.
    pub(super) fn parse_main(mut self) -> Res<ProtoData> {
        self.fs.is_vararg = true;
        self.emit_ad(Op::FUNCV, 0, 0)?;
        self.fs.scope_begin(false);
        self.advance()?;
        self.parse_chunk()?;
        if self.tok != Tok::Eof {
            return Err(self.err_expected(&Tok::Eof));
        }
        self.func_code_end()?;
        let (line, name) = (self.line, self.chunkname.clone());
        Ok(self.fs.into_proto(line, name).0)
    }
    /// Parameters, body and end of a function; the result is the closure.
    pub(super) fn parse_body(&mut self, method: bool, line: u32) -> Res<Exp> {
        self.func_begin(line);
        self.fs.scope_begin(false);
        self.parse_params(method)?;
        self.emit_ad(Op::FUNCF, 0, 0)?;
        self.parse_chunk()?;
        if self.tok != Tok::End {
            self.check_match(&Tok::End, &Tok::Function, line)?;
        }
        self.last_line = self.line;
        self.func_code_end()?;
        let parent = self.outer.pop().unwrap_or_else(|| FuncState::new(0));
        let done = core::mem::replace(&mut self.fs, parent);
        let (proto, refs) = done.into_proto(self.line, self.chunkname.clone());
        let k = self.const_gc(KGc::Proto(Box::new(proto)))?;
        self.fs.child_uvs.push((k as u32, refs));
        let e = Exp::new(Kind::Reloc(self.emit_ad(Op::FNEW, 0, k)?));
        if !self.fs.has_child {
            self.fs.fixup_return = self.fs.has_return;
            self.fs.has_child = true;
        }
        self.advance()?;
        Ok(e)
    }
    fn parse_params(&mut self, method: bool) -> Res<()> {
        self.check(&Tok::Char(b'('))?;
        let mut n = 0;
        if method {
            self.var_new_fixed(0, "self")?;
            n = 1;
        }
        if self.tok != Tok::Char(b')') {
            loop {
                match self.tok {
                    Tok::Name(_) => {
                        let name = self.lex_name()?;
                        self.var_new(n, name)?;
                        n += 1;
                    }
                    Tok::Dots => {
                        self.advance()?;
                        self.fs.is_vararg = true;
                        break;
                    }
                    _ => return Err(self.err_tok("<name> or '...' expected")),
                }
                if !self.opt(b',')? {
                    break;
                }
            }
        }
        self.fs.var_add(n);
        self.reg_reserve(n)?;
        self.fs.num_params = n as u8;
        self.check(&Tok::Char(b')'))
    }
    /// Does the current token end a block?
    pub(super) fn end_of_block(&self) -> bool {
        matches!(self.tok, Tok::Else | Tok::ElseIf | Tok::End | Tok::Until | Tok::Eof)
    }
    /// Statements, up to the end of the block.
    pub(super) fn parse_chunk(&mut self) -> Res<()> {
        self.enter()?;
        let mut last = false;
        while !last && !self.end_of_block() {
            last = self.parse_stmt()?;
            self.opt(b';')?;
            self.fs.free_reg = self.fs.nactvar;
        }
        self.leave();
        Ok(())
    }
    fn parse_block(&mut self) -> Res<()> {
        self.fs.scope_begin(false);
        self.parse_chunk()?;
        self.scope_end()
    }
    /// A statement; true if it must be the last of its block.
    fn parse_stmt(&mut self) -> Res<bool> {
        let line = self.line;
        match &self.tok {
            Tok::If => self.parse_if(line)?,
            Tok::While => self.parse_while(line)?,
            Tok::Do => {
                self.advance()?;
                self.parse_block()?;
                self.check_match(&Tok::End, &Tok::Do, line)?;
            }
            Tok::For => self.parse_for(line)?,
            Tok::Repeat => self.parse_repeat(line)?,
            Tok::Function => self.parse_func(line)?,
            Tok::Local => {
                self.advance()?;
                self.parse_local()?;
            }
            Tok::Return => {
                self.parse_return()?;
                return Ok(true);
            }
            Tok::Break => {
                self.advance()?;
                self.parse_break()?;
                return Ok(true);
            }
            Tok::Label => self.parse_label()?,
            Tok::Name(name) if **name == *b"goto" => {
                if matches!(self.peek()?, Tok::Name(_)) {
                    self.advance()?;
                    self.parse_goto()?;
                } else {
                    self.parse_call_assign()?;
                }
            }
            _ => self.parse_call_assign()?,
        }
        Ok(false)
    }
    fn parse_call_assign(&mut self) -> Res<()> {
        let e = self.primary()?;
        if let Kind::Call { pc, .. } = e.kind {
            self.set_b(pc, 1);
            Ok(())
        } else {
            self.parse_assignment(e)
        }
    }
    fn parse_assignment(&mut self, first: Exp) -> Res<()> {
        let mut vars = vec![first];
        loop {
            let is_var = |k: &Kind| matches!(k, Kind::Local { .. } | Kind::Upval { .. } | Kind::Global(_) | Kind::Indexed { .. });
            if !vars.last().is_some_and(|v| is_var(&v.kind)) {
                return Err(self.err_tok("syntax error"));
            }
            if !self.opt(b',')? {
                break;
            }
            let var = self.primary()?;
            if let Kind::Local { reg, .. } = var.kind {
                self.assign_hazard(&mut vars, reg)?;
            }
            if self.level + vars.len() as u32 > super::MAX_LEVEL {
                return Err(self.err_limit(super::MAX_LEVEL, "variable names"));
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
    /// Makes a call or `...` a single value.
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
        use super::expr::Key;
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
    fn assign_adjust(&mut self, nvars: u32, nexps: u32, e: &mut Exp) -> Res<()> {
        let mut extra = nvars as i32 - nexps as i32;
        if let Kind::Call { pc, .. } = e.kind {
            extra = (extra + 1).max(0);
            self.set_b(pc, (extra + 1) as u8);
            if extra > 1 {
                self.reg_reserve(extra as u32 - 1)?;
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
    fn parse_func(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let name = self.lex_name()?;
        let mut var = self.var_lookup(name)?;
        let mut method = false;
        while self.tok == Tok::Char(b'.') {
            self.field(&mut var)?;
        }
        if self.tok == Tok::Char(b':') {
            method = true;
            self.field(&mut var)?;
        }
        let mut body = self.parse_body(method, line)?;
        self.store(&var, &mut body)?;
        if let Some(last) = self.fs.bc.last_mut() {
            last.line = line;
        }
        Ok(())
    }
    fn parse_local(&mut self) -> Res<()> {
        if self.tok == Tok::Function {
            self.advance()?;
            let name = self.lex_name()?;
            self.var_new(0, name)?;
            let reg = self.reg_reserve(1)?;
            self.fs.var_add(1);
            let line = self.line;
            let mut body = self.parse_body(false, line)?;
            self.free_exp(&body);
            self.put_reg(&mut body, reg)?;
            let (var, pc) = (self.fs.varmap[self.fs.nactvar as usize - 1], self.fs.pc());
            self.fs.vars[var as usize].start_pc = pc;
            return Ok(());
        }
        let mut nvars = 0;
        loop {
            let name = self.lex_name()?;
            self.var_new(nvars, name)?;
            nvars += 1;
            if !self.opt(b',')? {
                break;
            }
        }
        let (nexps, mut e) = if self.opt(b'=')? { self.expr_list()? } else { (0, Exp::new(Kind::Void)) };
        self.assign_adjust(nvars, nexps, &mut e)?;
        self.fs.var_add(nvars);
        Ok(())
    }
    fn parse_return(&mut self) -> Res<()> {
        self.advance()?;
        self.fs.has_return = true;
        let first = self.fs.nactvar;
        let ins = if self.end_of_block() || self.tok == Tok::Char(b';') {
            Ins::ad(Op::RET0, 0, 1)
        } else {
            let (n, mut e) = self.expr_list()?;
            match e.kind {
                Kind::Call { pc, .. } if n == 1 && self.fs.ins(pc).op() != Op::VARG => {
                    let call = self.fs.ins(pc);
                    self.fs.bc.truncate(pc as usize);
                    let op = if call.op() == Op::CALLM { Op::CALLMT } else { Op::CALLT };
                    Ins::ad(op, call.a() as u8, call.c() as u16)
                }
                Kind::Call { pc, base } => {
                    self.set_b(pc, 0);
                    Ins::ad(Op::RETM, first as u8, (base as u32 - first) as u16)
                }
                _ if n == 1 => Ins::ad(Op::RET1, self.put_any_reg(&mut e)?, 2),
                _ => {
                    self.put_next_reg(&mut e)?;
                    Ins::ad(Op::RET, first as u8, (n + 1) as u16)
                }
            }
        };
        if self.fs.has_child {
            self.emit_aj(Op::UCLO, 0, 0)?;
        }
        self.emit(ins)?;
        Ok(())
    }
    fn parse_while(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let start = self.fs.pc();
        self.fs.last_target = start;
        let exit = self.cond()?;
        self.fs.scope_begin(true);
        self.check(&Tok::Do)?;
        let head = self.emit_ad(Op::LOOP, self.fs.nactvar as u8, 0)?;
        self.parse_block()?;
        let jump = self.emit_jmp()?;
        self.jmp_patch(jump, start)?;
        self.check_match(&Tok::End, &Tok::While, line)?;
        self.scope_end()?;
        self.jmp_tohere(exit)?;
        self.jmp_patchins(head, self.fs.pc())
    }
    fn parse_repeat(&mut self, line: u32) -> Res<()> {
        let head = self.fs.pc();
        self.fs.last_target = head;
        self.fs.scope_begin(true);
        self.fs.scope_begin(false);
        self.advance()?;
        self.emit_ad(Op::LOOP, self.fs.nactvar as u8, 0)?;
        self.parse_chunk()?;
        self.check_match(&Tok::Until, &Tok::Repeat, line)?;
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
    fn parse_for(&mut self, line: u32) -> Res<()> {
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
            Op::MOV => self.fs.local_name(first.ins.d()),
            Op::UGET => self.fs.uv_names.get(first.ins.d()).map(|n| &**n),
            Op::GGET => self.fs.string_at(first.ins.d()),
            _ => None,
        };
        matches!(name, Some(b"pairs" | b"next"))
    }
    fn parse_then(&mut self) -> Res<u32> {
        self.advance()?;
        let exit = self.cond()?;
        self.check(&Tok::Then)?;
        self.parse_block()?;
        Ok(exit)
    }
    fn parse_if(&mut self, line: u32) -> Res<()> {
        let mut exits = NO_JMP;
        let mut cond = self.parse_then()?;
        loop {
            let is_else = self.tok == Tok::Else;
            if !is_else && self.tok != Tok::ElseIf {
                self.jmp_append(&mut exits, cond)?;
                break;
            }
            let jump = self.emit_jmp()?;
            self.jmp_append(&mut exits, jump)?;
            self.jmp_tohere(cond)?;
            if is_else {
                self.advance()?;
                self.parse_block()?;
                break;
            }
            cond = self.parse_then()?;
        }
        self.jmp_tohere(exits)?;
        self.check_match(&Tok::End, &Tok::If, line)
    }
    /// Sets the number of results of a call.
    pub(super) fn set_b(&mut self, pc: u32, b: u8) {
        let ins = self.fs.ins(pc);
        *self.fs.ins_mut(pc) = ins.with_b(b);
    }
    /// The operator of a token, with its left and right priorities.
    pub(super) fn bin_op(&self) -> Option<(BinOp, u32, u32)> {
        Some(match self.tok {
            Tok::Char(b'+') => (BinOp::Add, 6, 6),
            Tok::Char(b'-') => (BinOp::Sub, 6, 6),
            Tok::Char(b'*') => (BinOp::Mul, 7, 7),
            Tok::Char(b'/') => (BinOp::Div, 7, 7),
            Tok::Char(b'%') => (BinOp::Mod, 7, 7),
            Tok::Char(b'^') => (BinOp::Pow, 10, 9),
            Tok::Concat => (BinOp::Concat, 5, 4),
            Tok::Ne => (BinOp::Ne, 3, 3),
            Tok::Eq => (BinOp::Eq, 3, 3),
            Tok::Char(b'<') => (BinOp::Lt, 3, 3),
            Tok::Ge => (BinOp::Ge, 3, 3),
            Tok::Le => (BinOp::Le, 3, 3),
            Tok::Char(b'>') => (BinOp::Gt, 3, 3),
            Tok::And => (BinOp::And, 2, 2),
            Tok::Or => (BinOp::Or, 1, 1),
            _ => return None,
        })
    }
}
