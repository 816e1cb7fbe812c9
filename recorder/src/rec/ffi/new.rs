//! Making cdata: `ffi.new`, `ffi.cast`, calls of types.

use super::aggregate::{Stored, direct_parts, scalar_parts};
use super::peek::type_of_ctype;
use super::{ir_type, placement, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::Vm;
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable};
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::helper::Helper;
use perilune_vm::meta::MM;
use perilune_vm::object::Placement;

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
            return self.new_variable(types, id, values);
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
        if info.is_struct() && !vm.ctype_method(id, MM::Gc).is_nil() {
            return Err(Abort::BadType);
        }
        self.new_aggregate(vm, id, size, values)
    }
    fn zero(&mut self, scalar: Scalar) -> IrRef {
        match ir_type(scalar) {
            Ty::Num => self.b.knum(0.0),
            ty if ty.is_word() => self.b.kword(0, ty),
            Ty::Float => self.b.kint(0),
            _ => self.b.kint(0),
        }
    }
    /// An array or struct of variable size without initialisers.
    fn new_variable(&mut self, types: &CTypeTable, id: CTypeId, values: &[Operand]) -> Rec<IrRef> {
        let [(r, v)] = *values else { return Err(Abort::BadType) };
        let (count, n) = self.to_int(r, v)?;
        let fixed = types.variable_size(id, 0).ok_or(Abort::BadType)?;
        let step = types.variable_size(id, 1).ok_or(Abort::BadType)? - fixed;
        types.variable_size(id, u64::from(n as u32)).ok_or(Abort::BadType)?;
        // The size stays in its bounds.
        let most = self.b.kint((i32::MAX - fixed as i32) / (step.max(1) as i32));
        self.b.emit(Op::ULE, Ty::Int, count, most)?;
        let (step, fixed) = (self.b.kint(step as i32), self.b.kint(fixed as i32));
        let bytes = self.b.emit(Op::MUL, Ty::Int, count, step)?;
        let size = self.b.emit(Op::ADD, Ty::Int, bytes, fixed)?;
        self.make_cdata(id, size)
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
            for (offset, value) in stored {
                let at = self.at_offset(base, offset)?;
                self.store_at(at, value)?;
            }
        }
        Ok(new)
    }
    /// What initialisers store, and at which offsets.
    fn initializers(&mut self, vm: &Vm, id: CTypeId, values: &[Operand]) -> Rec<Vec<(u32, Stored)>> {
        let types = types(vm)?;
        let is_whole = |v: &Operand| v.1.as_cdata().is_some_and(|c| types.raw_ref(c.ctype()) == types.raw_id(id));
        match *values {
            [] => return Ok(Vec::new()),
            [v] if is_whole(&v) => return Ok(vec![(0, self.converted(vm, id, v)?)]),
            _ => {}
        }
        let info = types.raw(id).info;
        let parts = direct_parts(types, id).filter(|parts| values.len() <= parts.len()).ok_or(Abort::BadType)?;
        let mut stored = Vec::with_capacity(parts.len());
        for (i, part) in parts.iter().enumerate() {
            // A single initialiser is that of all elements.
            let repeated = info.is_plain_array() && values.len() == 1;
            let Some(v) = (if repeated { values.first() } else { values.get(i) }) else { break };
            // A string or table may be the whole value.
            if !info.is_struct() && v.1.is_str() || v.1.is_table() {
                return Err(Abort::BadType);
            }
            stored.push((part.offset, self.converted(vm, part.ctype, *v)?));
        }
        Ok(stored)
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
