//! Returns.

use super::{Flow, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, Ty};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::interp::frame;
use perilune_vm::{Value, Vm};

/// Returns below the start that one trace may follow.
const MAX_RETURNS: u32 = 4;

impl Recorder {
    /// RET to RETM.
    pub(super) fn ret(&mut self, vm: &Vm, pc: *const Ins, ins: Ins) -> Rec<Flow> {
        let (from, n) = match ins.op() {
            Bc::RET0 => (0, 0),
            Bc::RET1 => (ins.a(), 1),
            Bc::RET => (ins.a(), ins.d() - 1),
            _ => (ins.a(), ins.d() + vm.multres as usize),
        };
        let mut depth = self.frames.len();
        let (mut below, mut base) = (0isize, self.base);
        while depth > 0 && self.frames[depth - 1].vararg {
            below -= (base - self.frames[depth - 1].base) as isize;
            base = self.frames[depth - 1].base;
            depth -= 1;
        }
        let link = view::slot(vm, below - 1).0;
        if depth == 0 && (below != 0 || !self.may_return_below(link)) {
            // What is below is the interpreter's business.
            if self.first {
                return Err(Abort::NyiReturn);
            }
            return Ok(Flow::Stop(Link::Return, pc));
        }
        self.load_args(vm, from, n)?;
        if depth == 0 {
            return self.return_below(vm, link, from, n);
        }
        if link & 7 == frame::CONT {
            self.pop_metamethod(from, n)?;
            return Ok(Flow::Next);
        }
        if link & 3 != 0 {
            return Err(Abort::NyiReturn);
        }
        self.pop_frame(link, from, n)?;
        Ok(Flow::Next)
    }

    /// May the trace follow the return from the frame that it started in?
    pub(super) fn may_return_below(&self, link: u64) -> bool {
        !self.start_is_root && link & 3 == 0 && self.retdepth < MAX_RETURNS
    }
    /// Leaves the frames down to the caller's; `n` results are in locals from `from` on.
    pub(super) fn pop_frame(&mut self, link: u64, from: usize, n: usize) -> Rec<()> {
        let results: Vec<IrRef> = (0..n).map(|i| self.slots[self.base + from + i]).collect();
        if results.contains(&IrRef::NONE) {
            return Err(Abort::NyiReturn);
        }
        let frame = loop {
            let Some(f) = self.frames.pop() else { return Err(Abort::NyiReturn) };
            if f.cont.is_some() {
                return Err(Abort::NyiReturn);
            }
            if !f.vararg {
                break f;
            }
            self.base = f.base;
        };
        let dest = self.base - 2;
        self.base = frame.base;
        self.enter_frame(frame.proto);
        self.place_results(link, dest, &results)
    }

    /// Puts results where the call at the return address wants them.
    fn place_results(&mut self, link: u64, dest: usize, results: &[IrRef]) -> Rec<()> {
        let call = view::ins(view::at(view::pc_of_link(link), -1));
        let want = if call.b() == 0 { results.len() } else { call.b() - 1 };
        self.clear_from(dest);
        for i in 0..want {
            self.set_abs(dest + i, results.get(i).copied().unwrap_or(IrRef::NIL));
        }
        self.open_top = 0;
        self.multres = 0;
        if call.b() == 0 {
            self.multres = results.len() as u32;
            self.open_top = dest + results.len();
        }
        self.needsnap = true;
        Ok(())
    }

    /// Leaves the start frame of a side trace: the caller's frame becomes the start.
    pub(super) fn return_below(&mut self, vm: &Vm, link: u64, from: usize, n: usize) -> Rec<Flow> {
        let call = view::ins(view::at(view::pc_of_link(link), -1));
        if !matches!(call.op(), Bc::CALL | Bc::CALLM | Bc::ITERC) {
            return Err(Abort::NyiReturn);
        }
        let delta = 2 + call.a();
        let Some(proto) = view::func(vm, -(delta as isize)).proto() else { return Err(Abort::NyiReturn) };
        let results: Vec<IrRef> = (0..n).map(|i| self.slots[self.base + from + i]).collect();
        let kproto = self.b.kgc(Value::proto(proto));
        let klink = self.b.kptr(link);
        self.b.guard(Op::RETF, Ty::P64, kproto, klink)?;
        self.retdepth += 1;
        self.clear_from(0);
        self.base = 2;
        self.note_proto(proto);
        self.enter_frame(proto);
        self.place_results(link, 2 + call.a(), &results)?;
        Ok(Flow::Next)
    }
}
