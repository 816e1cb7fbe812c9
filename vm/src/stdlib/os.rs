//! The os library.

use super::io::{c_path, error_text, file_result, flush_all, lost_output, write_stderr};
use super::process::{shell, wait};
use super::sys::{Calendar, Fields, processor_time};
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Table};
use crate::text::number::to_i64;
use crate::value::Value;
use core::ffi::CStr;
use std::ffi::CString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

/// `os.execute([command])`: the raw status of the shell; not zero if there is a shell.
pub fn execute(vm: &mut Vm) -> LuaResult<u32> {
    let status = match vm.opt_str(0)? {
        None => 1,
        Some(command) => match shell(command.bytes()).spawn() {
            Ok(mut child) => wait(vm, &mut child)?.map_or(-1, ExitStatus::into_raw),
            Err(_) => -1,
        },
    };
    vm.ret1(Value::int(status))
}

/// `os.remove(name)`: a file or an empty directory.
pub fn remove(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let path = c_path(name.bytes());
    let is_dir = std::fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    let r = if is_dir { std::fs::remove_dir(path) } else { std::fs::remove_file(path) };
    file_result(vm, r, Some(name.bytes()))
}

/// `os.rename(from, to)`
pub fn rename(vm: &mut Vm) -> LuaResult<u32> {
    let from = vm.check_str(0)?;
    let to = vm.check_str(1)?;
    let r = std::fs::rename(c_path(from.bytes()), c_path(to.bytes()));
    file_result(vm, r, Some(from.bytes()))
}

/// `os.tmpname()`: the name of a new file.
pub fn tmpname(vm: &mut Vm) -> LuaResult<u32> {
    match super::io::new_temporary("/tmp/lua_") {
        Ok((path, _)) => vm.ret_str(&path.into_os_string().into_vec()),
        Err(_) => Err(vm.rt_error("unable to generate a unique filename")),
    }
}

/// `os.getenv(name)`
pub fn getenv(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let name = c_path(name.bytes()).as_os_str();
    let bad = name.is_empty() || name.as_bytes().contains(&b'=');
    match if bad { None } else { std::env::var_os(name) } {
        Some(v) => vm.ret_str(v.as_bytes()),
        None => vm.ret1(Value::NIL),
    }
}

/// `os.exit([code [, close]])`
pub fn exit(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.arg(0);
    let status = if v.is_bool() { i32::from(!v.truthy()) } else { vm.opt_int(0, 0)? };
    if vm.arg(1).truthy() {
        vm.run_all_finalizers();
    }
    end_process(vm, status)
}

/// Ends the process as `os.exit` does: watchers are called for the last time, and files are written.
pub fn end_process(vm: &mut Vm, status: i32) -> ! {
    for f in core::mem::take(&mut vm.host.at_exit) {
        f(vm, status);
    }
    vm.heap.end_watch();
    vm.end_observer();
    flush_all();
    match lost_output() {
        Some(e) if status == 0 => {
            write_stderr(format!("cannot write: {}\n", error_text(&e)).as_bytes());
            std::process::exit(1)
        }
        _ => std::process::exit(status),
    }
}

/// `os.clock()`
pub fn clock(vm: &mut Vm) -> LuaResult<u32> {
    vm.ret1(Value::number(processor_time()))
}

/// The current time.
fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(d) => d.as_secs() as i64,
        Err(e) => -(e.duration().as_secs() as i64),
    }
}

