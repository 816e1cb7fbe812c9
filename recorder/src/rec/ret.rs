//! Returns.

use super::meta::Cont;
use super::{Flow, Rec, Recorder, Way, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, Ty, xload};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::interp::frame;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::{Value, Vm};

/// Returns below the start that one trace may follow.
const MAX_RETURNS: u32 = 4;

/// The way from the start frame down to the next Lua function.
struct Below {
    /// The links of the frames on it: where their frame is, in slots from the start frame's base, and the link.
    links: Vec<(isize, u64)>,
    /// Protected calls that end.
    protected: usize,
    /// The function below.
    proto: Gc<Proto>,
}

impl Recorder {
    /// RET to RETM.
    pub(super) fn ret(&mut self, vm: &Vm, pc: *const Ins, ins: Ins) -> Rec<Flow> {
        let (from, n) = match ins.op() {
            Bc::RET0 => (0, 0),
            Bc::RET1 => (ins.a(), 1),
            Bc::RET => (ins.a(), ins.d() - 1),
            _ => (ins.a(), ins.d() + vm.multres as usize),
        };
        if !self.may_return(vm) {
            // What is below is the interpreter's business.
            return if self.first { Err(Abort::NyiReturn) } else { Ok(Flow::Stop(Link::Return, pc)) };
        }
        self.load_args(vm, from, n)?;
        let results = (0..n).map(|i| self.slots[self.base + from + i]).collect();
        let first = if n > 0 { view::slot(vm, from as isize) } else { Value::NIL };
        self.return_results(vm, results, Some(first))
    }

    /// Does a return from the current frame leave the frame that the trace started in?
    pub(super) fn leaves_start(&self) -> bool {
        !self.frames.iter().any(|f| matches!(f.way, Way::Call | Way::Cont(_)))
    }
    /// May the trace follow the return from the current frame?
    pub(super) fn may_return(&self, vm: &Vm) -> bool {
        !self.leaves_start() || self.below(vm, self.base as isize).is_some()
    }
    /// What is below the start frame, if a trace can go there. Slot `running` is at `vm.base`.
    fn below(&self, vm: &Vm, running: isize) -> Option<Below> {
        if self.start_is_root || self.retdepth >= MAX_RETURNS {
            return None;
        }
        let start = 2 - running;
        let (mut at, mut links, mut protected) = (0, Vec::new(), 0);
        loop {
            let link = view::slot(vm, start + at - 1).0;
            links.push((at, link));
            let delta = match frame::kind(link) {
                frame::LUA => {
                    let call = view::ins(view::at(view::pc_of_link(link), -1));
                    if !matches!(call.op(), Bc::CALL | Bc::CALLM | Bc::ITERC) {
                        return None;
                    }
                    2 + call.a()
                }
                frame::CONT | frame::VARG | frame::PCALL | frame::XPCALL => (link >> 3) as usize,
                _ => return None,
            };
            at -= delta as isize;
            match frame::kind(link) {
                frame::VARG => {}
                frame::PCALL | frame::XPCALL => protected += 1,
                _ => return view::func(vm, start + at).proto().map(|proto| Below { links, protected, proto }),
            }
        }
    }

    /// Returns from the current frame; the first result is `first` now, if that is known.
    pub(super) fn return_results(&mut self, vm: &Vm, mut results: Vec<IrRef>, mut first: Option<Value>) -> Rec<Flow> {
        if results.contains(&IrRef::NONE) {
            return Err(Abort::NyiReturn);
        }
        let running = self.base as isize;
        while let Some(f) = self.frames.pop() {
            let left = core::mem::replace(&mut self.base, f.base);
            match f.way {
                Way::Vararg => {}
                Way::Protected => {
                    results.insert(0, IrRef::TRUE);
                    first = Some(Value::TRUE);
                }
                Way::Call => {
                    self.enter_frame(f.proto);
                    let link = view::slot(vm, left as isize - running - 1).0;
                    self.place_results(link, left - 2, &results);
                    return Ok(Flow::Next);
                }
                Way::Cont(cont) => {
                    self.enter_frame(f.proto);
                    return self.continue_with(vm, cont, running, &results, first);
                }
            }
        }
        self.return_below(vm, running, results, first)
    }

