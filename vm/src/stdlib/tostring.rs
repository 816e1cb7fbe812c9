//! Values to text without metamethods.

use crate::Vm;
use crate::object::{Gc, Str};
use crate::text::format::put_address;
use crate::text::number::put_num;
use crate::text::put_int;
use crate::value::Value;

/// The address of the object of a value, that of the bytes of a userdata or cdata; 0 if it has none.
pub fn address(v: Value) -> u64 {
    if let Some(u) = v.as_udata() {
        return u.address().expose_provenance() as u64;
    }
    if let Some(c) = v.as_cdata() {
        return c.payload().expose_provenance() as u64;
    }
    if v.is_gc() || v.is_lightud() { v.address() } else { 0 }
}

/// Appends the text of a value.
pub fn put_value(out: &mut Vec<u8>, v: Value) {
    if let Some(s) = v.as_str() {
        s.append_to(out);
    } else if v.is_int() {
        put_int(out, v.as_int_unchecked());
    } else if v.is_num() {
        put_num(out, v.as_num_unchecked());
    } else if v.is_nil() {
        out.extend_from_slice(b"nil");
    } else if v.is_bool() {
        out.extend_from_slice(if v.truthy() { b"true" } else { b"false" });
    } else {
        out.extend_from_slice(v.type_name().as_bytes());
        out.extend_from_slice(b": ");
        match v.as_func() {
            Some(f) if f.ffid() > 1 => {
                out.extend_from_slice(b"builtin#");
                put_int(out, f.ffid() as i32);
            }
            _ => put_address(out, address(v)),
        }
    }
}

/// The text of a value as a string.
pub fn raw_tostring(vm: &mut Vm, v: Value) -> Gc<Str> {
    if let Some(s) = v.as_str() {
        return s;
    }
    if v.is_number() {
        return vm.number_str(v);
    }
    if let Some(Some(name)) = vm.realm.pri_names.get(v.type_index()) {
        return *name;
    }
    let mut text = Vec::with_capacity(32);
    put_value(&mut text, v);
    vm.new_str(&text)
}
