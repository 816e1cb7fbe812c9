//! Operators of cdata that the interpreter executes itself in their usual cases, without a frame for the metamethod.
#![allow(unsafe_code, reason = "the place that a result goes to is a slot of the running frame")]

use super::arith;
use super::convert::{number, scalar_value};
use super::ctype::{CTypeId, Ct};
use super::inline_cache::{FieldLoad, Meaning};
use super::load::Load;
use super::metatype::address;
use crate::Vm;
use crate::interp::native::is_plain;
use crate::meta::{Direct, MM};
use crate::object::{Gc, Str, Table};
use crate::stdlib::Builtin;
use crate::value::Value;

/// The builtin that is the metamethod of all cdata.
fn builtin(mm: MM) -> Option<Builtin> {
    Some(match mm {
        MM::Index => Builtin::FfiMetaIndex,
        MM::NewIndex => Builtin::FfiMetaNewindex,
        MM::Add => Builtin::FfiMetaAdd,
        MM::Sub => Builtin::FfiMetaSub,
        MM::Mul => Builtin::FfiMetaMul,
        MM::Div => Builtin::FfiMetaDiv,
        MM::Mod => Builtin::FfiMetaMod,
        MM::Pow => Builtin::FfiMetaPow,
        MM::Unm => Builtin::FfiMetaUnm,
        MM::Eq => Builtin::FfiMetaEq,
        MM::Lt => Builtin::FfiMetaLt,
        MM::Le => Builtin::FfiMetaLe,
        _ => return None,
    })
}

/// The bits of a small integer or a boxed 64-bit integer as 64 bits, and whether it is unsigned.
#[inline]
fn word(v: Value) -> Option<(u64, bool)> {
    if let Some(i) = v.as_int() {
        return Some((i64::from(i) as u64, false));
    }
    let c = v.as_cdata()?;
    Some((c.int64()?, c.ctype() == CTypeId::UINT64))
}

