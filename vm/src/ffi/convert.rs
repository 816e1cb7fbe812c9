//! Conversions between values of Lua and of C, executed.
#![allow(
    unsafe_code,
    reason = "the addresses that are read and written are those of payloads, or what the program has pointers to"
)]

use super::bitfield;
use super::callback::callable_type;
use super::conversion::{Conversion, Rules, conversion, scalar};
use super::ctype::{CTypeId, CTypeTable, Ct, Info, POINTER_SIZE};
use super::inline_cache::FieldLoad;
use super::load::{Load, load};
use super::scalar::{Number, Scalar};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::gc::limit::CHECKED;
use crate::object::{Cdata, Gc, Placement};
use crate::value::Value;

const CROSSES: &str = "NYI: packed bit fields";

/// The value of Lua for the integer in a bitfield.
fn bits_value(info: Info, n: Number) -> Value {
    if info.has(Info::BOOL) { Value::bool(n.to_u64() != 0) } else { Value::integer(n.to_i64()) }
}

/// What is converted, for errors.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// An argument of a builtin or a C function, counted from 0.
    Argument(usize),
    /// The result of a callback, which this function has returned.
    Result(Value),
    /// Any other value.
    Value,
}

/// A conversion of a value of Lua.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Mode {
    pub(super) cast: bool,
    pub(super) what: What,
}

impl Mode {
    pub(super) const VALUE: Mode = Mode { cast: false, what: What::Value };
}

impl Scalar {
    /// Writes a number.
    ///
    /// # Safety
    /// The address is writable for the scalar's size. It need not be aligned.
    #[inline]
    pub unsafe fn write(self, at: *mut u8, n: Number) {
        macro_rules! write {
            ($ty:ty: $value:expr) => {{
                // SAFETY: the contract of this function.
                unsafe { at.cast::<$ty>().write_unaligned($value) }
            }};
        }
        match self {
            Scalar::Bool => write!(u8: u8::from(match n {
                Number::Signed(i) => i != 0,
                Number::Unsigned(u) => u != 0,
                Number::Float(n) => n != 0.0,
            })),
            Scalar::I8 | Scalar::U8 => write!(u8: n.to_i64() as u8),
            Scalar::I16 | Scalar::U16 => write!(u16: n.to_i64() as u16),
            Scalar::I32 | Scalar::U32 => write!(u32: n.to_i64() as u32),
            Scalar::I64 => write!(i64: n.to_i64()),
            Scalar::U64 | Scalar::Pointer => write!(u64: n.to_u64()),
            Scalar::F32 => write!(f32: n.to_f64() as f32),
            Scalar::F64 => write!(f64: n.to_f64()),
        }
    }
}

/// Executes a conversion.
///
/// # Safety
/// The conversion is one to the type of which there is room at `to`, from that of the value at `from`.
pub unsafe fn execute(c: Conversion, to: *mut u8, from: *const u8) {
    // SAFETY: by the contract, all accesses are inside of the two values.
    unsafe {
        match c {
            Conversion::Scalar { from: s, to: d } => d.write(to, s.read(from)),
            Conversion::Copy(size) => core::ptr::copy(from, to, size as usize),
            Conversion::ToComplex { from: s, to: d } => {
                d.write(to, s.read(from));
                d.write(to.add(d.size() as usize), Number::Unsigned(0));
            }
            Conversion::Complex { from: s, to: d } => {
                let (re, im) = (s.read(from), s.read(from.add(s.size() as usize)));
                d.write(to, re);
                d.write(to.add(d.size() as usize), im);
            }
            Conversion::Splat { from: s, to: d, count } => {
                let n = s.read(from);
                for i in 0..count {
                    d.write(to.add((i * d.size()) as usize), n);
                }
            }
            Conversion::Address(d) => d.write(to, Number::Unsigned(from.expose_provenance() as u64)),
        }
    }
}

/// A number of Lua as a number of C.
pub(super) fn number(v: Value) -> Option<Number> {
    match v.as_int() {
        Some(i) => Some(Number::Signed(i.into())),
        None if v.is_num() => Some(Number::Float(v.as_num_unchecked())),
        None => None,
    }
}

/// The address that a word is.
pub(super) fn pointer(address: u64) -> *mut u8 {
    core::ptr::with_exposed_provenance_mut(address as usize)
}

/// The value of a cdata behind a reference: its address and its type.
pub fn target(types: &CTypeTable, c: Gc<Cdata>) -> (*mut u8, CTypeId) {
    let ct = types.get(c.ctype());
    if ct.info.is_ref() {
        // SAFETY: the payload of a reference is an address.
        (pointer(unsafe { c.read() }), ct.info.child())
    } else {
        (c.payload(), c.ctype())
    }
}

