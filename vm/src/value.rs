//! NaN-boxed values.
//!
//! A value is 8 bytes. Anything below [`TAG_INT`]`<< 47` is an IEEE double; above it the upper 17 bits are a tag and the lower 47 bits a
//! payload: an unsigned pointer, or an `i32`. Numbers are *dual*: an `i32` under its own tag, or a double. No operation may reveal which
//! form a number has. The tags are LuaJIT's (GC64), `~0` for nil to `~13` for integers, so that a number is any value whose tag is at most
//! [`TAG_INT`], and a falsy value compares above [`Value::FALSE`].
#![allow(
    unsafe_code,
    reason = "the tag of a value says of what kind the object at its payload is; values with an object tag are made from such objects only"
)]

use crate::lightud;
use crate::object::{Cdata, Func, Gc, GcHeader, Kind, Proto, Str, Table, Thread, Udata, UpVal};
pub use crate::tag::{
    FIRST_TAGGED, INT_BITS, PAYLOAD_BITS, PAYLOAD_MASK, TAG_CDATA, TAG_FALSE, TAG_FUNC, TAG_INT, TAG_LIGHTUD, TAG_NIL, TAG_PROTO,
    TAG_STR, TAG_TAB, TAG_THREAD, TAG_TRACE, TAG_TRUE, TAG_UDATA, TAG_UPVAL,
};

/// One Lua value.
#[derive(Copy, Clone, PartialEq, Eq)]
#[repr(transparent)]
pub struct Value(u64);

/// The integer part of a number, if it is in the range of integers; any integer otherwise. Unlike `as`, which is more than one instruction on
/// x86-64, it does not say which.
#[inline(always)]
pub(crate) fn truncated(n: f64) -> i32 {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_cvttsd_si32, _mm_set_sd};
        // SAFETY: all processors of this architecture have SSE2.
        unsafe { _mm_cvttsd_si32(_mm_set_sd(n)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        n as i32
    }
}