    /// Puts results where the call at the return address wants them.
    fn place_results(&mut self, link: u64, dest: usize, results: &[IrRef]) {
        let call = view::ins(view::at(view::pc_of_link(link), -1));
        self.place_list(call.b(), dest, results);
        self.needsnap = true;
    }
    /// Puts a list of results in the slots from `dest` on: `want` - 1 of them, or all if that is 0.
    pub(super) fn place_list(&mut self, want: usize, dest: usize, results: &[IrRef]) {
        let n = if want == 0 { results.len() } else { want - 1 };
        self.clear_from(dest);
        for i in 0..n {
            self.set_abs(dest + i, results.get(i).copied().unwrap_or(IrRef::NIL));
        }
        let open = want == 0;
        self.multres = if open { n as u32 } else { 0 };
        self.open_top = if open { dest + n } else { 0 };
    }

    /// Leaves the start frame of a side trace: the frame of the next Lua function below becomes the start. All links on the way
    /// are checked before the first frame is left, since exits count slots from the frame that is running.
    fn return_below(&mut self, vm: &Vm, running: isize, results: Vec<IrRef>, first: Option<Value>) -> Rec<Flow> {
        let Some(Below { links, protected, proto }) = self.below(vm, running) else { return Err(Abort::NyiReturn) };
        let (at, link) = links.last().copied().ok_or(Abort::NyiReturn)?;
        for &(at, link) in &links[1..] {
            self.guard_word(at - 1, link)?;
        }
        let start = 2 - running;
        let mut cont = None;
        if frame::kind(link) == frame::CONT {
            let [id, pc] = [4, 3].map(|i| view::slot(vm, start + at - i).0);
            self.guard_word(at - 4, id)?;
            self.guard_word(at - 3, pc)?;
            cont = Some(Cont { id, pc: view::at(view::pc_of_link(pc), -1) });
        }
        let kproto = self.b.kgc(Value::proto(proto));
        for &(_, link) in &links {
            let klink = self.b.kptr(link);
            self.b.guard(Op::RETF, Ty::P64, kproto, klink)?;
        }
        self.retdepth += 1;
        self.clear_from(0);
        self.base = 2;
        self.note_proto(proto);
        self.enter_frame(proto);
        let (mut results, mut first) = (results, first);
        for _ in 0..protected {
            results.insert(0, IrRef::TRUE);
            first = Some(Value::TRUE);
        }
        if let Some(cont) = cont {
            let running = 2 + (link >> 3) as isize - at - start;
            return self.continue_with(vm, cont, running, &results, first);
        }
        let call = view::ins(view::at(view::pc_of_link(link), -1));
        self.place_results(link, 2 + call.a(), &results);
        Ok(Flow::Next)
    }
    /// Guards that the word `at` slots from the base of the start frame is this. Nothing changes it while the frame lives.
    pub(super) fn guard_word(&mut self, at: isize, word: u64) -> Rec<()> {
        let address = self.below_address(at)?;
        let found = self.b.emit(Op::XLOAD, Ty::P64, address, IrRef(xload::READONLY))?;
        let expected = self.b.kptr(word);
        self.b.emit(Op::EQ, Ty::P64, found, expected).map(|_| ())
    }
    /// The address `at` slots from the base of the start frame: slots below it have no number.
    pub(super) fn below_address(&mut self, at: isize) -> Rec<IrRef> {
        let (base, offset) = (self.slot_address(2)?, self.b.kptr((at * 8) as u64));
        self.b.emit(Op::ADD, Ty::P64, base, offset)
    }
}
