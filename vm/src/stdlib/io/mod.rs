//! The io library.

mod c_file;
mod file;
mod read;
mod stream;

pub use file::{c_file, c_path, error_text, file_result, new_temporary};
pub(super) use stream::Bounds;
pub use stream::{flush_all, flush_stdout, lost_output, use_c_stdout};

use super::buffer::with_bytes;
use super::process::wait;
use super::sys;
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::interrupt::Flag;
use crate::object::{Gc, Udata};
use crate::stdlib::Builtin;
use crate::text::NumText;
use crate::text::format::put_address;
use crate::text::number::to_i64;
use crate::value::Value;
use file::{LuaFile, Origin, check_file, check_stream, closed, new_file, open_file, open_pipe, stream_of, with_stream};
use read::read_values;
use std::io::{self, SeekFrom};
use std::sync::Arc;
use stream::{Access, Buffering, NEVER, Shared, Stream, lock, share};

/// The most arguments that an iterator of lines keeps.
const MAX_FORMATS: usize = 60;
/// Index of the default input among the default files.
const INPUT: usize = 0;
/// Index of the default output.
const OUTPUT: usize = 1;

/// Writes to standard output.
pub fn write_stdout(bytes: &[u8]) {
    write_stdout_until(bytes, &NEVER);
}

/// Writes to standard output, as long as no interrupt waits at `stop` or nobody has to be waited for.
pub fn write_stdout_until(bytes: &[u8], stop: &Flag) {
    // Like C's print, this has no result; a lost write shows in the exit status of the process.
    stream::note_lost(lock(stream::stdout()).write(bytes, stop));
}

/// Writes to standard error.
pub fn write_stderr(bytes: &[u8]) {
    // There is nowhere to report an error to.
    let _ = lock(stream::stderr()).write(bytes, &NEVER);
}

/// What is read here ends by itself.
static UNBOUNDED: Bounds<'static> = Bounds { most: isize::MAX as usize, stop: &NEVER };

/// Appends a line from standard input, with its newline. False at the end, and when an interrupt of the state has ended the read.
pub fn read_line_stdin(vm: &Vm, out: &mut Vec<u8>) -> bool {
    let bounds = Bounds { stop: &vm.interrupts.flag, ..UNBOUNDED };
    lock(stream::stdin()).read_line(out, true, &bounds).unwrap_or(false)
}

/// The contents of a file. The error says whether it is `cannot open` or `cannot read`.
pub fn read_file(name: &[u8]) -> Result<Vec<u8>, (&'static str, io::Error)> {
    read_bounded(name, &UNBOUNDED)
}

/// The same within bounds: some files never end.
pub(super) fn read_bounded(name: &[u8], bounds: &Bounds<'_>) -> Result<Vec<u8>, (&'static str, io::Error)> {
    let f = sys::open(c_path(name), libc::O_RDONLY, bounds.stop).map_err(|e| ("cannot open", e))?;
    let mut out = Vec::new();
    let mut stream = Stream::new(f, Access { read: true, write: false });
    stream.read_all(&mut out, bounds).map_err(|e| ("cannot read", e))?;
    Ok(out)
}

/// The rest of standard input.
pub fn read_stdin() -> Result<Vec<u8>, (&'static str, io::Error)> {
    read_stdin_bounded(&UNBOUNDED)
}

/// The same within bounds.
pub(super) fn read_stdin_bounded(bounds: &Bounds<'_>) -> Result<Vec<u8>, (&'static str, io::Error)> {
    let mut out = Vec::new();
    lock(stream::stdin()).read_all(&mut out, bounds).map_err(|e| ("cannot read", e))?;
    Ok(out)
}

/// Sets the default files, and the fields of the library with the standard ones.
pub(super) fn open_standard(vm: &mut Vm, lib: Gc<crate::object::Table>) {
    for (name, stream) in [("stdin", stream::stdin()), ("stdout", stream::stdout()), ("stderr", stream::stderr())] {
        let f = new_file(vm, stream.clone(), Origin::Standard);
        let name = vm.new_str(name.as_bytes());
        vm.table_set_str(lib, name, f);
        match name.bytes() {
            b"stdin" => vm.realm.io_defaults[INPUT] = f,
            b"stdout" => vm.realm.io_defaults[OUTPUT] = f,
            _ => {}
        }
    }
}

