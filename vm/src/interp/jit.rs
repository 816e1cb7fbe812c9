//! The interpreter's side of the compiler: hot counters that underflow, recording, entering and leaving compiled code.
//!
//! Next on the way of a hot loop: `jit/src/engine.rs`.
#![allow(unsafe_code, reason = "an exit has stored all slots that the interpreter looks at, and the base of their frame")]

use super::hook::{enters_code, is_header, plain_form, used_slots};
use super::{Driver, R, Status, op};
use crate::bc::{Ins, Op};
use crate::errno;
use crate::error::LuaResult;
use crate::hooks::Mode;
use crate::ids::ExitId;
use crate::object::InsPtr;
use crate::state::Activity;
use crate::state::Unfinished;
use std::rc::Rc;

/// Calls the compiler because the current instruction is hot.
pub(super) unsafe fn hot<D: Driver>(mut r: R) -> R {
    r.sync_top();
    notify_hot(r.vm, r.pc.sub(1));
    r = r.with_ins(*r.pc.sub(1), r.nargs());
    r.base = (*r.vm).base;
    r
}

// A handler ends in a jump to the next handler only if it needs nothing on the native stack. What needs the native stack is done in these
// functions.

#[inline(never)]
pub(super) unsafe fn notify_hot(vm: *mut crate::Vm, pc: *const Ins) {
    debug_assert!((*vm).interp.counts_hotness, "hot counters rest while the compiler is off");
    let _errno = errno::keep();
    let compiler = Rc::clone(&(*vm).compiler);
    let before = (*vm).begin_activity(Activity::Compiler);
    let outer = (*vm).heap.set_internal(true);
    // SAFETY: the interpreter runs the instruction, so its prototype lives.
    compiler.hot(&mut *vm, InsPtr::new(pc));
    (*vm).heap.set_internal(outer);
    (*vm).begin_activity(before);
}

/// Has the compiler record the instruction at `pc`; returns the instruction to execute.
#[inline(never)]
unsafe fn notify_record(vm: *mut crate::Vm, pc: *const Ins) -> u32 {
    let _errno = errno::keep();
    let compiler = Rc::clone(&(*vm).compiler);
    let before = (*vm).begin_activity(Activity::Compiler);
    let outer = (*vm).heap.set_internal(true);
    // SAFETY: as above.
    compiler.record(&mut *vm, InsPtr::new(pc));
    (*vm).heap.set_internal(outer);
    (*vm).begin_activity(before);
    let ins = *pc;
    if (*vm).interp.mode == Mode::Record && (enters_code(ins.op()) || ins.op() == Op::JFORI) {
        // The recording passes the start of another trace: the instruction is executed as it was before it was compiled.
        return plain_form(&*vm, ins).0;
    }
    ins.0
}

/// How to continue after an exit: with the next instruction.
const GO_ON: u32 = 0;
/// A compiled loop over `next` is executed once in its original form, which is in `vm.resume_ins`.
const ONCE: u32 = 1;
/// An error is being raised.
const FAILED: u32 = 2;
/// Trace `vm.jit_trace` is entered.
const ENTER: u32 = 3;

/// Calls the compiler for an exit. The position to continue at is left in `vm.pc`.
#[inline(never)]
unsafe fn notify_exit(vm: *mut crate::Vm, exit: u32) -> u32 {
    let _errno = errno::keep();
    let compiler = Rc::clone(&(*vm).compiler);
    (*vm).begin_activity(Activity::Exit);
    let resume = compiler.exit(&mut *vm, ExitId::new(exit));
    (*vm).begin_activity(Activity::Interpreter);
    (*vm).multres = resume.multres;
    (*vm).pc = resume.pc;
    if cfg!(debug_assertions)
        && let Err(e) = (*vm).verify_frames(resume.pc)
    {
        panic!("after exit {exit}: {e}");
    }
    if resume.failed {
        (*vm).pc = resume.pc.add(1);
        return FAILED;
    }
    if let Some(trace) = resume.enter {
        (*vm).compiled.trace = trace.get();
        return ENTER;
    }
    let ins = *resume.pc;
    if ins.op() == Op::JLOOP && (*vm).interp.mode == Mode::Interpret {
        let original = compiler.original_ins(ins);
        if original.op() == Op::ITERN {
            // Entering the trace again would leave it at once, for ever.
            (*vm).interp.resume_ins = original;
            return ONCE;
        }
    }
    GO_ON
}

