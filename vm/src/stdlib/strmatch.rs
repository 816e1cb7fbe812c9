//! The string library: searching with patterns.
#![allow(unsafe_code, reason = "the VM, which keeps the flag that stops a match, outlives the builtin that matches")]

use super::list::Builtin;
use super::string::start_offset;
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::object::{Gc, Str, Table};
use crate::text::number::to_i64;
use crate::text::pattern::{Capture, MAX_CAPTURES, Matcher, PatternError, Program};
use crate::text::search::is_plain;
use crate::text::{find_byte, find_plain};
use crate::value::Value;
use std::rc::Rc;

/// Bytes that are searched between two looks at interrupts: well below a millisecond.
const PART: usize = 1 << 20;

#[cold]
fn pattern_error(vm: &mut Vm, e: PatternError) -> LuaError {
    match e {
        PatternError::Interrupted => vm.interrupted(),
        _ => vm.rt_error(e.message()),
    }
}

/// A matcher that an interrupt of the VM stops.
#[inline(always)]
fn matcher<'a>(vm: &Vm, src: &'a [u8], program: &'a Program) -> Matcher<'a> {
    // SAFETY: the VM keeps its flag until it goes, and the builtin that matches is over before.
    let stop = unsafe { &*std::sync::Arc::as_ptr(&vm.interrupts.flag) };
    Matcher::new(src, program, stop)
}

/// The compiled pattern.
#[inline(always)]
fn program(vm: &mut Vm, pat: Gc<Str>, caret_is_plain: bool) -> LuaResult<Rc<Program>> {
    let most = vm.longest_buffer();
    vm.strings.patterns.get(pat.bytes(), pat.hash(), caret_is_plain, most).ok_or_else(|| vm.out_of_memory())
}

/// Raises what a matcher says.
#[inline(always)]
fn checked<T>(vm: &mut Vm, r: Result<T, PatternError>) -> LuaResult<T> {
    r.map_err(|e| pattern_error(vm, e))
}

/// Capture `i` of a match from `s` to `e` as a value.
#[inline]
fn capture(vm: &mut Vm, m: &Matcher<'_>, i: usize, s: usize, e: usize) -> LuaResult<Value> {
    match checked(vm, m.capture(i, s, e))? {
        Capture::Range(a, b) => Ok(Value::str(vm.try_new_str(&m.subject()[a..b])?)),
        Capture::Position(p) => Ok(Value::integer(p as i64)),
    }
}

/// Pushes the first `n` captures.
fn push_captures(vm: &mut Vm, m: &Matcher<'_>, n: usize, s: usize, e: usize) -> LuaResult<u32> {
    if n > 12 {
        vm.reserve(n)?;
    }
    for i in 0..n {
        let v = capture(vm, m, i, s, e)?;
        vm.push(v);
    }
    Ok(n as u32)
}

/// Finds a text part by part, so that a search in a long one can be interrupted.
fn find_polled(vm: &mut Vm, hay: &[u8], needle: &[u8]) -> LuaResult<Option<usize>> {
    let part = PART.max(needle.len());
    let mut at = 0;
    loop {
        let end = hay.len().min(at + part + needle.len());
        if let Some(i) = find_plain(&hay[at..end], needle) {
            return Ok(Some(at + i));
        }
        if end == hay.len() {
            return Ok(None);
        }
        vm.check_interrupt()?;
        at += part;
    }
}

fn search(vm: &mut Vm, find: bool) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    let pat = vm.check_str(1)?;
    let init = vm.opt_int(2, 1)?;
    let start = start_offset(s, init);
    if find && (vm.arg(3).truthy() || is_plain(pat.bytes())) {
        return match find_polled(vm, &s.bytes()[start..], pat.bytes())? {
            Some(at) => {
                let from = start + at;
                vm.push(Value::integer(from as i64 + 1));
                vm.push(Value::integer((from + pat.len()) as i64));
                Ok(2)
            }
            None => vm.ret1(Value::NIL),
        };
    }
    let program = program(vm, pat, false)?;
    let mut m = matcher(vm, s.bytes(), &program);
    let found = m.find(start);
    let Some((from, to)) = checked(vm, found)? else { return vm.ret1(Value::NIL) };
    if !find {
        return push_captures(vm, &m, m.num_values(), from, to);
    }
    vm.push(Value::integer(from as i64 + 1));
    vm.push(Value::integer(to as i64));
    Ok(2 + push_captures(vm, &m, m.num_captures(), from, to)?)
}

/// `string.find(s, pattern [, init [, plain]])`
pub fn find(vm: &mut Vm) -> LuaResult<u32> {
    search(vm, true)
}

/// `string.match(s, pattern [, init])`
pub fn match_(vm: &mut Vm) -> LuaResult<u32> {
    search(vm, false)
}

/// `string.gmatch(s, pattern)`: an iterator with the string, the pattern and the next offset as upvalues.
pub fn gmatch(vm: &mut Vm) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    let pat = vm.check_str(1)?;
    let f = Builtin::StringGmatchAux;
    let upvalues = [Value::str(s), Value::str(pat), Value::int(0)];
    let iterator = vm.new_native(gmatch_aux, f.id(), &upvalues);
    vm.ret1(Value::func(iterator))
}

