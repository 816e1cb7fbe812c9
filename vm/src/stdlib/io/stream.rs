//! Buffered streams over file descriptors, with the behaviour of C's: one buffer per direction, a shared position, and all of
//! them flushed when the process exits.

use super::super::sys;
use super::c_file::{CFile, Standard};
use crate::interrupt::Flag;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak};

/// Nothing ends reading and writing.
pub static NEVER: Flag = Flag::new();
/// Bytes read at once, and by default written at once.
const BLOCK: usize = 8192;
/// Bytes collected for a standard output that is not a terminal.
const STDOUT_BLOCK: usize = 65536;

/// When written bytes go to the system.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Buffering {
    /// When there are this many bytes.
    Full(usize),
    /// At the end of a line.
    Line,
    /// At once.
    None,
    /// When the stream of C passes them on, to which they are written at once.
    OfC,
}

/// The permitted uses of a stream.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// It may be read.
    pub read: bool,
    /// It may be written.
    pub write: bool,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    file: File,
    access: Access,
    /// Read ahead; the bytes from `pos` on are unread.
    ahead: Vec<u8>,
    pos: usize,
    pending: Vec<u8>,
    buffering: Buffering,
    /// Of standard input, standard output is flushed before it waits.
    standard: Option<Standard>,
    /// The stream of C through which everything goes, because code in C uses it, too. The buffering is `OfC` then, and nothing is read ahead
    /// but the next byte.
    c: Option<CFile>,
}

/// A stream that several owners share.
pub type Shared = Arc<Mutex<Stream>>;

/// Locks a stream; one whose holder panicked is used as it is.
pub fn lock(s: &Mutex<Stream>) -> MutexGuard<'_, Stream> {
    s.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bad_descriptor() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

/// What ends reading before it has all.
pub struct Bounds<'a> {
    /// No more bytes than these are kept.
    pub most: usize,
    /// An interrupt that waits here.
    pub stop: &'a Flag,
}

