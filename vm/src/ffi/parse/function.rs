//! Parameters of functions.

use super::super::ctype::{CTypeId, Ct, Info};
use super::chain::{Decl, Mode};
use super::decl::storage;
use super::lexer::Tok;
use super::{Parser, Res};

impl Parser<'_> {
    /// The parameters of a function, after the parenthesis.
    pub(super) fn function(&mut self, function: &mut Decl) -> Res<()> {
        let mut info = Info::new(Ct::Func, 0);
        let mut params: Vec<CTypeId> = Vec::new();
        if self.tok() != Tok::Char(b')') {
            loop {
                if self.skip_char(b'.')? {
                    self.expect_char(b'.')?;
                    self.expect_char(b'.')?;
                    info.0 |= Info::VARARG;
                    break;
                }
                let mut decl = Decl::default();
                self.specifiers(&mut decl, storage::REGISTER)?;
                decl.mode = Mode { direct: true, abstract_: true, field: false };
                self.declarator(&mut decl)?;
                let id = self.intern(&decl)?;
                let raw = self.types.raw(id).info;
                if raw.is_void() {
                    break;
                }
                // Arrays and functions are passed as pointers.
                let id = match raw {
                    _ if raw.is_plain_array() => self.pointer_to(raw.child())?,
                    _ if raw.is_func() => self.pointer_to(id)?,
                    _ => id,
                };
                let param = self.types.add(Info::new(Ct::Field, id.0), params.len() as u32)?;
                if let Some(name) = &decl.name {
                    self.types.set_name(param, name);
                }
                if let Some(last) = params.last() {
                    self.types.get_mut(*last).sib = param;
                }
                params.push(param);
                if !self.skip_char(b',')? {
                    break;
                }
            }
        }
        self.expect_char(b')')?;
        if self.tok() == Tok::Char(b'{') {
            self.skip_body()?;
        }
        self.add_function(function, info, params.len() as u32, params.first().copied().unwrap_or(CTypeId::NONE))
    }
    /// Skips the definition of a function; what follows is as after a declaration.
    fn skip_body(&mut self) -> Res<()> {
        let mut level = 0;
        self.lexer.lenient = true;
        loop {
            match self.tok() {
                Tok::Char(b'{') => level += 1,
                Tok::Char(b'}') => {
                    level -= 1;
                    if level == 0 {
                        break;
                    }
                }
                Tok::Eof => return Err(self.expected(Tok::Char(b'}'))),
                _ => {}
            }
            self.advance()?;
        }
        self.lexer.lenient = false;
        self.lexer.tok = Tok::Char(b';');
        Ok(())
    }
}