/// The iterator of `gmatch`.
pub fn gmatch_aux(vm: &mut Vm) -> LuaResult<u32> {
    let me = vm.callee();
    let upvalues = me.native_upvalues();
    let (Some(s), Some(pat)) = (upvalues[0].get().as_str(), upvalues[1].get().as_str()) else { return Ok(0) };
    let start = upvalues[2].get().as_index().unwrap_or(0) as usize;
    if start > s.len() {
        return Ok(0);
    }
    // An anchor has no meaning here.
    let program = program(vm, pat, true)?;
    let mut m = matcher(vm, s.bytes(), &program);
    let found = m.find(start);
    let Some((from, to)) = checked(vm, found)? else { return Ok(0) };
    // Go on after an empty match.
    upvalues[2].set(Value::integer(if to == from { to + 1 } else { to } as i64));
    push_captures(vm, &m, m.num_values(), from, to)
}

/// What `gsub` puts in the place of a match.
enum Replacement {
    /// A text without `%`.
    Plain(Gc<Str>),
    Text(Gc<Str>),
    Table(Gc<Table>),
    Function,
}

/// Appends the replacement of a match. `None` from a table or function keeps the match.
fn put_replacement(vm: &mut Vm, out: &mut Vec<u8>, m: &Matcher<'_>, by: &Replacement, s: usize, e: usize) -> LuaResult<()> {
    let v = match by {
        Replacement::Plain(text) => return vm.put(out, text.bytes()),
        Replacement::Text(text) => return put_template(vm, out, m, text.bytes(), s, e),
        Replacement::Table(t) => {
            let key = capture(vm, m, 0, s, e)?;
            match t.meta.get() {
                None => t.get(key),
                Some(_) => vm.index(Value::table(*t), key)?,
            }
        }
        Replacement::Function => {
            let mut args = [Value::NIL; MAX_CAPTURES];
            let n = m.num_values();
            for (i, arg) in args[..n].iter_mut().enumerate() {
                *arg = capture(vm, m, i, s, e)?;
            }
            let f = vm.arg(2);
            vm.call1(f, &args[..n])?
        }
    };
    if let Some(text) = v.as_str() {
        vm.put(out, text.bytes())?;
    } else if v.is_number() {
        super::tostring::put_value(out, v);
    } else if v.truthy() {
        return Err(vm.rt_error(&format!("invalid replacement value (a {})", v.type_name())));
    } else {
        vm.put(out, &m.subject()[s..e])?;
    }
    Ok(())
}

/// Appends a replacement text with its `%1` filled in.
fn put_template(vm: &mut Vm, out: &mut Vec<u8>, m: &Matcher<'_>, text: &[u8], s: usize, e: usize) -> LuaResult<()> {
    let mut rest = text;
    while let Some(at) = find_byte(rest, b'%') {
        vm.room(out, at + 32)?;
        vm.put(out, &rest[..at])?;
        // A `%` at the end stands for a NUL.
        let c = rest.get(at + 1).copied().unwrap_or(0);
        rest = rest.get(at + 2..).unwrap_or(&[]);
        match c {
            b'0' => vm.put(out, &m.subject()[s..e])?,
            b'1'..=b'9' => match checked(vm, m.capture(usize::from(c - b'1'), s, e))? {
                Capture::Range(a, b) => vm.put(out, &m.subject()[a..b])?,
                Capture::Position(p) => out.extend_from_slice(&crate::text::NumText::int64(p as i64)),
            },
            _ => out.push(c),
        }
    }
    vm.put(out, rest)
}

/// `string.gsub(s, pattern, replacement [, n])`
pub fn gsub(vm: &mut Vm) -> LuaResult<u32> {
    let s = vm.check_str(0)?;
    let pat = vm.check_str(1)?;
    let v = vm.arg(2);
    // As in LuaJIT: the low 32 bits, which for great numbers may be few replacements.
    let limit = if vm.arg(3).is_nil() { i32::MAX } else { to_i64(vm.check_num(3)?) as i32 };
    let by = if let Some(t) = v.as_table() {
        Replacement::Table(t)
    } else if v.is_func() {
        Replacement::Function
    } else if v.is_str() || v.is_number() {
        let text = vm.check_str(2)?;
        if find_byte(text.bytes(), b'%').is_none() { Replacement::Plain(text) } else { Replacement::Text(text) }
    } else {
        return Err(vm.arg_error(2, "string/function/table expected"));
    };
    let src = s.bytes();
    let program = program(vm, pat, false)?;
    let mut m = matcher(vm, src, &program);
    vm.with_buffer(|vm, out| {
        let mut count = 0;
        // Everything before `done` is in the result.
        let (mut done, mut from) = (0, 0);
        while count < limit {
            let found = m.find(from);
            let Some((a, b)) = checked(vm, found)? else { break };
            count += 1;
            vm.put(out, &src[done..a])?;
            put_replacement(vm, out, &m, &by, a, b)?;
            done = b;
            // After an empty match one character is kept.
            from = if b > a { b } else { a + 1 };
            if program.is_anchored() || from > src.len() {
                break;
            }
        }
        let mut all = s;
        if count != 0 {
            vm.put(out, &src[done..])?;
            all = vm.checked_str(out)?;
        }
        vm.push(Value::str(all));
        vm.push(Value::int(count));
        Ok(2)
    })
}
