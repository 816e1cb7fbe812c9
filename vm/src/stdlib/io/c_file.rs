//! Streams of the C library, through which a file is read and written as soon as code in C may use it as well: both are in order then.
#![allow(unsafe_code, reason = "functions of the C library get a stream that is open, and bytes that live during the call")]

use super::stream::{Access, Buffering};
use std::fs::File;
use std::io::{self, SeekFrom};
use std::os::fd::AsRawFd;

// SAFETY: declared as in `stdio.h`.
unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
    fn ungetc(c: libc::c_int, stream: *mut libc::FILE) -> libc::c_int;
}

/// The standard streams of C.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Standard {
    /// `stdin`
    Input,
    /// `stdout`
    Output,
    /// `stderr`
    Error,
}

/// An open `FILE *`.
#[derive(Debug)]
pub struct CFile {
    file: *mut libc::FILE,
    /// It is closed with this value.
    owned: bool,
}

// SAFETY: the C library locks its streams.
unsafe impl Send for CFile {}

fn result_of(succeeded: bool) -> io::Result<()> {
    if succeeded { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl CFile {
    /// One of the standard streams.
    pub fn standard(which: Standard) -> CFile {
        // SAFETY: the C library has made them before any code runs.
        let file = unsafe {
            match which {
                Standard::Input => stdin,
                Standard::Output => stdout,
                Standard::Error => stderr,
            }
        };
        CFile { file, owned: false }
    }
    /// A stream over a copy of a file's descriptor, which programs that the process starts inherit, as from `fopen`.
    pub fn new(file: &File, access: Access) -> io::Result<CFile> {
        let mode = match (access.read, access.write) {
            (true, true) => c"r+",
            (false, true) => c"w",
            _ => c"r",
        };
        // SAFETY: the descriptor is open; a copy that gets no stream is closed.
        let opened = unsafe {
            let copy = libc::dup(file.as_raw_fd());
            result_of(copy >= 0)?;
            let opened = libc::fdopen(copy, mode.as_ptr());
            if opened.is_null() {
                let error = io::Error::last_os_error();
                libc::close(copy);
                return Err(error);
            }
            opened
        };
        Ok(CFile { file: opened, owned: true })
    }
    /// The `FILE *`.
    pub fn as_ptr(&self) -> *mut libc::FILE {
        self.file
    }
    /// Code in C has closed it: nothing but dropping follows, unless it is a standard stream, which other files use as well.
    pub fn forget(&mut self) {
        if core::mem::take(&mut self.owned) {
            self.file = core::ptr::null_mut();
        }
    }
    /// Writes.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: an open stream, and bytes that live during the call.
        let written = unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), self.file) };
        result_of(written == bytes.len())
    }
    /// Passes on what was written.
    pub fn flush(&self) -> io::Result<()> {
        if self.file.is_null() {
            return Ok(());
        }
        // SAFETY: an open stream.
        result_of(unsafe { libc::fflush(self.file) } == 0)
    }
    /// The next byte, which stays; none at the end.
    pub fn peek(&self) -> io::Result<Option<u8>> {
        // SAFETY: an open stream; the byte was read from it.
        unsafe {
            libc::clearerr(self.file);
            match libc::fgetc(self.file) {
                libc::EOF if libc::ferror(self.file) != 0 => Err(io::Error::last_os_error()),
                libc::EOF => Ok(None),
                c => {
                    ungetc(c, self.file);
                    Ok(Some(c as u8))
                }
            }
        }
    }
    /// Takes the byte that was seen.
    pub fn take(&self) {
        // SAFETY: an open stream.
        unsafe { libc::fgetc(self.file) };
    }
    /// Puts bytes back that were read from the file before there was this stream.
    pub fn put_back(&self, bytes: &[u8]) {
        for c in bytes.iter().rev() {
            // SAFETY: an open stream. (The C library of GNU takes as many as there is memory for; others may lose them.)
            unsafe { ungetc(libc::c_int::from(*c), self.file) };
        }
    }
    /// Moves the position; returns the new one.
    pub fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(n) => (n as i64, libc::SEEK_SET),
            SeekFrom::Current(n) => (n, libc::SEEK_CUR),
            SeekFrom::End(n) => (n, libc::SEEK_END),
        };
        // SAFETY: an open stream.
        let at = unsafe {
            result_of(libc::fseeko(self.file, offset, whence) == 0)?;
            libc::ftello(self.file)
        };
        result_of(at >= 0).map(|()| at as u64)
    }
    /// Sets the buffering of writes; the C library makes the buffer itself.
    pub fn set_buffering(&self, b: Buffering) -> io::Result<()> {
        let (mode, size) = match b {
            Buffering::Full(size) => (libc::_IOFBF, size),
            Buffering::Line => (libc::_IOLBF, libc::BUFSIZ as usize),
            Buffering::None | Buffering::OfC => (libc::_IONBF, 0),
        };
        // SAFETY: an open stream.
        result_of(unsafe { libc::setvbuf(self.file, core::ptr::null_mut(), mode, size) } == 0)
    }
}

impl Drop for CFile {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: nothing else closes it: code in C that does is noticed (`forget`).
            unsafe { libc::fclose(self.file) };
        }
    }
}
