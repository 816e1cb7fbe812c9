//! Indexing of cdata: reads and writes of struct fields, elements and what pointers point to.

use super::convert::Located;
use super::peek::{payload_address, peek, type_of_ctype};
use super::{ir_type, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty, xload};
use crate::opt::narrow;
use crate::rec::index::Indexed;
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::ffi::bitfield;
use perilune_vm::ffi::conversion::{scalar, value_type};
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable, Info};
use perilune_vm::ffi::index::{Access, Index, Key, index, stored_type};
use perilune_vm::ffi::int64;
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::meta::MM;
use perilune_vm::object::{Cdata, Gc};
use perilune_vm::{Value, Vm};

/// A key that is an integer: its reference in 64 bits, and its value while recording.
type Integer = (IrRef, i64);

/// The value of a constant of an enumeration, or of a `static const` integer.
pub(super) fn constant(types: &CTypeTable, id: CTypeId) -> Value {
    let ct = types.get(id);
    let unsigned = types.get(ct.info.child()).info.has(Info::UNSIGNED);
    Value::integer(if unsigned { i64::from(ct.size) } else { i64::from(ct.size as i32) })
}

impl Recorder {
    /// What indexing a cdata with a key means, with guards for their types, and the key as an integer.
    fn find_index(&mut self, types: &CTypeTable, (r, c): (IrRef, Gc<Cdata>), (rk, k): Operand) -> Rec<(Index, Integer)> {
        self.guard_ctype(r, c)?;
        let of = type_of_ctype(c);
        if let Some(of) = of {
            self.guard_type(r, of)?;
        }
        let zero = (IrRef::NONE, 0);
        if let Some(s) = k.as_str() {
            if !rk.is_const() {
                self.guard_is(rk, k)?;
            }
            return Ok((index(types, c.ctype(), of, Key::Name(s.bytes())), zero));
        }
        let integer = if let Some(n) = k.as_number() {
            // The value may be in the other form when the trace runs, as its reference says.
            let word =
                if self.ty(rk).is_int() { narrow::int_index(&mut self.b, rk)? } else { narrow::num_index(&mut self.b, rk, n)? };
            (word, int64::index_from_num(n))
        } else {
            let other = || index(types, c.ctype(), of, Key::Other);
            // The reference says which other type it has.
            let Some(key) = k.as_cdata() else { return Ok((other(), zero)) };
            self.guard_ctype(rk, key)?;
            let id = value_type(types, key.ctype());
            let Some(scalar) = scalar(types.get(id)).filter(|_| types.get(id).info.is_integer()) else {
                return Ok((other(), zero));
            };
            let value = self.boxed_scalar(types, rk, key.ctype(), scalar)?;
            (self.to_word(value, Ty::I64)?, peek(scalar, payload_address(key)).to_i64())
        };
        Ok((index(types, c.ctype(), of, Key::Integer), integer))
    }
    /// The address of a place.
    fn locate(&mut self, types: &CTypeTable, (r, c): (IrRef, Gc<Cdata>), a: &Access, (key, k): Integer) -> Rec<Located> {
        // The parts of a complex number are found by the lowest bit of the key.
        if a.narrow || a.complex && a.element.is_some() {
            return Err(Abort::BadType);
        }
        let mut at = if a.loads == 0 {
            Located { address: self.payload(types, r, c.ctype())?, now: payload_address(c) }
        } else {
            let now = peek(Scalar::Pointer, payload_address(c)).to_u64();
            Located { address: self.pointer(r)?, now }
        };
        for _ in 1..a.loads {
            at = self.follow(at)?;
        }
        let mut now = at.now;
        if let Some(size) = a.element {
            let size = u64::from(size);
            let ksize = self.b.kword(size, Ty::I64);
            let bytes = self.b.emit(Op::MUL, Ty::I64, key, ksize)?;
            at.address = self.b.emit(Op::ADD, Ty::P64, at.address, bytes)?;
            now = now.wrapping_add((k as u64).wrapping_mul(size));
        }
        let offset = self.b.kword(u64::from(a.offset), Ty::I64);
        let address = self.b.emit(Op::ADD, Ty::P64, at.address, offset)?;
        Ok(Located { address, now: now.wrapping_add(u64::from(a.offset)) })
    }

    /// `cdata[key]`. [`Abort::BadType`] where the builtin must be called.
    pub(in crate::rec) fn cdata_index(&mut self, vm: &Vm, object: Operand, key: Operand) -> Rec<Indexed> {
        let types = types(vm)?;
        let c = object.1.as_cdata().ok_or(Abort::BadType)?;
        let of = (object.0, c);
        let (index, integer) = self.find_index(types, of, key)?;
        let value = match index {
            Index::Access(a) => {
                let at = self.locate(types, of, &a, integer)?;
                match a.bitfield {
                    Some(info) => self.load_bitfield(info, at)?,
                    None => self.load_c(types, a.value, at)?,
                }
            }
            Index::Constant(id) => self.b.kvalue(constant(types, id)),
            Index::NoSize => return Err(Abort::BadType),
            Index::Missing { id, .. } => {
                let method = vm.ctype_method(id, MM::Index);
                if method.is_func() {
                    let f = self.b.kgc(method);
                    // The builtin is replaced by the function that it finds.
                    self.native.headers += 1;
                    return Ok(Indexed::Call((f, method), object));
                }
                // The metatable of a type and what is in its `__index` are taken for constants, as in LuaJIT.
                let table = method.as_table().ok_or(Abort::BadType)?;
                let found = table.get(key.1);
                if found.is_nil() || key.1.as_str().is_none() {
                    return Err(Abort::BadType);
                }
                self.b.kvalue(found)
            }
        };
        self.native.headers += 1;
        Ok(Indexed::Value(value))
    }

