//! Expressions.

use super::emit::{Exp, Key, Kind};
use super::lex::{Res, Tok};
use super::number::canonical;
use super::parse::Parser;
use crate::bc::{KGc, KNum, KVal, Op, TableTemplate};
use std::rc::Rc;

#[derive(Copy, Clone, PartialEq, Debug)]
enum Bin {
    Add, Sub, Mul, Div, Mod, Pow, Concat, Ne, Eq, Lt, Ge, Le, Gt, And, Or,
}

/// Binding power to the left and to the right.
fn binary(t: &Tok) -> Option<(Bin, u8, u8)> {
    Some(match t {
        Tok::Char(b'+') => (Bin::Add, 6, 6),
        Tok::Char(b'-') => (Bin::Sub, 6, 6),
        Tok::Char(b'*') => (Bin::Mul, 7, 7),
        Tok::Char(b'/') => (Bin::Div, 7, 7),
        Tok::Char(b'%') => (Bin::Mod, 7, 7),
        Tok::Char(b'^') => (Bin::Pow, 10, 9),
        Tok::Concat => (Bin::Concat, 5, 4),
        Tok::Ne => (Bin::Ne, 3, 3),
        Tok::Eq => (Bin::Eq, 3, 3),
        Tok::Char(b'<') => (Bin::Lt, 3, 3),
        Tok::Ge => (Bin::Ge, 3, 3),
        Tok::Le => (Bin::Le, 3, 3),
        Tok::Char(b'>') => (Bin::Gt, 3, 3),
        Tok::And => (Bin::And, 2, 2),
        Tok::Or => (Bin::Or, 1, 1),
        _ => return None,
    })
}
const UNARY: u8 = 8;

fn value(k: KNum) -> f64 {
    match k {
        KNum::Int(i) => f64::from(i),
        KNum::Num(n) => n,
    }
}

fn fold(op: Bin, a: KNum, b: KNum) -> Option<KNum> {
    let (x, y) = (value(a), value(b));
    let r = match op {
        Bin::Add => x + y,
        Bin::Sub => x - y,
        Bin::Mul => x * y,
        Bin::Div => x / y,
        Bin::Mod => crate::meta::lua_mod(x, y),
        Bin::Pow => crate::meta::lua_pow(x, y),
        _ => return None,
    };
    if r.is_nan() || r == 0.0 && r.is_sign_negative() { None } else { Some(canonical(r)) }
}

