//! Consistency checks, in debug builds: before each recorded instruction, frames and slots of the recorder are compared with those of the
//! interpreter (LuaJIT's `rec_check_slots`).
//!
//! A mistake in following calls and returns (an instruction recorded twice, a frame forgotten) is found here at its cause, and not at the
//! exit that restores a wrong state much later.

use super::{FrameKind, Recorder, view};
use crate::ir::{Const, IrRef, SlotIdx, Ty};
use perilune_vm::interp::frame;
use perilune_vm::interp::hook::is_header;
use perilune_vm::object::{Gc, InsPtr, Proto};
use perilune_vm::{Value, Vm};

fn check(ok: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if ok { Ok(()) } else { Err(what()) }
}

impl Recorder {
    /// Compares frames and slots with those of the interpreter, whose running frame is at `vm.base`, before the instruction at `pc`.
    ///
    /// # Errors
    /// Says what differs.
    pub(super) fn check(&self, vm: &Vm, pc: InsPtr) -> Result<(), String> {
        self.check_frames(vm)?;
        self.check_slots(vm, pc)
    }

    /// The frames entered on the trace: functions, distances and kinds of links.
    fn check_frames(&self, vm: &Vm) -> Result<(), String> {
        let running = self.base.index() as isize;
        let proto = view::func(vm, 0).proto().ok_or("the running function is a builtin")?;
        check(proto == self.proto, || "the running function is another one".into())?;
        let mut base = self.base;
        for (depth, f) in self.stack.frames.iter().enumerate().rev() {
            let at = base.index() as isize - running;
            let link = view::slot(vm, at - 1).bits();
            let kind = frame::kind(link);
            let fits = match f.kind {
                FrameKind::Call => kind == frame::LUA,
                FrameKind::Vararg => kind == frame::VARG,
                FrameKind::Cont(_) => kind == frame::CONT,
                FrameKind::Protected => kind == frame::PCALL || kind == frame::XPCALL,
            };
            check(fits, || format!("frame {depth}: entered by {:?}, but its link is of kind {kind}", f.kind))?;
            let distance = match kind {
                frame::LUA => 2 + view::at(view::pc_of_link(link), -1).ins().a(),
                _ => (link >> 3) as usize,
            };
            check(base == f.base + distance, || {
                format!("frame {depth}: {} slots above the next, but its link says {distance}", base - f.base)
            })?;
            base = f.base;
        }
        check(base == SlotIdx::BASE, || "the lowest frame is not the one that the trace starts in".into())
    }

    /// Values of known slots have the type of their instruction, and are equal if they are constants. Slots that are no longer read may
    /// hold any value, since builtins write to the slots of their arguments.
    fn check_slots(&self, vm: &Vm, pc: InsPtr) -> Result<(), String> {
        let analysed = |p: Gc<Proto>| self.snaps.live.iter().any(|l| l.0 == p && l.1.is_some());
        if !analysed(self.proto) || !self.stack.frames.iter().all(|f| analysed(f.proto)) {
            return Ok(());
        }
        let top = if is_header(pc.ins().op()) { self.base + vm.interp.record_nargs as usize } else { self.frame_top() };
        let top = top.min(self.slots.top());
        // In a frame that called a metamethod, temporaries that the instruction has consumed may hold any value.
        let last = self.stack.frames.iter().rposition(|f| matches!(f.kind, FrameKind::Cont(_) | FrameKind::Protected));
        let from = last.map_or(SlotIdx::FUNC, |i| self.stack.frames.get(i + 1).map_or(self.base, |f| f.base));
        for (at, dead) in self.dead(pc, top).into_iter().enumerate().skip(from.index()) {
            let at = SlotIdx::new(at);
            let r = self.slots[at];
            if r == IrRef::NONE || dead.is_some() {
                continue;
            }
            let v = view::slot(vm, (at.index() as isize) - self.base.index() as isize);
            let fits = if self.is_link(at) { self.is_word(r, v.bits()) } else { self.is_value(r, v) };
            check(fits, || {
                let known = self.b.trace.konst(r).map_or_else(|| format!("{:?} {r:?}", self.ty(r)), |k| format!("{k:?}"));
                format!("slot {at}: {known} to the recorder, {v:?} to the interpreter")
            })?;
        }
        Ok(())
    }

    /// Does the slot hold something other than a Lua value: a link, or a part of a continuation?
    fn is_link(&self, at: SlotIdx) -> bool {
        let cont = |i: usize, base: SlotIdx| {
            matches!(self.stack.frames[i].kind, FrameKind::Cont(_)) && (at + 3 == base || at + 4 == base)
        };
        let bases = self.stack.frames.iter().skip(1).map(|f| f.base).chain([self.base]);
        at == SlotIdx::LINK
            || at + 1 == self.base
            || bases.enumerate().take(self.stack.frames.len()).any(|(i, base)| at + 1 == base || cont(i, base))
    }
    fn is_word(&self, r: IrRef, word: u64) -> bool {
        match self.b.trace.konst(r) {
            Some(Const::Ptr(k)) => k == word,
            Some(_) => true,
            None => true,
        }
    }
    fn is_value(&self, r: IrRef, v: Value) -> bool {
        match self.b.trace.konst(r) {
            Some(Const::Int(k)) => v.as_number() == Some(f64::from(k)),
            Some(Const::Num(k)) => v
                .as_number()
                .is_some_and(|n| n.to_bits() == k || n == f64::from_bits(k) || n.is_nan() && f64::from_bits(k).is_nan()),
            Some(Const::Gc(k)) => k.bits() == v.bits(),
            Some(Const::Pri(_)) => Ty::of_value(v) == self.ty(r),
            Some(_) => true,
            None => {
                let (ty, found) = (self.ty(r), Ty::of_value(v));
                ty == found || ty == Ty::U64 || (ty.is_number() || ty.is_int()) && v.is_number()
            }
        }
    }
}
