//! All functions that compiled code may call, as one table.
//!
//! A helper is an `extern "C"` function whose first argument is the VM. It never unwinds, never collects and never raises an error: one
//! that can fail says so in its result or in `CompiledState::scratch`, and the trace guards that. A helper that makes a string longer than
//! its operands returns null if there is no memory for it; the interpreter then executes the instruction again, collects, and raises the
//! error.
#![allow(unsafe_code, reason = "the types of the functions are unsafe ones")]

mod bodies;

use crate::Vm;
use crate::layout::AbiType;
use crate::object::{Cdata, Func, Gc, Node, Proto, Str, Table, Thread};
use crate::value::Value;
use bodies::*;

/// How a helper interacts with the rest of the trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum HelperEffect {
    /// Pure (CALLN).
    Pure,
    /// Reads memory (CALLL).
    Load,
    /// Writes memory (CALLS).
    Store,
    /// Allocates (CALLA).
    Alloc,
}

/// Calls the given macro with all helpers: `(Name, function, effect, result, (arguments))`. Results and arguments are [`AbiType`]s;
/// the VM, which every helper takes first, is not listed.
#[macro_export]
macro_rules! for_each_helper {
    ($consumer:ident) => {
        $consumer! {
            /// Slot for a string key, or the nil slot.
            (TabGetStr, tab_get_str, Load, P64, (Tab, Str))
            /// Slot for an int key, or the nil slot.
            (TabGetInt, tab_get_int, Load, P64, (Tab, Int))
            /// Slot for any key, or the nil slot.
            (TabGet, tab_get, Load, P64, (Tab, U64))
            /// New slot for a key the table lacks (neither nil nor NaN).
            (TabNewKey, tab_new_key, Store, P64, (Tab, U64))
            /// The same; null, and no slot is made, where an interrupt waits while the table grows.
            (TabTryNewKey, tab_try_new_key, Store, P64, (Tab, U64))
            /// Length of a table.
            (TabLen, tab_len, Load, Int, (Tab))
            /// The same, if nothing but an append has happened since its length was taken.
            (TabLenNext, tab_len_next, Load, Int, (Tab))
            /// New table: array slots, hash bits.
            (TabNew, tab_new, Alloc, Tab, (Int, Int))
            /// New table from a template.
            (TabDup, tab_dup, Alloc, Tab, (Tab))
            /// Iterates: the table, the index to start at, and the address where key and value are stored; the next index, or -1.
            (TabNext, tab_next, Store, Int, (Tab, Int, P64))
            /// Clears a table.
            (TabClear, tab_clear, Store, Nil, (Tab))
            /// Inserts at a position, shifting up: table, position, value.
            (TabInsert, tab_insert, Store, Nil, (Tab, Int, U64))
            /// Removes at a position, shifting down; the removed value in `scratch[0]`.
            (TabRemove, tab_remove, Store, Nil, (Tab, Int))
            /// Stores a list: table, first index, address of the values, how many.
            (TabSetList, tab_set_list, Store, Nil, (Tab, Int, P64, Int))
            /// Barrier of a black table: the table, the stored value or nil.
            (BarrierTable, barrier_table, Store, Nil, (Tab, U64))
            /// Forward barrier of a closed upvalue: address of its value, the stored value.
            (BarrierUpval, barrier_upval, Store, Nil, (P64, U64))
            /// Calls the builtin whose frame is at an address, with a number of arguments; non-zero when the trace must leave.
            (NativeCall, native_call, Store, Int, (P64, Int))
            /// Collection step; non-zero when the trace must leave.
            (GcStep, gc_step, Store, Int, ())
            /// New string: address, length.
            (StrNew, str_new, Alloc, Str, (P64, Int))
            /// String of an int.
            (StrFromInt, str_from_int, Alloc, Str, (Int))
            /// String of a num.
            (StrFromNum, str_from_num, Alloc, Str, (Num))
            /// String of one byte.
            (StrFromChar, str_from_char, Alloc, Str, (Int))
            /// String of up to 16 bytes: four in each int, how many.
            (StrFromChars, str_from_chars, Alloc, Str, (Int, Int, Int, Int, Int))
            /// Number of a string: non-zero if it is one, the num (as bits) in `scratch[0]`.
            (StrToNum, str_to_num, Store, Int, (Str))
            /// Three-way comparison of strings.
            (StrCmp, str_cmp, Pure, Int, (Str, Str))
            /// Concatenation of two strings.
            (StrConcat, str_concat, Alloc, NewStr, (Str, Str))
            /// Empties the string buffer.
            (BufReset, buf_reset, Store, Nil, ())
            /// Appends to the string buffer.
            (BufPut, buf_put, Store, Nil, (Str))
            /// Appends an int to the string buffer, as text.
            (BufPutInt, buf_put_int, Store, Nil, (Int))
            /// Appends a num to the string buffer, as text.
            (BufPutNum, buf_put_num, Store, Nil, (Num))
            /// Appends text of a format, and a string by a specification, to the string buffer: see `put_part`.
            (BufFormatStr, buf_format_str, Store, Nil, (Str, Int, Int, Str))
            /// The same with an int.
            (BufFormatInt, buf_format_int, Store, Nil, (Str, Int, Int, Int))
            /// The same with a num.
            (BufFormatNum, buf_format_num, Store, Nil, (Str, Int, Int, Num))
            /// The string in the buffer.
            (BufStr, buf_str, Alloc, NewStr, ())
            /// Appends a string to a buffer object, once there is room for as many bytes as the last operand says. 0 if making it is left to the
            /// interpreter, or if it is no buffer object: then nothing has changed.
            (BufferPut, buffer_put, Store, Int, (U64, Str, Int))
            /// Appends an integer in decimal, in the same way.
            (BufferPutInt, buffer_put_int, Store, Int, (U64, Int, Int))
            /// Appends a number in decimal, in the same way.
            (BufferPutNum, buffer_put_num, Store, Int, (U64, Num, Int))
            /// Appends a part of a string, which [`pack_part`](crate::stdlib::strformat::pack_part) has packed, in the same way.
            (BufferPutPart, buffer_put_part, Store, Int, (U64, Str, Int, Int))
            /// Appends the bytes of another buffer object, in the same way.
            (BufferPutBuffer, buffer_put_buffer, Store, Int, (U64, U64, Int))
            /// Appends bytes at an address to a buffer object. 0 if making room is left to the interpreter, as where the bytes are its own and would
            /// move: then nothing has changed.
            (BufferPutBytes, buffer_put_bytes, Store, Int, (U64, P64, Int))
            /// Address of the first byte in a buffer object.
            (BufferStart, buffer_start, Store, P64, (U64))
            /// Makes room for so many bytes after the bytes of a buffer object: its address, null if that is left to the interpreter.
            (BufferReserve, buffer_reserve, Store, P64, (U64, Int))
            /// How many bytes may be written there; none if the buffer reads from a string.
            (BufferSpareLen, buffer_spare_len, Store, Int, (U64))
            /// Takes so many bytes that were written there. 0 if there are not so many.
            (BufferCommit, buffer_commit, Store, Int, (U64, Int))
            /// Is it a buffer object? 0 if not.
            (IsBuffer, is_buffer, Pure, Int, (U64))
            /// Number of bytes in a buffer object.
            (BufferLen, buffer_len, Store, Int, (U64))
            /// The first bytes of a buffer object, at most so many, which stay in it.
            (BufferText, buffer_text, Store, NewStr, (U64, Int))
            /// Takes out the first bytes of a buffer object, at most so many.
            (BufferSkip, buffer_skip, Store, Nil, (U64, Int))
            /// Empties a buffer object.
            (BufferReset, buffer_reset, Store, Nil, (U64))
            /// Lets a buffer object read from a string.
            (BufferSet, buffer_set, Store, Nil, (U64, Str))
            /// Repetition: string, count (>= 0).
            (StrRep, str_rep, Alloc, NewStr, (Str, Int))
            /// Upper case.
            (StrUpper, str_upper, Alloc, NewStr, (Str))
            /// Lower case.
            (StrLower, str_lower, Alloc, NewStr, (Str))
            /// Reversed.
            (StrReverse, str_reverse, Alloc, NewStr, (Str))
            /// Plain search: string, needle, start offset (0-based, in range); offset of the match or -1.
            (StrFind, str_find, Pure, Int, (Str, Str, Int))
            /// x ^ y
            (Pow, pow, Pure, Num, (Num, Num))
            /// Lua's floored modulo.
            (FMod, lua_mod, Pure, Num, (Num, Num))
            /// C's fmod.
            (CFmod, c_fmod, Pure, Num, (Num, Num))
            /// Natural logarithm.
            (Log, log, Pure, Num, (Num))
            /// Base-2 logarithm.
            (Log2, log2, Pure, Num, (Num))
            /// Base-10 logarithm.
            (Log10, log10, Pure, Num, (Num))
            /// Exponential.
            (Exp, exp, Pure, Num, (Num))
            /// Sine.
            (Sin, sin, Pure, Num, (Num))
            /// Cosine.
            (Cos, cos, Pure, Num, (Num))
            /// Tangent.
            (Tan, tan, Pure, Num, (Num))
            /// Arc sine.
            (Asin, asin, Pure, Num, (Num))
            /// Arc cosine.
            (Acos, acos, Pure, Num, (Num))
            /// Arc tangent.
            (Atan, atan, Pure, Num, (Num))
            /// Arc tangent of a quotient.
            (Atan2, atan2, Pure, Num, (Num, Num))
            /// Hyperbolic sine.
            (Sinh, sinh, Pure, Num, (Num))
            /// Hyperbolic cosine.
            (Cosh, cosh, Pure, Num, (Num))
            /// Hyperbolic tangent.
            (Tanh, tanh, Pure, Num, (Num))
            /// x * 2^n
            (Ldexp, ldexp, Pure, Num, (Num, Int))
            /// The mantissa of a number, at least 0.5 and less than 1.
            (FrexpMantissa, frexp_mantissa, Pure, Num, (Num))
            /// The exponent for that mantissa.
            (FrexpExponent, frexp_exponent, Pure, Int, (Num))
            /// What truncation cuts off, with the sign of the number.
            (ModfFraction, modf_fraction, Pure, Num, (Num))
            /// Next number of the random generator, in [0, 1).
            (Random, random, Store, Num, ())
            /// a / b on int64_t, see [`crate::ffi::int64`] for this and the next five.
            (I64Div, i64_div, Pure, I64, (I64, I64))
            /// a % b on int64_t.
            (I64Rem, i64_rem, Pure, I64, (I64, I64))
            /// a ^ b on int64_t.
            (I64Pow, i64_pow, Pure, I64, (I64, I64))
            /// a / b on uint64_t.
            (U64Div, u64_div, Pure, I64, (I64, I64))
            /// a % b on uint64_t.
            (U64Rem, u64_rem, Pure, I64, (I64, I64))
            /// a ^ b on uint64_t.
            (U64Pow, u64_pow, Pure, I64, (I64, I64))
            /// bit.tobit
            (ToBit, tobit, Pure, Int, (Num))
            /// New cdata of a type, with its number and size, directly after the header (`Placement::Small`).
            (CdataNew, cdata_new, Alloc, Cdata, (Int, Int))
            /// New cdata of a type that is a scalar: its number, its bits.
            (CdataBox, cdata_box, Alloc, Cdata, (Int, I64))
            /// New cdata of any type, which is zero: its number, its size. Null if there is no memory for it.
            (CdataMake, cdata_make, Alloc, NewCdata, (Int, Int))
            /// Length of a string of C.
            (CStrLen, c_str_len, Load, Int, (P64))
            /// Copies bytes, which may overlap: to, from, how many.
            (MemCopy, mem_copy, Store, Nil, (P64, P64, Int))
            /// Fills bytes: where, with what, how many.
            (MemFill, mem_fill, Store, Nil, (P64, Int, Int))
            /// Repeats the first bytes of memory up to its end: where, how many, size of the memory.
            (MemRepeat, mem_repeat, Store, Nil, (P64, Int, Int))
            /// Gives a cdata a finalizer, or takes it away with nil.
            (CdataFinalizer, cdata_finalizer, Store, Nil, (Cdata, U64))
            /// `errno`.
            (Errno, c_errno, Store, Int, ())
            /// Sets `errno`.
            (SetErrno, c_set_errno, Store, Nil, (Int))
            /// New closure: its prototype, the function that makes it, the base of that function's frame.
            (FuncNew, func_new, Alloc, Func, (Proto, Func, P64))
            /// Closes the upvalues of stack slots at or above an address.
            (CloseUpvals, close_upvals, Store, Nil, (P64))
            /// Makes room for a number of slots above the base of a suspended coroutine; zero if that fails.
            (StackRoom, stack_room, Store, Int, (Thread, Int))
        }
    };
}

