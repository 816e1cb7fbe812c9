//! Protected calls: the function that `pcall` or `xpcall` calls is inlined, in the frames that the interpreter makes for it. When it raises
//! an error, the trace has been left, and the interpreter finds the protected call in those frames.

use super::call::CallSite;
use super::meta::Operand;
use super::{Flow, Frame, FrameKind, Rec, Recorder, view};
use crate::ir::{IrRef, SlotIdx};
use perilune_vm::Vm;
use perilune_vm::interp::frame;
use perilune_vm::object::{Func, Gc, InsPtr};
use perilune_vm::stdlib::Builtin;

/// A builtin that calls under protection.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Protector {
    /// `pcall(f, ...)`
    Pcall,
    /// `xpcall(f, handler, ...)`
    Xpcall,
}

impl Protector {
    /// The builtin that a function is.
    pub(super) fn of(f: Gc<Func>) -> Option<Protector> {
        match Builtin::from_id(f.ffid()) {
            Some(Builtin::Pcall) => Some(Protector::Pcall),
            Some(Builtin::Xpcall) => Some(Protector::Xpcall),
            _ => None,
        }
    }
    /// Arguments before the called function, after the handler was moved to the front.
    fn first(self) -> usize {
        match self {
            Protector::Pcall => 0,
            Protector::Xpcall => 1,
        }
    }
    fn kind(self) -> u64 {
        match self {
            Protector::Pcall => frame::PCALL,
            Protector::Xpcall => frame::XPCALL,
        }
    }
}

impl Recorder {
    /// The arguments of a call of `kind` in local `a`, with the handler in front.
    fn protected_args(&mut self, vm: &Vm, kind: Protector, a: usize, nargs: usize) -> Rec<Option<Vec<Operand>>> {
        let mut args = Vec::with_capacity(nargs);
        for i in 0..nargs {
            args.push(self.operand(vm, a + 2 + i)?);
        }
        if self.native.iterating || nargs <= kind.first() {
            return Ok(None);
        }
        if kind == Protector::Xpcall {
            if !args[1].1.is_func() {
                return Ok(None);
            }
            args.swap(0, 1);
        }
        Ok(Some(args))
    }

    /// Calls `pcall` or `xpcall`.
    pub(super) fn protected_call(&mut self, vm: &Vm, call: CallSite, kind: Protector) -> Rec<Flow> {
        let CallSite { pc, a, nargs, want } = call;
        let builtin = view::slot(vm, a as isize);
        let Some(args) = self.protected_args(vm, kind, a, nargs)? else { return self.nyi_func(builtin) };
        let callee = args[kind.first()];
        let at = self.base + a;
        match callee.1.as_func() {
            Some(f) if f.proto().is_some() => {
                let (kfunc, link) = (self.b.kgc(builtin), self.b.kptr(view::at(pc, 1).addr().get()));
                let base = self.base;
                self.stack.frames.push(Frame { base, proto: self.proto, kind: FrameKind::Call });
                self.need(at + 2);
                self.set_abs(at, kfunc);
                self.set_abs(at + 1, link);
                self.enter_protected(kind, at + 2, &args)
            }
            Some(f) if Protector::of(f).is_none() => {
                self.specialize(callee.0, f)?;
                // Its arguments are where they would be in a call one slot higher, and no code looks at its frame.
                let (first, given) = (a + 1 + kind.first(), nargs - 1 - kind.first());
                let Some(values) = self.try_builtin(vm, f, (first, given), 0)? else {
                    return self.protected_builtin(vm, pc, kind, (callee.0, f), a, &args).map(|()| Flow::Next);
                };
                let results: Vec<IrRef> = core::iter::once(IrRef::TRUE).chain(values).collect();
                self.place_list(want, at, &results);
                self.native.headers += 2;
                Ok(Flow::Next)
            }
            _ => self.nyi_func(builtin),
        }
    }
    /// Calls a builtin by NATIVE, in the frame that a protected call would make for it.
    fn protected_builtin(
        &mut self,
        vm: &Vm,
        pc: InsPtr,
        kind: Protector,
        (r, f): (IrRef, Gc<Func>),
        a: usize,
        args: &[Operand],
    ) -> Rec<()> {
        let (at, skip) = (self.base + a, kind.first());
        let k = self.b.kgc(view::slot(vm, a as isize));
        self.set_abs(at, k);
        if skip == 1 {
            self.set_abs(at + 2, args[0].0);
        }
        for (i, arg) in args[skip + 1..].iter().enumerate() {
            self.set_abs(at + 4 + skip + i, arg.0);
        }
        self.protected_native(vm, pc, (r, f), (a, skip), args.len() - skip - 1, kind.kind())?;
        self.native.headers += 1;
        Ok(())
    }
    /// The same in tail position.
    pub(super) fn protected_tail_call(&mut self, vm: &Vm, kind: Protector, a: usize, nargs: usize) -> Rec<Flow> {
        let builtin = view::slot(vm, a as isize);
        let Some(args) = self.protected_args(vm, kind, a, nargs)? else { return self.nyi_func(builtin) };
        if args[kind.first()].1.as_func().is_none_or(|f| f.proto().is_none()) {
            return self.nyi_func(builtin);
        }
        if let Some(top) = self.stack.frames.last().copied().filter(|f| f.kind == FrameKind::Vararg) {
            self.stack.frames.pop();
            self.base = top.base;
        }
        let (base, kfunc) = (self.base, self.b.kgc(builtin));
        self.clear_from(base);
        self.set_abs(base - 2, kfunc);
        self.enter_protected(kind, base, &args)
    }
    /// Enters the Lua function that a protected call with its frame at `base` calls.
    fn enter_protected(&mut self, kind: Protector, base: SlotIdx, args: &[Operand]) -> Rec<Flow> {
        let first = kind.first();
        let (callee, v) = args[first];
        let Some((f, proto)) = v.as_func().and_then(|f| Some((f, f.proto()?))) else { return self.nyi_func(v) };
        let callee = self.specialize(callee, f)?;
        self.stack.frames.push(Frame { base, proto: self.proto, kind: FrameKind::Protected });
        self.base = base + first + 2;
        self.need(self.base + args.len());
        if first == 1 {
            self.set_abs(base, args[0].0);
        }
        let link = self.b.kptr(frame::link(first + 2, kind.kind()).bits());
        self.set_abs(base + first, callee);
        self.set_abs(base + first + 1, link);
        for (i, arg) in args[first + 1..].iter().enumerate() {
            self.set(i, arg.0);
        }
        self.native.headers += 1;
        self.enter_callee(proto);
        Ok(Flow::Next)
    }
}