impl Parser<'_> {
    /// An expression.
    pub fn expr(&mut self) -> Res<Exp> {
        self.binary(0)
    }
    /// An expression into the next register.
    pub fn expr_next(&mut self) -> Res<usize> {
        let mut e = self.expr()?;
        self.to_next(&mut e)
    }
    pub fn to_next(&mut self, e: &mut Exp) -> Res<usize> {
        let r = self.f().to_next(e);
        self.ok(r)
    }
    pub fn to_any(&mut self, e: &mut Exp) -> Res<usize> {
        let r = self.f().to_any(e);
        self.ok(r)
    }
    /// A list of expressions, all but the last in registers; how many.
    pub fn expr_list(&mut self) -> Res<(usize, Exp)> {
        let mut e = self.expr()?;
        let mut n = 1;
        while self.accept_char(b',')? {
            self.to_next(&mut e)?;
            e = self.expr()?;
            n += 1;
        }
        Ok((n, e))
    }
    fn binary(&mut self, limit: u8) -> Res<Exp> {
        self.nested(|p| p.binary_inner(limit))
    }
    fn binary_inner(&mut self, limit: u8) -> Res<Exp> {
        let mut e = self.unary()?;
        while let Some((op, left, right)) = binary(&self.tok) {
            if left <= limit {
                break;
            }
            let line = self.line;
            self.advance()?;
            self.infix(op, &mut e)?;
            let mut e2 = self.binary(right)?;
            let saved = self.f().line;
            self.f().line = line;
            self.combine(op, &mut e, &mut e2)?;
            self.f().line = saved;
        }
        Ok(e)
    }
    fn unary(&mut self) -> Res<Exp> {
        let op = match self.tok {
            Tok::Not => Op::NOT,
            Tok::Char(b'-') => Op::UNM,
            Tok::Char(b'#') => Op::LEN,
            _ => return self.simple(),
        };
        let line = self.line;
        self.advance()?;
        let mut e = self.binary(UNARY)?;
        self.f().line = line;
        if op == Op::NOT {
            self.not(&mut e)?;
            return Ok(e);
        }
        if op == Op::UNM
            && let Some(n) = e.num()
            && value(n) != 0.0
        {
            e.k = Kind::Num(canonical(-value(n)));
            return Ok(e);
        }
        let r = self.to_any(&mut e)?;
        let f = self.f();
        f.release(r);
        e.k = Kind::Reloc(f.emit_ad(op, 0, r));
        Ok(e)
    }
    fn not(&mut self, e: &mut Exp) -> Res<()> {
        core::mem::swap(&mut e.t, &mut e.f);
        let f = self.f();
        for l in [&e.t, &e.f] {
            f.fix_tests(l);
        }
        let r = f.discharge(e);
        self.ok(r)?;
        match e.k {
            Kind::Nil | Kind::False => e.k = Kind::True,
            Kind::True | Kind::Str(_) | Kind::Num(_) => e.k = Kind::False,
            Kind::Jmp(pc) => {
                let f = self.f();
                let i = f.bc[pc - 1];
                if let Some(op) = Op::from_u8(i.op() as u8 ^ 1) {
                    f.bc[pc - 1] = i.with_op(op);
                }
            }
            _ => {
                let jumps = (core::mem::take(&mut e.t), core::mem::take(&mut e.f));
                let r = self.to_any(e)?;
                (e.t, e.f) = jumps;
                let f = self.f();
                f.release(r);
                e.k = Kind::Reloc(f.emit_ad(Op::NOT, 0, r));
            }
        }
        Ok(())
    }
    fn simple(&mut self) -> Res<Exp> {
        let k = match &self.tok {
            Tok::Num(n) => Kind::Num(*n),
            Tok::Str(s) => Kind::Str(s.clone()),
            Tok::Nil => Kind::Nil,
            Tok::True => Kind::True,
            Tok::False => Kind::False,
            Tok::Dots => {
                if !self.f().vararg {
                    return Err(self.error("cannot use '...' outside a vararg function"));
                }
                let f = self.f();
                let r = f.reserve(1);
                let base = self.ok(r)?;
                let f = self.f();
                let np = f.num_params;
                let pc = f.emit_abc(Op::VARG, base, 2, np);
                Kind::Call(pc, base)
            }
            Tok::Char(b'{') => return self.nested(|p| p.table()),
            Tok::Function => {
                let line = self.line;
                self.advance()?;
                return self.function_body(false, line);
            }
            _ => return self.primary(),
        };
        self.advance()?;
        if let Tok::Str(_) = self.tok {}
        Ok(Exp::new(k))
    }
    /// A name or a parenthesised expression with its suffixes.
    pub fn primary(&mut self) -> Res<Exp> {
        let mut e = match &self.tok {
            Tok::Char(b'(') => {
                let line = self.line;
                self.advance()?;
                let mut e = self.expr()?;
                self.expect_match(&Tok::Char(b')'), &Tok::Char(b'('), line)?;
                let r = self.f().to_val_single(&mut e);
                self.ok(r)?;
                e
            }
            Tok::Name(n) => {
                let n = n.clone();
                self.advance()?;
                self.variable(&n)?
            }
            _ => return Err(self.error("unexpected symbol")),
        };
        loop {
            match &self.tok {
                Tok::Char(b'.') => {
                    self.advance()?;
                    let r = self.to_any(&mut e)?;
                    let name = self.name()?;
                    e = self.index_name(r, &name)?;
                }
                Tok::Char(b'[') => {
                    let r = self.to_any(&mut e)?;
                    let key = self.bracket_key()?;
                    e = self.index(r, key)?;
                }
                Tok::Char(b':') => {
                    self.advance()?;
                    let name = self.name()?;
                    let obj = self.to_any(&mut e)?;
                    self.f().release(obj);
                    let r = self.f().reserve(3);
                    let func = self.ok(r)?;
                    let f = self.f();
                    f.emit_ad(Op::MOV, func + 2, obj);
                    let mut m = {
                        let r = f.kstr(&name);
                        let k = self.ok(r)?;
                        if k > 255 {
                            let f = self.f();
                            let r = f.reserve(1);
                            let t = self.ok(r)?;
                            let f = self.f();
                            f.emit_ad(Op::KSTR, t, k);
                            f.emit_abc(Op::TGETV, func, obj, t);
                            f.free -= 1;
                            Exp::new(Kind::Reg(func))
                        } else {
                            self.f().emit_abc(Op::TGETS, func, obj, k);
                            Exp::new(Kind::Reg(func))
                        }
                    };
                    self.arguments(&mut m, func, 1)?;
                    e = m;
                }
                Tok::Char(b'(') | Tok::Char(b'{') | Tok::Str(_) => {
                    let func = self.to_next(&mut e)?;
                    let r = self.f().reserve(1);
                    self.ok(r)?;
                    self.arguments(&mut e, func, 0)?;
                }
                _ => return Ok(e),
            }
        }
    }
    /// `[expr]`
    fn bracket_key(&mut self) -> Res<Exp> {
        self.advance()?;
        let mut k = self.expr()?;
        let r = self.f().to_val(&mut k);
        self.ok(r)?;
        self.expect_char(b']')?;
        Ok(k)
    }
    pub fn index_name(&mut self, t: usize, name: &Rc<[u8]>) -> Res<Exp> {
        self.index(t, Exp::new(Kind::Str(name.clone())))
    }
    fn index(&mut self, t: usize, mut key: Exp) -> Res<Exp> {
        if !key.has_jumps() {
            match &key.k {
                Kind::Str(s) => {
                    let r = self.f().kstr(&s.clone());
                    let i = self.ok(r)?;
                    if i < 256 {
                        return Ok(Exp::new(Kind::Index(t, Key::Str(i))));
                    }
                }
                Kind::Num(KNum::Int(i)) if (0..256).contains(i) => {
                    return Ok(Exp::new(Kind::Index(t, Key::Byte(*i as u8))));
                }
                _ => {}
            }
        }
        let r = self.to_any(&mut key)?;
        Ok(Exp::new(Kind::Index(t, Key::Reg(r))))
    }
    /// Call arguments; the function is in register `func`, `given` arguments (self) follow already.
    fn arguments(&mut self, e: &mut Exp, func: usize, given: usize) -> Res<()> {
        let line = self.line;
        let mut args = Exp::new(Kind::Void);
        match &self.tok {
            Tok::Char(b'(') => {
                if line != self.last_line {
                    return Err(self.error("ambiguous syntax (function call x new statement)"));
                }
                self.advance()?;
                if self.tok != Tok::Char(b')') {
                    args = self.expr_list()?.1;
                }
                self.expect_match(&Tok::Char(b')'), &Tok::Char(b'('), line)?;
            }
            Tok::Char(b'{') => args = self.nested(|p| p.table())?,
            Tok::Str(s) => {
                args = Exp::new(Kind::Str(s.clone()));
                self.advance()?;
            }
            _ => return Err(self.error("function arguments expected")),
        }
        let _ = given;
        let multi = matches!(args.k, Kind::Call(..)) && !args.has_jumps();
        let pc = if multi {
            self.open_results(&args);
            let f = self.f();
            let Kind::Call(_, base) = args.k else { return Ok(()) };
            f.line = line;
            f.emit_abc(Op::CALLM, func, 2, base - func - 2)
        } else {
            if args.k != Kind::Void {
                self.to_next(&mut args)?;
            }
            let f = self.f();
            f.line = line;
            let n = f.free - func - 2;
            f.emit_abc(Op::CALL, func, 2, n + 1)
        };
        let last = self.last_line;
        let f = self.f();
        f.free = func + 1;
        f.line = last;
        *e = Exp::new(Kind::Call(pc, func));
        Ok(())
    }
    /// Makes a call deliver all its results.
    pub fn open_results(&mut self, e: &Exp) {
        if let Kind::Call(pc, _) = e.k {
            let f = self.f();
            f.bc[pc] = f.bc[pc].with_b(0);
        }
    }
    /// `function (...) ... end`
    pub fn function_body(&mut self, method: bool, line: u32) -> Res<Exp> {
        self.nested(|p| p.function_inner(method, line))
    }
    fn function_inner(&mut self, method: bool, line: u32) -> Res<Exp> {
        self.open_function(line);
        self.open_scope(false);
        self.expect_char(b'(')?;
        let mut names: Vec<Rc<[u8]>> = Vec::new();
        if method {
            names.push(b"self"[..].into());
        }
        if self.tok != Tok::Char(b')') {
            loop {
                if self.accept(&Tok::Dots)? {
                    self.f().vararg = true;
                    break;
                }
                if !matches!(self.tok, Tok::Name(_)) {
                    return Err(self.error("<name> or '...' expected"));
                }
                let n = self.name()?;
                names.push(n);
                if !self.accept_char(b',')? {
                    break;
                }
            }
        }
        self.expect_char(b')')?;
        self.f().num_params = names.len();
        self.declare(&names)?;
        let r = self.f().reserve(names.len());
        self.ok(r)?;
        self.block()?;
        if self.tok != Tok::End {
            self.expect_match(&Tok::End, &Tok::Function, line)?;
        }
        let proto = self.close_function()?;
        self.advance()?;
        let f = self.f();
        f.children = true;
        let r = f.kgc(KGc::Proto(Box::new(proto)));
        let k = self.ok(r)?;
        let f = self.f();
        Ok(Exp::new(Kind::Reloc(f.emit_ad(Op::FNEW, 0, k))))
    }
    /// First half of a binary operator: the left operand.
    fn infix(&mut self, op: Bin, e: &mut Exp) -> Res<()> {
        let r = match op {
            Bin::And => self.f().go_if_true(e),
            Bin::Or => self.f().go_if_false(e),
            Bin::Concat => return self.to_next(e).map(|_| ()),
            Bin::Eq | Bin::Ne => {
                if e.is_const() {
                    return Ok(());
                }
                return self.to_any(e).map(|_| ());
            }
            _ => {
                if e.num().is_some() {
                    return Ok(());
                }
                return self.to_any(e).map(|_| ());
            }
        };
        self.ok(r)
    }
    fn combine(&mut self, op: Bin, e1: &mut Exp, e2: &mut Exp) -> Res<()> {
        match op {
            Bin::And | Bin::Or => {
                let r = self.f().discharge(e2);
                self.ok(r)?;
                if op == Bin::And { e2.f.append(&mut e1.f) } else { e2.t.append(&mut e1.t) }
                *e1 = e2.clone();
                Ok(())
            }
            Bin::Concat => self.concat(e1, e2),
            Bin::Eq | Bin::Ne => self.equality(op == Bin::Eq, e1, e2),
            Bin::Lt | Bin::Ge | Bin::Le | Bin::Gt => self.order(op, e1, e2),
            _ => self.arithmetic(op, e1, e2),
        }
    }
    fn arithmetic(&mut self, op: Bin, e1: &mut Exp, e2: &mut Exp) -> Res<()> {
        if let (Some(a), Some(b)) = (e1.num(), e2.num())
            && let Some(r) = fold(op, a, b)
        {
            e1.k = Kind::Num(r);
            return Ok(());
        }
        let offset = match op {
            Bin::Add => 0,
            Bin::Sub => 1,
            Bin::Mul => 2,
            Bin::Div => 3,
            Bin::Mod => 4,
            _ => 5,
        };
        let small = |p: &mut Self, e: &Exp| -> Res<Option<usize>> {
            match e.num() {
                Some(n) if offset < 5 => {
                    let r = p.f().knum(n);
                    Ok(Some(p.ok(r)?).filter(|i| *i < 256))
                }
                _ => Ok(None),
            }
        };
        let at = |first: Op| Op::from_u8(first as u8 + offset).unwrap_or(Op::POW);
        let r = self.f().to_val(e2);
        self.ok(r)?;
        let (op, b, c);
        if let Some(k) = small(self, e2)? {
            b = self.to_any(e1)?;
            c = k;
            op = at(Op::ADDVN);
            self.f().release(b);
        } else if let Some(k) = small(self, e1)? {
            b = self.to_any(e2)?;
            c = k;
            op = at(Op::ADDNV);
            self.f().release(b);
        } else {
            let (x, y);
            if matches!(e1.k, Kind::Reg(_)) && !e1.has_jumps() {
                y = self.to_any(e2)?;
                x = self.to_any(e1)?;
            } else {
                // A constant on the left: it is loaded after the right operand.
                y = self.to_any(e2)?;
                x = self.to_any(e1)?;
            }
            (b, c) = (x, y);
            op = if offset == 5 { Op::POW } else { at(Op::ADDVV) };
            let f = self.f();
            f.release(x.max(y));
            f.release(x.min(y));
        }
        let f = self.f();
        *e1 = Exp::new(Kind::Reloc(f.emit_abc(op, 0, b, c)));
        Ok(())
    }
    fn concat(&mut self, e1: &mut Exp, e2: &mut Exp) -> Res<()> {
        let r = self.f().to_val_keep(e2);
        self.ok(r)?;
        let Kind::Reg(left) = e1.k else { return Ok(()) };
        if let Kind::Reloc(pc) = e2.k {
            let f = self.f();
            let i = f.bc[pc];
            if i.op() == Op::CAT && i.b() == left + 1 && pc + 1 == f.pc() {
                f.bc[pc] = i.with_b(left as u8);
                f.release(left);
                e1.k = Kind::Reloc(pc);
                return Ok(());
            }
        }
        let right = self.to_next(e2)?;
        let f = self.f();
        f.release(right);
        f.release(left);
        e1.k = Kind::Reloc(f.emit_abc(Op::CAT, 0, left, right));
        Ok(())
    }
    fn equality(&mut self, eq: bool, e1: &mut Exp, e2: &mut Exp) -> Res<()> {
        let r = self.f().to_val(e2);
        self.ok(r)?;
        let (a, b) = if e1.is_const() { (e2, &*e1) } else { (&mut *e1, &*e2) };
        let mut a = a.clone();
        let mut b = b.clone();
        let ra = self.to_any(&mut a)?;
        let k = if b.is_const() { b.k.clone() } else { Kind::Void };
        let (op, d) = match k {
            Kind::Nil => (Op::ISEQP, 0),
            Kind::False => (Op::ISEQP, 1),
            Kind::True => (Op::ISEQP, 2),
            Kind::Str(s) => {
                let r = self.f().kstr(&s);
                (Op::ISEQS, self.ok(r)?)
            }
            Kind::Num(n) => {
                let r = self.f().knum(n);
                (Op::ISEQN, self.ok(r)?)
            }
            _ => {
                let rb = self.to_any(&mut b)?;
                self.f().release(ra.max(rb));
                self.f().release(ra.min(rb));
                (Op::ISEQV, rb)
            }
        };
        let f = self.f();
        if op != Op::ISEQV {
            f.release(ra);
        }
        let op = if eq { op } else { Op::from_u8(op as u8 ^ 1).unwrap_or(op) };
        f.emit_ad(op, ra, d);
        *e1 = Exp::new(Kind::Jmp(f.jump()));
        Ok(())
    }
    fn order(&mut self, op: Bin, e1: &mut Exp, e2: &mut Exp) -> Res<()> {
        let r = self.f().to_val(e2);
        self.ok(r)?;
        let (x, y);
        if matches!(e1.k, Kind::Reg(_)) {
            y = self.to_any(e2)?;
            x = self.to_any(e1)?;
        } else {
            y = self.to_any(e2)?;
            x = self.to_any(e1)?;
        }
        // a > b is b < a, a >= b is b <= a.
        let (op, a, d) = match op {
            Bin::Lt => (Op::ISLT, x, y),
            Bin::Gt => (Op::ISLT, y, x),
            Bin::Le => (Op::ISLE, x, y),
            _ => (Op::ISLE, y, x),
        };
        let f = self.f();
        f.release(x.max(y));
        f.release(x.min(y));
        f.emit_ad(op, a, d);
        *e1 = Exp::new(Kind::Jmp(f.jump()));
        Ok(())
    }
    /// A table constructor.
    fn table(&mut self) -> Res<Exp> {
        let line = self.line;
        let f = self.f();
        let reserved = f.reserve(1);
        let t = self.ok(reserved)?;
        let new = self.f().emit_ad(Op::TNEW, t, 0);
        let mut template = TableTemplate::default();
        let (mut narr, mut nhash, mut next, mut consts) = (0usize, 0usize, 1usize, true);
        let mut open = None;
        self.expect_char(b'{')?;
        while self.tok != Tok::Char(b'}') {
            let free = self.f().free;
            let mut key = None;
            if self.tok == Tok::Char(b'[') {
                let k = self.bracket_key()?;
                self.expect_char(b'=')?;
                key = Some(k);
            } else if matches!(self.tok, Tok::Name(_)) && *self.peek()? == Tok::Char(b'=') {
                let n = self.name()?;
                self.advance()?;
                key = Some(Exp::new(Kind::Str(n)));
            }
            let positional = key.is_none();
            let k = key.unwrap_or_else(|| Exp::new(Kind::Num(canonical(next as f64))));
            if positional { narr += 1 } else { nhash += 1 }
            // A key that needs a register is loaded before the value.
            let target = if k.is_const() && !matches!(k.k, Kind::Nil) { None } else { Some(self.index(t, k.clone())?) };
            let mut v = self.expr()?;
            if positional {
                next += 1;
                if self.tok == Tok::Char(b'}') && matches!(v.k, Kind::Call(..)) && !v.has_jumps() {
                    open = Some((v, next - 1));
                    break;
                }
            }
            if consts
                && target.is_none()
                && v.is_const()
                && !matches!(v.k, Kind::Nil)
                && put_constant(&mut template, &k, &v, positional)
            {
            } else {
                let target = match target {
                    Some(x) => x,
                    None => self.index(t, k)?,
                };
                let r = self.f().store(&target, &mut v);
                self.ok(r)?;
            }
            if next > 100_000_000 {
                consts = false;
            }
            self.f().free = free;
            if !self.accept_char(b',')? && !self.accept_char(b';')? {
                break;
            }
        }
        self.expect_match(&Tok::Char(b'}'), &Tok::Char(b'{'), line)?;
        if let Some((v, start)) = open {
            let Kind::Call(_, base) = v.k else { return Err(self.error("unexpected symbol")) };
            self.open_results(&v);
            let r = self.f().knum(KNum::Num(4_503_599_627_370_496.0 + start as f64));
            let k = self.ok(r)?;
            self.f().emit_ad(Op::TSETM, base, k);
            narr = narr.saturating_sub(1);
        }
        let f = self.f();
        f.free = t + 1;
        let asize = if narr > 0 { (narr + 1).clamp(3, 0x7ff) } else { 0 };
        let hbits = if nhash == 0 { 0 } else { (usize::BITS - (nhash - 1).leading_zeros()).clamp(1, 31) as usize };
        if template.array.is_empty() && template.hash.is_empty() {
            f.bc[new] = f.bc[new].with_d((asize | hbits << 11) as u16);
        } else {
            if template.array.len() < narr + 1 && narr > 0 {
                template.array.resize(narr + 1, KVal::Nil);
            }
            let r = f.ktab(template);
            let k = self.ok(r)?;
            let f = self.f();
            f.bc[new] = crate::bc::Ins::ad(Op::TDUP, t as u8, k as u16);
        }
        Ok(Exp::new(Kind::Reg(t)))
    }
}

fn kval(e: &Exp) -> Option<KVal> {
    Some(match &e.k {
        Kind::Nil => KVal::Nil,
        Kind::False => KVal::Bool(false),
        Kind::True => KVal::Bool(true),
        Kind::Num(KNum::Int(i)) => KVal::Int(*i),
        Kind::Num(KNum::Num(n)) => KVal::Num(*n),
        Kind::Str(s) => KVal::Str(s.to_vec().into_boxed_slice()),
        _ => return None,
    })
}

/// Puts a constant entry into the template, if it can go there.
fn put_constant(t: &mut TableTemplate, k: &Exp, v: &Exp, positional: bool) -> bool {
    let (Some(key), Some(v)) = (kval(k), kval(v)) else { return false };
    if positional {
        let KVal::Int(i) = key else { return false };
        if t.array.len() <= i as usize {
            t.array.resize(i as usize + 1, KVal::Nil);
        }
        t.array[i as usize] = v;
        return true;
    }
    // Only string keys, each once: the order of other stores must stay.
    if !matches!(key, KVal::Str(_)) || t.hash.len() > 4096 || t.hash.iter().any(|(k, _)| *k == key) {
        return false;
    }
    t.hash.push((key, v));
    true
}