macro_rules! define_helpers {
    ($($(#[$doc:meta])* ($name:ident, $func:ident, $effect:ident, $ret:ident, ($($arg:ident),*)))*) => {
        /// A helper of compiled code.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Helper { $($(#[$doc])* $name,)* }

        impl Helper {
            /// All helpers in order.
            pub const ALL: &'static [Helper] = &[$(Helper::$name,)*];
            /// Function names in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($func),)*];
            /// Effect class.
            pub const fn effect(self) -> HelperEffect {
                match self { $(Helper::$name => HelperEffect::$effect,)* }
            }
            /// May it change the size of the heap?
            pub const fn allocates(self) -> bool {
                matches!(self.effect(), HelperEffect::Alloc)
                    || matches!(self, Helper::TabNewKey | Helper::TabTryNewKey | Helper::TabInsert | Helper::TabRemove | Helper::TabSetList | Helper::NativeCall | Helper::StackRoom)
                    || matches!(self, Helper::BufferPut | Helper::BufferPutInt | Helper::BufferPutNum | Helper::BufferPutPart | Helper::BufferPutBuffer)
                    || matches!(self, Helper::BufferPutBytes | Helper::BufferReserve | Helper::BufferText | Helper::BufferSet)
            }
            /// Is its result 0 if it has done nothing? A guard of that leads back to before the call.
            pub const fn says_if_done(self) -> bool {
                matches!(self, Helper::BufferPut | Helper::BufferPutInt | Helper::BufferPutNum | Helper::BufferPutPart | Helper::BufferPutBuffer)
                    || matches!(self, Helper::BufferPutBytes | Helper::BufferCommit | Helper::TabNext)
            }
            /// Does it return null if there is no memory for its result? The trace guards that it does not.
            pub const fn may_fail(self) -> bool {
                matches!(self.ret(), AbiType::NewStr | AbiType::NewCdata)
            }
            /// Does it make a string of its arguments, and nothing else? Equal arguments give the same string, since strings are interned.
            pub const fn makes_string_of_values(self) -> bool {
                let (args, mut i) = (self.args(), 0);
                while i < args.len() && matches!(args[i], AbiType::Int | AbiType::Num | AbiType::Str) {
                    i += 1;
                }
                // Without arguments, it makes it of what is in a buffer.
                let is_of_values = i == args.len() && i != 0;
                is_of_values && matches!(self.effect(), HelperEffect::Alloc) && matches!(self.ret(), AbiType::Str | AbiType::NewStr)
            }
            /// Type of the result.
            pub const fn ret(self) -> AbiType {
                match self { $(Helper::$name => AbiType::$ret,)* }
            }
            /// Types of the arguments after the VM.
            pub const fn args(self) -> &'static [AbiType] {
                match self { $(Helper::$name => &[$(AbiType::$arg),*],)* }
            }
            /// Address of the code.
            pub fn address(self) -> usize {
                match self { $(Helper::$name => {
                    // The type of the function is checked against the row.
                    let f: helper_fn!($ret, $($arg),*) = $func;
                    f as usize
                })* }
            }
        }
    };
}
/// The Rust type of an [`AbiType`].
macro_rules! abi_type {
    (Int) => { i32 };
    (Num) => { f64 };
    (Tab) => { Gc<Table> };
    (Str) => { Gc<Str> };
    (NewStr) => { Option<Gc<Str>> };
    (Func) => { Gc<Func> };
    (Thread) => { Gc<Thread> };
    (Proto) => { Gc<Proto> };
    (P64) => { *mut Value };
    (U64) => { Value };
    (I64) => { i64 };
    (Cdata) => { Gc<Cdata> };
    (NewCdata) => { Option<Gc<Cdata>> };
    (Nil) => { () };
}
macro_rules! helper_fn {
    ($ret:ident, $($arg:ident),*) => { unsafe extern "C" fn(*mut Vm, $(abi_type!($arg)),*) -> abi_type!($ret) };
}
for_each_helper!(define_helpers);

const _: () = assert!(size_of::<Node>() == 24);
