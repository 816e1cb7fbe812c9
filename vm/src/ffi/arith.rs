//! Arithmetic and comparison of cdata (LuaJIT's `lj_carith`): which operation it is, from the types alone ([`plan`]), and its execution by
//! the interpreter. The recorder emits code for the same plan.
#![allow(unsafe_code, reason = "an operand is read with the type that the table of types has for it")]

use super::convert::{Mode, target};
use super::ctype::{CTypeId, CTypeTable, Ct, Info};
use super::scalar::{Number, Scalar};
use super::{int64, metatype};
use crate::Vm;
use crate::error::LuaResult;
use crate::meta::MM;
use crate::object::Placement;
use crate::value::Value;

/// Where the value of an operand is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// It is a number of Lua.
    Number,
    /// It is nil: the null pointer.
    Nil,
    /// It is the payload; for an array, the address of the payload.
    Payload,
    /// It is an address, which the payload is.
    Pointer,
    /// It is at the address that the payload is: the cdata is a reference.
    Target,
}

/// An operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Its type, behind references, attributes and enumerations.
    pub ctype: CTypeId,
    /// Where its value is.
    pub place: Place,
}

/// An operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Arith {
    /// Both operands are converted to this type, `int64_t` or `uint64_t`. The result of arithmetic has it as well.
    Int64(CTypeId),
    /// A pointer plus or minus an index, which is a number.
    Offset {
        /// Which operand is the pointer.
        pointer: usize,
        /// Size of an element.
        size: u32,
        /// The word of the type of the result, a pointer.
        result: Info,
    },
    /// The difference of two pointers to elements of this size, as a number.
    Difference(u32),
    /// Two addresses are compared.
    Addresses,
}

/// The operand that a value is; none if it is no operand of arithmetic on cdata.
pub fn operand(types: &CTypeTable, v: Value) -> Option<Operand> {
    let (id, place) = match v.as_cdata() {
        Some(c) => {
            let id = types.raw_id(c.ctype());
            let info = types.get(id).info;
            match (info.is_ref(), info.is_ptr() || info.is_func()) {
                (true, _) => (types.raw_child(types.get(id)), Place::Target),
                (_, true) => (id, Place::Pointer),
                _ => (id, Place::Payload),
            }
        }
        None if v.is_int() => (CTypeId::INT32, Place::Number),
        None if v.is_num() => (CTypeId::DOUBLE, Place::Number),
        None if v.is_nil() => (CTypeId::P_VOID, Place::Nil),
        None => return None,
    };
    let ct = types.get(id);
    Some(Operand { ctype: if ct.info.is_enum() { types.raw_child(ct) } else { id }, place })
}

/// What a pointer, or an array or function as a pointer, points to.
fn pointee(types: &CTypeTable, id: CTypeId) -> Option<CTypeId> {
    let ct = types.get(id);
    if ct.info.is_ptr() || ct.info.is_plain_array() { Some(ct.info.child()) } else { ct.info.is_func().then_some(id) }
}

/// The scalar of a number that 64 bits hold.
fn number(types: &CTypeTable, id: CTypeId) -> Option<Scalar> {
    let ct = types.get(id);
    if ct.info.is_num() { Scalar::of(ct.info, ct.size) } else { None }
}

/// Do two pointers point to the same type? Qualifiers of the type itself do not count.
fn compatible(types: &CTypeTable, x: CTypeId, y: CTypeId, same: bool) -> bool {
    if x == y {
        return true;
    }
    let ((x, qx), (y, qy)) = ((types.raw_id(x), types.info(x).0.qualifiers()), (types.raw_id(y), types.info(y).0.qualifiers()));
    let (cx, cy) = (types.get(x), types.get(y));
    if same && qx != qy || cx.info.ct() != cy.info.ct() || cx.size != cy.size {
        return false;
    }
    if cx.info.is_num() {
        return (cx.info.0 ^ cy.info.0) & (Info::BOOL | Info::FP) == 0;
    }
    if cx.info.is_pointer_or_array() {
        return compatible(types, cx.info.child(), cy.info.child(), true);
    }
    !cx.info.is_struct() || x == y
}