impl Vm {
    /// Does nobody see calls: no hook, no recorder, and no fuel, which counts them?
    fn sees_no_calls(&self) -> bool {
        is_plain(self) && !self.counts_fuel()
    }
    /// Would the builtin be called for an operator on a cdata, with nobody to see the call: no hook, no recorder, and no fuel, which counts
    /// calls?
    #[inline(always)]
    fn is_direct(&self, cdata: Value, mm: MM) -> bool {
        let f = self.metamethod_of_cdata(cdata, mm).as_func();
        self.sees_no_calls() && f.is_some_and(|f| builtin(mm).is_some_and(|b| b.id() == f.ffid()))
    }
    /// A metamethod of all cdata, from the node of the metatable that had it last.
    #[inline]
    fn metamethod_of_cdata(&self, cdata: Value, mm: MM) -> Value {
        let (Some(mt), Some(ffi)) = (self.metatable_of(cdata), &self.ffi) else { return Value::NIL };
        let Some(name) = self.realm.meta_names[mm as usize] else { return Value::NIL };
        let node = ffi.metamethods.get(mm as usize).and_then(|last| mt.nodes().get(last.get()));
        match node.filter(|n| n.key.get() == Value::str(name)) {
            Some(node) => node.val.get(),
            None => self.find_metamethod_of_cdata(mt, mm, name),
        }
    }
    #[cold]
    #[inline(never)]
    fn find_metamethod_of_cdata(&self, mt: Gc<Table>, mm: MM, name: Gc<Str>) -> Value {
        if let Some(ffi) = &self.ffi {
            let found = mt.nodes().iter().position(|n| n.key.get() == Value::str(name));
            ffi.metamethods[mm as usize].set(found.unwrap_or(usize::MAX));
        }
        self.metatable_method(mt, mm)
    }
    /// Loads `o[k]` into a slot.
    ///
    /// # Safety
    /// `to` is a slot of the running frame.
    #[inline(never)]
    pub(crate) unsafe fn direct_get(&mut self, o: Value, k: Value, to: *mut Value) -> Direct {
        let Some(c) = o.as_cdata() else { return Direct::No };
        let temporary = c.take_temporary();
        let Some((meaning, integer)) = self.known_meaning(c, k) else { return Direct::No };
        let v = match *meaning {
            Meaning::Field(ref field) => {
                let Some(load) = field.load.filter(|_| self.is_direct(o, MM::Index)) else { return Direct::No };
                let at = address(c, &field.place, integer);
                if temporary {
                    self.temporary_used(c);
                }
                // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
                unsafe {
                    match load {
                        FieldLoad::Value(Load::Scalar(s)) => Some(scalar_value(s, at)),
                        _ => self.load_temporary(load, at).ok(),
                    }
                }
            }
            Meaning::Method(id) => {
                if !self.is_direct(o, MM::Index) {
                    return Direct::No;
                }
                let index = self.ctype_method(id, MM::Index);
                if index.is_func() {
                    self.count_ffi_operation();
                    return Direct::Call(index);
                }
                index.as_table().map(|t| t.get(k)).filter(|v| !v.is_nil())
            }
        };
        // The metamethod raises the error, or has more to do.
        let Some(v) = v else { return Direct::No };
        self.count_ffi_operation();
        // SAFETY: by the contract.
        unsafe { *to = v };
        Direct::Done
    }
    /// A function or constant of a C library that was looked up before. None if the metamethod of the namespace must be called.
    #[inline(never)]
    pub(crate) fn direct_symbol(&self, o: Value, k: Value) -> Option<Value> {
        let (namespace, name, ffi) = (o.as_udata()?, k.as_str()?, self.ffi.as_ref()?);
        if namespace.meta.get() != Some(ffi.namespace_meta) || !self.sees_no_calls() {
            return None;
        }
        let f = self.metamethod(o, MM::Index).as_func()?;
        let v = namespace.env.get().get_str(name);
        let is_variable = || v.as_cdata().is_some_and(|c| ffi.types.get(c.ctype()).info.is_ct(Ct::Extern));
        (f.ffid() == Builtin::FfiClibIndex.id() && !v.is_nil() && !is_variable()).then_some(v)
    }
    /// Stores `o[k] = v`. False if the metamethod must be called.
    #[inline(never)]
    pub(crate) fn direct_set(&mut self, o: Value, k: Value, v: Value) -> bool {
        let Some(c) = o.as_cdata() else { return false };
        let temporary = c.take_temporary();
        let Some(n) = number(v) else { return false };
        let Some((at, field)) = self.known_place(c, k) else { return false };
        let Some(store) = field.store.filter(|_| self.is_direct(o, MM::NewIndex)) else { return false };
        self.count_ffi_operation();
        // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
        unsafe { store.write(at, n) };
        if temporary {
            self.temporary_used(c);
        }
        true
    }
    /// Puts the result of an operator on two values, one of them cdata, into a slot.
    ///
    /// # Safety
    /// `to` is a slot of the running frame.
    #[inline(never)]
    pub(crate) unsafe fn direct_operator(&mut self, mm: MM, a: Value, b: Value, to: *mut Value) -> Direct {
        let cdata = if a.is_cdata() { a } else { b };
        if !cdata.is_cdata() || !self.is_direct(cdata, mm) {
            return Direct::No;
        }
        self.count_ffi_operation();
        let is_arithmetic = !matches!(mm, MM::Eq | MM::Lt | MM::Le);
        if let (Some((x, m)), Some((y, n))) = (word(a), word(b)) {
            let signed = !m && !n;
            let v = if !is_arithmetic {
                Value::bool(arith::compare(mm, signed, x, y))
            } else {
                let id = if signed { CTypeId::INT64 } else { CTypeId::UINT64 };
                Value::cdata(self.heap.new_int64(id, arith::int64(mm, signed, x, y)))
            };
            // SAFETY: by the contract.
            unsafe { *to = v };
            return Direct::Done;
        }
        match self.cdata_operation(mm, a, b) {
            Ok(Some(v)) => {
                // SAFETY: by the contract.
                unsafe { *to = v };
                Direct::Done
            }
            // A name may be one of a constant, and a table has metamethods of its own.
            Ok(None) if is_arithmetic && !a.is_str() && !b.is_str() && (a.is_cdata() || self.metamethod(a, mm).is_nil()) => {
                match self.first_operator_method(mm, a, b) {
                    f if f.is_func() => Direct::Call(f),
                    _ => Direct::No,
                }
            }
            _ => Direct::No,
        }
    }
    /// Decides a comparison of two values, one of them cdata. None if the metamethod must be called.
    #[inline(never)]
    pub(crate) fn direct_comparison(&mut self, mm: MM, a: Value, b: Value) -> Option<bool> {
        let mut result = Value::NIL;
        // SAFETY: a local variable is as good as a slot.
        let direct = unsafe { self.direct_operator(mm, a, b, &raw mut result) };
        matches!(direct, Direct::Done).then(|| result.truthy())
    }
}
