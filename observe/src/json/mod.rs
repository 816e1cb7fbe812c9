//! JSON: how serde's data is written, and what serde has no type for, which is strings of bytes and lists that are written while they are found.
//!
//! `serde_json` is not used here, since all programs with the feature `observe` would then contain it. It compares its values with numbers
//! and strings, and the types of literals in such a program are ambiguous where they were not.

mod write;

use core::fmt::{self, Display, Write as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, Write};
use write::{Failure, Place, Position, Writer};

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

/// Writes a value, each of its members and items down to a depth on a line of its own, and a newline at the end: large files have one object
/// a line, for those who search them.
pub fn write(to: &mut dyn Write, depth: usize, value: &impl Serialize) -> io::Result<()> {
    let mut writer = Writer { to, depth, at: 0 };
    value.serialize(Position { writer: &mut writer, place: Place::Value }).map_err(Failure::into_io)?;
    to.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    fn json(value: impl Serialize) -> String {
        let mut out = Vec::new();
        write(&mut out, 0, &value).unwrap();
        String::from_utf8(out).unwrap().trim_end().to_owned()
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json(Text(b"plain")), "\"plain\"");
        let text = "a\"b\\c\nd\0\u{1f}\r\t\u{8}\u{c} ü\u{10ffff}";
        assert_eq!(json(Text(text.as_bytes())), "\"a\\\"b\\\\c\\nd\\u0000\\u001f\\r\\t\\b\\f ü\u{10ffff}\"");
        assert_eq!(json(text), serde_json::to_string(text).unwrap());
        assert_eq!(json(Text(b"\xff\"\xfe!")), "\"?\\\"?!\"");
        assert_eq!(json('"'), r#""\"""#);
    }

    #[test]
    fn lines_end_at_a_depth() {
        let mut out = Vec::new();
        write(&mut out, 1, &[vec![1, 2], vec![3]]).unwrap();
        assert_eq!(out, b"[\n[1,2],\n[3]]\n");
    }

    #[derive(Serialize)]
    struct Named {
        unit: (),
        none: Option<u8>,
        some: Option<bool>,
        nested: Vec<Shape>,
    }

    #[derive(Serialize)]
    struct Pair(i8, f32);

    #[derive(Serialize)]
    struct Wrapped(&'static str);

    #[derive(Serialize)]
    enum Shape {
        Empty,
        One(u64),
        Two(i64, Pair),
        Fields { a: Wrapped, b: [u8; 0] },
    }

    /// Everything that serde can describe is written as `serde_json` writes it, numbers so that they are read as what they were.
    #[test]
    fn data_is_written_as_by_serde_json() {
        let shapes = vec![
            Shape::Empty,
            Shape::One(u64::MAX),
            Shape::Two(i64::MIN, Pair(-1, 0.25)),
            Shape::Fields { a: Wrapped("x"), b: [] },
        ];
        let named = Named { unit: (), none: None, some: Some(true), nested: shapes };
        assert_eq!(json(&named), serde_json::to_string(&named).unwrap());
        for n in [
            0.0,
            -0.0,
            1.0,
            0.1,
            1e15,
            1e16,
            1e300,
            1e-5,
            1e-7,
            123_456.789,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::NAN,
            f64::INFINITY,
        ] {
            let read: Option<f64> = serde_json::from_str(&json(n)).unwrap();
            assert_eq!(read.map(f64::to_bits), Some(n.to_bits()).filter(|_| n.is_finite()), "{n}");
        }
        let by_number = std::collections::BTreeMap::from([(1, 'a'), (-2, 'b')]);
        assert_eq!(json(&by_number), serde_json::to_string(&by_number).unwrap());
    }

    #[test]
    fn keys_are_texts_or_integers() {
        for key in [Shape::One(1), Shape::Fields { a: Wrapped(""), b: [] }] {
            struct Map(Shape);
            impl Serialize for Map {
                fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    to.collect_map([(&self.0, 1)])
                }
            }
            assert_eq!(
                write(&mut Vec::new(), 0, &Map(key)).unwrap_err().to_string(),
                "a key of JSON has to be a text or an integer"
            );
        }
    }
}
