//! Tokens of C.

use super::super::ctype::{CTypeId, CTypeTable, Ct, kinds};
use super::super::keyword::Keyword;
use super::{Param, ParseError, Res, message};
use std::rc::Rc;

/// A token.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Tok {
    Ident,
    Str,
    /// An integer or a character.
    Int,
    /// `$` for a type.
    TypeParam,
    Eof,
    OrOr,
    AndAnd,
    Eq,
    Ne,
    Le,
    Ge,
    Shl,
    Shr,
    Arrow,
    Kw(Keyword),
    Char(u8),
}

impl Tok {
    pub(super) fn name(self) -> String {
        let name = match self {
            Tok::Ident => "<identifier>",
            Tok::Str => "<string>",
            Tok::Int => "<integer>",
            Tok::Eof => "<eof>",
            Tok::OrOr => "||",
            Tok::AndAnd => "&&",
            Tok::Eq => "==",
            Tok::Ne => "!=",
            Tok::Le => "<=",
            Tok::Ge => ">=",
            Tok::Shl => "<<",
            Tok::Shr => ">>",
            Tok::Arrow => "->",
            Tok::TypeParam => "$",
            Tok::Kw(_) => "<keyword>",
            Tok::Char(c) if c.is_ascii_control() => return format!("char({c})"),
            Tok::Char(c) => return (c as char).to_string(),
        };
        name.to_owned()
    }
}

/// A constant and its type.
#[derive(Copy, Clone, Debug)]
pub(super) struct Constant {
    pub(super) bits: u32,
    pub(super) id: CTypeId,
}

/// The meanings of an identifier: in general, and after `struct`, `union` and `enum`.
pub(super) const ORDINARY: u32 = kinds(&[Ct::Kw, Ct::Typedef, Ct::Func, Ct::Extern, Ct::Constval]);
pub(super) const TAGS: u32 = kinds(&[Ct::Kw, Ct::Struct, Ct::Enum]);

pub(super) struct Lexer<'a> {
    src: &'a [u8],
    pos: usize,
    params: &'a [Param],
    next_param: usize,
    pub(super) line: u32,
    /// The current token.
    pub(super) tok: Tok,
    /// The text of a name; the value of a string; the spelling of a number.
    pub(super) text: Rc<[u8]>,
    /// The value of an integer; the type that `$` stands for.
    pub(super) value: Constant,
    /// What a name means: an entry of the table, or none.
    pub(super) meaning: CTypeId,
    /// The kinds of entries that names are looked for among.
    pub(super) names: u32,
    /// Malformed numbers are skipped.
    pub(super) lenient: bool,
}

fn is_ident(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80
}
fn is_eol(c: u8) -> bool {
    c == b'\n' || c == b'\r'
}

