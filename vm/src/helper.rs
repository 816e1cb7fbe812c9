//! All functions that compiled code may call: one table, and the bodies of those that belong nowhere else.
//!
//! A helper is an `extern "C"` function whose first argument is the VM. It never unwinds, never collects and never raises an error: one
//! that can fail says so in its result or in `CompiledState::scratch`, and the trace guards that. A helper that makes a string longer than
//! its operands returns null if there is no memory for it; the interpreter then executes the instruction again, collects, and raises the
//! error.
#![allow(unsafe_code, reason = "compiled code calls helpers with the running VM, live objects, and addresses inside them")]

use crate::Vm;
use crate::ffi::ctype::CTypeId;
use crate::ffi::int64;
use crate::layout::AbiType;
use crate::object::{Cdata, Func, Gc, Node, Placement, Proto, Str, Table, Thread};
use crate::text::append;
use crate::text::case;
use crate::value::Value;

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
            /// Length of a table.
            (TabLen, tab_len, Load, Int, (Tab))
            /// The same, if nothing but an append has happened since its length was taken.
            (TabLenNext, tab_len_next, Load, Int, (Tab))
            /// New table: array slots, hash bits.
            (TabNew, tab_new, Alloc, Tab, (Int, Int))
            /// New table from a template.
            (TabDup, tab_dup, Alloc, Tab, (Tab))
            /// Iterates: the table and the index to start at; key in `scratch[0]`, value in `scratch[1]`; the next index, or -1.
            (TabNext, tab_next, Store, Int, (Tab, Int))
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
            /// The string in the buffer.
            (BufStr, buf_str, Alloc, NewStr, ())
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
            /// New cdata of a type, with its number and size, directly after the header ([`Placement::Small`]).
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
                    || matches!(self, Helper::TabNewKey | Helper::TabInsert | Helper::TabRemove | Helper::TabSetList | Helper::NativeCall | Helper::StackRoom)
            }
            /// Does it return null if there is no memory for its result? The trace guards that it does not.
            pub const fn may_fail(self) -> bool {
                matches!(self.ret(), AbiType::NewStr | AbiType::NewCdata)
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

/// Reborrows the VM for the duration of a helper.
///
/// # Safety
/// `vm` is the running VM, and compiled code holds no Rust reference to it while it calls a helper.
#[inline(always)]
unsafe fn state<'a>(vm: *mut Vm) -> &'a mut Vm {
    // SAFETY: the contract of this function.
    unsafe { &mut *vm }
}

macro_rules! helpers {
    ($($(#[$doc:meta])* fn $name:ident($vm:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)? $body:block)*) => {
        $($(#[$doc])*
        unsafe extern "C" fn $name(vm: *mut Vm $(, $arg: $ty)*) $(-> $ret)? {
            // SAFETY: helpers are only called by compiled code, with the running VM (contract of `state`).
            #[allow(unused_variables, reason = "not every helper needs the VM")]
            let $vm = unsafe { state(vm) };
            $body
        })*
    };
}

/// The string with the letters from `first` on in the other case; a longer one is made by a function.
#[inline(always)]
fn with_case(vm: &mut Vm, s: Gc<Str>, first: u8, make: impl FnOnce(&mut Vec<u8>)) -> Option<Gc<Str>> {
    if s.len() <= case::SHORT && vm.has_room_for_str(s.len()) {
        return Some(vm.new_str(&case::change(s.bytes(), first)[..s.len()]));
    }
    vm.new_long_str(s.len(), make)
}

/// Not among those below, which have a reference to the VM: a function in C uses the VM meanwhile.
unsafe extern "C" fn native_call(vm: *mut Vm, frame: *mut Value, nargs: i32) -> i32 {
    // SAFETY: NATIVE has stored the frame there: the builtin, the link to a call instruction, the arguments.
    i32::from(unsafe { !crate::interp::native::call(vm, frame, nargs as usize) })
}

helpers! {
    fn tab_get_str(vm, t: Gc<Table>, k: Gc<Str>) -> *mut Value {
        t.find_str(k).unwrap_or(&raw mut vm.compiled.nil_slot)
    }
    fn tab_get_int(vm, t: Gc<Table>, k: i32) -> *mut Value {
        t.find_int(k).unwrap_or(&raw mut vm.compiled.nil_slot)
    }
    fn tab_get(vm, t: Gc<Table>, k: Value) -> *mut Value {
        t.find(k).unwrap_or(&raw mut vm.compiled.nil_slot)
    }
    fn tab_new_key(vm, t: Gc<Table>, k: Value) -> *mut Value {
        vm.table_new_key(t, k)
    }
    fn tab_len(vm, t: Gc<Table>) -> i32 {
        t.len() as i32
    }
    fn tab_len_next(vm, t: Gc<Table>) -> i32 {
        t.len_after_append() as i32
    }
    fn tab_new(vm, asize: i32, hbits: i32) -> Gc<Table> {
        vm.new_table(asize as u32, hbits as u32)
    }
    fn tab_dup(vm, t: Gc<Table>) -> Gc<Table> {
        vm.dup_table(t)
    }
    fn tab_next(vm, t: Gc<Table>, index: i32) -> i32 {
        match t.next_index(index as u32) {
            Some((i, k, v)) => {
                vm.compiled.scratch[0] = k.bits();
                vm.compiled.scratch[1] = v.bits();
                i as i32
            }
            None => -1,
        }
    }
    fn tab_clear(vm, t: Gc<Table>) {
        t.clear();
    }
    fn tab_insert(vm, t: Gc<Table>, pos: i32, v: Value) {
        let mut i = t.len() as i32 + 1;
        while i > pos {
            let moved = t.get_int(i - 1);
            vm.table_set_int(t, i, moved);
            i -= 1;
        }
        vm.table_set_int(t, pos, v);
    }
    fn tab_remove(vm, t: Gc<Table>, pos: i32) {
        let n = t.len() as i32;
        vm.compiled.scratch[0] = t.get_int(pos).bits();
        for i in pos..n {
            let moved = t.get_int(i + 1);
            vm.table_set_int(t, i, moved);
        }
        vm.table_set_int(t, n, Value::NIL);
    }
    fn tab_set_list(vm, t: Gc<Table>, first: i32, values: *mut Value, n: i32) {
        // SAFETY: TSETM stores an open list, which is on the stack.
        unsafe { vm.table_set_list(t, first, values, n) };
    }
    fn barrier_table(vm, t: Gc<Table>, v: Value) {
        if v.is_nil() {
            vm.barrier_back(t);
        } else {
            vm.barrier_store(t, Value::NIL, v);
        }
    }
    fn barrier_upval(vm, slot: *mut Value, v: Value) {
        // SAFETY: OBAR follows a store to the value of a closed upvalue.
        unsafe { vm.barrier_upval_slot(slot, v) };
    }
    fn stack_room(vm, co: Gc<Thread>, n: i32) -> i32 {
        i32::from(vm.make_room(co, n as usize))
    }
    fn gc_step(vm) -> i32 {
        i32::from(vm.gc_step_on_trace())
    }
    fn str_new(vm, p: *mut Value, len: i32) -> Gc<Str> {
        // SAFETY: SNEW's operands are an address inside a live string and a length that stays inside it. Allocation never
        // collects, so the source stays valid.
        vm.new_str(unsafe { core::slice::from_raw_parts(p.cast::<u8>(), len as usize) })
    }
    fn str_from_int(vm, i: i32) -> Gc<Str> {
        vm.number_str(Value::int(i))
    }
    fn str_from_num(vm, n: f64) -> Gc<Str> {
        // A NaN that C code has made may have the bits of another value.
        vm.number_str(Value::num(if n.is_nan() { f64::NAN } else { n }))
    }
    fn str_from_char(vm, c: i32) -> Gc<Str> {
        vm.new_str(&[c as u8])
    }
    fn str_to_num(vm, s: Gc<Str>) -> i32 {
        match crate::meta::str_to_number(s).and_then(Value::as_number) {
            Some(n) => {
                vm.compiled.scratch[0] = n.to_bits();
                1
            }
            None => 0,
        }
    }
    fn str_cmp(vm, a: Gc<Str>, b: Gc<Str>) -> i32 {
        crate::text::compare(a.bytes(), b.bytes()) as i32
    }
    fn str_concat(vm, a: Gc<Str>, b: Gc<Str>) -> Option<Gc<Str>> {
        vm.new_long_str(a.len() + b.len(), |buf| {
            append(buf, a.bytes());
            append(buf, b.bytes());
        })
    }
    fn buf_reset(vm) {
        vm.strings.buffer.clear();
        vm.strings.buffer_cut = false;
    }
    fn buf_put(vm, s: Gc<Str>) {
        if vm.has_room_in_buffer(s.len()) {
            append(&mut vm.strings.buffer, s.bytes());
        }
    }
    fn buf_put_int(vm, i: i32) {
        if vm.has_room_in_buffer(crate::text::number::LONGEST) {
            crate::text::put_int(&mut vm.strings.buffer, i);
        }
    }
    fn buf_put_num(vm, n: f64) {
        if vm.has_room_in_buffer(crate::text::number::LONGEST) {
            crate::text::number::put_num(&mut vm.strings.buffer, n);
        }
    }
    fn buf_str(vm) -> Option<Gc<Str>> {
        if vm.strings.buffer_cut || !vm.has_room_for_str(vm.strings.buffer.len()) {
            return None;
        }
        let buf = core::mem::take(&mut vm.strings.buffer);
        let s = vm.new_str(&buf);
        vm.keep_buffer(buf);
        Some(s)
    }
    fn str_rep(vm, s: Gc<Str>, n: i32) -> Option<Gc<Str>> {
        let n = n.max(0) as usize;
        vm.new_long_str(s.len().saturating_mul(n), |buf| (0..n).for_each(|_| buf.extend_from_slice(s.bytes())))
    }
    fn str_upper(vm, s: Gc<Str>) -> Option<Gc<Str>> {
        with_case(vm, s, b'a', |buf| buf.extend(s.bytes().iter().map(u8::to_ascii_uppercase)))
    }
    fn str_lower(vm, s: Gc<Str>) -> Option<Gc<Str>> {
        with_case(vm, s, b'A', |buf| buf.extend(s.bytes().iter().map(u8::to_ascii_lowercase)))
    }
    fn str_reverse(vm, s: Gc<Str>) -> Option<Gc<Str>> {
        vm.new_long_str(s.len(), |buf| buf.extend(s.bytes().iter().rev()))
    }
    fn str_find(vm, s: Gc<Str>, needle: Gc<Str>, from: i32) -> i32 {
        crate::text::find_plain(&s.bytes()[from as usize..], needle.bytes()).map_or(-1, |i| i as i32 + from)
    }
    fn pow(vm, a: f64, b: f64) -> f64 {
        crate::meta::lua_pow(a, b)
    }
    fn lua_mod(vm, a: f64, b: f64) -> f64 {
        crate::meta::lua_mod(a, b)
    }
    fn c_fmod(vm, a: f64, b: f64) -> f64 {
        a % b
    }
    fn log(vm, a: f64) -> f64 {
        a.ln()
    }
    fn log2(vm, a: f64) -> f64 {
        a.log2()
    }
    fn log10(vm, a: f64) -> f64 {
        a.log10()
    }
    fn exp(vm, a: f64) -> f64 {
        a.exp()
    }
    fn sin(vm, a: f64) -> f64 {
        a.sin()
    }
    fn cos(vm, a: f64) -> f64 {
        a.cos()
    }
    fn tan(vm, a: f64) -> f64 {
        a.tan()
    }
    fn asin(vm, a: f64) -> f64 {
        a.asin()
    }
    fn acos(vm, a: f64) -> f64 {
        a.acos()
    }
    fn atan(vm, a: f64) -> f64 {
        a.atan()
    }
    fn atan2(vm, a: f64, b: f64) -> f64 {
        a.atan2(b)
    }
    fn sinh(vm, a: f64) -> f64 {
        a.sinh()
    }
    fn cosh(vm, a: f64) -> f64 {
        a.cosh()
    }
    fn tanh(vm, a: f64) -> f64 {
        a.tanh()
    }
    fn ldexp(vm, a: f64, e: i32) -> f64 {
        crate::text::ldexp::ldexp(a, e)
    }
    fn random(vm) -> f64 {
        crate::stdlib::math_random_step(vm)
    }
    fn i64_div(vm, a: i64, b: i64) -> i64 {
        int64::div(a, b)
    }
    fn i64_rem(vm, a: i64, b: i64) -> i64 {
        int64::rem(a, b)
    }
    fn i64_pow(vm, a: i64, b: i64) -> i64 {
        int64::pow(a, b)
    }
    fn u64_div(vm, a: i64, b: i64) -> i64 {
        int64::unsigned_div(a as u64, b as u64) as i64
    }
    fn u64_rem(vm, a: i64, b: i64) -> i64 {
        int64::unsigned_rem(a as u64, b as u64) as i64
    }
    fn u64_pow(vm, a: i64, b: i64) -> i64 {
        int64::unsigned_pow(a as u64, b as u64) as i64
    }
    fn tobit(vm, a: f64) -> i32 {
        crate::meta::tobit(a)
    }
    fn cdata_new(vm, id: i32, size: i32) -> Gc<Cdata> {
        vm.heap.new_cdata(CTypeId(id as u32), size as u32, Placement::Small)
    }
    fn cdata_box(vm, id: i32, bits: i64) -> Gc<Cdata> {
        vm.heap.new_int64(CTypeId(id as u32), bits as u64)
    }
    fn cdata_make(vm, id: i32, size: i32) -> Option<Gc<Cdata>> {
        vm.make_cdata(CTypeId(id as u32), size as u32)
    }
    fn c_str_len(vm, at: *mut Value) -> i32 {
        // SAFETY: the program says that a string is there, which ends with a NUL.
        unsafe { libc::strlen(at.cast()) as i32 }
    }
    fn mem_copy(vm, to: *mut Value, from: *mut Value, len: i32) {
        // SAFETY: the program says that so many bytes are at both addresses.
        unsafe { core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len as u32 as usize) }
    }
    fn mem_fill(vm, to: *mut Value, byte: i32, len: i32) {
        // SAFETY: the program says that there is room for so many bytes.
        unsafe { core::ptr::write_bytes(to.cast::<u8>(), byte as u8, len as u32 as usize) }
    }
    fn mem_repeat(vm, at: *mut Value, step: i32, size: i32) {
        // SAFETY: a new array has so many bytes, of which the first element is stored.
        unsafe { crate::ffi::init::fill_up(at.cast(), step as u32, step as u32, size as u32) }
    }
    fn cdata_finalizer(vm, c: Gc<Cdata>, f: Value) {
        vm.set_finalizer(c, f);
    }
    fn c_errno(vm) -> i32 {
        crate::errno::get()
    }
    fn c_set_errno(vm, number: i32) {
        crate::errno::set(number);
    }
    fn func_new(vm, proto: Gc<Proto>, parent: Gc<Func>, base: *mut Value) -> Gc<Func> {
        // SAFETY: FNEW is recorded in the frame of the parent at `base`.
        unsafe { vm.new_closure(proto, parent, base) }
    }
    fn close_upvals(vm, level: *mut Value) {
        vm.close_upvals(level);
    }
}

const _: () = assert!(size_of::<Node>() == 24);
