//! Files of Lua programs: userdata around a stream.

use super::super::process::wait_or_kill;
use super::super::sys;
use super::stream::{Access, NEVER, Shared, Stream, lock, note_lost, share};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::interrupt::Flag;
use crate::object::{Gc, Table, Udata};
use crate::value::Value;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

/// The origin of a file.
#[derive(Debug)]
pub enum Origin {
    /// Opened by name.
    Named,
    /// Opened by `io.lines`, and closed at the end of the file.
    Lines,
    /// A pipe to or from a command; the interrupts of its state.
    Pipe(Child, Arc<Flag>),
    /// A standard stream, which cannot be closed.
    Standard,
}

/// Payload of a file's userdata.
#[derive(Debug)]
pub struct LuaFile {
    /// `None` once closed.
    pub stream: Option<Shared>,
    /// The origin.
    pub origin: Origin,
    /// The stream of C, which code in C finds here; null before it asks for one, and once it is closed.
    c: *mut libc::FILE,
    /// Has code in C asked for it?
    is_given: bool,
}

impl LuaFile {
    /// The address where code in C finds its stream of C, which it gets now if the file is open.
    fn give(&mut self) -> *mut *mut libc::FILE {
        self.notice_close();
        if let Some(stream) = self.stream.as_ref().filter(|_| !self.is_given)
            && let Ok(c) = lock(stream).use_c()
        {
            self.c = c.as_ptr();
            self.is_given = true;
        }
        &raw mut self.c
    }
    /// Code in C closes a file by closing its stream of C and writing null where it found that.
    fn notice_close(&mut self) {
        if self.is_given
            && self.c.is_null()
            && let Some(stream) = self.stream.take()
        {
            lock(&stream).forget_c();
        }
    }
    /// Closes the file; waits for the command behind a pipe, which an interrupt ends.
    pub fn close(&mut self, stop: &Flag) -> io::Result<()> {
        let Some(flushed) = self.close_stream(stop) else { return Ok(()) };
        if let Origin::Pipe(child, interrupt) = &mut self.origin {
            return wait_or_kill(child, interrupt).map_or(Ok(()), |ended| ended.map(drop));
        }
        flushed
    }
    /// Closes the file, but does not wait for the command behind a pipe; `None` if it is closed already.
    pub fn close_stream(&mut self, stop: &Flag) -> Option<io::Result<()>> {
        self.notice_close();
        let stream = self.stream.take()?;
        self.c = core::ptr::null_mut();
        let flushed = lock(&stream).flush(stop);
        drop(stream);
        Some(flushed)
    }
}

impl Drop for LuaFile {
    fn drop(&mut self) {
        let closed = self.close(&NEVER);
        if !matches!(self.origin, Origin::Pipe(..)) {
            note_lost(closed);
        }
    }
}

/// Name of the registry entry with the metatable of files.
pub const META_KEY: &[u8] = b"FILE*";

/// A path from a Lua string: the bytes up to the first NUL, as in C.
pub fn c_path(bytes: &[u8]) -> &Path {
    let end = crate::text::find_byte(bytes, 0).unwrap_or(bytes.len());
    Path::new(OsStr::from_bytes(&bytes[..end]))
}

/// The text of a system error as C has it, without the error code that Rust appends.
pub fn error_text(e: &io::Error) -> String {
    let text = e.to_string();
    match text.rfind(" (os error ") {
        Some(i) => text[..i].to_string(),
        None => text,
    }
}

/// The results for an operation: true, or nil, a message and the error number.
pub fn file_result(vm: &mut Vm, r: io::Result<()>, name: Option<&[u8]>) -> LuaResult<u32> {
    match r {
        Ok(()) => vm.ret1(Value::TRUE),
        Err(e) => {
            let mut text = error_text(&e).into_bytes();
            if let Some(name) = name {
                text = [c_path(name).as_os_str().as_bytes(), b": ", &text].concat();
            }
            vm.push(Value::NIL);
            let text = vm.new_str(&text);
            vm.push(Value::str(text));
            vm.push(Value::int(e.raw_os_error().unwrap_or(0)));
            Ok(3)
        }
    }
}

