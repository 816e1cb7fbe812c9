//! The table of bytecodes.
//!
//! A row is: name, mode of A, mode of B, mode of C or D, metamethod. The set, its order and the modes are LuaJIT's, so that its tools read
//! our bytecode: the sixteen comparisons and tests come first (each is followed by a JMP), and hot-counting instructions are followed by
//! their blacklisted and their compiled form. Those at the end are Perilune's own, and in no function's code: STITCH, see
//! [`crate::interp::stitch`], RESUME, WRAP and YIELD, the headers of the builtins that switch coroutines, and FASTFN, for the headers of those
//! in [`crate::interp::fast`].

/// Calls the given macro with all rows.
#[macro_export]
macro_rules! for_each_bytecode {
    ($consumer:ident) => {
        $consumer! {
            (ISLT, var, none, var, lt)
            (ISGE, var, none, var, lt)
            (ISLE, var, none, var, le)
            (ISGT, var, none, var, le)
            (ISEQV, var, none, var, eq)
            (ISNEV, var, none, var, eq)
            (ISEQS, var, none, str, eq)
            (ISNES, var, none, str, eq)
            (ISEQN, var, none, num, eq)
            (ISNEN, var, none, num, eq)
            (ISEQP, var, none, pri, eq)
            (ISNEP, var, none, pri, eq)
            (ISTC, dst, none, var, none)
            (ISFC, dst, none, var, none)
            (IST, none, none, var, none)
            (ISF, none, none, var, none)
            (ISTYPE, var, none, lit, none)
            (ISNUM, var, none, lit, none)
            (MOV, dst, none, var, none)
            (NOT, dst, none, var, none)
            (UNM, dst, none, var, unm)
            (LEN, dst, none, var, len)
            (ADDVN, dst, var, num, add)
            (SUBVN, dst, var, num, sub)
            (MULVN, dst, var, num, mul)
            (DIVVN, dst, var, num, div)
            (MODVN, dst, var, num, mod)
            (ADDNV, dst, var, num, add)
            (SUBNV, dst, var, num, sub)
            (MULNV, dst, var, num, mul)
            (DIVNV, dst, var, num, div)
            (MODNV, dst, var, num, mod)
            (ADDVV, dst, var, var, add)
            (SUBVV, dst, var, var, sub)
            (MULVV, dst, var, var, mul)
            (DIVVV, dst, var, var, div)
            (MODVV, dst, var, var, mod)
            (POW, dst, var, var, pow)
            (CAT, dst, rbase, rbase, concat)
            (KSTR, dst, none, str, none)
            (KCDATA, dst, none, cdata, none)
            (KSHORT, dst, none, lits, none)
            (KNUM, dst, none, num, none)
            (KPRI, dst, none, pri, none)
            (KNIL, base, none, base, none)
            (UGET, dst, none, uv, none)
            (USETV, uv, none, var, none)
            (USETS, uv, none, str, none)
            (USETN, uv, none, num, none)
            (USETP, uv, none, pri, none)
            (UCLO, rbase, none, jump, none)
            (FNEW, dst, none, func, gc)
            (TNEW, dst, none, lit, gc)
            (TDUP, dst, none, tab, gc)
            (GGET, dst, none, str, index)
            (GSET, var, none, str, newindex)
            (TGETV, dst, var, var, index)
            (TGETS, dst, var, str, index)
            (TGETB, dst, var, lit, index)
            (TGETR, dst, var, var, index)
            (TSETV, var, var, var, newindex)
            (TSETS, var, var, str, newindex)
            (TSETB, var, var, lit, newindex)
            (TSETM, base, none, num, newindex)
            (TSETR, var, var, var, newindex)
            (CALLM, base, lit, lit, call)
            (CALL, base, lit, lit, call)
            (CALLMT, base, none, lit, call)
            (CALLT, base, none, lit, call)
            (ITERC, base, lit, lit, call)
            (ITERN, base, lit, lit, call)
            (VARG, base, lit, lit, none)
            (ISNEXT, base, none, jump, none)
            (RETM, base, none, lit, none)
            (RET, rbase, none, lit, none)
            (RET0, rbase, none, lit, none)
            (RET1, rbase, none, lit, none)
            (FORI, base, none, jump, none)
            (JFORI, base, none, jump, none)
            (FORL, base, none, jump, none)
            (IFORL, base, none, jump, none)
            (JFORL, base, none, lit, none)
            (ITERL, base, none, jump, none)
            (IITERL, base, none, jump, none)
            (JITERL, base, none, lit, none)
            (LOOP, rbase, none, jump, none)
            (ILOOP, rbase, none, jump, none)
            (JLOOP, rbase, none, lit, none)
            (JMP, rbase, none, jump, none)
            (BNOT, dst, none, var, none)
            (BAND, dst, var, var, none)
            (BOR, dst, var, var, none)
            (BXOR, dst, var, var, none)
            (BSHL, dst, var, var, none)
            (BSHR, dst, var, var, none)
            (BSAR, dst, var, var, none)
            (FUNCF, rbase, none, none, none)
            (IFUNCF, rbase, none, none, none)
            (JFUNCF, rbase, none, lit, none)
            (FUNCV, rbase, none, none, none)
            (IFUNCV, rbase, none, none, none)
            (JFUNCV, rbase, none, lit, none)
            (FUNCC, rbase, none, none, none)
            (FUNCCW, rbase, none, none, none)
            (STITCH, lit, none, lit, none)
            (RESUME, rbase, none, none, none)
            (WRAP, rbase, none, none, none)
            (YIELD, rbase, none, none, none)
            (FASTFN, rbase, none, none, none)
        }
    };
}

