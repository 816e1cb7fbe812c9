//! The base library: values, tables, metatables, iteration, conversion, output, errors.

use super::list::Builtin;
use super::tostring::raw_tostring;
use crate::Vm;
use crate::error::LuaResult;
use crate::meta::MM;
use crate::object::{Gc, Str};
use crate::text::{NumText, until_nul};
use crate::value::Value;

/// Most results of `unpack`, `string.byte` and the like.
pub(super) const MAX_RESULTS: u32 = 8000;

/// `assert(v [, message, ...])`
pub fn assert(vm: &mut Vm) -> LuaResult<u32> {
    let n = vm.nargs();
    if vm.check_any(0)?.truthy() {
        return Ok(n as u32);
    }
    if n == 1 {
        return Err(vm.rt_error("assertion failed!"));
    }
    let v = vm.arg(1);
    if v.is_str() || v.is_number() {
        let s = vm.check_str(1)?;
        return Err(vm.rt_error_bytes(until_nul(s.bytes())));
    }
    // LuaJIT throws the last argument then.
    Err(vm.throw(vm.arg(n - 1)))
}

/// `type(v)`: the names are the upvalues.
pub fn type_(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    let name = vm.native_upvalue(v.type_index());
    vm.ret1(name)
}

/// `next(t [, key])`
pub fn next(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    match t.next(vm.arg(1)) {
        Ok(Some((k, v))) => {
            vm.push(k);
            vm.push(v);
            Ok(2)
        }
        Ok(None) => vm.ret1(Value::NIL),
        Err(()) => Err(vm.plain_error(b"invalid key to 'next'")),
    }
}

/// Three results of an iterator constructor; the upvalue is the iterator. Only cdata have metamethods for it.
fn iterator(vm: &mut Vm, mm: MM, start: Value) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    if !v.is_table() {
        if v.is_cdata() {
            let f = vm.metamethod(v, mm);
            return vm.become_call(f, &[v]);
        }
        return Err(vm.arg_type_error(0, "table"));
    }
    let f = vm.native_upvalue(0);
    vm.push(f);
    vm.push(v);
    vm.push(start);
    Ok(3)
}

/// `pairs(t)`
pub fn pairs(vm: &mut Vm) -> LuaResult<u32> {
    iterator(vm, MM::Pairs, Value::NIL)
}

/// `ipairs(t)`
pub fn ipairs(vm: &mut Vm) -> LuaResult<u32> {
    iterator(vm, MM::Ipairs, Value::int(0))
}

/// The iterator of `ipairs`.
pub fn ipairs_aux(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let i = vm.check_int(1)?.wrapping_add(1);
    let v = t.get_int(i);
    if v.is_nil() {
        return Ok(0);
    }
    vm.push(Value::int(i));
    vm.push(v);
    Ok(2)
}

/// `getmetatable(v)`
pub fn getmetatable(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    let Some(mt) = vm.metatable_of(v) else { return vm.ret1(Value::NIL) };
    let protected = vm.metamethod(v, MM::Metatable);
    vm.ret1(if protected.is_nil() { Value::table(mt) } else { protected })
}

/// `setmetatable(t, mt)`
pub fn setmetatable(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let mt = vm.check_table_or_nil(1)?;
    if t.meta.get().is_some() && !vm.metamethod(Value::table(t), MM::Metatable).is_nil() {
        return Err(vm.rt_error("cannot change a protected metatable"));
    }
    vm.check_writable(t)?;
    vm.set_table_meta(t, mt);
    vm.ret1(Value::table(t))
}

/// `rawget(t, key)`
pub fn rawget(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let key = vm.check_any(1)?;
    vm.ret1(t.get(key))
}

/// `rawset(t, key, value)`
pub fn rawset(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let key = vm.check_any(1)?;
    let v = vm.check_any(2)?;
    if key.is_nil() {
        return Err(vm.plain_error(b"table index is nil"));
    }
    if key.as_number().is_some_and(f64::is_nan) {
        return Err(vm.plain_error(b"table index is NaN"));
    }
    vm.check_writable(t)?;
    vm.try_table_set(t, key, v)?;
    vm.ret1(Value::table(t))
}

/// `rawequal(a, b)`
pub fn rawequal(vm: &mut Vm) -> LuaResult<u32> {
    let a = vm.check_any(0)?;
    let b = vm.check_any(1)?;
    vm.ret1(Value::bool(a.raw_equals(b)))
}

/// `unpack(t [, i [, j]])`
pub fn unpack(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let first = vm.opt_int(1, 1)?;
    let last = if vm.arg(2).is_nil() { t.len() as i32 } else { vm.check_int(2)? };
    if first > last {
        return Ok(0);
    }
    let more = last.wrapping_sub(first) as u32;
    if more >= MAX_RESULTS {
        return Err(vm.rt_error("too many results to unpack"));
    }
    if more >= 16 {
        vm.reserve(more as usize + 1)?;
    }
    if let Some(slots) = usize::try_from(first).ok().and_then(|first| t.array_part().get(first..=last as usize)) {
        for slot in slots {
            vm.push(slot.get());
        }
    } else {
        for i in first..=last {
            vm.push(t.get_int(i));
        }
    }
    Ok(more + 1)
}

