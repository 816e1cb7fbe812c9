//! Declarations: specifiers, declarators, and lists of declarations.

use super::super::ctype::{CHAR_SIGN, CTypeId, Ct, Info, NO_SIZE, POINTER_SIZE, attrib};
use super::super::keyword::Keyword;
use super::chain::{Decl, Mode};
use super::lexer::Tok;
use super::{MAX_PACK, NOT_PACKED, Parser, Res, message};
use std::rc::Rc;

/// The bits of keywords.
const fn set(list: &[Keyword]) -> u32 {
    let (mut bits, mut i) = (0, 0);
    while i < list.len() {
        bits |= list[i].bit();
        i += 1;
    }
    bits
}

/// Storage classes.
pub(super) mod storage {
    use super::{Keyword, set};
    pub const TYPEDEF: u32 = Keyword::Typedef.bit();
    pub const STATIC: u32 = Keyword::Static.bit();
    pub const REGISTER: u32 = Keyword::Register.bit();
    pub const ALL: u32 = set(&[Keyword::Typedef, Keyword::Extern, Keyword::Static, Keyword::Auto, Keyword::Register]);
    pub const TOP_LEVEL: u32 = set(&[Keyword::Typedef, Keyword::Extern, Keyword::Static]);
}

/// Words after which no name of a type follows.
const MODIFIERS: u32 = set(&[Keyword::Short, Keyword::Long, Keyword::Signed, Keyword::Unsigned, Keyword::Complex]);

/// The specifiers of a declaration.
#[derive(Default)]
struct Specifiers {
    /// The keywords.
    words: u32,
    /// The size that a keyword has.
    size: u32,
    /// A type with a name.
    named: Option<CTypeId>,
}

impl Specifiers {
    fn has(&self, k: Keyword) -> bool {
        self.words & k.bit() != 0
    }
}

