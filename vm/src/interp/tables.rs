//! Table instructions.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`; table parts as in `vm/src/object/table.rs`")]

use super::meta_call::{slow_get, slow_set, table_operands};
use super::{Driver, Handler, R, Status, op, slot};
use crate::bc::{Ins, TSETM_BIAS};
use crate::fault::{Fault, is_injected};
use crate::gc::color;
use crate::meta::MM;
use crate::object::{Gc, Node, Str, Table, Udata};
use crate::state::FIELD_NODES;
use crate::value::{TAG_STR, TAG_TAB, TAG_UDATA, Value};

/// Metamethod bits of the negative cache.
const NO_INDEX: u8 = 1 << 0;
const NO_NEWINDEX: u8 = 1 << 1;

/// Slot of a string key in the hash part, or null.
///
/// # Safety
/// The table lives; the key is a string.
#[inline(always)]
pub(super) unsafe fn find_str(t: Gc<Table>, key: Value) -> *mut Node {
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

/// Which node a field was in when the instruction before `pc` last found it: in a table that all instructions share by their addresses.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn last_node(r: R) -> *mut u16 {
    (&raw mut (*r.vm).interp.field_nodes).cast::<u16>().add(r.pc.addr() / size_of::<Ins>() % FIELD_NODES)
}

/// The node where the current instruction last found a field, if it is in this table, too. Nothing need be forgotten when tables change: the
/// key is compared. So the address of a field does not wait for its name's hash and the table's size.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn same_node(r: R, t: Gc<Table>, key: Value) -> *mut Node {
    let i = u32::from(*last_node(r));
    if i <= t.hmask.get() {
        let n = t.node.get().add(i as usize);
        if (*n).key.get() == key {
            return n;
        }
    }
    core::ptr::null_mut()
}

/// [`find_str`] for the current instruction, which remembers the node.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn search(r: R, t: Gc<Table>, key: Value) -> *mut Node {
    let n = find_str(t, key);
    if !n.is_null() {
        *last_node(r) = n.offset_from(t.node.get()) as u16;
    }
    n
}

/// The same value, which the compiler then has in a register. Where it would be compared in memory, the address would take one register more
/// than there is.
#[inline(always)]
fn in_register(v: Value) -> Value {
    #[cfg(not(miri))]
    {
        let mut bits = v.bits();
        // SAFETY: no instructions.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags)) };
        // SAFETY: the bits of a value.
        unsafe { Value::from_bits(bits) }
    }
    #[cfg(miri)]
    v
}

/// Gets a field, if the instruction last found it in the same node; otherwise by another handler.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn get_field<D: Driver>(r: R, address: Option<u64>, key: Value, otherwise: Handler) -> u32 {
    if let Some(address) = address {
        let t: Gc<Table> = Gc::from_addr(address);
        let n = same_node(r, t, key);
        if !n.is_null() {
            let v = (*n).val.get();
            if !v.is_nil() {
                *r.ra() = v;
                return r.next::<D>();
            }
        }
    }
    r.to(otherwise)
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn get_str<D: Driver>(r: R, address: Option<u64>, key: Value, otherwise: Handler) -> u32 {
    if let Some(address) = address {
        let t: Gc<Table> = Gc::from_addr(address);
        let n = search(r, t, key);
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
    r.to(otherwise)
}

/// The most tables that are searched one after the other here; nothing but a bound for tables that lead in a circle.
const CHAIN: usize = 16;

/// Gets a field through `__index`, if all values of that are tables, of an object that does not have it itself.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn get_inherited(r: R, o: Value, key: Value) -> Option<Value> {
    let vm = r.vm;
    let mut meta = if o.tag() == TAG_TAB {
        Gc::<Table>::from_addr(o.payload()).meta.get()
    } else if o.tag() == TAG_UDATA {
        Gc::<Udata>::from_addr(o.payload()).meta.get()
    } else if o.tag() == TAG_STR {
        (*vm).realm.base_meta[o.type_index()]
    } else {
        None
    };
    let index = Value::str((*vm).realm.meta_names[MM::Index as usize]?);
    for _ in 0..CHAIN {
        let n = find_str(meta?, index);
        if n.is_null() || (*n).val.get().tag() != TAG_TAB {
            return None;
        }
        let t: Gc<Table> = Gc::from_addr((*n).val.get().payload());
        let mut n = same_node(r, t, key);
        if n.is_null() {
            n = search(r, t, key);
        }
        if !n.is_null() && !(*n).val.get().is_nil() {
            return Some((*n).val.get());
        }
        meta = t.meta.get();
    }
    None
}

