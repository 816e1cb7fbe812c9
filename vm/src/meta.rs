//! Metamethods and the semantics of operators beyond the fast paths: one definition for the interpreter, the libraries and
//! compiled code.
#![allow(unsafe_code, reason = "a number that is less than 2^52 fits an i64")]

use crate::Vm;
use crate::bc::Op;
use crate::error::LuaResult;
use crate::object::{Gc, Str, Table};
use crate::value::Value;

macro_rules! define_mm {
    ($($name:ident $text:literal)*) => {
        /// A metamethod, by LuaJIT's numbering.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "named after the metamethods")]
        pub enum MM { $($name,)* }
        impl MM {
            /// All in order.
            pub const ALL: &'static [MM] = &[$(MM::$name,)*];
            /// Names in order.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];
        }
    };
}
define_mm! {
    Index "__index" NewIndex "__newindex" Gc "__gc" Mode "__mode" Eq "__eq" Len "__len" Lt "__lt" Le "__le" Concat "__concat"
    Call "__call" Add "__add" Sub "__sub" Mul "__mul" Div "__div" Mod "__mod" Pow "__pow" Unm "__unm" Metatable "__metatable"
    ToString "__tostring" New "__new" Pairs "__pairs" Ipairs "__ipairs"
}

impl MM {
    /// The metamethod of a comparison instruction.
    pub(crate) fn of_comparison(op: Op) -> MM {
        match op {
            Op::ISLT | Op::ISGE => MM::Lt,
            Op::ISLE | Op::ISGT => MM::Le,
            _ => MM::Eq,
        }
    }
}

/// Longest chain of `__index` or `__newindex`.
const MAX_CHAIN: usize = 100;

/// Lua's modulo: `a - floor(a / b) * b`.
#[inline(always)]
pub fn lua_mod(a: f64, b: f64) -> f64 {
    a - floor(a / b) * b
}
/// The largest integer not above `x`, without a function call for all numbers that fit 52 bits.
#[inline(always)]
pub fn floor(x: f64) -> f64 {
    if x.abs() < 2_251_799_813_685_248.0 {
        // No fraction is left after adding 2^52 + 2^51: the sum is rounded to the nearest integer.
        let near = (x + 6_755_399_441_055_744.0) - 6_755_399_441_055_744.0;
        return (near - f64::from(u8::from(near > x))).copysign(x);
    }
    x.floor()
}
/// Lua's power.
#[inline]
pub fn lua_pow(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}
/// Normalises a number to 32 bits, modulo 2^32: the low word after adding 2^52 + 2^51.
#[inline(always)]
pub fn tobit(n: f64) -> i32 {
    (n + 6_755_399_441_055_744.0).to_bits() as i32
}
/// The number that a string denotes.
pub fn str_to_number(s: Gc<Str>) -> Option<Value> {
    let text = s.bytes();
    if (1..=9).contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
        return Some(Value::int(text.iter().fold(0, |n, c| n * 10 + i32::from(c - b'0'))));
    }
    crate::syntax::number::scan_number(text).map(knum_value)
}
/// A number constant as a value.
pub fn knum_value(k: crate::bc::KNum) -> Value {
    match k {
        crate::bc::KNum::Int(i) => Value::int(i),
        crate::bc::KNum::Num(n) if n.is_nan() => Value::num(f64::NAN),
        crate::bc::KNum::Num(n) => Value::num(n),
    }
}
/// A number or a string that denotes one.
pub fn to_number(v: Value) -> Option<Value> {
    if v.is_number() { Some(v) } else { v.as_str().and_then(str_to_number) }
}

/// One arithmetic operation on numbers (`mm` from Add to Unm).
pub fn arith(mm: MM, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        let r = match mm {
            MM::Add => x.checked_add(y),
            MM::Sub => x.checked_sub(y),
            MM::Mul => x.checked_mul(y).filter(|r| *r != 0 || (x | y) >= 0),
            MM::Unm if x != 0 => x.checked_neg(),
            MM::Mod if y != 0 => {
                let m = x.wrapping_rem(y);
                Some(if m != 0 && (m ^ y) < 0 { m + y } else { m })
            }
            _ => None,
        };
        if let Some(r) = r {
            return Value::int(r);
        }
    }
    let (x, y) = (a.as_number().unwrap_or(0.0), b.as_number().unwrap_or(0.0));
    Value::num(match mm {
        MM::Add => x + y,
        MM::Sub => x - y,
        MM::Mul => x * y,
        MM::Div => x / y,
        MM::Mod => lua_mod(x, y),
        MM::Pow => lua_pow(x, y),
        _ => -x,
    })
}

/// The outcome of reading or writing a field.
pub enum Access {
    /// A value (reads), or finished (writes).
    Done(Value),
    /// Call this metamethod with the object.
    Call(Value, Value),
}

/// What an operator on a cdata comes to without the metamethod of all cdata.
pub(crate) enum Direct {
    /// The result is in its slot.
    Done,
    /// The metamethod would call this function, which the program has given to a type, with the same arguments.
    Call(Value),
    /// The metamethod must be called.
    No,
}

impl Table {
    /// Does the negative cache of a metatable say that a metamethod is absent?
    #[inline(always)]
    pub(crate) fn is_known_to_lack(&self, mm: MM) -> bool {
        let n = mm as usize;
        n < 8 && self.hdr.b0.get() & (1 << n) != 0
    }
}

