//! Conversions between values of Lua and of C.

use super::peek::{payload_address, peek};
use super::{ir_type, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty, conv};
use crate::opt::fold::range;
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::ffi::conversion::{Conversion, Rules, conversion, value_type};
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable, Info, POINTER_SIZE};
use perilune_vm::ffi::load::{Load, load};
use perilune_vm::ffi::scalar::{Number, Scalar};
use perilune_vm::layout::ofs;
use perilune_vm::{Value, Vm, lightud};

/// Where a value of C is, and how it is there.
#[derive(Copy, Clone)]
pub(super) struct Located {
    /// Its address.
    pub(super) address: IrRef,
    /// The same address while recording.
    pub(super) now: u64,
}

impl Recorder {
    /// The value of Lua for the value of the C type `id` at an address.
    pub(super) fn load_c(&mut self, types: &CTypeTable, id: CTypeId, at: Located) -> Rec<IrRef> {
        let (follow, load) = load(types, id);
        let at = if follow { self.follow(at)? } else { at };
        match load {
            Load::Scalar(scalar) => self.load_scalar(scalar, at),
            Load::Copy { id, .. } => {
                let ct = types.get(id);
                let scalar = Scalar::of(ct.info, ct.size).ok_or(Abort::BadType)?;
                let value = self.b.emit(Op::XLOAD, ir_type(scalar), at.address, IrRef(0))?;
                self.new_box(id, value)
            }
            Load::Reference(id) => {
                let id = types.interned(Info::reference(id), POINTER_SIZE).ok_or(Abort::BadType)?;
                self.new_box(id, at.address)
            }
        }
    }
    /// What the pointer at an address points to.
    pub(super) fn follow(&mut self, at: Located) -> Rec<Located> {
        let address = self.b.emit(Op::XLOAD, Ty::P64, at.address, IrRef(0))?;
        Ok(Located { address, now: peek(Scalar::Pointer, at.now).to_u64() })
    }
    /// A boolean of C, which is `yes` while recording: guards that it still is.
    pub(super) fn guard_bool(&mut self, r: IrRef, yes: bool) -> Rec<IrRef> {
        let zero = self.b.kint(0);
        self.b.emit(if yes { Op::NE } else { Op::EQ }, Ty::Int, r, zero)?;
        Ok(if yes { IrRef::TRUE } else { IrRef::FALSE })
    }
    /// The value of Lua for a scalar of at most 32 bits, or a double.
    pub(super) fn load_scalar(&mut self, scalar: Scalar, at: Located) -> Rec<IrRef> {
        let ty = ir_type(scalar);
        let r = self.b.emit(Op::XLOAD, ty, at.address, IrRef(0))?;
        match scalar {
            Scalar::Bool => self.guard_bool(r, peek(scalar, at.now).to_u64() != 0),
            Scalar::U32 => self.u32_to_number(r, peek(scalar, at.now).to_u64() as u32),
            // Where such a num is boxed, a NaN gets the bits of Lua's own.
            Scalar::F32 => self.b.emit(Op::CONV, Ty::Num, r, IrRef(conv::pack(Ty::Num, Ty::Float, 0))),
            _ => Ok(r),
        }
    }

    /// A scalar converted to another one: what XSTORE takes for it.
    pub(super) fn convert_scalar(&mut self, r: IrRef, from: Ty, to: Scalar) -> Rec<IrRef> {
        let ty = ir_type(to);
        let how = |dst: Ty, mode: u16| IrRef(conv::pack(dst, from, mode));
        match ty {
            _ if from == ty => Ok(r),
            Ty::I64 | Ty::U64 | Ty::P64 => self.to_word(r, ty),
            Ty::Num | Ty::Float => self.b.emit(Op::CONV, ty, r, how(ty, 0)),
            // A store takes the low bits of an int.
            _ if from.is_int() => Ok(r),
            _ if from.is_word() => self.b.emit(Op::CONV, Ty::Int, r, how(Ty::Int, 0)),
            // What fits an int is converted in fewer instructions.
            _ if from == Ty::Num
                && to != Scalar::U32
                && range::num_bound(&self.b, r).is_some_and(|bound| bound < 2_147_483_648.0) =>
            {
                self.b.emit(Op::CONV, Ty::Int, r, how(Ty::Int, 0))
            }
            // By way of 64 bits, of which the low ones count.
            _ => self.b.emit(Op::CONV, Ty::U32, r, how(Ty::U32, 0)),
        }
    }