/// `select(n, ...)`
pub fn select(vm: &mut Vm) -> LuaResult<u32> {
    let n = vm.nargs() as i32;
    if let Some(s) = vm.arg(0).as_str()
        && s.bytes().first() == Some(&b'#')
    {
        return vm.ret1(Value::int(n - 1));
    }
    let i = vm.check_int(0)?;
    let i = if i < 0 { n + i } else { i.min(n) };
    if i < 1 {
        return Err(vm.arg_error(0, "index out of range"));
    }
    // The wanted values are the topmost ones already.
    Ok((n - i) as u32)
}

/// `tonumber(v [, base])`
pub fn tonumber(vm: &mut Vm) -> LuaResult<u32> {
    let base = vm.opt_int(1, 10)?;
    if base == 10 {
        let v = vm.check_any(0)?;
        if v.is_number() {
            return vm.ret1(v);
        }
        let n = match v.as_cdata() {
            Some(c) => vm.cdata_number(c)?,
            None => v.as_str().and_then(crate::meta::str_to_number),
        };
        return vm.ret1(n.unwrap_or(Value::NIL));
    }
    let s = vm.check_str(0)?;
    if !(2..=36).contains(&base) {
        return Err(vm.arg_error(1, "base out of range"));
    }
    vm.ret1(digits_to_number(s.bytes(), base as u32).unwrap_or(Value::NIL))
}

/// A signed integer in some base with white space around it, as C's `strtoul` reads the digits: up to a NUL.
fn digits_to_number(s: &[u8], base: u32) -> Option<Value> {
    let s = until_nul(s);
    let is_space = |c: &u8| *c == b' ' || (9..=13).contains(c);
    let start = s.iter().position(|c| !is_space(c))?;
    let end = s.iter().rposition(|c| !is_space(c))? + 1;
    let (negative, digits) = match &s[start..end] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let digits = match digits {
        [b'0', b'x' | b'X', rest @ ..] if base == 16 && rest.first().is_some_and(u8::is_ascii_hexdigit) => rest,
        all => all,
    };
    if digits.is_empty() {
        return None;
    }
    let mut n = 0u64;
    for c in digits {
        let d = char::from(*c).to_digit(base)?;
        n = n.saturating_mul(u64::from(base)).saturating_add(u64::from(d));
    }
    let n = n as f64;
    Some(Value::number(if negative { -n } else { n }))
}

/// `tostring(v)`
pub fn tostring(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    if !v.is_str() {
        let mm = vm.metamethod(v, MM::ToString);
        if !mm.is_nil() {
            return vm.become_call(mm, &[v]);
        }
    }
    let s = raw_tostring(vm, v);
    vm.ret1(Value::str(s))
}

/// `print(...)`
pub fn print(vm: &mut Vm) -> LuaResult<u32> {
    let n = vm.nargs();
    let name = vm.native_upvalue(0);
    let env = vm.cur.env.get();
    let mut f = name.as_str().map_or(Value::NIL, |s| env.get_str(s));
    if f.is_nil() {
        f = vm.index(Value::table(env), name)?;
    }
    // The function lives in a slot after the arguments while Lua code runs.
    vm.push(f);
    let direct = f.as_func().is_some_and(|f| f.ffid() == Builtin::Tostring.id()) && vm.metatable_of(Value::int(0)).is_none();
    vm.with_buffer(|vm, line| {
        for i in 0..n {
            if i > 0 {
                line.push(b'\t');
            }
            let v = vm.arg(i);
            match v.as_str() {
                Some(s) if direct => line.extend_from_slice(s.bytes()),
                _ if direct && v.is_int() => line.extend_from_slice(&NumText::int(v.as_int_unchecked())),
                _ if direct && v.is_num() => line.extend_from_slice(&NumText::num(v.as_num_unchecked())),
                _ => {
                    let f = vm.arg(n);
                    let r = vm.call1(f, &[v])?;
                    let s = printable(vm, r)?;
                    line.extend_from_slice(s.bytes());
                }
            }
        }
        line.push(b'\n');
        super::io::write_stdout_until(line, &vm.interrupts.flag);
        Ok(0)
    })
}

/// The string that `tostring` returned to `print`.
fn printable(vm: &mut Vm, v: Value) -> LuaResult<Gc<Str>> {
    match v.as_str() {
        Some(s) => Ok(s),
        None if v.is_number() => Ok(vm.number_str(v)),
        None => Err(vm.rt_error("'tostring' must return a string to 'print'")),
    }
}

/// `error([value [, level]])`
pub fn error(vm: &mut Vm) -> LuaResult<u32> {
    let level = vm.opt_int(1, 1)?;
    let v = vm.arg(0);
    if level > 0 && (v.is_str() || v.is_number()) {
        let message = vm.check_str(0)?;
        let position = super::levels::position(vm, level as usize);
        let text = vm.with_buffer(|vm, text| {
            vm.room(text, position.len() + message.len())?;
            text.extend_from_slice(&position);
            vm.put(text, message.bytes())?;
            vm.checked_str(text)
        })?;
        return Err(vm.throw(Value::str(text)));
    }
    Err(vm.throw(v))
}
