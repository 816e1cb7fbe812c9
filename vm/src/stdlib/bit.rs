//! The bit library: operations on numbers normalised to signed 32-bit integers.

use crate::Vm;
use crate::error::LuaResult;
use crate::meta::tobit as normalize;
use crate::text::format::put_integer;
use crate::text::spec::{Conv, Spec};
use crate::value::Value;

/// An argument, normalised.
#[inline(always)]
fn bits(vm: &mut Vm, i: usize) -> LuaResult<i32> {
    let v = vm.check_number(i)?;
    Ok(if v.is_int() { v.as_int_unchecked() } else { normalize(v.as_num_unchecked()) })
}

/// The arguments, if they are two integers, as in most calls.
#[inline(always)]
fn two_ints(vm: &Vm) -> Option<(i32, i32)> {
    if vm.nargs() != 2 {
        return None;
    }
    let (a, b) = (vm.arg(0), vm.arg(1));
    (a.is_int() && b.is_int()).then(|| (a.as_int_unchecked(), b.as_int_unchecked()))
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident |$x:ident| $result:expr;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            let $x = bits(vm, 0)?;
            vm.ret1(Value::int($result))
        })*
    };
}

unary! {
    /// `bit.tobit(x)`
    tobit |x| x;
    /// `bit.bnot(x)`
    bnot |x| !x;
    /// `bit.bswap(x)`
    bswap |x| x.swap_bytes();
}

macro_rules! shifts {
    ($($(#[$doc:meta])* $name:ident |$x:ident, $n:ident| $result:expr;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            let ($x, n) = match two_ints(vm) {
                Some(both) => both,
                None => (bits(vm, 0)?, bits(vm, 1)?),
            };
            let $n = n as u32 & 31;
            vm.ret1(Value::int($result))
        })*
    };
}

shifts! {
    /// `bit.lshift(x, n)`
    lshift |x, n| x << n;
    /// `bit.rshift(x, n)`
    rshift |x, n| (x as u32 >> n) as i32;
    /// `bit.arshift(x, n)`
    arshift |x, n| x >> n;
    /// `bit.rol(x, n)`
    rol |x, n| x.rotate_left(n);
    /// `bit.ror(x, n)`
    ror |x, n| x.rotate_right(n);
}

macro_rules! nary {
    ($($(#[$doc:meta])* $name:ident $op:tt;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            match two_ints(vm) {
                Some((x, y)) => vm.ret1(Value::int(x $op y)),
                None => fold(vm, |x, y| x $op y),
            }
        })*
    };
}

/// Applies an operation to any number of arguments.
fn fold(vm: &mut Vm, op: fn(i32, i32) -> i32) -> LuaResult<u32> {
    let mut x = bits(vm, 0)?;
    for i in 1..vm.nargs() {
        x = op(x, bits(vm, i)?);
    }
    vm.ret1(Value::int(x))
}

nary! {
    /// `bit.band(x, ...)`
    band &;
    /// `bit.bor(x, ...)`
    bor |;
    /// `bit.bxor(x, ...)`
    bxor ^;
}

/// `bit.tohex(x [, n])`: the lower `n` hexadecimal digits, in upper case if `n` is negative.
pub fn tohex(vm: &mut Vm) -> LuaResult<u32> {
    let x = bits(vm, 0)? as u32;
    let n = if vm.nargs() > 1 { bits(vm, 1)? } else { 8 };
    let digits = n.unsigned_abs().min(254);
    let x = if digits < 8 { x & ((1 << (4 * digits)) - 1) } else { x };
    let spec = Spec { upper: n < 0, prec: Some(digits as u8), ..Spec::new(Conv::Hex) };
    let mut text = Vec::new();
    put_integer(&mut text, &spec, u64::from(x));
    vm.ret_str(&text)
}
