//! The math library.

use super::list::Builtin;
use super::prng::Prng;
use crate::Vm;
use crate::error::LuaResult;
use crate::meta::lua_pow;
use crate::text::ldexp::ldexp as scale;
use crate::value::Value;

/// Degrees in a radian.
pub const DEGREES: f64 = 180.0 / std::f64::consts::PI;
/// Radians in a degree.
pub const RADIANS: f64 = std::f64::consts::PI / 180.0;

/// The functions of numbers: for the builtins, and for the fast functions of the interpreter.
pub mod of {
    use super::{Value, lua_pow, scale};
    use crate::value::truncated;
    macro_rules! unary {
        ($($name:ident |$x:ident| $result:expr;)*) => {
            $(#[inline(always)]
            pub fn $name($x: f64) -> Value {
                real($result)
            })*
        };
    }
    macro_rules! binary {
        ($($name:ident |$x:ident, $y:ident| $result:expr;)*) => {
            $(#[inline(always)]
            pub fn $name($x: f64, $y: f64) -> Value {
                real($result)
            })*
        };
    }
    /// A result that is hardly ever integral: what uses it need not wait until it is known not to be.
    #[inline(always)]
    #[expect(clippy::double_comparisons, reason = "`!=` holds where `x` is NaN, these two do not")]
    fn real(x: f64) -> Value {
        let integral = f64::from(truncated(x));
        // One comparison on x86-64.
        if !(integral < x || integral > x) {
            core::hint::cold_path();
            return Value::number(x);
        }
        Value::num(x)
    }
    unary! {
        sqrt |x| x.sqrt();
        log |x| x.ln();
        log10 |x| x.log10();
        exp |x| x.exp();
        sin |x| x.sin();
        cos |x| x.cos();
        tan |x| x.tan();
        asin |x| x.asin();
        acos |x| x.acos();
        atan |x| x.atan();
        sinh |x| x.sinh();
        cosh |x| x.cosh();
        tanh |x| x.tanh();
    }
    binary! {
        atan2 |y, x| y.atan2(x);
        pow |x, y| lua_pow(x, y);
        fmod |x, y| x % y;
        ldexp |m, e| if e.is_finite() { scale(m, e as i32) } else { m * e.exp2() };
    }
    /// Rounds by a conversion to an integer, unless the result is -0 or may be no integer: processors without an instruction to round a
    /// double would call a function.
    #[inline(always)]
    fn round(x: f64, correction: fn(f64, f64) -> i32) -> Option<i32> {
        // Rounding down or up stays inside the integers.
        if x.abs() >= 2_147_483_647.0 || x.is_nan() {
            return None;
        }
        let toward_zero = truncated(x);
        let i = toward_zero + correction(f64::from(toward_zero), x);
        if i != 0 || x.is_sign_positive() { Some(i) } else { None }
    }
    #[inline(always)]
    pub fn floor_to_int(x: f64) -> Option<i32> {
        round(x, |i, x| -i32::from(i > x))
    }
    #[inline(always)]
    pub fn ceil_to_int(x: f64) -> Option<i32> {
        round(x, |i, x| i32::from(i < x))
    }
    #[inline(always)]
    pub fn floor(x: f64) -> Value {
        floor_to_int(x).map_or_else(|| Value::number(x.floor()), Value::int)
    }
    #[inline(always)]
    pub fn ceil(x: f64) -> Value {
        ceil_to_int(x).map_or_else(|| Value::number(x.ceil()), Value::int)
    }
    #[inline(always)]
    pub fn abs(x: Value) -> Value {
        match x.as_int() {
            Some(i) => i.checked_abs().map_or(Value::num(2_147_483_648.0), Value::int),
            None => Value::num(x.as_num_unchecked().abs()),
        }
    }
    /// A product, computed as compiled code computes it.
    pub fn log_to_base(x: f64, base: f64) -> Value {
        Value::number(x.log2() * (1.0 / base.log2()))
    }
    /// Mantissa and exponent.
    pub fn frexp(x: f64) -> (f64, i32) {
        let exp_bits = |x: f64| (x.to_bits() >> 52) as i32 & 0x7ff;
        if x == 0.0 || !x.is_finite() {
            return (x, 0);
        }
        // Subnormal numbers are scaled up first.
        let (n, bias) = if exp_bits(x) == 0 { (x * (1u64 << 54) as f64, 54) } else { (x, 0) };
        (f64::from_bits(n.to_bits() & !(0x7ff << 52) | 1022 << 52), exp_bits(n) - 1022 - bias)
    }
    /// What truncation cuts off, with the sign of the number.
    pub fn fraction(x: f64) -> f64 {
        if x.is_infinite() { 0.0f64.copysign(x) } else { (x - x.trunc()).copysign(x) }
    }
    #[inline(always)]
    pub fn is_less(a: f64, b: f64) -> bool {
        a < b
    }
    #[inline(always)]
    pub fn is_greater(a: f64, b: f64) -> bool {
        a > b
    }
}