/// Appends to what is being read.
fn append(out: &mut Vec<u8>, part: &[u8], Bounds { most, stop }: &Bounds<'_>) -> io::Result<()> {
    if stop.get().is_some() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    if out.len().saturating_add(part.len()) > *most {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    out.try_reserve(part.len())?;
    out.extend_from_slice(part);
    Ok(())
}

/// Bytes that are passed on between two looks at an interrupt. A disk may take a second for each hundred megabytes.
const PART: usize = 1 << 18;
/// Bytes that a pipe takes without waiting if it takes any; see `pipe(7)`.
const AT_ONCE: usize = 4096;

/// Passes bytes to the system. While an interrupt waits at `stop`, what can be written without waiting for a reader is written still; the
/// rest is lost, with an error.
fn write_all(file: &mut File, mut bytes: &[u8], stop: &Flag) -> io::Result<()> {
    while !bytes.is_empty() {
        let waits = stop.get().is_some();
        if waits && !sys::takes_bytes(file) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match file.write(&bytes[..bytes.len().min(if waits { AT_ONCE } else { PART })]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            // A signal that is not for this state, or the one of an interrupt.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

impl Stream {
    /// A stream over a file.
    pub fn new(file: File, access: Access) -> Stream {
        let buffering = Buffering::Full(BLOCK);
        Stream { file, access, ahead: Vec::new(), pos: 0, pending: Vec::new(), buffering, standard: None, c: None }
    }
    /// The bytes that are read ahead; reads more if there are none. Empty at the end of the file. An interrupt that waits at `stop` ends the
    /// read with an error, even if the program catches it and reads again.
    pub fn fill(&mut self, stop: &Flag) -> io::Result<&[u8]> {
        if self.pos == self.ahead.len() || self.c.is_some() {
            self.read_block(stop)?;
        }
        Ok(&self.ahead[self.pos..])
    }
    #[cold]
    fn read_block(&mut self, stop: &Flag) -> io::Result<()> {
        if !self.access.read {
            return Err(bad_descriptor());
        }
        if let Some(c) = &self.c {
            // The next byte stays in the stream, from which code in C may have read the last one.
            self.ahead.clear();
            self.pos = 0;
            self.ahead.extend(c.peek()?);
            return Ok(());
        }
        self.flush(stop)?;
        if self.standard == Some(Standard::Input) {
            note_lost(lock(stdout()).flush(stop));
        }
        self.ahead.resize(BLOCK, 0);
        self.pos = 0;
        let n = loop {
            match self.file.read(&mut self.ahead) {
                // A signal that is not for this state: that of another state, or of the host.
                Err(e) if e.kind() == io::ErrorKind::Interrupted && stop.get().is_none() => {}
                r => break r,
            }
        };
        self.ahead.truncate(*n.as_ref().unwrap_or(&0));
        n.map(|_| ())
    }
    /// Takes `n` of the bytes that are read ahead.
    pub fn consume(&mut self, n: usize) {
        if let Some(c) = self.c.as_ref().filter(|_| n != 0) {
            c.take();
        }
        self.pos = (self.pos + n).min(self.ahead.len());
    }
    /// Appends a line to `out`, with its newline if `keep`. False at the end of the file. As in LuaJIT, which reads lines as C
    /// strings, a zero byte hides what follows it in its line, and the newline: the next line is appended.
    pub fn read_line(&mut self, out: &mut Vec<u8>, keep: bool, bounds: &Bounds<'_>) -> io::Result<bool> {
        let mut any = false;
        loop {
            let ahead = self.fill(bounds.stop)?;
            if ahead.is_empty() {
                return Ok(any);
            }
            any = true;
            let newline = crate::text::find_byte(ahead, b'\n');
            let n = newline.map_or(ahead.len(), |i| i + 1);
            let line = &ahead[..n];
            let zero = crate::text::find_byte(line, 0);
            let part = match zero {
                Some(i) => &line[..i],
                None if newline.is_some() && !keep => &line[..n - 1],
                None => line,
            };
            append(out, part, bounds)?;
            self.consume(n);
            if newline.is_some() && zero.is_none() {
                return Ok(true);
            }
        }
    }
    /// Appends up to `limit` bytes to `out`.
    pub fn read_bytes(&mut self, out: &mut Vec<u8>, mut limit: usize, bounds: &Bounds<'_>) -> io::Result<()> {
        while limit > 0 {
            let ahead = self.fill(bounds.stop)?;
            let n = ahead.len().min(limit);
            if n == 0 {
                break;
            }
            append(out, &ahead[..n], bounds)?;
            self.consume(n);
            limit -= n;
        }
        Ok(())
    }
    /// Appends the rest of the file to `out`.
    pub fn read_all(&mut self, out: &mut Vec<u8>, bounds: &Bounds<'_>) -> io::Result<()> {
        self.read_bytes(out, usize::MAX, bounds)
    }
    /// Writes. An interrupt that waits at `stop` ends that with an error where a reader would have to be waited for.
    #[inline]
    pub fn write(&mut self, bytes: &[u8], stop: &Flag) -> io::Result<()> {
        if !self.access.write || self.pos < self.ahead.len() {
            self.prepare_write()?;
        }
        if bytes.len() > PART {
            return self.write_long(bytes, stop);
        }
        self.write_part(bytes, stop)
    }
    /// Writes a long text in parts, so that it is not copied as a whole. An interrupt ends that between two.
    #[cold]
    fn write_long(&mut self, bytes: &[u8], stop: &Flag) -> io::Result<()> {
        for part in bytes.chunks(PART) {
            if stop.get().is_some() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.write_part(part, stop)?;
        }
        Ok(())
    }
    #[inline]
    fn write_part(&mut self, bytes: &[u8], stop: &Flag) -> io::Result<()> {
        self.pending.extend_from_slice(bytes);
        let due = match self.buffering {
            Buffering::Full(size) => self.pending.len() >= size,
            Buffering::Line => bytes.contains(&b'\n') || self.pending.len() >= BLOCK,
            Buffering::None => true,
            Buffering::OfC => return self.pass_to_c(),
        };
        if due { self.flush(stop) } else { Ok(()) }
    }
    /// The stream is written at a position where bytes are read ahead: they count as not read.
    #[cold]
    fn prepare_write(&mut self) -> io::Result<()> {
        if !self.access.write {
            return Err(bad_descriptor());
        }
        self.drop_ahead();
        Ok(())
    }
    /// Drops the bytes that are read ahead and moves the file's position back, if that is possible.
    fn drop_ahead(&mut self) {
        if self.c.is_none() {
            // A pipe cannot be moved back: then the bytes are lost, as in C.
            let _ = self.move_back();
        }
        self.ahead.clear();
        self.pos = 0;
    }
    /// Moves the position of the file to the first byte that is read ahead.
    fn move_back(&mut self) -> io::Result<()> {
        let unread = (self.ahead.len() - self.pos) as i64;
        if unread == 0 { Ok(()) } else { self.file.seek(SeekFrom::Current(-unread)).map(drop) }
    }
    /// Passes the bytes that were written to the stream of C.
    #[cold]
    fn pass_to_c(&mut self) -> io::Result<()> {
        let r = self.c.as_ref().map_or(Ok(()), |c| c.write(&self.pending));
        self.pending.clear();
        r
    }
    /// The stream of C for this one. From now on everything goes through that, so that it is in order with what code in C does.
    pub fn use_c(&mut self) -> io::Result<&mut CFile> {
        if self.c.is_none() {
            self.flush(&NEVER)?;
            let c = match self.standard {
                Some(which) => CFile::standard(which),
                None => {
                    let c = CFile::new(&self.file, self.access)?;
                    c.set_buffering(self.buffering)?;
                    c
                }
            };
            // What a pipe has given cannot be read again.
            if self.move_back().is_err() {
                c.put_back(&self.ahead[self.pos..]);
            }
            self.ahead.clear();
            self.pos = 0;
            self.buffering = Buffering::OfC;
            self.c = Some(c);
        }
        self.c.as_mut().ok_or_else(bad_descriptor)
    }
    /// Code in C has closed the stream of C.
    pub fn forget_c(&mut self) {
        if let Some(c) = &mut self.c {
            c.forget();
        }
    }
    /// Passes all written bytes to the system; `stop` as for [`Stream::write`].
    pub fn flush(&mut self, stop: &Flag) -> io::Result<()> {
        if let Some(c) = &self.c {
            return c.flush();
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        let r = write_all(&mut self.file, &self.pending, stop);
        // After an error the bytes are lost, as in C.
        self.pending.clear();
        r
    }
    /// Moves the position; returns the new one.
    pub fn seek(&mut self, to: SeekFrom, stop: &Flag) -> io::Result<u64> {
        if let Some(c) = &self.c {
            return c.seek(to);
        }
        self.flush(stop)?;
        let to = match to {
            SeekFrom::Current(n) => SeekFrom::Current(n - (self.ahead.len() - self.pos) as i64),
            other => other,
        };
        let at = self.file.seek(to)?;
        self.ahead.clear();
        self.pos = 0;
        Ok(at)
    }
    /// Changes the buffering of writes.
    pub fn set_buffering(&mut self, b: Buffering, stop: &Flag) -> io::Result<()> {
        self.flush(stop)?;
        if let Some(c) = &self.c {
            return c.set_buffering(b);
        }
        self.buffering = b;
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        note_lost(self.flush(&NEVER));
    }
}

/// All streams that may have bytes to flush.
static OPEN: Mutex<Vec<Weak<Mutex<Stream>>>> = Mutex::new(Vec::new());
static AT_EXIT: Once = Once::new();

/// Shares a stream, and has it flushed when the process exits.
pub fn share(s: Stream) -> Shared {
    let written = s.access.write;
    let s = Arc::new(Mutex::new(s));
    if written {
        AT_EXIT.call_once(|| sys::at_exit(flush_at_exit));
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == open.capacity() {
            open.retain(|w| w.strong_count() > 0);
        }
        open.push(Arc::downgrade(&s));
    }
    s
}

/// Flushes all streams that were written to, except those that another thread is using.
pub fn flush_all() {
    let Ok(open) = OPEN.try_lock() else { return };
    for s in open.iter().filter_map(Weak::upgrade) {
        if let Ok(mut s) = s.try_lock() {
            note_lost(s.flush(&NEVER));
        }
    }
}

/// The error of the first write whose failure was not reported to the program, as the system's number; 0 if there was none.
static LOST: AtomicI32 = AtomicI32::new(0);

/// Notes the error of a write that is not reported to the program. A closed descriptor is not an error, and an interrupt is one of its own.
pub fn note_lost(result: io::Result<()>) {
    if let Err(e) = result {
        let number = e.raw_os_error().unwrap_or(libc::EIO);
        if number != libc::EBADF && e.kind() != io::ErrorKind::Interrupted {
            // Only the first is kept.
            let _ = LOST.compare_exchange(0, number, Relaxed, Relaxed);
        }
    }
}

/// The error of the first write whose failure was not reported to the program.
pub fn lost_output() -> Option<io::Error> {
    let number = LOST.load(Relaxed);
    (number != 0).then(|| io::Error::from_raw_os_error(number))
}

extern "C" fn flush_at_exit() {
    flush_all();
}

/// A stream over a copy of a standard descriptor; a stream without effect if the descriptor is closed.
fn standard(fd: &impl AsFd, access: Access) -> Stream {
    let file = fd.as_fd().try_clone_to_owned().or_else(|_| File::open("/dev/null").map(OwnedFd::from));
    match file {
        Ok(fd) => Stream::new(File::from(fd), access),
        Err(e) => panic!("no standard stream: {e}"),
    }
}

/// Standard output.
pub fn stdout() -> &'static Shared {
    static STREAM: OnceLock<Shared> = OnceLock::new();
    STREAM.get_or_init(|| {
        let mut s = standard(&io::stdout(), Access { read: false, write: true });
        s.standard = Some(Standard::Output);
        s.buffering = if io::stdout().is_terminal() { Buffering::Line } else { Buffering::Full(STDOUT_BLOCK) };
        share(s)
    })
}

/// Standard input.
pub fn stdin() -> &'static Shared {
    static STREAM: OnceLock<Shared> = OnceLock::new();
    STREAM.get_or_init(|| {
        let mut s = standard(&io::stdin(), Access { read: true, write: false });
        s.standard = Some(Standard::Input);
        share(s)
    })
}

/// Standard error.
pub fn stderr() -> &'static Shared {
    static STREAM: OnceLock<Shared> = OnceLock::new();
    STREAM.get_or_init(|| {
        let mut s = standard(&io::stderr(), Access { read: false, write: true });
        s.standard = Some(Standard::Error);
        s.buffering = Buffering::None;
        share(s)
    })
}

/// From now on, standard output goes through that of C, so that it is in order with what programs in C write.
pub fn use_c_stdout() {
    note_lost(lock(stdout()).use_c().map(drop));
}

/// Flushes standard output.
pub fn flush_stdout() {
    note_lost(lock(stdout()).flush(&NEVER));
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::interrupt::Cause;

    /// While an interrupt waits, a pipe gets what it has room for, and nobody waits for its reader.
    #[test]
    fn an_interrupted_write_fills_the_pipe() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut file = File::from(OwnedFd::from(writer));
        let text: Vec<u8> = (0..1_000_000).map(|i| (i % 251) as u8).collect();
        let stop = Flag::new();
        stop.set(Cause::Time);
        write_all(&mut file, &text[..10_000], &stop).unwrap();
        let e = write_all(&mut file, &text[10_000..], &stop).unwrap_err();
        assert_eq!(e.kind(), io::ErrorKind::Interrupted);
        drop(file);
        let mut written = Vec::new();
        reader.read_to_end(&mut written).unwrap();
        assert!(written.len() > 10_000 && text.starts_with(&written), "{}", written.len());
    }
}
