//! Fast functions of the base library that are about tables and their loops.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`; as many arguments as the header says are at the base")]

use super::fast::{by_builtin, link_in, return_many, return_one};
use super::frame::{self, func_of, kind};
use super::returns::return_to_caller;
use super::tables::find_str;
use super::{Driver, R, slot};
use crate::meta::MM;
use crate::object::{Gc, Table};
use crate::value::{TAG_STR, TAG_TAB, Value};

/// The step of a loop over `ipairs` inside the array part.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn ipairs_step<D: Driver>(r: R) -> u32 {
    let (o, key) = (*r.base, r.base.add(1));
    if r.nargs() != 2 || o.tag() != TAG_TAB || slot::upper(key) != slot::INT {
        return by_builtin::<D>(r);
    }
    let t: Gc<Table> = Gc::from_addr(o.payload());
    let i = slot::int(key).wrapping_add(1);
    if i as u32 >= t.asize() {
        return by_builtin::<D>(r);
    }
    let v = *t.array.get().add(i as usize);
    if v.is_nil() {
        return by_builtin::<D>(r);
    }
    let link = link_in(r);
    if kind(link) != frame::LUA {
        *r.base = Value::int(i);
        *key = v;
        return return_many::<D>(r, r.base, 2);
    }
    *r.base.sub(2) = Value::int(i);
    *r.base.sub(1) = v;
    return_to_caller::<D>(r, link, 2)
}

/// `pairs` and `ipairs` of a table; the loop begins with the value `start`.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn iterator<D: Driver>(r: R, start: Value) -> u32 {
    let t = *r.base;
    if r.nargs() == 0 || t.tag() != TAG_TAB {
        return by_builtin::<D>(r);
    }
    // The iterator is the builtin's upvalue.
    let step = *func_of(r.base).slot_ptr::<Value>(0);
    let link = link_in(r);
    let is_lua = kind(link) == frame::LUA;
    let dest = if is_lua { r.base.sub(2) } else { r.base };
    *dest = step;
    *dest.add(1) = t;
    *dest.add(2) = start;
    if is_lua { return_to_caller::<D>(r, link, 3) } else { return_many::<D>(r, dest, 3) }
}

/// `rawget` by a string, or by an index inside the array part.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn raw_get<D: Driver>(r: R) -> u32 {
    let (o, key) = (*r.base, r.base.add(1));
    if r.nargs() < 2 || o.tag() != TAG_TAB {
        return by_builtin::<D>(r);
    }
    let t: Gc<Table> = Gc::from_addr(o.payload());
    let found: *const Value = if (*key).tag() == TAG_STR {
        let n = find_str(t, *key);
        if n.is_null() { &Value::NIL } else { (*n).val.as_ptr() }
    } else if slot::upper(key) == slot::INT && (slot::int(key) as u32) < t.asize() {
        t.array.get().add(slot::int(key) as usize)
    } else {
        return by_builtin::<D>(r);
    };
    return_one::<D>(r, *found)
}

/// `getmetatable` of a table whose metatable has no field `__metatable`.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn metatable<D: Driver>(r: R) -> u32 {
    let o = *r.base;
    if r.nargs() == 0 || o.tag() != TAG_TAB {
        return by_builtin::<D>(r);
    }
    let mut result = Value::NIL;
    if let Some(meta) = Gc::<Table>::from_addr(o.payload()).meta.get() {
        let Some(name) = (*r.vm).realm.meta_names[MM::Metatable as usize] else { return by_builtin::<D>(r) };
        let n = find_str(meta, Value::str(name));
        if !n.is_null() && !(*n).val.get().is_nil() {
            return by_builtin::<D>(r);
        }
        result = Value::table(meta);
    }
    return_one::<D>(r, result)
}

/// `tostring` of a string.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn text<D: Driver>(r: R) -> u32 {
    if r.nargs() == 0 || (*r.base).tag() != TAG_STR {
        return by_builtin::<D>(r);
    }
    return_one::<D>(r, *r.base)
}
