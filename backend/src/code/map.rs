//! The pages of a code arena. They are switched between writable and executable, and are never both. The memory is private: after a `fork`
//! each process has code of its own.
#![allow(unsafe_code, reason = "pages whose protection changes hold only code")]

use memmap2::MmapMut;
use std::io;

/// Granularity of sizes: a multiple of every page size in use.
pub(super) const PAGE: usize = 0x1_0000;

/// Pages of code.
pub(super) struct Mapping(MmapMut);

impl Mapping {
    /// Maps `len` bytes.
    pub(super) fn new(len: usize) -> io::Result<Mapping> {
        MmapMut::map_anon(len).map(Mapping)
    }
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
    /// The address of the first byte.
    pub(super) fn address(&self) -> usize {
        self.0.as_ptr().expose_provenance()
    }
    /// Copies code to offset `at`. None of the code of the same pages runs meanwhile: all of it belongs to the thread that runs this.
    pub(super) fn write(&mut self, at: usize, code: &[u8]) -> io::Result<()> {
        // No more pages than it must: the processor forgets the translation of each, one by one.
        let page = page_size();
        let pages = at / page * page..(at + code.len()).next_multiple_of(page);
        protect(&mut self.0[pages.clone()], libc::PROT_READ | libc::PROT_WRITE)?;
        self.0[at..at + code.len()].copy_from_slice(code);
        protect(&mut self.0[pages], libc::PROT_READ | libc::PROT_EXEC)
    }
}

/// The size of the system's pages.
fn page_size() -> usize {
    // SAFETY: asks the C library for a number that it knows.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| PAGE.is_multiple_of(*size)).unwrap_or(PAGE)
}

/// Changes the protection of whole pages.
fn protect(pages: &mut [u8], flags: i32) -> io::Result<()> {
    // SAFETY: the pages belong to one of our mappings, hold nothing but code, and stay readable.
    match unsafe { libc::mprotect(pages.as_mut_ptr().cast(), pages.len(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
