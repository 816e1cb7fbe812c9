//! Loops and jumps. Back-edges are counted; a counter that underflows calls the compiler.
//!
//! Next on the way of a hot loop: `vm/src/interp/jit.rs`.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`; the hot counter of an instruction is one of the table")]

use super::cont::start_iterator_call;
use super::fast::IPAIRS_STEP;
use super::jit::{enter_trace, hot};
use super::{Driver, Handler, R, Status, op, slot, way};
use crate::bc::{Ins, Op};
use crate::object::{Func, Gc, Table, hot_counter};
use crate::value::{TAG_FUNC, TAG_TAB, Value};

/// Counts a back-edge at the current instruction; true when it has become hot.
#[inline(always)]
unsafe fn count(r: R, by: u16) -> bool {
    count_at(r, *r.kbase.sub(1), by)
}

/// Counts the current instruction of the function with this [`crate::object::Proto::hot_counter`] origin; true when it has become hot.
#[inline(always)]
pub(super) unsafe fn count_at(r: R, origin: Value, by: u16) -> bool {
    let p = (&raw mut (*r.vm).interp.hotcount).cast::<u16>().add(hot_counter(origin, r.pc));
    let (n, under) = (*p).overflowing_sub(by);
    *p = n;
    under
}

/// One step of a numeric loop of integers: true to continue.
#[inline(always)]
unsafe fn step_int(ra: *mut Value) -> bool {
    let by = slot::int(ra.add(2));
    let (i, over) = slot::int(ra).overflowing_add(by);
    if over {
        return false;
    }
    if by < 0 {
        core::hint::cold_path();
        if i < slot::int(ra.add(1)) {
            return false;
        }
    } else if i > slot::int(ra.add(1)) {
        return false;
    }
    // Where the loop ends, nobody reads the index any more.
    *ra = Value::int(i);
    *ra.add(3) = Value::int(i);
    true
}

/// One step of a numeric loop of doubles: true to continue.
#[inline(always)]
unsafe fn step_num(ra: *mut Value) -> bool {
    let by = slot::num(ra.add(2));
    let i = slot::num(ra) + by;
    *ra = Value::num(i);
    let l = slot::num(ra.add(1));
    if by.is_sign_negative() {
        core::hint::cold_path();
        if !(l <= i) {
            return false;
        }
    } else if !(i <= l) {
        return false;
    }
    *ra.add(3) = Value::num(i);
    true
}

/// One step of a numeric loop: true to continue.
#[inline(always)]
unsafe fn step(ra: *mut Value) -> bool {
    if slot::upper(ra) == slot::INT { step_int(ra) } else { step_num(ra) }
}

/// Prepares a numeric loop: the three values are numbers; they become all integers or all doubles. True to enter.
pub(super) unsafe fn prepare(ra: *mut Value) -> bool {
    let norm = |v: Value| v.as_number().map_or(v, Value::number);
    let (idx, limit, by) = (norm(*ra), *ra.add(1), norm(*ra.add(2)));
    let l = limit.as_number().unwrap_or(f64::NAN);
    let s = by.as_number().unwrap_or(0.0);
    // The limit must lie inside the integers; otherwise the loop may run past them.
    let inside = if s >= 0.0 { l < 2_147_483_648.0 } else { l > -2_147_483_649.0 };
    if let (Some(i), Some(s), true) = (idx.as_int(), by.as_int(), inside || l.is_nan()) {
        let bound = if s >= 0 { l.floor() } else { l.ceil() };
        let li = bound as i32; // saturates, which is what the loop needs
        *ra = idx;
        *ra.add(1) = Value::int(li);
        *ra.add(2) = by;
        *ra.add(3) = idx;
        // Compared in doubles: the bound may lie outside the integers.
        return if s >= 0 { f64::from(i) <= l } else { f64::from(i) >= l };
    }
    let i = idx.as_number().unwrap_or(0.0);
    let s = by.as_number().unwrap_or(0.0);
    *ra = Value::num(i);
    *ra.add(1) = Value::num(l);
    *ra.add(2) = Value::num(s);
    *ra.add(3) = Value::num(i);
    // A step that is no number counts down, as in PUC Lua, and as 0/0 does in LuaJIT.
    if s.is_nan() || s.is_sign_negative() { l <= i } else { i <= l }
}

