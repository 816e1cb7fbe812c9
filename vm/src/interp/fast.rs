//! Fast functions: the headers of builtins that the interpreter executes itself in their usual cases.
//!
//! A handler here takes its arguments from the frame and returns its result to the calling Lua function, without the registers being saved
//! in the VM. It collects nothing, calls no Lua (but for `pcall` and `xpcall`: `vm/src/interp/protected.rs`), and raises no error: all other
//! cases are left to the builtin, by the handler of FUNCC.
//!
//! Each such builtin has an opcode of its own, after those of the table of bytecodes, in its header only: so the call dispatches to its
//! handler at once.
//!
//! While a handler here runs, `r.pc` is not the position of the header, but the link of the frame, which after a call in a Lua function is
//! the position to go on at: so `pc` stays in its register over the call, and the next instruction need not wait until the link has been
//! stored and loaded again.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`; as many arguments as the header says are at the base")]

use super::arith::{are_numbers, bits};
use super::call::FUNCC;
use super::fast_base::{ipairs_step, iterator, metatable, raw_get, text};
use super::fast_list::{COUNT, for_each_fast_function};
use super::frame::{self, func_of, kind, link_of};
use super::protected::{pcall, xpcall};
use super::registers::Handler2;
use super::returns::{return_special, return_to_caller};
use super::{Driver, R, op, slot};
use crate::bc::{Ins, Op};
use crate::object::{Gc, Str};
use crate::stdlib::{Builtin, bit, math, string};
use crate::value::{TAG_STR, Value};

macro_rules! fast_functions {
    ($($builtin:ident: $kind:ident $(($f:expr))?;)*) => {
        op! {
            $($builtin<D>(r) { $kind::<D>(r $(, $f)?) })*
        }

        /// The builtins with a handler here.
        const ALL: &[Builtin] = &[$(Builtin::$builtin,)*];

        /// Their handlers.
        pub(super) const fn handlers<D: Driver>() -> [Handler2; COUNT] {
            [$(Handler2($builtin::<D>),)*]
        }
    };
}

for_each_fast_function!(fast_functions);

/// The headers in the order of [`ALL`]. Outside of the VM for the reason given at the other headers.
static HEADERS: [[Ins; 2]; COUNT] = {
    let mut headers = [[Ins(0); 2]; COUNT];
    let mut i = 0;
    while i < COUNT {
        headers[i] = [Ins((Op::COUNT + i) as u32); 2];
        i += 1;
    }
    headers
};

/// The opcode in the header of the step of `ipairs`.
pub(super) const IPAIRS_STEP: u32 = {
    let mut i = 0;
    while ALL[i] as usize != Builtin::IpairsAux as usize {
        i += 1;
    }
    (Op::COUNT + i) as u32
};

/// The name of an opcode: of a bytecode, or of a builtin that has a handler here.
pub(super) fn name(opcode: usize) -> &'static str {
    match opcode.checked_sub(Op::COUNT) {
        Some(i) => Builtin::NAMES[ALL[i].id() as usize],
        None => Op::NAMES[opcode],
    }
}

/// The header of a builtin that has a handler here.
pub(crate) fn header(b: Builtin) -> Option<&'static [Ins; 2]> {
    ALL.iter().position(|x| *x == b).map(|i| &HEADERS[i])
}

/// Is it the header of a builtin that has a handler here?
#[inline(always)]
pub(super) const fn is_fast(header: Ins) -> bool {
    (header.0 & 0xff) as usize >= Op::COUNT
}

op! {
    /// The header of any builtin here, where the dispatch table is not asked.
    FASTFN<D>(r) {
        let opcode = (r.i().0 & 0xff) as usize;
        let mut r = r;
        r.pc = core::ptr::with_exposed_provenance(link_of(r.base) as usize);
        r.to(D::plain_fast(opcode - Op::COUNT))
    }
}

/// `r` for what runs before each instruction and looks at it in the code: with the position after the header.
///
/// # Safety
/// The registers are those of a running handler here.
#[inline(always)]
pub(super) unsafe fn at_code(mut r: R) -> R {
    r.pc = func_of(r.base).pc.get().add(1);
    r
}

/// The link of the running function's frame.
///
/// # Safety
/// The registers are those of a running handler here.
#[inline(always)]
pub(super) unsafe fn link_in(r: R) -> u64 {
    let link = r.pc.expose_provenance() as u64;
    debug_assert!(link == link_of(r.base), "`pc` is not the link");
    link
}

/// Leaves the case to the builtin. FUNCC knows its frame and the number of its arguments, and uses no other register: they need not be
/// kept for it.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn by_builtin<D: Driver>(r: R) -> u32 {
    core::hint::cold_path();
    R { pc: core::ptr::null(), kbase: core::ptr::null(), ins: 0, ..r }.to(FUNCC::<D>)
}

