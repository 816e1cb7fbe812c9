//! Returns to any kind of caller.
#![allow(
    unsafe_code,
    reason = "the link of a frame says how its caller goes on, and the caller's frame has room for the results it asks for"
)]

use super::frame::{self, below, distance, fill_nil, func_of, kind, link_of, move_values};
use super::{Driver, R, Status, cont, op};
use crate::bc::Ins;
use crate::value::Value;

op! {
    RET0<D>(r) {
        let l = link_of(r.base);
        if kind(l) != frame::LUA {
            core::hint::cold_path();
            return return_values::<D>(r, r.base, 0);
        }
        return_fast::<D>(r, l, 0)
    }
    RET1<D>(r) {
        let l = link_of(r.base);
        if kind(l) != frame::LUA {
            core::hint::cold_path();
            return return_values::<D>(r, r.ra(), 1);
        }
        *r.base.sub(2) = *r.ra();
        return_fast::<D>(r, l, 1)
    }
    RET<D>(r) { return_values::<D>(r, r.ra(), r.d() - 1) }
    RETM<D>(r) { return_values::<D>(r, r.ra(), r.d() + (*r.vm).multres as usize) }
}

/// Returns to a Lua caller; its results, `n` of them and not more than 2, are in place from `base[-2]` on.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn return_fast<D: Driver>(mut r: R, l: u64, n: usize) -> u32 {
    r.kbase = constants_of_caller(r.base, l);
    return_to_caller::<D>(r, l, n)
}

/// The same where `kbase` is the caller's already.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn return_to_caller<D: Driver>(mut r: R, l: u64, n: usize) -> u32 {
    debug_assert!(r.kbase == constants_of_caller(r.base, l));
    r.base = base_of_caller(r.base, l);
    r.pc = core::ptr::with_exposed_provenance(l as usize);
    if operand_b(r.pc.sub(1)).wrapping_sub(1) > n {
        core::hint::cold_path();
        r.ins = n as u64;
        return r.to(adjust_results::<D>);
    }
    r.next::<D>()
}

/// Operand A of an instruction, by a load of its own: with the load, shift and mask of a whole instruction, which the base of a caller waits
/// for, a call takes a tenth longer.
///
/// # Safety
/// There is an instruction.
#[inline(always)]
pub(super) unsafe fn operand_a(ins: *const Ins) -> usize {
    (*ins.cast::<[u8; 4]>())[1] as usize
}

/// Operand B, in the same way.
///
/// # Safety
/// There is an instruction.
#[inline(always)]
pub(super) unsafe fn operand_b(ins: *const Ins) -> usize {
    (*ins.cast::<[u8; 4]>())[3] as usize
}

/// The base of the Lua function that has made the frame at `base`, whose link is `l`.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn base_of_caller(base: *mut Value, l: u64) -> *mut Value {
    let pc: *const Ins = core::ptr::with_exposed_provenance(l as usize);
    // In this form there is one instruction less.
    base.sub(1).offset(!(operand_a(pc.sub(1)) as isize))
}

/// The constants of that function.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn constants_of_caller(base: *mut Value, l: u64) -> *const Value {
    func_of(base_of_caller(base, l)).lua_proto().k.get()
}

/// Sets `kbase` for a call of a builtin on the frame at `base`, in the place of the function that ran there.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn with_constants_of_caller(mut r: R, base: *mut Value) -> R {
    let l = link_of(base);
    if kind(l) == frame::LUA {
        r.kbase = constants_of_caller(base, l);
    }
    r
}

op! {
    /// The call before `pc` takes all results, or more than there are; `ins` has their number.
    #[inline(never)]
    adjust_results<D>(r) {
        let call = Ins((*r.pc.sub(1)).0);
        let (dest, n) = (r.base.add(call.a()), r.ins as usize);
        if call.b() == 0 {
            (*r.vm).multres = n as u32;
        } else {
            fill_nil(dest.add(n), dest.add(call.b() - 1));
        }
        r.next::<D>()
    }
}

/// Puts `n` values at `src` into the slots from `dest` on, as many as the call that ends at `pc` takes.
#[inline(always)]
pub(super) unsafe fn place_results(vm: *mut crate::Vm, pc: *const Ins, src: *mut Value, dest: *mut Value, n: usize) {
    let want = (*pc.sub(1)).b();
    if want == 0 {
        move_values(src, dest, n);
        (*vm).multres = n as u32;
    } else {
        let n = n.min(want - 1);
        move_values(src, dest, n);
        fill_nil(dest.add(n), dest.add(want - 1));
    }
}