/// Converts a value of Lua to the C type `id` and stores it.
///
/// # Safety
/// There is room for a value of this type at `to`.
pub unsafe fn to_c(vm: &mut Vm, id: CTypeId, to: *mut u8, v: Value, what: What) -> LuaResult<()> {
    // SAFETY: by the contract.
    unsafe { vm.store_value(id, to, v, Mode { cast: false, what }) }
}

/// The value of Lua for the value of the C type `id` at an address.
///
/// # Safety
/// There is a value of this type.
pub unsafe fn from_c(vm: &mut Vm, id: CTypeId, from: *const u8) -> LuaResult<Value> {
    let (follow, load) = load(vm.ctypes()?, id);
    // SAFETY: by the contract; the value of a reference is an address.
    let from = if follow { pointer(unsafe { from.cast::<u64>().read_unaligned() }) } else { from.cast_mut() };
    // SAFETY: by the contract.
    unsafe { vm.load_value(load, from) }
}

/// The value of Lua for a number or boolean of at most 32 bits, or a floating-point number.
///
/// # Safety
/// It is at the address, which need not be aligned.
#[inline]
pub(super) unsafe fn scalar_value(s: Scalar, from: *const u8) -> Value {
    macro_rules! read {
        ($ty:ty) => {{
            // SAFETY: by the contract.
            unsafe { from.cast::<$ty>().read_unaligned() }
        }};
    }
    let num = |n: f64| Value::num(if n.is_nan() { f64::NAN } else { n });
    match s {
        Scalar::F64 => num(read!(f64)),
        Scalar::I32 => Value::int(read!(i32)),
        Scalar::U8 => Value::int(read!(u8).into()),
        Scalar::I8 => Value::int(read!(i8).into()),
        Scalar::I16 => Value::int(read!(i16).into()),
        Scalar::U16 => Value::int(read!(u16).into()),
        Scalar::F32 => num(read!(f32).into()),
        // It need not fit an int: a double always, as in traces, so that a sum has one type.
        Scalar::U32 => Value::num(read!(u32).into()),
        Scalar::Bool => Value::bool(read!(u8) != 0),
        Scalar::I64 => Value::integer(read!(i64)),
        Scalar::U64 | Scalar::Pointer => Value::integer(read!(u64) as i64),
    }
}

