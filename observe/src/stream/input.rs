//! Reading: bytes, numbers and strings from any reader, which know where they were.

use std::io::{BufReader, Read};

/// What is wrong with a stream, and at which byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// Offset of the first byte of what is wrong.
    pub offset: u64,
    /// What it is.
    pub what: String,
}

impl core::fmt::Display for Malformed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} at offset {}", self.what, self.offset)
    }
}

impl std::error::Error for Malformed {}

/// Result of reading.
pub type Read_<T> = Result<T, Malformed>;

/// Strings longer than this are no names of chunks, nor their text.
const MAX_STRING: u64 = 1 << 30;

/// A stream being read.
pub struct Input<R> {
    reader: BufReader<R>,
    offset: u64,
}

impl<R: Read> Input<R> {
    /// Reads from the start.
    pub fn new(reader: R) -> Input<R> {
        Input { reader: BufReader::with_capacity(1 << 16, reader), offset: 0 }
    }
    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// An error about what begins at `offset`.
    pub fn wrong<T>(&self, offset: u64, what: impl Into<String>) -> Read_<T> {
        Err(Malformed { offset, what: what.into() })
    }
    fn fill(&mut self, to: &mut [u8]) -> Read_<()> {
        match self.reader.read_exact(to) {
            Ok(()) => {
                self.offset += to.len() as u64;
                Ok(())
            }
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => self.wrong(self.offset, "unexpected end of data"),
            Err(e) => self.wrong(self.offset, e.to_string()),
        }
    }
    /// A byte.
    pub fn byte(&mut self) -> Read_<u8> {
        self.array::<1>().map(|[b]| b)
    }
    /// Some bytes.
    pub fn array<const N: usize>(&mut self) -> Read_<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }
    /// A ULEB128 number of up to 64 bits.
    pub fn number(&mut self) -> Read_<u64> {
        let start = self.offset;
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            n |= bits << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        self.wrong(start, "a number of more than 64 bits")
    }
    /// A string.
    pub fn string(&mut self) -> Read_<Vec<u8>> {
        let start = self.offset;
        let len = self.number()?;
        if len > MAX_STRING {
            return self.wrong(start, format!("a string of {len} bytes"));
        }
        // What is there is read, not what is said to be there.
        let mut bytes = Vec::new();
        let at = self.offset;
        match (&mut self.reader).take(len).read_to_end(&mut bytes) {
            Ok(n) => self.offset += n as u64,
            Err(e) => return self.wrong(self.offset, e.to_string()),
        }
        if (bytes.len() as u64) < len {
            self.wrong(at, format!("unexpected end of data in a string of {len} bytes"))
        } else {
            Ok(bytes)
        }
    }
}
