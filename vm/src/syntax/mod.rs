//! Source text to bytecode: lexer, and a single-pass parser that emits as it goes.

mod assign;
mod emit;
mod error;
mod expr;
mod fields;
pub mod lex;
mod loops;
pub mod number;
mod ops;
mod parse;
mod scope;
mod table;
mod template;
mod term;
#[cfg(test)]
mod tests;
mod token;

use crate::bc::ProtoData;
use crate::interp::native_stack::has_reserve;
use crate::source::Source;
use emit::FuncState;
pub use error::{Diagnostic, SyntaxError};
use lex::{Lexer, Tok, token_name};
use std::rc::Rc;

/// Deepest nesting of syntax.
const MAX_LEVEL: u32 = 200;

/// Compiles a text whose header was skipped.
///
/// # Errors
/// A syntax error or a limit, with its position, in LuaJIT's words.
pub fn compile(source: Source, chunkname: &[u8]) -> Result<ProtoData, SyntaxError> {
    let parser = Parser {
        lex: Lexer::new(source, chunkname),
        tok: Tok::Eof,
        ahead: None,
        line: 1,
        last_line: 1,
        level: 0,
        ternaries: 0,
        fs: FuncState::new(0),
        consts: false,
        outer: Vec::new(),
        chunkname: Rc::from(chunkname),
    };
    parser.parse_main()
}

/// A message that ends in a name.
fn quoted(msg: &str, name: &[u8]) -> Vec<u8> {
    [msg.as_bytes(), b" '", name, b"'"].concat()
}

/// The parser: its tokens, and the functions under construction.
struct Parser<'a> {
    lex: Lexer<'a>,
    /// Current token.
    tok: Tok,
    /// The token after it, if looked at.
    ahead: Option<Tok>,
    /// Line of the lexer.
    line: u32,
    /// Line of the token before.
    last_line: u32,
    level: u32,
    /// Depth of ternaries in the middle of ternaries.
    ternaries: u32,
    /// The innermost function.
    fs: Box<FuncState>,
    /// The functions around it, outermost first.
    #[allow(clippy::vec_box, reason = "they move between here and `fs`")]
    outer: Vec<Box<FuncState>>,
    /// Has the chunk constant variables?
    consts: bool,
    chunkname: Rc<[u8]>,
}

impl Parser<'_> {
    /// Moves to the next token.
    fn advance(&mut self) -> Result<(), SyntaxError> {
        self.last_line = self.line;
        self.tok = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.scan()?,
        };
        self.line = self.lex.line;
        Ok(())
    }
    fn scan(&mut self) -> Result<Tok, SyntaxError> {
        self.lex.depth = self.level + self.ternaries;
        self.lex.next()
    }
    /// The token after the current one.
    fn peek(&mut self) -> Result<&Tok, SyntaxError> {
        let ahead = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.scan()?,
        };
        self.line = self.lex.line;
        Ok(self.ahead.insert(ahead))
    }
    /// Consumes a character if it is the current token.
    fn opt(&mut self, c: u8) -> Result<bool, SyntaxError> {
        let is_there = self.at(c);
        if is_there {
            self.advance()?;
        }
        Ok(is_there)
    }
    /// Is this character the current token?
    #[inline]
    fn at(&self, c: u8) -> bool {
        matches!(self.tok, Tok::Char(x) if x == c)
    }
    /// Consumes a token if it is the current one.
    fn opt_tok(&mut self, tok: &Tok) -> Result<bool, SyntaxError> {
        let found = self.tok == *tok;
        if found {
            self.advance()?;
        }
        Ok(found)
    }
    /// Consumes a token, or raises an error if it is not the current one.
    fn check(&mut self, tok: &Tok) -> Result<(), SyntaxError> {
        if self.tok != *tok {
            return Err(self.err_expected(tok));
        }
        self.advance()
    }
    /// Consumes the token that closes a construct opened at a line.
    fn check_match(&mut self, what: &Tok, who: &Tok, line: u32) -> Result<(), SyntaxError> {
        if self.tok == *what {
            return self.advance();
        }
        Err(self.err_match(what, who, line))
    }
    #[cold]
    #[inline(never)]
    fn err_match(&self, what: &Tok, who: &Tok, line: u32) -> SyntaxError {
        if line == self.line {
            return self.err_expected(what);
        }
        let (what, who) = (token_name(what), token_name(who));
        self.err_tok(&format!("'{what}' expected (to close '{who}' at line {line})"))
    }
    /// Consumes a name.
    fn lex_name(&mut self) -> Result<Rc<[u8]>, SyntaxError> {
        let Tok::Name(name) = &self.tok else { return Err(self.err_tok("'<name>' expected")) };
        let name = name.clone();
        self.advance()?;
        Ok(name)
    }
    /// Enters a level of nesting.
    fn enter(&mut self) -> Result<(), SyntaxError> {
        self.level += 1;
        self.check_levels(self.level)
    }
    /// Do so many levels exceed the limit, or what is left of the native stack where a chunk is loaded deep in a recursion?
    fn check_levels(&self, levels: u32) -> Result<(), SyntaxError> {
        match levels {
            MAX_LEVEL.. => Err(self.err_plain("chunk has too many syntax levels")),
            _ if !has_reserve() => Err(self.err_plain("stack overflow")),
            _ => Ok(()),
        }
    }
    /// Leaves it.
    fn leave(&mut self) {
        self.level -= 1;
    }
    /// Is the current token this name? Some names are keywords in certain positions only.
    fn is_soft(&self, word: &[u8]) -> bool {
        matches!(&self.tok, Tok::Name(name) if **name == *word)
    }
    /// An error near the current token.
    #[cold]
    #[inline(never)]
    fn err_tok(&self, msg: &str) -> SyntaxError {
        self.lex.error_near(msg, Some(&self.tok))
    }
    /// "'x' expected".
    #[cold]
    #[inline(never)]
    fn err_expected(&self, tok: &Tok) -> SyntaxError {
        self.err_tok(&format!("'{}' expected", token_name(tok)))
    }
    /// An error without a token.
    #[cold]
    #[inline(never)]
    fn err_plain(&self, msg: impl AsRef<[u8]>) -> SyntaxError {
        self.lex.error_at(self.line, msg)
    }
    /// An error about a name, without a token.
    #[cold]
    #[inline(never)]
    fn err_name(&self, msg: &str, name: &[u8]) -> SyntaxError {
        self.err_plain(quoted(msg, name))
    }
    /// An error at a line.
    #[cold]
    #[inline(never)]
    fn err_line(&self, line: u32, msg: impl AsRef<[u8]>) -> SyntaxError {
        self.lex.error_at(line, msg)
    }
    /// A limit of the innermost function.
    #[cold]
    #[inline(never)]
    fn err_limit(&self, limit: u32, what: &str) -> SyntaxError {
        self.err_limit_at(self.fs.first_line, limit, what)
    }
    /// A limit of the function that starts at a line.
    #[cold]
    #[inline(never)]
    fn err_limit_at(&self, first_line: u32, limit: u32, what: &str) -> SyntaxError {
        self.err_plain(if first_line == 0 {
            format!("main function has more than {limit} {what}")
        } else {
            format!("function at line {first_line} has more than {limit} {what}")
        })
    }
}
