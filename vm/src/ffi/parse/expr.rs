//! Constant expressions. Their operations are those of integers of 32 bits, as header files use them.

use super::super::ctype::{CTypeId, Ct, NO_SIZE};
use super::super::keyword::Keyword;
use super::lexer::{Constant, Tok};
use super::{Parser, Res, message};

/// Priorities of binary operators, from the weakest; a unary expression binds stronger than all.
mod priority {
    pub const CONDITIONAL: u8 = 0;
    pub const UNARY: u8 = 11;
}

#[derive(Copy, Clone)]
enum Op {
    OrOr,
    AndAnd,
    Or,
    Xor,
    And,
    Eq,
    Ne,
    Lt,
    Gt,
    Le,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A binary operator and its priority.
fn binary_operator(tok: Tok) -> Option<(Op, u8)> {
    Some(match tok {
        Tok::OrOr => (Op::OrOr, 1),
        Tok::AndAnd => (Op::AndAnd, 2),
        Tok::Char(b'|') => (Op::Or, 3),
        Tok::Char(b'^') => (Op::Xor, 4),
        Tok::Char(b'&') => (Op::And, 5),
        Tok::Eq => (Op::Eq, 6),
        Tok::Ne => (Op::Ne, 6),
        Tok::Char(b'<') => (Op::Lt, 7),
        Tok::Char(b'>') => (Op::Gt, 7),
        Tok::Le => (Op::Le, 7),
        Tok::Ge => (Op::Ge, 7),
        Tok::Shl => (Op::Shl, 8),
        Tok::Shr => (Op::Shr, 8),
        Tok::Char(b'+') => (Op::Add, 9),
        Tok::Char(b'-') => (Op::Sub, 9),
        Tok::Char(b'*') => (Op::Mul, 10),
        Tok::Char(b'/') => (Op::Div, 10),
        Tok::Char(b'%') => (Op::Rem, 10),
        _ => return None,
    })
}

/// The result of an operator; none if it has none. Shifts have the type of their left operand, other arithmetic that of the larger number.
fn apply(op: Op, a: Constant, b: Constant) -> Option<Constant> {
    let (x, y) = (a.bits, b.bits);
    let (sx, sy) = (x as i32, y as i32);
    let both_signed = a.id == CTypeId::INT32 && b.id == CTypeId::INT32;
    let id = a.id.max(b.id);
    let truth = |t: bool| Some(Constant { bits: u32::from(t), id: CTypeId::INT32 });
    let word = |bits: u32| Some(Constant { bits, id });
    match op {
        Op::OrOr => truth(x != 0 || y != 0),
        Op::AndAnd => truth(x != 0 && y != 0),
        Op::Eq => truth(x == y),
        Op::Ne => truth(x != y),
        Op::Lt => truth(if both_signed { sx < sy } else { x < y }),
        Op::Gt => truth(if both_signed { sx > sy } else { x > y }),
        Op::Le => truth(if both_signed { sx <= sy } else { x <= y }),
        Op::Ge => truth(if both_signed { sx >= sy } else { x >= y }),
        Op::Or => word(x | y),
        Op::Xor => word(x ^ y),
        Op::And => word(x & y),
        Op::Add => word(x.wrapping_add(y)),
        Op::Sub => word(x.wrapping_sub(y)),
        Op::Mul => word(x.wrapping_mul(y)),
        Op::Shl => Some(Constant { bits: x.wrapping_shl(y), id: a.id }),
        Op::Shr if a.id == CTypeId::INT32 => Some(Constant { bits: sx.wrapping_shr(y) as u32, id: a.id }),
        Op::Shr => Some(Constant { bits: x.wrapping_shr(y), id: a.id }),
        Op::Div if id == CTypeId::INT32 => word(sx.checked_div(sy)? as u32),
        Op::Div => word(x.checked_div(y)?),
        Op::Rem if id == CTypeId::INT32 => word(sx.checked_rem(sy)? as u32),
        Op::Rem => word(x.checked_rem(y)?),
    }
}

impl Parser<'_> {
    /// A constant integer.
    pub(super) fn constant_int(&mut self) -> Res<Constant> {
        let k = self.constant()?;
        if self.types.raw(k.id).info.is_integer() { Ok(k) } else { Err(self.error(message::BAD_VALUE)) }
    }
    /// A constant that is a size.
    pub(super) fn constant_size(&mut self) -> Res<u32> {
        let k = self.constant_int()?;
        if k.bits < 1 << 31 { Ok(k.bits) } else { Err(self.error(message::INVALID_SIZE)) }
    }
    /// A constant.
    pub(super) fn constant(&mut self) -> Res<Constant> {
        self.expression(priority::CONDITIONAL)
    }
    fn comma_list(&mut self) -> Res<Constant> {
        loop {
            let k = self.constant()?;
            if !self.skip_char(b',')? {
                return Ok(k);
            }
        }
    }
    /// Operators of at least a priority.
    fn expression(&mut self, least: u8) -> Res<Constant> {
        let mut k = self.unary()?;
        loop {
            if least == priority::CONDITIONAL && self.skip_char(b'?')? {
                let yes = self.comma_list()?;
                self.expect_char(b':')?;
                let no = self.constant()?;
                let bits = if k.bits != 0 { yes.bits } else { no.bits };
                k = Constant { bits, id: yes.id.max(no.id) };
                continue;
            }
            let Some((op, p)) = binary_operator(self.tok()).filter(|(_, p)| *p >= least) else { return Ok(k) };
            self.advance()?;
            let right = if p + 1 >= priority::UNARY { self.unary()? } else { self.expression(p + 1)? };
            k = match apply(op, k, right) {
                Some(k) => k,
                None => return Err(self.error(message::BAD_VALUE)),
            };
        }
    }
    fn unary(&mut self) -> Res<Constant> {
        self.enter()?;
        let mut k = self.prefix()?;
        self.postfix(&mut k)?;
        self.depth -= 1;
        Ok(k)
    }
    fn prefix(&mut self) -> Res<Constant> {
        match self.tok() {
            Tok::Int => {
                let k = self.lexer.value;
                self.advance()?;
                Ok(k)
            }
            Tok::Char(c @ (b'+' | b'-' | b'~' | b'!')) => {
                self.advance()?;
                let k = self.unary()?;
                Ok(match c {
                    b'+' => k,
                    b'-' => Constant { bits: k.bits.wrapping_neg(), ..k },
                    b'~' => Constant { bits: !k.bits, ..k },
                    _ => Constant { bits: u32::from(k.bits == 0), id: CTypeId::INT32 },
                })
            }
            Tok::Char(b'(') => {
                self.advance()?;
                if !self.begins_type() {
                    let k = self.comma_list()?;
                    self.expect_char(b')')?;
                    return Ok(k);
                }
                // A cast: the value is not converted.
                let id = self.abstract_type()?;
                self.expect_char(b')')?;
                let k = self.unary()?;
                Ok(Constant { id, ..k })
            }
            Tok::Char(b'*') => {
                self.advance()?;
                let k = self.unary()?;
                let id = self.types.raw_ref(k.id);
                let info = self.types.get(id).info;
                if !info.is_pointer_or_array() {
                    return Err(self.not_indexable(id));
                }
                Ok(Constant { bits: 0, id: info.child() })
            }
            Tok::Char(b'&') => {
                self.advance()?;
                let k = self.unary()?;
                Ok(Constant { id: self.pointer_to(k.id)?, ..k })
            }
            Tok::Kw(k @ (Keyword::Sizeof | Keyword::Alignof)) => {
                self.advance()?;
                self.size_or_align(k == Keyword::Sizeof)
            }
            Tok::Ident => self.named_constant(),
            Tok::Str => {
                let mut bytes = 1;
                while self.tok() == Tok::Str {
                    bytes += self.lexer.text.len() as u32;
                    self.advance()?;
                }
                Ok(Constant { bits: bytes, id: CTypeId::A_CCHAR })
            }
            _ => Err(self.error_here(message::UNEXPECTED)),
        }
    }
    fn named_constant(&mut self) -> Res<Constant> {
        let id = self.lexer.meaning;
        let ct = self.types.get(id);
        let k = match ct.info.ct() {
            Ct::Constval => Constant { bits: ct.size, id: ct.info.child() },
            Ct::Extern => Constant { bits: id.0, id: ct.info.child() },
            Ct::Func => Constant { bits: id.0, id },
            _ => return Err(self.error_here(message::UNEXPECTED)),
        };
        self.advance()?;
        Ok(k)
    }
    fn size_or_align(&mut self, size: bool) -> Res<Constant> {
        let k = if self.skip_char(b'(')? {
            let k = if self.begins_type() { Constant { bits: 0, id: self.abstract_type()? } } else { self.comma_list()? };
            self.expect_char(b')')?;
            k
        } else {
            self.unary()?
        };
        let ct = self.types.get(k.id);
        let id = if ct.info.is_ref() { ct.info.child() } else { k.id };
        let (info, bytes) = self.types.info(id);
        let bits = match bytes {
            _ if !size => 1 << info.align_log(),
            Some(bytes) => bytes,
            // The size of a string is its value.
            None if k.id == CTypeId::A_CCHAR => k.bits,
            None => return Err(self.error(message::INVALID_SIZE)),
        };
        Ok(Constant { bits, id: CTypeId::UINT32 })
    }
    fn postfix(&mut self, k: &mut Constant) -> Res<()> {
        loop {
            if self.skip_char(b'[')? {
                let index = self.comma_list()?;
                let mut id = self.types.raw_ref(k.id);
                if !self.types.get(id).info.is_pointer_or_array() {
                    id = self.types.raw_ref(index.id);
                    if !self.types.get(id).info.is_pointer_or_array() {
                        return Err(self.not_indexable(id));
                    }
                }
                self.expect_char(b']')?;
                *k = Constant { bits: 0, id: self.types.get(id).info.child() };
            } else if matches!(self.tok(), Tok::Char(b'.') | Tok::Arrow) {
                self.member_access(k)?;
            } else {
                return Ok(());
            }
        }
    }
    fn member_access(&mut self, k: &mut Constant) -> Res<()> {
        let mut id = self.types.raw_ref(k.id);
        if self.tok() == Tok::Arrow {
            let info = self.types.get(id).info;
            if !info.is_pointer_or_array() {
                return Err(self.not_indexable(id));
            }
            id = self.types.raw_ref(info.child());
        }
        self.advance()?;
        let name = self.name()?;
        let ct = self.types.get(id);
        let found = if ct.info.is_struct() && ct.size != NO_SIZE { self.types.member(id, &name) } else { None };
        let member = found.map(|m| self.types.get(m.id)).filter(|m| !m.info.is_ct(Ct::Bitfield));
        let Some(member) = member else {
            let name = String::from_utf8_lossy(&name).into_owned();
            return Err(self.type_error(id, |t| format!("'{t}' has no member named '{name}'")));
        };
        let bits = if member.info.is_ct(Ct::Constval) { member.size } else { 0 };
        *k = Constant { bits, id: member.info.child() };
        self.advance()
    }
}