/// An integer key as an index: one that is negative is beyond every array part.
#[inline(always)]
fn index(key: i32) -> usize {
    key as u32 as usize
}

/// Gets an element.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn get_int<D: Driver>(r: R, o: Value, i: usize) -> u32 {
    if let Some(address) = o.address_tagged(TAG_TAB) {
        let t: Gc<Table> = Gc::from_addr(address);
        if i < t.asize() as usize {
            let v = *t.array.get().add(i);
            if !v.is_nil() || no_meta(t, NO_INDEX) {
                *r.ra() = v;
                return r.next::<D>();
            }
        }
    }
    r.to(slow_get::<D>)
}

/// Does the table need a barrier ([`table_barrier`]) before A is stored under a key that it has?
///
/// # Safety
/// The registers are those of a running handler, see [`R`]; the table lives.
#[inline(always)]
unsafe fn needs_barrier(r: R, t: Gc<Table>) -> bool {
    has_barrier(t) && slot::is_gc(r.ra())
}

#[inline(always)]
fn has_barrier(t: Gc<Table>) -> bool {
    t.hdr.marked.get() & color::BARRIER != 0
}

/// Sets a field, if the instruction last found it in the same node and it needs nothing else; otherwise by another handler.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn set_field<D: Driver>(r: R, address: Option<u64>, key: Value, otherwise: Handler) -> u32 {
    if let Some(address) = address {
        let t: Gc<Table> = Gc::from_addr(address);
        let n = same_node(r, t, key);
        let name: Gc<Str> = Gc::from_addr(key.payload());
        if !n.is_null() && !(*n).val.get().is_nil() && name.is_plain_variable() && !needs_barrier(r, t) {
            t.hdr.b0.set(0);
            (*n).val.set(*r.ra());
            return r.next::<D>();
        }
    }
    r.to(otherwise)
}

/// Sets a field. `MARKED`: its name and its new value need no barrier any more.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn set_str<D: Driver, const MARKED: bool>(r: R, address: Option<u64>, key: Value) -> u32 {
    if let Some(address) = address {
        let t: Gc<Table> = Gc::from_addr(address);
        let n = search(r, t, key);
        if !n.is_null() {
            let name: Gc<Str> = Gc::from_addr(key.payload());
            // A key without a value keeps nothing alive, not even its own string.
            let is_new = (*n).val.get().is_nil();
            let plain = if is_new { no_meta(t, NO_NEWINDEX) && !name.is_watched() } else { name.is_plain_variable() };
            if plain {
                if !MARKED && (needs_barrier(r, t) || is_new && has_barrier(t)) {
                    return r.to(table_barrier::<D>);
                }
                t.hdr.b0.set(0);
                (*n).val.set(*r.ra());
                return r.next::<D>();
            }
        }
    }
    r.to(slow_set::<D>)
}

/// Sets an element. `MARKED`: its new value needs no barrier any more.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn set_int<D: Driver, const MARKED: bool>(r: R, o: Value, i: usize) -> u32 {
    if let Some(address) = o.address_tagged(TAG_TAB) {
        let t: Gc<Table> = Gc::from_addr(address);
        if i < t.asize() as usize {
            // In this order fewer registers are needed.
            if !MARKED && needs_barrier(r, t) {
                return r.to(table_barrier::<D>);
            }
            let p = t.array.get().add(i);
            if !(*p).is_nil() || no_meta(t, NO_NEWINDEX) {
                *p = *r.ra();
                return r.next::<D>();
            }
        }
    }
    r.to(slow_set::<D>)
}

