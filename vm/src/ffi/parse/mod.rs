//! The parser of C declarations.
//!
//! It reads header files as the preprocessor leaves them: C99 with the usual extensions, and references of C++. It does not check that
//! declarations are valid C; of those that are not, some are accepted. Types that a text declares before an error are forgotten.

mod attributes;
mod chain;
mod decl;
mod expr;
mod function;
mod lexer;
mod record;
#[cfg(test)]
mod tests;

use super::ctype::{CTypeId, CTypeTable, TableFull};
use lexer::{Lexer, Tok};
use std::rc::Rc;

/// What a `$` in a declaration stands for.
#[derive(Clone, Debug)]
pub enum Param {
    /// A name.
    Name(Rc<[u8]>),
    /// A number.
    Number(i32),
    /// A type.
    Type(CTypeId),
    /// A value that cannot stand in a declaration.
    Other,
}

/// Why a text is not a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseError {
    /// A message, with the line if it is not the first.
    Message(Vec<u8>),
    /// The parameter with this index is none.
    BadParam(usize),
}

impl From<TableFull> for ParseError {
    fn from(_: TableFull) -> ParseError {
        ParseError::Message(b"table overflow".to_vec())
    }
}

type Res<T> = Result<T, ParseError>;

mod message {
    pub const TOO_DEEP: &str = "chunk has too many syntax levels";
    pub const BAD_VALUE: &str = "invalid value";
    pub const INVALID_TYPE: &str = "invalid C type";
    pub const INVALID_SIZE: &str = "size of C type is unknown or too large";
    pub const STORAGE_CLASS: &str = "bad storage class";
    pub const DECLARATION: &str = "declaration specifier expected";
    pub const PARAMETERS: &str = "wrong number of type parameters";
    pub const UNEXPECTED: &str = "unexpected symbol";
    pub const SYNTAX: &str = "syntax error";
    pub const NUMBER: &str = "malformed number";
    pub const STRING: &str = "unfinished string";
}

/// Deepest nesting of declarators and expressions, and longest chain of a declaration.
const MAX_DEPTH: u32 = 20;
const MAX_CHAIN: usize = 100;
/// Levels of `#pragma pack(push)`.
const MAX_PACK: usize = 6;
/// Alignments of fields are not limited.
const NOT_PACKED: u32 = 255;

/// Adds the declarations of a text to the table.
///
/// # Errors
/// The text is not a list of declarations; the table is as before.
pub fn declarations(types: &mut CTypeTable, text: &[u8], params: &[Param]) -> Result<(), ParseError> {
    parse(types, text, params, false, |p| p.declarations())
}

/// The type that a text names.
///
/// # Errors
/// The text is not a type; the table is as before.
pub fn type_name(types: &mut CTypeTable, text: &[u8], params: &[Param]) -> Result<CTypeId, ParseError> {
    parse(types, text, params, true, |p| p.single_type())
}

fn parse<T>(
    types: &mut CTypeTable,
    text: &[u8],
    params: &[Param],
    single: bool,
    f: impl FnOnce(&mut Parser) -> Res<T>,
) -> Result<T, ParseError> {
    let before = types.len();
    let mut p = Parser { lexer: Lexer::new(text, params), types, single, depth: 0, pack: vec![NOT_PACKED], open: Vec::new() };
    let result = p
        .advance()
        .and_then(|()| f(&mut p))
        .and_then(|v| if p.lexer.params_left() { Err(p.error(message::PARAMETERS)) } else { Ok(v) });
    if result.is_err() {
        types.truncate(before);
    }
    result
}

/// The parser: the current token is in the lexer.
struct Parser<'a> {
    lexer: Lexer<'a>,
    types: &'a mut CTypeTable,
    /// One type is parsed: structs must have been declared before.
    single: bool,
    depth: u32,
    /// Logarithms of the alignments that `#pragma pack` has set, the current one last.
    pack: Vec<u32>,
    /// Structs and enumerations whose definition is being parsed.
    open: Vec<CTypeId>,
}

impl Parser<'_> {
    fn advance(&mut self) -> Res<()> {
        self.lexer.next(self.types)
    }
    fn tok(&self) -> Tok {
        self.lexer.tok
    }
    /// Skips a token if it is the current one.
    fn skip(&mut self, tok: Tok) -> Res<bool> {
        let is = self.tok() == tok;
        if is {
            self.advance()?;
        }
        Ok(is)
    }
    fn skip_char(&mut self, c: u8) -> Res<bool> {
        self.skip(Tok::Char(c))
    }
    /// Skips a token that must be there.
    fn expect(&mut self, tok: Tok) -> Res<()> {
        if self.tok() == tok { self.advance() } else { Err(self.expected(tok)) }
    }
    fn expect_char(&mut self, c: u8) -> Res<()> {
        self.expect(Tok::Char(c))
    }
    fn error(&self, message: &str) -> ParseError {
        self.lexer.error(message, None)
    }
    fn error_here(&self, message: &str) -> ParseError {
        self.lexer.error(message, Some(self.tok()))
    }
    fn expected(&self, tok: Tok) -> ParseError {
        self.error_here(&format!("'{}' expected", tok.name()))
    }
    /// An error about a type.
    fn type_error(&self, id: CTypeId, message: impl FnOnce(&str) -> String) -> ParseError {
        let text = self.types.repr(id, None);
        self.error(&message(&String::from_utf8_lossy(&text)))
    }
    fn not_indexable(&self, id: CTypeId) -> ParseError {
        self.type_error(id, |t| format!("'{t}' cannot be indexed"))
    }
    fn enter(&mut self) -> Res<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.error(message::TOO_DEEP)) } else { Ok(()) }
    }
    /// The current token as a name.
    fn name(&self) -> Res<Rc<[u8]>> {
        if self.tok() == Tok::Ident { Ok(Rc::clone(&self.lexer.text)) } else { Err(self.expected(Tok::Ident)) }
    }
}
