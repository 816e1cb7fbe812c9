//! The string library, without patterns and formats.

use super::base::MAX_RESULTS;
use crate::Vm;
use crate::error::LuaResult;
use crate::interrupt::{Interrupted, Poll};
use crate::object::{Gc, Str};
use crate::text::case;
use crate::text::parts::{append_changed, append_reversed, repeat};
use crate::value::Value;

/// Resolves a range given like the arguments of `string.sub` to offsets, if it is not empty.
#[inline]
pub(crate) fn range(len: usize, start: i32, stop: i32) -> Option<(usize, usize)> {
    let len = len as i64;
    let absolute = |i: i32| if i < 0 { i64::from(i) + len + 1 } else { i64::from(i) };
    let start = absolute(start).max(1);
    let stop = absolute(stop).min(len);
    if start > stop { None } else { Some((start as usize - 1, stop as usize)) }
}

/// `string.len(s)`
pub fn len(vm: &mut Vm) -> LuaResult<u32> {
    vm.pad_args(1);
    let s = vm.check_str(0)?;
    vm.ret1(Value::integer(s.len() as i64))
}

/// `string.byte(s [, i [, j]])`
pub fn byte(vm: &mut Vm) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    let start = vm.opt_int(1, 1)?;
    let stop = vm.opt_int(2, start)?;
    let Some((from, to)) = range(s.len(), start, stop) else { return Ok(0) };
    let n = to - from;
    if n > MAX_RESULTS as usize {
        return Err(vm.rt_error("string slice too long"));
    }
    if n > 16 {
        vm.reserve(n)?;
    }
    for b in &s.bytes()[from..to] {
        vm.push(Value::int(i32::from(*b)));
    }
    Ok(n as u32)
}

/// `string.char(...)`
pub fn char(vm: &mut Vm) -> LuaResult<u32> {
    let n = vm.nargs();
    let mut few = [0; 32];
    let mut many = Vec::new();
    let bytes = match few.get_mut(..n) {
        Some(b) => b,
        None => {
            many.resize(n, 0);
            &mut many[..]
        }
    };
    for (i, b) in bytes.iter_mut().enumerate() {
        match u8::try_from(vm.check_int(i)?) {
            Ok(c) => *b = c,
            Err(_) => return Err(vm.arg_error(i, "invalid value")),
        }
    }
    vm.ret_str(bytes)
}

/// `string.sub(s, i [, j])`
pub fn sub(vm: &mut Vm) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    let start = vm.check_int(1)?;
    let stop = vm.opt_int(2, -1)?;
    match range(s.len(), start, stop) {
        Some((0, to)) if to == s.len() => vm.ret1(Value::str(s)),
        Some((from, to)) => vm.ret_str(&s.bytes()[from..to]),
        None => vm.ret_str(b""),
    }
}

/// `string.rep(s, n [, sep])`
pub fn rep(vm: &mut Vm) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    let n = vm.check_int(1)?;
    let sep = vm.opt_str(2)?;
    let Ok(n @ 1..) = usize::try_from(n) else { return vm.ret_str(b"") };
    let sep_len = sep.map_or(0, |s| s.len());
    vm.check_alloc((s.len() + sep_len).saturating_mul(n))?;
    if n == 1 {
        return vm.ret1(Value::str(s));
    }
    vm.with_buffer(|vm, all| {
        vm.room(all, (s.len() + sep_len) * n)?;
        vm.put(all, s.bytes())?;
        vm.put(all, sep.as_ref().map_or(b"", |s| s.bytes()))?;
        repeat(all, n, Poll::At(&vm.interrupts.flag)).map_err(|Interrupted| vm.interrupted())?;
        all.truncate(all.len() - sep_len);
        vm.ret_str(all)
    })
}

/// The first argument, which `put` appends to the VM's buffer with its bytes changed.
#[inline(always)]
fn mapped(vm: &mut Vm, put: impl FnOnce(&mut Vec<u8>, &[u8], Poll<'_>) -> Result<(), Interrupted>) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    vm.check_alloc(s.len())?;
    vm.with_buffer(|vm, buf| {
        vm.room(buf, s.len())?;
        put(buf, s.bytes(), Poll::At(&vm.interrupts.flag)).map_err(|Interrupted| vm.interrupted())?;
        vm.ret_str(buf)
    })
}

/// A short string with the letters from `first` on in the other case; none for a longer one.
#[inline(always)]
pub(crate) fn short_with_case(vm: &mut Vm, s: Gc<Str>, first: u8) -> Option<Gc<Str>> {
    if s.len() > case::SHORT {
        return None;
    }
    Some(vm.new_str(&case::change(s.bytes(), first)[..s.len()]))
}

/// The first argument with the letters from `first` on in the other case: that of a longer string is changed by a function.
#[inline(always)]
fn with_case(vm: &mut Vm, first: u8, change: impl Fn(&mut [u8])) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    vm.check_alloc(s.len())?;
    match short_with_case(vm, s, first) {
        Some(s) => vm.ret1(Value::str(s)),
        None => mapped(vm, |buf, text, poll| append_changed(buf, text, change, poll)),
    }
}

/// `string.reverse(s)`
pub fn reverse(vm: &mut Vm) -> LuaResult<u32> {
    mapped(vm, append_reversed)
}

/// `string.lower(s)`
pub fn lower(vm: &mut Vm) -> LuaResult<u32> {
    with_case(vm, b'A', <[u8]>::make_ascii_lowercase)
}

/// `string.upper(s)`
pub fn upper(vm: &mut Vm) -> LuaResult<u32> {
    with_case(vm, b'a', <[u8]>::make_ascii_uppercase)
}

/// `string.dump(f [, strip])`. A mode string may also say what to strip: `s` for debug information.
pub fn dump(vm: &mut Vm) -> LuaResult<u32> {
    let f = vm.check_func(0)?;
    let mode = vm.arg(1);
    let strip = match mode.as_str() {
        Some(mode) => mode.bytes().contains(&b's'),
        None => mode.truthy(),
    };
    match vm.dump(f, strip) {
        Some(bytes) => vm.ret_str(&bytes),
        None => Err(vm.rt_error("unable to dump given function")),
    }
}

/// The offset where a search starts for its third argument; beyond the end counts as the end.
#[inline]
pub(super) fn start_offset(s: Gc<Str>, init: i32) -> usize {
    let len = s.len() as i64;
    let from = if init < 0 { i64::from(init) + len } else { i64::from(init) - 1 };
    from.clamp(0, len) as usize
}