impl Vm {
    /// The value of Lua for what is at an address.
    ///
    /// # Safety
    /// There is a value of the type that `load` was made from.
    pub(super) unsafe fn load_value(&mut self, load: Load, from: *mut u8) -> LuaResult<Value> {
        Ok(match load {
            // SAFETY: by the contract.
            Load::Scalar(s) => unsafe { scalar_value(s, from) },
            Load::Copy { id, size: 8 } => {
                // SAFETY: by the contract.
                let word = unsafe { from.cast::<u64>().read_unaligned() };
                Value::cdata(self.heap.new_int64(id, word))
            }
            Load::Copy { id, size } => {
                // Small types without attributes have no alignment above 8.
                let c = if size <= 8 { self.heap.new_cdata(id, size, Placement::Small) } else { self.new_cdata(id, size)? };
                // SAFETY: by the contract, and the new payload has this size.
                unsafe { core::ptr::copy_nonoverlapping(from, c.payload(), size as usize) };
                Value::cdata(c)
            }
            Load::Reference(id) => {
                let id = self.intern_type(Info::reference(id), POINTER_SIZE)?;
                Value::cdata(self.new_pointer(id, from.expose_provenance() as u64))
            }
        })
    }
    /// The value of a place.
    ///
    /// # Safety
    /// The place is at the address.
    pub(super) unsafe fn load_field(&mut self, load: FieldLoad, at: *mut u8) -> LuaResult<Value> {
        // SAFETY: by the contract.
        unsafe {
            match load {
                FieldLoad::Value(load) => self.load_value(load, at),
                FieldLoad::Bits(info, mask) => Ok(bits_value(info, bitfield::read(info, mask, at))),
            }
        }
    }
    /// The value of a bitfield.
    ///
    /// # Safety
    /// Its container is at the address.
    pub(super) unsafe fn load_bitfield(&mut self, info: Info, at: *const u8) -> LuaResult<Value> {
        let Some(mask) = bitfield::mask(info) else { return Err(self.rt_error(CROSSES)) };
        // SAFETY: by the contract.
        Ok(bits_value(info, unsafe { bitfield::read(info, mask, at) }))
    }
    /// Stores a value into a bitfield.
    ///
    /// # Safety
    /// Its container is at the address.
    pub(super) unsafe fn store_bitfield(&mut self, info: Info, at: *mut u8, v: Value) -> LuaResult<()> {
        let mut field = 0u32;
        // SAFETY: the types of bitfields have at most four bytes.
        unsafe { self.store_value(bitfield::value_type(info), (&raw mut field).cast(), v, Mode::VALUE)? };
        let Some(mask) = bitfield::mask(info) else { return Err(self.rt_error(CROSSES)) };
        // SAFETY: by the contract.
        unsafe { bitfield::write(info, mask, at, field) };
        Ok(())
    }
    /// Converts a value of Lua to the C type `id` and stores it.
    ///
    /// # Safety
    /// There is room for a value of this type at `to`.
    pub(super) unsafe fn store_value(&mut self, id: CTypeId, to: *mut u8, v: Value, mode: Mode) -> LuaResult<()> {
        let types = &mut *self.ctypes()?;
        let d = types.raw_id(id);
        let rules = Rules { cast: mode.cast, from_lua: v.is_number() || v.is_str() || v.is_nil() };
        let (info, size) = (types.get(d).info, types.get(d).size);
        if let (Some(n), Some(scalar)) = (number(v), scalar(types.get(d)).filter(|_| info.is_num())) {
            // SAFETY: by the contract.
            unsafe { scalar.write(to, n) };
            return Ok(());
        }
        let convert = |types: &CTypeTable, s: CTypeId, from: *const u8| match conversion(types, d, s, rules) {
            Some(c) => {
                // SAFETY: there is a value of the type `s`, and by the contract room for one of `d`.
                unsafe { execute(c, to, from) };
                Ok(())
            }
            None => Err(s),
        };
        let done = if let Some(n) = number(v) {
            let (s, word) = match n {
                Number::Signed(i) => (CTypeId::INT32, u64::from(i as u32)),
                _ => (CTypeId::DOUBLE, v.as_num_unchecked().to_bits()),
            };
            convert(types, s, (&raw const word).cast())
        } else if let Some(c) = v.as_cdata() {
            let (from, s) = target(types, c);
            let s = types.raw_id(s);
            if types.get(s).info.is_func() {
                // A function is the pointer to it.
                let Ok(s) = types.intern(Info::pointer(s, 0), POINTER_SIZE) else { return Err(self.table_full()) };
                convert(types, s, from)
            } else {
                convert(types, s, from)
            }
        } else if let Some(s) = v.as_str() {
            let bytes = s.bytes();
            if info.is_enum() {
                let constant = types.member(d, bytes).map(|m| types.get(m.id)).filter(|c| c.info.is_ct(Ct::Constval));
                match constant {
                    Some(c) => convert(types, c.info.child(), (&raw const c.size).cast()),
                    None => return Err(self.value_error(d, v, mode)),
                }
            } else if info.is_plain_array() {
                let element = types.raw(types.get(d).info.child());
                if !element.info.is_integer() || element.size != 1 {
                    return Err(self.value_error(d, v, mode));
                }
                // With the NUL after it, if there is room.
                let len = if size == 0 { bytes.len() + 1 } else { (bytes.len() + 1).min(size as usize) };
                // SAFETY: strings end with a NUL, and by the contract there is room for the array.
                unsafe { core::ptr::copy(bytes.as_ptr(), to, len) };
                Ok(())
            } else {
                convert(types, CTypeId::A_CCHAR, bytes.as_ptr())
            }
        } else if let Some(t) = v.as_table() {
            if !info.is_array() && !info.is_struct() {
                return Err(self.value_error(d, v, mode));
            }
            // SAFETY: by the contract.
            return unsafe { self.store_table(d, to, t, mode) };
        } else if v.is_bool() {
            let b = u8::from(v.truthy());
            convert(types, CTypeId::BOOL, &raw const b)
        } else if let Some(f) = v.as_func() {
            let Some(function) = callable_type(types, d) else { return Err(self.value_error(d, v, mode)) };
            let address = self.new_callback(function, f)?;
            // SAFETY: by the contract; `d` is a pointer type.
            unsafe { to.cast::<usize>().write_unaligned(address) };
            return Ok(());
        } else if let Some(address) = address_of(v) {
            convert(types, CTypeId::P_VOID, (&raw const address).cast())
        } else {
            return Err(self.value_error(d, v, mode));
        };
        done.map_err(|s| self.conversion_error(d, s, rules, mode))
    }
    /// "cannot convert 'x' to 'y'" for a value of Lua.
    #[cold]
    pub(super) fn value_error(&mut self, d: CTypeId, v: Value, mode: Mode) -> LuaError {
        let to = self.ctype_text(d);
        self.cannot_convert(v.type_name().as_bytes(), &to, mode.what)
    }
    #[cold]
    fn conversion_error(&mut self, d: CTypeId, s: CTypeId, rules: Rules, mode: Mode) -> LuaError {
        // The types of enumerations are taken for those of their constants before they are compared.
        let [d, s] = [d, s].map(|id| {
            self.ctypes().map_or(id, |types| {
                let ct = types.get(types.raw_id(id));
                if ct.info.is_enum() { types.raw_child(ct) } else { id }
            })
        });
        let (to, mut from) = (self.ctype_text(d), self.ctype_text(s));
        if rules.from_lua
            && let Ok(types) = self.ctypes()
        {
            let info = types.get(s).info;
            let name = if info.is_num() {
                "number"
            } else if info.is_array() {
                "string"
            } else {
                "nil"
            };
            from = name.into();
        }
        self.cannot_convert(&from, &to, mode.what)
    }
    #[cold]
    fn cannot_convert(&mut self, from: &[u8], to: &[u8], what: What) -> LuaError {
        let message = [b"cannot convert '", from, b"' to '", to, b"'"].concat();
        match what {
            What::Argument(i) => self.numbered_arg_error(i as i64 + 1, &message),
            What::Value => self.rt_error_bytes(&message),
            What::Result(f) => {
                let mut text = end_of(f);
                text.extend_from_slice(&message);
                self.plain_error(&text)
            }
        }
    }
    /// A type as text.
    pub(super) fn ctype_text(&mut self, id: CTypeId) -> Vec<u8> {
        self.ctypes().map_or(Vec::new(), |types| types.repr(id, None))
    }
    #[cold]
    pub(super) fn table_full(&mut self) -> LuaError {
        self.rt_error("table overflow")
    }
    /// The entry without a name that has this word and size.
    pub(super) fn intern_type(&mut self, info: Info, size: u32) -> LuaResult<CTypeId> {
        match self.ctypes()?.intern(info, size) {
            Ok(id) => Ok(id),
            Err(_) => Err(self.table_full()),
        }
    }
    /// A cdata of a pointer or reference type.
    pub(crate) fn new_pointer(&mut self, id: CTypeId, address: u64) -> Gc<Cdata> {
        let c = self.heap.new_cdata(id, POINTER_SIZE, Placement::Small);
        // SAFETY: the payload has 8 bytes.
        unsafe { c.write(address) };
        c
    }
    /// A cdata of a type with a payload of this size, which is zero.
    pub(super) fn new_cdata(&mut self, id: CTypeId, size: u32) -> LuaResult<Gc<Cdata>> {
        let (info, fixed) = self.ctypes()?.info(id);
        let fixed = fixed.filter(|_| !info.is_variable());
        if size as usize >= CHECKED {
            self.check_alloc(size as usize)?;
        }
        Ok(self.heap.new_cdata(id, size, Placement::of(fixed, info.align_log())))
    }
    /// The same for a helper; none if there is no memory for it.
    pub(crate) fn make_cdata(&mut self, id: CTypeId, size: u32) -> Option<Gc<Cdata>> {
        let (info, fixed) = self.ffi.as_ref()?.types.info(id);
        let fixed = fixed.filter(|_| !info.is_variable());
        let room = self.has_room_for_str(size as usize);
        room.then(|| self.heap.new_cdata(id, size, Placement::of(fixed, info.align_log())))
    }
    /// A cdata of a type that has a size.
    pub(super) fn new_cdata_of(&mut self, id: CTypeId) -> LuaResult<Gc<Cdata>> {
        match self.ctypes()?.size(id) {
            Some(size) => self.new_cdata(id, size),
            None => Err(self.rt_error("size of C type is unknown or too large")),
        }
    }
}

/// The position where a function in Lua ends.
fn end_of(f: Value) -> Vec<u8> {
    let Some(p) = f.as_func().and_then(|f| f.proto()) else { return Vec::new() };
    let mut text = crate::text::chunk::chunk_id(p.chunkname.bytes());
    text.extend_from_slice(format!(":{}: ", p.last_line).as_bytes());
    text
}

/// The address that a value is as a `void *`.
fn address_of(v: Value) -> Option<u64> {
    if v.is_nil() {
        return Some(0);
    }
    if let Some(u) = v.as_udata() {
        if let Some(file) = crate::stdlib::io::c_file(u) {
            // SAFETY: the address of the `FILE *` lies in the userdata.
            return Some(unsafe { *file }.expose_provenance() as u64);
        }
        return Some(u.address().expose_provenance() as u64);
    }
    v.is_lightud().then(|| v.address())
}