op! {
    /// The barrier for the table that the current instruction will set, by a string or an integer; the instruction is executed then. Separate,
    /// so that the instruction saves no registers for the call.
    #[cold]
    #[inline(never)]
    table_barrier<D>(r) {
        let (o, key) = table_operands(r);
        if let Some(t) = o.as_table() {
            (*r.vm).barrier_store(t, key, *r.ra());
            if has_barrier(t) {
                // A large table: it stays black, and what is stored is marked now.
                return match key.as_index() {
                    Some(i) => set_int::<D, true>(r, o, index(i)),
                    None => set_str::<D, true>(r, Some(t.addr()), key),
                };
            }
        }
        r.to(D::plain(r.i().op()))
    }
    GGET<D>(r) { get_field::<D>(r, Some(r.func().env.get().addr()), in_register(r.kgc(r.d())), search_global::<D>) }
    #[inline(never)]
    search_global<D>(r) { get_str::<D>(r, Some(r.func().env.get().addr()), r.kgc(r.d()), slow_get::<D>) }
    GSET<D>(r) { set_field::<D>(r, Some(r.func().env.get().addr()), r.kgc(r.d()), search_global_to_set::<D>) }
    #[inline(never)]
    search_global_to_set<D>(r) { set_str::<D, false>(r, Some(r.func().env.get().addr()), r.kgc(r.d())) }
    TGETV<D>(r) {
        if slot::upper(r.rc()) == slot::INT {
            return get_int::<D>(r, *r.rb(), index(slot::int(r.rc())));
        }
        r.to(get_by_value::<D>)
    }
    /// TGETV with a key that is not an integer. Separate, so that TGETV saves no registers.
    #[inline(never)]
    get_by_value<D>(r) {
        let k = *r.rc();
        if k.tag() == TAG_STR {
            return get_str::<D>(r, (*r.rb()).address_tagged(TAG_TAB), k, slow_get::<D>);
        }
        if k.is_num()
            && let Some(i) = k.as_index()
        {
            return get_int::<D>(r, *r.rb(), index(i));
        }
        r.to(slow_get::<D>)
    }
    TGETS<D>(r) { get_field::<D>(r, (*r.rb()).address_tagged(TAG_TAB), r.kgc(r.c()), search_field::<D>) }
    #[inline(never)]
    search_field<D>(r) { get_str::<D>(r, (*r.rb()).address_tagged(TAG_TAB), r.kgc(r.c()), inherited_field::<D>) }
    /// TGETS of a field that the object does not have itself: a method of a class, of a userdata, or of strings.
    #[inline(never)]
    inherited_field<D>(r) {
        match get_inherited(r, *r.rb(), r.kgc(r.c())) {
            Some(v) => {
                *r.ra() = v;
                r.next::<D>()
            }
            None => r.to(slow_get::<D>),
        }
    }
    TGETB<D>(r) { get_int::<D>(r, *r.rb(), r.c()) }
    TGETR<D>(r) { r.to(slow_get::<D>) }
    TSETV<D>(r) {
        if slot::upper(r.rc()) == slot::INT {
            return set_int::<D, false>(r, *r.rb(), index(slot::int(r.rc())));
        }
        r.to(set_by_value::<D>)
    }
    /// TSETV with a key that is not an integer.
    #[inline(never)]
    set_by_value<D>(r) {
        let k = *r.rc();
        if k.tag() == TAG_STR {
            return set_str::<D, false>(r, (*r.rb()).address_tagged(TAG_TAB), k);
        }
        if k.is_num()
            && let Some(i) = k.as_index()
        {
            return set_int::<D, false>(r, *r.rb(), index(i));
        }
        r.to(slow_set::<D>)
    }
    TSETS<D>(r) { set_field::<D>(r, (*r.rb()).address_tagged(TAG_TAB), r.kgc(r.c()), search_field_to_set::<D>) }
    #[inline(never)]
    search_field_to_set<D>(r) { set_str::<D, false>(r, (*r.rb()).address_tagged(TAG_TAB), r.kgc(r.c())) }
    TSETB<D>(r) { set_int::<D, false>(r, *r.rb(), r.c()) }
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
        r.next::<D>()
    }
}

#[cfg(test)]
mod tests {
    use crate::Vm;
    use crate::value::Value;

    #[test]
    fn a_field_is_taken_from_the_node_it_was_last_found_in() {
        let mut vm = Vm::new();
        vm.open_libs();
        let source = b"local t = { alpha = 1, beta = 2, gamma = 3, delta = 4 } return function() return t.gamma end";
        let f = vm.load_chunk(source, b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
        let Ok(get) = vm.call1(Value::func(f), &[]) else { panic!("the chunk fails") };
        let read = |vm: &mut Vm| vm.call1(get, &[]).unwrap_or(Value::NIL);
        assert_eq!(read(&mut vm), Value::int(3));
        let name = vm.new_str(b"gamma");
        let hash = name.hdr.word.get();
        let remembered = vm.interp.field_nodes;
        // With another hash the search for the name begins elsewhere, and for some hash does not find it.
        let mut lost = 0;
        for other in 1..4 {
            name.hdr.word.set(hash ^ other);
            vm.interp.field_nodes = remembered;
            assert_eq!(read(&mut vm), Value::int(3));
            vm.interp.field_nodes.fill(u16::MAX);
            lost += usize::from(read(&mut vm).is_nil());
        }
        name.hdr.word.set(hash);
        assert!(lost > 0);
    }
}
