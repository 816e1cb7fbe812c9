//! Executable memory.
//!
//! One [`Arena`] of fixed size holds all code. Its pages are mapped twice, writable and executable, so that adding a trace needs
//! no system call and no page is ever both (where the system has no memfd, pages are switched instead). Allocation is a bump;
//! single pieces are not freed, everything is flushed at once by [`Arena::reset`].
//!
//! A [`CodeBuf`] is memory being written; [`CodeBuf::finish`] turns it into [`Code`], which nothing can write.

mod icache;
mod map;

use map::Mapping;

/// Alignment of each piece of code.
const ALIGN: usize = 16;

/// A region of executable memory.
pub struct Arena {
    map: Mapping,
    used: usize,
}

impl Arena {
    /// Reserves `size` bytes (rounded up to whole pages).
    pub fn new(size: usize) -> std::io::Result<Arena> {
        let size = size.max(1).next_multiple_of(map::PAGE);
        Ok(Arena { map: Mapping::new(size)?, used: 0 })
    }
    /// Memory for a piece of code of `len` bytes; none when the arena is full.
    pub fn alloc(&mut self, len: usize) -> Option<CodeBuf<'_>> {
        let start = self.used.next_multiple_of(ALIGN);
        if len > self.map.len().checked_sub(start)? {
            return None;
        }
        Some(CodeBuf { arena: self, start, len })
    }
    /// Forgets all code. The caller makes sure that none of it is reachable any more.
    pub fn reset(&mut self) {
        self.used = 0;
    }
    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used
    }
    /// Bytes in all.
    pub fn capacity(&self) -> usize {
        self.map.len()
    }
    /// Address range of the executable mapping.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.map.exec_addr()..self.map.exec_addr() + self.map.len()
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
        self.arena.map.exec_addr() + self.start
    }
    /// Fills the buffer and makes it executable. `code` has the length asked for.
    pub fn finish(self, code: &[u8]) -> std::io::Result<Code> {
        assert_eq!(code.len(), self.len);
        let address = self.address();
        self.arena.map.write(self.start, code)?;
        icache::flush(self.arena.map.write_addr() + self.start, address, self.len);
        self.arena.used = self.start + self.len;
        Ok(Code { address, len: self.len })
    }
}

/// A finished piece of code, valid until its arena is reset or dropped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Code {
    address: usize,
    len: usize,
}

impl Code {
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
        let a = arena.alloc(10).unwrap().finish(&[0; 10]).unwrap();
        let b = arena.alloc(10).unwrap().finish(&[1; 10]).unwrap();
        assert_eq!(b.address(), a.address() + ALIGN);
        let _ = arena.alloc(100).unwrap();
        assert_eq!(arena.used(), ALIGN + 10);
        assert!(arena.alloc(map::PAGE).is_none());
        arena.reset();
        assert_eq!(arena.alloc(1).unwrap().address(), a.address());
    }

    #[test]
    fn written_code_is_seen_through_the_executable_mapping() {
        for mut arena in [Arena::new(100).unwrap(), Arena { map: Mapping::switched(map::PAGE).unwrap(), used: 0 }] {
            let code = arena.alloc(4).unwrap().finish(&[1, 2, 3, 4]).unwrap();
            let p = core::ptr::with_exposed_provenance::<[u8; 4]>(code.address());
            // SAFETY: the arena is alive and holds four bytes there.
            assert_eq!(unsafe { *p }, [1, 2, 3, 4]);
            arena.alloc(4).unwrap().finish(&[5; 4]).unwrap();
        }
    }
}
