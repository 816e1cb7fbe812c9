//! Terms: operators by priority, names, indexing, calls.

use super::Parser;
use super::emit::NO_JMP;
use super::expr::{Exp, Key, Kind};
use super::lex::{Res, Tok};
use crate::bc::{Ins, Op};

/// Priority of unary operators.
const UNARY: u32 = 12;

/// Restrictions of an expression: any of [`flag`].
pub(super) type Flags = u8;

/// Restrictions of an expression.
pub(super) mod flag {
    /// A statement: the value is not needed.
    pub const NO_RESULT: u8 = 1;
    /// The next colon is not a method's.
    pub const NO_COLON: u8 = 2;
    /// No safe navigation.
    pub const NO_NAV: u8 = 4;
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Res<Exp> {
        self.expr_with(0)
    }
    /// An expression with restrictions.
    pub(super) fn expr_with(&mut self, flags: Flags) -> Res<Exp> {
        let e = self.binary(0, flags)?;
        if self.at(b'?') { self.ternary(e) } else { Ok(e) }
    }
    /// A ternary, after its condition.
    #[inline(never)]
    fn ternary(&mut self, mut e: Exp) -> Res<Exp> {
        let mut escapes = NO_JMP;
        // The last operand of a ternary may be another one.
        while self.opt(b'?')? {
            self.ternary_middle(&mut e, &mut escapes)?;
            e = self.binary(0, 0)?;
            if self.tok != Tok::Char(b'?') {
                self.put_next_reg(&mut e)?;
            }
        }
        self.jmp_tohere(escapes)?;
        Ok(e)
    }
    /// The operand after the `?` of a ternary with the condition `e`, and the colon.
    fn ternary_middle(&mut self, e: &mut Exp, escapes: &mut u32) -> Res<()> {
        self.branch_true(e)?;
        let otherwise = e.f;
        // LuaJIT does not count these as levels; its native stack is the limit.
        self.ternaries += 1;
        self.check_levels(self.ternaries)?;
        let mut value = self.expr_with(flag::NO_COLON)?;
        self.ternaries -= 1;
        let reg = self.put_next_reg(&mut value)?;
        let mut jump = self.emit_jmp()?;
        self.jmp_append(&mut jump, *escapes)?;
        *escapes = jump;
        self.jmp_tohere(otherwise)?;
        self.check(&Tok::Char(b':'))?;
        self.fs.reg_free(reg);
        Ok(())
    }
    /// An expression in the next register.
    pub(super) fn expr_next(&mut self) -> Res<()> {
        let mut e = self.expr()?;
        self.put_next_reg(&mut e)?;
        Ok(())
    }
    /// A condition; the jumps taken if it is false.
    pub(super) fn cond(&mut self) -> Res<u32> {
        let mut e = self.expr()?;
        if e.kind == Kind::Nil {
            e.kind = Kind::False;
        }
        self.branch_true(&mut e)?;
        Ok(e.f)
    }
    /// A list of expressions: their number, and the last one.
    pub(super) fn expr_list(&mut self) -> Res<(u32, Exp)> {
        let mut n = 1;
        let mut e = self.expr()?;
        while self.opt(b',')? {
            self.put_next_reg(&mut e)?;
            e = self.expr()?;
            n += 1;
        }
        Ok((n, e))
    }
    /// An expression of operators with a left priority above a limit.
    fn binary(&mut self, limit: u32, flags: Flags) -> Res<Exp> {
        self.enter()?;
        let mut e = self.unary(flags)?;
        while let Some((op, left, right)) = self.bin_op() {
            if left <= limit {
                break;
            }
            self.advance()?;
            self.binop_left(op, &mut e)?;
            let e2 = self.binary(right, flags)?;
            self.binop(op, &mut e, e2)?;
        }
        self.leave();
        Ok(e)
    }
    fn unary(&mut self, flags: Flags) -> Res<Exp> {
        let op = match self.tok {
            Tok::Not | Tok::Char(b'!') => Op::NOT,
            Tok::Char(b'-') => Op::UNM,
            Tok::Char(b'#') => Op::LEN,
            Tok::Char(b'~') => Op::BNOT,
            _ => return self.simple(flags),
        };
        self.advance()?;
        let mut e = self.binary(UNARY, flags)?;
        self.unop(op, &mut e)?;
        Ok(e)
    }
    fn simple(&mut self, flags: Flags) -> Res<Exp> {
        let kind = match &self.tok {
            Tok::Num(n) => Kind::Num(*n),
            Tok::Cdata(k) => Kind::Cdata(*k),
            Tok::Str(s) => Kind::Str(s.clone()),
            Tok::Nil => Kind::Nil,
            Tok::True => Kind::True,
            Tok::False => Kind::False,
            Tok::Dots => self.vararg()?,
            Tok::Char(b'{') => return self.table(),
            Tok::Function => {
                self.advance()?;
                let line = self.line;
                return self.parse_body(false, line);
            }
            Tok::Char(b'|') | Tok::OrOr => return self.short_function(None, flags, self.line),
            _ => return self.primary(flags),
        };
        self.advance()?;
        Ok(Exp::new(kind))
    }
    #[inline(never)]
    fn vararg(&mut self) -> Res<Kind> {
        if !self.fs.is_vararg {
            return Err(self.err_tok("cannot use '...' outside a vararg function"));
        }
        let base = self.reg_reserve(1)?;
        let pc = self.emit_abc(Op::VARG, base, 2, self.fs.num_params)?;
        Ok(Kind::Call { pc, base })
    }
    /// A name or parenthesised expression with its indices and calls; nil where safe navigation skips them.
    pub(super) fn primary(&mut self, flags: Flags) -> Res<Exp> {
        let (mut e, skip) = self.navigate(flags)?;
        if skip != NO_JMP {
            self.skipped_value(&mut e, skip)?;
        }
        Ok(e)
    }
    /// Makes the jumps of safe navigation produce nil instead of `e`.
    #[inline(never)]
    fn skipped_value(&mut self, e: &mut Exp, skip: u32) -> Res<()> {
        let around = self.emit_jmp()?;
        self.jmp_tohere(skip)?;
        let reg = match e.kind {
            Kind::Call { pc, base } => {
                e.kind = Kind::CallNav { pc, base };
                base
            }
            // The result of indexing after the skipped part is nil.
            Kind::NonReloc(reg) | Kind::Indexed { table: reg, .. } => reg,
            _ => return Err(self.err_tok("syntax error")),
        };
        self.emit_ad(Op::KPRI, reg, 0)?;
        // The register of the key is released as well, unless it is a local.
        if let Kind::Indexed { key: Key::Reg(key), .. } = e.kind
            && u32::from(key) >= self.fs.locals.active
        {
            self.emit_ad(Op::KPRI, key, 0)?;
        }
        self.jmp_tohere(around)
    }
    /// A name or parenthesised expression with its indices and calls; and the jumps of safe navigation.
    pub(super) fn navigate(&mut self, flags: Flags) -> Res<(Exp, u32)> {
        let mut skip = NO_JMP;
        let mut e = match &self.tok {
            Tok::Char(b'(') => self.parentheses()?,
            Tok::Name(_) => {
                let line = self.line;
                let name = self.lex_name()?;
                if flags & flag::NO_RESULT == 0 && self.tok == Tok::Arrow {
                    return Ok((self.short_function(Some(name), flags, line)?, NO_JMP));
                }
                self.var_lookup(name)?
            }
            _ => return Err(self.err_tok("unexpected symbol")),
        };
        loop {
            let mut nav = flags & flag::NO_NAV == 0 && self.opt_tok(&Tok::Nav)?;
            if nav {
                self.put_any_reg(&mut e)?;
                self.skip_if_nil(&e, &mut skip)?;
            }
            let mut call = false;
            match &self.tok {
                Tok::Char(b'[') => {
                    self.put_any_reg(&mut e)?;
                    let mut key = self.bracket()?;
                    self.index(&mut e, &mut key)?;
                }
                Tok::Char(b':') if flags & flag::NO_COLON == 0 => {
                    self.advance()?;
                    let name = self.lex_name()?;
                    self.method(&mut e, &name)?;
                    nav = self.opt_tok(&Tok::Nav)?;
                    if nav {
                        self.skip_if_nil(&e, &mut skip)?;
                    }
                    call = true;
                }
                Tok::Char(b':') if nav => return Err(self.err_tok("unexpected symbol")),
                Tok::Char(b'(' | b'{') | Tok::Str(_) => {
                    self.put_next_reg(&mut e)?;
                    self.reg_reserve(1)?;
                    call = true;
                }
                Tok::Char(b'.') if !nav => self.field(&mut e)?,
                _ if nav => self.field_name(&mut e)?,
                _ => return Ok((e, skip)),
            }
            if call {
                self.args(&mut e)?;
            }
            if nav && flags & flag::NO_RESULT == 0 {
                if call && !self.at_suffix() {
                    // All results of the call may be needed.
                    return Ok((e, skip));
                }
                self.put_next_reg(&mut e)?;
            }
        }
    }
    #[inline(never)]
    fn parentheses(&mut self) -> Res<Exp> {
        let line = self.line;
        self.advance()?;
        let mut e = self.expr()?;
        self.check_match(&Tok::Char(b')'), &Tok::Char(b'('), line)?;
        self.discharge(&mut e)?;
        Ok(e)
    }
    /// Adds a jump that is taken if the value is nil.
    #[inline(never)]
    fn skip_if_nil(&mut self, e: &Exp, skip: &mut u32) -> Res<()> {
        let Kind::NonReloc(reg) = e.kind else { return Err(self.err_tok("syntax error")) };
        self.emit_ad(Op::ISEQP, reg, 0)?;
        let jump = self.emit_jmp()?;
        self.jmp_append(skip, jump)
    }
    /// Does an index or a call follow?
    fn at_suffix(&self) -> bool {
        matches!(self.tok, Tok::Nav | Tok::Str(_) | Tok::Char(b'[' | b':' | b'(' | b'{' | b'.'))
    }
    /// `.name`.
    #[inline(never)]
    pub(super) fn field(&mut self, e: &mut Exp) -> Res<()> {
        self.put_any_reg(e)?;
        self.advance()?;
        self.field_name(e)
    }
    /// A name that indexes `e`.
    fn field_name(&mut self, e: &mut Exp) -> Res<()> {
        self.put_any_reg(e)?;
        let name = self.lex_name()?;
        self.index(e, &mut Exp::new(Kind::Str(name)))
    }
    /// `[expr]`.
    #[inline(never)]
    pub(super) fn bracket(&mut self) -> Res<Exp> {
        self.advance()?;
        let mut e = self.expr()?;
        self.put_val(&mut e)?;
        self.check(&Tok::Char(b']'))?;
        Ok(e)
    }
    /// Arguments of a call; the function is in a register, and the slots for the arguments follow it.
    #[inline(never)]
    fn args(&mut self, e: &mut Exp) -> Res<()> {
        let line = self.line;
        let mut args = Exp::new(Kind::Void);
        match &self.tok {
            Tok::Char(b'(') => {
                if line != self.last_line {
                    return Err(self.err_tok("ambiguous syntax (function call x new statement)"));
                }
                self.advance()?;
                if self.tok != Tok::Char(b')') {
                    args = self.expr_list()?.1;
                    if let Kind::Call { pc, .. } = args.kind {
                        self.set_b(pc, 0);
                    }
                }
                self.check_match(&Tok::Char(b')'), &Tok::Char(b'('), line)?;
            }
            Tok::Char(b'{') => args = self.table()?,
            Tok::Str(s) => {
                args = Exp::new(Kind::Str(s.clone()));
                self.advance()?;
            }
            _ => return Err(self.err_tok("function arguments expected")),
        }
        self.emit_call(e, args, line)
    }
    #[inline(never)]
    fn emit_call(&mut self, e: &mut Exp, mut args: Exp, line: u32) -> Res<()> {
        let Kind::NonReloc(base) = e.kind else { return Err(self.err_tok("syntax error")) };
        let ins = if let Kind::Call { .. } = args.kind {
            Ins::abc(Op::CALLM, base, 2, (self.fs.free_reg - base as u32 - 3) as u8)
        } else {
            if args.kind != Kind::Void {
                self.put_next_reg(&mut args)?;
            }
            Ins::abc(Op::CALL, base, 2, (self.fs.free_reg - base as u32 - 1) as u8)
        };
        let pc = self.emit(ins)?;
        *e = Exp::new(Kind::Call { pc, base });
        self.fs.bc[pc as usize].line = line;
        self.fs.free_reg = base as u32 + 1;
        Ok(())
    }
}
