//! The bit library: operations on numbers normalised to signed 32-bit integers.

use crate::Vm;
use crate::error::LuaResult;
use crate::ffi::bits::Shift;
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

/// The operations on a cdata, which has 64 bits.
mod wide {
    use crate::Vm;
    use crate::ffi::bits::Wide;
    use crate::value::Value;

    pub fn tobit(_: &mut Vm, x: u64, _: Wide) -> Value {
        Value::int(x as i32)
    }
    pub fn bnot(vm: &mut Vm, x: u64, wide: Wide) -> Value {
        vm.wide_value(!x, wide)
    }
    pub fn bswap(vm: &mut Vm, x: u64, wide: Wide) -> Value {
        vm.wide_value(x.swap_bytes(), wide)
    }
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            if let Some((x, wide)) = vm.wide_arg()? {
                let v = wide::$name(vm, x, wide);
                return vm.ret1(v);
            }
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
    ($($(#[$doc:meta])* $name:ident $wide:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            if let Some((x, wide)) = vm.wide_arg()? {
                let n = vm.shift_arg(1)?;
                let v = vm.wide_value(Shift::$wide.apply(x, n), wide);
                return vm.ret1(v);
            }
            let (x, n) = (bits(vm, 0)?, vm.shift_arg(1)?);
            vm.ret1(Value::int(of::$name(x, n)))
        })*
    };
}

shifts! {
    /// `bit.lshift(x, n)`
    lshift Left;
    /// `bit.rshift(x, n)`
    rshift Right;
    /// `bit.arshift(x, n)`
    arshift Arithmetic;
    /// `bit.rol(x, n)`
    rol RotateLeft;
    /// `bit.ror(x, n)`
    ror RotateRight;
}

macro_rules! nary {
    ($($(#[$doc:meta])* $name:ident $wide:expr;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            fold(vm, of::$name, $wide)
        })*
    };
}

/// Applies an operation to any number of arguments.
fn fold(vm: &mut Vm, op: fn(i32, i32) -> i32, wide: fn(u64, u64) -> u64) -> LuaResult<u32> {
    if let Some(v) = vm.wide_fold(wide)? {
        return vm.ret1(v);
    }
    let mut x = bits(vm, 0)?;
    for i in 1..vm.nargs() {
        x = op(x, bits(vm, i)?);
    }
    vm.ret1(Value::int(x))
}

nary! {
    /// `bit.band(x, ...)`
    band |x, y| x & y;
    /// `bit.bor(x, ...)`
    bor |x, y| x | y;
    /// `bit.bxor(x, ...)`
    bxor |x, y| x ^ y;
}

/// `bit.tohex(x [, n])`: the lower `n` hexadecimal digits, in upper case if `n` is negative.
pub fn tohex(vm: &mut Vm) -> LuaResult<u32> {
    let (x, most) = match vm.wide_arg()? {
        Some((x, _)) => (x, 16),
        None => (u64::from(bits(vm, 0)? as u32), 8),
    };
    let n = if vm.nargs() > 1 { vm.shift_arg(1)? } else { most };
    let digits = n.unsigned_abs().min(254);
    let x = if digits < 16 { x & ((1 << (4 * digits)) - 1) } else { x };
    let spec = Spec { upper: n < 0, prec: Some(digits as u8), ..Spec::new(Conv::Hex) };
    let mut text = Vec::new();
    put_integer(&mut text, &spec, x);
    vm.ret_str(&text)
}
