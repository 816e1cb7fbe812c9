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

/// The operations on words: for the builtins, and for the fast functions of the interpreter.
pub mod of {
    macro_rules! unary {
        ($($name:ident |$x:ident| $result:expr;)*) => {
            $(#[inline(always)]
            pub fn $name($x: i32) -> i32 {
                $result
            })*
        };
    }
    macro_rules! binary {
        ($($name:ident |$x:ident, $y:ident| $result:expr;)*) => {
            $(#[inline(always)]
            pub fn $name($x: i32, $y: i32) -> i32 {
                $result
            })*
        };
    }
    unary! {
        tobit |x| x;
        bnot |x| !x;
        bswap |x| x.swap_bytes();
    }
    // Of the number of bits to shift by, the lower five bits count.
    binary! {
        lshift |x, n| x.wrapping_shl(n as u32);
        rshift |x, n| (x as u32).wrapping_shr(n as u32) as i32;
        arshift |x, n| x.wrapping_shr(n as u32);
        rol |x, n| x.rotate_left(n as u32 & 31);
        ror |x, n| x.rotate_right(n as u32 & 31);
        band |x, y| x & y;
        bor |x, y| x | y;
        bxor |x, y| x ^ y;
    }
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            let x = bits(vm, 0)?;
            vm.ret1(Value::int(of::$name(x)))
        })*
    };
}

unary! {
    /// `bit.tobit(x)`
    tobit;
    /// `bit.bnot(x)`
    bnot;
    /// `bit.bswap(x)`
    bswap;
}

macro_rules! shifts {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            let (x, n) = (bits(vm, 0)?, bits(vm, 1)?);
            vm.ret1(Value::int(of::$name(x, n)))
        })*
    };
}

shifts! {
    /// `bit.lshift(x, n)`
    lshift;
    /// `bit.rshift(x, n)`
    rshift;
    /// `bit.arshift(x, n)`
    arshift;
    /// `bit.rol(x, n)`
    rol;
    /// `bit.ror(x, n)`
    ror;
}

macro_rules! nary {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            fold(vm, of::$name)
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
    band;
    /// `bit.bor(x, ...)`
    bor;
    /// `bit.bxor(x, ...)`
    bxor;
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
