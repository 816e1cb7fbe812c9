//! Calls of helpers and builtins.

use super::value::{MEM, repr};
use super::{Lower, Res};
use crate::{BackendError, thunk};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, SigRef, Type, Value, types};
use perilune_recorder::ir::{Ins, IrRef, Op, Ty};
use perilune_vm::helper::Helper;
use perilune_vm::layout::{AbiType, ofs};

impl Lower<'_> {
    /// CALLN, CALLA, CALLL, CALLS.
    pub(super) fn call(&mut self, ins: Ins) -> Res<Option<Value>> {
        let helper = Helper::ALL.get(usize::from(ins.b.0)).copied().ok_or(self.bad("no such helper"))?;
        let params = helper.args();
        let mut args = Vec::with_capacity(params.len());
        let mut rest = ins.a;
        // The chain of arguments begins with the last one.
        for (n, &param) in params.iter().enumerate().rev() {
            let arg = if n == 0 { rest } else { self.split_args(&mut rest)? };
            if let Some(address) = self.cur.trace.def(arg).filter(|i| i.op == Op::SREF) {
                self.forget_slots_from(address.a.slot());
            }
            args.push(self.argument(arg, param)?);
        }
        args.reverse();
        if helper.may_fail() {
            return self.make(helper, &args).map(Some);
        }
        let result = self.call_helper(helper, &args)?;
        Ok(if ins.ty.is_pri() { None } else { result })
    }
    /// Calls a helper that makes an object; leaves if there was no memory for it.
    fn make(&mut self, helper: Helper, args: &[Value]) -> Res<Value> {
        let object = self.call_word(helper, args)?;
        self.guard(object)?;
        Ok(object)
    }

    /// Takes the last argument off a CARG chain.
    fn split_args(&self, rest: &mut IrRef) -> Res<IrRef> {
        let carg = if rest.is_const() { None } else { self.cur.trace.ins.get(rest.ins_index()) };
        let carg = carg.filter(|i| i.op == Op::CARG).ok_or(self.bad("too few arguments"))?;
        *rest = carg.a;
        Ok(carg.b)
    }

    /// An argument in the representation of its parameter.
    fn argument(&mut self, r: IrRef, param: AbiType) -> Res<Value> {
        match param {
            AbiType::Int => self.int(r),
            AbiType::Num => self.num(r),
            AbiType::U64 => self.boxed(r),
            _ => self.word(r),
        }
    }

    fn helper_sig(&mut self, helper: Helper) -> SigRef {
        if let Some((_, sig)) = self.sigs.iter().find(|(h, _)| *h == helper) {
            return *sig;
        }
        let sig = thunk::helper_signature(helper, thunk::c_call_conv(self.env.isa));
        let sig = self.pos.func.import_signature(sig);
        self.sigs.push((helper, sig));
        sig
    }
    /// The signature of traces that take further arguments.
    pub(super) fn trace_sig(&mut self, more: Vec<Type>) -> SigRef {
        if let Some((_, sig)) = self.trace_sigs.iter().find(|s| s.0 == more) {
            return *sig;
        }
        let sig = self.pos.func.import_signature(thunk::trace_signature(&more));
        self.trace_sigs.push((more, sig));
        sig
    }

    /// Stores the current site to the VM before a call, if a profiler needs it: the sampling profiler before all helpers, the memory
    /// profiler before those that allocate.
    pub(super) fn leave_site(&mut self, helper: Helper) {
        let site = self.cur.tree.sites.get(self.cur.emitting).copied().unwrap_or(0);
        if site != 0 && (helper.allocates() || self.cur.tree.notes_helpers) {
            let site = self.k32(site as i32);
            self.pos.ins().store(MEM, site, self.vm, ofs::VM_SITE as i32);
        }
    }

    /// Calls a helper; its result, if it has one.
    pub(super) fn call_helper(&mut self, helper: Helper, args: &[Value]) -> Res<Option<Value>> {
        self.leave_site(helper);
        if self.cur.rebuilding {
            // A call in an exit goes through a thunk, so that it does not cost the trace registers.
            self.call_cold(helper, args)?;
            return Ok(Some(self.vm_field(ofs::VM_SCRATCH)));
        }
        let sig = self.helper_sig(helper);
        let code = self.k64((self.env.helper)(helper) as u64);
        let mut all = Vec::with_capacity(args.len() + 1);
        all.push(self.vm);
        all.extend_from_slice(args);
        let call = self.pos.ins().call_indirect(sig, code, &all);
        self.cur.called = Some(self.cur.at);
        Ok(self.pos.func.dfg.inst_results(call).first().copied())
    }
    /// Calls a helper that has a result.
    pub(super) fn call_word(&mut self, helper: Helper, args: &[Value]) -> Res<Value> {
        self.call_helper(helper, args)?.ok_or(self.bad("helper without a result"))
    }
    /// Calls a helper whose result is a num.
    pub(super) fn call_num(&mut self, helper: Helper, args: &[Value]) -> Res<Value> {
        self.call_word(helper, args)
    }

    /// NATIVE: stores the state as an exit would, and calls the builtin.
    pub(super) fn native(&mut self, ins: Ins) -> Res<()> {
        self.settle_fuel();
        self.restore(self.cur.snap)?;
        self.forget_cold();
        let (frame, nargs) =
            (self.slot_address(ins.a.slot()), self.k32(i32::from(ins.b.0 & perilune_recorder::ir::native::ARGS)));
        let left = self.call_word(Helper::NativeCall, &[frame, nargs])?;
        let (next, leave) = (self.block(), self.cold_block());
        self.pos.ins().brif(left, leave, &[], next, &[]);
        self.enter(leave);
        // The exit id that is returned is not used: by then, the exits may be those of another trace.
        let nothing = self.k64(0);
        self.pos.ins().return_(&[nothing]);
        self.enter(next);
        Ok(())
    }

    /// Calls a helper on a cold path that joins the hot path again, through its thunk, which preserves all registers. A result is in
    /// `scratch[0]`.
    pub(super) fn call_cold(&mut self, helper: Helper, args: &[Value]) -> Res<()> {
        if self.cur.tree.notes_helpers && !self.cur.rebuilding {
            self.leave_site(helper);
        }
        let address = self.env.thunks.cold(helper)?;
        let sig = thunk::cold_signature(helper);
        let sig = self.pos.func.import_signature(sig);
        let code = self.k64(address as u64);
        let mut all = Vec::with_capacity(args.len() + 1);
        all.push(self.vm);
        all.extend_from_slice(args);
        self.pos.ins().call_indirect(sig, code, &all);
        Ok(())
    }

    /// SNEW, TNEW, TDUP, CNEW, CNEWI, BUFHDR, BUFPUT, BUFNUM, BUFFMT, BUFSTR, TOSTR, STRTO.
    pub(super) fn object(&mut self, ins: Ins) -> Res<Option<Value>> {
        match ins.op {
            Op::SNEW | Op::XSNEW => {
                let (addr, len) = (self.word(ins.a)?, self.int(ins.b)?);
                self.call_helper(Helper::StrNew, &[addr, len])
            }
            Op::TNEW => {
                let (asize, hbits) = (self.k32(i32::from(ins.a.0)), self.k32(i32::from(ins.b.0)));
                self.call_helper(Helper::TabNew, &[asize, hbits])
            }
            Op::TDUP => {
                let template = self.word(ins.a)?;
                self.call_helper(Helper::TabDup, &[template])
            }
            Op::CNEW | Op::CNEWI => self.new_cdata(ins),
            Op::BUFHDR => self.call_helper(Helper::BufReset, &[]).map(|_| None),
            Op::BUFPUT => {
                let string = self.word(ins.b)?;
                self.call_helper(Helper::BufPut, &[string]).map(|_| None)
            }
            Op::BUFNUM if self.cur.trace.ty(ins.b) == Ty::Num => {
                let n = self.num(ins.b)?;
                self.call_helper(Helper::BufPutNum, &[n]).map(|_| None)
            }
            Op::BUFNUM => {
                let i = self.int(ins.b)?;
                self.call_helper(Helper::BufPutInt, &[i]).map(|_| None)
            }
            Op::BUFFMT => self.call(self.cur.trace.formatting(ins)),
            Op::BUFSTR => self.make(Helper::BufStr, &[]).map(Some),
            Op::TOSTR => self.string_of(ins),
            Op::STRTO => self.string_to_num(ins).map(Some),
            _ => Err(BackendError::Unsupported(ins.op)),
        }
    }

    /// The bits of a scalar, in the lower part of a word.
    pub(super) fn bits_of(&mut self, value: Value) -> Value {
        match self.pos.func.dfg.value_type(value) {
            types::F64 => self.pos.ins().bitcast(types::I64, MemFlagsData::new(), value),
            types::F32 => {
                let bits = self.pos.ins().bitcast(types::I32, MemFlagsData::new(), value);
                self.pos.ins().uextend(types::I64, bits)
            }
            types::I32 => self.pos.ins().uextend(types::I64, value),
            _ => value,
        }
    }

    fn string_of(&mut self, ins: Ins) -> Res<Option<Value>> {
        match ins.b.0 {
            0 | 2 => {
                let value = self.int(ins.a)?;
                let helper = if ins.b.0 == 0 { Helper::StrFromInt } else { Helper::StrFromChar };
                self.call_helper(helper, &[value])
            }
            1 => {
                let value = self.num(ins.a)?;
                self.call_helper(Helper::StrFromNum, &[value])
            }
            _ => Err(self.bad("unknown kind of conversion to string")),
        }
    }

    fn string_to_num(&mut self, ins: Ins) -> Res<Value> {
        let string = self.word(ins.a)?;
        let ok = self.call_word(Helper::StrToNum, &[string])?;
        self.guard(ok)?;
        debug_assert_eq!(repr(ins.ty), Some(types::F64));
        Ok(self.pos.ins().load(types::F64, MEM, self.vm, ofs::VM_SCRATCH as i32))
    }
}
