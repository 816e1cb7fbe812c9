//! Variable arguments: VARG (LuaJIT's `rec_varg`).
//!
//! Where the trace has called the function it knows the arguments. Otherwise they lie below the frame that the trace starts in, and the link of
//! this frame tells how many there are. Their number is fixed by a guard only where all of them are needed.

use super::{FrameKind, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, SlotIdx, Ty, conv, xload};
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::interp::frame;
use perilune_vm::object::InsPtr;
use perilune_vm::stdlib::Builtin;

/// Most results of a VARG that are loaded one by one: with more, calls with them would soon have more slots than a trace may have (250).
const MAX_RESULTS: usize = 100;

/// Variable arguments below the frame that the trace starts in.
struct Arguments {
    /// The link of the frame: eight times the distance of the frame from its arguments, plus [`frame::VARG`].
    link: IrRef,
    /// Named parameters.
    params: usize,
    /// The distance in slots, in this run.
    delta: usize,
}

impl Arguments {
    /// The link of a frame with so many variable arguments.
    fn link_of(&self, n: usize) -> i32 {
        (((n + self.params + 2) << 3) | frame::VARG as usize) as i32
    }
    /// Number of variable arguments in this run.
    fn len(&self) -> usize {
        (self.delta - 2).saturating_sub(self.params)
    }
}

