//! The slow paths of instructions: coercions, metamethods, errors.
#![allow(
    unsafe_code,
    reason = "registers as in `vm/src/interp/mod.rs`; a metamethod is called above the frame of the running function"
)]

use super::cont::{CONCAT, DROP, JUMP_IF, JUMP_IF_NOT, TO_A, call_with};
use super::{Driver, R, Status, op};
use crate::Vm;
use crate::bc::Op;
use crate::error::LuaResult;
use crate::gc::limit::{CHECKED, LONGEST_STRING};
use crate::interrupt::LONG_STRING;
use crate::meta::{Access, Direct, MM, arith, to_number};
use crate::stdlib::buffer::{is_buffer, with_bytes};
use crate::text::PIECE;
use crate::value::Value;
use core::mem::MaybeUninit;
use core::ops::RangeInclusive;

/// Operands of a table instruction: object and key.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
pub(super) unsafe fn table_operands(r: R) -> (Value, Value) {
    match r.i().op() {
        Op::GGET | Op::GSET => (Value::table(r.func().env.get()), r.kgc(r.d())),
        Op::TGETS | Op::TSETS => (*r.rb(), r.kgc(r.c())),
        Op::TGETB | Op::TSETB => (*r.rb(), Value::int(r.c() as i32)),
        _ => (*r.rb(), *r.rc()),
    }
}

/// Continues with the instruction after an operator of cdata. The operator may have made an object, so a collection may be due.
///
/// # Safety
/// The contract of the handlers.
#[inline(always)]
unsafe fn after_direct<D: Driver>(r: R) -> u32 {
    if (*r.vm).heap.gc_due() {
        return r.to(super::tables::gc_check::<D>);
    }
    r.next::<D>()
}

/// Operands of an arithmetic instruction, and its metamethod.
unsafe fn arith_operands(r: R) -> (MM, Value, Value) {
    let op = r.i().op() as u8;
    let mms = [MM::Add, MM::Sub, MM::Mul, MM::Div, MM::Mod];
    let of = |first: Op| mms[(op - first as u8) as usize];
    if op >= Op::ADDVN as u8 && op <= Op::MODVN as u8 {
        (of(Op::ADDVN), *r.rb(), r.knum(r.c()))
    } else if op >= Op::ADDNV as u8 && op <= Op::MODNV as u8 {
        (of(Op::ADDNV), r.knum(r.c()), *r.rb())
    } else if op >= Op::ADDVV as u8 && op <= Op::MODVV as u8 {
        (of(Op::ADDVV), *r.rb(), *r.rc())
    } else {
        (MM::Pow, *r.rb(), *r.rc())
    }
}