/// Returns `n` values at `src` from the frame at `r.base`, for any kind of link.
#[inline(always)]
pub(super) unsafe fn return_values<D: Driver>(mut r: R, src: *mut Value, n: usize) -> u32 {
    let l = link_of(r.base);
    if kind(l) == frame::LUA {
        let dest = r.base.sub(2);
        r.pc = core::ptr::with_exposed_provenance(l as usize);
        let call = Ins((*r.pc.sub(1)).0);
        r.base = dest.sub(call.a());
        r.kbase = func_of(r.base).lua_proto().k.get();
        place_results(r.vm, r.pc, src, dest, n);
        return r.next::<D>();
    }
    r.pc = src.cast();
    r.ins = n as u64;
    r.to(return_special::<D>)
}

op! {
    /// Returns from a frame that is not a Lua call's. `pc` has the address of the results, `ins` their number.
    #[inline(never)]
    return_special<D>(r) {
        if kind(link_of(r.base)) != frame::C {
            return r.to(return_over::<D>);
        }
        // The results stay in the function's slot and above, and the caller's state is restored.
        let n = r.ins as usize;
        let dest = r.base.sub(3);
        let vm = r.vm;
        (*vm).pc = core::ptr::with_exposed_provenance((*dest).bits() as usize);
        (*vm).base = below(r.base);
        move_values(r.pc.cast(), dest, n);
        (*vm).top = dest.add(n);
        (*vm).multres = n as u32;
        Status::DONE
    }
    /// Returns from the frame of a vararg function or of a protected call, mostly to a Lua function. Apart from the other kinds, since it saves
    /// no registers.
    #[inline(never)]
    return_over<D>(r) {
        let mut r = r;
        let l = link_of(r.base);
        match kind(l) {
            frame::VARG => r.base = r.base.sub(distance(l)),
            frame::PCALL | frame::XPCALL => {
                // As below.
                r.base = r.base.sub(distance(l));
                r.pc = r.pc.cast::<Value>().sub(1).cast();
                *r.pc.cast::<Value>().cast_mut() = Value::TRUE;
                r.ins += 1;
            }
            frame::CONT => return r.to(return_to_operation::<D>),
            _ => return r.to(return_through::<D>),
        }
        if kind(link_of(r.base)) != frame::LUA {
            return r.to(return_through::<D>);
        }
        return_values::<D>(r, r.pc.cast::<Value>().cast_mut(), r.ins as usize)
    }
    /// Returns from a metamethod to the instruction that has called it.
    #[inline(never)]
    return_to_operation<D>(r) {
        let mut r = r;
        let result = if r.ins > 0 { *r.pc.cast::<Value>() } else { Value::NIL };
        let id = (*r.base.sub(4)).bits();
        r.pc = core::ptr::with_exposed_provenance((*r.base.sub(3)).bits() as usize);
        r.base = below(r.base);
        r = r.with_ins(*r.pc.sub(1), 0);
        if let Some(p) = func_of(r.base).proto() {
            r.kbase = p.k.get();
        }
        cont::resume::<D>(r, id, result)
    }
    /// Returns through frames of neither Lua calls nor calls from Rust. Apart, since it saves registers.
    #[inline(never)]
    return_through<D>(r) {
        let mut r = r;
        let mut src = r.pc.cast::<Value>().cast_mut();
        let mut n = r.ins as usize;
        let vm = &mut *r.vm;
        loop {
            let l = link_of(r.base);
            match kind(l) {
                frame::LUA => return return_values::<D>(r, src, n),
                frame::VARG => r.base = below(r.base),
                frame::PCALL | frame::XPCALL => {
                    // true and the results are what the builtin below returns. The slot in front of the results is one of the frame
                    // that ends, or its link: the results need not move from frame to frame.
                    r.base = below(r.base);
                    src = src.sub(1);
                    *src = Value::TRUE;
                    n += 1;
                }
                frame::CONT => {
                    r.pc = src.cast();
                    r.ins = n as u64;
                    return r.to(return_to_operation::<D>);
                }
                frame::COR => {
                    vm.base = r.base;
                    core::ptr::copy(src, r.base, n);
                    vm.top = r.base.add(n);
                    if vm.finish_coroutine(n).is_err() {
                        return Status::ERROR;
                    }
                    r.base = vm.base;
                    n = vm.multres as usize;
                    src = vm.top.sub(n);
                }
                _ => {
                    r.pc = src.cast();
                    r.ins = n as u64;
                    return r.to(return_special::<D>);
                }
            }
        }
    }
}
