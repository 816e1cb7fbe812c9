//! Moves, constants, upvalues, closures.
#![allow(
    unsafe_code,
    reason = "registers as in `vm/src/interp/mod.rs`; operands were checked when the bytecode was compiled or read"
)]

use super::compare::pri;
use super::{Driver, R, op};
use crate::gc::color;
use crate::object::{Gc, UpVal};
use crate::value::Value;

#[inline(always)]
unsafe fn upval(r: R, i: usize) -> Gc<UpVal> {
    let f = r.func();
    let p = f.as_ptr().cast::<u8>().add(crate::layout::ofs::FUNC_UPVALUES).cast::<Gc<UpVal>>();
    *p.add(i)
}

#[inline(always)]
unsafe fn set_upval<D: Driver>(r: R, i: usize, v: Value) -> u32 {
    let uv = upval(r, i);
    *uv.v.get() = v;
    if v.is_gc() && uv.hdr.marked.get() & color::BLACK != 0 {
        return r.to(upval_barrier::<D>);
    }
    r.next::<D>()
}

op! {
    /// The barrier for the upvalue that the current instruction has set. Separate, so that the instruction saves no registers for the call.
    #[cold]
    #[inline(never)]
    upval_barrier<D>(r) {
        let uv = upval(r, r.a());
        (*r.vm).barrier_forward(uv.header(), *uv.v.get());
        r.next::<D>()
    }
    MOV<D>(r) {
        *r.ra() = *r.rd();
        r.next::<D>()
    }
    KSTR<D>(r) {
        *r.ra() = r.kgc(r.d());
        r.next::<D>()
    }
    KCDATA<D>(r) {
        *r.ra() = r.kgc(r.d());
        r.next::<D>()
    }
    KSHORT<D>(r) {
        *r.ra() = Value::int(i32::from(r.d() as u16 as i16));
        r.next::<D>()
    }
    KNUM<D>(r) {
        *r.ra() = r.knum(r.d());
        r.next::<D>()
    }
    KPRI<D>(r) {
        *r.ra() = pri(r.d());
        r.next::<D>()
    }
    KNIL<D>(r) {
        super::frame::fill_nil(r.ra(), r.rd().add(1));
        r.next::<D>()
    }
    UGET<D>(r) {
        *r.ra() = *upval(r, r.d()).v.get();
        r.next::<D>()
    }
    USETV<D>(r) { set_upval::<D>(r, r.a(), *r.rd()) }
    USETS<D>(r) { set_upval::<D>(r, r.a(), r.kgc(r.d())) }
    USETN<D>(r) { set_upval::<D>(r, r.a(), r.knum(r.d())) }
    USETP<D>(r) { set_upval::<D>(r, r.a(), pri(r.d())) }
    UCLO<D>(r) {
        if !(*(*r.vm).cur.as_ptr()).open.get().is_null() {
            return r.to(close_upvalues::<D>);
        }
        r.jump::<D>()
    }
    #[inline(never)]
    close_upvalues<D>(r) {
        (*r.vm).close_upvals(r.ra());
        r.jump::<D>()
    }
    FNEW<D>(r) {
        r.sync_top();
        let vm = &mut *r.vm;
        let Some(proto) = r.kgc(r.d()).as_proto() else { return super::Status::ERROR };
        let parent = r.func();
        let f = vm.new_closure(proto, parent, r.base);
        *r.ra() = Value::func(f);
        if vm.heap.gc_due() {
            return r.to(super::tables::gc_check::<D>);
        }
        r.next::<D>()
    }
}
