//! Returns, within the trace and below its start (LuaJIT's `lj_record_ret`).

use super::stack::Cont;
use super::{Flow, FrameKind, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, SlotIdx, Ty, xload};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::interp::{cont, frame};
use perilune_vm::object::{Gc, InsPtr, Proto};
use perilune_vm::{Value, Vm};

/// How many returns below its start one trace may follow.
const MAX_RETURNS: u32 = 4;

/// The frames from the start frame down to the next Lua function.
struct Below {
    /// The link of each frame, with the position of the frame in slots from the start frame's base.
    links: Vec<(isize, u64)>,
    /// Protected calls that end.
    protected: usize,
    /// The function below.
    proto: Gc<Proto>,
}

/// Slots from a frame with this link down to the one below; `None` for a frame that traces do not return from.
pub(super) fn distance(link: u64) -> Option<usize> {
    match frame::kind(link) {
        frame::LUA => {
            let call = view::at(view::pc_of_link(link), -1).ins();
            matches!(call.op(), Bc::CALL | Bc::CALLM | Bc::ITERC).then(|| 2 + call.a())
        }
        frame::CONT | frame::VARG | frame::PCALL | frame::XPCALL => Some(frame::distance(link)),
        _ => None,
    }
}

impl Recorder {
    /// RET to RETM.
    pub(super) fn ret(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let (from, n) = match ins.op() {
            Bc::RET0 => (0, 0),
            Bc::RET1 => (ins.a(), 1),
            Bc::RET => (ins.a(), ins.d() - 1),
            _ => (ins.a(), ins.d() + vm.multres as usize),
        };
        if self.comes_back(pc) {
            return Ok(Flow::Stop(Link::DownRec, pc));
        }
        if self.may_end(vm) {
            self.load_args(vm, from, n)?;
            let results = (0..n).map(|i| self.slots[self.base + from + i]).collect();
            return self.end_coroutine(vm, pc, results);
        }
        if !self.may_return(vm) {
            if self.start.is_root && self.start.body.is_some() && !self.has_switched() {
                // An iteration that leaves the loop is not a trace of the loop.
                return Err(Abort::LeavingLoop);
            }
            // The interpreter returns to the frame below.
            return if self.start.pending { Err(Abort::NyiReturn) } else { Ok(Flow::Stop(Link::Return, pc)) };
        }
        self.load_args(vm, from, n)?;
        let results = (0..n).map(|i| self.slots[self.base + from + i]).collect();
        let first = if n > 0 { view::slot(vm, from as isize) } else { Value::NIL };
        if !self.stack.frames.iter().any(|f| matches!(f.kind, FrameKind::Cont(c) if c.id & 7 == cont::CONCAT)) {
            return self.return_results(vm, results, Some(first), false);
        }
        // The rest of the concatenation may call a builtin that cannot be recorded: then the trace ends in front of the return.
        let before = self.state();
        match self.return_results(vm, results, Some(first), false) {
            Err(Abort::NyiFastFunc) if !self.start.pending => {
                self.restore(before);
                Ok(Flow::Stop(Link::Interp, pc))
            }
            done => done,
        }
    }

    /// Down-recursion: is this the return that the trace started at, in a frame further down?
    pub(super) fn comes_back(&self, pc: InsPtr) -> bool {
        let again = self.start.returning && pc == self.start.pc && self.stack.frames.is_empty();
        again && self.stack.returned >= self.params.recunroll.max(1) && self.open.count == 0
    }
    /// May the trace follow the return from the current frame?
    pub(super) fn may_return(&self, vm: &Vm) -> bool {
        !self.stack.leaves_start() || self.below(vm, self.base.index() as isize).is_some()
    }
    /// The frames below the start frame, if the trace can return to them. Slot `running` is at `vm.base`.
    fn below(&self, vm: &Vm, running: isize) -> Option<Below> {
        if self.start.is_root && !self.has_switched() || self.stack.returned >= MAX_RETURNS {
            return None;
        }
        let start = 2 - running;
        let (mut at, mut links, mut protected) = (0, Vec::new(), 0);
        loop {
            let link = view::slot(vm, start + at - 1).bits();
            links.push((at, link));
            at -= distance(link)? as isize;
            match frame::kind(link) {
                frame::VARG => {}
                frame::PCALL | frame::XPCALL => protected += 1,
                _ => return view::func(vm, start + at).proto().map(|proto| Below { links, protected, proto }),
            }
        }
    }

