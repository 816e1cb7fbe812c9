//! Making cdata: `ffi.new`, `ffi.cast`, calls of types.

use super::peek::type_of_ctype;
use super::{ir_type, placement, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::Vm;
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable, Ct, Info};
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::helper::Helper;
use perilune_vm::meta::MM;
use perilune_vm::object::Placement;

/// A struct or array of more scalars is made by the runtime, which sets its memory at once: each scalar here is a store of its own, and a
/// snapshot slot when the object is sunk. LuaJIT's limit is alike: 128 bytes, which are 32 ints.
const MOST_SCALARS: usize = 32;

/// A scalar in a struct or array.
#[derive(Copy, Clone)]
struct Part {
    /// Its type, with its attributes.
    ctype: CTypeId,
    offset: u32,
    /// Has it an initialiser of its own: is it a field of the struct itself, or an element of the array?
    direct: bool,
}

/// The scalars that a type consists of, in order. None if there are too many, or others.
fn parts(types: &CTypeTable, id: CTypeId) -> Option<Vec<Part>> {
    let mut all = Vec::new();
    collect(types, id, 0, 0, &mut all)?;
    Some(all)
}

fn collect(types: &CTypeTable, id: CTypeId, at: u32, depth: u32, all: &mut Vec<Part>) -> Option<()> {
    if all.len() >= MOST_SCALARS {
        return None;
    }
    let raw = types.raw_id(id);
    let ct = types.get(raw);
    if Scalar::of(ct.info, ct.size).is_some() {
        all.push(Part { ctype: id, offset: at, direct: depth <= 1 });
        return Some(());
    }
    if ct.info.is_plain_array() {
        let element = ct.info.child();
        let step = types.size(element).filter(|step| *step != 0)?;
        for i in 0..ct.size / step {
            collect(types, element, at + i * step, depth + 1, all)?;
        }
        return Some(());
    }
    if !ct.info.is_struct() || ct.info.has(Info::UNION) {
        return None;
    }
    for m in types.members(raw) {
        let field = types.get(m);
        match field.info.ct() {
            Ct::Field => collect(types, field.info.child(), at + field.size, depth + 1, all)?,
            Ct::Constval => {}
            _ => return None,
        }
    }
    Some(())
}

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
        match parts(types, id).filter(|_| placement(types, id) == Placement::Small) {
            Some(parts) => self.new_aggregate(vm, id, size, &parts, values),
            None if values.is_empty() => {
                let size = self.b.kint(size as i32);
                self.make_cdata(id, size)
            }
            None => Err(Abort::BadType),
        }
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
    /// A struct or array of scalars.
    fn new_aggregate(&mut self, vm: &Vm, id: CTypeId, size: u32, parts: &[Part], values: &[Operand]) -> Rec<IrRef> {
        let types = types(vm)?;
        let is_array = types.raw(id).info.is_array();
        let direct = parts.iter().filter(|p| p.direct).count();
        // A table or an aggregate is the whole value, or has parts itself.
        let flat = values.iter().all(|v| !v.1.is_table() && v.1.as_cdata().is_none_or(|c| is_scalar(types, c.ctype())));
        let all_direct = direct == parts.len() || values.is_empty();
        if !flat || !all_direct || values.len() > parts.len() || is_array && values.iter().any(|v| v.1.is_str()) {
            return Err(Abort::BadType);
        }
        let mut stored = Vec::with_capacity(parts.len());
        for (i, part) in parts.iter().enumerate() {
            // A single initialiser is that of all elements.
            let value = if is_array && values.len() == 1 { values.first() } else { values.get(i) };
            stored.push(match value {
                Some(v) => self.to_scalar(vm, part.ctype, *v, false)?,
                None => {
                    let ct = types.raw(part.ctype);
                    let scalar = Scalar::of(ct.info, ct.size).ok_or(Abort::BadType)?;
                    // Zero has the same bits as a float and as an int.
                    let scalar = if scalar == Scalar::F32 { Scalar::U32 } else { scalar };
                    (self.zero(scalar), scalar)
                }
            });
        }
        self.gc_step()?;
        let (kid, ksize) = (self.b.kint(id.0 as i32), self.b.kint(size as i32));
        let new = self.b.emit(Op::CNEW, Ty::Cdata, kid, ksize)?;
        let base = self.payload(types, new, id)?;
        for (part, (value, scalar)) in parts.iter().zip(stored) {
            let offset = self.b.kword(u64::from(part.offset), Ty::I64);
            let address = self.b.emit(Op::ADD, Ty::P64, base, offset)?;
            self.b.emit(Op::XSTORE, ir_type(scalar), address, value)?;
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

/// Is a cdata of this type a scalar, behind a reference or not?
fn is_scalar(types: &CTypeTable, id: CTypeId) -> bool {
    let ct = types.get(types.raw_ref(id));
    Scalar::of(ct.info, ct.size).is_some()
}