/// Does nothing, in a branch that the compiler may not replace by a selection, as it must be executed only there.
#[inline(always)]
fn keep_branch() {
    // SAFETY: there are no instructions.
    #[cfg(not(miri))]
    unsafe {
        core::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

impl Value {
    /// Upper half of the hidden control value of a loop over `next`, which holds a position. No light userdata has this upper half.
    pub const KEY_INDEX: u64 = 0xfffe_7fff;
    /// The control value of a loop over `next` at a position.
    #[inline(always)]
    pub const fn key_index(i: u32) -> Value {
        Value(Value::KEY_INDEX << 32 | i as u64)
    }
    /// nil: all bits set.
    pub const NIL: Value = Value(!0);
    /// false
    pub const FALSE: Value = Value(!(1 << PAYLOAD_BITS));
    /// true
    pub const TRUE: Value = Value(!(2 << PAYLOAD_BITS));

    /// An integer.
    #[inline(always)]
    pub const fn int(i: i32) -> Value {
        Value(INT_BITS | i as u32 as u64)
    }
    /// A double that stays a double. NaNs must be canonical, as arithmetic produces them.
    #[inline(always)]
    pub const fn num(n: f64) -> Value {
        Value(n.to_bits())
    }
    /// A number in its canonical form: an integer if an `i32` holds it exactly (and it is not -0).
    #[inline]
    pub fn number(n: f64) -> Value {
        Value::number_after(n, || {})
    }
    /// The same by a branch, which is predicted: what uses the value need not wait until `n` is known and converted.
    #[inline]
    pub fn number_by_branch(n: f64) -> Value {
        Value::number_after(n, keep_branch)
    }
    #[inline(always)]
    fn number_after(n: f64, if_int: impl FnOnce()) -> Value {
        let i = truncated(n);
        if f64::from(i).to_bits() == n.to_bits() {
            if_int();
            Value::int(i)
        } else if n.is_nan() {
            Value::num(f64::NAN)
        } else {
            Value::num(n)
        }
    }
    /// A number from a 64-bit integer.
    #[inline]
    pub fn integer(n: i64) -> Value {
        match i32::try_from(n) {
            Ok(i) => {
                keep_branch();
                Value::int(i)
            }
            Err(_) => Value::num(n as f64),
        }
    }
    /// A boolean.
    #[inline(always)]
    pub const fn bool(b: bool) -> Value {
        if b { Value::TRUE } else { Value::FALSE }
    }
    #[inline(always)]
    const fn tagged(tag: u64, payload: u64) -> Value {
        Value(tag << PAYLOAD_BITS | payload)
    }
    /// A light userdata: an address that is its own payload ([`lightud`]).
    #[inline(always)]
    pub const fn lightud(address: u64) -> Value {
        Value::tagged(TAG_LIGHTUD, address & PAYLOAD_MASK)
    }
    /// A light userdata: any address. `None`: too many addresses that have not the same upper bits are in use.
    #[inline]
    pub fn any_lightud(address: u64) -> Option<Value> {
        Some(Value::lightud(lightud::payload(address)?))
    }
    /// The address that this light userdata is, or that of this object.
    #[inline]
    pub fn address(self) -> u64 {
        if self.is_lightud() { lightud::address(self.payload()) } else { self.payload() }
    }
    /// A string.
    #[inline(always)]
    pub fn str(s: Gc<Str>) -> Value {
        Value::tagged(TAG_STR, s.addr())
    }
    /// A table.
    #[inline(always)]
    pub fn table(t: Gc<Table>) -> Value {
        Value::tagged(TAG_TAB, t.addr())
    }
    /// A function.
    #[inline(always)]
    pub fn func(f: Gc<Func>) -> Value {
        Value::tagged(TAG_FUNC, f.addr())
    }
    /// A prototype.
    #[inline(always)]
    pub fn proto(p: Gc<Proto>) -> Value {
        Value::tagged(TAG_PROTO, p.addr())
    }
    /// A coroutine.
    #[inline(always)]
    pub fn thread(t: Gc<Thread>) -> Value {
        Value::tagged(TAG_THREAD, t.addr())
    }
    /// A userdata.
    #[inline(always)]
    pub fn udata(u: Gc<Udata>) -> Value {
        Value::tagged(TAG_UDATA, u.addr())
    }

    /// A cdata.
    #[inline(always)]
    pub fn cdata(c: Gc<Cdata>) -> Value {
        Value::tagged(TAG_CDATA, c.addr())
    }

    /// A value from its bits.
    ///
    /// # Safety
    /// If the tag is that of an object, the payload is the address of an object of this kind. Words that are no values (links, return
    /// addresses) have no such tag.
    #[inline(always)]
    pub const unsafe fn from_bits(bits: u64) -> Value {
        Value(bits)
    }
    /// The bits of the value.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }
    /// An upvalue as a value for the collector; Lua code never sees it.
    #[inline(always)]
    pub fn upval(uv: Gc<UpVal>) -> Value {
        Value::tagged(TAG_UPVAL, uv.addr())
    }
    /// A frame link: a return address, or a distance with a kind in the low bits. Such words have no object's tag.
    #[inline(always)]
    pub(crate) const fn link(word: u64) -> Value {
        debug_assert!(word < FIRST_TAGGED);
        Value(word)
    }
    /// The constant `nil`, `false` or `true` with number 0, 1 or 2, as in KPRI.
    #[inline(always)]
    pub const fn primitive(n: u64) -> Value {
        debug_assert!(n < 3);
        Value(!(n << PAYLOAD_BITS))
    }
    /// The 17-bit tag; for doubles, the upper bits of the number.
    #[inline(always)]
    pub const fn tag(self) -> u64 {
        self.0 >> PAYLOAD_BITS
    }
    /// The payload as an address.
    #[inline(always)]
    pub const fn payload(self) -> u64 {
        self.0 & PAYLOAD_MASK
    }
    /// The address of the object, if this is one with this tag. One operation takes the tag away and leaves zeros in its place if it was this
    /// one.
    #[inline(always)]
    pub(crate) const fn address_tagged(self, tag: u64) -> Option<u64> {
        let address = self.0 ^ tag << PAYLOAD_BITS;
        if address >> PAYLOAD_BITS == 0 { Some(address) } else { None }
    }
    /// Is this nil?
    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.0 == !0
    }
    /// Is this neither nil nor false?
    #[inline(always)]
    pub const fn truthy(self) -> bool {
        self.0 < Value::FALSE.0
    }
    /// Is this a boolean?
    #[inline(always)]
    pub const fn is_bool(self) -> bool {
        self.0 == Value::FALSE.0 || self.0 == Value::TRUE.0
    }
    /// Is this an integer-tagged number?
    #[inline(always)]
    pub const fn is_int(self) -> bool {
        self.tag() == TAG_INT
    }
    /// Is this a double?
    #[inline(always)]
    pub const fn is_num(self) -> bool {
        self.0 < FIRST_TAGGED
    }
    /// Is this a number of either form?
    #[inline(always)]
    pub const fn is_number(self) -> bool {
        self.0 < FIRST_TAGGED + (1 << PAYLOAD_BITS)
    }
    /// Is this a string?
    #[inline(always)]
    pub const fn is_str(self) -> bool {
        self.tag() == TAG_STR
    }
    /// Is this a table?
    #[inline(always)]
    pub const fn is_table(self) -> bool {
        self.tag() == TAG_TAB
    }
    /// Is this a function?
    #[inline(always)]
    pub const fn is_func(self) -> bool {
        self.tag() == TAG_FUNC
    }
    /// Is this a userdata?
    #[inline(always)]
    pub const fn is_udata(self) -> bool {
        self.tag() == TAG_UDATA
    }
    /// Is this a light userdata?
    #[inline(always)]
    pub const fn is_lightud(self) -> bool {
        self.tag() == TAG_LIGHTUD
    }
    /// Is this a cdata?
    #[inline(always)]
    pub const fn is_cdata(self) -> bool {
        self.tag() == TAG_CDATA
    }
    /// Is this a collectable object (string, thread, proto, function, cdata, table, userdata)?
    #[inline(always)]
    pub const fn is_gc(self) -> bool {
        // TAG_UDATA (~12) up to TAG_STR (~4).
        self.tag().wrapping_sub(TAG_UDATA) <= TAG_STR - TAG_UDATA
    }
    /// The integer of an integer-tagged value.
    #[inline(always)]
    pub const fn as_int_unchecked(self) -> i32 {
        self.0 as i32
    }
    /// The double of a double value.
    #[inline(always)]
    pub const fn as_num_unchecked(self) -> f64 {
        f64::from_bits(self.0)
    }
    /// The integer, if integer-tagged.
    #[inline(always)]
    pub const fn as_int(self) -> Option<i32> {
        if self.is_int() { Some(self.0 as i32) } else { None }
    }
    /// The number as a double, in either form. No string coercion.
    #[inline(always)]
    pub fn as_number(self) -> Option<f64> {
        if self.is_num() {
            Some(self.as_num_unchecked())
        } else if self.is_int() {
            Some(f64::from(self.as_int_unchecked()))
        } else {
            None
        }
    }
    /// The number as an `i32` if it is integral and fits, in either form.
    #[inline(always)]
    pub fn as_index(self) -> Option<i32> {
        if self.is_int() {
            Some(self.0 as i32)
        } else if self.is_num() {
            let n = self.as_num_unchecked();
            let i = truncated(n);
            if f64::from(i) == n { Some(i) } else { None }
        } else {
            None
        }
    }
    /// The string, if this is one.
    #[inline(always)]
    pub fn as_str(self) -> Option<Gc<Str>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_STR).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The table, if this is one.
    #[inline(always)]
    pub fn as_table(self) -> Option<Gc<Table>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_TAB).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The function, if this is one.
    #[inline(always)]
    pub fn as_func(self) -> Option<Gc<Func>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_FUNC).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The prototype, if this is one.
    #[inline(always)]
    pub fn as_proto(self) -> Option<Gc<Proto>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_PROTO).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The coroutine, if this is one.
    #[inline(always)]
    pub fn as_thread(self) -> Option<Gc<Thread>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_THREAD).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The userdata, if this is one.
    #[inline(always)]
    pub fn as_udata(self) -> Option<Gc<Udata>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_UDATA).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The cdata, if this is one.
    #[inline(always)]
    pub fn as_cdata(self) -> Option<Gc<Cdata>> {
        // SAFETY: only objects of this type are given this tag.
        self.address_tagged(TAG_CDATA).map(|address| unsafe { Gc::from_addr(address) })
    }
    /// The object header, if this is a collectable object.
    #[inline(always)]
    pub fn as_gc(self) -> Option<Gc<GcHeader>> {
        // SAFETY: only objects of this type are given this tag.
        if self.is_gc() { Some(unsafe { Gc::from_addr(self.payload()) }) } else { None }
    }
    /// The index of the type in [`TYPE_NAMES`]; also the index of the base metatable.
    #[inline]
    pub fn type_index(self) -> usize {
        if self.is_number() { TYPE_NUMBER } else { (!self.tag() & 0x1f) as usize }
    }
    /// The name that `type()` returns.
    pub fn type_name(self) -> &'static str {
        TYPE_NAMES[self.type_index()]
    }
    /// The kind of object that a collectable value's tag says.
    pub fn gc_kind(self) -> Option<Kind> {
        self.as_gc().map(|g| g.kind())
    }
    /// Raw equality: numbers by value, everything else by identity.
    #[inline]
    pub fn raw_equals(self, other: Value) -> bool {
        if self.0 == other.0 {
            return !(self.is_num() && self.as_num_unchecked().is_nan());
        }
        match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }
}

/// Index of "number" in [`TYPE_NAMES`].
pub const TYPE_NUMBER: usize = 13;
/// Names of the types, by [`Value::type_index`].
pub const TYPE_NAMES: [&str; 14] = [
    "nil", "boolean", "boolean", "userdata", "string", "upval", "thread", "proto", "function", "trace", "cdata", "table",
    "userdata", "number",
];

impl core::fmt::Debug for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(i) = self.as_int() {
            write!(f, "{i}")
        } else if self.is_num() {
            write!(f, "{:?}", self.as_num_unchecked())
        } else if self.is_gc() {
            write!(f, "{}: 0x{:x}", self.type_name(), self.payload())
        } else if self.is_bool() {
            write!(f, "{}", *self == Value::TRUE)
        } else {
            write!(f, "{}", self.type_name())
        }
    }
}
