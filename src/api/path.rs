//! Paths of keys: `a.b[1]?["c d"]`.

use super::error::{Error, Result};
use super::value::Integer;
use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

/// A key of a path.
#[derive(Debug, PartialEq)]
pub enum Key {
    /// A string.
    Name(String),
    /// A number in brackets.
    Index(Integer),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Name(name) => f.write_str(name),
            Key::Index(i) => i.fmt(f),
        }
    }
}

/// A key, and whether the path may end there.
#[derive(Debug, PartialEq)]
pub struct Step {
    /// The key.
    pub key: Key,
    /// Is it followed by `?`
    pub optional: bool,
}

/// The keys of a path.
pub fn parse(path: &str) -> Result<Vec<Step>> {
    let mut parser = Parser { chars: path.char_indices().peekable() };
    let mut steps = Vec::new();
    while let Some((at, c)) = parser.peek() {
        if c.is_ascii_whitespace() {
            parser.chars.next();
            continue;
        }
        let key = match c {
            '.' => {
                parser.chars.next();
                parser.name(at)?
            }
            '[' => {
                parser.chars.next();
                parser.bracketed(at)?
            }
            _ if steps.is_empty() => parser.name(at)?,
            c => return Err(unexpected(c, at)),
        };
        let optional = parser.chars.next_if(|(_, c)| *c == '?').is_some();
        steps.push(Step { key, optional });
    }
    Ok(steps)
}

fn unexpected(c: char, at: usize) -> Error {
    Error::runtime(format!("unexpected character '{c}' in path at position {at}"))
}

struct Parser<'a> {
    chars: Peekable<CharIndices<'a>>,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<(usize, char)> {
        self.chars.peek().copied()
    }
    /// A name without quotes, after what stands at a position.
    fn name(&mut self, at: usize) -> Result<Key> {
        let mut name = String::new();
        while let Some((_, c)) = self.chars.next_if(|(_, c)| !matches!(c, '.' | '?' | '[') && !c.is_ascii_whitespace()) {
            name.push(c);
        }
        if name.is_empty() {
            return Err(Error::runtime(format!("empty key in path at position {at}")));
        }
        Ok(Key::Name(name))
    }
    /// What stands after the bracket at a position, with the closing one.
    fn bracketed(&mut self, at: usize) -> Result<Key> {
        let end = || Error::runtime("unexpected end of path");
        let key = match self.peek().ok_or_else(end)? {
            (start, '0'..='9' | '-') => self.index(start)?,
            (start, quote @ ('\'' | '"')) => self.quoted(start, quote)?,
            (_, ']') => return Err(Error::runtime(format!("empty key in path at position {at}"))),
            (start, c) => return Err(unexpected(c, start)),
        };
        match self.chars.next().ok_or_else(end)? {
            (_, ']') => Ok(key),
            (at, c) => Err(Error::runtime(format!("expected ']' in path at position {at}, found '{c}'"))),
        }
    }
    fn index(&mut self, start: usize) -> Result<Key> {
        let mut digits = String::new();
        digits.extend(self.chars.next_if(|(_, c)| *c == '-').map(|(_, c)| c));
        while let Some((_, c)) = self.chars.next_if(|(_, c)| c.is_ascii_digit()) {
            digits.push(c);
        }
        if digits == "-" {
            return Err(Error::runtime(format!("invalid integer in path at position {start}")));
        }
        let index = digits.parse().map_err(|_| Error::runtime(format!("integer overflow in path at position {start}")))?;
        Ok(Key::Index(index))
    }
    /// A string in quotes; a backslash takes the special meaning from quotes and from itself.
    fn quoted(&mut self, start: usize, quote: char) -> Result<Key> {
        self.chars.next();
        let mut text = String::new();
        while let Some((_, c)) = self.chars.next() {
            match c {
                c if c == quote => return Ok(Key::Name(text)),
                '\\' => match self.chars.next_if(|(_, c)| matches!(c, '\\' | '"' | '\'')) {
                    Some((_, c)) => text.push(c),
                    None => text.push('\\'),
                },
                c => text.push(c),
            }
        }
        Err(Error::runtime(format!("unexpected end of string at position {start}")))
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, parse};

    #[test]
    fn keys_in_all_forms() {
        let steps = parse(r#" a.b[-3]?.c['d "e"']["\"\\\n"] "#).unwrap();
        assert_eq!(steps.iter().position(|s| s.optional), Some(2));
        let keys: Vec<Key> = steps.into_iter().map(|s| s.key).collect();
        let name = |s: &str| Key::Name(s.to_owned());
        assert_eq!(keys, [name("a"), name("b"), Key::Index(-3), name("c"), name("d \"e\""), name("\"\\\\n")]);
        assert_eq!(parse("  ").unwrap(), []);
    }

    #[test]
    fn malformed_paths() {
        for (path, message) in [
            ("a..b", "empty key in path at position 1"),
            ("a.b.", "empty key in path at position 3"),
            ("a[b", "unexpected character 'b' in path at position 2"),
            ("a[]", "empty key in path at position 1"),
            ("a[\"b", "unexpected end of string at position 2"),
            ("a[", "unexpected end of path"),
            ("a[123", "unexpected end of path"),
            ("a['b'1", "expected ']' in path at position 5, found '1'"),
            ("a['b']x", "unexpected character 'x' in path at position 6"),
            ("a[99999999999999999999]", "integer overflow in path at position 2"),
            ("a[-]", "invalid integer in path at position 2"),
        ] {
            assert_eq!(parse(path).unwrap_err().message(), message, "{path}");
        }
    }
}
