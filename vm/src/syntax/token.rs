//! The tokens of the language.

use crate::bc::{KCdata, KNum};
use std::rc::Rc;

macro_rules! keywords {
    ($($name:ident $text:literal)*) => {
        /// A token.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs, reason = "named after their spelling")]
        pub enum Tok {
            $($name,)*
            Concat, Dots, Eq, Ge, Le, Ne, Label, Nav, Coal, Shl, Shr, Sar, AndAnd, OrOr, NotEq, Arrow,
            Num(KNum),
            /// A literal whose value is cdata.
            Cdata(KCdata),
            Str(Rc<[u8]>),
            Name(Rc<[u8]>),
            Char(u8),
            Eof,
        }
        /// The reserved words.
        pub const KEYWORDS: &[&str] = &[$($text),*];

        impl Tok {
            /// Is it a reserved word?
            pub fn is_keyword(&self) -> bool {
                matches!(self, $(Tok::$name)|*)
            }
        }

        /// The reserved word with this spelling.
        pub(super) fn keyword(b: &[u8]) -> Option<Tok> {
            if !(2..=8).contains(&b.len()) {
                return None;
            }
            $(if b == $text.as_bytes() { return Some(Tok::$name); })*
            None
        }
        fn spelling(t: &Tok) -> &'static str {
            match t {
                $(Tok::$name => $text,)*
                Tok::Concat => "..", Tok::Dots => "...", Tok::Eq => "==", Tok::Ge => ">=", Tok::Le => "<=", Tok::Ne => "~=",
                Tok::Label => "::", Tok::Nav => "?.", Tok::Coal => "??", Tok::Shl => "<<", Tok::Shr => ">>", Tok::Sar => "~>>",
                Tok::AndAnd => "&&", Tok::OrOr => "||", Tok::NotEq => "!=", Tok::Arrow => "->", Tok::Num(_) | Tok::Cdata(_) => "<number>", Tok::Str(_) => "<string>", Tok::Name(_) => "<name>",
                Tok::Char(_) => "", Tok::Eof => "<eof>",
            }
        }
    };
}
keywords! {
    And "and" Break "break" Do "do" Else "else" ElseIf "elseif" End "end" False "false" For "for" Function "function" If "if"
    In "in" Local "local" Nil "nil" Not "not" Or "or" Repeat "repeat" Return "return" Then "then" True "true" Until "until"
    While "while"
}

/// The name of a kind of token, for "'x' expected".
pub fn token_name(t: &Tok) -> String {
    match t {
        Tok::Char(c) if c.is_ascii_control() => format!("char({c})"),
        Tok::Char(c) => (*c as char).to_string(),
        t => spelling(t).to_string(),
    }
}