impl Parser<'_> {
    /// Does the current token begin a type?
    pub(super) fn begins_type(&self) -> bool {
        match self.tok() {
            Tok::Kw(k) => k.begins_declaration(),
            Tok::Ident => self.types.get(self.lexer.meaning).info.is_ct(Ct::Typedef),
            Tok::TypeParam => true,
            _ => false,
        }
    }
    /// Parses specifiers, with these storage classes allowed. Returns the storage classes that there are.
    pub(super) fn specifiers(&mut self, decl: &mut Decl, allowed: u32) -> Res<u32> {
        let mut s = Specifiers::default();
        loop {
            self.attributes(decl)?;
            match self.tok() {
                Tok::Kw(k) if k.is_specifier() => {
                    if !self.keyword(&mut s, k, allowed)? {
                        break;
                    }
                }
                _ if s.size != 0 || s.named.is_some() || s.words & MODIFIERS != 0 => break,
                Tok::Kw(Keyword::Struct) => s.named = Some(self.record(decl, 0)?),
                Tok::Kw(Keyword::Union) => s.named = Some(self.record(decl, Info::UNION)?),
                Tok::Kw(Keyword::Enum) => s.named = Some(self.enumeration(decl)?),
                Tok::Ident if self.types.get(self.lexer.meaning).info.is_ct(Ct::Typedef) => {
                    s.named = Some(self.types.get(self.lexer.meaning).info.child());
                    self.advance()?;
                }
                Tok::TypeParam => {
                    s.named = Some(self.lexer.value.id);
                    self.advance()?;
                }
                _ => break,
            }
        }
        if s.has(Keyword::Complex) {
            s.named = Some(if s.size == 4 { CTypeId::COMPLEX_FLOAT } else { CTypeId::COMPLEX_DOUBLE });
        }
        if let Some(id) = s.named {
            self.push_type(decl, id)?;
        } else if s.has(Keyword::Void) {
            let qual = decl.attr.take_qualifiers();
            self.push(decl, Info::new(Ct::Void, qual), NO_SIZE)?;
        } else {
            let (info, size) = self.number_type(&s)?;
            let qual = decl.attr.take_qualifiers();
            self.push(decl, Info(info.with_align_log(size.ilog2()).0 | qual), size)?;
        }
        decl.end_specifiers();
        Ok(s.words & storage::ALL)
    }
    /// A keyword among the specifiers. False if it does not belong to them any more.
    fn keyword(&mut self, s: &mut Specifiers, k: Keyword, allowed: u32) -> Res<bool> {
        let size = self.types.get(self.lexer.meaning).size;
        if size != 0 {
            if s.size != 0 {
                return Ok(false);
            }
            s.size = size;
        }
        if k == Keyword::Long && s.has(Keyword::Long) {
            s.words |= Keyword::LongLong.bit();
        }
        s.words |= k.bit();
        if k.is_storage_class() {
            if allowed & k.bit() == 0 {
                return Err(self.error_here(message::STORAGE_CLASS));
            }
        } else if s.named.is_some() {
            return Ok(false);
        }
        self.advance()?;
        Ok(true)
    }
    /// The number that specifiers describe.
    fn number_type(&self, s: &Specifiers) -> Res<(Info, u32)> {
        let unsigned = if s.has(Keyword::Unsigned) { Info::UNSIGNED } else { 0 };
        let int = |flags: u32, size: u32| Ok((Info::new(Ct::Num, flags), size));
        if s.has(Keyword::Bool) {
            let fitting = set(&[Keyword::Bool, Keyword::Int, Keyword::Signed, Keyword::Unsigned]) | storage::ALL;
            if s.words & !fitting != 0 {
                return Err(self.error(message::INVALID_TYPE));
            }
            let unsigned = if s.has(Keyword::Signed) { unsigned } else { Info::UNSIGNED };
            return int(Info::BOOL | unsigned, s.size.max(1));
        }
        if s.has(Keyword::Float) {
            return int(Info::FP, if s.has(Keyword::Long) { 16 } else { s.size });
        }
        if s.has(Keyword::Char) {
            let plain = s.words & (Keyword::Signed.bit() | Keyword::Unsigned.bit()) == 0;
            return int(if plain { CHAR_SIGN } else { unsigned }, s.size);
        }
        if s.has(Keyword::Short) {
            return int(unsigned, 2);
        }
        if s.has(Keyword::LongLong) {
            return int(unsigned, 8);
        }
        if s.has(Keyword::Long) {
            return int(unsigned | Info::LONG, 8);
        }
        if s.size != 0 {
            return int(unsigned, s.size);
        }
        if s.words & (Keyword::Signed.bit() | Keyword::Unsigned.bit()) == 0 {
            return Err(self.error_here(message::DECLARATION));
        }
        int(unsigned, 4)
    }
    /// Parses a declarator.
    pub(super) fn declarator(&mut self, decl: &mut Decl) -> Res<()> {
        self.enter()?;
        loop {
            if self.skip_char(b'*')? {
                self.attributes(decl)?;
                let qual = decl.attr.take_qualifiers();
                decl.attr.mode = None;
                let (info, size) = match decl.attr.pointer_size.take() {
                    Some(4) => (Info::new(Ct::Ptr, Info::align_flags(2)), 4),
                    _ => (Info::pointer(CTypeId::NONE, 0), POINTER_SIZE),
                };
                self.push(decl, Info(info.0 | qual), size)?;
            } else if self.skip_char(b'&')? || self.skip(Tok::AndAnd)? {
                decl.attr.qual = 0;
                decl.attr.pointer_size = None;
                self.push(decl, Info::reference(CTypeId::NONE), POINTER_SIZE)?;
            } else {
                break;
            }
        }
        let mut parameters = false;
        if self.skip_char(b'(')? {
            self.attributes(decl)?;
            // Without a name it may be the first parameter of a function.
            if decl.mode.abstract_ && (self.tok() == Tok::Char(b')') || self.begins_type()) {
                parameters = true;
            } else {
                let pos = decl.pos;
                self.declarator(decl)?;
                self.expect_char(b')')?;
                decl.pos = pos;
            }
        } else if self.tok() == Tok::Ident {
            if !decl.mode.direct {
                return Err(self.expected(Tok::Eof));
            }
            decl.name = Some(Rc::clone(&self.lexer.text));
            decl.meaning = self.lexer.meaning;
            self.advance()?;
        } else if !decl.mode.abstract_ {
            return Err(self.expected(Tok::Ident));
        }
        loop {
            if core::mem::take(&mut parameters) || self.skip_char(b'(')? {
                self.function(decl)?;
            } else if self.skip_char(b'[')? {
                self.array(decl)?;
            } else {
                break;
            }
        }
        if decl.mode.field && self.skip_char(b':')? {
            decl.bits = Some(self.constant_size()?);
        }
        self.attributes(decl)?;
        self.push_alignment(decl)?;
        self.depth -= 1;
        Ok(())
    }
    fn array(&mut self, decl: &mut Decl) -> Res<()> {
        self.attributes(decl)?;
        let (mut flags, mut count) = (0, NO_SIZE);
        if self.skip_char(b'?')? {
            flags = Info::VLA;
        } else if self.tok() != Tok::Char(b']') {
            count = self.constant_size()?;
        }
        self.expect_char(b']')?;
        self.add(decl, Info::new(Ct::Array, flags), count)?;
        Ok(())
    }
    /// A type without a name to declare.
    pub(super) fn abstract_type(&mut self) -> Res<CTypeId> {
        let mut decl = Decl::default();
        self.specifiers(&mut decl, 0)?;
        decl.mode = Mode { abstract_: true, ..Mode::default() };
        self.declarator(&mut decl)?;
        self.intern(&decl)
    }
    /// A type, and nothing after it.
    pub(super) fn single_type(&mut self) -> Res<CTypeId> {
        let id = self.abstract_type()?;
        if self.tok() == Tok::Eof { Ok(id) } else { Err(self.expected(Tok::Eof)) }
    }
    /// A list of declarations.
    pub(super) fn declarations(&mut self) -> Res<()> {
        let mut first = true;
        while self.tok() != Tok::Eof {
            if self.skip_char(b';')? {
                first = false;
                continue;
            }
            if self.tok() == Tok::Char(b'#') {
                self.directive()?;
                continue;
            }
            self.declaration()?;
            // A single declaration needs no semicolon.
            if self.tok() == Tok::Eof && first {
                break;
            }
            first = false;
            self.expect_char(b';')?;
        }
        Ok(())
    }
    fn declaration(&mut self) -> Res<()> {
        let mut decl = Decl::default();
        let class = self.specifiers(&mut decl, storage::TOP_LEVEL)?;
        if matches!(self.tok(), Tok::Char(b';') | Tok::Eof) && decl.tag().is_some() {
            return Ok(());
        }
        decl.mode = Mode { direct: true, ..Mode::default() };
        loop {
            self.declarator(&mut decl)?;
            let id = self.intern(&decl)?;
            // What is declared again is ignored.
            if let Some(name) = decl.name.clone()
                && decl.meaning == CTypeId::NONE
            {
                self.declare(&decl, class, &name, id)?;
            }
            if !self.skip_char(b',')? {
                return Ok(());
            }
            decl.reset();
        }
    }
    /// Adds the entry of a name.
    fn declare(&mut self, decl: &Decl, class: u32, name: &[u8], ty: CTypeId) -> Res<()> {
        let (entry, symbol) = if class & storage::TYPEDEF != 0 {
            (self.types.add(Info::new(Ct::Typedef, ty.0), 0)?, false)
        } else if self.types.get(ty).info.is_func() {
            // Each declaration makes a function of its own.
            (ty, true)
        } else if class & storage::STATIC != 0 {
            (self.static_constant(ty)?, false)
        } else {
            (self.types.add(Info::new(Ct::Extern, ty.0), 0)?, true)
        };
        if let Some(symbol) = decl.redirect.as_ref().filter(|_| symbol) {
            let redirect = self.types.add(Info::attrib_of(attrib::REDIR, CTypeId::NONE), 0)?;
            self.types.set_name(redirect, symbol);
            self.types.get_mut(redirect).sib = self.types.get(entry).sib;
            self.types.get_mut(entry).sib = redirect;
        }
        self.types.set_name(entry, name);
        self.types.publish(entry);
        Ok(())
    }
    /// The value of a constant that is declared with `static const`.
    pub(super) fn static_constant(&mut self, ty: CTypeId) -> Res<CTypeId> {
        let ty = self.types.raw_id(ty);
        let (info, size) = (self.types.get(ty).info, self.types.get(ty).size);
        if !info.is_integer() || !info.has(Info::CONST) || size > 4 {
            return Err(self.error(message::INVALID_TYPE));
        }
        self.expect_char(b'=')?;
        let k = self.constant()?;
        let unused = 8 * (4 - size);
        let bits = k.bits << unused;
        let value = if info.has(Info::UNSIGNED) { bits >> unused } else { ((bits as i32) >> unused) as u32 };
        Ok(self.types.add(Info::new(Ct::Constval, Info::CONST | ty.0), value)?)
    }
    /// A line of the preprocessor: a line number, or a pragma.
    fn directive(&mut self) -> Res<()> {
        let line = self.lexer.line;
        self.advance()?;
        match self.tok() {
            Tok::Int => self.line_number(line),
            Tok::Ident if *self.lexer.text == *b"line" => {
                self.advance()?;
                if self.tok() != Tok::Int {
                    return Err(self.expected(Tok::Ident));
                }
                self.line_number(line)
            }
            Tok::Ident if *self.lexer.text == *b"pragma" => self.pragma(line),
            _ => Err(self.error_here(message::UNEXPECTED)),
        }
    }
    fn skip_line(&mut self, line: u32) -> Res<()> {
        while self.tok() != Tok::Eof && self.lexer.line == line {
            self.advance()?;
        }
        Ok(())
    }
    fn line_number(&mut self, line: u32) -> Res<()> {
        let number = self.lexer.value.bits;
        self.skip_line(line)?;
        self.lexer.line = number;
        Ok(())
    }
    fn pragma(&mut self, line: u32) -> Res<()> {
        self.advance()?;
        if self.tok() != Tok::Ident || *self.lexer.text != *b"pack" {
            return self.skip_line(line);
        }
        self.advance()?;
        self.expect_char(b'(')?;
        let mut sets = true;
        if self.tok() == Tok::Ident {
            match &*self.lexer.text {
                b"push" if self.pack.len() <= MAX_PACK => self.pack.push(self.packing()),
                b"push" => return Err(self.error_here(message::TOO_DEEP)),
                b"pop" => {
                    if self.pack.len() > 1 {
                        self.pack.pop();
                    }
                }
                _ => return Err(self.error_here(message::UNEXPECTED)),
            }
            self.advance()?;
            sets = self.skip_char(b',')?;
        }
        if sets {
            let mut packing = NOT_PACKED;
            if self.tok() == Tok::Int {
                packing = self.lexer.value.bits.checked_ilog2().unwrap_or(0);
                self.advance()?;
            }
            if let Some(current) = self.pack.last_mut() {
                *current = packing;
            }
        }
        self.expect_char(b')')
    }
    /// Logarithm of the largest alignment of fields.
    pub(super) fn packing(&self) -> u32 {
        self.pack.last().copied().unwrap_or(NOT_PACKED)
    }
}
