//! The frame verifier: walks the innermost frames of the running coroutine and reports the first broken invariant. Debug builds run it at
//! each exit of compiled code, where a wrong snapshot shows, and at the start of each recording.
//!
//! Checked, of the running frame:
//! * it lies on the stack of the running coroutine, and its whole frame size below the stack's limit;
//! * the instruction to continue at belongs to its function.
//!
//! Checked, of each frame:
//! * there is a function below its base, and no slot of it refers to a freed object;
//! * its link is of a known kind and leads to a frame further down; a return address is after a call of the function below; a
//!   continuation lies where that function's frame ends, and is one; the moved frame of a vararg function lies above the same function;
//!   a protected call was made by `pcall` or `xpcall`; the first frame of a coroutine is the lowest.
#![allow(unsafe_code, reason = "each frame is checked to lie on the stack before anything is read from it")]

use super::cont;
use super::frame::{self, below, kind, link_of};
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::object::{Func, Gc, Kind, Proto, Thread};
use crate::stdlib::Builtin;
use crate::value::Value;

/// The most frames that are checked: with deep recursion, checking all would take quadratic time.
const FRAMES: usize = 32;

fn check(ok: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if ok { Ok(()) } else { Err(what()) }
}

impl Vm {
    /// Checks the frames of the running coroutine, whose innermost frame continues at the instruction at `pc`.
    ///
    /// # Errors
    /// The broken invariant.
    pub fn verify_frames(&self, pc: *const Ins) -> Result<(), String> {
        let (stack, size) = (self.cur.stack.get(), self.cur.size.get() as usize);
        let end = stack.wrapping_add(size);
        let lowest = stack.wrapping_add(2);
        let mut base = self.base;
        check((lowest..end).contains(&base), || "the running frame is not on the stack of its coroutine".into())?;
        // SAFETY: checked above.
        let f = unsafe { self.function_at(base)? };
        let p = f.proto().ok_or("the running frame is that of a builtin")?;
        check(p.pc_of(pc).is_some(), || "the instruction to go on at is not one of the running function".into())?;
        let limit = end.wrapping_sub(Thread::EXTRA as usize);
        check(base.wrapping_add(p.framesize() as usize) <= limit, || "the running frame does not fit the stack".into())?;
        let mut slots = base.wrapping_add(p.framesize() as usize);
        for depth in 0..FRAMES {
            let at = |e: String| format!("frame {depth} from the top: {e}");
            // SAFETY: the first base was checked above, the others are those that checked links lead to.
            let next = unsafe {
                self.function_at(base).map_err(at)?;
                self.check_slots(base, slots).map_err(at)?;
                self.verify_link(base, lowest).map_err(at)?
            };
            let Some((next, end)) = next else { return Ok(()) };
            (base, slots) = (next, end);
        }
        Ok(())
    }

    /// The function of the frame at `base`.
    ///
    /// # Safety
    /// `base` is on the stack, two slots or more above its start.
    unsafe fn function_at(&self, base: *mut Value) -> Result<Gc<Func>, String> {
        // SAFETY: the caller has checked that `base` is above the lowest frame of the stack.
        let v = unsafe { *base.sub(2) };
        v.as_func()
            .filter(|f| f.hdr.kind() == Kind::Func)
            .ok_or_else(|| format!("a {} where its function belongs", v.type_name()))
    }

    /// Does a slot from `from` to `to` refer to an object that was freed, or of another kind than its tag says?
    ///
    /// # Safety
    /// Both are on one stack.
    unsafe fn check_slots(&self, from: *mut Value, to: *mut Value) -> Result<(), String> {
        let mut at = from;
        while at < to {
            // SAFETY: the slots are on the stack, all of whose memory is initialised.
            let v = unsafe { *at };
            if let Some(o) = v.as_gc() {
                let slot = (at as usize - from as usize) / size_of::<Value>();
                check(o.kind() != Kind::Free, || format!("slot {slot} refers to a {} that was freed", v.type_name()))?;
                check(!self.heap.is_dead(&o), || format!("slot {slot} refers to a dead {}", v.type_name()))?;
            }
            at = at.wrapping_add(1);
        }
        Ok(())
    }

