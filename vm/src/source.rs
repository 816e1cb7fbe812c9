//! The source of the text or the bytecode of a chunk: bytes in memory, or pieces that are requested when they are needed.

use crate::error::LuaResult;
use std::borrow::Cow;

/// Supplies a chunk in pieces.
pub trait Pieces {
    /// Appends the next piece, of at least one byte; false at the end, after which there are no further calls. `depth` is the number of
    /// nested levels of syntax in the parser.
    ///
    /// # Errors
    /// The error value is parked in the VM.
    fn next(&mut self, into: &mut Vec<u8>, depth: u32) -> LuaResult<bool>;
}

/// The form of a chunk, by its first byte.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// Source text.
    Text,
    /// The output of `string.dump`.
    Binary,
    /// A binary chunk after the header of a text. Code that checks the first character only must not be deceived by it.
    Hidden,
}

/// The bytes of a chunk. If it comes in pieces, bytes that were used are dropped now and then.
pub struct Source<'a> {
    bytes: Cow<'a, [u8]>,
    /// The next byte.
    pub pos: usize,
    /// The supplier of further pieces.
    pieces: Option<&'a mut dyn Pieces>,
    failed: bool,
}

impl<'a> Source<'a> {
    /// A chunk in memory.
    pub fn whole(bytes: &'a [u8]) -> Source<'a> {
        Source { bytes: Cow::Borrowed(bytes), pos: 0, pieces: None, failed: false }
    }
    /// A chunk in pieces.
    pub fn in_pieces(pieces: &'a mut dyn Pieces) -> Source<'a> {
        Source { bytes: Cow::Owned(Vec::new()), pos: 0, pieces: Some(pieces), failed: false }
    }
    /// The bytes in memory; `pos` is an index of them.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// Is the whole chunk in memory, so that positions do not change?
    pub fn is_whole(&self) -> bool {
        matches!(self.bytes, Cow::Borrowed(_))
    }
    /// The bytes that were not used yet.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.pos..]
    }
    /// Did the reader function fail? Then the chunk seems to end there.
    #[inline]
    pub fn failed(&self) -> bool {
        self.failed
    }
    /// Requests another piece; false if there is none.
    #[cold]
    #[inline(never)]
    pub fn more(&mut self, depth: u32) -> bool {
        let Some(pieces) = &mut self.pieces else { return false };
        match pieces.next(self.bytes.to_mut(), depth) {
            Ok(true) => return true,
            Ok(false) => {}
            Err(_) => self.failed = true,
        }
        self.pieces = None;
        false
    }
    /// Requests pieces until so many unused bytes are in memory; false if there are fewer.
    pub fn want(&mut self, bytes: usize) -> bool {
        while self.rest().len() < bytes {
            if !self.more(0) {
                return false;
            }
        }
        true
    }
    /// Drops the bytes of pieces before `from`, which is not after `pos`, without those of `spans`, whose positions are updated; only if
    /// that halves the memory. Returns by how much positions from `from` on have changed.
    pub fn drop_used(&mut self, from: usize, spans: &mut [&mut (usize, usize)]) -> usize {
        let kept = self.bytes.len() - from + spans.iter().map(|(start, end)| end - start).sum::<usize>();
        if self.pieces.is_none() || kept > self.bytes.len() / 2 {
            return 0;
        }
        let mut bytes = Vec::with_capacity(2 * kept);
        for span in spans {
            let at = bytes.len();
            bytes.extend_from_slice(&self.bytes[span.0..span.1]);
            **span = (at, bytes.len());
        }
        let by = from - bytes.len();
        bytes.extend_from_slice(&self.bytes[from..]);
        self.bytes = Cow::Owned(bytes);
        self.pos -= by;
        by
    }
    /// Skips the header of a text: a byte order mark if it is in one piece, and a first line that starts with `#` up to its end.
    pub fn open(&mut self) -> Form {
        self.want(1);
        let mut header = self.rest().starts_with(b"\xef\xbb\xbf");
        if header {
            self.pos += 3;
            self.want(1);
        }
        let mut line_end = 0;
        if self.rest().first() == Some(&b'#') {
            while !matches!(self.rest().first(), Some(b'\n' | b'\r')) {
                self.pos += 1;
                if !self.want(1) {
                    return Form::Text;
                }
            }
            header = true;
            self.want(2);
            line_end = if matches!(self.rest(), [b'\n', b'\r', ..] | [b'\r', b'\n', ..]) { 2 } else { 1 };
            self.want(line_end + 1);
        }
        match (self.rest().get(line_end), header) {
            (Some(0x1b), false) => Form::Binary,
            (Some(0x1b), true) => Form::Hidden,
            _ => Form::Text,
        }
    }
}