op! {
    #[cold]
    #[inline(never)]
    slow_arith<D>(r) {
        let (mm, a, b) = arith_operands(r);
        if let (Some(x), Some(y)) = (to_number(a), to_number(b)) {
            *r.ra() = arith(mm, x, y);
            return r.next::<D>();
        }
        r.sync();
        let vm = &mut *r.vm;
        if a.is_cdata() || b.is_cdata() {
            match vm.direct_operator(mm, a, b, r.ra()) {
                Direct::Done => return after_direct::<D>(r),
                Direct::Call(f) => return call_with::<D, _>(r, TO_A, f, [a, b]),
                Direct::No => {}
            }
        }
        let mut f = vm.metamethod(a, mm);
        if f.is_nil() {
            f = vm.metamethod(b, mm);
        }
        if f.is_nil() {
            let _ = vm.arith_error(a, b);
            return Status::ERROR;
        }
        call_with::<D, _>(r, TO_A, f, [a, b])
    }
    #[cold]
    #[inline(never)]
    slow_unm<D>(r) {
        let v = *r.rd();
        if let Some(x) = to_number(v) {
            *r.ra() = arith(MM::Unm, x, x);
            return r.next::<D>();
        }
        r.sync();
        let vm = &mut *r.vm;
        if v.is_cdata() {
            match vm.direct_operator(MM::Unm, v, v, r.ra()) {
                Direct::Done => return after_direct::<D>(r),
                Direct::Call(f) => return call_with::<D, _>(r, TO_A, f, [v, v]),
                Direct::No => {}
            }
        }
        let f = vm.metamethod(v, MM::Unm);
        if f.is_nil() {
            let _ = vm.arith_error(v, v);
            return Status::ERROR;
        }
        call_with::<D, _>(r, TO_A, f, [v, v])
    }
    #[cold]
    #[inline(never)]
    slow_bit<D>(r) {
        r.sync();
        let op = r.i().op();
        let (x, y) = if op == Op::BNOT { (*r.rd(), *r.rd()) } else { (*r.rb(), *r.rc()) };
        if x.is_cdata() || y.is_cdata() {
            match (*r.vm).wide_operator(op, x, y) {
                Ok(Some(v)) => {
                    *r.ra() = v;
                    return r.next::<D>();
                }
                Ok(None) => {}
                Err(_) => return Status::ERROR,
            }
        }
        let v = if op == Op::BNOT {
            *r.rd()
        } else if x.is_number() || x.is_cdata() {
            *r.rc()
        } else {
            *r.rb()
        };
        let _ = (*r.vm).arith_error(v, v);
        Status::ERROR
    }
    #[cold]
    #[inline(never)]
    slow_len<D>(r) {
        r.sync();
        let v = *r.rd();
        let vm = &mut *r.vm;
        let f = vm.metamethod(v, MM::Len);
        if f.is_nil() {
            let _ = vm.operand_error(v, "get length of");
            return Status::ERROR;
        }
        call_with::<D, _>(r, TO_A, f, [v, Value::NIL])
    }
    #[cold]
    #[inline(never)]
    slow_compare<D>(r) {
        let op = r.i().op();
        let (a, b) = (*r.ra(), *r.rd());
        let strict = matches!(op, Op::ISLT | Op::ISGE);
        let negated = matches!(op, Op::ISGE | Op::ISGT);
        let mut known = None;
        if let (Some(x), Some(y)) = (a.as_number(), b.as_number()) {
            known = Some(if strict { x < y } else { x <= y });
        } else if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
            let order = crate::text::compare(x.bytes(), y.bytes());
            known = Some(if strict { order.is_lt() } else { order.is_le() });
        }
        if let Some(c) = known {
            return if c != negated { r.branch::<D>() } else { r.skip::<D>() };
        }
        r.sync();
        let vm = &mut *r.vm;
        if (a.is_cdata() || b.is_cdata())
            && let Some(c) = vm.direct_comparison(MM::of_comparison(op), a, b)
        {
            return if c != negated { r.branch::<D>() } else { r.skip::<D>() };
        }
        let same = a.type_name() == b.type_name() || a.is_cdata() || b.is_cdata();
        let mut args = [a, b];
        let mut jump = if negated { JUMP_IF_NOT } else { JUMP_IF };
        let mut f = if same { vm.shared_method(a, b, if strict { MM::Lt } else { MM::Le }) } else { Value::NIL };
        if f.is_nil() && same && !strict {
            // a <= b as not (b < a)
            f = vm.shared_method(a, b, MM::Lt);
            args = [b, a];
            jump = if negated { JUMP_IF } else { JUMP_IF_NOT };
        }
        if f.is_nil() {
            let _ = vm.compare_error(a, b);
            return Status::ERROR;
        }
        call_with::<D, _>(r, jump, f, args)
    }
    #[cold]
    #[inline(never)]
    slow_equal<D>(r) {
        r.sync();
        let (op, a) = (r.i().op(), *r.ra());
        let b = match op {
            Op::ISEQV | Op::ISNEV => *r.rd(),
            Op::ISEQS | Op::ISNES => r.kgc(r.d()),
            Op::ISEQN | Op::ISNEN => r.knum(r.d()),
            _ => Value::primitive(r.d() as u64),
        };
        let negated = matches!(op, Op::ISNEV | Op::ISNES | Op::ISNEN | Op::ISNEP);
        if (a.is_cdata() || b.is_cdata())
            && let Some(c) = (*r.vm).direct_comparison(MM::of_comparison(op), a, b)
        {
            return if c != negated { r.branch::<D>() } else { r.skip::<D>() };
        }
        let f = (*r.vm).shared_method(a, b, MM::Eq);
        if f.is_nil() {
            return if negated { r.branch::<D>() } else { r.skip::<D>() };
        }
        call_with::<D, _>(r, if negated { JUMP_IF_NOT } else { JUMP_IF }, f, [a, b])
    }
    #[inline(never)]
    slow_get<D>(r) {
        r.sync();
        let (o, k) = table_operands(r);
        if o.is_cdata() {
            match (*r.vm).direct_get(o, k, r.ra()) {
                Direct::Done => return after_direct::<D>(r),
                Direct::Call(f) => return call_with::<D, _>(r, TO_A, f, [o, k]),
                Direct::No => {}
            }
        } else if o.is_udata()
            && let Some(v) = (*r.vm).direct_symbol(o, k)
        {
            *r.ra() = v;
            return r.next::<D>();
        }
        match (*r.vm).access_get(o, k) {
            Ok(Access::Done(v)) => {
                *r.ra() = v;
                r.next::<D>()
            }
            Ok(Access::Call(f, o)) => call_with::<D, _>(r, TO_A, f, [o, k]),
            Err(_) => Status::ERROR,
        }
    }
    #[inline(never)]
    slow_set<D>(r) {
        // A watchpoint that fires flushes traces, and handlers of that event may use the stack above this frame.
        r.sync_top();
        let (o, k) = table_operands(r);
        let v = *r.ra();
        if o.is_cdata() && (*r.vm).direct_set(o, k, v) {
            return r.next::<D>();
        }
        if let Some(name) = k.as_str()
            && !r.func().lua_proto().is_main()
        {
            name.note_variable();
        }
        match (*r.vm).access_set(o, k, v) {
            Ok(Access::Done(_)) => {
                // The table may have grown.
                if (*r.vm).heap.gc_due() {
                    return r.to(super::tables::gc_check::<D>);
                }
                r.next::<D>()
            }
            Ok(Access::Call(f, o)) => call_with::<D, _>(r, DROP, f, [o, k, v]),
            Err(_) => Status::ERROR,
        }
    }
    CAT<D>(r) { concat_from::<D>(r, r.c()) }
}

