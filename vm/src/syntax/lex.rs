//! The lexer.

pub use super::token::{KEYWORDS, Tok, token_name};

use super::error::{Diagnostic, SyntaxError};
use super::number::{canonical, leading_decimal, scan_cdata, scan_number};
use super::token::keyword;
use crate::bc::KNum;
use crate::source::Source;
use crate::text::chunk::chunk_id;
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

/// The first line number that is too large.
const MAX_LINE: u32 = 0x7fff_ff00;

/// Result of lexing or parsing.
pub type Res<T> = Result<T, SyntaxError>;

/// Source text as a stream of tokens.
pub struct Lexer<'a> {
    src: Source<'a>,
    /// Start of the token that is being read.
    start: usize,
    chunk: Vec<u8>,
    /// The two tokens read last, newest first, with their spans.
    recent: [(Tok, (usize, usize)); 2],
    /// Current line.
    pub line: u32,
    /// Levels of nested syntax in the parser.
    pub depth: u32,
    /// The names so far. The same name is the same object, so that looking for a variable compares no bytes.
    names: HashSet<Rc<[u8]>, RandomState>,
}

/// A number without the `_` between its digits.
fn without_separators(text: &[u8]) -> Cow<'_, [u8]> {
    if text.contains(&b'_') { text.iter().copied().filter(|c| *c != b'_').collect() } else { Cow::Borrowed(text) }
}

/// The object for a name.
fn same_name(names: &mut HashSet<Rc<[u8]>, RandomState>, text: &[u8]) -> Rc<[u8]> {
    if let Some(name) = names.get(text) {
        return Rc::clone(name);
    }
    let name: Rc<[u8]> = text.into();
    names.insert(Rc::clone(&name));
    name
}

/// By byte: is it part of names?
static NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut c = 0;
    while c < 256 {
        let byte = c as u8;
        table[c] = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        c += 1;
    }
    table
};

#[inline]
fn is_name(c: u8) -> bool {
    NAME[usize::from(c)]
}

