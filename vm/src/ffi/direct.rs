//! Operators of cdata that the interpreter executes itself in their usual cases, without a frame for the metamethod.
#![allow(unsafe_code, reason = "the place that a result goes to is a slot of the running frame")]

use super::arith;
use super::convert::number;
use super::ctype::CTypeId;
use crate::Vm;
use crate::interp::native::is_plain;
use crate::meta::MM;
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
    /// Would the builtin be called for an operator on a cdata, with nobody to see the call: no hook, no recorder, and no fuel, which counts
    /// calls?
    fn is_direct(&self, cdata: Value, mm: MM) -> bool {
        let f = self.metamethod(cdata, mm).as_func();
        is_plain(self) && !self.counts_fuel() && f.is_some_and(|f| builtin(mm).is_some_and(|b| b.id() == f.ffid()))
    }
    /// Loads `o[k]` into a slot. False if the metamethod must be called.
    ///
    /// # Safety
    /// `to` is a slot of the running frame.
    #[inline(never)]
    pub(crate) unsafe fn direct_get(&mut self, o: Value, k: Value, to: *mut Value) -> bool {
        let Some(c) = o.as_cdata() else { return false };
        let Some((at, field)) = self.known_place(c, k) else { return false };
        let Some(load) = field.load.filter(|_| self.is_direct(o, MM::Index)) else { return false };
        self.count_ffi_operation();
        // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
        match unsafe { self.load_field(load, at) } {
            Ok(v) => {
                // SAFETY: by the contract.
                unsafe { *to = v };
                true
            }
            // The metamethod raises the error.
            Err(_) => false,
        }
    }
    /// Stores `o[k] = v`. False if the metamethod must be called.
    #[inline(never)]
    pub(crate) fn direct_set(&mut self, o: Value, k: Value, v: Value) -> bool {
        let (Some(c), Some(n)) = (o.as_cdata(), number(v)) else { return false };
        let Some((at, field)) = self.known_place(c, k) else { return false };
        let Some(store) = field.store.filter(|_| self.is_direct(o, MM::NewIndex)) else { return false };
        self.count_ffi_operation();
        // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
        unsafe { store.write(at, n) };
        true
    }
    /// Puts the result of an operator on two values, one of them cdata, into a slot. False if the metamethod must be called.
    ///
    /// # Safety
    /// `to` is a slot of the running frame.
    #[inline(never)]
    pub(crate) unsafe fn direct_operator(&mut self, mm: MM, a: Value, b: Value, to: *mut Value) -> bool {
        let cdata = if a.is_cdata() { a } else { b };
        if !cdata.is_cdata() || !self.is_direct(cdata, mm) {
            return false;
        }
        self.count_ffi_operation();
        if let (Some((x, m)), Some((y, n))) = (word(a), word(b)) {
            let signed = !m && !n;
            let v = if matches!(mm, MM::Eq | MM::Lt | MM::Le) {
                Value::bool(arith::compare(mm, signed, x, y))
            } else {
                let id = if signed { CTypeId::INT64 } else { CTypeId::UINT64 };
                Value::cdata(self.heap.new_int64(id, arith::int64(mm, signed, x, y)))
            };
            // SAFETY: by the contract.
            unsafe { *to = v };
            return true;
        }
        match self.cdata_operation(mm, a, b) {
            Ok(Some(v)) => {
                // SAFETY: by the contract.
                unsafe { *to = v };
                true
            }
            _ => false,
        }
    }
    /// Decides a comparison of two values, one of them cdata. None if the metamethod must be called.
    #[inline(never)]
    pub(crate) fn direct_comparison(&mut self, mm: MM, a: Value, b: Value) -> Option<bool> {
        let mut result = Value::NIL;
        // SAFETY: a local variable is as good as a slot.
        let done = unsafe { self.direct_operator(mm, a, b, &raw mut result) };
        done.then(|| result.truthy())
    }
}
