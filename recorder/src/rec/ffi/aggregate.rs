//! Structs and arrays as the scalars that they consist of, and copies of them.

use super::{ir_type, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty, xload};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::Vm;
use perilune_vm::ffi::conversion::{Conversion, Rules, conversion};
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable, Ct, Info, attrib};
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::helper::Helper;

/// A struct or array of more scalars is made by the runtime, which sets its memory at once: each scalar here is a store of its own, and a
/// snapshot slot when the object is sunk. LuaJIT's limit is alike: 128 bytes, which are 32 ints.
pub(super) const MOST_SCALARS: usize = 32;
/// A struct or array of more scalars is copied by a call: all scalars of a copy are loaded before the first is stored, which takes a register
/// for each. LuaJIT's limit is the same.
const MOST_COPIED: usize = 16;

/// A part of a struct or array: a scalar or an aggregate in it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// Its type, with its attributes.
    pub(super) ctype: CTypeId,
    pub(super) offset: u32,
    /// The field, if it is one.
    pub(super) member: CTypeId,
}

/// The scalar that a type is, if it is one.
pub(super) fn scalar(types: &CTypeTable, id: CTypeId) -> Option<Scalar> {
    let ct = types.raw(id);
    Scalar::of(ct.info, ct.size)
}

/// The fields of a struct, or the elements of an array: what initialisers are for, in order. None for unions and bitfields, if there are too
/// many, and for other types.
pub(super) fn direct_parts(types: &CTypeTable, id: CTypeId) -> Option<Vec<Part>> {
    let mut all = Vec::new();
    collect_direct(types, id, 0, &mut all)?;
    Some(all)
}

fn collect_direct(types: &CTypeTable, id: CTypeId, at: u32, all: &mut Vec<Part>) -> Option<()> {
    let raw = types.raw_id(id);
    let ct = types.get(raw);
    if ct.info.is_plain_array() || ct.info.is_complex() {
        let element = ct.info.child();
        let step = types.size(element).filter(|step| *step != 0)?;
        let count = ct.size / step;
        if all.len() + count as usize > MOST_SCALARS {
            return None;
        }
        all.extend((0..count).map(|i| Part { ctype: element, offset: at + i * step, member: CTypeId::NONE }));
        return Some(());
    }
    if !ct.info.is_struct() || ct.info.has(Info::UNION) {
        return None;
    }
    for m in types.members(raw) {
        let field = types.get(m);
        match field.info.ct() {
            Ct::Field if field.name.is_some() => {
                all.push(Part { ctype: field.info.child(), offset: at + field.size, member: m });
            }
            Ct::Constval => {}
            // The fields of a struct without a name are fields of the struct that it is in.
            Ct::Attrib if field.info.is_attrib_of(attrib::SUBTYPE) => {
                collect_direct(types, field.info.child(), at + field.size, all)?;
            }
            _ => return None,
        }
    }
    (all.len() <= MOST_SCALARS).then_some(())
}

/// The scalars that a type consists of, in order. None where [`direct_parts`] has none.
pub(super) fn scalar_parts(types: &CTypeTable, id: CTypeId) -> Option<Vec<Part>> {
    let mut all = Vec::new();
    collect_scalars(types, Part { ctype: id, offset: 0, member: CTypeId::NONE }, &mut all)?;
    Some(all)
}

fn collect_scalars(types: &CTypeTable, part: Part, all: &mut Vec<Part>) -> Option<()> {
    if all.len() >= MOST_SCALARS {
        return None;
    }
    if scalar(types, part.ctype).is_some() {
        all.push(part);
        return Some(());
    }
    for inner in direct_parts(types, part.ctype)? {
        collect_scalars(types, Part { offset: part.offset + inner.offset, ..inner }, all)?;
    }
    Some(())
}

/// An access to memory that copies a part of a value.
pub(super) struct Access {
    ty: Ty,
    offset: u32,
    /// Literal of the load.
    flags: u16,
}

/// The accesses that copy so many bytes of memory, from an offset on, of which no type is known: padding, for example.
fn untyped(from: u32, to: u32, all: &mut Vec<Access>) {
    let mut at = from;
    while at < to {
        // The largest access that is aligned and fits.
        let chunk = [(8, Ty::I64), (4, Ty::Int), (2, Ty::U16), (1, Ty::U8)];
        let (size, ty) = chunk.into_iter().find(|(size, _)| at.is_multiple_of(*size) && at + size <= to).unwrap_or((1, Ty::U8));
        all.push(Access { ty, offset: at, flags: xload::UNTYPED });
        at += size;
    }
}

