//! Calls of C functions.

use super::value::repr;
use super::{Lower, Res};
use crate::thunk;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Value, types};
use perilune_recorder::ir::{Ins, IrRef, Op, Ty};
use target_lexicon::Architecture;

impl Lower<'_> {
    /// CALLXS.
    pub(super) fn foreign_call(&mut self, ins: Ins) -> Res<Option<Value>> {
        let mut args = Vec::new();
        let mut rest = ins.a;
        while let Some(carg) = self.carg(rest) {
            args.push(carg.b);
            rest = carg.a;
        }
        if rest != IrRef::NIL {
            args.push(rest);
        }
        args.reverse();
        let mut sig = Signature::new(thunk::c_call_conv(self.env.isa));
        let mut values = Vec::with_capacity(args.len());
        for r in args {
            let ty = self.ty(r)?;
            sig.params.push(self.c_param(ty)?);
            values.push(self.val(r)?);
        }
        if ins.ty != Ty::Nil {
            let result = repr(ins.ty).ok_or(self.bad("result of a C function is no scalar"))?;
            sig.returns.push(AbiParam::new(result));
        }
        let code = match self.carg(ins.b) {
            Some(carg) => self.variadic(carg.a, &mut sig, &mut values)?,
            None => self.word(ins.b)?,
        };
        let sig = self.pos.func.import_signature(sig);
        let call = self.pos.ins().call_indirect(sig, code, &values);
        self.cur.called = Some(self.cur.at);
        let result = self.pos.func.dfg.inst_results(call).first().copied();
        // A C function leaves the bits above a narrow result undefined.
        Ok(result.map(|r| self.narrow(r, ins.ty)))
    }

    /// A parameter of a C function. Compilers of C rely on narrow arguments being extended to 32 bits, which all ints are.
    fn c_param(&self, ty: Ty) -> Res<AbiParam> {
        repr(ty).map(AbiParam::new).ok_or(self.bad("argument of a C function is no scalar"))
    }

    fn carg(&self, r: IrRef) -> Option<Ins> {
        self.cur.trace.def(r).copied().filter(|i| i.op == Op::CARG)
    }

    /// The address to call for a function with variable arguments. On x86-64 that is a thunk, which gets the address of the function as a further
    /// argument, in a vector register.
    fn variadic(&mut self, function: IrRef, sig: &mut Signature, values: &mut Vec<Value>) -> Res<Value> {
        let function = self.word(function)?;
        if self.env.isa.triple().architecture != Architecture::X86_64 {
            return Ok(function);
        }
        let vectors = sig.params.iter().filter(|p| p.value_type.is_float()).count();
        let thunk = self.env.thunks.variadic(vectors).ok_or(self.bad("no register is left for the address of a function"))?;
        sig.params.push(AbiParam::new(types::F64));
        values.push(self.pos.ins().bitcast(types::F64, MemFlagsData::new(), function));
        Ok(self.k64(thunk as u64))
    }
}
