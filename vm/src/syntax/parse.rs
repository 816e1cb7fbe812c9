//! The parser's state: tokens, functions being compiled, variables.

use super::emit::{Exp, Func, Kind, Limit};
use super::lex::{Lexer, Res, SyntaxError, Tok, token_name};
use super::scope::{Goto, Label, Scope, Var};
use crate::bc::{Ins, Op, ProtoData, UvDesc, VarInfo};
use std::rc::Rc;

/// The parser.
pub(super) struct Parser<'a> {
    pub lex: Lexer<'a>,
    /// Current token.
    pub tok: Tok,
    span: (usize, usize),
    /// Token after it, if looked at.
    ahead: Option<(Tok, (usize, usize), u32)>,
    /// Line of the current token.
    pub line: u32,
    /// Line of the token before.
    pub last_line: u32,
    /// Functions being compiled, innermost last.
    pub funcs: Vec<Func>,
    chunkname: Rc<[u8]>,
    depth: u32,
}

/// Deepest nesting of syntax.
const MAX_DEPTH: u32 = 200;

/// Compiles a chunk.
///
/// # Errors
/// A syntax error or a limit, with its position, in LuaJIT's words.
pub fn compile(source: &[u8], chunkname: &[u8]) -> Result<ProtoData, SyntaxError> {
    let mut p = Parser {
        lex: Lexer::new(source, chunkname),
        tok: Tok::Eof,
        span: (0, 0),
        ahead: None,
        line: 1,
        last_line: 1,
        funcs: Vec::new(),
        chunkname: chunkname.into(),
        depth: 0,
    };
    p.open_function(0);
    p.f().vararg = true;
    p.advance()?;
    p.open_scope(false);
    p.block()?;
    if p.tok != Tok::Eof {
        return Err(p.expected(&Tok::Eof));
    }
    p.close_function()
}