/// The accesses that copy a value of a type, with its padding, which programs can see by other pointers. None if a call is to copy it.
fn copied_as(types: &CTypeTable, id: CTypeId, size: u32) -> Option<Vec<Access>> {
    let parts = scalar_parts(types, id)?;
    let mut all = Vec::with_capacity(parts.len());
    let mut end = 0;
    for part in parts {
        untyped(end, part.offset, &mut all);
        let scalar = scalar(types, part.ctype)?;
        all.push(Access { ty: ir_type(scalar), offset: part.offset, flags: 0 });
        end = part.offset + scalar.size();
    }
    untyped(end, size, &mut all);
    (all.len() <= MOST_COPIED).then_some(all)
}

/// The accesses that copy `n` bytes of memory: those of the value that is there, of type `source`, if it has so many. None if a call is to copy
/// them.
pub(super) fn copy_of_bytes(types: &CTypeTable, source: Option<CTypeId>, n: u32) -> Option<Vec<Access>> {
    let is_value = |id: &CTypeId| !types.raw(*id).info.is_ptr() && types.size(*id) == Some(n);
    let whole = source.filter(is_value).and_then(|id| copied_as(types, id, n));
    whole.or_else(|| {
        let mut all = Vec::new();
        if n <= 8 * MOST_COPIED as u32 {
            untyped(0, n, &mut all);
        }
        (1..=MOST_COPIED).contains(&all.len()).then_some(all)
    })
}

/// What is stored for a value.
pub(super) enum Stored {
    /// Scalars of these types, at these offsets.
    Scalars(Vec<(Ty, u32, IrRef)>),
    /// So many bytes from an address.
    Bytes(IrRef, u32),
}

impl Recorder {
    /// `base + offset`
    pub(super) fn at_offset(&mut self, base: IrRef, offset: u32) -> Rec<IrRef> {
        let offset = self.b.kword(u64::from(offset), Ty::I64);
        self.b.emit(Op::ADD, Ty::P64, base, offset)
    }
    /// What is stored for a value of Lua that is converted to the type `d`.
    pub(super) fn converted(&mut self, vm: &Vm, d: CTypeId, v: Operand) -> Rec<Stored> {
        let types = types(vm)?;
        if scalar(types, d).is_some() {
            let (value, scalar) = self.to_scalar(vm, d, v, false)?;
            return Ok(Stored::Scalars(vec![(ir_type(scalar), 0, value)]));
        }
        let c = v.1.as_cdata().ok_or(Abort::BadType)?;
        let s = types.get(c.ctype());
        let is_reference = s.info.is_ref();
        let s = if is_reference { s.info.child() } else { c.ctype() };
        let Some(Conversion::Copy(size)) = conversion(types, d, s, Rules::default()) else { return Err(Abort::BadType) };
        self.guard_ctype(v.0, c)?;
        let from = if is_reference { self.pointer(v.0)? } else { self.payload(types, v.0, c.ctype())? };
        self.loaded(types, d, from, size)
    }
    /// The value of an aggregate type at an address.
    pub(super) fn loaded(&mut self, types: &CTypeTable, id: CTypeId, from: IrRef, size: u32) -> Rec<Stored> {
        match copied_as(types, id, size) {
            Some(accesses) => self.loaded_as(accesses, from),
            None => Ok(Stored::Bytes(from, size)),
        }
    }
    /// The memory at an address, by these accesses.
    pub(super) fn loaded_as(&mut self, accesses: Vec<Access>, from: IrRef) -> Rec<Stored> {
        let mut all = Vec::with_capacity(accesses.len());
        for Access { ty, offset, flags } in accesses {
            let address = self.at_offset(from, offset)?;
            all.push((ty, offset, self.b.emit(Op::XLOAD, ty, address, IrRef(flags))?));
        }
        Ok(Stored::Scalars(all))
    }
    /// Stores a value to an address.
    pub(super) fn store_at(&mut self, to: IrRef, value: Stored) -> Rec<()> {
        match value {
            Stored::Scalars(all) => {
                for (ty, offset, value) in all {
                    let address = self.at_offset(to, offset)?;
                    self.b.emit(Op::XSTORE, ty, address, value)?;
                }
                self.snaps.needed = true;
                Ok(())
            }
            Stored::Bytes(from, size) => {
                let size = self.b.kint(size as i32);
                self.b.call(Helper::MemCopy, &[to, from, size])?;
                self.raw_memory_changed()
            }
        }
    }
}
