//! What Linux' `perf` reads about compiled code: `/tmp/perf-PID.map`, and a jitdump file for `perf inject --jit`.
//!
//! Both are files of the process, whatever states it has. Failing to write them is no error of the program: it goes on without.
#![allow(unsafe_code, reason = "perf finds the jitdump file by a mapping of it, and wants times of a certain clock")]

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Which files are written: bits of the parameter `perf`.
pub const MAP: u32 = 1;
/// The jitdump file.
pub const DUMP: u32 = 2;

/// A piece of compiled code.
pub struct Symbol<'a> {
    /// Its address.
    pub address: usize,
    /// Its bytes.
    pub code: &'a [u8],
    /// What it is called as a whole.
    pub name: String,
    /// Its parts in order: offset, file, line, and what the part is called.
    pub parts: Vec<Part>,
}

/// A part of compiled code that is of one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Offset of its first byte.
    pub offset: usize,
    /// The source.
    pub file: String,
    /// The line.
    pub line: u32,
    /// What it is called.
    pub name: String,
}

#[derive(Default)]
struct Files {
    /// Those that were tried to open: none is tried twice.
    tried: u32,
    map: Option<File>,
    dump: Option<Dump>,
}

struct Dump {
    file: File,
    /// By this mapping `perf record` notes that there is the file.
    _marker: Mmap,
    /// Pieces of code so far.
    count: u64,
}

static FILES: Mutex<Option<Files>> = Mutex::new(None);

/// Tells perf of a piece of code. `which` is a sum of [`MAP`] and [`DUMP`].
pub fn report(which: u32, symbol: &Symbol<'_>) {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let files = files.get_or_insert_default();
    let new = which & !files.tried;
    files.tried |= which;
    if new & MAP != 0 {
        files.map = File::create(format!("/tmp/perf-{}.map", std::process::id())).ok();
    }
    if new & DUMP != 0 {
        files.dump = Dump::new().ok();
    }
    if let Some(map) = &mut files.map
        && map.write_all(map_lines(symbol).as_bytes()).is_err()
    {
        files.map = None;
    }
    if let Some(dump) = &mut files.dump
        && dump.load(symbol).is_err()
    {
        files.dump = None;
    }
}

/// A line for each part: address and size in hexadecimal, and a name.
fn map_lines(s: &Symbol<'_>) -> String {
    let mut out = String::new();
    let mut line = |start: usize, end: usize, name: &str| {
        if end > start {
            out += &format!("{:x} {:x} {name}\n", s.address + start, end - start);
        }
    };
    line(0, s.parts.first().map_or(s.code.len(), |p| p.offset), &s.name);
    for (i, part) in s.parts.iter().enumerate() {
        line(part.offset, s.parts.get(i + 1).map_or(s.code.len(), |next| next.offset), &part.name);
    }
    out
}

/// "JiTD", as a number of the byte order of the machine.
const MAGIC: u32 = 0x4a69_5444;
const HEADER_SIZE: u32 = 40;
/// Kinds of records.
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;
/// The processor, as ELF numbers it.
const MACHINE: u32 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

impl Dump {
    fn new() -> io::Result<Dump> {
        let pid = std::process::id();
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(format!("jit-{pid}.dump"))?;
        let mut header = Vec::new();
        for word in [MAGIC, 1, HEADER_SIZE, MACHINE, 0, pid] {
            header.extend(word.to_ne_bytes());
        }
        header.extend(now().to_ne_bytes());
        header.extend(0u64.to_ne_bytes());
        file.write_all(&header)?;
        // SAFETY: the mapping is never read; it may be executed by nobody.
        let marker = unsafe { MmapOptions::new().len(header.len()).map_exec(&file)? };
        Ok(Dump { file, _marker: marker, count: 0 })
    }
    fn record(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let size = 16 + body.len() as u32;
        let mut record = Vec::with_capacity(size as usize);
        record.extend(kind.to_ne_bytes());
        record.extend(size.to_ne_bytes());
        record.extend(now().to_ne_bytes());
        record.extend(body);
        self.file.write_all(&record)
    }
    /// The lines of a piece of code come first, then the code.
    fn load(&mut self, s: &Symbol<'_>) -> io::Result<()> {
        let mut lines = Vec::new();
        lines.extend((s.address as u64).to_ne_bytes());
        lines.extend((s.parts.len() as u64).to_ne_bytes());
        for part in &s.parts {
            lines.extend(((s.address + part.offset) as u64).to_ne_bytes());
            lines.extend(part.line.to_ne_bytes());
            lines.extend(0u32.to_ne_bytes());
            lines.extend(part.file.bytes().filter(|b| *b != 0));
            lines.push(0);
        }
        self.record(DEBUG_INFO, &lines)?;
        let mut code = Vec::new();
        let pid = std::process::id();
        code.extend(pid.to_ne_bytes());
        code.extend(thread().to_ne_bytes());
        for word in [s.address as u64, s.address as u64, s.code.len() as u64, self.count] {
            code.extend(word.to_ne_bytes());
        }
        code.extend(s.name.bytes().filter(|b| *b != 0));
        code.push(0);
        code.extend(s.code);
        self.count += 1;
        self.record(CODE_LOAD, &code)
    }
}

/// Nanoseconds by the clock that `perf record -k mono` uses.
fn now() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to the structure that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The number of the running thread.
fn thread() -> u32 {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: it has no requirements.
        unsafe { libc::gettid() as u32 }
    }
    #[cfg(not(target_os = "linux"))]
    {
        std::process::id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_code() {
        let part = |offset, line: u32| Part { offset, file: "x.lua".into(), line, name: format!("x.lua:{line} (trace 1)") };
        let s = Symbol { address: 0x1000, code: &[0; 48], name: "trace 1".into(), parts: vec![part(16, 3), part(40, 4)] };
        assert_eq!(map_lines(&s), "1000 10 trace 1\n1010 18 x.lua:3 (trace 1)\n1028 8 x.lua:4 (trace 1)\n");
    }
}
