//! Where the text or the bytecode of a chunk comes from: bytes that are there, or pieces that somebody is asked for when they are
//! needed.

use crate::error::LuaResult;
use std::borrow::Cow;

/// Gives a chunk in pieces.
pub trait Pieces {
    /// Appends the next piece, of a byte at least; false at the end, after which nobody asks again. `depth` is how many levels of
    /// syntax the parser is in.
    ///
    /// # Errors
    /// The value waits in the VM.
    fn next(&mut self, into: &mut Vec<u8>, depth: u32) -> LuaResult<bool>;
}

/// What a chunk is, by its first byte.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// Source text.
    Text,
    /// What `string.dump` gives.
    Binary,
    /// A binary chunk behind the header of a text. Who looks at the first character only is not to be deceived by it.
    Hidden,
}

/// The bytes of a chunk. Those that were used are dropped now and then where it comes in pieces.
pub struct Source<'a> {
    bytes: Cow<'a, [u8]>,
    /// The next byte.
    pub pos: usize,
    /// Who gives more.
    pieces: Option<&'a mut dyn Pieces>,
    failed: bool,
}

impl<'a> Source<'a> {
    /// A chunk that is there.
    pub fn whole(bytes: &'a [u8]) -> Source<'a> {
        Source { bytes: Cow::Borrowed(bytes), pos: 0, pieces: None, failed: false }
    }
    /// A chunk in pieces.
    pub fn in_pieces(pieces: &'a mut dyn Pieces) -> Source<'a> {
        Source { bytes: Cow::Owned(Vec::new()), pos: 0, pieces: Some(pieces), failed: false }
    }
    /// The bytes of which `pos` is one.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// Is the whole chunk in memory, so that positions stay what they are?
    pub fn is_whole(&self) -> bool {
        matches!(self.bytes, Cow::Borrowed(_))
    }
    /// Those not used yet.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.pos..]
    }
    /// Did the reader function fail? The chunk seems to end there.
    #[inline]
    pub fn failed(&self) -> bool {
        self.failed
    }
    /// Asks for another piece; false if there is none.
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
    /// Asks for pieces until so many bytes are there that were not used yet; false if there are less.
    pub fn want(&mut self, bytes: usize) -> bool {
        while self.rest().len() < bytes {
            if !self.more(0) {
                return false;
            }
        }
        true
    }
    /// Drops bytes of pieces before `from`, which is not behind `pos`, but for those of `spans`, which are told where they are then:
    /// if that halves what is there. Says by how much positions from `from` on have changed.
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
    /// Goes over what is in front of a text: a byte order mark if it is in one piece, and a first line that starts with `#` up to
    /// its end.
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