/// The same where all three are integers; `None` where they are not.
#[inline(always)]
unsafe fn prepare_ints(ra: *mut Value) -> Option<bool> {
    if slot::upper(ra) != slot::INT || slot::upper(ra.add(1)) != slot::INT || slot::upper(ra.add(2)) != slot::INT {
        return None;
    }
    let (i, l) = (slot::int(ra), slot::int(ra.add(1)));
    *ra.add(3) = Value::int(i);
    Some(if slot::int(ra.add(2)) >= 0 { i <= l } else { i >= l })
}

#[inline(always)]
unsafe fn for_loop<D: Driver>(r: R) -> u32 {
    // Two ways to jump back: neither needs another jump inside this handler.
    if slot::upper(r.ra()) == slot::INT {
        if step_int(r.ra()) {
            return r.jump::<D>();
        }
    } else if step_num(r.ra()) {
        return r.jump_by::<D, { way::DOUBLE }>();
    }
    core::hint::cold_path();
    r.next::<D>()
}

#[inline(always)]
unsafe fn iter_loop<D: Driver>(r: R) -> u32 {
    let v = *r.ra();
    if v.is_nil() {
        core::hint::cold_path();
        return r.next::<D>();
    }
    *r.ra().sub(1) = v;
    r.jump::<D>()
}

/// Numbers in the three slots? Strings are converted in place.
unsafe fn coerce_for(r: R) -> Result<(), usize> {
    for i in 0..3 {
        let p = r.ra().add(i);
        if !(*p).is_number() {
            match (*p).as_str().and_then(crate::meta::str_to_number) {
                Some(n) => *p = n,
                None => return Err(i),
            }
        }
    }
    Ok(())
}

/// Does the `next` step of an ITERN: true when there was an entry.
#[inline(always)]
unsafe fn next_entry(r: R) -> bool {
    let ra = r.ra();
    let Some(t) = (*ra.sub(2)).as_table() else { return false };
    match t.next_index((*ra.sub(1)).bits() as u32) {
        Some((i, k, v)) => {
            *ra.sub(1) = Value::key_index(i);
            *ra = k;
            *ra.add(1) = v;
            true
        }
        None => {
            *ra = Value::NIL;
            false
        }
    }
}

/// The step of a loop over `ipairs`, without a call of the iterator, as long as only the array part of the table is looked at: the values of the
/// loop's variables, or nil at its end.
///
/// # Safety
/// The registers are those of a running handler, see [`R`]; the instruction is ITERC.
#[inline(always)]
unsafe fn step_in_array(r: R) -> Option<(Value, Value)> {
    let ra = r.ra();
    let f: Gc<Func> = Gc::from_addr((*ra.sub(3)).address_tagged(TAG_FUNC)?);
    // What looks at each instruction sees the header of the iterator, too.
    let is_plain = super::native::is_plain_dispatching(r.vm);
    if (*f.pc.get()).0 & 0xff != IPAIRS_STEP || !is_plain || r.b() > 3 || slot::upper(ra.sub(1)) != slot::INT {
        return None;
    }
    let t: Gc<Table> = Gc::from_addr((*ra.sub(2)).address_tagged(TAG_TAB)?);
    let i = slot::int(ra.sub(1)).wrapping_add(1);
    let key = Value::int(i);
    if i as u32 >= t.asize() {
        // Of a table with at most one node it is known at once.
        let is_end = t.hmask.get() == 0 && (*t.node.get()).key.get() != key;
        return is_end.then_some((Value::NIL, Value::NIL));
    }
    let v = *t.array.get().add(i as u32 as usize);
    Some(if v.is_nil() { (v, v) } else { (key, v) })
}