/// Appends the text of a string, number or buffer.
#[inline(always)]
fn put(buf: &mut Vec<u8>, v: Value) {
    if let Some(s) = v.as_str() {
        s.append_to(buf);
    } else if let Some(i) = v.as_int() {
        crate::text::put_int(buf, i);
    } else if let Some(n) = v.as_number() {
        crate::text::number::put_num(buf, n);
    } else {
        with_bytes(v, |bytes| buf.extend_from_slice(bytes));
    }
}

/// Appends the texts of slots to a long string.
#[cold]
#[inline(never)]
unsafe fn put_in_parts(vm: &mut Vm, buf: &mut Vec<u8>, slots: RangeInclusive<usize>) -> LuaResult<()> {
    for i in slots {
        let v = *vm.base.add(i);
        if let Some(s) = v.as_str() {
            vm.put(buf, s.bytes())?;
        } else if let Some(done) = with_bytes(v, |bytes| vm.put(buf, bytes)) {
            done?;
        } else {
            put(buf, v);
        }
    }
    Ok(())
}

fn is_text(v: Value) -> bool {
    v.is_str() || v.is_number() || is_buffer(v)
}

/// The result of a concatenation: finished, an error was parked, or else the slot at which a metamethod, left in the VM's scratch, must
/// join two values. It is a plain word: a result returned in memory would prevent the handler from ending in a jump.
const CONCAT_DONE: usize = usize::MAX;
const CONCAT_ERROR: usize = usize::MAX - 1;

/// Most results are not longer. They are made on the native stack, in two cache lines with the piece that follows.
const SHORT: usize = 112;

