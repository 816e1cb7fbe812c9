//! Writing: a buffer in front of a writer, which stops at the first error and remembers it.

use crate::foreign::{attempt, discard};
use std::io::{self, Write};

/// Longest ULEB128 of 64 bits.
const LONGEST: usize = 10;

/// A buffered stream of bytes and numbers.
pub struct Out {
    writer: Option<Box<dyn Write>>,
    buffer: Vec<u8>,
    /// The buffer is written when it has so many bytes.
    full: usize,
    error: Option<io::Error>,
}

impl Out {
    /// A stream to `writer`. The buffer is used as it is, however small it may be.
    pub fn new(writer: Box<dyn Write>, mut buffer: Vec<u8>) -> Out {
        buffer.clear();
        let full = buffer.capacity();
        buffer.reserve(LONGEST);
        Out { writer: Some(writer), buffer, full, error: None }
    }
    /// Has writing failed?
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }
    #[inline]
    fn make_room(&mut self) {
        if self.buffer.len() >= self.full {
            self.write_out();
        }
    }
    #[cold]
    fn write_out(&mut self) {
        if self.error.is_none()
            && let Some(writer) = &mut self.writer
        {
            self.error = attempt(|| writer.write_all(&self.buffer)).err();
        }
        self.buffer.clear();
    }
    /// A byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.make_room();
        self.buffer.push(byte);
    }
    /// A number as ULEB128.
    #[inline]
    pub fn number(&mut self, mut n: u64) {
        self.make_room();
        while n >= 0x80 {
            self.buffer.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.buffer.push(n as u8);
    }
    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(self.full.max(1)) {
            self.make_room();
            self.buffer.extend_from_slice(part);
        }
    }
    /// A string: its length, then its bytes.
    pub fn string(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes(bytes);
    }
    /// Writes what is in the buffer.
    pub fn flush(&mut self) {
        self.write_out();
        if self.error.is_none()
            && let Some(writer) = &mut self.writer
        {
            self.error = attempt(|| writer.flush()).err();
        }
    }
    /// The error, if there was one; from then on nothing has been written.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        discard(self.writer.take());
    }
}