/// A default file.
fn default_file(vm: &Vm, which: usize) -> Option<Gc<Udata>> {
    vm.realm.io_defaults[which].as_udata()
}

#[cold]
fn standard_closed(vm: &mut Vm) -> LuaError {
    vm.rt_error("standard file is closed")
}

/// The stream of a default file.
fn default_stream(vm: &mut Vm, which: usize) -> LuaResult<Shared> {
    default_file(vm, which).and_then(stream_of).ok_or_else(|| standard_closed(vm))
}

/// `io.open(name [, mode])`
pub fn open(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let mode = vm.opt_str(1)?;
    match open_file(name.bytes(), mode.as_ref().map_or(b"r", |m| m.bytes()), &vm.interrupts.flag) {
        Ok(s) => {
            let f = new_file(vm, s, Origin::Named);
            vm.ret1(f)
        }
        Err(e) => file_result(vm, Err(e), Some(name.bytes())),
    }
}

/// `io.popen(command [, mode])`
pub fn popen(vm: &mut Vm) -> LuaResult<u32> {
    let command = vm.check_str(0)?;
    let mode = vm.opt_str(1)?;
    match open_pipe(command.bytes(), mode.as_ref().map_or(b"r", |m| m.bytes())) {
        Ok((s, child)) => {
            let interrupt = vm.interrupts.flag.clone();
            let f = new_file(vm, s, Origin::Pipe(child, interrupt));
            vm.ret1(f)
        }
        Err(e) => file_result(vm, Err(e), Some(command.bytes())),
    }
}

/// `io.tmpfile()`: a file without a name.
pub fn tmpfile(vm: &mut Vm) -> LuaResult<u32> {
    let prefix = std::env::temp_dir().join("lua_");
    let opened = new_temporary(&prefix.to_string_lossy()).and_then(|(path, f)| std::fs::remove_file(path).map(|()| f));
    match opened {
        Ok(file) => {
            let s = share(Stream::new(file, Access { read: true, write: true }));
            let f = new_file(vm, s, Origin::Named);
            vm.ret1(f)
        }
        Err(e) => file_result(vm, Err(e), None),
    }
}

/// `io.close([file])`, `file:close()`
pub fn close(vm: &mut Vm) -> LuaResult<u32> {
    let u = if vm.nargs() > 0 {
        check_stream(vm)?;
        check_file(vm)?
    } else {
        match default_file(vm, OUTPUT) {
            Some(u) if stream_of(u).is_some() => u,
            _ => return Err(vm.rt_error("attempt to use a closed file")),
        }
    };
    let stop = Arc::clone(&vm.interrupts.flag);
    let closed = u.with::<LuaFile, _>(|f| match f.origin {
        Origin::Standard => None,
        // The wait for a command may be interrupted, and is outside of the file: see below.
        Origin::Pipe(..) => match (f.close_stream(&stop), core::mem::replace(&mut f.origin, Origin::Named)) {
            (Some(_), Origin::Pipe(child, _)) => Some((Ok(()), Some(child))),
            _ => Some((Ok(()), None)),
        },
        _ => Some((f.close(&stop), None)),
    });
    match closed.flatten() {
        Some((mut closed, child)) => {
            if let Some(mut child) = child {
                closed = wait(vm, &mut child)?.map(|_| ());
            }
            file_result(vm, closed, None)
        }
        None => {
            vm.push(Value::NIL);
            let text = vm.new_str(b"cannot close standard file");
            vm.push(Value::str(text));
            Ok(2)
        }
    }
}

/// Reads by the arguments from `first` on.
fn read_args(vm: &mut Vm, s: &Shared, first: usize) -> LuaResult<u32> {
    let n = vm.nargs();
    let mut few = [Value::NIL; 4];
    let many: Vec<Value>;
    let formats = match few.get_mut(..n.saturating_sub(first)) {
        Some(formats) => {
            for (i, f) in formats.iter_mut().enumerate() {
                *f = vm.arg(first + i);
            }
            &*formats
        }
        None => {
            many = (first..n).map(|i| vm.arg(i)).collect();
            &many
        }
    };
    match read_values(vm, s, formats, first)? {
        Ok(n) => Ok(n),
        Err(e) => file_result(vm, Err(e), None),
    }
}

