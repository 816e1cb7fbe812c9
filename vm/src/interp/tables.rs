//! Table instructions.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`; table parts as in `vm/src/object/table.rs`")]

use super::meta_call::{slow_get, slow_set};
use super::{Driver, R, Status, op};
use crate::bc::TSETM_BIAS;
use crate::fault::{Fault, is_injected};
use crate::gc::color;
use crate::object::{Gc, Node, Str, Table};
use crate::value::{TAG_STR, TAG_TAB, Value};

/// Metamethod bits of the negative cache.
const NO_INDEX: u8 = 1 << 0;
const NO_NEWINDEX: u8 = 1 << 1;

/// Slot of a string key in the hash part, or null.
#[inline(always)]
unsafe fn find_str(t: Gc<Table>, key: Value) -> *mut Node {
    let s: Gc<Str> = Gc::from_addr(key.payload());
    let mut n = t.node.get().add((s.hash() & t.hmask.get()) as usize);
    loop {
        if (*n).key.get() == key {
            return n;
        }
        n = (*n).next.get();
        if n.is_null() {
            return n;
        }
    }
}

/// May the result be nil without looking for `__index`?
#[inline(always)]
unsafe fn no_meta(t: Gc<Table>, bit: u8) -> bool {
    match t.meta.get() {
        None => true,
        Some(m) => m.hdr.b0.get() & bit != 0,
    }
}

#[inline(always)]
unsafe fn get_str<D: Driver>(r: R, o: Value, key: Value) -> u32 {
    if o.tag() == TAG_TAB {
        let t: Gc<Table> = Gc::from_addr(o.payload());
        let n = find_str(t, key);
        if !n.is_null() {
            let v = (*n).val.get();
            if !v.is_nil() {
                *r.ra() = v;
                return r.next::<D>();
            }
        }
        if no_meta(t, NO_INDEX) {
            *r.ra() = Value::NIL;
            return r.next::<D>();
        }
    }
    r.to(slow_get::<D>)
}

#[inline(always)]
unsafe fn get_int<D: Driver>(r: R, o: Value, i: i32) -> u32 {
    if o.tag() == TAG_TAB {
        let t: Gc<Table> = Gc::from_addr(o.payload());
        if (i as u32) < t.asize() {
            let v = *t.array.get().add(i as usize);
            if !v.is_nil() || no_meta(t, NO_INDEX) {
                *r.ra() = v;
                return r.next::<D>();
            }
        }
    }
    r.to(slow_get::<D>)
}

#[inline(always)]
unsafe fn barrier(r: R, t: Gc<Table>) {
    if t.hdr.marked.get() & color::BLACK != 0 {
        (*r.vm).barrier_back(t);
    }
}

#[inline(always)]
unsafe fn set_str<D: Driver>(r: R, o: Value, key: Value) -> u32 {
    if o.tag() == TAG_TAB {
        let t: Gc<Table> = Gc::from_addr(o.payload());
        let n = find_str(t, key);
        if !n.is_null() {
            let name: Gc<Str> = Gc::from_addr(key.payload());
            let plain =
                if (*n).val.get().is_nil() { no_meta(t, NO_NEWINDEX) && !name.is_watched() } else { name.is_plain_variable() };
            if plain {
                barrier(r, t);
                t.hdr.b0.set(0);
                (*n).val.set(*r.ra());
                return r.next::<D>();
            }
        }
    }
    r.to(slow_set::<D>)
}

#[inline(always)]
unsafe fn set_int<D: Driver>(r: R, o: Value, i: i32) -> u32 {
    if o.tag() == TAG_TAB {
        let t: Gc<Table> = Gc::from_addr(o.payload());
        if (i as u32) < t.asize() {
            let p = t.array.get().add(i as usize);
            if !(*p).is_nil() || no_meta(t, NO_NEWINDEX) {
                barrier(r, t);
                *p = *r.ra();
                return r.next::<D>();
            }
        }
    }
    r.to(slow_set::<D>)
}

op! {
    GGET<D>(r) { get_str::<D>(r, Value::table(r.func().env.get()), r.kgc(r.d())) }
    GSET<D>(r) { set_str::<D>(r, Value::table(r.func().env.get()), r.kgc(r.d())) }
    TGETV<D>(r) {
        let k = *r.rc();
        if k.is_int() {
            return get_int::<D>(r, *r.rb(), k.as_int_unchecked());
        }
        if k.tag() == TAG_STR {
            return get_str::<D>(r, *r.rb(), k);
        }
        if k.is_num()
            && let Some(i) = k.as_index()
        {
            return get_int::<D>(r, *r.rb(), i);
        }
        r.to(slow_get::<D>)
    }
    TGETS<D>(r) { get_str::<D>(r, *r.rb(), r.kgc(r.c())) }
    TGETB<D>(r) { get_int::<D>(r, *r.rb(), r.c() as i32) }
    TGETR<D>(r) { r.to(slow_get::<D>) }
    TSETV<D>(r) {
        let k = *r.rc();
        if k.is_int() {
            return set_int::<D>(r, *r.rb(), k.as_int_unchecked());
        }
        if k.tag() == TAG_STR {
            return set_str::<D>(r, *r.rb(), k);
        }
        if k.is_num()
            && let Some(i) = k.as_index()
        {
            return set_int::<D>(r, *r.rb(), i);
        }
        r.to(slow_set::<D>)
    }
    TSETS<D>(r) { set_str::<D>(r, *r.rb(), r.kgc(r.c())) }
    TSETB<D>(r) { set_int::<D>(r, *r.rb(), r.c() as i32) }
    TSETR<D>(r) { r.to(slow_set::<D>) }
    /// A-1 [D..] = A ... (MULTRES values).
    TSETM<D>(r) {
        r.sync();
        let vm = &mut *r.vm;
        let Some(t) = (*r.ra().sub(1)).as_table() else { return Status::ERROR };
        if vm.check_writable(t).is_err() {
            return Status::ERROR;
        }
        let start = (r.knum(r.d()).as_number().unwrap_or(0.0) - TSETM_BIAS) as i32;
        let n = vm.multres as i32;
        vm.table_set_list(t, start, r.ra(), n);
        r.next::<D>()
    }
    TNEW<D>(r) {
        let d = r.d();
        let asize = d & 0x7ff;
        let asize = if asize == 0x7ff { 0x801 } else { asize };
        r.sync();
        let vm = &mut *r.vm;
        let t = vm.new_table(asize as u32, (d >> 11) as u32);
        *r.ra() = Value::table(t);
        if vm.heap.gc_due() {
            return r.to(gc_check::<D>);
        }
        r.next::<D>()
    }
    TDUP<D>(r) {
        r.sync();
        let vm = &mut *r.vm;
        let Some(template) = r.kgc(r.d()).as_table() else { return Status::ERROR };
        let t = vm.dup_table(template);
        *r.ra() = Value::table(t);
        if vm.heap.gc_due() {
            return r.to(gc_check::<D>);
        }
        r.next::<D>()
    }
    /// A collection step is due after the current instruction.
    #[cold]
    #[inline(never)]
    gc_check<D>(r) {
        r.sync_top();
        if (*r.vm).safepoint().is_err() {
            return Status::ERROR;
        }
        // A finalizer may have moved the stack.
        if !is_injected(Fault::StackMoved) {
            r.base = (*r.vm).base;
        }
        r.reload().next::<D>()
    }
}
