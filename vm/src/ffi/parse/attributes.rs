//! Qualifiers and attributes: GNU's, Microsoft's, and the names that `__asm__` gives.

use super::super::ctype::Info;
use super::super::keyword::Keyword;
use super::chain::Decl;
use super::lexer::{ORDINARY, Tok};
use super::{Parser, Res};
use std::rc::Rc;

/// Qualifiers and attributes of a declaration.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Attributes {
    /// Flags of qualifiers.
    pub(super) qual: u32,
    /// Logarithm of the alignment.
    pub(super) align: Option<u32>,
    pub(super) packed: bool,
    /// Size that `mode` asks for.
    pub(super) mode: Option<u32>,
    /// Logarithm of the size of a vector.
    pub(super) vector: Option<u32>,
    /// Pointers of 32 bits.
    pub(super) pointer_size: Option<u32>,
}

impl Attributes {
    pub(super) fn take_qualifiers(&mut self) -> u32 {
        core::mem::take(&mut self.qual)
    }
}

/// Alignment of `aligned` without a number: 16 bytes.
const DEFAULT_ALIGN: u32 = 4;
/// Largest logarithm of an alignment or a vector's size.
const MAX_LOG: u32 = 15;

/// The logarithm of a size, 0 for 0.
fn log_of(size: u32) -> u32 {
    if size == 0 { 0 } else { size.ilog2() }
}

impl Parser<'_> {
    /// Qualifiers and attributes, as many as follow.
    pub(super) fn attributes(&mut self, decl: &mut Decl) -> Res<()> {
        loop {
            let Tok::Kw(k) = self.tok() else { return Ok(()) };
            match k {
                Keyword::Const => decl.attr.qual |= Info::CONST,
                Keyword::Volatile => decl.attr.qual |= Info::VOLATILE,
                // The platforms have one calling convention.
                Keyword::Restrict | Keyword::Extension | Keyword::CallingConvention => {}
                Keyword::PointerSize => decl.attr.pointer_size = Some(self.types.get(self.lexer.meaning).size),
                Keyword::Attribute => {
                    self.gnu_attribute(decl)?;
                    continue;
                }
                Keyword::Asm => {
                    self.asm_name(decl)?;
                    continue;
                }
                Keyword::Declspec => {
                    self.declspec(decl)?;
                    continue;
                }
                _ => return Ok(()),
            }
            self.advance()?;
        }
    }
    /// A size in parentheses.
    fn size_argument(&mut self) -> Res<u32> {
        let names = core::mem::replace(&mut self.lexer.names, ORDINARY);
        self.expect_char(b'(')?;
        let size = self.constant_size()?;
        self.lexer.names = names;
        self.expect_char(b')')?;
        Ok(size)
    }
    fn align_argument(&mut self, decl: &mut Decl) -> Res<()> {
        let log = if self.tok() == Tok::Char(b'(') { log_of(self.size_argument()?) } else { DEFAULT_ALIGN };
        decl.attr.align = Some(log.min(MAX_LOG));
        Ok(())
    }
    /// `__asm__("name")`
    fn asm_name(&mut self, decl: &mut Decl) -> Res<()> {
        self.advance()?;
        self.expect_char(b'(')?;
        if self.tok() == Tok::Str {
            let mut name = Vec::new();
            while self.tok() == Tok::Str {
                name.extend_from_slice(&self.lexer.text);
                self.advance()?;
            }
            decl.redirect = Some(Rc::from(name));
        }
        self.expect_char(b')')
    }
    /// `__attribute__((...))`
    fn gnu_attribute(&mut self, decl: &mut Decl) -> Res<()> {
        self.advance()?;
        self.expect_char(b'(')?;
        self.expect_char(b'(')?;
        while self.tok() != Tok::Char(b')') {
            match self.tok() {
                Tok::Ident => {
                    let name = Rc::clone(&self.lexer.text);
                    self.advance()?;
                    let plain = name.strip_prefix(b"__").and_then(|n| n.strip_suffix(b"__")).unwrap_or(&name);
                    match plain {
                        b"aligned" => self.align_argument(decl)?,
                        b"packed" => decl.attr.packed = true,
                        b"mode" => self.mode_argument(decl)?,
                        b"vector_size" => {
                            let size = self.size_argument()?;
                            if size != 0 {
                                decl.attr.vector = Some(size.ilog2().min(MAX_LOG));
                            }
                        }
                        _ => self.skip_arguments()?,
                    }
                }
                // A keyword, such as `const`.
                Tok::Kw(_) => {
                    self.advance()?;
                    self.skip_arguments()?;
                }
                _ => break,
            }
            if !self.skip_char(b',')? {
                break;
            }
        }
        self.expect_char(b')')?;
        self.expect_char(b')')
    }
    fn skip_arguments(&mut self) -> Res<()> {
        if self.skip_char(b'(')? {
            while !matches!(self.tok(), Tok::Char(b')') | Tok::Eof) {
                self.advance()?;
            }
            self.expect_char(b')')?;
        }
        Ok(())
    }
    /// The argument of `mode`: the size of a number, or of a vector of numbers.
    fn mode_argument(&mut self, decl: &mut Decl) -> Res<()> {
        self.expect_char(b'(')?;
        if self.tok() == Tok::Ident {
            let text = Rc::clone(&self.lexer.text);
            if let Some((size, count)) = mode(text.strip_prefix(b"__").unwrap_or(&text)) {
                decl.attr.mode = Some(size);
                if count != 0 {
                    decl.attr.vector = Some((count * size).ilog2());
                }
            }
            self.advance()?;
        }
        self.expect_char(b')')
    }
    /// `__declspec(...)`
    fn declspec(&mut self, decl: &mut Decl) -> Res<()> {
        self.advance()?;
        self.expect_char(b'(')?;
        while self.tok() == Tok::Ident {
            let is_align = *self.lexer.text == *b"align";
            self.advance()?;
            if is_align {
                self.align_argument(decl)?;
            } else {
                self.skip_arguments()?;
            }
        }
        self.expect_char(b')')
    }
}

/// The size that a mode such as `DI` or `V4SF` stands for, and the number of elements, or 0.
fn mode(text: &[u8]) -> Option<(u32, u32)> {
    let (count, rest) = match text {
        [b'V', rest @ ..] => {
            let digits = rest.iter().take(2).take_while(|c| c.is_ascii_digit()).count();
            (rest[..digits].iter().fold(0, |n, c| n * 10 + u32::from(c - b'0')), &rest[digits..])
        }
        rest => (0, rest),
    };
    let size = match rest.first()? {
        b'Q' => 1,
        b'H' => 2,
        b'S' => 4,
        b'D' => 8,
        b'T' => 16,
        b'O' => 32,
        _ => return None,
    };
    matches!(rest.get(1), Some(b'I' | b'F')).then_some((size, count))
}
