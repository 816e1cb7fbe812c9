//! The table of IR instructions.
//!
//! A row is: name, mode of operand 1, mode of operand 2, kind, flags, then its meaning. Operand modes: `r` a reference, `l` a
//! literal, `c` a constant's payload, `n` none. Kinds: `N` pure, `L` load, `S` side effect, `A` allocation; `C` in the flags marks
//! a commutative instruction, `W` one that is not guarded even when its type has the guard bit ("weak").
//! Order matters: negating a comparison flips bit 0, swapping unordered flips bit 2.

/// Calls the given macro with all rows.
#[macro_export]
macro_rules! for_each_ir {
    ($consumer:ident) => {
        $consumer! {
            /// Guard: op1 < op2. All guards leave through the current snapshot when the asserted condition is false. For `num` operands LT
            /// GE LE GT are ordered (false with NaN), ULT UGE ULE UGT unordered (true with NaN); for `int` and
            /// `i64` the U forms compare unsigned; `u64` and `p64` always do.
            /// The instruction's type is the operands' type.
            (LT, r, r, N, guard)
            /// Guard: op1 >= op2.
            (GE, r, r, N, guard)
            /// Guard: op1 <= op2.
            (LE, r, r, N, guard)
            /// Guard: op1 > op2.
            (GT, r, r, N, guard)
            /// Guard: op1 < op2, unsigned or unordered.
            (ULT, r, r, N, guard)
            /// Guard: op1 >= op2, unsigned or unordered.
            (UGE, r, r, N, guard)
            /// Guard: op1 <= op2, unsigned or unordered.
            (ULE, r, r, N, guard)
            /// Guard: op1 > op2, unsigned or unordered.
            (UGT, r, r, N, guard)
            /// Guard: op1 == op2 (numbers by IEEE equality, pointers and strings by identity).
            (EQ, r, r, N, commutative_guard)
            /// Guard: op1 != op2 (true with NaN).
            (NE, r, r, N, commutative_guard)
            /// Guard: array bounds, op2 (int index) below op1 (int asize) unsigned. The type `u32` marks a check in front of a loop
            /// that holds for all its iterations; it is executed like any other.
            (ABC, r, r, N, guard)
            /// Guard: the link of the current frame (base[-1]) is op2 (KPTR); then leaves the frame downwards: BASE moves down by the
            /// distance that the link tells (for a return address 2 + A of the call instruction before it); op1 is the KGC proto of the
            /// next Lua function. Slot numbers of later instructions count from the new base. Without the guard bit the link has been
            /// checked before.
            (RETF, r, r, S, guard)
            /// Nothing.
            (NOP, n, n, N, none)
            /// Reference 0 of every trace: the base. For a side trace op1 is the parent trace and op2 its exit number.
            (BASE, l, l, N, none)
            /// Parent value (reserved).
            (PVAL, l, n, N, none)
            /// Guard: if a collection step is due, do it; leave if the atomic phase is due.
            (GCSTEP, n, n, S, guard)
            /// (Unused here; LuaJIT's tools expect it.)
            (HIOP, r, r, S, none)
            /// Start of the loop body; what precedes runs once. The loop jumps back here.
            (LOOP, n, n, S, none)
            /// Keeps op1 alive.
            (USE, r, n, S, none)
            /// Loop-carried value: op1 is the value on entry (before LOOP), op2 the one at the end of the body.
            (PHI, r, r, S, none)
            /// (Unused here.)
            (RENAME, r, l, S, none)
            /// Guard: compiled code need not be left ([`perilune_vm::Vm::is_exit_requested`]).
            (PROF, n, n, S, guard)

            /// Constant kinds; never in the instruction list.
            (KPRI, n, n, N, none)
            /// int constant
            (KINT, c, n, N, none)
            /// object constant
            (KGC, c, n, N, none)
            /// raw 64-bit word or address
            (KPTR, c, n, N, none)
            /// address of a field of the VM state
            (KKPTR, c, n, N, none)
            /// null pointer
            (KNULL, c, n, N, none)
            /// num constant
            (KNUM, c, n, N, none)
            /// i64 or u64 constant
            (KINT64, c, n, N, none)
            /// Key and node index for HREFK.
            (KSLOT, r, l, N, none)

            /// ~op1 (int, i64 or u64, as the others up to BROR)
            (BNOT, r, n, N, none)
            /// Bytes swapped.
            (BSWAP, r, n, N, none)
            /// op1 & op2
            (BAND, r, r, N, commutative)
            /// op1 | op2
            (BOR, r, r, N, commutative)
            /// op1 ^ op2
            (BXOR, r, r, N, commutative)
            /// op1 << (op2 & 31), for 64 bits op2 & 63; the count op2 is an int, as in the others down to BROR
            (BSHL, r, r, N, none)
            /// op1 >>> op2
            (BSHR, r, r, N, none)
            /// op1 >> op2, arithmetic
            (BSAR, r, r, N, none)
            /// Rotated left by op2.
            (BROL, r, r, N, none)
            /// Rotated right by op2.
            (BROR, r, r, N, none)

            /// op1 + op2 (int: wraps; i64, u64, p64: wraps, an int operand is sign-extended)
            (ADD, r, r, N, commutative)
            /// op1 - op2 (likewise)
            (SUB, r, r, N, none)
            /// op1 * op2 (likewise)
            (MUL, r, r, N, commutative)
            /// op1 / op2 (num; i64 and u64: see [`perilune_vm::ffi::int64`], as for the next two)
            (DIV, r, r, N, none)
            /// Lua's floored modulo: num, or int (int: the divisor is a constant, not 0, or positive, which a guard has checked); C's
            /// remainder for i64 and u64.
            (MOD, r, r, N, none)
            /// op1 ^ op2 (num, i64, u64)
            (POW, r, r, N, none)
            /// -op1 (i64, u64: wraps; int: wraps; a guard that it is neither 0 nor the minimum comes first)
            (NEG, r, n, N, none)
            /// |op1| (num)
            (ABS, r, n, N, none)
            /// ldexp(op1 num, op2 int)
            (LDEXP, r, r, N, none)
            /// Lua's math.min on two numbers of one type: op1 unless op2 < op1.
            (MIN, r, r, N, none)
            /// Lua's math.max on two numbers of one type: op1 unless op2 > op1.
            (MAX, r, r, N, none)
            /// Unary math function on num; op2 is an [`FpMath`] number.
            (FPMATH, r, l, N, none)
            /// Guard: int op1 + op2 does not overflow; its value. Without the guard bit it is known not to overflow. The same holds for the
            /// next two.
            (ADDOV, r, r, N, commutative_guard)
            /// Guard: int op1 - op2 does not overflow; its value.
            (SUBOV, r, r, N, guard)
            /// Guard: int op1 * op2 neither overflows nor is -0 (result 0 with a negative operand); its value.
            (MULOV, r, r, N, commutative_guard)

            /// Address of array slot: op1 (p64 array) + 8 * op2 (int index).
            (AREF, r, r, N, none)
            /// Guard: node `slot` at op1 (p64 node) has the key of KSLOT op2; the address of its value. Without the guard bit the
            /// key is known to be there.
            (HREFK, r, r, N, guard)
            /// Address of the value for key op2 in table op1's hash or array part, or of the VM's nil slot.
            (HREF, r, r, L, none)
            /// Address of the value for key op2, newly inserted into table op1 (which lacks it). With the guard bit: guard that no interrupt
            /// waits while the table grows.
            (NEWREF, r, r, S, none)
            /// Guard: upvalue op2>>8 of function op1 is open; address of its value (a stack slot). With
            /// [`JOINED`](super::uref::JOINED) in op2, upvalues of other indices may be the same variable.
            (UREFO, r, l, L, guard)
            /// Guard: upvalue op2>>8 of function op1 is closed; address of its value.
            (UREFC, r, l, L, guard)
            /// Address of field op2 of object op1.
            (FREF, r, l, N, none)
            /// (Unused here.)
            (TMPREF, r, l, S, none)
            /// Address of byte op2 (int, 0-based) of string op1.
            (STRREF, r, r, N, none)
            /// The running coroutine.
            (LREF, n, n, L, none)
            /// Address of stack slot op1, numbered as for SLOAD.
            (SREF, l, n, L, none)

            /// Load from an array slot address. With the guard bit the tag is checked. A `num` load accepts an integer and converts it.
            (ALOAD, r, n, L, none)
            /// Load from a hash slot address, with the same check and conversion.
            (HLOAD, r, n, L, none)
            /// Load from an upvalue address, with the same check and conversion.
            (ULOAD, r, n, L, none)
            /// Load field op2 of object op1. A null metatable is a `tab` reference equal to KNULL.
            (FLOAD, r, l, L, none)
            /// Load from a raw address; op2 has [`crate::ir::xload`] flags.
            (XLOAD, r, l, L, none)
            /// Load stack slot op1 (slot 0 is the function of the start frame, 1 its link, 2 its first local); op2 has
            /// [`crate::ir::sload`] flags. With the guard bit the tag is checked. A `num` load accepts an integer and converts it.
            (SLOAD, l, l, L, none)
            /// Load from any value address (helper results in the VM's scratch), like ALOAD; op2 is added to the address in
            /// units of values.
            (VLOAD, r, l, L, none)
            /// Length of table op1 (int); op2 is a hint or nil.
            (ALEN, r, r, L, none)

            /// Store op2 (boxed by its type) to an array slot address.
            (ASTORE, r, r, S, none)
            /// Store op2 to a hash slot address.
            (HSTORE, r, r, S, none)
            /// Store op2 to an upvalue address.
            (USTORE, r, r, S, none)
            /// Store op2 raw to a field address (FREF).
            (FSTORE, r, r, S, none)
            /// Store op2 raw to an address. The type is that of the memory: the low bits of an int are stored as a narrow one.
            (XSTORE, r, r, S, none)

            /// New string from address op1 and length op2 (int).
            (SNEW, r, r, N, none)
            /// New string from bytes outside of strings: address op1 and length op2 (int).
            (XSNEW, r, r, A, none)
            /// New table: op1 array slots, op2 hash bits.
            (TNEW, l, l, A, none)
            /// New table from template op1.
            (TDUP, r, n, A, none)
            /// New cdata of the ctype with number op1 (KINT) and op2 bytes (KINT). Its bytes are not known before they are stored.
            (CNEW, r, r, A, none)
            /// Cdata of the ctype with number op1 (KINT) that holds the scalar op2: an int, word or float of the size of the ctype. Such a box
            /// does not change, so that one may stand for an equal one.
            (CNEWI, r, r, N, none)

            /// Start of a string buffer: op1 is KNULL, op2 0.
            (BUFHDR, r, l, L, none)
            /// Appends string op2 to buffer op1 (a BUFHDR, BUFPUT, BUFNUM or BUFFMT); its value is the buffer.
            (BUFPUT, r, r, L, none)
            /// Appends number op2 (int or num) to buffer op1 as text, as TOSTR has it; its value is the buffer.
            (BUFNUM, r, r, L, none)
            /// Appends to buffer op1 what CARG op2 says: a format, the part of it that is text, a specification or 0, and a value (string or number) for
            /// the specification; its value is the buffer. See [`Trace::formatting`](crate::ir::Trace::formatting).
            (BUFFMT, r, r, L, none)
            /// Guard: there is memory for the string in buffer op1 (last BUFPUT, BUFNUM or BUFFMT) begun by op2 (BUFHDR); that string.
            (BUFSTR, r, r, A, guard)

            /// Barrier after a store of op2 into table op1. Where op2 is nil, the table is traversed again whatever was stored.
            (TBAR, r, r, S, none)
            /// Barrier after a store of op2 into the upvalue whose value is at address op1 (UREFC).
            (OBAR, r, r, S, none)
            /// All memory outside of the VM may have changed.
            (XBAR, n, n, S, none)

            /// Conversion; op2 packs destination, source and mode, see [`crate::ir::conv`].
            (CONV, r, l, N, none)
            /// num op1 to int modulo 2^32 as the bit library does; op2 is the bias constant or nil.
            (TOBIT, r, r, N, none)
            /// Number to string; op2: 0 int, 1 num, 2 character code.
            (TOSTR, r, l, N, none)
            /// Guard: string op1 is a number; its value as num.
            (STRTO, r, n, N, guard)

            /// Call of helper op2 with arguments op1 (reference, CARG chain, or nil for none): pure.
            (CALLN, r, l, N, none)
            /// Call that allocates. With the guard bit: guard that there is memory for what the helper makes.
            (CALLA, r, l, A, none)
            /// Call that reads memory.
            (CALLL, r, l, L, none)
            /// Call with side effects.
            (CALLS, r, l, S, none)
            /// Stores the slots of the current snapshot. (A guard that never fails, so that its snapshot is kept.)
            (SYNC, n, n, S, guard)
            /// Guard: the builtin whose frame is at slot op1, called with op2 arguments (see [`crate::ir::native`]), returns as usual.
            /// Stores the slots of the current snapshot, the frame among them; results are on the stack. The exit stores nothing.
            (NATIVE, l, l, S, guard)
            /// Call of the C function at address op2 with arguments op1 (reference, CARG chain, or nil for none), passed by their types. Where
            /// op2 is a CARG, its op1 is the address, and its op2 the number of the function's ctype (KINT): it takes variable arguments. It
            /// may change all memory outside of the VM. The type is that of the result.
            (CALLXS, r, r, S, none)
            /// Chain of call arguments: op1 earlier arguments, op2 the next.
            (CARG, r, r, N, none)

            /// Guard: there is room for op2 slots above the frame that coroutine op1, which is suspended, will resume.
            (COROOM, r, l, S, guard)
            /// Stores the slots of the current snapshot, and leaves the running coroutine as if by a builtin whose frame is at slot op1,
            /// with op2 arguments. A switch follows. (A guard that never fails, as SYNC.)
            (COSAVE, l, l, S, guard)
            /// Resumes coroutine op1. If it is suspended in a frame with the return address op2 (KPTR), it continues in the frame below
            /// that; if it has not started, it starts in its first frame, whose link is op2. Slot numbers of later instructions count from
            /// the base of the frame that continues, on another stack.
            (RESUME, r, r, S, none)
            /// Suspends the running coroutine, and continues in op1, its resumer, in the same way.
            (YIELD, r, r, S, none)
            /// Ends the running coroutine, and continues in op1, its resumer, in the same way.
            (COEND, r, r, S, none)
            /// Guard: there is fuel for the instructions from number op1 of the trace up to number op2. Takes it, see [`super::Trace::fuel_back`].
            (FUEL, l, l, S, guard)
        }
    };
}