impl<'a> Parser<'a> {
    /// The innermost function.
    pub fn f(&mut self) -> &mut Func {
        let n = self.funcs.len() - 1;
        &mut self.funcs[n]
    }
    /// Turns an emitter's failure into an error.
    pub fn ok<T>(&mut self, r: Result<T, Limit>) -> Res<T> {
        r.map_err(|l| match l {
            Limit::Slots => self.error("function or expression too complex"),
            Limit::Jump => self.error("control structure too long"),
            Limit::Count(n, what) => self.limit_error(n, what),
        })
    }
    fn limit_error(&mut self, n: usize, what: &str) -> SyntaxError {
        let first = self.f().first_line;
        let msg = if first == 0 {
            format!("main function has more than {n} {what}")
        } else {
            format!("function at line {first} has more than {n} {what}")
        };
        self.lex.error_at(self.line, &msg)
    }
    /// Reads the next token.
    pub fn advance(&mut self) -> Res<()> {
        self.last_line = self.line;
        let (tok, span, line) = match self.ahead.take() {
            Some(a) => a,
            None => {
                let t = self.lex.next()?;
                (t, self.lex.span(), self.lex.line)
            }
        };
        self.tok = tok;
        self.span = span;
        self.line = line;
        let last = self.last_line;
        self.f().line = last;
        Ok(())
    }
    /// The token after the current one.
    pub fn peek(&mut self) -> Res<&Tok> {
        if self.ahead.is_none() {
            let t = self.lex.next()?;
            self.ahead = Some((t, self.lex.span(), self.lex.line));
        }
        Ok(self.ahead.as_ref().map_or(&Tok::Eof, |a| &a.0))
    }
    /// An error near the current token.
    pub fn error(&self, msg: &str) -> SyntaxError {
        let mut e = self.lex.error_at(self.line, msg);
        e.message.extend_from_slice(b" near '");
        match &self.tok {
            Tok::Eof => e.message.extend_from_slice(b"<eof>"),
            Tok::Char(c) if c.is_ascii_control() => e.message.extend_from_slice(format!("char({c})").as_bytes()),
            _ => e.message.extend_from_slice(self.lex.slice(self.span)),
        }
        e.message.push(b'\'');
        e
    }
    /// An error without a near token.
    pub fn error_plain(&self, msg: &str) -> SyntaxError {
        self.lex.error_at(self.line, msg)
    }
    /// "'x' expected"
    pub fn expected(&self, t: &Tok) -> SyntaxError {
        let name = token_name(t);
        if matches!(t, Tok::Name(_)) { self.error("'<name>' expected") } else { self.error(&format!("'{name}' expected")) }
    }
    /// Skips a token if it is the current one.
    pub fn accept(&mut self, t: &Tok) -> Res<bool> {
        if self.tok == *t {
            self.advance()?;
            return Ok(true);
        }
        Ok(false)
    }
    pub fn accept_char(&mut self, c: u8) -> Res<bool> {
        self.accept(&Tok::Char(c))
    }
    pub fn expect(&mut self, t: &Tok) -> Res<()> {
        if self.accept(t)? { Ok(()) } else { Err(self.expected(t)) }
    }
    pub fn expect_char(&mut self, c: u8) -> Res<()> {
        self.expect(&Tok::Char(c))
    }
    /// Expects the token that closes one opened at a line.
    pub fn expect_match(&mut self, what: &Tok, who: &Tok, line: u32) -> Res<()> {
        if self.accept(what)? {
            return Ok(());
        }
        if line == self.line {
            return Err(self.expected(what));
        }
        let msg = format!("'{}' expected (to close '{}' at line {line})", token_name(what), token_name(who));
        Err(self.error(&msg))
    }
    /// A name.
    pub fn name(&mut self) -> Res<Rc<[u8]>> {
        if let Tok::Name(n) = &self.tok {
            let n = n.clone();
            self.advance()?;
            return Ok(n);
        }
        Err(self.error("'<name>' expected"))
    }
    /// Counts a level of nesting.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error_plain("chunk has too many syntax levels"));
        }
        let r = f(self);
        self.depth -= 1;
        r
    }

    /// Starts a function.
    pub fn open_function(&mut self, line: u32) {
        let mut f = Func { first_line: line, framesize: 1, line, ..Func::default() };
        f.emit(Ins::ad(Op::FUNCF, 0, 0));
        self.funcs.push(f);
    }
    /// Ends the function.
    pub fn close_function(&mut self) -> Res<ProtoData> {
        let line = self.line;
        self.f().line = if self.funcs.len() == 1 { self.last_line } else { line };
        self.final_return();
        self.close_scope()?;
        let chunkname = self.chunkname.clone();
        let Some(mut f) = self.funcs.pop() else { return Err(self.error("unexpected symbol")) };
        f.finish_tests();
        let closed = if f.captured { f.close_before_returns() } else { Ok(()) };
        if closed.is_err() {
            return Err(self.lex.error_at(line, "control structure too long"));
        }
        let op = if f.vararg { Op::FUNCV } else { Op::FUNCF };
        f.bc[0] = Ins::ad(op, f.framesize.max(1) as u8, 0);
        f.lines[0] = f.first_line;
        Ok(ProtoData {
            bc: f.bc,
            kgc: f.kgc,
            knum: f.knum,
            upvalues: f.upvalues,
            num_params: f.num_params as u8,
            framesize: f.framesize.max(1) as u8,
            is_vararg: f.vararg,
            has_children: f.children,
            first_line: f.first_line,
            last_line: line,
            lines: f.lines,
            chunkname,
            uv_names: f.uv_names.iter().map(|n| n.to_vec().into_boxed_slice()).collect(),
            vars: f.vars,
        })
    }
    fn final_return(&mut self) {
        let f = self.f();
        let pc = f.pc();
        let ends = pc > 1
            && pc != f.last_target
            && matches!(f.bc[pc - 1].op(), Op::RET | Op::RET0 | Op::RET1 | Op::RETM | Op::CALLT | Op::CALLMT);
        let pending = f.gotos.iter().any(|g| g.vars <= f.active.len());
        if ends && !pending && !f.labels.iter().any(|l| l.pc == pc) {
            return;
        }
        f.emit_ad(Op::RET0, 0, 1);
    }

    /// Opens a scope.
    pub fn open_scope(&mut self, is_loop: bool) {
        let f = self.f();
        let s =
            Scope { vars: f.active.len(), labels: f.labels.len(), gotos: f.gotos.len(), is_loop, captured: false };
        f.scopes.push(s);
    }
    /// Closes the innermost scope: variables end, gotos that leave it are noted, captured variables are closed.
    pub fn close_scope(&mut self) -> Res<()> {
        let f = self.f();
        let Some(s) = f.scopes.pop() else { return Ok(()) };
        f.labels.truncate(s.labels);
        let pc = f.pc() as u32;
        for v in f.active.drain(s.vars..) {
            f.vars[v.info].end_pc = pc;
        }
        f.free = f.active.len();
        if s.captured {
            f.captured = true;
            let leaves = f.pc() > 1 && matches!(f.bc[f.pc() - 1].op(), Op::RET | Op::RET0 | Op::RET1 | Op::RETM | Op::CALLT | Op::CALLMT);
            if !f.scopes.is_empty() && (!leaves || f.last_target == f.pc()) {
                f.emit(Ins::aj(Op::UCLO, s.vars as u8, 0));
            }
        }
        let first = s.gotos;
        for i in first..f.gotos.len() {
            let pc = f.gotos[i].pc;
            if f.gotos[i].vars > s.vars {
                f.gotos[i].vars = s.vars;
                if s.captured {
                    f.bc[pc] = f.bc[pc].with_op(Op::UCLO).with_a(s.vars as u8);
                }
            }
        }
        if s.is_loop {
            self.resolve(b"break", first)?;
        }
        let outermost = self.f().scopes.is_empty();
        if outermost && let Some(g) = self.f().gotos.first() {
            let (name, line) = (g.name.clone(), g.line);
            let msg = if &*name == b"break" {
                "no loop to break".to_string()
            } else {
                format!("undefined label '{}'", String::from_utf8_lossy(&name))
            };
            return Err(self.lex.error_at(line, &msg));
        }
        Ok(())
    }
    /// Directs the pending gotos from number `first` on with a name to the next instruction.
    fn resolve(&mut self, name: &[u8], first: usize) -> Res<()> {
        let here = self.f().pc();
        let mut i = first;
        while i < self.f().gotos.len() {
            if &*self.f().gotos[i].name == name {
                let g = self.f().gotos.remove(i);
                if g.vars < self.f().active.len() {
                    let var = self.f().active[g.vars].name.clone();
                    let msg = format!(
                        "<goto {}> jumps into the scope of local '{}'",
                        String::from_utf8_lossy(name),
                        String::from_utf8_lossy(&var)
                    );
                    return Err(self.lex.error_at(g.line, &msg));
                }
                let r = self.f().patch(g.pc, here);
                self.ok(r)?;
                self.f().last_target = here;
            } else {
                i += 1;
            }
        }
        Ok(())
    }
    /// Declares a label here.
    pub fn label(&mut self, name: Rc<[u8]>) -> Res<()> {
        if self.f().labels.iter().any(|l| l.name == name) {
            let msg = format!("duplicate label '{}'", String::from_utf8_lossy(&name));
            return Err(self.lex.error_at(self.line, &msg));
        }
        let f = self.f();
        f.last_target = f.pc();
        let l = Label { name: name.clone(), pc: f.pc(), vars: f.active.len() };
        f.labels.push(l);
        let first = f.scopes.last().map_or(0, |s| s.gotos);
        self.resolve(&name, first)
    }
    /// Jumps to a label, seen or not.
    pub fn goto_label(&mut self, name: Rc<[u8]>, line: u32) -> Res<()> {
        let f = self.f();
        let found = f.labels.iter().rev().find(|l| l.name == name).map(|l| (l.pc, l.vars));
        if let Some((target, vars)) = found {
            let pc = f.emit(Ins::aj(Op::UCLO, vars as u8, 0));
            let r = f.patch(pc, target);
            return self.ok(r);
        }
        let pc = f.jump();
        let vars = f.active.len();
        f.gotos.push(Goto { name, pc, line, vars });
        Ok(())
    }

    /// Makes the topmost registers local variables.
    pub fn declare(&mut self, names: &[Rc<[u8]>]) -> Res<()> {
        let n = self.f().active.len() + names.len();
        if n > 200 {
            return Err(self.limit_error(200, "local variables"));
        }
        let f = self.f();
        let pc = f.pc() as u32;
        for name in names {
            f.vars.push(VarInfo { name: name.to_vec().into_boxed_slice(), start_pc: pc, end_pc: pc });
            let info = f.vars.len() - 1;
            f.active.push(Var { name: name.clone(), info });
        }
        Ok(())
    }
    /// The variable with a name.
    pub fn variable(&mut self, name: &Rc<[u8]>) -> Res<Exp> {
        let n = self.funcs.len() - 1;
        self.find(name, n, true)
    }
    fn find(&mut self, name: &Rc<[u8]>, level: usize, direct: bool) -> Res<Exp> {
        let f = &mut self.funcs[level];
        if let Some(slot) = f.active.iter().rposition(|v| v.name == *name) {
            if !direct {
                if let Some(s) = f.scopes.iter_mut().rev().find(|s| s.vars <= slot) {
                    s.captured = true;
                }
                f.captured = true;
            }
            return Ok(Exp::new(Kind::Local(slot)));
        }
        if let Some(i) = f.uv_names.iter().position(|n| n == name) {
            return Ok(Exp::new(Kind::Upval(i)));
        }
        if level == 0 {
            return Ok(Exp::new(Kind::Global(name.clone())));
        }
        let (local, index) = match self.find(name, level - 1, false)?.k {
            Kind::Local(slot) => (true, slot),
            Kind::Upval(i) => (false, i),
            k => return Ok(Exp::new(k)),
        };
        let f = &mut self.funcs[level];
        if f.upvalues.len() >= 60 {
            let first = f.first_line;
            return Err(self.lex.error_at(self.line, &format!("function at line {first} has more than 60 upvalues")));
        }
        f.upvalues.push(UvDesc { local, immutable: false, index: index as u8 });
        f.uv_names.push(name.clone());
        Ok(Exp::new(Kind::Upval(f.upvalues.len() - 1)))
    }
}
