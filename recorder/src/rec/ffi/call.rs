//! Calls of cdata: types make values, functions are called.

use super::foreign::Returned;
use super::peek::type_of_ctype;
use super::types;
use crate::abort::Abort;
use crate::ir::IrRef;
use crate::rec::call::CallSite;
use crate::rec::meta::Operand;
use crate::rec::{Flow, Rec, Recorder, view};
use perilune_vm::Vm;
use perilune_vm::ffi::call::function_type;
use perilune_vm::meta::MM;

/// What a call of a cdata is.
enum Call {
    /// A call of a function of Lua that the metatable of the type has.
    Function(Operand),
    /// This is its result, if it has one.
    Result(Option<IrRef>),
    /// Its result is this boolean, as an int.
    Bool(IrRef),
}

impl Recorder {
    /// What a call of a cdata with arguments is; `None` if the builtin must be called. Can the caller take a boolean that is not known yet?
    fn what_is_called(&mut self, vm: &Vm, (r, v): Operand, args: &[Operand], takes_bool: bool) -> Rec<Option<Call>> {
        let Some(c) = v.as_cdata() else { return Ok(None) };
        self.guard_ctype(r, c)?;
        let of = type_of_ctype(c);
        let id = of.unwrap_or(c.ctype());
        if let Some(of) = of {
            self.guard_type(r, of)?;
        }
        if of.is_none() && function_type(types(vm)?, id).is_some() {
            let returned = self.without_builtin(|rec| rec.foreign_call(vm, (r, c), args, takes_bool).map(Some))?;
            return Ok(returned.map(|returned| match returned {
                Returned::Nothing => Call::Result(None),
                Returned::Value(r) => Call::Result(Some(r)),
                Returned::Bool(value) => Call::Bool(value),
            }));
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
        Ok(made.map(|r| Call::Result(Some(r))))
    }
    fn arguments(&mut self, vm: &Vm, a: usize, nargs: usize) -> Rec<Vec<Operand>> {
        (0..nargs).map(|i| self.operand(vm, a + 2 + i)).collect()
    }

    /// A call of a cdata; `None` if the builtin must be called. A function of Lua gets the cdata as its first argument.
    pub(in crate::rec) fn cdata_call(&mut self, vm: &Vm, call: CallSite, object: Operand) -> Rec<Option<Flow>> {
        let args = self.arguments(vm, call.a, call.nargs)?;
        // The number of results must be known.
        match self.what_is_called(vm, object, &args, call.want != 0)? {
            Some(Call::Result(result)) => {
                self.place_builtin(call.a, result.as_slice(), call.want);
                Ok(Some(Flow::Next))
            }
            Some(Call::Bool(value)) => {
                self.place_builtin(call.a, &[IrRef::FALSE], call.want);
                if call.want > 1 {
                    self.expect_bool(value, self.base + call.a, view::at(call.pc, 1));
                }
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
        match self.what_is_called(vm, object, &args, false)? {
            Some(Call::Result(result)) => {
                self.place_builtin(a, result.as_slice(), 0);
                self.return_results(vm, result.into_iter().collect(), None, below).map(Ok)
            }
            // It was not asked for.
            Some(Call::Bool(_)) => Err(Abort::BadType),
            Some(Call::Function(f)) => {
                self.native.headers += 1;
                Ok(Err(Some(f)))
            }
            None => Ok(Err(None)),
        }
    }
}