/// `io.read(...)`
pub fn read(vm: &mut Vm) -> LuaResult<u32> {
    let s = default_stream(vm, INPUT)?;
    read_args(vm, &s, 0)
}

/// `file:read(...)`
pub fn file_read(vm: &mut Vm) -> LuaResult<u32> {
    let s = check_stream(vm)?;
    read_args(vm, &s, 1)
}

/// Writes the arguments from `first` on to a file; `None` if that is closed.
fn write_args(vm: &mut Vm, file: Gc<Udata>, first: usize) -> Option<LuaResult<u32>> {
    let written = with_stream(file, |stream| {
        let (mut out, stop, mut result) = (lock(stream), &vm.interrupts.flag, Ok(()));
        for i in first..vm.nargs() {
            let v = vm.arg(i);
            let r = if let Some(s) = v.as_str() {
                out.write(s.bytes(), stop)
            } else if v.is_int() {
                out.write(&NumText::int(v.as_int_unchecked()), stop)
            } else if v.is_num() {
                out.write(&NumText::num(v.as_num_unchecked()), stop)
            } else {
                with_bytes(v, |bytes| out.write(bytes, stop)).ok_or(i)?
            };
            result = result.and(r);
        }
        Ok(result)
    })?;
    Some(match written {
        Ok(result) => file_result(vm, result, None),
        Err(i) => Err(vm.arg_type_error(i, "string")),
    })
}

/// `io.write(...)`
pub fn write(vm: &mut Vm) -> LuaResult<u32> {
    let written = default_file(vm, OUTPUT).and_then(|file| write_args(vm, file, 0));
    written.unwrap_or_else(|| Err(standard_closed(vm)))
}

/// `file:write(...)`
pub fn file_write(vm: &mut Vm) -> LuaResult<u32> {
    let file = check_file(vm)?;
    write_args(vm, file, 1).unwrap_or_else(|| Err(closed(vm)))
}

/// `io.flush()`
pub fn flush(vm: &mut Vm) -> LuaResult<u32> {
    let s = default_stream(vm, OUTPUT)?;
    let r = lock(&s).flush(&vm.interrupts.flag);
    file_result(vm, r, None)
}

/// `file:flush()`
pub fn file_flush(vm: &mut Vm) -> LuaResult<u32> {
    let s = check_stream(vm)?;
    let r = lock(&s).flush(&vm.interrupts.flag);
    file_result(vm, r, None)
}

/// `file:seek([whence [, offset]])`
pub fn file_seek(vm: &mut Vm) -> LuaResult<u32> {
    let s = check_stream(vm)?;
    let whence = vm.check_option(1, Some(1), &["set", "cur", "end"])?;
    let offset = if vm.arg(2).is_nil() { 0 } else { to_i64(vm.check_num(2)?) };
    let to = match whence {
        0 if offset < 0 => return file_result(vm, Err(io::Error::from_raw_os_error(libc::EINVAL)), None),
        0 => SeekFrom::Start(offset as u64),
        1 => SeekFrom::Current(offset),
        _ => SeekFrom::End(offset),
    };
    let r = lock(&s).seek(to, &vm.interrupts.flag);
    match r {
        Ok(at) => vm.ret1(Value::integer(at as i64)),
        Err(e) => file_result(vm, Err(e), None),
    }
}

/// `file:setvbuf(mode [, size])`
pub fn file_setvbuf(vm: &mut Vm) -> LuaResult<u32> {
    let s = check_stream(vm)?;
    let mode = vm.check_option(1, None, &["full", "line", "no"])?;
    let size = vm.opt_int(2, 8192)?;
    let buffering = match mode {
        0 => Buffering::Full(size.max(1) as usize),
        1 => Buffering::Line,
        _ => Buffering::None,
    };
    let r = lock(&s).set_buffering(buffering, &vm.interrupts.flag);
    file_result(vm, r, None)
}

/// Gets or sets a default file.
fn default(vm: &mut Vm, which: usize, mode: &[u8]) -> LuaResult<u32> {
    let v = vm.arg(0);
    if v.is_nil() {
        return vm.ret1(vm.realm.io_defaults[which]);
    }
    let f = if v.is_udata() {
        check_stream(vm)?;
        v
    } else {
        open_argument(vm, mode, Origin::Named)?
    };
    vm.realm.io_defaults[which] = f;
    vm.ret1(f)
}

