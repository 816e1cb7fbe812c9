//! Operators: branches, arithmetic, comparisons.

use super::Parser;
use super::emit::{NO_JMP, NO_REG};
use super::error::SyntaxError;
use super::expr::{Exp, Kind, pri};
use super::lex::Tok;
use crate::bc::{Ins, KNum, Op};
use crate::meta::tobit;

/// Binary operators; the arithmetic ones are in the order of the bytecodes.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    BAnd,
    BOr,
    BXor,
    BShl,
    BShr,
    BSar,
    Concat,
    Ne,
    Eq,
    Lt,
    Ge,
    Le,
    Gt,
    And,
    Or,
    Coalesce,
}

impl BinOp {
    /// Is it a bit operator?
    fn is_bitwise(self) -> bool {
        matches!(self, BinOp::BAnd | BinOp::BOr | BinOp::BXor | BinOp::BShl | BinOp::BShr | BinOp::BSar)
    }
    /// Does `op=` exist? `^=` does not, because it would look like the exclusive or of other languages.
    pub(super) fn is_compound(self) -> bool {
        matches!(self, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Concat) || self.is_bitwise()
    }
}

/// A number as an f64.
pub(super) fn to_f64(n: KNum) -> f64 {
    match n {
        KNum::Int(i) => i as f64,
        KNum::Num(x) => x,
    }
}

/// The canonical form of a number.
pub(super) fn canonical(x: f64) -> KNum {
    let i = x as i32;
    if i as f64 == x && !(i == 0 && x.is_sign_negative()) { KNum::Int(i) } else { KNum::Num(x) }
}

/// Folds an operation of two numbers unless the result is NaN or -0.
fn fold(op: BinOp, a: f64, b: f64) -> Option<KNum> {
    let x = match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        BinOp::Mod => crate::meta::lua_mod(a, b),
        BinOp::Pow => crate::meta::lua_pow(a, b),
        op if op.is_bitwise() => return Some(KNum::Int(fold_bits(op, tobit(a), tobit(b)))),
        _ => return None,
    };
    if x.is_nan() || (x == 0.0 && x.is_sign_negative()) { None } else { Some(canonical(x)) }
}

fn fold_bits(op: BinOp, a: i32, b: i32) -> i32 {
    match op {
        BinOp::BAnd => a & b,
        BinOp::BOr => a | b,
        BinOp::BXor => a ^ b,
        BinOp::BShl => a.wrapping_shl(b as u32),
        BinOp::BShr => (a as u32).wrapping_shr(b as u32) as i32,
        _ => a.wrapping_shr(b as u32),
    }
}

/// The bytecodes of an arithmetic operation: with a constant second operand, with a constant first one, with none.
fn arith_ops(op: BinOp) -> (Op, Op, Op) {
    match op {
        BinOp::Add => (Op::ADDVN, Op::ADDNV, Op::ADDVV),
        BinOp::Sub => (Op::SUBVN, Op::SUBNV, Op::SUBVV),
        BinOp::Mul => (Op::MULVN, Op::MULNV, Op::MULVV),
        BinOp::Div => (Op::DIVVN, Op::DIVNV, Op::DIVVV),
        BinOp::Mod => (Op::MODVN, Op::MODNV, Op::MODVV),
        BinOp::BAnd => (Op::BAND, Op::BAND, Op::BAND),
        BinOp::BOr => (Op::BOR, Op::BOR, Op::BOR),
        BinOp::BXor => (Op::BXOR, Op::BXOR, Op::BXOR),
        BinOp::BShl => (Op::BSHL, Op::BSHL, Op::BSHL),
        BinOp::BShr => (Op::BSHR, Op::BSHR, Op::BSHR),
        BinOp::BSar => (Op::BSAR, Op::BSAR, Op::BSAR),
        _ => (Op::POW, Op::POW, Op::POW),
    }
}