/// `os.date([format [, time]])`
pub fn date(vm: &mut Vm) -> LuaResult<u32> {
    let format = vm.opt_str(0)?;
    let t = if vm.arg(1).is_nil() { now() } else { to_i64(vm.check_num(1)?) };
    let format = format.as_ref().map_or(&b"%c"[..], |f| f.bytes());
    let (utc, format) = match format {
        [b'!', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let Some(calendar) = Calendar::from_time(t, utc) else { return vm.ret1(Value::NIL) };
    let format = c_path(format).as_os_str().as_bytes();
    if format == b"*t" {
        return date_table(vm, &calendar.fields());
    }
    let Ok(text) = CString::new(format) else { return vm.ret1(Value::NIL) };
    let text = format_date(&calendar, &text);
    vm.ret_str(&text)
}

/// Formats with a buffer as large as needed, up to a limit.
fn format_date(calendar: &Calendar, format: &CStr) -> Vec<u8> {
    let mut room: usize = format.to_bytes().iter().map(|c| if *c == b'%' { 30 } else { 1 }).sum::<usize>() + 1;
    for _ in 0..4 {
        if let Some(text) = calendar.format(format, room) {
            return text;
        }
        room *= 2;
    }
    Vec::new()
}

fn date_table(vm: &mut Vm, f: &Fields) -> LuaResult<u32> {
    let t = vm.new_table(0, 4);
    let fields = [
        ("sec", f.sec),
        ("min", f.min),
        ("hour", f.hour),
        ("day", f.day),
        ("month", f.month),
        ("year", f.year),
        ("wday", f.wday),
        ("yday", f.yday),
    ];
    for (name, v) in fields {
        set_field(vm, t, name, Value::int(v));
    }
    if f.isdst >= 0 {
        set_field(vm, t, "isdst", Value::bool(f.isdst != 0));
    }
    vm.ret1(Value::table(t))
}

fn set_field(vm: &mut Vm, t: Gc<Table>, name: &str, v: Value) {
    let name = vm.new_str(name.as_bytes());
    vm.table_set_str(t, name, v);
}

/// An integer field of the table argument of `os.time`.
fn field(vm: &mut Vm, name: &str, default: Option<i32>) -> LuaResult<i32> {
    let key = vm.new_str(name.as_bytes());
    let t = vm.arg(0);
    let v = vm.index(t, Value::str(key))?;
    let n = match v.as_str() {
        Some(s) => crate::meta::str_to_number(s),
        None => Some(v),
    };
    match (n.and_then(Value::as_number), default) {
        (Some(n), _) => Ok(to_i64(n) as i32),
        (None, Some(d)) => Ok(d),
        (None, None) => Err(vm.rt_error(&format!("field '{name}' missing in date table"))),
    }
}

/// `os.time([table])`
pub fn time(vm: &mut Vm) -> LuaResult<u32> {
    if vm.arg(0).is_nil() {
        return vm.ret1(Value::integer(now()));
    }
    vm.check_table(0)?;
    let mut fields = Fields {
        sec: field(vm, "sec", Some(0))?,
        min: field(vm, "min", Some(0))?,
        hour: field(vm, "hour", Some(12))?,
        day: field(vm, "day", None)?,
        month: field(vm, "month", None)?,
        year: field(vm, "year", None)?,
        wday: 0,
        yday: 0,
        isdst: -1,
    };
    let key = vm.new_str(b"isdst");
    let t = vm.arg(0);
    let isdst = vm.index(t, Value::str(key))?;
    if !isdst.is_nil() {
        fields.isdst = i32::from(isdst.truthy());
    }
    let t = Calendar::from_fields(&fields).to_time();
    vm.ret1(t.map_or(Value::NIL, Value::integer))
}

/// `os.difftime(t2 [, t1])`
pub fn difftime(vm: &mut Vm) -> LuaResult<u32> {
    let a = if vm.arg(1).is_nil() { 0 } else { to_i64(vm.check_num(1)?) };
    let b = to_i64(vm.check_num(0)?);
    vm.ret1(Value::number(b as f64 - a as f64))
}

const CATEGORIES: [&str; 6] = ["ctype", "numeric", "time", "collate", "monetary", "all"];

/// `os.setlocale([locale [, category]])`: there is only the C locale.
pub fn setlocale(vm: &mut Vm) -> LuaResult<u32> {
    let locale = vm.opt_str(0)?;
    vm.check_option(1, Some(5), &CATEGORIES)?;
    match locale {
        Some(l) if !matches!(l.bytes(), b"" | b"C" | b"POSIX") => vm.ret1(Value::NIL),
        _ => vm.ret_str(b"C"),
    }
}