impl Vm {
    /// The metatable of any value.
    #[inline]
    pub fn metatable_of(&self, v: Value) -> Option<Gc<Table>> {
        if let Some(t) = v.as_table() {
            t.meta.get()
        } else if let Some(u) = v.as_udata() {
            u.meta.get()
        } else {
            self.realm.base_meta[v.type_index()]
        }
    }
    /// A metamethod of a metatable, with the negative cache.
    pub fn metatable_method(&self, mt: Gc<Table>, mm: MM) -> Value {
        let n = mm as usize;
        if mt.is_known_to_lack(mm) {
            return Value::NIL;
        }
        let Some(name) = self.realm.meta_names[n] else { return Value::NIL };
        let v = mt.get_str(name);
        if v.is_nil() && n < 8 {
            mt.hdr.b0.set(mt.hdr.b0.get() | 1 << n);
        }
        v
    }
    /// A metamethod of a value; nil when absent.
    pub fn metamethod(&self, v: Value, mm: MM) -> Value {
        self.metatable_of(v).map_or(Value::NIL, |mt| self.metatable_method(mt, mm))
    }
    /// Reads `o[k]` up to a metamethod that must be called.
    pub fn access_get(&mut self, o: Value, k: Value) -> LuaResult<Access> {
        let mut o = o;
        for _ in 0..MAX_CHAIN {
            let mm = if let Some(t) = o.as_table() {
                let v = t.get(k);
                if !v.is_nil() {
                    return Ok(Access::Done(v));
                }
                match t.meta.get() {
                    None => return Ok(Access::Done(Value::NIL)),
                    Some(mt) => {
                        let mm = self.metatable_method(mt, MM::Index);
                        if mm.is_nil() {
                            return Ok(Access::Done(Value::NIL));
                        }
                        mm
                    }
                }
            } else {
                let mm = self.metamethod(o, MM::Index);
                if mm.is_nil() {
                    return Err(self.index_error(o, k));
                }
                mm
            };
            if mm.is_func() {
                return Ok(Access::Call(mm, o));
            }
            o = mm;
        }
        Err(self.operation_error("loop in gettable"))
    }
    /// Writes `o[k] = v` up to a metamethod that must be called.
    pub fn access_set(&mut self, o: Value, k: Value, v: Value) -> LuaResult<Access> {
        let mut o = o;
        for _ in 0..MAX_CHAIN {
            let mm = if let Some(t) = o.as_table() {
                let mm = match t.meta.get() {
                    Some(mt) if t.get(k).is_nil() => self.metatable_method(mt, MM::NewIndex),
                    _ => Value::NIL,
                };
                if mm.is_nil() {
                    self.check_writable(t)?;
                    self.try_table_set(t, k, v)?;
                    t.hdr.b0.set(0);
                    return Ok(Access::Done(Value::NIL));
                }
                mm
            } else {
                let mm = self.metamethod(o, MM::NewIndex);
                if mm.is_nil() {
                    return Err(self.index_error(o, k));
                }
                mm
            };
            if mm.is_func() {
                return Ok(Access::Call(mm, o));
            }
            o = mm;
        }
        Err(self.operation_error("loop in settable"))
    }
    /// `o[k]` with metamethods, for builtins.
    pub fn index(&mut self, o: Value, k: Value) -> LuaResult<Value> {
        match self.access_get(o, k)? {
            Access::Done(v) => Ok(v),
            Access::Call(f, o) => self.call1(f, &[o, k]),
        }
    }
    /// `o[k] = v` with metamethods, for builtins.
    pub fn set_index(&mut self, o: Value, k: Value, v: Value) -> LuaResult<()> {
        match self.access_set(o, k, v)? {
            Access::Done(_) => Ok(()),
            Access::Call(f, o) => self.call_value(f, &[o, k, v], 0).map(|_| ()),
        }
    }
    /// The `__eq` or `__lt`/`__le` that both operands share; nil when there is none. Where one is cdata, it decides alone.
    pub fn shared_method(&self, a: Value, b: Value, mm: MM) -> Value {
        if a.is_cdata() || b.is_cdata() {
            return self.metamethod(if a.is_cdata() { a } else { b }, mm);
        }
        let x = self.metamethod(a, mm);
        if x.is_nil() || self.metamethod(b, mm) != x { Value::NIL } else { x }
    }
    /// `a < b` with metamethods, for builtins.
    pub fn less_than(&mut self, a: Value, b: Value) -> LuaResult<bool> {
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            return Ok(x < y);
        }
        if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
            return Ok(crate::text::compare(x.bytes(), y.bytes()).is_lt());
        }
        let same = a.type_name() == b.type_name() || a.is_cdata() || b.is_cdata();
        let mm = if same { self.shared_method(a, b, MM::Lt) } else { Value::NIL };
        if mm.is_nil() {
            return Err(self.compare_error(a, b));
        }
        Ok(self.call1(mm, &[a, b])?.truthy())
    }
    /// The string of a number.
    pub fn number_str(&mut self, v: Value) -> Gc<Str> {
        let text = match v.as_int() {
            Some(i) => crate::text::NumText::int(i),
            None => crate::text::NumText::num(v.as_number().unwrap_or(0.0)),
        };
        self.new_str(&text)
    }
}