impl Recorder {
    /// VARG.
    pub(super) fn varg(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<()> {
        let np = ins.c();
        let made = self.stack.frames.last().copied().filter(|f| f.kind == FrameKind::Vararg);
        let delta = match made {
            Some(frame) => self.base - frame.base,
            None if self.stack.frames.is_empty() => {
                if self.selected(vm, pc, ins)? || self.first_of_many(vm, ins)? {
                    return Ok(());
                }
                self.start_delta(vm)?
            }
            None => return self.nyi(ins.op()),
        };
        let have = (delta - 2).saturating_sub(np);
        let want = if ins.b() == 0 { have } else { ins.b() - 1 };
        if want > MAX_RESULTS {
            return Err(Abort::TooDeep);
        }
        let mut values = Vec::with_capacity(want);
        for i in 0..want {
            let value = match made {
                _ if i >= have => IrRef::NIL,
                Some(frame) => self.get_abs(frame.base + np + i, view::slot(vm, (np + i) as isize - delta as isize))?,
                None => self.argument_below(vm, (np + i) as isize - delta as isize)?,
            };
            values.push(value);
        }
        if values.contains(&IrRef::NONE) {
            return self.nyi(ins.op());
        }
        for (i, r) in values.into_iter().enumerate() {
            self.set(ins.a() + i, r);
        }
        if ins.b() == 0 {
            self.open.count = have as u32;
            self.open.top = self.base + ins.a() + have;
        }
        Ok(())
    }
    /// The link of the start frame: a vararg function has moved the frame.
    fn vararg_link(&mut self, vm: &Vm) -> Rec<u64> {
        let link = view::slot(vm, -1).bits();
        if frame::kind(link) == frame::VARG { Ok(link) } else { self.nyi(Bc::VARG) }
    }
    /// The distance of the start frame from its arguments, guarded.
    fn start_delta(&mut self, vm: &Vm) -> Rec<usize> {
        let link = self.vararg_link(vm)?;
        self.guard_word(-1, link)?;
        Ok((link >> 3) as usize)
    }
    /// The value `at` slots from the base of the start frame.
    fn argument_below(&mut self, vm: &Vm, at: isize) -> Rec<IrRef> {
        let address = self.below_address(at)?;
        self.load_argument(vm, address, at)
    }
    fn load_argument(&mut self, vm: &Vm, address: IrRef, at: isize) -> Rec<IrRef> {
        let v = view::slot(vm, at);
        let ty = self.feedback.load_type(v);
        let r = self.b.guard(Op::VLOAD, ty, address, IrRef(0))?;
        Ok(if ty.is_pri() { self.b.kvalue(v) } else { r })
    }
    /// The arguments below the start frame, of whatever number.
    fn arguments_below(&mut self, vm: &Vm, params: usize) -> Rec<Arguments> {
        let delta = (self.vararg_link(vm)? >> 3) as usize;
        let address = self.below_address(-1)?;
        let link = self.b.emit(Op::XLOAD, Ty::Int, address, IrRef(xload::READONLY))?;
        Ok(Arguments { link, params, delta })
    }
    /// Variable argument `i`, which is also `at` (counted from 0) in this run. The caller has guarded that there is such an argument.
    fn argument(&mut self, vm: &Vm, below: &Arguments, i: IrRef, at: usize) -> Rec<IrRef> {
        // The argument is `delta - params - i` slots below the base, and the link is `8 * delta + VARG`.
        let three = self.b.kint(3);
        let bytes = self.b.emit(Op::BSHL, Ty::Int, i, three)?;
        let first = self.b.kint(below.params as i32 * 8 + frame::VARG as i32);
        let first = self.b.emit(Op::SUB, Ty::Int, first, below.link)?;
        let offset = self.b.emit(Op::ADD, Ty::Int, first, bytes)?;
        let offset = self.b.emit(Op::CONV, Ty::I64, offset, IrRef(conv::pack(Ty::I64, Ty::Int, conv::SEXT)))?;
        let base = self.slot_address(SlotIdx::BASE)?;
        let address = self.b.emit(Op::ADD, Ty::P64, base, offset)?;
        self.load_argument(vm, address, (below.params + at) as isize - below.delta as isize)
    }
    /// `local a, b = ...`: the first arguments, where there are at least so many. Returns whether it is that.
    fn first_of_many(&mut self, vm: &Vm, ins: Ins) -> Rec<bool> {
        let want = ins.b().saturating_sub(1);
        let delta = (self.vararg_link(vm)? >> 3) as usize;
        if ins.b() == 0 || (delta - 2).saturating_sub(ins.c()) < want || want > MAX_RESULTS {
            return Ok(false);
        }
        if want == 0 {
            return Ok(true);
        }
        let below = self.arguments_below(vm, ins.c())?;
        let least = self.b.kint(below.link_of(want));
        self.b.emit(Op::GE, Ty::Int, below.link, least)?;
        for i in 0..want {
            let k = self.b.kint(i as i32);
            let r = self.argument(vm, &below, k, i)?;
            self.set(ins.a() + i, r);
        }
        Ok(true)
    }
    /// `select(i, ...)` of which one result is used, and `select("#", ...)`: the arguments are not all loaded. The call that follows places the
    /// result. Returns whether it is that.
    fn selected(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<bool> {
        let call = view::at(pc, 1).ins();
        if ins.b() != 0 || call.op() != Bc::CALLM || call.b() != 2 || call.c() != 1 || ins.a() != call.a() + 3 {
            return Ok(false);
        }
        let (callee, (r, v)) = (self.operand(vm, call.a())?, self.operand(vm, call.a() + 2)?);
        let Some(f) = callee.1.as_func().filter(|f| Builtin::from_id(f.ffid()) == Some(Builtin::Select)) else {
            return Ok(false);
        };
        let counts = v.as_str().is_some_and(|s| s.bytes() == b"#");
        if !counts && v.as_index().is_none_or(|i| i < 1) {
            return Ok(false);
        }
        self.specialize(callee.0, f)?;
        let below = self.arguments_below(vm, ins.c())?;
        let n = self.number_of_arguments(&below)?;
        let result = if counts {
            self.guard_is(r, v)?;
            n
        } else {
            let (r, i) = self.to_int(r, v)?;
            self.selected_argument(vm, &below, n, (r, i as usize))?
        };
        self.clear_from(self.base + ins.a());
        self.native.selected = Some(result);
        self.open.count = below.len() as u32;
        self.open.top = self.base + ins.a() + below.len();
        Ok(true)
    }
    /// How many arguments there are.
    fn number_of_arguments(&mut self, below: &Arguments) -> Rec<IrRef> {
        let least = self.b.kint(-below.link_of(0));
        let bytes = self.b.emit(Op::ADD, Ty::Int, below.link, least)?;
        let zero = self.b.kint(0);
        if below.delta - 2 < below.params {
            self.b.emit(Op::LT, Ty::Int, bytes, zero)?;
            return Ok(zero);
        }
        if below.params > 0 {
            self.b.emit(Op::GE, Ty::Int, bytes, zero)?;
        }
        let three = self.b.kint(3);
        self.b.emit(Op::BSHR, Ty::Int, bytes, three)
    }
    /// Argument `i` of `n`, counted from 1; nil if there are not so many.
    fn selected_argument(&mut self, vm: &Vm, below: &Arguments, n: IrRef, (r, i): (IrRef, usize)) -> Rec<IrRef> {
        if i > below.len() {
            self.b.emit(Op::GT, Ty::Int, r, n)?;
            return Ok(IrRef::NIL);
        }
        let minus_one = self.b.kint(-1);
        let index = self.b.emit(Op::ADD, Ty::Int, r, minus_one)?;
        self.b.emit(Op::ABC, Ty::Int, n, index)?;
        self.argument(vm, below, index, i - 1)
    }
}