/// The length of the strings together, if all are strings and that is short.
#[inline(always)]
fn short_length(slots: &[Value]) -> Option<usize> {
    let mut size = 0;
    for v in slots {
        size += v.as_str()?.len();
    }
    if size <= SHORT { Some(size) } else { None }
}

/// Concatenates the slots from `bottom` up to `top`, from the right. Separate from the handler, whose tail calls must have no buffer in
/// their frame. A collection for a long string may move the stack: `vm.base` is updated.
#[inline(never)]
unsafe fn concat_work(vm: &mut Vm, bottom: usize, mut top: usize) -> usize {
    let slots = &*core::ptr::slice_from_raw_parts(vm.base.add(bottom), top + 1 - bottom);
    if let Some(size) = short_length(slots) {
        let (mut text, mut at) = ([MaybeUninit::uninit(); SHORT + PIECE], 0);
        for s in slots.iter().filter_map(|v| v.as_str()) {
            let has_room = s.store_to(&mut text[at..]);
            debug_assert!(has_room, "their lengths have been added up");
            at += s.len();
        }
        debug_assert!(at == size);
        // SAFETY: the strings have so many bytes together.
        let text = unsafe { text[..at].assume_init_ref() };
        let Ok(s) = vm.checked_str(text) else { return CONCAT_ERROR };
        *vm.base.add(bottom) = Value::str(s);
        return CONCAT_DONE;
    }
    while top > bottom {
        let (a, b) = (*vm.base.add(top - 1), *vm.base.add(top));
        if !is_text(a) || !is_text(b) {
            let mut f = vm.metamethod(a, MM::Concat);
            if f.is_nil() {
                f = vm.metamethod(b, MM::Concat);
            }
            if f.is_nil() {
                let _ = vm.concat_error(a, b, top - 1);
                return CONCAT_ERROR;
            }
            vm.compiled.scratch[0] = f.bits();
            return top - 1;
        }
        let mut first = top - 1;
        while first > bottom && is_text(*vm.base.add(first - 1)) {
            first -= 1;
        }
        let mut size = 0;
        for i in first..=top {
            let v = *vm.base.add(i);
            size += v.as_str().map(|s| s.len()).or_else(|| with_bytes(v, |b| b.len())).unwrap_or(32);
        }
        if size > LONGEST_STRING {
            let _ = vm.operation_error("string length overflow");
            return CONCAT_ERROR;
        }
        if size >= CHECKED && vm.check_alloc(size).is_err() {
            return CONCAT_ERROR;
        }
        let made = vm.with_buffer_after((*vm.base.add(first)).as_str(), |vm, buf| {
            let rest = first + usize::from(!buf.is_empty());
            vm.room(buf, size - buf.len())?;
            if size > LONG_STRING {
                put_in_parts(vm, buf, rest..=top)?;
            } else {
                for i in rest..=top {
                    put(buf, *vm.base.add(i));
                }
            }
            vm.checked_str(buf)
        });
        let Ok(s) = made else { return CONCAT_ERROR };
        *vm.base.add(first) = Value::str(s);
        top = first;
    }
    CONCAT_DONE
}

/// Concatenates the slots from B up to `top` of a CAT.
#[inline(always)]
pub(super) unsafe fn concat_from<D: Driver>(mut r: R, top: usize) -> u32 {
    r.sync_top();
    let work = concat_work(&mut *r.vm, r.b(), top);
    r.base = (*r.vm).base;
    match work {
        CONCAT_ERROR => Status::ERROR,
        CONCAT_DONE => {
            *r.ra() = *r.rb();
            if (*r.vm).heap.gc_due() {
                return r.to(super::tables::gc_check::<D>);
            }
            r.next::<D>()
        }
        slot => {
            let f = Value::from_bits((*r.vm).compiled.scratch[0]);
            let args = [*r.base.add(slot), *r.base.add(slot + 1)];
            call_with::<D, _>(r, CONCAT | (slot as u64) << 3, f, args)
        }
    }
}
