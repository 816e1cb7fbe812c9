//! The pages of a code arena, mapped twice.
#![allow(
    unsafe_code,
    reason = "nobody else knows the file behind the two mappings of the arena; pages whose protection changes hold only code"
)]

use memmap2::{Mmap, MmapMut, MmapOptions};
use std::io;

/// Granularity of sizes: a multiple of every page size in use.
pub(super) const PAGE: usize = 0x1_0000;

/// Pages with a writable and an executable address.
pub(super) enum Mapping {
    /// The same memory mapped twice.
    Dual {
        /// The writable view.
        write: MmapMut,
        /// The executable view.
        exec: Mmap,
    },
    /// One mapping whose pages are switched between writable and executable.
    Switched(MmapMut),
}

impl Mapping {
    /// Maps `len` bytes, twice if the system can.
    pub(super) fn new(len: usize) -> io::Result<Mapping> {
        // QEMU before 8.1 ignores `ic ivau`, and does not notice that code changes through another mapping. Only test builds run there.
        if cfg!(all(target_arch = "aarch64", debug_assertions)) {
            return Mapping::switched(len);
        }
        Mapping::dual(len).or_else(|_| Mapping::switched(len))
    }

    fn dual(len: usize) -> io::Result<Mapping> {
        let file = anonymous_file(len)?;
        // SAFETY: nobody else knows the file, so it is neither truncated nor written behind the mappings' back; the only
        // writes go through `write`.
        unsafe {
            let write = MmapOptions::new().len(len).map_mut(&file)?;
            let exec = MmapOptions::new().len(len).map_exec(&file)?;
            Ok(Mapping::Dual { write, exec })
        }
    }

    pub(super) fn switched(len: usize) -> io::Result<Mapping> {
        MmapMut::map_anon(len).map(Mapping::Switched)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Mapping::Dual { exec, .. } => exec.len(),
            Mapping::Switched(map) => map.len(),
        }
    }
    /// Where code runs.
    pub(super) fn exec_addr(&self) -> usize {
        match self {
            Mapping::Dual { exec, .. } => exec.as_ptr().expose_provenance(),
            Mapping::Switched(map) => map.as_ptr().expose_provenance(),
        }
    }
    /// Where it is written.
    pub(super) fn write_addr(&self) -> usize {
        match self {
            Mapping::Dual { write, .. } => write.as_ptr().expose_provenance(),
            Mapping::Switched(map) => map.as_ptr().expose_provenance(),
        }
    }
    /// Copies code to offset `at`.
    pub(super) fn write(&mut self, at: usize, code: &[u8]) -> io::Result<()> {
        match self {
            Mapping::Dual { write, .. } => write[at..at + code.len()].copy_from_slice(code),
            Mapping::Switched(map) => {
                let first = at / PAGE * PAGE;
                let pages = first..(at + code.len()).next_multiple_of(PAGE);
                protect(&mut map[pages.clone()], libc::PROT_READ | libc::PROT_WRITE)?;
                map[at..at + code.len()].copy_from_slice(code);
                protect(&mut map[pages], libc::PROT_READ | libc::PROT_EXEC)?;
            }
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn anonymous_file(len: usize) -> io::Result<std::fs::File> {
    use std::os::fd::FromRawFd;
    // SAFETY: the name is a C string; the call has no other requirements.
    let fd = unsafe { libc::memfd_create(c"perilune-code".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    let file = unsafe { std::fs::File::from_raw_fd(fd) };
    file.set_len(len as u64)?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn anonymous_file(_len: usize) -> io::Result<std::fs::File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Changes the protection of whole pages.
fn protect(pages: &mut [u8], flags: i32) -> io::Result<()> {
    // SAFETY: the pages belong to one of our mappings, hold nothing but code, and stay readable.
    match unsafe { libc::mprotect(pages.as_mut_ptr().cast(), pages.len(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
