//! Statements, function bodies and the syntax of expressions.

use super::Parser;
use super::emit::{FuncState, NO_JMP};
use super::expr::{Exp, Kind};
use super::lex::{Res, Tok};
use super::term::Flags;
use crate::bc::{Ins, KGc, Op, ProtoData};
use std::rc::Rc;

/// Does a token end a block?
fn ends_block(tok: &Tok) -> bool {
    matches!(tok, Tok::Else | Tok::ElseIf | Tok::End | Tok::Until | Tok::Eof)
}

impl Parser<'_> {
    /// Starts a function.
    fn func_begin(&mut self, line: u32) {
        let mut fs = FuncState::new(line);
        fs.locals.outside = self.fs.locals.outside + self.fs.num_vars();
        self.outer.push(core::mem::replace(&mut self.fs, fs));
        self.fs.scope_begin(false);
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
                        return Err(self.err_tok("function too long for return fixup"));
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
        self.parse_params(method, [b'(', b')'])?;
        self.emit_ad(Op::FUNCF, 0, 0)?;
        self.parse_chunk()?;
        if self.tok != Tok::End {
            self.check_match(&Tok::End, &Tok::Function, line)?;
        }
        let e = self.func_end()?;
        self.advance()?;
        Ok(e)
    }
    /// A short function, `x -> ...` after its name or `|x| -> ...`.
    pub(super) fn short_function(&mut self, name: Option<Rc<[u8]>>, flags: Flags, line: u32) -> Res<Exp> {
        self.func_begin(line);
        if let Some(name) = name {
            self.var_new(0, name)?;
            self.fs.var_add(1);
            self.reg_reserve(1)?;
            self.fs.num_params = 1;
        } else if !self.opt_tok(&Tok::OrOr)? {
            self.parse_params(false, [b'|', b'|'])?;
        }
        self.check(&Tok::Arrow)?;
        self.emit_ad(Op::FUNCF, 0, 0)?;
        if self.opt_tok(&Tok::Do)? {
            self.parse_chunk()?;
            self.check_match(&Tok::End, &Tok::Do, line)?;
        } else {
            self.fs.has_return = true;
            let e = self.expr_with(flags)?;
            self.emit_return(1, e)?;
        }
        self.func_end()
    }
    /// Ends the innermost function; the result is its closure in the function around it.
    #[inline(never)]
    fn func_end(&mut self) -> Res<Exp> {
        self.last_line = self.line;
        self.func_code_end()?;
        let parent = self.outer.pop().unwrap_or_else(|| FuncState::new(0));
        let done = core::mem::replace(&mut self.fs, parent);
        let (proto, refs) = done.into_proto(self.line, self.chunkname.clone());
        let k = self.const_gc(KGc::Proto(Box::new(proto)))?;
        self.fs.upvalues.of_children.push((k as u32, refs));
        let e = Exp::new(Kind::Reloc(self.emit_ad(Op::FNEW, 0, k)?));
        if !self.fs.has_child {
            self.fs.fixup_return = self.fs.has_return;
            self.fs.has_child = true;
        }
        Ok(e)
    }
    /// Parameters between two tokens, after `self` for a method.
    #[inline(never)]
    fn parse_params(&mut self, method: bool, [before, after]: [u8; 2]) -> Res<()> {
        self.check(&Tok::Char(before))?;
        let mut n = u32::from(method);
        if method {
            let name = self.lex.name(b"self");
            self.var_new(0, name)?;
        }
        if self.tok != Tok::Char(after) {
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
        self.check(&Tok::Char(after))
    }
    /// Does the current token end a block?
    pub(super) fn end_of_block(&self) -> bool {
        ends_block(&self.tok)
    }
    /// Statements, up to the end of the block.
    pub(super) fn parse_chunk(&mut self) -> Res<()> {
        self.enter()?;
        let mut last = false;
        while !last && !self.end_of_block() {
            last = self.parse_stmt()?;
            self.opt(b';')?;
            self.fs.free_reg = self.fs.locals.active;
        }
        self.leave();
        Ok(())
    }
    /// Statements in their own scope.
    pub(super) fn parse_block(&mut self) -> Res<()> {
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
                self.parse_local(false)?;
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
            Tok::Name(_) => return self.parse_named(),
            _ => self.parse_call_assign()?,
        }
        Ok(false)
    }
    /// A statement that starts with a name, which may be a keyword in this position.
    fn parse_named(&mut self) -> Res<bool> {
        if self.is_soft(b"goto") && matches!(self.peek()?, Tok::Name(_)) {
            self.advance()?;
            self.parse_goto()?;
        } else if self.is_soft(b"const") && matches!(self.peek()?, Tok::Name(_) | Tok::Function) {
            self.advance()?;
            self.parse_local(true)?;
        } else if self.is_soft(b"continue") && ends_block(self.peek()?) {
            self.advance()?;
            self.parse_continue()?;
            return Ok(true);
        } else {
            self.parse_call_assign()?;
        }
        Ok(false)
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
        self.check_assignable(&var)?;
        let mut body = self.parse_body(method, line)?;
        self.store(&var, &mut body)?;
        if let Some(last) = self.fs.bc.last_mut() {
            last.line = line;
        }
        Ok(())
    }
    fn parse_return(&mut self) -> Res<()> {
        self.advance()?;
        self.fs.has_return = true;
        if self.end_of_block() || self.tok == Tok::Char(b';') {
            return self.emit_return(0, Exp::new(Kind::Void));
        }
        let (n, e) = self.expr_list()?;
        self.emit_return(n, e)
    }
    /// Returns `n` values, of which `e` is the last.
    #[inline(never)]
    fn emit_return(&mut self, n: u32, mut e: Exp) -> Res<()> {
        let first = self.fs.locals.active;
        let ins = match e.kind {
            _ if n == 0 => Ins::ad(Op::RET0, 0, 1),
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
        };
        if self.fs.has_child {
            self.emit_aj(Op::UCLO, 0, 0)?;
        }
        self.emit(ins)?;
        Ok(())
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
}
