//! What serde has no type for: strings of bytes, and lists that are written while they are found.

use core::fmt::{self, Display, Write as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};
use std::io::{self, Write};

/// A string of Lua. Bytes that are not UTF-8 become `?`.
pub struct Text<'a>(pub &'a [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match core::str::from_utf8(self.0) {
            Ok(text) => to.serialize_str(text),
            Err(_) => to.collect_str(self),
        }
    }
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char('?')?;
            }
        }
        Ok(())
    }
}

/// A list whose items are made one at a time.
pub struct List<I>(pub I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}

/// Writes a member unless its list is empty.
pub fn nonempty<M: SerializeMap>(
    to: &mut M,
    name: &'static str,
    items: impl Iterator<Item: Serialize> + Clone,
) -> Result<(), M::Error> {
    match items.clone().next() {
        Some(_) => to.serialize_entry(name, &List(items)),
        None => Ok(()),
    }
}

/// Writes a value, each of its members and items down to a depth on a line of its own, and a newline at the end.
pub fn write(to: &mut dyn Write, depth: usize, value: &impl Serialize) -> io::Result<()> {
    let lines = Lines { depth, at: 0 };
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut *to, lines))?;
    to.write_all(b"\n")
}

/// Begins lines with the members and items down to a depth: large files have one object a line, for those who search them.
struct Lines {
    depth: usize,
    at: usize,
}

impl Lines {
    fn newline<W: ?Sized + Write>(&self, to: &mut W) -> io::Result<()> {
        if self.at <= self.depth { to.write_all(b"\n") } else { Ok(()) }
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.at += 1;
        CompactFormatter.begin_array(to)
    }
    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.at -= 1;
        CompactFormatter.end_array(to)
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_array_value(to, first)?;
        self.newline(to)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.at += 1;
        CompactFormatter.begin_object(to)
    }
    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.at -= 1;
        CompactFormatter.end_object(to)
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        CompactFormatter.begin_object_key(to, first)?;
        self.newline(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(bytes: &[u8]) -> String {
        serde_json::to_string(&Text(bytes)).unwrap()
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json(b"plain"), "\"plain\"");
        assert_eq!(json("a\"b\\c\nd\0 ü".as_bytes()), "\"a\\\"b\\\\c\\nd\\u0000 ü\"");
        assert_eq!(json(b"\xff\"\xfe!"), "\"?\\\"?!\"");
    }

    #[test]
    fn lines_end_at_a_depth() {
        let mut out = Vec::new();
        write(&mut out, 1, &[vec![1, 2], vec![3]]).unwrap();
        assert_eq!(out, b"[\n[1,2],\n[3]]\n");
    }
}