op! {
    JMP<D>(r) { r.jump::<D>() }
    FORI<D>(r) {
        match prepare_ints(r.ra()) {
            Some(true) => r.next::<D>(),
            Some(false) => r.jump::<D>(),
            None => r.to(prepare_any::<D>),
        }
    }
    #[inline(never)]
    prepare_any<D>(r) {
        if coerce_for(r).is_err() {
            return r.to(for_error::<D>);
        }
        if prepare(r.ra()) { r.next::<D>() } else { r.jump::<D>() }
    }
    JFORI<D>(r) {
        if coerce_for(r).is_err() {
            return r.to(for_error::<D>);
        }
        if !prepare(r.ra()) {
            return r.jump::<D>();
        }
        // The instruction before the jump target is the loop's FORL, compiled or not.
        let forl: Ins = *r.pc.offset(r.d() as isize - 0x8000).sub(1);
        if forl.op() == Op::JFORL { enter_trace::<D>(r, forl.d() as u32) } else { r.next::<D>() }
    }
    #[cold]
    #[inline(never)]
    for_error<D>(r) {
        r.sync();
        let i = coerce_for(r).err().unwrap_or(0);
        let what = ["initial", "limit", "step"][i];
        let _ = (*r.vm).rt_error(&if i == 1 {
            "'for' limit must be a number".to_string()
        } else {
            format!("'for' {what} {}must be a number", if i == 0 { "value " } else { "" })
        });
        Status::ERROR
    }
    FORL<D>(r) {
        if count(r, 2) {
            return r.to(hot_loop::<D>);
        }
        for_loop::<D>(r)
    }
    IFORL<D>(r) { for_loop::<D>(r) }
    JFORL<D>(r) {
        if step(r.ra()) {
            return enter_trace::<D>(r, r.d() as u32);
        }
        r.next::<D>()
    }
    ITERL<D>(r) {
        if count(r, 2) {
            return r.to(hot_loop::<D>);
        }
        iter_loop::<D>(r)
    }
    IITERL<D>(r) { iter_loop::<D>(r) }
    JITERL<D>(r) {
        let v = *r.ra();
        if v.is_nil() {
            return r.next::<D>();
        }
        *r.ra().sub(1) = v;
        enter_trace::<D>(r, r.d() as u32)
    }
    LOOP<D>(r) {
        if count(r, 2) {
            return r.to(hot_loop::<D>);
        }
        r.next::<D>()
    }
    ILOOP<D>(r) { r.next::<D>() }
    JLOOP<D>(r) { enter_trace::<D>(r, r.d() as u32) }
    /// The loop at the current instruction is hot: calls the compiler, then continues with the uncounted form.
    #[cold]
    #[inline(never)]
    hot_loop<D>(r) {
        let r = hot::<D>(r);
        let h: Handler = match r.i().op() {
            Op::FORL | Op::IFORL => IFORL::<D>,
            Op::ITERL | Op::IITERL => IITERL::<D>,
            Op::ITERN => ITERN_uncounted::<D>,
            _ => ILOOP::<D>,
        };
        r.to(h)
    }

    ISNEXT<D>(r) {
        let ra = r.ra();
        let vm = &*r.vm;
        if (*ra.sub(3)).as_func().is_some_and(|f| f.ffid() == vm.realm.next_ffid)
            && (*ra.sub(2)).is_table()
            && (*ra.sub(1)).is_nil()
        {
            *ra.sub(1) = Value::key_index(0);
            return r.jump::<D>();
        }
        // The iterator is not `next`: the loop is despecialised to JMP and ITERC, permanently.
        let here = r.pc.sub(1).cast_mut();
        *here = Ins::ad(Op::JMP, r.a() as u8, r.d() as u16);
        let itern = r.pc.offset(r.d() as isize - 0x8000).cast_mut();
        if (*itern).op() == Op::ITERN {
            *itern = Ins((*itern).0 & !0xff | Op::ITERC as u32);
        }
        r.jump::<D>()
    }
    ITERN<D>(r) {
        if count(r, 2) {
            return r.to(hot_loop::<D>);
        }
        if next_entry(r) {
            r.pc = r.pc.add(1).offset((*r.pc).j() as isize);
            return r.next::<D>();
        }
        r.skip::<D>()
    }
    ITERN_uncounted<D>(r) {
        if next_entry(r) {
            r.pc = r.pc.add(1).offset((*r.pc).j() as isize);
            return r.next::<D>();
        }
        r.skip::<D>()
    }
    ITERC<D>(r) {
        if let Some((i, v)) = step_in_array(r) {
            *r.ra() = i;
            *r.ra().add(1) = v;
            return r.next::<D>();
        }
        r.to(call_iterator::<D>)
    }
    /// Apart, so that a step without a call saves no registers.
    #[inline(never)]
    call_iterator<D>(r) {
        let ra = r.ra();
        *ra = *ra.sub(3);
        *ra.add(2) = *ra.sub(2);
        *ra.add(3) = *ra.sub(1);
        start_iterator_call::<D>(r)
    }
}