/// The operation on two operands of these types; none if there is none without a metamethod. For `-x`, `x` is both.
pub fn plan(types: &CTypeTable, mm: MM, x: CTypeId, y: CTypeId) -> Option<Arith> {
    if let (Some(a), Some(b)) = (number(types, x), number(types, y)) {
        let unsigned = a == Scalar::U64 || b == Scalar::U64;
        return Some(Arith::Int64(if unsigned { CTypeId::UINT64 } else { CTypeId::INT64 }));
    }
    let offset = |pointer: usize, to: CTypeId| {
        let size = types.size(to)?;
        Some(Arith::Offset { pointer, size, result: Info::pointer(to, 0) })
    };
    match (pointee(types, x), pointee(types, y), mm) {
        (Some(_), Some(_), MM::Eq) => Some(Arith::Addresses),
        (Some(a), Some(b), MM::Lt | MM::Le) if compatible(types, a, b, false) => Some(Arith::Addresses),
        (Some(a), Some(b), MM::Sub) if compatible(types, a, b, false) => {
            types.size(a).filter(|size| *size != 0).map(Arith::Difference)
        }
        (Some(a), None, MM::Add | MM::Sub) if number(types, y).is_some() => offset(0, a),
        (None, Some(b), MM::Add) if number(types, x).is_some() => offset(1, b),
        _ => None,
    }
}

/// Arithmetic on words of this type.
pub fn int64(mm: MM, signed: bool, x: u64, y: u64) -> u64 {
    match mm {
        MM::Add => x.wrapping_add(y),
        MM::Sub => x.wrapping_sub(y),
        MM::Mul => x.wrapping_mul(y),
        MM::Div if signed => int64::div(x as i64, y as i64) as u64,
        MM::Mod if signed => int64::rem(x as i64, y as i64) as u64,
        MM::Pow if signed => int64::pow(x as i64, y as i64) as u64,
        MM::Div => int64::unsigned_div(x, y),
        MM::Mod => int64::unsigned_rem(x, y),
        MM::Pow => int64::unsigned_pow(x, y),
        _ => x.wrapping_neg(),
    }
}

/// Does a comparison hold for words of this type?
pub fn compare(mm: MM, signed: bool, x: u64, y: u64) -> bool {
    match mm {
        MM::Eq => x == y,
        MM::Lt if signed => (x as i64) < y as i64,
        MM::Le if signed => x as i64 <= y as i64,
        MM::Lt => x < y,
        _ => x <= y,
    }
}

/// The value of an operand that is a number, or its address.
fn value(types: &CTypeTable, v: Value, o: Operand) -> Number {
    let Some(c) = v.as_cdata() else {
        return v.as_number().map_or(Number::Unsigned(0), |n| v.as_int().map_or(Number::Float(n), |i| Number::Signed(i.into())));
    };
    // SAFETY: the payload of a pointer or reference is an address.
    let address = || unsafe { c.read::<u64>() };
    let at = match o.place {
        Place::Target => core::ptr::with_exposed_provenance_mut::<u8>(address() as usize),
        Place::Pointer => return Number::Unsigned(address()),
        _ => c.payload(),
    };
    match number(types, o.ctype) {
        // SAFETY: the payload has this type; what a reference refers to is the program's care.
        Some(scalar) => unsafe { scalar.read(at) },
        None => Number::Unsigned(at.expose_provenance() as u64),
    }
}

/// Does a comparison hold? None if it needs a metamethod.
pub fn holds(types: &CTypeTable, mm: MM, a: Value, b: Value) -> Option<bool> {
    let (x, y) = (operand(types, a)?, operand(types, b)?);
    let (m, n) = (value(types, a, x), value(types, b, y));
    match plan(types, mm, x.ctype, y.ctype)? {
        Arith::Int64(CTypeId::INT64) => Some(compare(mm, true, m.to_i64() as u64, n.to_i64() as u64)),
        Arith::Int64(_) | Arith::Addresses => Some(compare(mm, false, m.to_u64(), n.to_u64())),
        Arith::Offset { .. } | Arith::Difference(_) => None,
    }
}

