//! Calls of C functions, and namespaces of C libraries.
//!
//! A function that may call back is called by the builtin, with the whole state stored: one with a parameter that is a pointer to a
//! function, and one that has called back before.

use super::convert::Located;
use super::peek::{payload_address, peek};
use super::{ir_type, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, SlotIdx, Ty, conv};
use crate::rec::meta::Operand;
use crate::rec::native::PendingBool;
use crate::rec::{Rec, Recorder, view};
use perilune_vm::ffi::call::{function_type, variadic_type};
use perilune_vm::ffi::classify::CallPlan;
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable, Ct, Info, POINTER_SIZE};
use perilune_vm::ffi::load::{Load, load};
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::object::{Cdata, Gc, InsPtr, Udata};
use perilune_vm::stdlib::Builtin;
use perilune_vm::{Value, Vm};

/// Vector registers that arguments of a function with variable arguments take at most: code for x86-64 passes the address of the function in
/// the eighth.
const VARIADIC_VECTORS: usize = 7;

/// Is a type a pointer to a function?
fn is_callback(types: &CTypeTable, id: CTypeId) -> bool {
    let ct = types.raw(id);
    ct.info.is_ptr() && types.raw(ct.info.child()).info.is_func()
}

/// The scalar that a type is.
fn scalar_of(types: &CTypeTable, id: CTypeId) -> Rec<Scalar> {
    let ct = types.raw(id);
    Scalar::of(ct.info, ct.size).ok_or(Abort::BadType)
}

/// The types that the arguments of a call are converted to.
fn argument_types(types: &CTypeTable, plan: &CallPlan, args: &[Operand]) -> Rec<Vec<CTypeId>> {
    let mut all: Vec<CTypeId> = plan.arguments.iter().map(|a| a.ctype).collect();
    if args.len() < all.len() || args.len() > all.len() && !plan.is_variadic {
        return Err(Abort::BadType);
    }
    let mut rest = plan.variadic();
    for (_, v) in &args[all.len()..] {
        let id = variadic_type(types, *v).or_else(|pointer| types.interned(pointer, POINTER_SIZE).ok_or(Abort::BadType))?;
        if types.raw(id).info.is_ref() || rest.next(types, id).is_err() {
            return Err(Abort::BadType);
        }
        all.push(id);
    }
    if plan.is_variadic && usize::from(rest.space().vector) > VARIADIC_VECTORS { Err(Abort::BadType) } else { Ok(all) }
}

/// The result of a C function on a trace.
pub(super) enum Returned {
    /// None.
    Nothing,
    /// A value of Lua.
    Value(IrRef),
    /// A boolean, as an int.
    Bool(IrRef),
}

/// The scalar that a result is.
fn plan_result(types: &CTypeTable, id: CTypeId, takes_bool: bool) -> Rec<Scalar> {
    match load(types, id) {
        (false, Load::Scalar(Scalar::Bool)) if !takes_bool => Err(Abort::BadType),
        (false, Load::Reference(_)) | (true, _) => Err(Abort::BadType),
        _ => scalar_of(types, id),
    }
}