macro_rules! operand {
    (none) => {
        0
    };
    (dst) => {
        1
    };
    (base) => {
        2
    };
    (var) => {
        3
    };
    (rbase) => {
        4
    };
    (uv) => {
        5
    };
    (lit) => {
        6
    };
    (lits) => {
        7
    };
    (pri) => {
        8
    };
    (num) => {
        9
    };
    (str) => {
        10
    };
    (tab) => {
        11
    };
    (func) => {
        12
    };
    (jump) => {
        13
    };
    (cdata) => {
        14
    };
}
macro_rules! metamethod {
    (index) => {
        0
    };
    (newindex) => {
        1
    };
    (gc) => {
        2
    };
    (eq) => {
        4
    };
    (len) => {
        5
    };
    (lt) => {
        6
    };
    (le) => {
        7
    };
    (concat) => {
        8
    };
    (call) => {
        9
    };
    (add) => {
        10
    };
    (sub) => {
        11
    };
    (mul) => {
        12
    };
    (div) => {
        13
    };
    (mod) => {
        14
    };
    (pow) => {
        15
    };
    (unm) => {
        16
    };
    (none) => {
        22
    };
}

macro_rules! define_ops {
    ($(($name:ident, $a:ident, $b:ident, $cd:ident, $mm:ident))*) => {
        /// A bytecode operation.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are LuaJIT's; the interpreter's handlers say what they do")]
        pub enum Op { $($name,)* }

        impl Op {
            /// All operations in order.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];
            /// Number of operations.
            pub const COUNT: usize = Op::ALL.len();
            /// Names in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];
            /// Mode words in order: A in bits 0-2, B in 3-6, C or D in 7-10, metamethod in 11-15.
            pub const MODES: &'static [u16] =
                &[$(operand!($a) | operand!($b) << 3 | operand!($cd) << 7 | metamethod!($mm) << 11,)*];
        }
    };
}
for_each_bytecode!(define_ops);

impl Op {
    /// The operation of an opcode byte.
    #[inline]
    pub const fn from_u8(b: u8) -> Option<Op> {
        if (b as usize) < Op::COUNT { Some(Op::ALL[b as usize]) } else { None }
    }
    /// The name.
    pub const fn name(self) -> &'static str {
        Op::NAMES[self as usize]
    }
    /// Does it have B and C operands (and not D)?
    pub const fn has_b(self) -> bool {
        Op::MODES[self as usize] >> 3 & 15 != 0
    }
    /// Does it go on at one of two instructions: a comparison, a test, or the end of a `for` loop?
    pub const fn is_branch(self) -> bool {
        use Op::{FORL, IFORL, IITERL, ITERL, ITERN, JFORL, JITERL};
        self as u8 <= Op::ISF as u8 || matches!(self, FORL | IFORL | JFORL | ITERN | ITERL | IITERL | JITERL)
    }
    /// Is it the header of a builtin?
    pub const fn is_native_header(self) -> bool {
        matches!(self, Op::FUNCC | Op::FUNCCW | Op::RESUME | Op::WRAP | Op::YIELD | Op::FASTFN)
    }
}

// ORDER: comparisons flip by bit 0; counting forms are followed by the blacklisted and the compiled form.
const _: () = assert!(Op::ISLT as u8 ^ 1 == Op::ISGE as u8 && Op::ISLE as u8 ^ 1 == Op::ISGT as u8);
const _: () = assert!(Op::ISEQV as u8 ^ 1 == Op::ISNEV as u8 && Op::ISEQP as u8 ^ 1 == Op::ISNEP as u8);
const _: () = assert!(Op::ISF as u8 == 15);
const _: () = assert!(Op::FORL as u8 + 1 == Op::IFORL as u8 && Op::IFORL as u8 + 1 == Op::JFORL as u8);
const _: () = assert!(Op::ITERL as u8 + 1 == Op::IITERL as u8 && Op::IITERL as u8 + 1 == Op::JITERL as u8);
const _: () = assert!(Op::LOOP as u8 + 1 == Op::ILOOP as u8 && Op::ILOOP as u8 + 1 == Op::JLOOP as u8);
const _: () = assert!(Op::FUNCF as u8 + 1 == Op::IFUNCF as u8 && Op::IFUNCF as u8 + 1 == Op::JFUNCF as u8);