/// Takes an exit for which the compiler need not be called; returns the position to continue at, and the instruction to execute once in place
/// of the start of a trace there. None if the compiler must be called.
#[inline(always)]
unsafe fn take_plain_exit(vm: *mut crate::Vm, exit: u32) -> Option<(*const Ins, Option<Ins>)> {
    if (*vm).compiled.plain_exits.is_null() {
        return None;
    }
    let plain = (*vm).compiled.plain_exits.add(exit as usize);
    let pc = (*plain).pc;
    if (*plain).remaining == 0 || !(*vm).may_take_plain_exits() {
        return None;
    }
    let base = (*vm).compiled.base;
    if base.wrapping_add((*plain).stack as usize) > (*vm).stack_limit {
        return None;
    }
    (*plain).remaining -= 1;
    (*vm).base = base;
    if (*plain).unboxed_len != 0 {
        // SAFETY: it is the exit that was taken, and while it may be taken so its trace keeps the list.
        crate::hooks::box_slots(base, core::slice::from_raw_parts((*plain).unboxed, (*plain).unboxed_len as usize));
    }
    (*vm).multres = (*plain).multres;
    if cfg!(debug_assertions)
        && let Err(e) = (*vm).verify_frames(pc)
    {
        panic!("after exit {exit}: {e}");
    }
    let once = (*plain).itern.filter(|_| (*pc).op() == Op::JLOOP);
    debug_assert!(once.is_none_or(|original| original == (*vm).compiler.original_ins(*pc)));
    Some((pc, once))
}

op! {
    /// Executes an `ITERN` in place of the instruction at `r.pc`, where a trace starts. Not inlined: the handlers that do this at some of
    /// their exits need no native stack otherwise.
    #[inline(never)]
    iterate_once<D>(r) {
        let mut r = r;
        r.pc = r.pc.add(1);
        if (*r.vm).counts_fuel() && burn(r).is_err() {
            return Status::ERROR;
        }
        r.to(super::loops::ITERN_uncounted::<D>)
    }
    /// A function header has become hot.
    #[cold]
    #[inline(never)]
    hot_func<D>(r) {
        let vm = r.vm;
        (*vm).base = r.base;
        (*vm).top = r.base.add(r.nargs());
        (*vm).pc = r.pc;
        notify_hot(vm, r.pc.sub(1));
        let mut r = r;
        r.base = (*vm).base;
        if r.i().op() == Op::FUNCV {
            return r.to(super::call::IFUNCV::<D>);
        }
        super::call::lua_header::<D>(r)
    }
    /// Before each instruction while recording.
    #[cold]
    #[inline(never)]
    record_step<D>(r) {
        if r.i().op() == Op::STITCH {
            return r.to(super::stitch::pass::<D>);
        }
        let vm = r.vm;
        (*vm).base = r.base;
        (*vm).pc = r.pc;
        (*vm).set_asked_hook();
        if (*vm).interp.mode != Mode::Record {
            // The recording was aborted.
            return r.to(super::hook::hook_step::<D>);
        }
        let header = is_header(r.i().op());
        (*vm).top = if header { r.base.add(r.nargs()) } else { r.base.add(used_slots(r.func(), r.pc, (*vm).multres)) };
        (*vm).interp.record_nargs = r.nargs() as u32;
        let ins = notify_record(vm, r.pc.sub(1));
        let mut r = r.with_ins(Ins(ins), r.nargs());
        r.base = (*vm).base;
        if (*vm).counts_fuel() && burn(r).is_err() {
            return Status::ERROR;
        }
        run_plain::<D>(r)
    }
    /// The same at the header of a fast function.
    #[cold]
    #[inline(never)]
    record_fast<D>(r) { super::fast::at_code(r).to(record_step::<D>) }
    /// Before each instruction while there is a limit of fuel.
    fuel_step<D>(r) {
        if r.i().op() != Op::STITCH && burn(r).is_err() {
            return Status::ERROR;
        }
        run_counted::<D>(r)
    }
    /// The same at the header of a fast function.
    fuel_fast<D>(r) { super::fast::at_code(r).to(fuel_step::<D>) }
    /// Leaves compiled code in the middle of a builtin.
    #[cold]
    #[inline(never)]
    after_native<D>(r) {
        super::native::finish::<D>(r)
    }
    /// Leaves compiled code; the exit's number is in `ins`.
    #[inline(never)]
    after_exit<D>(r) {
        let vm = r.vm;
        (*vm).begin_activity(Activity::Interpreter);
        if (*vm).compiled.unfinished != Unfinished::None {
            return r.to(after_native::<D>);
        }
        if let Some((pc, once)) = take_plain_exit(vm, r.ins as u32) {
            let mut r = r;
            (r.base, r.pc) = ((*vm).base, pc);
            if let Some(p) = r.func().proto() {
                r.kbase = p.k.get();
            }
            if let Some(original) = once {
                return r.with_ins(original, 0).to(iterate_once::<D>);
            }
            return r.next::<D>();
        }
        r.to(asked_exit::<D>)
    }
    /// Leaves compiled code by an exit for which the compiler is called.
    #[cold]
    #[inline(never)]
    asked_exit<D>(r) {
        let vm = r.vm;
        (*vm).base = (*vm).compiled.base;
        let how = notify_exit(vm, r.ins as u32);
        if how == FAILED {
            return Status::ERROR;
        }
        let mut r = r;
        r.base = (*vm).base;
        r.pc = (*vm).pc;
        if let Some(p) = r.func().proto() {
            r.kbase = p.k.get();
        }
        if how == ONCE {
            return r.with_ins((*vm).interp.resume_ins, 0).to(iterate_once::<D>);
        }
        if how == ENTER {
            return enter_trace::<D>(r, (*vm).compiled.trace);
        }
        r.next::<D>()
    }
}