/// The kind of an operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A reference.
    Ref,
    /// A literal.
    Lit,
    /// The payload of a constant.
    Cst,
    /// Unused.
    None,
}

/// The effect of an instruction on memory and order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Pure: may be folded, shared, dropped.
    Pure,
    /// Reads memory.
    Load,
    /// Writes memory or has another effect: kept, in order.
    Store,
    /// Allocates: may be dropped when unused, never shared.
    Alloc,
}

macro_rules! mode {
    (r) => {
        Mode::Ref
    };
    (l) => {
        Mode::Lit
    };
    (c) => {
        Mode::Cst
    };
    (n) => {
        Mode::None
    };
}
macro_rules! effect {
    (N) => {
        Effect::Pure
    };
    (L) => {
        Effect::Load
    };
    (S) => {
        Effect::Store
    };
    (A) => {
        Effect::Alloc
    };
}
macro_rules! flags {
    (none) => {
        (false, false)
    };
    (guard) => {
        (false, true)
    };
    (commutative) => {
        (true, false)
    };
    (commutative_guard) => {
        (true, true)
    };
}

macro_rules! define_ops {
    ($($(#[$doc:meta])* ($name:ident, $a:ident, $b:ident, $kind:ident, $flags:ident))*) => {
        /// An IR instruction's operation.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name,)* }

        impl Op {
            /// All operations in order.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];
            /// Names in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];
            /// Number of operations.
            pub const COUNT: usize = Op::ALL.len();
            const MODES: [(Mode, Mode, Effect, (bool, bool)); Op::COUNT] =
                [$((mode!($a), mode!($b), effect!($kind), flags!($flags)),)*];
        }
    };
}
for_each_ir!(define_ops);

impl Op {
    /// The name, as in LuaJIT's dumps.
    pub const fn name(self) -> &'static str {
        Op::NAMES[self as usize]
    }
    /// Mode of operand 1.
    pub const fn mode_a(self) -> Mode {
        Op::MODES[self as usize].0
    }
    /// Mode of operand 2.
    pub const fn mode_b(self) -> Mode {
        Op::MODES[self as usize].1
    }
    /// Effect class.
    pub const fn effect(self) -> Effect {
        Op::MODES[self as usize].2
    }
    /// May the operands be swapped?
    pub const fn is_commutative(self) -> bool {
        Op::MODES[self as usize].3.0
    }
    /// Is it always a guard, whether or not the guard bit is set?
    pub const fn is_guard(self) -> bool {
        Op::MODES[self as usize].3.1
    }
    /// Does it move the base that slots are counted from?
    pub const fn moves_base(self) -> bool {
        matches!(self, Op::RETF | Op::RESUME | Op::YIELD | Op::COEND)
    }
    /// May it allocate objects of the collector?
    pub const fn may_allocate(self) -> bool {
        matches!(
            self,
            Op::TNEW
                | Op::TDUP
                | Op::CNEW
                | Op::CNEWI
                | Op::XSNEW
                | Op::NEWREF
                | Op::SNEW
                | Op::TOSTR
                | Op::BUFPUT
                | Op::BUFNUM
                | Op::BUFFMT
                | Op::BUFSTR
                | Op::CALLA
                | Op::CALLS
                | Op::NATIVE
        )
    }
    /// Does it store the slots of the current snapshot?
    pub const fn stores_state(self) -> bool {
        matches!(self, Op::NATIVE | Op::SYNC | Op::COSAVE)
    }
    /// Is it a comparison (LT to NE)?
    pub const fn is_comparison(self) -> bool {
        (self as u8) <= Op::NE as u8
    }
    /// The mode byte that `jit.util.traceir` reports (bits 0-1 op1, 2-3 op2, 4 commutative, 5-6 kind, 7 not weak).
    pub const fn mode_bits(self) -> u8 {
        let (a, b, e, (c, g)) = Op::MODES[self as usize];
        (a as u8) | (b as u8) << 2 | (c as u8) << 4 | (e as u8 % 4).wrapping_mul(0x20) | (!g as u8) << 7
    }
}

// ORDER: negation flips bit 0; ordered and unordered differ in bit 2.
const _: () = assert!(Op::LT as u8 ^ 1 == Op::GE as u8 && Op::LE as u8 ^ 1 == Op::GT as u8);
const _: () = assert!(Op::EQ as u8 ^ 1 == Op::NE as u8 && Op::ULT as u8 ^ 1 == Op::UGE as u8);
const _: () = assert!(Op::LT as u8 ^ 4 == Op::ULT as u8 && Op::GT as u8 ^ 4 == Op::UGT as u8);

/// Unary math functions of [`Op::FPMATH`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FpMath {
    /// Floor.
    Floor,
    /// Ceiling.
    Ceil,
    /// Truncation.
    Trunc,
    /// Square root.
    Sqrt,
    /// Natural logarithm.
    Log,
    /// Base-2 logarithm.
    Log2,
    /// Exponential.
    Exp,
}
impl FpMath {
    /// Names in order.
    pub const NAMES: [&'static str; 7] = ["floor", "ceil", "trunc", "sqrt", "log", "log2", "exp"];
}