impl Recorder {
    /// A call of the C function that a cdata is or points to, whose type is guarded. [`Abort::BadType`] where the builtin must call it, and
    /// where it returns a boolean although the caller does not take one.
    pub(super) fn foreign_call(
        &mut self,
        vm: &Vm,
        (r, c): (IrRef, Gc<Cdata>),
        args: &[Operand],
        takes_bool: bool,
    ) -> Rec<Returned> {
        let types = types(vm)?;
        let function = function_type(types, c.ctype()).ok_or(Abort::BadType)?;
        let plan = CallPlan::new(types, function).map_err(|_| Abort::BadType)?;
        let address = peek(Scalar::Pointer, payload_address(c)).to_u64();
        let calls_back = vm.ffi.as_ref().is_none_or(|ffi| ffi.calls.calls_back(address as usize));
        let converted = argument_types(types, &plan, args)?;
        if address == 0 || calls_back || converted.iter().any(|id| is_callback(types, *id)) {
            return Err(Abort::BadType);
        }
        let result = plan.result.map(|result| plan_result(types, result.ctype, takes_bool).map(|scalar| (result.ctype, scalar)));
        let result = result.transpose()?;
        let code = self.b.kptr(address);
        if !r.is_const() {
            // Another function might call back.
            let found = self.pointer(r)?;
            self.b.emit(Op::EQ, Ty::P64, found, code)?;
        }
        let mut chain = IrRef::NIL;
        let mut passed = Vec::with_capacity(args.len());
        for (id, value) in converted.into_iter().zip(args) {
            let (value, scalar) = self.to_scalar(vm, id, *value, false)?;
            passed.push(self.extended(value, ir_type(scalar))?);
        }
        // The result may need a box.
        self.gc_step()?;
        for (i, value) in passed.into_iter().enumerate() {
            chain = if i == 0 { value } else { self.b.emit(Op::CARG, Ty::Nil, chain, value)? };
        }
        let ty = result.map_or(Ty::Nil, |(_, scalar)| ir_type(scalar));
        let called = if plan.is_variadic {
            let of = self.b.kint(function.0 as i32);
            self.b.emit(Op::CARG, Ty::Nil, code, of)?
        } else {
            code
        };
        let value = self.b.emit(Op::CALLXS, ty, chain, called)?;
        self.snaps.needed = true;
        match result {
            Some((_, Scalar::Bool)) => Ok(Returned::Bool(value)),
            Some((id, scalar)) => self.foreign_result(types, id, scalar, value).map(Returned::Value),
            None => Ok(Returned::Nothing),
        }
    }
    /// A call in the current frame returns a boolean into slot `dest`.
    pub(super) fn expect_bool(&mut self, value: IrRef, dest: SlotIdx, pc: InsPtr) {
        self.native.pending_bool = Some(PendingBool { value, dest, pc });
    }
    /// The first instruction after a C function has returned a boolean: guards which one it is. An exit continues after the call, with the other
    /// one, in order that the function is not called again.
    pub(in crate::rec) fn after_bool(&mut self, vm: &Vm, pc: InsPtr, returned: PendingBool) -> Rec<()> {
        let PendingBool { value, dest, pc: back } = returned;
        if pc != back {
            return Err(Abort::BadType);
        }
        let v = view::slot(vm, dest.index() as isize - self.base.index() as isize);
        self.set_abs(dest, if v.truthy() { IrRef::FALSE } else { IrRef::TRUE });
        self.snap(pc)?;
        self.b.decide();
        let v = self.guard_bool(value, v.truthy())?;
        self.set_abs(dest, v);
        self.snaps.needed = true;
        Ok(())
    }
    /// A narrow int as callers of C functions pass it.
    fn extended(&mut self, r: IrRef, ty: Ty) -> Rec<IrRef> {
        if ty.size() >= 4 || self.b.ty(r) == ty {
            return Ok(r);
        }
        self.b.emit(Op::CONV, ty, r, IrRef(conv::pack(ty, Ty::Int, 0)))
    }
    /// The value of Lua for the result of a C function.
    fn foreign_result(&mut self, types: &CTypeTable, id: CTypeId, scalar: Scalar, value: IrRef) -> Rec<IrRef> {
        let from = ir_type(scalar);
        match load(types, id).1 {
            Load::Copy { id, .. } => self.new_box(id, value),
            _ if matches!(scalar, Scalar::U32 | Scalar::F32) => {
                self.b.emit(Op::CONV, Ty::Num, value, IrRef(conv::pack(Ty::Num, from, 0)))
            }
            _ => Ok(value),
        }
    }

    /// What a namespace has under a name: constants and functions are constants of the trace, variables are loaded. `None` if the object is
    /// no namespace, or the name has not been looked up yet.
    pub(in crate::rec) fn namespace_index(
        &mut self,
        vm: &Vm,
        (r, u): (IrRef, Gc<Udata>),
        method: Value,
        key: Operand,
    ) -> Rec<Option<IrRef>> {
        let is_index = method.as_func().is_some_and(|f| Builtin::from_id(f.ffid()) == Some(Builtin::FfiClibIndex));
        let (Some(name), true) = (key.1.as_str(), is_index) else { return Ok(None) };
        let found = u.env.get().get_str(name);
        if found.is_nil() {
            return Ok(None);
        }
        self.guard_is(r, Value::udata(u))?;
        self.guard_is(key.0, key.1)?;
        let value = match self.variable(vm, found)? {
            Some((id, at)) => self.load_c(types(vm)?, id, at)?,
            None => self.b.kvalue(found),
        };
        self.native.headers += 1;
        Ok(Some(value))
    }
    /// The type and the address of the variable that an entry of a namespace is.
    fn variable(&mut self, vm: &Vm, entry: Value) -> Rec<Option<(CTypeId, Located)>> {
        let Some(c) = entry.as_cdata() else { return Ok(None) };
        let ct = types(vm)?.get(c.ctype());
        if !ct.info.is_ct(Ct::Extern) {
            return Ok(None);
        }
        let now = peek(Scalar::Pointer, payload_address(c)).to_u64();
        Ok(Some((ct.info.child(), Located { address: self.b.kptr(now), now })))
    }
    /// A store to a variable of a namespace; whether it was recorded.
    pub(in crate::rec) fn namespace_set_index(
        &mut self,
        vm: &Vm,
        (r, u): (IrRef, Gc<Udata>),
        method: Value,
        key: Operand,
        value: Operand,
    ) -> Rec<bool> {
        let is_index = method.as_func().is_some_and(|f| Builtin::from_id(f.ffid()) == Some(Builtin::FfiClibNewindex));
        let (Some(name), true) = (key.1.as_str(), is_index) else { return Ok(false) };
        let Some((id, at)) = self.variable(vm, u.env.get().get_str(name))? else { return Ok(false) };
        if types(vm)?.info(id).0.has(Info::CONST) {
            return Ok(false);
        }
        self.guard_is(r, Value::udata(u))?;
        self.guard_is(key.0, key.1)?;
        let (value, scalar) = self.to_scalar(vm, id, value, false)?;
        self.b.emit(Op::XSTORE, ir_type(scalar), at.address, value)?;
        self.native.headers += 1;
        self.snaps.needed = true;
        Ok(true)
    }
}