impl<'a> Lexer<'a> {
    pub(super) fn new(src: &'a [u8], params: &'a [Param]) -> Lexer<'a> {
        // A NUL byte ends the text.
        let end = src.iter().position(|c| *c == 0).unwrap_or(src.len());
        Lexer {
            src: &src[..end],
            pos: 0,
            params,
            next_param: 0,
            line: 1,
            tok: Tok::Eof,
            text: Rc::from(&b""[..]),
            value: Constant { bits: 0, id: CTypeId::NONE },
            meaning: CTypeId::NONE,
            names: ORDINARY,
            lenient: false,
        }
    }
    pub(super) fn params_left(&self) -> bool {
        self.next_param < self.params.len()
    }
    /// An error, near a token if there is one.
    pub(super) fn error(&self, message: &str, near: Option<Tok>) -> ParseError {
        let mut m = message.as_bytes().to_vec();
        if let Some(tok) = near {
            m.extend_from_slice(b" near '");
            match tok {
                Tok::Ident | Tok::Int | Tok::Str | Tok::Kw(_) | Tok::TypeParam if self.text.is_empty() => m.push(b'$'),
                Tok::Ident | Tok::Int | Tok::Str | Tok::Kw(_) => m.extend_from_slice(&self.text),
                tok => m.extend_from_slice(tok.name().as_bytes()),
            }
            m.push(b'\'');
        }
        if self.line > 1 {
            m.extend_from_slice(format!(" at line {}", self.line).as_bytes());
        }
        ParseError::Message(m)
    }
    /// The byte at the position, 0 at the end. A backslash at the end of a line joins it with the next one.
    fn peek(&mut self) -> u8 {
        while let [b'\\', a, rest @ ..] = &self.src[self.pos..]
            && is_eol(*a)
        {
            self.pos += 2 + usize::from(rest.first().is_some_and(|b| is_eol(*b) && b != a));
            self.line += 1;
        }
        self.src.get(self.pos).copied().unwrap_or(0)
    }
    /// The byte after the current one.
    fn bump(&mut self) -> u8 {
        self.pos = (self.pos + 1).min(self.src.len());
        self.peek()
    }
    fn newline(&mut self, c: u8) {
        self.pos += 1;
        if self.src.get(self.pos).is_some_and(|n| is_eol(*n) && *n != c) {
            self.pos += 1;
        }
        self.line += 1;
    }
    /// Reads a token.
    pub(super) fn next(&mut self, types: &CTypeTable) -> Res<()> {
        self.text = Rc::from(&b""[..]);
        self.meaning = CTypeId::NONE;
        self.tok = self.scan(types)?;
        Ok(())
    }
    fn scan(&mut self, types: &CTypeTable) -> Res<Tok> {
        loop {
            let c = self.peek();
            match c {
                0 => return Ok(Tok::Eof),
                b'0'..=b'9' => return self.number(),
                c if is_ident(c) => return Ok(self.identifier(types)),
                b'\n' | b'\r' => self.newline(c),
                b' ' | b'\t' | 0x0b | 0x0c => self.pos += 1,
                b'"' | b'\'' => return self.string(c),
                b'/' => match self.bump() {
                    b'*' => self.block_comment(),
                    b'/' => while !matches!(self.bump(), 0 | b'\n' | b'\r') {},
                    _ => return Ok(Tok::Char(b'/')),
                },
                b'$' => return self.param(),
                _ => return Ok(self.operator(c)),
            }
        }
    }
    fn operator(&mut self, c: u8) -> Tok {
        let next = self.bump();
        let two = match (c, next) {
            (b'|', b'|') => Tok::OrOr,
            (b'&', b'&') => Tok::AndAnd,
            (b'=', b'=') => Tok::Eq,
            (b'!', b'=') => Tok::Ne,
            (b'<', b'=') => Tok::Le,
            (b'<', b'<') => Tok::Shl,
            (b'>', b'=') => Tok::Ge,
            (b'>', b'>') => Tok::Shr,
            (b'-', b'>') => Tok::Arrow,
            _ => return Tok::Char(c),
        };
        self.pos += 1;
        two
    }
    fn block_comment(&mut self) {
        self.pos += 1;
        loop {
            match self.peek() {
                0 => return,
                b'*' => {
                    if self.bump() == b'/' {
                        self.pos += 1;
                        return;
                    }
                }
                c if is_eol(c) => self.newline(c),
                _ => self.pos += 1,
            }
        }
    }
    fn word(&mut self) -> Rc<[u8]> {
        let mut word = Vec::new();
        let mut c = self.peek();
        while is_ident(c) {
            word.push(c);
            c = self.bump();
        }
        Rc::from(word)
    }
    fn identifier(&mut self, types: &CTypeTable) -> Tok {
        self.text = self.word();
        self.meaning = types.named(&self.text, self.names).unwrap_or(CTypeId::NONE);
        let info = types.get(self.meaning).info;
        if info.ct() == Ct::Kw
            && let Some(k) = Keyword::from_number(info.child().0)
        {
            return Tok::Kw(k);
        }
        Tok::Ident
    }
    fn number(&mut self) -> Res<Tok> {
        self.text = self.word();
        match integer(&self.text) {
            Some(value) => self.value = value,
            None if self.lenient => {}
            None => return Err(self.error(message::NUMBER, Some(Tok::Int))),
        }
        Ok(Tok::Int)
    }
    fn param(&mut self) -> Res<Tok> {
        let c = self.bump();
        if is_ident(c) || c == b'$' {
            return Err(self.error(message::SYNTAX, Some(Tok::Char(c))));
        }
        let Some(param) = self.params.get(self.next_param) else { return Err(self.error(message::PARAMETERS, None)) };
        self.next_param += 1;
        Ok(match param {
            Param::Name(name) => {
                self.text = Rc::clone(name);
                Tok::Ident
            }
            Param::Number(n) => {
                self.value = Constant { bits: *n as u32, id: CTypeId::INT32 };
                Tok::Int
            }
            Param::Type(id) => {
                self.value.id = *id;
                Tok::TypeParam
            }
            Param::Other => return Err(ParseError::BadParam(self.next_param - 1)),
        })
    }
    fn string(&mut self, delimiter: u8) -> Res<Tok> {
        let mut value = Vec::new();
        let mut c = self.bump();
        while c != delimiter {
            if c == b'\\' {
                c = self.bump();
                match c {
                    b'x' => {
                        let mut n = 0u32;
                        while let Some(d) = (self.bump() as char).to_digit(16) {
                            n = n << 4 | d;
                        }
                        value.push(n as u8);
                        c = self.peek();
                        continue;
                    }
                    b'0'..=b'9' => {
                        let mut n = 0u32;
                        for _ in 0..3 {
                            n = n * 8 + u32::from(c - b'0');
                            c = self.bump();
                            if !c.is_ascii_digit() {
                                break;
                            }
                        }
                        value.push(n as u8);
                        continue;
                    }
                    b'a' => c = 7,
                    b'b' => c = 8,
                    b'f' => c = 12,
                    b'n' => c = b'\n',
                    b'r' => c = b'\r',
                    b't' => c = b'\t',
                    b'v' => c = 11,
                    b'e' => c = 27,
                    _ => {}
                }
            }
            if self.pos >= self.src.len() {
                return Err(self.error(message::STRING, Some(Tok::Eof)));
            }
            value.push(c);
            c = self.bump();
        }
        self.pos += 1;
        self.text = Rc::from(value);
        if delimiter == b'"' {
            return Ok(Tok::Str);
        }
        let [c] = *self.text else { return Err(self.error("''' expected", Some(self.tok))) };
        self.value = Constant { bits: c as core::ffi::c_char as i32 as u32, id: CTypeId::INT32 };
        Ok(Tok::Int)
    }
}

/// An integer of 32 bits: decimal, hexadecimal, octal or binary, perhaps with the suffix `u`.
fn integer(text: &[u8]) -> Option<Constant> {
    let (digits, unsigned) = match text {
        [digits @ .., b'u' | b'U'] => (digits, true),
        digits => (digits, false),
    };
    let (digits, radix) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', b'b' | b'B', digits @ ..] => (digits, 2),
        [b'0', digits @ ..] if !digits.is_empty() => (digits, 8),
        digits => (digits, 10),
    };
    let digits = core::str::from_utf8(digits).ok()?;
    let bits = u32::from_str_radix(digits, radix).ok()?;
    Some(Constant { bits, id: if unsigned || bits > i32::MAX as u32 { CTypeId::UINT32 } else { CTypeId::INT32 } })
}
