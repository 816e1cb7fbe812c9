//! Executable memory.
//!
//! One [`Arena`] of fixed size holds all code. A piece of code is placed in the first free range that is large enough. [`Arena::free`] frees one
//! piece, [`Arena::reset`] all.
//!
//! A [`CodeBuf`] is memory being written; [`CodeBuf::finish`] turns it into [`Code`], which nothing can write.
#![allow(unsafe_code, reason = "code that was just placed in the arena is mapped readable")]

mod icache;
mod map;
mod ranges;

use core::ops::Range;
use map::Mapping;
pub use ranges::Ranges;

/// Alignment of each piece of code.
const ALIGN: usize = 16;
/// Processors keep decoded instructions by lines of so many bytes, and take those of one line at a time.
const LINE: usize = 64;
/// A loop of more lines gains little from one line less.
const MOST_LINES: usize = 4;
/// What freed code is filled with in debug builds: traps.
const TRAP: u8 = if cfg!(target_arch = "x86_64") { 0xcc } else { 0 };

/// A region of executable memory.
pub struct Arena {
    map: Mapping,
    ranges: Ranges,
    /// One more than the highest offset that was ever written.
    written: usize,
}

impl Arena {
    /// Reserves `size` bytes (rounded up to whole pages).
    pub fn new(size: usize) -> std::io::Result<Arena> {
        let size = size.max(1).next_multiple_of(map::PAGE);
        let map = Mapping::new(size)?;
        Ok(Arena { ranges: Ranges::new(map.len()), map, written: 0 })
    }
    /// Memory for a piece of code of `len` bytes; none when the arena is full. If these bytes of it are a short loop, they lie in as few lines
    /// as they can: the shortest loops take half as long again when they cross the border of a line. They begin near the start of a line, since
    /// fetching also goes by halves of a line: an empty loop across the middle takes two cycles for an iteration, and one within a half.
    pub fn alloc(&mut self, len: usize, body: Option<Range<usize>>) -> Option<CodeBuf<'_>> {
        let size = len.checked_next_multiple_of(ALIGN)?;
        let body = body.filter(|body| body.len() <= MOST_LINES * LINE);
        let start = match body.and_then(|body| Some((self.ranges.find(size + LINE - ALIGN)?, body))) {
            Some((found, body)) => {
                let lines = |start: usize| (start + body.end - 1) / LINE - (start + body.start) / LINE;
                (found..found + LINE).step_by(ALIGN).min_by_key(|&start| (lines(start), (start + body.start) % LINE))?
            }
            None => self.ranges.find(size)?,
        };
        Some(CodeBuf { arena: self, start, len })
    }
    /// Frees a piece of code. The caller makes sure that nothing reaches it any more.
    pub fn free(&mut self, code: Code) {
        let start = code.address - self.map.address();
        if cfg!(debug_assertions) {
            let _ = self.map.write(start, &vec![TRAP; code.len]);
            icache::flush(code.address, code.len);
        }
        self.ranges.release(start, code.len.next_multiple_of(ALIGN));
    }
    /// Frees all code. The caller makes sure that nothing reaches any of it any more.
    pub fn reset(&mut self) {
        if cfg!(debug_assertions) {
            let _ = self.map.write(0, &vec![TRAP; self.written]);
            icache::flush(self.map.address(), self.written);
        }
        self.ranges.clear();
    }
    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.ranges.used()
    }
    /// Bytes from the start on that the system has given memory for, because code was written there.
    pub fn written(&self) -> usize {
        self.written
    }
    /// Bytes in all.
    pub fn capacity(&self) -> usize {
        self.map.len()
    }
    /// Address range of the code.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.map.address()..self.map.address() + self.map.len()
    }
}

/// A piece of memory being filled with code. Dropped without [`CodeBuf::finish`], it is free again.
pub struct CodeBuf<'a> {
    arena: &'a mut Arena,
    start: usize,
    len: usize,
}

impl CodeBuf<'_> {
    /// Where the code will run.
    pub fn address(&self) -> usize {
        self.arena.map.address() + self.start
    }
    /// Fills the buffer and makes it executable. `code` has the length asked for.
    pub fn finish(self, code: &[u8]) -> std::io::Result<Code> {
        assert_eq!(code.len(), self.len);
        let address = self.address();
        self.arena.map.write(self.start, code)?;
        self.arena.written = self.arena.written.max(self.start + self.len);
        icache::flush(address, self.len);
        self.arena.ranges.reserve(self.start, self.len.next_multiple_of(ALIGN));
        Ok(Code { address, len: self.len })
    }
}

/// A finished piece of code, valid until it is freed, or its arena reset or dropped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Code {
    address: usize,
    len: usize,
}

impl Code {
    /// The piece of code with this length at an address.
    pub fn at(address: usize, len: usize) -> Code {
        Code { address, len }
    }
    /// Address of the first instruction.
    pub fn address(self) -> usize {
        self.address
    }
    /// Size in bytes.
    pub fn len(self) -> usize {
        self.len
    }
    /// Is there no code at all?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocation_is_bounded_and_reset_starts_over() {
        let mut arena = Arena::new(1).unwrap();
        assert_eq!(arena.capacity(), map::PAGE);
        let a = arena.alloc(10, None).unwrap().finish(&[0; 10]).unwrap();
        let b = arena.alloc(10, None).unwrap().finish(&[1; 10]).unwrap();
        assert_eq!(b.address(), a.address() + ALIGN);
        let _ = arena.alloc(100, None).unwrap();
        assert_eq!(arena.used(), 2 * ALIGN);
        assert!(arena.alloc(map::PAGE, None).is_none());
        arena.free(a);
        assert_eq!(arena.alloc(1, None).unwrap().address(), a.address());
        assert_eq!(arena.used(), ALIGN);
        arena.reset();
        assert_eq!(arena.alloc(1, None).unwrap().address(), a.address());
    }

    #[test]
    fn short_loops_lie_in_few_lines() {
        let mut arena = Arena::new(4 * LINE).unwrap();
        let code = arena.alloc(96, Some(50..80)).unwrap().finish(&[0; 96]).unwrap();
        let (first, last) = (code.address() + 50, code.address() + 79);
        assert_eq!((first / LINE, first % LINE), (last / LINE, 50 % ALIGN));
        // The gap in front of it is free.
        let before = arena.alloc(16, None).unwrap().finish(&[0; 16]).unwrap();
        assert!(before.address() < code.address());
        arena.free(code);
        arena.free(before);
        assert_eq!(arena.used(), 0);
        // There is no room to choose.
        let len = arena.capacity();
        assert!(arena.alloc(len, Some(50..80)).is_some());
    }

    #[test]
    fn code_is_where_it_was_written() {
        let mut arena = Arena::new(100).unwrap();
        let code = arena.alloc(4, None).unwrap().finish(&[1, 2, 3, 4]).unwrap();
        let p = core::ptr::with_exposed_provenance::<[u8; 4]>(code.address());
        // SAFETY: the arena is alive and holds four bytes there.
        assert_eq!(unsafe { *p }, [1, 2, 3, 4]);
        arena.alloc(4, None).unwrap().finish(&[5; 4]).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { *p }, [1, 2, 3, 4]);
    }
}
