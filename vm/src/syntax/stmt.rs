//! Statements.

use super::emit::{Exp, Kind};
use super::lex::{Res, Tok};
use super::parse::Parser;
use crate::bc::{Ins, Op};
use std::rc::Rc;

impl Parser<'_> {
    /// Does the current token end a block?
    fn at_block_end(&self) -> bool {
        matches!(self.tok, Tok::Else | Tok::ElseIf | Tok::End | Tok::Until | Tok::Eof)
    }
    /// Statements up to the end of the block.
    pub fn block(&mut self) -> Res<()> {
        self.nested(|p| {
            while !p.at_block_end() {
                let last = p.statement()?;
                p.accept_char(b';')?;
                let f = p.f();
                f.free = f.active.len();
                if last {
                    break;
                }
            }
            Ok(())
        })
    }
    /// A block with a scope of its own.
    fn scoped_block(&mut self) -> Res<()> {
        self.open_scope(false);
        self.block()?;
        self.close_scope()
    }
    /// A statement; true if it must be the last of its block.
    fn statement(&mut self) -> Res<bool> {
        let line = self.line;
        self.f().line = line;
        let named_goto = matches!(&self.tok, Tok::Name(n) if **n == *b"goto");
        let is_goto = named_goto && matches!(self.peek()?, Tok::Name(_));
        match self.tok {
            Tok::If => self.if_statement(line)?,
            Tok::While => self.while_statement(line)?,
            Tok::Do => {
                self.advance()?;
                self.scoped_block()?;
                self.expect_match(&Tok::End, &Tok::Do, line)?;
            }
            Tok::For => self.for_statement(line)?,
            Tok::Repeat => self.repeat_statement(line)?,
            Tok::Function => self.function_statement(line)?,
            Tok::Local => {
                self.advance()?;
                if self.tok == Tok::Function { self.local_function()? } else { self.local()? }
            }
            Tok::Return => {
                self.return_statement()?;
                return Ok(true);
            }
            Tok::Break => {
                self.advance()?;
                self.goto_label(b"break"[..].into(), line)?;
                return Ok(true);
            }
            Tok::Label => {
                self.advance()?;
                let n = self.name()?;
                self.expect(&Tok::Label)?;
                self.label(n)?;
            }
            Tok::Name(_) if is_goto => {
                self.advance()?;
                let n = self.name()?;
                self.goto_label(n, line)?;
            }
            _ => self.expression_statement()?,
        }
        Ok(false)
    }
    fn patch_here(&mut self, l: &[usize]) -> Res<()> {
        self.f().fix_tests(l);
        let r = self.f().patch_here(l);
        self.ok(r)
    }
    fn patch_to(&mut self, l: &[usize], target: usize) -> Res<()> {
        self.f().fix_tests(l);
        for j in l {
            let r = self.f().patch(*j, target);
            self.ok(r)?;
        }
        Ok(())
    }
    /// A condition: the jumps taken when it is false.
    fn condition(&mut self) -> Res<Vec<usize>> {
        let mut e = self.expr()?;
        let r = self.f().go_if_true(&mut e);
        self.ok(r)?;
        Ok(e.f)
    }
    fn if_statement(&mut self, line: u32) -> Res<()> {
        let mut exits = Vec::new();
        loop {
            self.advance()?;
            let skip = self.condition()?;
            self.expect(&Tok::Then)?;
            self.scoped_block()?;
            let more = matches!(self.tok, Tok::ElseIf | Tok::Else);
            if more {
                let j = self.f().jump();
                exits.push(j);
            }
            self.patch_here(&skip)?;
            if self.tok != Tok::ElseIf {
                break;
            }
        }
        if self.accept(&Tok::Else)? {
            self.scoped_block()?;
        }
        self.patch_here(&exits)?;
        self.expect_match(&Tok::End, &Tok::If, line)
    }
    fn while_statement(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let f = self.f();
        f.last_target = f.pc();
        let start = f.pc();
        let exit = self.condition()?;
        self.open_scope(true);
        self.expect(&Tok::Do)?;
        let f = self.f();
        let slot = f.active.len();
        let head = f.emit(Ins::aj(Op::LOOP, slot as u8, 0));
        self.scoped_block()?;
        let j = self.f().jump();
        self.patch_to(&[j], start)?;
        self.expect_match(&Tok::End, &Tok::While, line)?;
        self.close_scope()?;
        self.patch_here(&exit)?;
        let here = self.f().pc();
        self.patch_to(&[head], here)
    }
    fn repeat_statement(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let f = self.f();
        f.last_target = f.pc();
        let slot = f.active.len();
        let head = f.emit(Ins::aj(Op::LOOP, slot as u8, 0));
        self.open_scope(true);
        self.open_scope(false);
        self.block()?;
        self.expect_match(&Tok::Until, &Tok::Repeat, line)?;
        let mut again = self.condition()?;
        let captured = self.f().scopes.last().is_some_and(|s| s.captured);
        if captured {
            // True: leave; false: close the variables of this round, then go on.
            self.goto_label(b"break"[..].into(), line)?;
            self.patch_here(&again)?;
            self.close_scope()?;
            let j = self.f().jump();
            again = vec![j];
        } else {
            self.close_scope()?;
        }
        self.patch_to(&again, head)?;
        self.close_scope()?;
        let here = self.f().pc();
        self.f().last_target = here;
        self.patch_to(&[head], here)
    }
    fn for_statement(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let first = self.name()?;
        self.open_scope(true);
        match self.tok {
            Tok::Char(b'=') => self.numeric_for(first, line)?,
            Tok::Char(b',') | Tok::In => self.generic_for(first, line)?,
            _ => return Err(self.error("'=' or 'in' expected")),
        }
        self.expect_match(&Tok::End, &Tok::For, line)?;
        self.close_scope()
    }
    fn numeric_for(&mut self, var: Rc<[u8]>, line: u32) -> Res<()> {
        self.advance()?;
        let base = self.expr_next()?;
        self.expect_char(b',')?;
        self.expr_next()?;
        if self.accept_char(b',')? {
            self.expr_next()?;
        } else {
            let mut one = Exp::new(Kind::Num(crate::bc::KNum::Int(1)));
            self.to_next(&mut one)?;
        }
        self.declare(&[b"(for index)"[..].into(), b"(for limit)"[..].into(), b"(for step)"[..].into()])?;
        self.expect(&Tok::Do)?;
        let head = self.f().emit(Ins::aj(Op::FORI, base as u8, 0));
        self.open_scope(false);
        self.declare(&[var])?;
        let r = self.f().reserve(1);
        self.ok(r)?;
        let f = self.f();
        f.last_target = f.pc();
        self.block()?;
        self.close_scope()?;
        let f = self.f();
        f.line = line;
        let back = f.emit(Ins::aj(Op::FORL, base as u8, 0));
        self.patch_to(&[back], head + 1)?;
        self.f().last_target = back + 1;
        self.patch_to(&[head], back + 1)
    }
    fn generic_for(&mut self, first: Rc<[u8]>, line: u32) -> Res<()> {
        let base = self.f().free;
        let mut names = vec![first];
        while self.accept_char(b',')? {
            let n = self.name()?;
            names.push(n);
        }
        self.expect(&Tok::In)?;
        let expr_line = self.line;
        let start = self.f().pc();
        let (n, e) = self.expr_list()?;
        self.adjust(3, n, e)?;
        let hidden: [Rc<[u8]>; 3] = [b"(for generator)"[..].into(), b"(for state)"[..].into(), b"(for control)"[..].into()];
        self.declare(&hidden)?;
        // The call of the generator needs registers above the triple.
        let r = self.f().check(3 + 1);
        self.ok(r)?;
        let is_next = names.len() <= 5 && self.uses_next(start);
        self.expect(&Tok::Do)?;
        let a = base + 3;
        let head = self.f().emit(Ins::aj(if is_next { Op::ISNEXT } else { Op::JMP }, a as u8, 0));
        self.open_scope(false);
        self.declare(&names)?;
        let r = self.f().reserve(names.len());
        self.ok(r)?;
        let f = self.f();
        f.last_target = f.pc();
        self.block()?;
        self.close_scope()?;
        let f = self.f();
        f.line = expr_line;
        let iter = f.emit_abc(if is_next { Op::ITERN } else { Op::ITERC }, a, names.len() + 1, 3);
        self.patch_to(&[head], iter)?;
        let f = self.f();
        f.line = line;
        let back = f.emit(Ins::aj(Op::ITERL, a as u8, 0));
        self.f().last_target = back + 1;
        self.patch_to(&[back], head + 1)
    }
    /// Do the instructions from `start` on look like a call of `pairs`, or a use of `next`?
    fn uses_next(&mut self, start: usize) -> bool {
        let f = self.f();
        let Some(i) = f.bc.get(start) else { return false };
        let name: Option<&[u8]> = match i.op() {
            Op::MOV => f.active.get(i.d()).map(|v| &*v.name),
            Op::UGET => f.uv_names.get(i.d()).map(|n| &**n),
            Op::GGET => match f.kgc.get(i.d()) {
                Some(crate::bc::KGc::Str(s)) => Some(s),
                _ => None,
            },
            _ => None,
        };
        matches!(name, Some(b"pairs" | b"next"))
    }
    fn function_statement(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        let name = self.name()?;
        let mut target = self.variable(&name)?;
        let mut method = false;
        while matches!(self.tok, Tok::Char(b'.' | b':')) {
            method = self.tok == Tok::Char(b':');
            self.advance()?;
            let r = self.to_any(&mut target)?;
            let n = self.name()?;
            target = self.index_name(r, &n)?;
            if method {
                break;
            }
        }
        let mut e = self.function_body(method, line)?;
        let f = self.f();
        f.line = line;
        let r = f.store(&target, &mut e);
        self.ok(r)
    }
    fn local_function(&mut self) -> Res<()> {
        self.advance()?;
        let line = self.last_line;
        let name = self.name()?;
        self.declare(&[name])?;
        let r = self.f().reserve(1);
        let slot = self.ok(r)?;
        let mut e = self.function_body(false, line)?;
        let f = self.f();
        f.free = slot;
        let r = f.reserve(1);
        self.ok(r)?;
        let r = self.f().into_reg(&mut e, slot);
        self.ok(r)?;
        // Visible in the debug information from here on.
        let f = self.f();
        let pc = f.pc() as u32;
        if let Some(v) = f.active.last() {
            f.vars[v.info].start_pc = pc;
        }
        Ok(())
    }
    fn local(&mut self) -> Res<()> {
        let mut names = Vec::new();
        loop {
            let n = self.name()?;
            names.push(n);
            if !self.accept_char(b',')? {
                break;
            }
        }
        if self.accept_char(b'=')? {
            let (n, e) = self.expr_list()?;
            self.adjust(names.len(), n, e)?;
        } else {
            let r = self.f().reserve(names.len());
            let from = self.ok(r)?;
            self.f().nils(from, names.len());
        }
        self.declare(&names)
    }
    /// Adjusts a list of `have` expressions (the last not in a register yet) to `want` values in registers.
    fn adjust(&mut self, want: usize, have: usize, mut e: Exp) -> Res<()> {
        if let Kind::Call(pc, _) = e.k
            && !e.has_jumps()
        {
            let extra = (want + 1).saturating_sub(have);
            let f = self.f();
            f.bc[pc] = f.bc[pc].with_b((extra + 1) as u8);
            if extra > 1 {
                let r = f.reserve(extra - 1);
                self.ok(r)?;
            }
            if extra == 0 {
                self.f().free -= 1;
            }
        } else {
            if e.k != Kind::Void {
                self.to_next(&mut e)?;
            }
            if want > have {
                let r = self.f().reserve(want - have);
                let from = self.ok(r)?;
                self.f().nils(from, want - have);
            }
        }
        if have > want {
            let over = have - want;
            let multi_dropped = usize::from(matches!(e.k, Kind::Call(..)) && !e.has_jumps());
            self.f().free -= over - multi_dropped;
        }
        Ok(())
    }
    fn return_statement(&mut self) -> Res<()> {
        self.advance()?;
        let ins;
        if self.at_block_end() || self.tok == Tok::Char(b';') {
            ins = Ins::ad(Op::RET0, 0, 1);
        } else {
            let (n, mut e) = self.expr_list()?;
            if n == 1 {
                match e.k {
                    Kind::Call(pc, base) if !e.has_jumps() => {
                        let f = self.f();
                        let call = f.bc[pc];
                        if call.op() == Op::VARG {
                            f.bc[pc] = call.with_b(0);
                            ins = Ins::ad(Op::RETM, base as u8, 0);
                        } else {
                            let op = if call.op() == Op::CALL { Op::CALLT } else { Op::CALLMT };
                            f.bc.pop();
                            f.lines.pop();
                            ins = Ins::ad(op, base as u8, call.c() as u16);
                        }
                    }
                    _ => {
                        let r = self.to_any(&mut e)?;
                        ins = Ins::ad(Op::RET1, r as u8, 2);
                    }
                }
            } else if let Kind::Call(_, base) = e.k
                && !e.has_jumps()
            {
                self.open_results(&e);
                ins = Ins::ad(Op::RETM, (base + 1 - n) as u8, (n - 1) as u16);
            } else {
                let r = self.to_next(&mut e)?;
                ins = Ins::ad(Op::RET, (r + 1 - n) as u8, (n + 1) as u16);
            }
        }
        self.f().emit(ins);
        Ok(())
    }
    fn expression_statement(&mut self) -> Res<()> {
        let e = self.primary()?;
        if let Kind::Call(pc, _) = e.k
            && !e.has_jumps()
            && !matches!(self.tok, Tok::Char(b'=' | b','))
        {
            let f = self.f();
            if f.bc[pc].op() != Op::VARG {
                f.bc[pc] = f.bc[pc].with_b(1);
                return Ok(());
            }
        }
        self.assignment(vec![e])
    }
    fn assignment(&mut self, mut targets: Vec<Exp>) -> Res<()> {
        loop {
            let ok = targets.last().is_some_and(|t| matches!(t.k, Kind::Local(_) | Kind::Upval(_) | Kind::Global(_) | Kind::Index(..)));
            if !ok {
                return Err(self.error("unexpected symbol"));
            }
            if !self.accept_char(b',')? {
                break;
            }
            let e = self.primary()?;
            if let Kind::Local(slot) = e.k {
                self.protect(&mut targets, slot)?;
            }
            targets.push(e);
            if targets.len() > 200 {
                return Err(self.error("chunk has too many syntax levels"));
            }
        }
        if self.tok != Tok::Char(b'=') {
            return Err(self.error("'=' expected"));
        }
        self.advance()?;
        let (n, mut e) = self.expr_list()?;
        if n == targets.len()
            && let Some(last) = targets.pop()
        {
            let r = self.f().discharge(&mut e);
            self.ok(r)?;
            let r = self.f().store(&last, &mut e);
            self.ok(r)?;
        } else {
            let want = targets.len();
            self.adjust(want, n, e)?;
        }
        while let Some(t) = targets.pop() {
            let r = self.f().free - 1;
            let mut v = Exp::new(Kind::Reg(r));
            let s = self.f().store(&t, &mut v);
            self.ok(s)?;
            let f = self.f();
            f.free = f.free.min(r.max(f.active.len()));
        }
        Ok(())
    }
    /// A local that is assigned while earlier targets index with it: they get a copy.
    fn protect(&mut self, targets: &mut [Exp], slot: usize) -> Res<()> {
        use super::emit::Key;
        let mut copy = None;
        for t in targets {
            if let Kind::Index(table, key) = &mut t.k {
                let uses = *table == slot || *key == Key::Reg(slot);
                if uses && copy.is_none() {
                    let r = self.f().reserve(1);
                    let r = self.ok(r)?;
                    self.f().emit_ad(Op::MOV, r, slot);
                    copy = Some(r);
                }
                if let Some(r) = copy {
                    if *table == slot {
                        *table = r;
                    }
                    if *key == Key::Reg(slot) {
                        *key = Key::Reg(r);
                    }
                }
            }
        }
        Ok(())
    }
}