    /// A value of Lua converted to the scalar type `d`: the value that XSTORE takes, and how it is in memory.
    pub(super) fn to_scalar(&mut self, vm: &Vm, d: CTypeId, (r, v): Operand, cast: bool) -> Rec<(IrRef, Scalar)> {
        let types = types(vm)?;
        let d = types.raw_id(d);
        let ct = types.get(d);
        let to = Scalar::of(ct.info, ct.size).ok_or(Abort::BadType)?;
        let (r, v) = self.named_constant(types, d, (r, v))?.unwrap_or((r, v));
        if let Some(c) = v.as_cdata() {
            self.guard_ctype(r, c)?;
            let s = types.get(c.ctype());
            let (at, s) = if s.info.is_ref() {
                let address = self.pointer(r)?;
                (Some(address), types.raw_id(s.info.child()))
            } else {
                (None, types.raw_id(c.ctype()))
            };
            let is_function = types.get(s).info.is_func();
            if is_function && at.is_none() {
                // A function is the pointer to it.
                let s = types.interned(Info::pointer(s, 0), POINTER_SIZE).ok_or(Abort::BadType)?;
                conversion(types, d, s, Rules { cast, from_lua: false }).ok_or(Abort::BadType)?;
                return Ok((self.pointer(r)?, to));
            }
            return match conversion(types, d, s, Rules { cast, from_lua: false }) {
                Some(Conversion::Scalar { from, to }) => {
                    let value = match at {
                        Some(at) => self.b.emit(Op::XLOAD, ir_type(from), at, IrRef(0))?,
                        None => self.boxed_scalar(types, r, c.ctype(), from)?,
                    };
                    self.store_form(value, ir_type(from), to, v, from)
                }
                Some(Conversion::Address(to)) => {
                    let address = match at {
                        Some(at) => at,
                        None => self.payload(types, r, c.ctype())?,
                    };
                    Ok((address, to))
                }
                _ => Err(Abort::BadType),
            };
        }
        let (s, from) = if v.is_int() || v.is_num() {
            // The value may be in the other form when the trace runs, as its reference says.
            if self.ty(r).is_int() { (CTypeId::INT32, Ty::Int) } else { (CTypeId::DOUBLE, Ty::Num) }
        } else if v.is_nil() {
            (CTypeId::P_VOID, Ty::P64)
        } else if v.is_str() && ct.info.is_ptr() {
            (CTypeId::A_CCHAR, Ty::Str)
        } else if v.is_bool() {
            (CTypeId::BOOL, Ty::U8)
        } else if Ty::of_value(v) == Ty::LightUd {
            (CTypeId::P_VOID, Ty::LightUd)
        } else {
            return Err(Abort::BadType);
        };
        let from_lua = v.is_number() || v.is_str() || v.is_nil();
        let plan = conversion(types, d, s, Rules { cast, from_lua }).ok_or(Abort::BadType)?;
        match (from, plan) {
            (Ty::Str, Conversion::Address(to)) => {
                // Not STRREF, which may become an address inside of a longer string: the text ends with a NUL.
                let first = self.b.kword(ofs::STR_DATA as u64, Ty::I64);
                self.snaps.addressed.push(r);
                Ok((self.b.emit(Op::ADD, Ty::P64, r, first)?, to))
            }
            (Ty::P64, Conversion::Scalar { to, .. }) => Ok((self.b.knull(Ty::P64), to)),
            (Ty::LightUd, Conversion::Scalar { to: to @ Scalar::Pointer, .. }) => {
                self.guard_own_address(r, v)?;
                Ok((r, to))
            }
            (Ty::U8, Conversion::Scalar { to, .. }) => {
                let bit = self.b.kint(i32::from(v.truthy()));
                self.store_form(bit, Ty::Int, to, v, Scalar::I32)
            }
            (Ty::Int | Ty::Num, Conversion::Scalar { from: s, to }) => {
                if from == Ty::Int && matches!(to, Scalar::I32 | Scalar::U32) {
                    // The number is taken for what is left of it in 32 bits, since it is an int.
                    range::rely(&mut self.b, r)?;
                }
                self.store_form(r, from, to, v, s)
            }
            _ => Err(Abort::BadType),
        }
    }
    /// Guards that a light userdata is an address itself.
    fn guard_own_address(&mut self, r: IrRef, v: Value) -> Rec<()> {
        if lightud::is_encoded(v.payload()) {
            return Err(Abort::BadType);
        }
        let first = self.b.kword(lightud::FIRST_ENCODED, Ty::U64);
        let above = self.b.emit(Op::SUB, Ty::U64, r, first)?;
        let n = self.b.kword(lightud::ENCODED, Ty::U64);
        self.b.compare(Op::GE, above, n)?;
        Ok(())
    }
    /// A scalar in the form that is stored. Whether it is true is guarded for a boolean.
    fn store_form(&mut self, r: IrRef, from: Ty, to: Scalar, v: Value, source: Scalar) -> Rec<(IrRef, Scalar)> {
        if to != Scalar::Bool || source == Scalar::Bool {
            return Ok((self.convert_scalar(r, from, to)?, to));
        }
        let Some(n) = v.as_number() else {
            return if v.is_bool() { Ok((r, to)) } else { Err(Abort::BadType) };
        };
        let zero = if from.is_int() { self.b.kint(0) } else { self.b.knum(0.0) };
        let ty = if from.is_int() { Ty::Int } else { Ty::Num };
        self.b.emit(if n == 0.0 { Op::EQ } else { Op::NE }, ty, r, zero)?;
        Ok((self.b.kint(i32::from(n != 0.0)), to))
    }
    /// The scalar that is the payload of a cdata of a type.
    pub(super) fn boxed_scalar(&mut self, types: &CTypeTable, r: IrRef, id: CTypeId, scalar: Scalar) -> Rec<IrRef> {
        use perilune_vm::layout::Field;
        let is_enum = types.get(types.raw_id(id)).info.is_enum();
        match scalar {
            Scalar::I64 | Scalar::U64 => self.field(r, Field::CdataInt64),
            Scalar::Pointer => self.pointer(r),
            _ if is_enum => self.field(r, Field::CdataInt),
            _ => {
                let address = self.payload(types, r, id)?;
                self.b.emit(Op::XLOAD, ir_type(scalar), address, IrRef(0))
            }
        }
    }
    /// The number that a cdata is, and how it is in memory. The type is guarded.
    pub(super) fn cdata_number(&mut self, types: &CTypeTable, (r, v): Operand) -> Rec<(IrRef, Scalar, Number)> {
        let c = v.as_cdata().ok_or(Abort::BadType)?;
        self.guard_ctype(r, c)?;
        let ct = types.get(c.ctype());
        let (at, id) = if ct.info.is_ref() { (Some(self.pointer(r)?), ct.info.child()) } else { (None, c.ctype()) };
        let id = value_type(types, id);
        let ct = types.get(id);
        let scalar = Scalar::of(ct.info, ct.size).filter(|_| ct.info.is_num()).ok_or(Abort::BadType)?;
        let value = match at {
            Some(at) => self.b.emit(Op::XLOAD, ir_type(scalar), at, IrRef(0))?,
            None => self.boxed_scalar(types, r, c.ctype(), scalar)?,
        };
        let payload = payload_address(c);
        let now = if at.is_some() { peek(Scalar::Pointer, payload).to_u64() } else { payload };
        Ok((value, scalar, peek(scalar, now)))
    }
    /// A uint32_t as a number: an int where its values are small, as feedback says.
    pub(super) fn u32_to_number(&mut self, r: IrRef, now: u32) -> Rec<IrRef> {
        if self.feedback.load_type(Value::number(f64::from(now))) == Ty::Int {
            let zero = self.b.kint(0);
            self.b.emit(Op::GE, Ty::Int, r, zero)?;
            return Ok(r);
        }
        self.b.emit(Op::CONV, Ty::Num, r, IrRef(conv::pack(Ty::Num, Ty::U32, 0)))
    }
    /// A 64-bit integer as a number, likewise.
    fn word_to_number(&mut self, r: IrRef, from: Ty, now: f64) -> Rec<IrRef> {
        if self.feedback.load_type(Value::number(now)) == Ty::Int {
            let int = self.b.emit(Op::CONV, Ty::Int, r, IrRef(conv::pack(Ty::Int, from, 0)))?;
            let back = self.b.emit(Op::CONV, Ty::I64, int, IrRef(conv::I64_INT))?;
            self.b.emit(Op::EQ, Ty::I64, back, r)?;
            if from == Ty::U64 {
                // The greatest numbers have the bits of negative ones.
                let zero = self.b.kint(0);
                self.b.emit(Op::GE, Ty::Int, int, zero)?;
            }
            return Ok(int);
        }
        self.b.emit(Op::CONV, Ty::Num, r, IrRef(conv::pack(Ty::Num, from, 0)))
    }
    /// A number that is a cdata, as a number of Lua.
    pub(in crate::rec) fn cdata_to_number(&mut self, vm: &Vm, operand: Operand) -> Rec<IrRef> {
        let (value, scalar, now) = self.cdata_number(types(vm)?, operand)?;
        let from = ir_type(scalar);
        match scalar {
            Scalar::F64 | Scalar::F32 => Err(Abort::BadType),
            Scalar::I64 | Scalar::U64 => self.word_to_number(value, from, now.to_f64()),
            Scalar::U32 => self.u32_to_number(value, now.to_u64() as u32),
            _ => Ok(value),
        }
    }
}