/// A new userdata for a stream.
pub fn new_file(vm: &mut Vm, stream: Shared, origin: Origin) -> Value {
    let key = vm.new_str(META_KEY);
    let meta: Option<Gc<Table>> = vm.realm.registry.get_str(key).as_table();
    let file = vm.new_udata(Box::new(LuaFile { stream: Some(stream), origin, c: core::ptr::null_mut(), is_given: false }), meta);
    if let Some(meta) = meta {
        file.env.set(meta);
    }
    Value::udata(file)
}

/// The first argument as a file, open or closed.
pub fn check_file(vm: &mut Vm) -> LuaResult<Gc<Udata>> {
    match vm.arg(0).as_udata() {
        Some(u) if u.is::<LuaFile>() => Ok(u),
        _ => Err(vm.arg_type_error(0, "FILE*")),
    }
}

#[cold]
pub fn closed(vm: &mut Vm) -> LuaError {
    vm.rt_error("attempt to use a closed file")
}

/// Runs `f` on the stream of a file, which it must not close; `None` if that is closed. Counting another owner would take as long as a short
/// write.
pub fn with_stream<R>(u: Gc<Udata>, f: impl FnOnce(&Mutex<Stream>) -> R) -> Option<R> {
    u.with::<LuaFile, _>(|file| {
        file.notice_close();
        file.stream.as_deref().map(f)
    })
    .flatten()
}

/// The stream of a file.
pub fn stream_of(u: Gc<Udata>) -> Option<Shared> {
    u.with::<LuaFile, _>(|f| {
        f.notice_close();
        f.stream.clone()
    })
    .flatten()
}

/// The address where code in C finds the `FILE *` of a file, null if that is closed; none if the userdata is no file.
pub fn c_file(u: Gc<Udata>) -> Option<*mut *mut libc::FILE> {
    u.with::<LuaFile, _>(LuaFile::give)
}

/// The stream of the first argument, which must be an open file.
pub fn check_stream(vm: &mut Vm) -> LuaResult<Shared> {
    let u = check_file(vm)?;
    stream_of(u).ok_or_else(|| closed(vm))
}

/// Opens a file with a mode like C's `fopen`. An interrupt that waits at `stop` ends the wait for the other end of a pipe.
pub fn open_file(name: &[u8], mode: &[u8], stop: &Flag) -> io::Result<Shared> {
    let plus = mode.contains(&b'+');
    let exclusive = mode.contains(&b'x');
    let access = match mode.first() {
        Some(b'r') => Access { read: true, write: plus },
        Some(b'w' | b'a') => Access { read: plus, write: true },
        _ => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
    };
    let direction = match (access.read, access.write) {
        (true, true) => libc::O_RDWR,
        (true, false) => libc::O_RDONLY,
        _ => libc::O_WRONLY,
    };
    let creation = match mode[0] {
        b'w' if exclusive => libc::O_CREAT | libc::O_EXCL,
        b'w' => libc::O_CREAT | libc::O_TRUNC,
        b'a' => libc::O_CREAT | libc::O_APPEND,
        _ => 0,
    };
    let file = sys::open(c_path(name), direction | creation, stop)?;
    Ok(share(Stream::new(file, access)))
}

/// A new file with an unused name that begins with `prefix`.
pub fn new_temporary(prefix: &str) -> io::Result<(PathBuf, File)> {
    use std::hash::{BuildHasher, Hasher, RandomState};
    loop {
        let random = RandomState::new().build_hasher().finish() % 0x3fff_ffff;
        let path = PathBuf::from(format!("{prefix}{random:06x}"));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            r => return r.map(|f| (path, f)),
        }
    }
}

/// Starts a command with a pipe from its output (`r`) or to its input (`w`).
pub fn open_pipe(command: &[u8], mode: &[u8]) -> io::Result<(Shared, Child)> {
    let mut c = super::super::process::shell(command);
    let read = match mode {
        [b'r'] => true,
        [b'w'] => false,
        _ => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
    };
    if read {
        c.stdout(Stdio::piped());
    } else {
        c.stdin(Stdio::piped());
    }
    super::flush_all();
    let mut child = c.spawn()?;
    let fd = match (child.stdout.take(), child.stdin.take()) {
        (Some(out), _) => OwnedFd::from(out),
        (None, Some(input)) => OwnedFd::from(input),
        (None, None) => return Err(io::Error::from_raw_os_error(libc::EPIPE)),
    };
    let stream = Stream::new(File::from(fd), Access { read, write: !read });
    Ok((share(stream), child))
}