impl Parser<'_> {
    /// The operator of the current token, with its left and right priorities.
    pub(super) fn bin_op(&self) -> Option<(BinOp, u32, u32)> {
        Some(match self.tok {
            Tok::Char(b'+') => (BinOp::Add, 10, 10),
            Tok::Char(b'-') => (BinOp::Sub, 10, 10),
            Tok::Char(b'*') => (BinOp::Mul, 11, 11),
            Tok::Char(b'/') => (BinOp::Div, 11, 11),
            Tok::Char(b'%') => (BinOp::Mod, 11, 11),
            Tok::Char(b'^') => (BinOp::Pow, 14, 13),
            Tok::Char(b'|') => (BinOp::BOr, 4, 4),
            Tok::Char(b'~') => (BinOp::BXor, 5, 5),
            Tok::Char(b'&') => (BinOp::BAnd, 6, 6),
            Tok::Shl => (BinOp::BShl, 7, 7),
            Tok::Shr => (BinOp::BShr, 7, 7),
            Tok::Sar => (BinOp::BSar, 7, 7),
            Tok::Concat => (BinOp::Concat, 9, 8),
            Tok::Ne | Tok::NotEq => (BinOp::Ne, 3, 3),
            Tok::Eq => (BinOp::Eq, 3, 3),
            Tok::Char(b'<') => (BinOp::Lt, 3, 3),
            Tok::Ge => (BinOp::Ge, 3, 3),
            Tok::Le => (BinOp::Le, 3, 3),
            Tok::Char(b'>') => (BinOp::Gt, 3, 3),
            Tok::And | Tok::AndAnd => (BinOp::And, 2, 2),
            Tok::Or | Tok::OrOr => (BinOp::Or, 1, 1),
            Tok::Coal => (BinOp::Coalesce, 1, 1),
            _ => return None,
        })
    }
    /// A jump that depends on the value.
    fn branch(&mut self, e: &mut Exp, cond: bool) -> Result<u32, SyntaxError> {
        if let Kind::Reloc(pc) = e.kind {
            let ins = self.fs.ins(pc);
            if ins.op() == Op::NOT {
                *self.fs.ins_mut(pc) = Ins::ad(if cond { Op::ISF } else { Op::IST }, 0, ins.d() as u16);
                return self.emit_jmp();
            }
        }
        let reg = match e.kind {
            Kind::NonReloc(reg) => reg,
            _ => {
                let reg = self.reg_reserve(1)?;
                self.put_reg_nobranch(e, reg)?;
                reg
            }
        };
        self.emit_ad(if cond { Op::ISTC } else { Op::ISFC }, NO_REG, reg as u16)?;
        let pc = self.emit_jmp()?;
        self.free_exp(e);
        Ok(pc)
    }
    /// Continues if it is true, else jumps.
    pub(super) fn branch_true(&mut self, e: &mut Exp) -> Result<(), SyntaxError> {
        self.discharge(e)?;
        let pc = match e.kind {
            Kind::Str(_) | Kind::Num(_) | Kind::Cdata(_) | Kind::True => NO_JMP,
            Kind::Jmp(pc) => {
                self.invert(pc);
                pc
            }
            Kind::False | Kind::Nil => {
                self.put_reg_nobranch(e, NO_REG)?;
                self.emit_jmp()?
            }
            _ => self.branch(e, false)?,
        };
        self.jmp_append(&mut e.f, pc)?;
        self.jmp_tohere(e.t)?;
        e.t = NO_JMP;
        Ok(())
    }
    /// Continues if it is false, else jumps.
    fn branch_false(&mut self, e: &mut Exp) -> Result<(), SyntaxError> {
        self.discharge(e)?;
        let pc = match e.kind {
            Kind::False | Kind::Nil => NO_JMP,
            Kind::Jmp(pc) => pc,
            Kind::Str(_) | Kind::Num(_) | Kind::Cdata(_) | Kind::True => {
                self.put_reg_nobranch(e, NO_REG)?;
                self.emit_jmp()?
            }
            _ => self.branch(e, true)?,
        };
        self.jmp_append(&mut e.t, pc)?;
        self.jmp_tohere(e.f)?;
        e.f = NO_JMP;
        Ok(())
    }
    /// Inverts the comparison before a jump.
    fn invert(&mut self, pc: u32) {
        let ins = self.fs.ins(pc - 1);
        if let Some(op) = Op::from_u8(ins.op() as u8 ^ 1) {
            *self.fs.ins_mut(pc - 1) = ins.with_op(op);
        }
    }
    /// Releases the temporaries of two operands.
    fn free_operands(&mut self, e1: &Exp, e2: &Exp) {
        let temps = e1.is_temp(self.fs.locals.active) as u32 + e2.is_temp(self.fs.locals.active) as u32;
        self.fs.free_reg = self.fs.free_reg.saturating_sub(temps);
    }
    /// Arithmetic.
    fn arith(&mut self, op: BinOp, e1: &mut Exp, e2: &mut Exp) -> Result<(), SyntaxError> {
        if let (Some(a), Some(b)) = (e1.number(), e2.number())
            && let Some(n) = fold(op, to_f64(a), to_f64(b))
        {
            e1.kind = Kind::Num(n);
            return Ok(());
        }
        let (vn, nv, vv) = arith_ops(op);
        let (op, b, c) = if op == BinOp::Pow || op.is_bitwise() {
            let c = self.put_any_reg(e2)?;
            (vv, self.put_any_reg(e1)?, c)
        } else {
            self.put_val(e2)?;
            let k2 = self.small_num(e2)?;
            let c = match k2 {
                Some(k) => k,
                None => self.put_any_reg(e2)?,
            };
            self.put_val(e1)?;
            let k1 = if e2.number().is_none() { self.small_num(e1)? } else { None };
            match (k1, k2) {
                (Some(k), _) => (nv, c, k),
                (None, Some(_)) => (vn, self.put_any_reg(e1)?, c),
                (None, None) => (vv, self.put_any_reg(e1)?, c),
            }
        };
        self.free_operands(e1, e2);
        e1.kind = Kind::Reloc(self.emit_abc(op, 0, b, c)?);
        Ok(())
    }
    /// The index of a number constant that fits a byte.
    fn small_num(&mut self, e: &Exp) -> Result<Option<u8>, SyntaxError> {
        match e.number() {
            Some(n) => Ok(u8::try_from(self.const_num(n)?).ok()),
            None => Ok(None),
        }
    }
    /// A comparison.
    fn compare(&mut self, op: BinOp, e1: &mut Exp, e2: &mut Exp) -> Result<(), SyntaxError> {
        self.put_val(e1)?;
        let ins = if matches!(op, BinOp::Eq | BinOp::Ne) {
            if e1.is_const() {
                core::mem::swap(e1, e2);
            }
            let ra = self.put_any_reg(e1)?;
            self.put_val(e2)?;
            let eq = op == BinOp::Eq;
            match &e2.kind {
                Kind::Str(s) => {
                    let k = self.const_str(s)?;
                    Ins::ad(if eq { Op::ISEQS } else { Op::ISNES }, ra, k)
                }
                &Kind::Num(n) => {
                    let k = self.const_num(n)?;
                    Ins::ad(if eq { Op::ISEQN } else { Op::ISNEN }, ra, k)
                }
                k => match pri(k) {
                    Some(d) => Ins::ad(if eq { Op::ISEQP } else { Op::ISNEP }, ra, d),
                    None => {
                        let rd = self.put_any_reg(e2)?;
                        Ins::ad(if eq { Op::ISEQV } else { Op::ISNEV }, ra, rd as u16)
                    }
                },
            }
        } else if matches!(op, BinOp::Gt | BinOp::Ge) {
            core::mem::swap(e1, e2);
            self.put_val(e1)?;
            let ra = self.put_any_reg(e1)?;
            let rd = self.put_any_reg(e2)?;
            Ins::ad(if op == BinOp::Gt { Op::ISLT } else { Op::ISLE }, ra, rd as u16)
        } else {
            let rd = self.put_any_reg(e2)?;
            let ra = self.put_any_reg(e1)?;
            Ins::ad(if op == BinOp::Lt { Op::ISLT } else { Op::ISLE }, ra, rd as u16)
        };
        self.free_operands(e1, e2);
        self.emit(ins)?;
        *e1 = Exp::new(Kind::Jmp(self.emit_jmp()?));
        Ok(())
    }
    /// Prepares the left operand before the right one is parsed.
    #[inline(never)]
    pub(super) fn binop_left(&mut self, op: BinOp, e: &mut Exp) -> Result<(), SyntaxError> {
        match op {
            BinOp::And => self.branch_true(e)?,
            BinOp::Or => self.branch_false(e)?,
            BinOp::Coalesce => {
                let reg = self.put_next_reg(e)?;
                self.emit_ad(Op::ISNEP, reg, 0)?;
                // The jump over the right operand, until that is parsed.
                e.f = self.emit_jmp()?;
                self.fs.reg_free(reg);
            }
            BinOp::Concat => {
                self.put_next_reg(e)?;
            }
            BinOp::Eq | BinOp::Ne if e.is_plain_const() => {}
            BinOp::Eq | BinOp::Ne => {
                self.put_any_reg(e)?;
            }
            _ if e.number().is_some() => {}
            _ => {
                self.put_any_reg(e)?;
            }
        }
        Ok(())
    }
    /// A binary operation; the result is in `e1`.
    #[inline(never)]
    pub(super) fn binop(&mut self, op: BinOp, e1: &mut Exp, mut e2: Exp) -> Result<(), SyntaxError> {
        match op {
            BinOp::And => {
                self.discharge(&mut e2)?;
                self.jmp_append(&mut e2.f, e1.f)?;
                *e1 = e2;
            }
            BinOp::Or => {
                self.discharge(&mut e2)?;
                self.jmp_append(&mut e2.t, e1.t)?;
                *e1 = e2;
            }
            BinOp::Coalesce => {
                let skip = core::mem::replace(&mut e1.f, NO_JMP);
                self.put_next_reg(&mut e2)?;
                self.jmp_tohere(skip)?;
            }
            BinOp::Concat => {
                self.put_val(&mut e2)?;
                let first = self.put_any_reg(e1)?;
                if let Kind::Reloc(pc) = e2.kind
                    && self.fs.ins(pc).op() == Op::CAT
                {
                    self.free_exp(e1);
                    let ins = self.fs.ins(pc);
                    *self.fs.ins_mut(pc) = ins.with_b(first);
                    e1.kind = Kind::Reloc(pc);
                } else {
                    let last = self.put_next_reg(&mut e2)?;
                    self.free_exp(&e2);
                    self.free_exp(e1);
                    e1.kind = Kind::Reloc(self.emit_abc(Op::CAT, 0, first, last)?);
                }
            }
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                self.compare(op, e1, &mut e2)?;
            }
            _ => self.arith(op, e1, &mut e2)?,
        }
        Ok(())
    }
    /// A unary operation.
    #[inline(never)]
    pub(super) fn unop(&mut self, op: Op, e: &mut Exp) -> Result<(), SyntaxError> {
        if op == Op::NOT {
            core::mem::swap(&mut e.t, &mut e.f);
            self.fs.jmp_dropval(e.f);
            self.fs.jmp_dropval(e.t);
            self.discharge(e)?;
            match e.kind {
                Kind::Nil | Kind::False => {
                    e.kind = Kind::True;
                    return Ok(());
                }
                Kind::Str(_) | Kind::Num(_) | Kind::Cdata(_) | Kind::True => {
                    e.kind = Kind::False;
                    return Ok(());
                }
                Kind::Jmp(pc) => {
                    self.invert(pc);
                    return Ok(());
                }
                Kind::Reloc(pc) => {
                    let reg = self.reg_reserve(1)?;
                    let ins = self.fs.ins(pc);
                    *self.fs.ins_mut(pc) = ins.with_a(reg);
                    e.kind = Kind::NonReloc(reg);
                }
                _ => {}
            }
            let Kind::NonReloc(reg) = e.kind else { return Ok(()) };
            self.free_exp(e);
            e.kind = Kind::Reloc(self.emit_ad(op, 0, reg as u16)?);
            return Ok(());
        }
        if op == Op::UNM
            && let Some(n) = e.number()
            && to_f64(n) != 0.0
        {
            e.kind = Kind::Num(canonical(-to_f64(n)));
            return Ok(());
        }
        if op == Op::UNM
            && let Kind::Cdata(k) = e.kind
            && !e.has_jump()
        {
            e.kind = Kind::Cdata(k.negated());
            return Ok(());
        }
        if op == Op::BNOT
            && let Some(n) = e.number()
        {
            e.kind = Kind::Num(KNum::Int(!tobit(to_f64(n))));
            return Ok(());
        }
        let reg = self.put_any_reg(e)?;
        self.free_exp(e);
        e.kind = Kind::Reloc(self.emit_ad(op, 0, reg as u16)?);
        Ok(())
    }
}
