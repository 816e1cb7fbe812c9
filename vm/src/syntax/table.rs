//! Table constructors.

use super::Parser;
use super::expr::{Exp, Kind};
use super::lex::{Res, Tok};
use super::ops::to_f64;
use super::template::Template;
use crate::bc::{Ins, KGc, KNum, KVal, Op, TableTemplate};
use crate::object::hbits_for;

/// Largest size of an array part in TNEW.
const MAX_ASIZE: u32 = 0x7ff;

/// A constant expression as a value.
fn to_kval(e: &Exp) -> KVal {
    match &e.kind {
        Kind::False => KVal::Bool(false),
        Kind::True => KVal::Bool(true),
        Kind::Str(s) => KVal::Str(s.clone()),
        Kind::Num(n) => (*n).into(),
        _ => KVal::Nil,
    }
}

/// The sizes and contents of a table constructor so far.
struct Constructor {
    /// The first instruction.
    pc: u32,
    /// Register of the table.
    reg: u8,
    /// Next positional index.
    narr: u32,
    nhash: u32,
    need_array: bool,
    /// The last item is a call with all its results.
    vcall: bool,
    /// The last item is a number without a key.
    number: bool,
    /// The template and its constant.
    template: Option<Box<(Template, u16)>>,
}

impl Parser<'_> {
    /// A table constructor.
    pub(super) fn table(&mut self) -> Res<Exp> {
        let line = self.line;
        let reg = self.fs.free_reg as u8;
        let pc = self.emit_ad(Op::TNEW, reg, 0)?;
        self.reg_reserve(1)?;
        let (narr, nhash) = (1, 0);
        let mut c = Constructor { pc, reg, narr, nhash, need_array: false, vcall: false, number: false, template: None };
        self.check(&Tok::Char(b'{'))?;
        while !self.at(b'}') {
            self.item(&mut c)?;
            self.fs.free_reg = reg as u32 + 1;
            self.listed_numbers(&mut c)?;
            if !self.opt(b',')? && !self.opt(b';')? {
                break;
            }
        }
        self.check_match(&Tok::Char(b'}'), &Tok::Char(b'{'), line)?;
        self.table_end(c)
    }
    /// Numbers that follow the comma after an item, each with another comma.
    fn listed_numbers(&mut self, c: &mut Constructor) -> Res<()> {
        if !c.number || !self.at(b',') || self.ahead.is_some() {
            return Ok(());
        }
        while let Some(n) = self.lex.listed_number() {
            self.line = self.lex.line;
            let i = self.next_index(c)?;
            self.template_set(c, KVal::Int(i), n.into())?;
        }
        Ok(())
    }
    /// An item of a table constructor.
    fn item(&mut self, c: &mut Constructor) -> Res<()> {
        if let Some(value) = self.constant_item()? {
            let n = self.next_index(c)?;
            c.number = matches!(value, KVal::Int(_) | KVal::Num(_));
            return self.template_set(c, KVal::Int(n), value);
        }
        let (table, key) = self.item_key(c)?;
        c.number = false;
        if matches!(key.kind, Kind::Str(_) | Kind::Num(_))
            && let Some(value) = self.constant_item()?
        {
            return self.template_set(c, to_kval(&key), value);
        }
        let value = self.expr()?;
        // Only an item without a key may be a call with all its results.
        c.number = c.vcall && value.number().is_some();
        self.item_store(c, table, key, value)
    }
    /// A constant that is the whole of an item, as all items of tables of data are: it needs no expression.
    fn constant_item(&mut self) -> Res<Option<KVal>> {
        if !matches!(self.tok, Tok::Num(_) | Tok::Str(_) | Tok::True | Tok::False) {
            return Ok(None);
        }
        // It counts as a level, as an expression does.
        self.enter()?;
        self.leave();
        let line = self.line;
        if !matches!(self.peek()?, Tok::Char(b',' | b';' | b'}')) {
            self.line = line;
            return Ok(None);
        }
        let value = match core::mem::replace(&mut self.tok, Tok::Eof) {
            Tok::Num(n) => n.into(),
            Tok::Str(s) => KVal::Str(s),
            t => KVal::Bool(t == Tok::True),
        };
        self.advance()?;
        Ok(Some(value))
    }
    /// The index of an item without a key.
    fn next_index(&self, c: &mut Constructor) -> Res<i32> {
        let n = i32::try_from(c.narr).map_err(|_| self.err_plain("table overflow"))?;
        c.narr += 1;
        c.need_array = true;
        Ok(n)
    }
    /// Sets an entry of the template, which begins with the first one.
    fn template_set(&mut self, c: &mut Constructor, key: KVal, value: KVal) -> Res<()> {
        c.vcall = false;
        if c.template.is_none() {
            let k = self.const_gc(KGc::Table(TableTemplate::default()))?;
            *self.fs.ins_mut(c.pc) = Ins::ad(Op::TDUP, c.reg, k);
            let asize = if c.need_array { c.narr } else { 0 };
            c.template = Some(Box::new((Template::new(asize, c.nhash), k)));
        }
        if let Some(template) = &mut c.template {
            template.0.set(key, value);
        }
        Ok(())
    }
    /// The key of an item. If the key is not a constant, also the table indexed by it.
    #[inline(never)]
    fn item_key(&mut self, c: &mut Constructor) -> Res<(Exp, Exp)> {
        let mut table = Exp::new(Kind::NonReloc(c.reg));
        c.vcall = false;
        let named = matches!(self.tok, Tok::Name(_)) && *self.peek()? == Tok::Char(b'=');
        let key = if self.at(b'[') {
            let mut key = self.bracket()?;
            if !key.is_const() {
                self.index(&mut table, &mut key)?;
            }
            if key.number().is_some_and(|n| to_f64(n) == 0.0) {
                c.need_array = true;
            } else {
                c.nhash += 1;
            }
            self.check(&Tok::Char(b'='))?;
            key
        } else if named {
            let name = self.lex_name()?;
            c.nhash += 1;
            self.check(&Tok::Char(b'='))?;
            Exp::new(Kind::Str(name))
        } else {
            let n = self.next_index(c)?;
            c.vcall = true;
            Exp::new(Kind::Num(KNum::Int(n)))
        };
        Ok((table, key))
    }
    #[inline(never)]
    fn item_store(&mut self, c: &mut Constructor, table: Exp, key: Exp, value: Exp) -> Res<()> {
        let (mut table, mut key, mut value) = (table, key, value);
        let constant = value.is_plain_const();
        if key.is_const() && key.kind != Kind::Nil && (constant || matches!(key.kind, Kind::Str(_))) {
            // A name with another value is added to the template so that its size is right.
            self.template_set(c, to_kval(&key), if constant { to_kval(&value) } else { KVal::Nil })?;
            if constant {
                return Ok(());
            }
        }
        if !matches!(value.kind, Kind::Call { .. }) {
            self.put_any_reg(&mut value)?;
            c.vcall = false;
        }
        if key.is_const() {
            self.index(&mut table, &mut key)?;
        }
        self.store(&table, &mut value)
    }
    /// The end of a table constructor: a call with all its results, and the sizes.
    #[inline(never)]
    fn table_end(&mut self, mut c: Constructor) -> Res<Exp> {
        if c.vcall {
            let bits = 0x4330_0000_0000_0000 | (c.narr - 1) as u64;
            let k = self.const_num(KNum::Num(f64::from_bits(bits)))?;
            if c.narr > 256 {
                self.fs.bc.pop();
            }
            let at = self.fs.pc() - 1;
            *self.fs.ins_mut(at) = Ins::ad(Op::TSETM, c.reg + 1, k);
            self.set_b(at - 1, 0);
        }
        let mut e = Exp::new(Kind::NonReloc(c.reg));
        if c.pc + 1 == self.fs.pc() {
            e.kind = Kind::Reloc(c.pc);
            self.fs.free_reg -= 1;
        }
        let asize = match c.need_array {
            false => 0,
            true => c.narr.clamp(3, MAX_ASIZE),
        };
        match c.template.take() {
            None => {
                let ins = self.fs.ins(c.pc);
                *self.fs.ins_mut(c.pc) = ins.with_d((asize | hbits_for(c.nhash) << 11) as u16);
            }
            Some(finished) => {
                let (template, k) = *finished;
                let template = template.finish(if c.need_array { c.narr } else { 0 });
                self.fs.set_template(k as u32, template);
            }
        }
        Ok(e)
    }
}