    /// Returns from the current frame. `first` is the value of the first result, if it is known. `checked` says that
    /// [`Recorder::check_below`] has checked the links below the start frame.
    pub(super) fn return_results(
        &mut self,
        vm: &Vm,
        mut results: Vec<IrRef>,
        mut first: Option<Value>,
        checked: bool,
    ) -> Rec<Flow> {
        if results.contains(&IrRef::NONE) {
            return Err(Abort::NyiReturn);
        }
        let running = self.base.index() as isize;
        while let Some(f) = self.stack.frames.pop() {
            let left = core::mem::replace(&mut self.base, f.base);
            match f.kind {
                FrameKind::Vararg => {}
                FrameKind::Protected => {
                    results.insert(0, IrRef::TRUE);
                    first = Some(Value::TRUE);
                }
                FrameKind::Call => {
                    self.enter_frame(f.proto);
                    let link = view::slot(vm, left.index() as isize - running - 1).bits();
                    self.place_results(link, left - 2, &results);
                    return Ok(Flow::Next);
                }
                FrameKind::Cont(cont) => {
                    self.enter_frame(f.proto);
                    return self.continue_with(vm, cont, running, &results, first);
                }
            }
        }
        self.return_below(vm, running, (results, first), checked)
    }

    /// Puts results into the slots that the call in front of the return address names.
    fn place_results(&mut self, link: u64, dest: SlotIdx, results: &[IrRef]) {
        let call = view::at(view::pc_of_link(link), -1).ins();
        self.place_list(call.b(), dest, results);
        self.snaps.needed = true;
    }
    /// Puts a list of results in the slots from `dest` on: `want` - 1 of them, or all if that is 0.
    pub(super) fn place_list(&mut self, want: usize, dest: SlotIdx, results: &[IrRef]) {
        let n = if want == 0 { results.len() } else { want - 1 };
        self.clear_from(dest);
        for i in 0..n {
            self.set_abs(dest + i, results.get(i).copied().unwrap_or(IrRef::NIL));
        }
        let open = want == 0;
        self.open.count = if open { n as u32 } else { 0 };
        self.open.top = if open { dest + n } else { SlotIdx::FUNC };
    }