/// Takes the fuel of the current instruction.
#[inline(always)]
pub(super) unsafe fn burn(r: R) -> LuaResult<()> {
    if (*r.vm).fuel.left == 0 {
        r.sync();
        if is_header(r.i().op()) {
            // The handler of an `xpcall` runs above the arguments of a builtin that does not run.
            (*r.vm).top = r.base.add(r.nargs());
        }
    }
    (*r.vm).burn(r.i())
}

/// The form of an instruction that does not count.
pub(super) fn uncounted(ins: Ins) -> Ins {
    match ins.op() {
        Op::FORL => ins.with_op(Op::IFORL),
        Op::ITERL => ins.with_op(Op::IITERL),
        Op::LOOP => ins.with_op(Op::ILOOP),
        Op::FUNCF => ins.with_op(Op::IFUNCF),
        Op::FUNCV => ins.with_op(Op::IFUNCV),
        _ => ins,
    }
}

/// Executes `r.ins` by the plain table, whatever table is in use: hot counters do not underflow while recording.
#[inline(always)]
unsafe fn run_plain<D: Driver>(r: R) -> u32 {
    if (*r.vm).interp.mode == Mode::Record || r.i().op() == Op::ITERN {
        return execute_once::<D>(r);
    }
    run_counted::<D>(r)
}

/// Executes `r.ins` by the plain table, whatever table is in use. Hot counters rest while the compiler is off.
#[inline(always)]
pub(super) unsafe fn run_counted<D: Driver>(r: R) -> u32 {
    if !(*r.vm).interp.counts_hotness {
        return execute_once::<D>(r);
    }
    r.to(D::plain(r.i().op()))
}

/// Executes `r.ins`, which has already been dispatched, counted, and seen by the compiler or by hooks: by the plain table, whatever table
/// is in use, and without counting.
#[inline(always)]
pub(super) unsafe fn execute_once<D: Driver>(mut r: R) -> u32 {
    let ins = uncounted(r.i());
    r = r.with_ins(ins, r.nargs());
    if ins.op() == Op::ITERN {
        return r.to(super::loops::ITERN_uncounted::<D>);
    }
    r.to(D::plain(r.i().op()))
}

/// Runs trace `trace` on the current frame.
#[inline(always)]
pub(super) unsafe fn enter_trace<D: Driver>(r: R, trace: u32) -> u32 {
    let vm = r.vm;
    (*vm).base = r.base;
    (*vm).compiled.trace = trace;
    *(*vm).compiled.trace_entered.add(trace as usize) += 1;
    (*vm).begin_activity(Activity::Compiled);
    let exit = ((*vm).compiled.enter)(vm, r.base, trace);
    // The frame and the position are where the exit leads to. Those of the entry are not kept through the call: each would take a register
    // that the handler saves and restores.
    let r = R { pc: core::ptr::null(), base: core::ptr::null_mut(), a: 0, ins: exit, ..r };
    r.to(after_exit::<D>)
}

impl crate::Vm {
    /// Does no work wait that only the compiler does at an exit: a sample, a hook, an interrupt, a collection?
    #[inline(always)]
    fn may_take_plain_exits(&self) -> bool {
        super::native::is_plain(self) && self.heap.rests_after_exit()
    }
    /// Switches between interpreting and recording. Takes effect when the callback of the compiler returns.
    pub fn set_mode(&mut self, mode: Mode) {
        self.interp.mode = mode;
        self.update_dispatch();
    }
}
