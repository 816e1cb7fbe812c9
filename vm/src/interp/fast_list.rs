//! The builtins that the interpreter executes itself in their usual cases (`vm/src/interp/fast.rs`): each with the function of that file that
//! does it, and what it is given.

use crate::bc::Op;

/// Calls the given macro with all rows: `Builtin: function(argument);`.
macro_rules! for_each_fast_function {
    ($consumer:ident) => {
        $consumer! {
            Assert: assert;
            Type: type_name;
            IpairsAux: ipairs_step;
            Ipairs: iterator(Value::int(0));
            Pairs: iterator(Value::NIL);
            Pcall: pcall;
            Xpcall: xpcall;
            Rawget: raw_get;
            Getmetatable: metatable;
            Tostring: text;
            Select: select;
            Tonumber: to_number;
            StringByte: byte;
            StringLen: length;
            StringSub: substring;
            MathAbs: abs;
            MathFloor: rounded(math::of::floor_to_int);
            MathCeil: rounded(math::of::ceil_to_int);
            MathSqrt: one_number(math::of::sqrt);
            MathSin: one_number_called(math::of::sin);
            MathCos: one_number_called(math::of::cos);
            MathExp: one_number_called(math::of::exp);
            MathLog: one_number_only(math::of::log);
            MathPow: two_numbers(math::of::pow);
            MathFmod: two_numbers(math::of::fmod);
            MathMin: extreme(math::of::is_less);
            MathMax: extreme(math::of::is_greater);
            BitTobit: one_word(bit::of::tobit);
            BitBnot: one_word(bit::of::bnot);
            BitBswap: one_word(bit::of::bswap);
            BitLshift: two_words(bit::of::lshift);
            BitRshift: two_words(bit::of::rshift);
            BitArshift: two_words(bit::of::arshift);
            BitRol: two_words(bit::of::rol);
            BitRor: two_words(bit::of::ror);
            BitBand: words(bit::of::band);
            BitBor: words(bit::of::bor);
            BitBxor: words(bit::of::bxor);
        }
    };
}
pub(super) use for_each_fast_function;

macro_rules! count {
    ($($builtin:ident: $kind:ident $(($f:expr))?;)*) => {
        /// Their number.
        pub const COUNT: usize = [$(stringify!($builtin)),*].len();
    };
}
for_each_fast_function!(count);
// An opcode is a byte.
const _: () = assert!(Op::COUNT + COUNT <= 256);
