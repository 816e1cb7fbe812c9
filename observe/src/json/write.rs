//! serde's data as JSON.

use core::fmt::{self, Display};
use perilune_vm::text::NumText;
use serde::ser::{self, Serialize, Serializer};
use std::io::{self, Write};

/// Where JSON is written to.
pub struct Writer<'w> {
    pub to: &'w mut dyn Write,
    /// Members and items down to this depth begin on a new line.
    pub depth: usize,
    /// The depth that is being written.
    pub at: usize,
}

/// Why a value was not written.
#[derive(Debug)]
pub struct Failure(io::Error);

impl Failure {
    pub fn into_io(self) -> io::Error {
        self.0
    }
    fn key() -> Failure {
        ser::Error::custom("a key of JSON has to be a text or an integer")
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for Failure {}

impl ser::Error for Failure {
    fn custom<T: Display>(message: T) -> Failure {
        Failure(io::Error::other(message.to_string()))
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure(e)
    }
}

impl Writer<'_> {
    fn put(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        Ok(self.to.write_all(bytes.as_ref())?)
    }
    fn newline(&mut self) -> Result<(), Failure> {
        if self.at <= self.depth { self.put("\n") } else { Ok(()) }
    }
    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.put("\"")?;
        self.escaped(text)?;
        self.put("\"")
    }
    /// Writes the inside of a text.
    fn escaped(&mut self, text: &str) -> Result<(), Failure> {
        let bytes = text.as_bytes();
        let mut plain = 0;
        for (i, &b) in bytes.iter().enumerate() {
            if b >= b' ' && b != b'"' && b != b'\\' {
                continue;
            }
            self.put(&bytes[plain..i])?;
            plain = i + 1;
            match b {
                b'"' => self.put("\\\"")?,
                b'\\' => self.put("\\\\")?,
                b'\n' => self.put("\\n")?,
                b'\r' => self.put("\\r")?,
                b'\t' => self.put("\\t")?,
                0x08 => self.put("\\b")?,
                0x0c => self.put("\\f")?,
                _ => self.put(format!("\\u{b:04x}"))?,
            }
        }
        self.put(&bytes[plain..])
    }
}

/// Where a value stands.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Place {
    Value,
    /// The name of a member: a text, or an integer in quotation marks.
    Key,
}

/// A place where one value is written.
pub struct Position<'a, 'w> {
    pub writer: &'a mut Writer<'w>,
    pub place: Place,
}

impl<'a, 'w> Position<'a, 'w> {
    fn value(self) -> Result<&'a mut Writer<'w>, Failure> {
        if self.place == Place::Key { Err(Failure::key()) } else { Ok(self.writer) }
    }
    fn integer(self, digits: &[u8]) -> Result<(), Failure> {
        let quote = if self.place == Place::Key { "\"" } else { "" };
        self.writer.put(quote)?;
        self.writer.put(digits)?;
        self.writer.put(quote)
    }
    fn number(self, finite: bool, digits: fmt::Arguments<'_>) -> Result<(), Failure> {
        let writer = self.value()?;
        if finite { Ok(writer.to.write_fmt(digits)?) } else { writer.put("null") }
    }
    /// Begins a list or an object.
    fn open(self, brackets: [&'static str; 2]) -> Result<Members<'a, 'w>, Failure> {
        let writer = self.value()?;
        writer.at += 1;
        writer.put(brackets[0])?;
        Ok(Members { writer, first: true, close: brackets[1], outer: false })
    }
    /// Begins a list or an object that belongs to a variant of an enum: the only member of another object.
    fn open_variant(self, variant: &str, brackets: [&'static str; 2]) -> Result<Members<'a, 'w>, Failure> {
        let mut outer = self.open(OBJECT)?;
        outer.key(variant)?;
        let inner = Position { writer: outer.writer, place: Place::Value }.open(brackets)?;
        Ok(Members { outer: true, ..inner })
    }
}

const LIST: [&str; 2] = ["[", "]"];
const OBJECT: [&str; 2] = ["{", "}"];

/// A list or an object that is being written.
pub struct Members<'a, 'w> {
    writer: &'a mut Writer<'w>,
    first: bool,
    close: &'static str,
    /// Is it in an object of its own?
    outer: bool,
}

impl Members<'_, '_> {
    fn next(&mut self) -> Result<(), Failure> {
        if !core::mem::take(&mut self.first) {
            self.writer.put(",")?;
        }
        self.writer.newline()
    }
    fn value(&mut self, value: &(impl ?Sized + Serialize)) -> Result<(), Failure> {
        value.serialize(Position { writer: self.writer, place: Place::Value })
    }
    fn item(&mut self, value: &(impl ?Sized + Serialize)) -> Result<(), Failure> {
        self.next()?;
        self.value(value)
    }
    fn key(&mut self, key: &(impl ?Sized + Serialize)) -> Result<(), Failure> {
        self.next()?;
        key.serialize(Position { writer: self.writer, place: Place::Key })?;
        self.writer.put(":")
    }
    fn close(self) -> Result<(), Failure> {
        self.writer.at -= 1;
        self.writer.put(self.close)?;
        if self.outer {
            self.writer.at -= 1;
            self.writer.put(OBJECT[1])?;
        }
        Ok(())
    }
}

/// Implements the traits of lists: `trait method`.
macro_rules! lists {
    ($($list:ident $item:ident),*) => {$(
        impl ser::$list for Members<'_, '_> {
            type Ok = ();
            type Error = Failure;
            fn $item<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
                self.item(value)
            }
            fn end(self) -> Result<(), Failure> {
                self.close()
            }
        }
    )*};
}
lists!(
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field
);

/// Implements the traits of objects whose members have names in the program.
macro_rules! structs {
    ($($named:ident),*) => {$(
        impl ser::$named for Members<'_, '_> {
            type Ok = ();
            type Error = Failure;
            fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), Failure> {
                self.key(name)?;
                self.value(value)
            }
            fn end(self) -> Result<(), Failure> {
                self.close()
            }
        }
    )*};
}
structs!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = Failure;
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Failure> {
        self.key(key)
    }
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        self.value(value)
    }
    fn end(self) -> Result<(), Failure> {
        self.close()
    }
}