impl<'a> Lexer<'a> {
    /// Starts after the header that [`Source::open`] skips.
    pub fn new(src: Source<'a>, chunkname: &[u8]) -> Lexer<'a> {
        let start = src.pos;
        Lexer {
            src,
            start,
            chunk: chunk_id(chunkname),
            recent: [const { (Tok::Eof, (0, 0)) }; 2],
            line: 1,
            depth: 0,
            names: HashSet::default(),
        }
    }
    /// A name, as tokens have it.
    pub fn name(&mut self, text: &[u8]) -> Rc<[u8]> {
        same_name(&mut self.names, text)
    }
    /// A byte at an offset from the next one, 0 after the end. Like LuaJIT, it requests a piece when its first byte is read.
    #[inline]
    fn peek(&mut self, n: usize) -> u8 {
        match self.src.bytes().get(self.src.pos + n) {
            Some(c) => *c,
            None => self.peek_further(n),
        }
    }
    #[cold]
    #[inline(never)]
    fn peek_further(&mut self, n: usize) -> u8 {
        while self.more() {
            if let Some(c) = self.src.rest().get(n) {
                return *c;
            }
        }
        0
    }
    #[inline]
    fn at_end(&mut self) -> bool {
        self.src.pos >= self.src.bytes().len() && !self.more()
    }
    #[cold]
    #[inline(never)]
    fn more(&mut self) -> bool {
        let [(_, newest), (_, other)] = &mut self.recent;
        let from = self.start.min(self.src.pos);
        self.start -= self.src.drop_used(from, &mut [newest, other]);
        self.src.more(self.depth)
    }
    /// An error at a line, without a token.
    #[cold]
    #[inline(never)]
    pub fn error_at(&self, line: u32, msg: impl AsRef<[u8]>) -> SyntaxError {
        self.diagnostic(line, msg.as_ref(), None).into()
    }
    /// A diagnostic about the token with this span. Only a text that is in memory as a whole keeps the offsets of its tokens.
    fn diagnostic(&self, line: u32, msg: &[u8], token: Option<(usize, usize)>) -> Diagnostic {
        let mut message = self.chunk.clone();
        message.extend_from_slice(format!(":{line}: ").as_bytes());
        message.extend_from_slice(msg);
        let token = token.filter(|_| self.src.is_whole()).map(|(start, end)| start..end);
        Diagnostic { message, line, token }
    }
    /// The span of one of the two tokens read last. Another token is the end of the text, which is at the current position.
    fn span_of(&self, t: &Tok) -> (usize, usize) {
        self.recent.iter().find(|(r, _)| r == t).map_or((self.src.pos, self.src.pos), |(_, span)| *span)
    }
    /// The text that stands for a token in "near 'x'". A string is shown with its delimiters and its value.
    pub fn token_text(&self, t: &Tok) -> Vec<u8> {
        let source = self.recent.iter().find(|(r, _)| r == t).map_or(&b""[..], |(_, span)| self.slice(*span));
        match t {
            Tok::Name(name) => name.to_vec(),
            Tok::Num(_) | Tok::Cdata(_) if !source.is_empty() => without_separators(source).into_owned(),
            Tok::Str(value) => {
                let width = match source {
                    [b'[', rest @ ..] => 2 + rest.iter().take_while(|c| **c == b'=').count(),
                    [] => 0,
                    _ => 1,
                };
                [&source[..width], value, &source[source.len() - width..]].concat()
            }
            Tok::Char(c) if !c.is_ascii_control() => vec![*c],
            t => token_name(t).into_bytes(),
        }
    }
    /// An error at the current line, near a token if there is one. A NUL byte counts as none.
    #[cold]
    #[inline(never)]
    pub fn error_near(&self, msg: &str, near: Option<&Tok>) -> SyntaxError {
        match near {
            None | Some(Tok::Char(0)) => self.error_at(self.line, msg),
            Some(t) => self.error_near_span(msg, &self.token_text(t), self.span_of(t)),
        }
    }
    /// An error at the current line in the token that is being read, near a text.
    #[cold]
    #[inline(never)]
    pub fn error_near_text(&self, msg: &str, near: &[u8]) -> SyntaxError {
        self.error_near_span(msg, near, (self.start, self.src.pos))
    }
    /// An error at the current line about the token with a span, near a text, which is shown up to its first NUL byte.
    fn error_near_span(&self, msg: &str, near: &[u8], span: (usize, usize)) -> SyntaxError {
        let near = near.split(|c| *c == 0).next().unwrap_or(near);
        let msg = [msg.as_bytes(), b" near '", near, b"'"].concat();
        self.diagnostic(self.line, &msg, Some(span)).into()
    }
    /// The span of the token read last, in a text that is in memory as a whole.
    pub fn span(&self) -> (usize, usize) {
        self.recent[0].1
    }
    /// Source text of the token that is being read.
    fn text(&self) -> &[u8] {
        self.slice((self.start, self.src.pos))
    }
    fn slice(&self, span: (usize, usize)) -> &[u8] {
        &self.src.bytes()[span.0..span.1]
    }
    fn newline(&mut self) {
        let c = self.peek(0);
        self.src.pos += 1;
        let next = self.peek(0);
        if matches!(next, b'\n' | b'\r') && next != c {
            self.src.pos += 1;
        }
        self.line = self.line.saturating_add(1);
    }
    /// The next token.
    #[allow(clippy::should_implement_trait, reason = "it fails with an error, and never ends")]
    pub fn next(&mut self) -> Res<Tok> {
        let scanned = self.scan();
        let span = (self.start, self.src.pos);
        self.start = self.src.pos;
        let t = scanned.and_then(|t| {
            if self.line >= MAX_LINE {
                return Err(self.error_near("chunk has too many lines", Some(&self.recent[0].0)));
            }
            self.recent.swap(0, 1);
            self.recent[0] = (t.clone(), span);
            // The byte after a token is read together with the token.
            self.at_end();
            Ok(t)
        });
        if self.src.failed() { Err(SyntaxError::reader_failed()) } else { t }
    }
    fn scan(&mut self) -> Res<Tok> {
        loop {
            self.src.pos += self.src.rest().iter().take_while(|c| matches!(c, b' ' | b'\t')).count();
            self.start = self.src.pos;
            if self.at_end() {
                return Ok(Tok::Eof);
            }
            let c = self.peek(0);
            match c {
                b'\n' | b'\r' => self.newline(),
                b' ' | b'\t' | 0x0b | 0x0c => self.src.pos += 1,
                b'-' if self.peek(1) == b'-' => self.comment()?,
                _ => return self.token(c),
            }
        }
    }
    fn token(&mut self, c: u8) -> Res<Tok> {
        let two = |l: &mut Lexer<'a>, t: Tok| {
            l.src.pos += 2;
            Ok(t)
        };
        let three = |l: &mut Lexer<'a>, t: Tok| {
            l.src.pos += 3;
            Ok(t)
        };
        match (c, self.peek(1)) {
            (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => self.number(),
            (b'"' | b'\'', _) => self.string(c),
            (b'[', b'[' | b'=') => match self.bracket_level() {
                Some(level) => {
                    let mut value = Vec::new();
                    self.long(level, "string", Some(&mut value))?;
                    Ok(Tok::Str(value.into()))
                }
                None if self.peek(1) == b'=' => {
                    self.src.pos += 1;
                    while self.peek(0) == b'=' {
                        self.src.pos += 1;
                    }
                    Err(self.error_near_text("invalid long string delimiter", self.text()))
                }
                None => self.single(c),
            },
            (b'=', b'=') => two(self, Tok::Eq),
            (b'~', b'=') => two(self, Tok::Ne),
            (b'!', b'=') => two(self, Tok::NotEq),
            (b'<', b'=') => two(self, Tok::Le),
            (b'>', b'=') => two(self, Tok::Ge),
            (b'<', b'<') => two(self, Tok::Shl),
            (b'>', b'>') => two(self, Tok::Shr),
            (b'~', b'>') if self.peek(2) != b'>' => {
                self.src.pos += 2;
                Err(self.error_near_text("unexpected symbol", b"~"))
            }
            (b'~', b'>') => three(self, Tok::Sar),
            (b':', b':') => two(self, Tok::Label),
            (b'-', b'>') => two(self, Tok::Arrow),
            (b'?', b'.') => two(self, Tok::Nav),
            (b'?', b'?') => two(self, Tok::Coal),
            (b'&', b'&') => two(self, Tok::AndAnd),
            (b'|', b'|') => two(self, Tok::OrOr),
            (b'.', b'.') if self.peek(2) == b'.' => three(self, Tok::Dots),
            (b'.', b'.') => two(self, Tok::Concat),
            _ if is_name(c) => {
                while !self.at_end() && is_name(self.peek(0)) {
                    self.src.pos += self.src.rest().iter().take_while(|c| is_name(**c)).count();
                }
                let text = &self.src.bytes()[self.start..self.src.pos];
                Ok(keyword(text).unwrap_or_else(|| Tok::Name(same_name(&mut self.names, text))))
            }
            _ => self.single(c),
        }
    }
    fn single(&mut self, c: u8) -> Res<Tok> {
        self.src.pos += 1;
        Ok(Tok::Char(c))
    }
    fn comment(&mut self) -> Res<()> {
        self.src.pos += 2;
        // The bytes of the comment are not kept.
        self.start = usize::MAX;
        if self.peek(0) == b'['
            && let Some(level) = self.bracket_level()
        {
            return self.long(level, "comment", None);
        }
        while !self.at_end() && !matches!(self.peek(0), b'\n' | b'\r') {
            self.src.pos += 1;
        }
        Ok(())
    }
    /// At `[`: the level of a long bracket, if it is one.
    fn bracket_level(&mut self) -> Option<usize> {
        let mut n = 0;
        while self.peek(1 + n) == b'=' {
            n += 1;
        }
        if self.peek(1 + n) == b'[' { Some(n) } else { None }
    }
    /// Skips from a long bracket to the one that closes it; the text between them goes to `out`.
    fn long(&mut self, level: usize, what: &str, mut out: Option<&mut Vec<u8>>) -> Res<()> {
        let mut keep = |c| {
            if let Some(out) = &mut out {
                out.push(c);
            }
        };
        self.src.pos += level + 2;
        if matches!(self.peek(0), b'\n' | b'\r') {
            self.newline();
        }
        loop {
            if self.at_end() {
                return Err(self.error_near_text(&format!("unfinished long {what}"), b"<eof>"));
            }
            match self.peek(0) {
                b']' => {
                    let mut n = 0;
                    while self.peek(1 + n) == b'=' {
                        n += 1;
                    }
                    if n == level && self.peek(1 + n) == b']' {
                        self.src.pos += level + 2;
                        return Ok(());
                    }
                    keep(b']');
                    self.src.pos += 1;
                }
                b'\n' | b'\r' => {
                    self.newline();
                    keep(b'\n');
                }
                c => {
                    keep(c);
                    self.src.pos += 1;
                }
            }
        }
    }
    fn number(&mut self) -> Res<Tok> {
        if self.peek(0) == b'.' {
            self.src.pos += 1;
        }
        let mut exp = b"eE";
        if self.peek(0) == b'0' {
            self.src.pos += 1;
            while self.peek(0) == b'_' {
                self.src.pos += 1;
            }
            if matches!(self.peek(0), b'x' | b'X') {
                exp = b"pP";
            }
        }
        let mut last = 0;
        while !self.at_end() {
            let c = self.peek(0);
            if !(is_name(c) || c == b'.' || matches!(c, b'+' | b'-') && exp.contains(&last)) {
                break;
            }
            if c != b'_' {
                last = c;
            }
            self.src.pos += 1;
        }
        let text = without_separators(self.text());
        match scan_number(&text) {
            Some(n) => Ok(Tok::Num(n)),
            None => match scan_cdata(&text) {
                Some(n) => Ok(Tok::Cdata(n)),
                None => Err(self.error_near_text("malformed number", &text)),
            },
        }
    }
    /// The number that is the whole of the next item of a list, with the comma after it: a short decimal in this piece of the text. `None`, and
    /// nothing is read, if something else follows. Long lists of numbers are read faster without tokens.
    pub fn listed_number(&mut self) -> Option<KNum> {
        let bytes = self.src.bytes();
        let (mut at, mut line) = (self.src.pos, self.line);
        loop {
            match *bytes.get(at)? {
                b' ' | b'\t' => {}
                b'\n' => line += 1,
                _ => break,
            }
            at += 1;
        }
        let negative = bytes[at] == b'-';
        let (n, len) = leading_decimal(&bytes[at + usize::from(negative)..])?;
        at += usize::from(negative) + len;
        while *bytes.get(at)? == b' ' {
            at += 1;
        }
        // A negative zero is left to the parser.
        if bytes[at] != b',' || negative && n == 0.0 || line >= MAX_LINE {
            return None;
        }
        (self.src.pos, self.start, self.line) = (at + 1, at + 1, line);
        Some(canonical(if negative { -n } else { n }))
    }
    /// Is the token read last directly followed by a character?
    pub fn followed_by(&self, c: u8) -> bool {
        self.src.rest().first() == Some(&c)
    }
    fn string(&mut self, quote: u8) -> Res<Tok> {
        self.src.pos += 1;
        // Most strings have no escapes.
        let ends = |c: &u8| *c == quote || matches!(c, b'\\' | b'\n' | b'\r');
        let rest = self.src.rest();
        if let Some(n) = rest.iter().position(ends)
            && rest[n] == quote
        {
            let text = rest[..n].into();
            self.src.pos += n + 1;
            return Ok(Tok::Str(text));
        }
        let mut out = Vec::new();
        loop {
            if self.at_end() {
                return Err(self.error_near("unfinished string", Some(&Tok::Eof)));
            }
            match self.peek(0) {
                b'\n' | b'\r' => return Err(self.error_in_string("unfinished string", &out)),
                b'\\' => self.escape(&mut out)?,
                c => {
                    self.src.pos += 1;
                    if c == quote {
                        return Ok(Tok::Str(out.into()));
                    }
                    out.push(c);
                }
            }
        }
    }
    /// An error in a string, near its quote and its value so far.
    fn error_in_string(&self, msg: &str, value: &[u8]) -> SyntaxError {
        self.error_near_text(msg, &[self.slice((self.start, self.start + 1)), value].concat())
    }
    fn bad_escape<T>(&self, out: &[u8]) -> Res<T> {
        Err(self.error_in_string("invalid escape sequence", out))
    }
    fn escape(&mut self, out: &mut Vec<u8>) -> Res<()> {
        self.src.pos += 1;
        if self.at_end() {
            return Ok(());
        }
        let c = self.peek(0);
        let simple = match c {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'v' => 11,
            b'\\' | b'"' | b'\'' => c,
            b'\n' | b'\r' => {
                self.newline();
                out.push(b'\n');
                return Ok(());
            }
            b'x' => {
                let Some(h) = (self.peek(1) as char).to_digit(16) else { return self.bad_escape(out) };
                let Some(l) = (self.peek(2) as char).to_digit(16) else { return self.bad_escape(out) };
                self.src.pos += 3;
                out.push((h * 16 + l) as u8);
                return Ok(());
            }
            b'z' => {
                self.src.pos += 1;
                while !self.at_end() {
                    match self.peek(0) {
                        b'\n' | b'\r' => self.newline(),
                        b' ' | b'\t' | 0x0b | 0x0c => self.src.pos += 1,
                        _ => break,
                    }
                }
                return Ok(());
            }
            b'u' => return self.unicode(out),
            b'0'..=b'9' => {
                let mut n = 0u32;
                let mut i = 0;
                while i < 3 && self.peek(i).is_ascii_digit() {
                    n = n * 10 + u32::from(self.peek(i) - b'0');
                    i += 1;
                }
                if n > 255 {
                    return self.bad_escape(out);
                }
                self.src.pos += i;
                out.push(n as u8);
                return Ok(());
            }
            _ => return self.bad_escape(out),
        };
        self.src.pos += 1;
        out.push(simple);
        Ok(())
    }
    fn unicode(&mut self, out: &mut Vec<u8>) -> Res<()> {
        if self.peek(1) != b'{' {
            return self.bad_escape(out);
        }
        self.src.pos += 2;
        let mut n = 0u32;
        let mut digits = 0;
        while let Some(d) = (self.peek(0) as char).to_digit(16) {
            n = n << 4 | d;
            digits += 1;
            self.src.pos += 1;
            if n > 0x10_ffff {
                return self.bad_escape(out);
            }
        }
        match char::from_u32(n) {
            Some(c) if digits > 0 && self.peek(0) == b'}' => {
                self.src.pos += 1;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                Ok(())
            }
            _ => self.bad_escape(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexer(src: &[u8]) -> Lexer<'_> {
        let mut src = Source::whole(src);
        src.open();
        Lexer::new(src, b"=c")
    }

    fn shown(e: &SyntaxError) -> String {
        String::from_utf8_lossy(e.message().expect("a message")).into_owned()
    }

    fn last(src: &[u8]) -> String {
        let mut lexer = lexer(src);
        let mut prev = Tok::Eof;
        loop {
            match lexer.next() {
                Ok(Tok::Eof) => return shown(&lexer.error_near("m", Some(&prev))),
                Ok(t) => prev = t,
                Err(e) => return shown(&e),
            }
        }
    }

    #[test]
    fn errors() {
        let cases: [(&[u8], &str); 27] = [
            (b"x='\\q'", "c:1: invalid escape sequence near '''"),
            (b"x='ab\\300'", "c:1: invalid escape sequence near ''ab'"),
            (b"x='\\u{110000}'", "c:1: invalid escape sequence near '''"),
            (b"x='\\u{12'", "c:1: invalid escape sequence near '''"),
            (b"x='abc", "c:1: unfinished string near '<eof>'"),
            (b"x='a\\", "c:1: unfinished string near '<eof>'"),
            (b"x='abc\n'", "c:1: unfinished string near ''abc'"),
            (b"\nx=[==[", "c:2: unfinished long string near '<eof>'"),
            (b"x=[==x", "c:1: invalid long string delimiter near '[=='"),
            (b"--[=[ ", "c:1: unfinished long comment near '<eof>'"),
            (b"x=3..2", "c:1: malformed number near '3..2'"),
            (b"x=0x1p+", "c:1: malformed number near '0x1p+'"),
            (b"x=1e+", "c:1: malformed number near '1e+'"),
            (b"1_0ull", "c:1: m near '10ull'"),
            (b"2.5i", "c:1: m near '2.5i'"),
            (b"1.5LL", "c:1: malformed number near '1.5LL'"),
            (b"1_0", "c:1: m near '10'"),
            (b"~>x", "c:1: unexpected symbol near '~'"),
            (b"~>>", "c:1: m near '~>>'"),
            (b"x=\x01", "c:1: m near 'char(1)'"),
            (b"x=\0", "c:1: m"),
            (b"'a\\n'", "c:1: m near ''a\n''"),
            (b"[=[\r\na]=]", "c:2: m near '[=[a]=]'"),
            (b"#!x\r\n0x1e+1", "c:2: m near '1'"),
            (b"\xef\xbb\xbf#x\n::", "c:2: m near '::'"),
            (b"goto", "c:1: m near 'goto'"),
            (b"  0x10 ", "c:1: m near '0x10'"),
        ];
        for (src, message) in cases {
            assert_eq!(last(src), message, "{}", src.escape_ascii());
        }
    }

    #[test]
    fn lines() {
        let mut lexer = lexer(b"a\n\nb");
        lexer.line = MAX_LINE - 2;
        assert!(lexer.next().is_ok());
        assert_eq!(lexer.next().unwrap_err().message(), Some(&b"c:2147483392: chunk has too many lines near 'a'"[..]));
    }

    #[test]
    fn strings() {
        let mut lexer = lexer(b"'\\a\\65\\x42\\z \n \\u{20AC}\\\r\n' [[\n\r\n\r]] --[=[ ]] ]=]\nend");
        assert_eq!(lexer.next().unwrap(), Tok::Str(b"\x07AB\xe2\x82\xac\n"[..].into()));
        assert_eq!(lexer.next().unwrap(), Tok::Str(b"\n"[..].into()));
        assert_eq!(lexer.next().unwrap(), Tok::End);
        assert_eq!((lexer.next().unwrap(), lexer.line), (Tok::Eof, 6));
    }
}