    /// Leaves the start frame of a side trace: the frame of the next Lua function below becomes the start. All links in between are checked
    /// before the first frame is left, since exits count slots from the running frame.
    fn return_below(
        &mut self,
        vm: &Vm,
        running: isize,
        (mut results, mut first): (Vec<IrRef>, Option<Value>),
        checked: bool,
    ) -> Rec<Flow> {
        let Some(Below { links, protected, proto }) = self.below(vm, running) else { return Err(Abort::NyiReturn) };
        let (at, link) = links.last().copied().ok_or(Abort::NyiReturn)?;
        let start = 2 - running;
        let cont = if checked { Recorder::cont_below(vm, start + at, link) } else { self.check_links(vm, start, &links, 1)? };
        let kproto = self.b.kgc(Value::proto(proto));
        for &(_, link) in &links {
            let ins = crate::ir::Ins::new(Op::RETF, Ty::P64, kproto, self.b.kptr(link));
            self.b.emit_ins(crate::ir::Ins { flags: if checked { 0 } else { ins.flags }, ..ins })?;
        }
        self.stack.returned += 1;
        self.clear_from(SlotIdx::FUNC);
        self.base = SlotIdx::BASE;
        self.note_proto(proto);
        self.enter_frame(proto);
        for _ in 0..protected {
            results.insert(0, IrRef::TRUE);
            first = Some(Value::TRUE);
        }
        if let Some(cont) = cont {
            let running = 2 + (link >> 3) as isize - at - start;
            return self.continue_with(vm, cont, running, &results, first);
        }
        let call = view::at(view::pc_of_link(link), -1).ins();
        self.place_results(link, SlotIdx::BASE + call.a(), &results);
        Ok(Flow::Next)
    }
    /// Leaves the frame of the variable arguments that a side trace starts in. The frame below it, with the fixed arguments, becomes the start.
    pub(super) fn leave_vararg_frame(&mut self, vm: &Vm) -> Rec<()> {
        let running = self.base.index() as isize;
        let link = view::slot(vm, 1 - running).bits();
        if frame::kind(link) != frame::VARG {
            return Err(Abort::NyiReturn);
        }
        let kproto = self.b.kgc(Value::proto(self.proto));
        let klink = self.b.kptr(link);
        self.b.emit_ins(crate::ir::Ins::new(Op::RETF, Ty::P64, kproto, klink))?;
        self.clear_from(SlotIdx::FUNC);
        self.base = SlotIdx::BASE;
        Ok(())
    }
    /// Checks all links that a return from the current frame goes through, since nothing can be checked after an effect. Returns false if
    /// the frame that is returned to needs more than the values.
    pub(super) fn check_below(&mut self, vm: &Vm) -> Rec<bool> {
        let running = self.base.index() as isize;
        let Some(Below { links, .. }) = self.below(vm, running) else { return Err(Abort::NyiReturn) };
        let cont = self.check_links(vm, 2 - running, &links, 0)?;
        Ok(cont.is_none_or(|c| matches!(c.id, cont::TO_A | cont::DROP)))
    }
    /// Guards the values of the links from number `from` on, and the continuation below the last one, if there is one. Returns that
    /// continuation.
    pub(super) fn check_links(&mut self, vm: &Vm, start: isize, links: &[(isize, u64)], from: usize) -> Rec<Option<Cont>> {
        for &(at, link) in &links[from..] {
            self.guard_word(at - 1, link)?;
        }
        let Some(&(at, link)) = links.last() else { return Ok(None) };
        let cont = Recorder::cont_below(vm, start + at, link);
        if cont.is_some() {
            for i in [4, 3] {
                self.guard_word(at - i, view::slot(vm, start + at - i).bits())?;
            }
        }
        Ok(cont)
    }
    /// The continuation of a frame whose link is `link`; the frame is `at` slots from `vm.base`.
    pub(super) fn cont_below(vm: &Vm, at: isize, link: u64) -> Option<Cont> {
        // Other frames need not have slots there: those of a coroutine's first frame would lie below its stack.
        if frame::kind(link) != frame::CONT {
            return None;
        }
        let [id, pc] = [4, 3].map(|i| view::slot(vm, at - i).bits());
        Some(Cont { id, pc: view::at(view::pc_of_link(pc), -1) })
    }
    /// Guards the value of the word `at` slots from the base of the start frame. It does not change while the frame lives.
    pub(super) fn guard_word(&mut self, at: isize, word: u64) -> Rec<()> {
        let address = self.below_address(at)?;
        let found = self.b.emit(Op::XLOAD, Ty::P64, address, IrRef(xload::READONLY))?;
        let expected = self.b.kptr(word);
        self.b.emit(Op::EQ, Ty::P64, found, expected).map(|_| ())
    }
    /// The address `at` slots from the base of the start frame: slots below it have no number.
    pub(super) fn below_address(&mut self, at: isize) -> Rec<IrRef> {
        let (base, offset) = (self.slot_address(SlotIdx::BASE)?, self.b.kptr((at * 8) as u64));
        self.b.emit(Op::ADD, Ty::P64, base, offset)
    }
}