impl Vm {
    /// The operation on two values, done; none if there is none without a metamethod.
    pub(super) fn cdata_operation(&mut self, mm: MM, a: Value, b: Value) -> LuaResult<Option<Value>> {
        let types = &*self.ctypes()?;
        if matches!(mm, MM::Eq | MM::Lt | MM::Le) {
            return Ok(holds(types, mm, a, b).map(Value::bool));
        }
        let (Some(x), Some(y)) = (operand(types, a), operand(types, b)) else { return Ok(None) };
        let Some(arith) = plan(types, mm, x.ctype, y.ctype) else { return Ok(None) };
        let (m, n) = (value(types, a, x), value(types, b, y));
        Ok(Some(match arith {
            Arith::Int64(id) => {
                let signed = id == CTypeId::INT64;
                let (p, q) = if signed { (m.to_i64() as u64, n.to_i64() as u64) } else { (m.to_u64(), n.to_u64()) };
                Value::cdata(self.heap.new_int64(id, int64(mm, signed, p, q)))
            }
            Arith::Addresses => return Ok(None),
            // A double, as in traces.
            Arith::Difference(size) => Value::num((m.to_i64().wrapping_sub(n.to_i64()) / i64::from(size)) as f64),
            Arith::Offset { pointer, size, result } => {
                let (base, index) = if pointer == 0 { (m, n) } else { (n, m) };
                let bytes = index.to_i64().wrapping_mul(i64::from(size));
                let bytes = if mm == MM::Sub { bytes.wrapping_neg() } else { bytes };
                let id = match self.ctypes()?.intern(result, super::ctype::POINTER_SIZE) {
                    Ok(id) => id,
                    Err(_) => return Err(self.plain_error(b"too many C types")),
                };
                let c = self.heap.new_cdata(id, super::ctype::POINTER_SIZE, Placement::Small);
                // SAFETY: the payload has 8 bytes.
                unsafe { c.write(base.to_u64().wrapping_add(bytes as u64)) };
                Value::cdata(c)
            }
        }))
    }
    /// Replaces a name that is compared or combined with an enumeration by the constant of this name.
    fn constant_operand(&mut self, v: Value, other: Value) -> LuaResult<Value> {
        let (Some(name), Some(c)) = (v.as_str(), other.as_cdata()) else { return Ok(v) };
        let types = self.ctypes()?;
        let id = types.raw_ref(c.ctype());
        if !types.get(id).info.is_enum() {
            return Ok(v);
        }
        match types.member(id, name.bytes()).filter(|m| types.get(m.id).info.is_ct(Ct::Constval)) {
            Some(m) => self.constant_value(m.id),
            None => Err(self.value_error(id, v, Mode::VALUE)),
        }
    }
}

/// What `==` compares if neither the types nor a metatable say more: the addresses of cdata and strings, or what pointers point to.
pub fn identity(types: &CTypeTable, v: Value) -> Option<u64> {
    if let Some(s) = v.as_str() {
        return Some(s.bytes().as_ptr().addr() as u64);
    }
    let Some(c) = v.as_cdata() else { return v.is_nil().then_some(0) };
    let (at, id) = target(types, c);
    let ct = types.raw(id);
    let points = ct.info.is_ptr() && ct.size == super::ctype::POINTER_SIZE;
    // SAFETY: the value of a pointer is an address.
    Some(if points { unsafe { at.cast::<u64>().read_unaligned() } } else { at.addr() as u64 })
}

/// An operator on two arguments.
fn operator(vm: &mut Vm, mm: MM) -> LuaResult<u32> {
    if vm.nargs() < 2 {
        return Err(vm.arg_type_error(0, "cdata"));
    }
    let (a, b) = (vm.arg(0), vm.arg(1));
    let named = if a.is_str() || b.is_str() {
        match (vm.constant_operand(a, b), vm.constant_operand(b, a)) {
            (Ok(a), Ok(b)) => Some((a, b)),
            // Nothing is equal to a name that is none of a constant.
            (_, Err(_)) | (Err(_), _) if mm == MM::Eq => None,
            (Err(e), _) | (_, Err(e)) => return Err(e),
        }
    } else {
        Some((a, b))
    };
    if let Some((a, b)) = named
        && let Some(result) = vm.cdata_operation(mm, a, b)?
    {
        return vm.ret1(result);
    }
    let types = &*vm.ctypes()?;
    let same = identity(types, a).is_some_and(|x| identity(types, b) == Some(x));
    metatype::operator(vm, mm, Some(Value::bool(same)).filter(|_| mm == MM::Eq))
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident $mm:ident;)*) => {
        $($(#[$doc])* pub fn $name(vm: &mut Vm) -> LuaResult<u32> {
            metatype::at_instruction(vm, |vm| operator(vm, MM::$mm))
        })*
    };
}
operators! {
    /// `__add`
    add Add;
    /// `__sub`
    sub Sub;
    /// `__mul`
    mul Mul;
    /// `__div`
    div Div;
    /// `__mod`
    modulo Mod;
    /// `__pow`
    pow Pow;
    /// `__unm`
    unm Unm;
    /// `__eq`
    eq Eq;
    /// `__lt`
    lt Lt;
    /// `__le`
    le Le;
}