    /// `cdata[key] = value`: emits the store, or returns the function to call. [`Abort::BadType`] where the builtin must be called.
    pub(in crate::rec) fn cdata_set_index(
        &mut self,
        vm: &Vm,
        object: Operand,
        key: Operand,
        value: Operand,
    ) -> Rec<Option<Operand>> {
        let types = types(vm)?;
        let c = object.1.as_cdata().ok_or(Abort::BadType)?;
        let of = (object.0, c);
        let (a, integer) = match self.find_index(types, of, key)? {
            (Index::Access(a), integer) => (a, integer),
            (Index::Missing { id, qual }, _) if qual & Info::CONST == 0 => {
                let method = vm.ctype_method(id, MM::NewIndex);
                if method.as_func().is_none_or(|f| f.proto().is_none()) {
                    return Err(Abort::BadType);
                }
                // The builtin is replaced by the function that it finds.
                self.native.headers += 1;
                return Ok(Some((self.b.kgc(method), method)));
            }
            _ => return Err(Abort::BadType),
        };
        let mut at = self.locate(types, of, &a, integer)?;
        if let Some(info) = a.bitfield {
            if (info.0 | a.qual) & Info::CONST != 0 {
                return Err(Abort::BadType);
            }
            self.store_bitfield(vm, info, at, value)?;
        } else {
            let (follow, id, qual) = stored_type(types, a.value);
            if (qual | a.qual) & Info::CONST != 0 {
                return Err(Abort::BadType);
            }
            if follow {
                at = self.follow(at)?;
            }
            let stored = self.converted(vm, id, value)?;
            self.store_at(at.address, stored)?;
        }
        self.native.headers += 1;
        self.snaps.needed = true;
        Ok(None)
    }

    /// The value of a bitfield.
    fn load_bitfield(&mut self, info: Info, at: Located) -> Rec<IrRef> {
        let bits_in_place = bitfield::mask(info).ok_or(Abort::BadType)?;
        let (pos, bits) = (info.bit_pos() as i32, info.bit_size() as i32);
        if bits == 32 {
            return self.load_scalar(if info.has(Info::UNSIGNED) { Scalar::U32 } else { Scalar::I32 }, at);
        }
        let container = bitfield::container(info);
        let word = self.b.emit(Op::XLOAD, ir_type(container), at.address, IrRef(xload::UNTYPED))?;
        if info.has(Info::UNSIGNED) || info.has(Info::BOOL) {
            let (shift, mask) = (self.b.kint(pos), self.b.kint(i32::MAX >> (31 - bits)));
            let low = self.b.emit(Op::BSHR, Ty::Int, word, shift)?;
            let field = self.b.emit(Op::BAND, Ty::Int, low, mask)?;
            let now = peek(container, at.now).to_u64() as u32 & bits_in_place;
            return if info.has(Info::BOOL) { self.guard_bool(field, now != 0) } else { Ok(field) };
        }
        let (left, right) = (self.b.kint(32 - pos - bits), self.b.kint(32 - bits));
        let high = self.b.emit(Op::BSHL, Ty::Int, word, left)?;
        self.b.emit(Op::BSAR, Ty::Int, high, right)
    }
    /// A store of a value into a bitfield.
    fn store_bitfield(&mut self, vm: &Vm, info: Info, at: Located, value: Operand) -> Rec<()> {
        let mask = bitfield::mask(info).ok_or(Abort::BadType)?;
        let (field, _) = self.to_scalar(vm, bitfield::value_type(info), value, false)?;
        let container = ir_type(bitfield::container(info));
        // The fields of a struct may have containers of several sizes.
        let word = self.b.emit(Op::XLOAD, container, at.address, IrRef(xload::UNTYPED))?;
        let (keep, take, shift) = (self.b.kint(!mask as i32), self.b.kint(mask as i32), self.b.kint(info.bit_pos() as i32));
        let kept = self.b.emit(Op::BAND, Ty::Int, word, keep)?;
        let moved = self.b.emit(Op::BSHL, Ty::Int, field, shift)?;
        let taken = self.b.emit(Op::BAND, Ty::Int, moved, take)?;
        let word = self.b.emit(Op::BOR, Ty::Int, kept, taken)?;
        self.b.emit(Op::XSTORE, container, at.address, word)?;
        Ok(())
    }
}
