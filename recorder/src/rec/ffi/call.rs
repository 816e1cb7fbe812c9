//! Calls of cdata: types make values, functions are called.

use super::peek::type_of_ctype;
use super::types;
use crate::ir::IrRef;
use crate::rec::call::CallSite;
use crate::rec::meta::Operand;
use crate::rec::{Flow, Rec, Recorder};
use perilune_vm::Vm;
use perilune_vm::ffi::call::function_type;
use perilune_vm::meta::MM;

/// What a call of a cdata is.
enum Call {
    /// A call of a function of Lua that the metatable of the type has.
    Function(Operand),
    /// These are its results.
    Results(Vec<IrRef>),
}

impl Recorder {
    /// What a call of a cdata with arguments is; `None` if the builtin must be called.
    fn what_is_called(&mut self, vm: &Vm, (r, v): Operand, args: &[Operand]) -> Rec<Option<Call>> {
        let Some(c) = v.as_cdata() else { return Ok(None) };
        self.guard_ctype(r, c)?;
        let of = type_of_ctype(c);
        let id = of.unwrap_or(c.ctype());
        if let Some(of) = of {
            self.guard_type(r, of)?;
        }
        if of.is_none() && function_type(types(vm)?, id).is_some() {
            let results = self.without_builtin(|rec| rec.foreign_call(vm, (r, c), args).map(Some))?;
            return Ok(results.map(Call::Results));
        }
        let ct = types(vm)?.raw(id);
        let owner = if ct.info.is_ptr() { ct.info.child() } else { id };
        let method = vm.ctype_method(owner, if of.is_some() { MM::New } else { MM::Call });
        if method.as_func().is_some_and(|f| f.proto().is_some()) {
            return Ok(Some(Call::Function((self.b.kgc(method), method))));
        }
        if !method.is_nil() || of.is_none() {
            return Ok(None);
        }
        let made = self.without_builtin(|rec| rec.new_cdata(vm, id, args).map(Some))?;
        Ok(made.map(|r| Call::Results(vec![r])))
    }
    fn arguments(&mut self, vm: &Vm, a: usize, nargs: usize) -> Rec<Vec<Operand>> {
        (0..nargs).map(|i| self.operand(vm, a + 2 + i)).collect()
    }

    /// A call of a cdata; `None` if the builtin must be called. A function of Lua gets the cdata as its first argument.
    pub(in crate::rec) fn cdata_call(&mut self, vm: &Vm, call: CallSite, object: Operand) -> Rec<Option<Flow>> {
        let args = self.arguments(vm, call.a, call.nargs)?;
        match self.what_is_called(vm, object, &args)? {
            Some(Call::Results(results)) => {
                self.place_builtin(call.a, &results, call.want);
                Ok(Some(Flow::Next))
            }
            Some(Call::Function(f)) => {
                self.native.headers += 1;
                self.insert_argument(call, object.0);
                self.call_value(vm, CallSite { nargs: call.nargs + 1, ..call }, f).map(Some)
            }
            None => Ok(None),
        }
    }
    /// The same in tail position, where results are returned. The function of Lua is called by the caller of this.
    pub(in crate::rec) fn cdata_tail_call(
        &mut self,
        vm: &Vm,
        (a, nargs): (usize, usize),
        object: Operand,
    ) -> Rec<Result<Flow, Option<Operand>>> {
        let below = self.stack.leaves_start();
        if !self.may_return(vm) || below && !self.check_below(vm)? {
            return Ok(Err(None));
        }
        let args = self.arguments(vm, a, nargs)?;
        match self.what_is_called(vm, object, &args)? {
            Some(Call::Results(results)) => {
                self.place_builtin(a, &results, 0);
                self.return_results(vm, results, None, below).map(Ok)
            }
            Some(Call::Function(f)) => {
                self.native.headers += 1;
                Ok(Err(Some(f)))
            }
            None => Ok(Err(None)),
        }
    }
}
