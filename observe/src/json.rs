//! Strings of JSON.

use std::io::{self, Write};

/// Writes a string in quotes. Bytes that are not UTF-8 become `?`.
pub fn string(to: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(b"\"")?;
    for chunk in bytes.utf8_chunks() {
        escaped(to, chunk.valid().as_bytes())?;
        if !chunk.invalid().is_empty() {
            to.write_all(b"?")?;
        }
    }
    to.write_all(b"\"")
}

fn escaped(to: &mut dyn Write, mut text: &[u8]) -> io::Result<()> {
    while let Some(i) = text.iter().position(|b| *b < 0x20 || matches!(b, b'"' | b'\\')) {
        to.write_all(&text[..i])?;
        match text[i] {
            c @ (b'"' | b'\\') => to.write_all(&[b'\\', c])?,
            b'\n' => to.write_all(b"\\n")?,
            c => write!(to, "\\u{c:04x}")?,
        }
        text = &text[i + 1..];
    }
    to.write_all(text)
}

#[cfg(test)]
mod tests {
    fn json(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        super::string(&mut out, bytes).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json(b"plain"), "\"plain\"");
        assert_eq!(json("a\"b\\c\nd\0 ü".as_bytes()), "\"a\\\"b\\\\c\\nd\\u0000 ü\"");
        assert_eq!(json(b"\xff\xfe!"), "\"??!\"");
    }
}
