//! A file as it is read: from one end to the other, in pieces, with the place known where it is wrong.

use super::Wrong;
use std::io::{self, BufReader, Read};

/// Bytes read at a time.
const PIECE: usize = 1 << 18;

/// A reader of bytes that knows where in the file they are.
pub struct Source<R> {
    from: R,
    piece: Vec<u8>,
    /// Those of the piece that were taken.
    taken: usize,
    /// Where the piece is in the file.
    start: u64,
    /// Lines that have ended, and where this one and the one before begin.
    lines: usize,
    line: u64,
    line_before: u64,
}

impl<R: Read> Source<R> {
    /// Begins to read.
    pub fn new(from: R) -> Source<R> {
        Source { from, piece: Vec::new(), taken: 0, start: 0, lines: 0, line: 0, line_before: 0 }
    }
    /// What comes next: all of it, or a piece; nothing at the end.
    pub fn look(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.piece.len() {
            self.start += self.taken as u64;
            self.taken = 0;
            self.piece.clear();
            self.from.by_ref().take(PIECE as u64).read_to_end(&mut self.piece)?;
        }
        Ok(&self.piece[self.taken..])
    }
    /// What is wrong with the text, in words.
    pub fn wrong(&self, e: &serde_json::Error) -> Wrong {
        let what = e.to_string();
        let what = what.rsplit_once(" at line ").map_or(&*what, |w| w.0);
        // What was taken last may be after it, on another line.
        if e.is_io() {
            return Wrong::new(format!("{what} at offset {}", self.start + self.taken as u64));
        }
        let line = if e.line() > self.lines { self.line } else { self.line_before };
        let offset = (line + e.column().saturating_sub(1) as u64).min(self.start + self.taken as u64);
        Wrong::new(format!("{what} at offset {offset}"))
    }
}

impl<R: Read> Read for Source<R> {
    #[inline]
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() && self.look()?.is_empty() {
            return Ok(0);
        }
        let (Some(to), Some(&byte)) = (to.first_mut(), self.piece.get(self.taken)) else { return Ok(0) };
        *to = byte;
        self.taken += 1;
        if byte == b'\n' {
            self.lines += 1;
            self.line_before = self.line;
            self.line = self.start + self.taken as u64;
        }
        Ok(1)
    }
}

/// Where a value of the outermost object of a JSON text begins, or, if it is a list of numbers, what is after so many commas.
pub fn offset_of(text: impl Read, key: &str, commas: usize) -> Option<u64> {
    let mut depth = 0usize;
    let mut string: Option<Vec<u8>> = None;
    let mut last = Vec::new();
    let mut escaped = false;
    // After the key: its colon has come, then its value.
    let (mut here, mut passed) = (false, None);
    for (offset, byte) in BufReader::with_capacity(PIECE, text).bytes().enumerate() {
        let byte = byte.ok()?;
        if let Some(n) = &mut passed {
            if *n == commas {
                return Some(offset as u64);
            }
            *n += usize::from(byte == b',');
            continue;
        }
        if let Some(s) = &mut string {
            match byte {
                b'"' if !escaped => last = string.take()?,
                _ if depth == 1 && s.len() <= key.len() => s.push(byte),
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        if here && !byte.is_ascii_whitespace() {
            if commas == 0 {
                return Some(offset as u64);
            }
            passed = Some(0);
            continue;
        }
        match byte {
            b'"' => string = Some(Vec::new()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => here = last == key.as_bytes(),
            _ => {}
        }
    }
    None
}

/// Where a text is mentioned for the last time, in quotes.
pub fn last_mention(text: impl Read, wanted: &str) -> Option<u64> {
    let quoted = format!("\"{wanted}\"").into_bytes();
    let mut window = std::collections::VecDeque::with_capacity(quoted.len());
    let mut found = None;
    for (offset, byte) in BufReader::with_capacity(PIECE, text).bytes().enumerate() {
        if window.len() == quoted.len() {
            window.pop_front();
        }
        window.push_back(byte.ok()?);
        if window.back() == Some(&b'"') && window.iter().eq(&quoted) {
            found = Some((offset + 1 - quoted.len()) as u64);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{last_mention, offset_of};

    #[test]
    fn places_of_values() {
        let text = r#"{"a\"b": ["nodes", {"nodes": 1}], "nodes" : [10, 20,30], "s": "nodes"}"#;
        let at = |s: &str| text.find(s).map(|i| i as u64);
        assert_eq!(offset_of(text.as_bytes(), "nodes", 0), at("[10"));
        assert_eq!(offset_of(text.as_bytes(), "nodes", 1), at(" 20"));
        assert_eq!(offset_of(text.as_bytes(), "nodes", 2), at("30"));
        assert_eq!(offset_of(text.as_bytes(), "edges", 0), None);
        assert_eq!(last_mention(text.as_bytes(), "nodes"), at("\"nodes\"}"));
        assert_eq!(last_mention(text.as_bytes(), "node"), None);
    }
}