    /// Checks the link of the frame at `base`. Returns the base of the frame below with the end of that frame's values; none where the walk
    /// ends.
    ///
    /// # Safety
    /// `base` is the base of a frame, whose links up to it were checked.
    unsafe fn verify_link(&self, base: *mut Value, lowest: *mut Value) -> Result<Option<(*mut Value, *mut Value)>, String> {
        // SAFETY: the frame was found by links that were checked, so its link is on the stack.
        let link = unsafe { link_of(base) };
        let kind = kind(link);
        if kind == frame::COR || kind == frame::C && link >> 3 == 0 {
            return check(base <= lowest.wrapping_add(1), || "a first frame that is not the lowest".into()).map(|()| None);
        }
        if kind == frame::LUA {
            // SAFETY: the link of a Lua function is a return address.
            unsafe { self.verify_return_address(link)? };
        } else {
            let delta = frame::distance(link);
            let room = (base as usize - lowest as usize) / size_of::<Value>();
            check((2..=room).contains(&delta), || format!("a link of kind {kind} over {delta} slots"))?;
        }
        // SAFETY: the link was checked above as far as needed here.
        let next = unsafe { below(base) };
        check(next >= lowest, || "a link that leads out of the stack".into())?;
        if kind == frame::C {
            // The frame below may be that of a coroutine on which nothing runs.
            // SAFETY: checked to be on the stack.
            return Ok(unsafe { self.function_at(next) }.ok().map(|_| (next, base.wrapping_sub(3))));
        }
        // SAFETY: both are on the stack.
        let (callee, caller) = unsafe { (self.function_at(base)?, self.function_at(next)) };
        let caller = caller.map_err(|e| format!("below it, {e}"))?;
        let distance = (base as usize - next as usize) / size_of::<Value>();
        match kind {
            frame::LUA => {
                let p = caller.proto().ok_or("a return address into a builtin")?;
                let back: *const Ins = core::ptr::with_exposed_provenance(link as usize);
                check(p.pc_of(back.wrapping_sub(1)).is_some(), || "a return address outside of the caller".into())?;
                Ok(Some((next, base.wrapping_sub(2))))
            }
            frame::CONT => {
                let p = caller.proto().ok_or("a continuation of a builtin")?;
                // SAFETY: the kind of the link says so, and the frame below is at least as far away.
                unsafe { self.verify_continuation(base, p, distance)? };
                Ok(Some((next, base.wrapping_sub(4))))
            }
            frame::VARG => {
                check(callee == caller, || "a moved frame above that of another function".into())?;
                Ok(Some((next, base.wrapping_sub(2))))
            }
            frame::PCALL | frame::XPCALL => {
                let builtin = Builtin::from_id(caller.ffid());
                let expected = if kind == frame::PCALL { Builtin::Pcall } else { Builtin::Xpcall };
                check(builtin == Some(expected), || format!("a protected call made by {builtin:?}"))?;
                Ok(Some((next, base.wrapping_sub(2))))
            }
            other => Err(format!("a link of kind {other}")),
        }
    }

    /// Is the address after an instruction that calls?
    ///
    /// # Safety
    /// `link` is not 0 only if it is the address after an instruction that its function keeps.
    unsafe fn verify_return_address(&self, link: u64) -> Result<(), String> {
        check(link != 0, || "no return address".into())?;
        // SAFETY: links without a kind are return addresses, inside a prototype or a stitch stub, which the frame below keeps.
        let call = unsafe { *core::ptr::with_exposed_provenance::<Ins>(link as usize).sub(1) };
        check(matches!(call.op(), Op::CALL | Op::CALLM | Op::ITERC), || format!("a return address after {}", call.op().name()))
    }

    /// Checks the continuation of a metamethod that function `p` called, whose frame is `distance` slots above that function's.
    ///
    /// # Safety
    /// `base` is the base of a frame made for a metamethod: four slots below it belong to it.
    unsafe fn verify_continuation(&self, base: *mut Value, p: Gc<Proto>, distance: usize) -> Result<(), String> {
        // SAFETY: four slots below the base of such a frame belong to it.
        let (id, pc) = unsafe { ((*base.sub(4)).bits(), (*base.sub(3)).bits()) };
        check(id & 7 <= cont::CONCAT, || format!("continuation {id}"))?;
        let pc: *const Ins = core::ptr::with_exposed_provenance(pc as usize);
        check(p.pc_of(pc.wrapping_sub(1)).is_some(), || "a continuation outside of its function".into())?;
        let expected = p.framesize() as usize + 4;
        check(distance == expected, || format!("a continuation {distance} slots above its function, not {expected}"))
    }
}