/// The methods for integers: `name type text`.
macro_rules! integers {
    ($($name:ident $type:ty, $text:expr);*) => {$(
        fn $name(self, n: $type) -> Result<(), Failure> {
            self.integer(&$text(n.into()))
        }
    )*};
}

fn unsigned(n: u64) -> NumText {
    NumText::padded(n, 1)
}

impl<'a, 'w> Serializer for Position<'a, 'w> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Members<'a, 'w>;
    type SerializeTuple = Members<'a, 'w>;
    type SerializeTupleStruct = Members<'a, 'w>;
    type SerializeTupleVariant = Members<'a, 'w>;
    type SerializeMap = Members<'a, 'w>;
    type SerializeStruct = Members<'a, 'w>;
    type SerializeStructVariant = Members<'a, 'w>;

    integers!(
        serialize_i8 i8, NumText::int64; serialize_i16 i16, NumText::int64; serialize_i32 i32, NumText::int64; serialize_i64 i64, NumText::int64;
        serialize_u8 u8, unsigned; serialize_u16 u16, unsigned; serialize_u32 u32, unsigned; serialize_u64 u64, unsigned
    );
    fn serialize_bool(self, b: bool) -> Result<(), Failure> {
        self.value()?.put(if b { "true" } else { "false" })
    }
    fn serialize_f32(self, n: f32) -> Result<(), Failure> {
        self.number(n.is_finite(), format_args!("{n:?}"))
    }
    fn serialize_f64(self, n: f64) -> Result<(), Failure> {
        self.number(n.is_finite(), format_args!("{n:?}"))
    }
    fn serialize_char(self, c: char) -> Result<(), Failure> {
        self.serialize_str(c.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, text: &str) -> Result<(), Failure> {
        self.writer.text(text)
    }
    fn collect_str<T: ?Sized + Display>(self, text: &T) -> Result<(), Failure> {
        self.serialize_str(&text.to_string())
    }
    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        bytes.serialize(self)
    }
    fn serialize_none(self) -> Result<(), Failure> {
        self.serialize_unit()
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Failure> {
        self.value()?.put("null")
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Failure> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Failure> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _name: &'static str, value: &T) -> Result<(), Failure> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failure> {
        let mut object = self.open(OBJECT)?;
        object.key(variant)?;
        object.value(value)?;
        object.close()
    }
    fn serialize_seq(self, _len: Option<usize>) -> Result<Members<'a, 'w>, Failure> {
        self.open(LIST)
    }
    fn serialize_tuple(self, _len: usize) -> Result<Members<'a, 'w>, Failure> {
        self.open(LIST)
    }
    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Members<'a, 'w>, Failure> {
        self.open(LIST)
    }
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Members<'a, 'w>, Failure> {
        self.open_variant(variant, LIST)
    }
    fn serialize_map(self, _len: Option<usize>) -> Result<Members<'a, 'w>, Failure> {
        self.open(OBJECT)
    }
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Members<'a, 'w>, Failure> {
        self.open(OBJECT)
    }
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Members<'a, 'w>, Failure> {
        self.open_variant(variant, OBJECT)
    }
}