/// The result of a function of one number, or two, as a program gets it; `None` for all others.
pub fn result_of(b: Builtin, x: f64, y: Option<f64>) -> Option<Value> {
    Some(match b {
        Builtin::MathLog if y.is_some() => of::log_to_base(x, y?),
        Builtin::MathSqrt => of::sqrt(x),
        Builtin::MathExp => of::exp(x),
        Builtin::MathLog => of::log(x),
        Builtin::MathLog10 => of::log10(x),
        Builtin::MathSin => of::sin(x),
        Builtin::MathCos => of::cos(x),
        Builtin::MathTan => of::tan(x),
        Builtin::MathAsin => of::asin(x),
        Builtin::MathAcos => of::acos(x),
        Builtin::MathAtan => of::atan(x),
        Builtin::MathSinh => of::sinh(x),
        Builtin::MathCosh => of::cosh(x),
        Builtin::MathTanh => of::tanh(x),
        Builtin::MathPow => of::pow(x, y?),
        Builtin::MathAtan2 => of::atan2(x, y?),
        Builtin::MathLdexp => of::ldexp(x, y?),
        Builtin::MathDeg => Value::number(x * DEGREES),
        Builtin::MathRad => Value::number(x * RADIANS),
        _ => return None,
    })
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            let x = vm.check_num(0)?;
            vm.ret1(of::$name(x))
        })*
    };
}

unary! {
    /// `math.sqrt(x)`
    sqrt;
    /// `math.log10(x)`
    log10;
    /// `math.exp(x)`
    exp;
    /// `math.sin(x)`
    sin;
    /// `math.cos(x)`
    cos;
    /// `math.tan(x)`
    tan;
    /// `math.asin(x)`
    asin;
    /// `math.acos(x)`
    acos;
    /// `math.atan(x)`
    atan;
    /// `math.sinh(x)`
    sinh;
    /// `math.cosh(x)`
    cosh;
    /// `math.tanh(x)`
    tanh;
    /// `math.floor(x)`
    floor;
    /// `math.ceil(x)`
    ceil;
}

/// A product. In LuaJIT the function is written in Lua, so that its error is one of arithmetic.
fn times(vm: &mut Vm, name: &str, factor: f64) -> LuaResult<u32> {
    match vm.check_num(0) {
        Ok(x) => vm.ret1(Value::number(x * factor)),
        Err(_) => {
            let text = format!("[builtin:{name}]:0: attempt to perform arithmetic on a {} value", vm.arg(0).type_name());
            Err(vm.plain_error(text.as_bytes()))
        }
    }
}

/// `math.deg(x)`
pub fn deg(vm: &mut Vm) -> LuaResult<u32> {
    times(vm, "deg", DEGREES)
}

/// `math.rad(x)`
pub fn rad(vm: &mut Vm) -> LuaResult<u32> {
    times(vm, "rad", RADIANS)
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            let x = vm.check_num(0)?;
            let y = vm.check_num(1)?;
            vm.ret1(of::$name(x, y))
        })*
    };
}

binary! {
    /// `math.atan2(y, x)`
    atan2;
    /// `math.pow(x, y)`
    pow;
    /// `math.fmod(x, y)`
    fmod;
    /// `math.ldexp(m, e)`
    ldexp;
}

/// `math.abs(x)`
pub fn abs(vm: &mut Vm) -> LuaResult<u32> {
    let x = vm.check_number(0)?;
    vm.ret1(of::abs(x))
}

/// `math.log(x [, base])`
pub fn log(vm: &mut Vm) -> LuaResult<u32> {
    let x = vm.check_num(0)?;
    if vm.nargs() < 2 {
        return vm.ret1(of::log(x));
    }
    let base = vm.check_num(1)?;
    vm.ret1(of::log_to_base(x, base))
}

/// `math.frexp(x)`: mantissa and exponent.
pub fn frexp(vm: &mut Vm) -> LuaResult<u32> {
    let x = vm.check_num(0)?;
    let (mantissa, exp) = of::frexp(x);
    vm.push(Value::number(mantissa));
    vm.push(Value::int(exp));
    Ok(2)
}

/// `math.modf(x)`: integral part and fraction.
pub fn modf(vm: &mut Vm) -> LuaResult<u32> {
    let x = vm.check_num(0)?;
    vm.push(Value::number(x.trunc()));
    vm.push(Value::number(of::fraction(x)));
    Ok(2)
}

/// The least or greatest argument. A NaN is replaced by the argument after it, and replaces the one before it.
#[inline(always)]
fn extreme(vm: &mut Vm, keep: fn(f64, f64) -> bool) -> LuaResult<u32> {
    let mut best = vm.check_number(0)?;
    for i in 1..vm.nargs() {
        let v = vm.check_number(i)?;
        if !keep(best.as_number().unwrap_or(f64::NAN), v.as_number().unwrap_or(f64::NAN)) {
            best = v;
        }
    }
    vm.ret1(best)
}

/// `math.min(x, ...)`
pub fn min(vm: &mut Vm) -> LuaResult<u32> {
    extreme(vm, of::is_less)
}

/// `math.max(x, ...)`
pub fn max(vm: &mut Vm) -> LuaResult<u32> {
    extreme(vm, of::is_greater)
}

/// The next number of the state's random generator, in [0, 1).
#[inline]
pub fn random_step(vm: &mut Vm) -> f64 {
    vm.realm.prng.next_f64()
}

/// `math.random([m [, n]])`
pub fn random(vm: &mut Vm) -> LuaResult<u32> {
    let d = random_step(vm);
    let result = match vm.nargs() {
        0 => return vm.ret1(Value::num(d)),
        1 => (d * vm.check_num(0)?).floor() + 1.0,
        _ => {
            let low = vm.check_num(0)?;
            let high = vm.check_num(1)?;
            (d * (high - low + 1.0)).floor() + low
        }
    };
    vm.ret1(Value::number(result))
}

/// `math.randomseed([seed])`
pub fn randomseed(vm: &mut Vm) -> LuaResult<u32> {
    let rng = if vm.nargs() > 0 { Prng::seeded(vm.check_num(0)?) } else { Prng::from_entropy() };
    vm.realm.prng = rng;
    Ok(0)
}
