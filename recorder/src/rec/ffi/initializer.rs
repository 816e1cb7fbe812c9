//! What initialisers of new structs and arrays store.

use super::aggregate::{MOST_SCALARS, Part, Stored, direct_parts};
use super::types;
use crate::abort::Abort;
use crate::ir::{Const, IrRef, Op, Ty};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable};
use perilune_vm::object::{Gc, Table};
use perilune_vm::{Value, Vm};

/// What is stored, and at which offsets. What is not stored is zero.
pub(super) type Stores = Vec<(u32, Stored)>;

/// Is a single initialiser the whole value of the type `d`, instead of its first part?
fn is_whole(types: &CTypeTable, d: CTypeId, v: Value) -> bool {
    v.is_table()
        || v.is_str() && !types.raw(d).info.is_struct()
        || v.as_cdata().is_some_and(|c| types.raw_ref(c.ctype()) == types.raw_id(d))
}

impl Recorder {
    /// Stores what initialisers store to the object at `base`.
    pub(super) fn store_all(&mut self, base: IrRef, stores: Stores) -> Rec<()> {
        for (offset, value) in stores {
            let at = self.at_offset(base, offset)?;
            self.store_at(at, value)?;
        }
        Ok(())
    }
    /// What initialisers of a struct, or of an array of fixed size, store.
    pub(super) fn initializers(&mut self, vm: &Vm, id: CTypeId, values: &[Operand]) -> Rec<Stores> {
        let types = types(vm)?;
        let mut stores = Vec::new();
        match *values {
            [] => return Ok(stores),
            [v] if is_whole(types, id, v.1) => {
                self.initialize(vm, Part { ctype: id, offset: 0, member: CTypeId::NONE }, v, &mut stores)?;
                return Ok(stores);
            }
            _ => {}
        }
        let parts = direct_parts(types, id).filter(|parts| values.len() <= parts.len()).ok_or(Abort::BadType)?;
        // A single initialiser is that of all elements.
        let repeated = types.raw(id).info.is_plain_array() && values.len() == 1;
        let each = if repeated { parts.len() } else { 1 };
        for (part, v) in parts.into_iter().zip(values.iter().flat_map(|v| core::iter::repeat_n(*v, each))) {
            self.initialize(vm, part, v, &mut stores)?;
        }
        Ok(stores)
    }
    /// What initialisers of an array of variable size, with `count` elements, store: a single one only the first element.
    pub(super) fn elements(&mut self, vm: &Vm, id: CTypeId, (count, n): (IrRef, i32), values: &[Operand]) -> Rec<Stores> {
        let types = types(vm)?;
        let mut stores = Vec::new();
        match *values {
            [] => return Ok(stores),
            [v] if is_whole(types, id, v.1) => return Err(Abort::BadType),
            _ if values.len() > MOST_SCALARS || n < values.len() as i32 => return Err(Abort::BadType),
            _ => {}
        }
        let least = self.b.kint(values.len() as i32);
        self.b.emit(Op::GE, Ty::Int, count, least)?;
        let ctype = types.raw(id).info.child();
        let step = types.size(ctype).ok_or(Abort::BadType)?;
        for (i, v) in values.iter().enumerate() {
            self.initialize(vm, Part { ctype, offset: i as u32 * step, member: CTypeId::NONE }, *v, &mut stores)?;
        }
        if let [(_, Stored::Scalars(scalars))] = &stores[..]
            && let [(_, _, value)] = scalars[..]
            && self.is_zero(value)
        {
            stores.clear();
        }
        Ok(stores)
    }
    /// Is the value a constant whose bits are zero?
    fn is_zero(&self, r: IrRef) -> bool {
        match self.b.trace.konst(r) {
            Some(Const::Int(k)) => k == 0,
            Some(Const::Num(bits) | Const::Ptr(bits) | Const::Word(bits, _)) => bits == 0,
            Some(Const::Null(_)) => true,
            _ => false,
        }
    }
    /// The initialiser of a part.
    fn initialize(&mut self, vm: &Vm, part: Part, v: Operand, stores: &mut Stores) -> Rec<()> {
        if let Some(t) = v.1.as_table() {
            return self.initialize_by_table(vm, part, (v.0, t), stores);
        }
        stores.push((part.offset, self.converted(vm, part.ctype, v)?));
        Ok(())
    }
    /// A struct or array that a table initialises, by position from 0 or 1 on, or, if neither is there, by the names of fields.
    fn initialize_by_table(&mut self, vm: &Vm, whole: Part, (r, t): (IrRef, Gc<Table>), stores: &mut Stores) -> Rec<()> {
        let types = types(vm)?;
        let info = types.raw(whole.ctype).info;
        if !info.is_struct() && !info.is_plain_array() {
            return Err(Abort::BadType);
        }
        let parts = direct_parts(types, whole.ctype).ok_or(Abort::BadType)?;
        let inside = |part: &Part| Part { offset: whole.offset + part.offset, ..*part };
        let at = |rec: &mut Recorder, key: Value| {
            let k = rec.b.kvalue(key);
            Ok((rec.raw_get(vm, t, r, (k, key))?, t.get(key)))
        };
        let (mut v, mut i) = (at(self, Value::int(0))?, 0);
        if v.1.is_nil() {
            (v, i) = (at(self, Value::int(1))?, 1);
        }
        if v.1.is_nil() && info.is_struct() {
            for part in &parts {
                let name = vm.ffi.as_ref().and_then(|ffi| ffi.field_name(part.member)).ok_or(Abort::BadType)?;
                let v = at(self, Value::str(name))?;
                if !v.1.is_nil() {
                    self.initialize(vm, inside(part), v, stores)?;
                }
            }
            return Ok(());
        }
        let (head, mut given) = (v, 0);
        for part in &parts {
            if v.1.is_nil() {
                break;
            }
            self.initialize(vm, inside(part), v, stores)?;
            given += 1;
            // Further values for a struct are not looked at, but too many elements are an error.
            if given < parts.len() || !info.is_struct() {
                i += 1;
                v = at(self, Value::int(i))?;
            }
        }
        if info.is_struct() {
            return Ok(());
        }
        if !v.1.is_nil() {
            return Err(Abort::BadType);
        }
        // A single element is that of all.
        let repeated = if given == 1 { &parts[1..] } else { &[] };
        for part in repeated {
            self.initialize(vm, inside(part), head, stores)?;
        }
        Ok(())
    }
}
