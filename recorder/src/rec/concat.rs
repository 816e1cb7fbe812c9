//! Concatenation and allocation.

use super::{Flow, Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::bc::Ins;
use perilune_vm::lib::buffer::is_buffer;
use perilune_vm::{Value, Vm};

impl Recorder {
    /// A string or number as a string.
    pub(super) fn to_str(&mut self, r: IrRef, v: Value) -> Rec<IrRef> {
        if v.is_str() {
            return Ok(r);
        }
        match self.ty(r) {
            Ty::Num => self.b.emit(Op::TOSTR, Ty::Str, r, IrRef(1)),
            ty if ty.is_int() => self.b.emit(Op::TOSTR, Ty::Str, r, IrRef(0)),
            _ => Err(Abort::BadType),
        }
    }

    /// CAT.
    pub(super) fn cat(&mut self, vm: &Vm, ins: Ins) -> Rec<Flow> {
        let mut parts = Vec::new();
        for i in ins.b()..=ins.c() {
            let (r, v) = self.operand(vm, i)?;
            parts.push((r, v));
        }
        if parts.iter().any(|p| is_buffer(p.1)) {
            return self.nyi(ins.op());
        }
        if parts.iter().any(|p| !p.1.is_str() && !p.1.is_number()) {
            return match parts[..] {
                [x, y] => self.concat_method(vm, x, y, ins.b()),
                _ => self.nyi(ins.op()),
            };
        }
        self.gc_step()?;
        let mut strings = Vec::with_capacity(parts.len());
        for (r, v) in parts {
            strings.push(self.to_str(r, v)?);
        }
        let r = self.join(&strings)?;
        self.set(ins.a(), r);
        Ok(Flow::Next)
    }
    /// Strings one behind the other.
    pub(super) fn join(&mut self, strings: &[IrRef]) -> Rec<IrRef> {
        let null = self.b.knull(Ty::P64);
        let head = self.b.emit(Op::BUFHDR, Ty::P64, null, IrRef(0))?;
        let mut buf = head;
        for &s in strings {
            buf = self.b.emit(Op::BUFPUT, Ty::P64, buf, s)?;
        }
        self.b.emit(Op::BUFSTR, Ty::Str, buf, head)
    }

    /// TNEW.
    pub(super) fn tnew(&mut self, ins: Ins) -> Rec<()> {
        self.gc_step()?;
        let asize = ins.d() & 0x7ff;
        let asize = if asize == 0x7ff { 0x801 } else { asize };
        let r = self.b.emit(Op::TNEW, Ty::Tab, IrRef(asize as u16), IrRef((ins.d() >> 11) as u16))?;
        self.set(ins.a(), r);
        Ok(())
    }
    /// TDUP.
    pub(super) fn tdup(&mut self, ins: Ins) -> Rec<()> {
        self.gc_step()?;
        let (template, _) = self.kgc_operand(ins.d())?;
        let r = self.b.emit(Op::TDUP, Ty::Tab, template, IrRef::NONE)?;
        self.set(ins.a(), r);
        Ok(())
    }
}