/// Returns one value.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn return_one<D: Driver>(r: R, v: Value) -> u32 {
    let link = link_in(r);
    if kind(link) != frame::LUA {
        core::hint::cold_path();
        *r.base = v;
        return return_many::<D>(r, r.base, 1);
    }
    *r.base.sub(2) = v;
    return_to_caller::<D>(r, link, 1)
}

/// [`return_one`] after a call of a function, over which nothing is kept that can be had otherwise.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn return_called<D: Driver>(mut r: R, v: Value) -> u32 {
    r.pc = core::ptr::with_exposed_provenance(link_of(r.base) as usize);
    r.a = 0;
    return_one::<D>(r, v)
}

/// Returns `n` values at `src`.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn return_many<D: Driver>(mut r: R, src: *mut Value, n: usize) -> u32 {
    r.pc = src.cast();
    r.ins = n as u64;
    r.to(return_special::<D>)
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn one_word<D: Driver>(r: R, f: fn(i32) -> i32) -> u32 {
    if r.nargs() == 0 || slot::upper(r.base) > slot::INT {
        return by_builtin::<D>(r);
    }
    return_one::<D>(r, Value::int(f(bits(r.base))))
}

/// Two integers, as most operands of the functions of `bit` are.
///
/// # Safety
/// There are two arguments.
#[inline(always)]
unsafe fn two_ints(r: R) -> Option<(i32, i32)> {
    let (a, b) = (r.base, r.base.add(1));
    if slot::upper(a) == slot::INT && slot::upper(b) == slot::INT { Some((slot::int(a), slot::int(b))) } else { None }
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn two_words<D: Driver>(r: R, f: fn(i32, i32) -> i32) -> u32 {
    if r.nargs() < 2 {
        return by_builtin::<D>(r);
    }
    if let Some((x, y)) = two_ints(r) {
        return return_one::<D>(r, Value::int(f(x, y)));
    }
    let (a, b) = (r.base, r.base.add(1));
    if !are_numbers(a, b) {
        return by_builtin::<D>(r);
    }
    return_one::<D>(r, Value::int(f(bits(a), bits(b))))
}

/// For functions with any number of arguments, mostly two.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn words<D: Driver>(r: R, f: fn(i32, i32) -> i32) -> u32 {
    if r.nargs() == 2
        && let Some((x, y)) = two_ints(r)
    {
        return return_one::<D>(r, Value::int(f(x, y)));
    }
    let (mut p, end) = (r.base, r.base.add(r.nargs()));
    if p == end || slot::upper(p) > slot::INT {
        return by_builtin::<D>(r);
    }
    let mut x = bits(p);
    loop {
        p = p.add(1);
        if p == end {
            return return_one::<D>(r, Value::int(x));
        }
        if slot::upper(p) > slot::INT {
            return by_builtin::<D>(r);
        }
        x = f(x, bits(p));
    }
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn one_number<D: Driver>(r: R, f: fn(f64) -> Value) -> u32 {
    if r.nargs() == 0 || slot::upper(r.base) > slot::INT {
        return by_builtin::<D>(r);
    }
    return_one::<D>(r, f(slot::number(r.base)))
}

/// The same for functions that call another one.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn one_number_called<D: Driver>(r: R, f: fn(f64) -> Value) -> u32 {
    if r.nargs() == 0 || slot::upper(r.base) > slot::INT {
        return by_builtin::<D>(r);
    }
    return_called::<D>(r, f(slot::number(r.base)))
}

/// For functions whose result is mostly an integer, which needs no call of a function of the C library.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn rounded<D: Driver>(r: R, f: fn(f64) -> Option<i32>) -> u32 {
    if r.nargs() == 0 || slot::upper(r.base) > slot::INT {
        return by_builtin::<D>(r);
    }
    if slot::upper(r.base) == slot::INT {
        return return_one::<D>(r, *r.base);
    }
    match f(slot::num(r.base)) {
        Some(i) => return_one::<D>(r, Value::int(i)),
        None => by_builtin::<D>(r),
    }
}

/// For functions with an optional second argument.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn one_number_only<D: Driver>(r: R, f: fn(f64) -> Value) -> u32 {
    if r.nargs() != 1 { by_builtin::<D>(r) } else { one_number_called::<D>(r, f) }
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn two_numbers<D: Driver>(r: R, f: fn(f64, f64) -> Value) -> u32 {
    let (a, b) = (r.base, r.base.add(1));
    if r.nargs() < 2 || !are_numbers(a, b) {
        return by_builtin::<D>(r);
    }
    return_called::<D>(r, f(slot::number(a), slot::number(b)))
}