/// Opens the file that the first argument names; raises an error if that fails.
fn open_argument(vm: &mut Vm, mode: &[u8], origin: Origin) -> LuaResult<Value> {
    let name = vm.check_str(0)?;
    match open_file(name.bytes(), mode, &vm.interrupts.flag) {
        Ok(s) => Ok(new_file(vm, s, origin)),
        Err(e) => {
            let message = format!("{}: {}", c_path(name.bytes()).display(), error_text(&e));
            Err(vm.arg_error(0, &message))
        }
    }
}

/// `io.input([file])`
pub fn input(vm: &mut Vm) -> LuaResult<u32> {
    default(vm, INPUT, b"r")
}

/// `io.output([file])`
pub fn output(vm: &mut Vm) -> LuaResult<u32> {
    default(vm, OUTPUT, b"w")
}

/// `io.lines([name, ...])`
pub fn lines(vm: &mut Vm) -> LuaResult<u32> {
    let f = if vm.arg(0).is_nil() {
        default_file(vm, INPUT).map_or(Value::NIL, Value::udata)
    } else {
        open_argument(vm, b"r", Origin::Lines)?
    };
    make_iterator(vm, f)
}

/// `file:lines(...)`
pub fn file_lines(vm: &mut Vm) -> LuaResult<u32> {
    check_stream(vm)?;
    let f = vm.arg(0);
    make_iterator(vm, f)
}

/// An iterator with the file and the formats as upvalues.
fn make_iterator(vm: &mut Vm, f: Value) -> LuaResult<u32> {
    if vm.nargs() > MAX_FORMATS {
        return Err(vm.rt_error("too many results to unpack"));
    }
    let mut upvalues = vec![f];
    upvalues.extend((1..vm.nargs()).map(|i| vm.arg(i)));
    let iterator = vm.new_native(next_line, Builtin::IoLinesAux.id(), &upvalues);
    vm.ret1(Value::func(iterator))
}

/// The iterator over the lines of a file.
pub fn next_line(vm: &mut Vm) -> LuaResult<u32> {
    let me = vm.callee();
    let upvalues: Vec<Value> = me.native_upvalues().iter().map(core::cell::Cell::get).collect();
    let Some(u) = upvalues[0].as_udata() else { return Ok(0) };
    let Some(s) = stream_of(u) else { return Err(vm.rt_error("attempt to use a closed file")) };
    let before = vm.nargs();
    let n = match read_values(vm, &s, &upvalues[1..], 0)? {
        Ok(n) => n,
        Err(e) => return Err(vm.rt_error(&error_text(&e))),
    };
    drop(s);
    if vm.arg(before).is_nil() {
        u.with::<LuaFile, _>(|f| {
            if matches!(f.origin, Origin::Lines) {
                // The end of the file is the result; an error of closing is ignored.
                let _ = f.close(&NEVER);
            }
        });
    }
    Ok(n)
}

/// `io.type(v)`
pub fn type_(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    match v.as_udata().filter(|u| u.is::<LuaFile>()) {
        Some(u) if stream_of(u).is_some() => vm.ret_str(b"file"),
        Some(_) => vm.ret_str(b"closed file"),
        None => vm.ret1(Value::NIL),
    }
}

/// The finalizer of files.
pub fn file_gc(vm: &mut Vm) -> LuaResult<u32> {
    let u = check_file(vm)?;
    finalize(u, &vm.interrupts.flag);
    Ok(0)
}

/// Closes a file that is not used any more. False if it is another userdata.
pub(crate) fn finalize(u: Gc<Udata>, stop: &Flag) -> bool {
    let closed = u.with::<LuaFile, _>(|f| match f.origin {
        Origin::Standard => Ok(()),
        _ => f.close(stop),
    });
    closed.is_some()
}

/// `tostring(file)`
pub fn file_tostring(vm: &mut Vm) -> LuaResult<u32> {
    let u = check_file(vm)?;
    match stream_of(u) {
        Some(s) => {
            let mut text = b"file (".to_vec();
            put_address(&mut text, Arc::as_ptr(&s).addr() as u64);
            text.push(b')');
            vm.ret_str(&text)
        }
        None => vm.ret_str(b"file (closed)"),
    }
}
