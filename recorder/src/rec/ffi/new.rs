//! Making cdata: `ffi.new`, `ffi.cast`, calls of types.

use super::aggregate::{Stored, scalar_parts};
use super::peek::type_of_ctype;
use super::{ir_type, placement, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::ffi::ctype::CTypeId;
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::helper::Helper;
use perilune_vm::meta::MM;
use perilune_vm::object::Placement;
use perilune_vm::{Value, Vm};

impl Recorder {
    /// The type that an argument of the library is: a declaration, a cdata that stands for a type, or another cdata of the type.
    pub(super) fn ctype_argument(&mut self, vm: &Vm, (r, v): Operand) -> Rec<CTypeId> {
        if let Some(c) = v.as_cdata() {
            self.guard_ctype(r, c)?;
            let Some(of) = type_of_ctype(c) else { return Ok(c.ctype()) };
            self.guard_type(r, of)?;
            return Ok(of);
        }
        let text = v.as_str().ok_or(Abort::BadType)?;
        let id = vm.ffi.as_ref().and_then(|ffi| ffi.parsed_type(text.bytes())).ok_or(Abort::BadType)?;
        self.guard_is(r, v)?;
        Ok(id)
    }

    /// A new cdata of a type, with initialisers.
    pub(in crate::rec) fn new_cdata(&mut self, vm: &Vm, id: CTypeId, values: &[Operand]) -> Rec<IrRef> {
        let types = types(vm)?;
        let raw = types.raw_id(id);
        let (info, size) = types.info(id);
        if info.is_variable() {
            let new = self.new_variable(vm, id, values)?;
            return self.finalized(vm, id, new);
        }
        let size = size.ok_or(Abort::BadType)?;
        let ct = types.get(raw);
        if let Some(scalar) = Scalar::of(ct.info, ct.size) {
            let value = match *values {
                [] => self.zero(scalar),
                [v] => self.to_scalar(vm, id, v, false)?.0,
                _ => return Err(Abort::BadType),
            };
            return self.new_box(id, value);
        }
        let new = self.new_aggregate(vm, id, size, values)?;
        self.finalized(vm, id, new)
    }
    /// A new struct gets the finalizer that the metatable of its type has.
    fn finalized(&mut self, vm: &Vm, id: CTypeId, new: IrRef) -> Rec<IrRef> {
        let finalizer = if types(vm)?.info(id).0.is_struct() { vm.ctype_method(id, MM::Gc) } else { Value::NIL };
        if !finalizer.is_nil() {
            let f = self.b.kvalue(finalizer);
            self.set_finalizer(new, f)?;
        }
        Ok(new)
    }
    fn zero(&mut self, scalar: Scalar) -> IrRef {
        match ir_type(scalar) {
            Ty::Num => self.b.knum(0.0),
            ty if ty.is_word() => self.b.kword(0, ty),
            Ty::Float => self.b.kint(0),
            _ => self.b.kint(0),
        }
    }
    /// An array or struct of variable size: the first value says how many elements there are.
    fn new_variable(&mut self, vm: &Vm, id: CTypeId, values: &[Operand]) -> Rec<IrRef> {
        let types = types(vm)?;
        let [(r, v), ref initial @ ..] = *values else { return Err(Abort::BadType) };
        let (count, n) = self.to_int(r, v)?;
        let fixed = types.variable_size(id, 0).ok_or(Abort::BadType)?;
        let step = types.variable_size(id, 1).ok_or(Abort::BadType)? - fixed;
        types.variable_size(id, u64::from(n as u32)).ok_or(Abort::BadType)?;
        // The size stays in its bounds.
        let most = self.b.kint((i32::MAX - fixed as i32) / (step.max(1) as i32));
        self.b.emit(Op::ULE, Ty::Int, count, most)?;
        let is_struct = types.raw(id).info.is_struct();
        let stored = if is_struct { self.initializers(vm, id, initial)? } else { self.elements(vm, id, (count, n), initial)? };
        let (step, fixed) = (self.b.kint(step as i32), self.b.kint(fixed as i32));
        let bytes = self.b.emit(Op::MUL, Ty::Int, count, step)?;
        let size = self.b.emit(Op::ADD, Ty::Int, bytes, fixed)?;
        let new = self.make_cdata(id, size)?;
        if stored.is_empty() {
            return Ok(new);
        }
        let base = self.payload(types, new, id)?;
        self.store_all(base, stored)?;
        if !is_struct && initial.len() == 1 {
            self.b.call(Helper::MemRepeat, &[base, step, size])?;
            self.raw_memory_changed()?;
        }
        Ok(new)
    }
    /// A cdata that the runtime makes, which is zero.
    fn make_cdata(&mut self, id: CTypeId, size: IrRef) -> Rec<IrRef> {
        self.gc_step()?;
        let id = self.b.kint(id.0 as i32);
        self.b.call(Helper::CdataMake, &[id, size])
    }
    /// A struct or array.
    fn new_aggregate(&mut self, vm: &Vm, id: CTypeId, size: u32, values: &[Operand]) -> Rec<IrRef> {
        let types = types(vm)?;
        let stored = self.initializers(vm, id, values)?;
        // What is not initialised is zero: nothing is stored there.
        let known = placement(types, id) == Placement::Small && scalar_parts(types, id).is_some();
        let small = known && !stored.iter().any(|(_, value)| matches!(value, Stored::Bytes(..)));
        let ksize = self.b.kint(size as i32);
        let new = if small {
            self.gc_step()?;
            let kid = self.b.kint(id.0 as i32);
            self.b.emit(Op::CNEW, Ty::Cdata, kid, ksize)?
        } else {
            self.make_cdata(id, ksize)?
        };
        if !stored.is_empty() {
            let base = self.payload(types, new, id)?;
            self.store_all(base, stored)?;
        }
        Ok(new)
    }
    /// `ffi.cast(ct, value)`
    pub(super) fn cast(&mut self, vm: &Vm, id: CTypeId, value: Operand) -> Rec<IrRef> {
        if let Some(c) = value.1.as_cdata()
            && c.ctype() == id
        {
            self.guard_ctype(value.0, c)?;
            return Ok(value.0);
        }
        let (r, _) = self.to_scalar(vm, id, value, true)?;
        self.new_box(id, r)
    }
}