/// `math.min` and `math.max` of two numbers.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn extreme<D: Driver>(r: R, keep: fn(f64, f64) -> bool) -> u32 {
    let (a, b) = (r.base, r.base.add(1));
    if r.nargs() != 2 || !are_numbers(a, b) {
        return by_builtin::<D>(r);
    }
    let kept = keep(slot::number(a), slot::number(b));
    return_one::<D>(r, if kept { *a } else { *b })
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn abs<D: Driver>(r: R) -> u32 {
    if r.nargs() == 0 || slot::upper(r.base) > slot::INT {
        return by_builtin::<D>(r);
    }
    return_one::<D>(r, math::of::abs(*r.base))
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn assert<D: Driver>(r: R) -> u32 {
    let n = r.nargs();
    if n == 0 || !(*r.base).truthy() {
        return by_builtin::<D>(r);
    }
    return_many::<D>(r, r.base, n)
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn type_name<D: Driver>(r: R) -> u32 {
    if r.nargs() == 0 {
        return by_builtin::<D>(r);
    }
    // The names are the builtin's upvalues.
    let name = *func_of(r.base).slot_ptr::<Value>((*r.base).type_index());
    return_one::<D>(r, name)
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn select<D: Driver>(r: R) -> u32 {
    let n = r.nargs();
    if n == 0 {
        return by_builtin::<D>(r);
    }
    if slot::upper(r.base) == slot::INT {
        let i = slot::int(r.base);
        if i < 1 || i as usize >= n {
            return by_builtin::<D>(r);
        }
        return return_many::<D>(r, r.base.add(i as usize), n - i as usize);
    }
    match (*r.base).as_str() {
        Some(s) if s.bytes() == b"#" => return_one::<D>(r, Value::int(n as i32 - 1)),
        _ => by_builtin::<D>(r),
    }
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn to_number<D: Driver>(r: R) -> u32 {
    if r.nargs() != 1 || slot::upper(r.base) > slot::INT {
        return by_builtin::<D>(r);
    }
    return_one::<D>(r, *r.base)
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn length<D: Driver>(r: R) -> u32 {
    let s = *r.base;
    if r.nargs() == 0 || s.tag() != TAG_STR {
        return by_builtin::<D>(r);
    }
    let s: Gc<Str> = Gc::from_addr(s.payload());
    return_one::<D>(r, Value::int(s.len() as i32))
}

/// `string.byte` of one byte.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn byte<D: Driver>(r: R) -> u32 {
    let (s, n) = (*r.base, r.nargs());
    if n == 0 || n > 2 || s.tag() != TAG_STR || n == 2 && slot::upper(r.base.add(1)) != slot::INT {
        return by_builtin::<D>(r);
    }
    let s: Gc<Str> = Gc::from_addr(s.payload());
    let index = if n == 2 { slot::int(r.base.add(1)) } else { 1 };
    let from_end = if index < 0 { s.len() as i32 + 1 } else { 0 };
    match s.bytes().get(((index + from_end) as u32).wrapping_sub(1) as usize) {
        Some(b) => return_one::<D>(r, Value::int(i32::from(*b))),
        None => by_builtin::<D>(r),
    }
}

/// The string, and the offsets of what `string.sub` takes of it, if that is not nothing.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn part(r: R) -> Option<(Gc<Str>, usize, usize)> {
    let (s, n) = (*r.base, r.nargs());
    if !(2..=3).contains(&n)
        || s.tag() != TAG_STR
        || slot::upper(r.base.add(1)) != slot::INT
        || slot::upper(r.base.add(n - 1)) != slot::INT
    {
        return None;
    }
    let s: Gc<Str> = Gc::from_addr(s.payload());
    let stop = if n == 3 { slot::int(r.base.add(2)) } else { -1 };
    let (from, to) = string::range(s.len(), slot::int(r.base.add(1)), stop)?;
    Some((s, from, to))
}

/// `string.sub`: here what gives one byte, or the string itself.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn substring<D: Driver>(r: R) -> u32 {
    match part(r) {
        Some((s, from, to)) if to - from == 1 => match (*r.vm).heap.known_byte(s.bytes()[from]) {
            Some(byte) => return_one::<D>(r, Value::str(byte)),
            None => by_builtin::<D>(r),
        },
        Some((s, 0, to)) if to == s.len() => return_one::<D>(r, *r.base),
        _ => r.to(new_substring::<D>),
    }
}

op! {
    /// The rest of `string.sub`, apart since it calls a function.
    #[inline(never)]
    new_substring<D>(r) {
        match part(r) {
            Some((s, from, to)) if to - from <= SHORT_PART && may_allocate(r) => {
                let part = (*r.vm).heap.new_str(&s.bytes()[from..to]);
                return_called::<D>(r, Value::str(part))
            }
            _ => by_builtin::<D>(r),
        }
    }
}

/// May a short string be made here? Not where the collector may be due, and not while the memory profiler runs: it asks the VM for the line that
/// allocates, and the registers are not saved there.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn may_allocate(r: R) -> bool {
    let heap = &(*r.vm).heap;
    heap.total + SHORT_PART < heap.threshold && !heap.is_watched()
}

/// Longer strings are made by the builtin, which looks at limits.
const SHORT_PART: usize = 1024;
