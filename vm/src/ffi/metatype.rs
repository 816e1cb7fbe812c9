//! Metatables of C types, and the operators of cdata that read them.
#![allow(unsafe_code, reason = "places in memory are found from the types of cdata and the pointers that programs have")]

use super::convert::{self, Mode, number, pointer};
use super::ctype::{CTypeId, CTypeTable, Info};
use super::index::{Access, Index, Key, index, stored_type};
use super::inline_cache::{Field, Meaning, Place};
use super::int64;
use super::scalar::Number;
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::meta::MM;
use crate::object::{Cdata, Gc};
use crate::text::format::put_address;
use crate::value::Value;

/// An index with the integer that a key is.
struct Found {
    index: Index,
    integer: i64,
}

impl Vm {
    /// The type that a cdata stands for, if it stands for one.
    pub(super) fn type_of_ctype(&self, c: Gc<Cdata>) -> Option<CTypeId> {
        // SAFETY: the payload of this type is the number of a type.
        (c.ctype() == CTypeId::CTYPEID).then(|| CTypeId(unsafe { c.read() }))
    }
    /// A metamethod of the metatable that `ffi.metatype` has given to a type, or to what it refers to; nil if there is none.
    pub fn ctype_method(&self, id: CTypeId, mm: MM) -> Value {
        let Some(ffi) = &self.ffi else { return Value::NIL };
        let id = ffi.types.raw_ref(id);
        let ct = ffi.types.get(id);
        let table = if ct.info.is_ptr() && ffi.types.get(ct.info.child()).info.is_func() {
            Some(ffi.function_meta)
        } else {
            ffi.metatypes.get(id)
        };
        match (table, self.realm.meta_names[mm as usize]) {
            (Some(t), Some(name)) => t.get_str(name),
            _ => Value::NIL,
        }
    }
    /// The metamethod of a cdata, or of what it points to.
    pub fn operator_method(&self, c: Gc<Cdata>, mm: MM) -> Value {
        let id = c.ctype();
        let Some(ffi) = &self.ffi else { return Value::NIL };
        if mm == MM::ToString {
            return self.tostring_method(&ffi.types, c);
        }
        let ct = ffi.types.raw(id);
        let id = if ct.info.is_ptr() { ct.info.child() } else { id };
        self.ctype_method(id, mm)
    }
    /// The metamethod of the first of two operands that is a cdata with one; nil if there is none.
    pub(super) fn first_operator_method(&self, mm: MM, a: Value, b: Value) -> Value {
        let methods = [a, b].into_iter().filter_map(|v| v.as_cdata()).map(|c| self.operator_method(c, mm));
        methods.into_iter().find(|f| !f.is_nil()).unwrap_or(Value::NIL)
    }
    /// The `__tostring` of a struct or vector, or of one that a pointer points to.
    fn tostring_method(&self, types: &CTypeTable, c: Gc<Cdata>) -> Value {
        let (_, id) = convert::target(types, c);
        let mut id = types.raw_id(id);
        if types.get(id).info.is_ptr() {
            id = types.raw_child(types.get(id));
        }
        let info = types.get(id).info;
        if info.is_struct() || info.is_vector() { self.ctype_method(id, MM::ToString) } else { Value::NIL }
    }
    fn find(&mut self, c: Gc<Cdata>, key: Value) -> LuaResult<Found> {
        let of = self.type_of_ctype(c);
        let mut integer = 0;
        let s = key.as_str();
        let kind = if let Some(n) = number(key) {
            integer = match n {
                Number::Float(n) => int64::index_from_num(n),
                n => n.to_i64(),
            };
            Key::Integer
        } else if let Some(s) = &s {
            Key::Name(s.bytes())
        } else if let Some(k) = key.as_cdata() {
            let types = self.ctypes()?;
            let id = super::conversion::value_type(types, k.ctype());
            match super::conversion::scalar(types.get(id)) {
                Some(scalar) if types.get(id).info.is_integer() => {
                    // SAFETY: the payload has this type.
                    integer = unsafe { scalar.read(k.payload()) }.to_i64();
                    Key::Integer
                }
                _ => Key::Other,
            }
        } else {
            Key::Other
        };
        Ok(Found { index: index(self.ctypes()?, c.ctype(), of, kind), integer })
    }
    /// The place that a key means, if that is known already.
    #[inline]
    pub(super) fn known_place(&self, c: Gc<Cdata>, key: Value) -> Option<(*mut u8, Field)> {
        match self.known_meaning(c, key)? {
            (Meaning::Field(field), integer) => Some((address(c, &field.place, integer), *field)),
            (Meaning::Method(_), _) => None,
        }
    }
    /// What a key means, if that is known already, and the integer that it is.
    #[inline]
    pub(super) fn known_meaning(&self, c: Gc<Cdata>, key: Value) -> Option<(&Meaning, i64)> {
        let (key, integer) = cache_key(key)?;
        Some((self.ffi.as_ref()?.index_cache.get(c.ctype(), key)?, integer))
    }
    /// Remembers the place that a key means.
    fn remember_place(&mut self, c: Gc<Cdata>, key: Value, access: Access) {
        if let (Some((key, _)), Some(ffi)) = (cache_key(key), &mut self.ffi) {
            let field = Field::of(&ffi.types, access);
            ffi.index_cache.put(c.ctype(), key, Meaning::Field(field));
        }
    }
    /// Remembers that a name is none of a member. (A struct that is not defined yet may get it, and the name may be a constant of what a cdata
    /// stands for.)
    fn remember_missing(&mut self, c: Gc<Cdata>, key: Value, id: CTypeId) {
        let Some(ffi) = &mut self.ffi else { return };
        if key.is_str() && c.ctype() != CTypeId::CTYPEID && ffi.types.size(id).is_some() {
            ffi.index_cache.put(c.ctype(), key, Meaning::Method(id));
        }
    }
    #[cold]
    fn no_such_index(&mut self, id: CTypeId, key: Value) -> LuaError {
        let t = self.ctype_text(id);
        let message = if let Some(s) = key.as_str() {
            [b"'", &t[..], b"' has no member named '", s.bytes(), b"'"].concat()
        } else {
            let k = match key.as_cdata() {
                Some(k) => self.ctype_text(k.ctype()),
                None => key.type_name().into(),
            };
            [b"'", &t[..], b"' cannot be indexed with '", &k[..], b"'"].concat()
        };
        self.rt_error_bytes(&message)
    }
    #[cold]
    fn write_to_const(&mut self) -> LuaError {
        self.rt_error("attempt to write to constant location")
    }
    #[cold]
    fn no_element_size(&mut self) -> LuaError {
        self.rt_error("size of C type is unknown or too large")
    }
    /// The value of a constant.
    pub(super) fn constant_value(&mut self, id: CTypeId) -> LuaResult<Value> {
        let types = self.ctypes()?;
        let ct = types.get(id);
        let unsigned = types.get(ct.info.child()).info.has(Info::UNSIGNED);
        Ok(if unsigned { Value::integer(ct.size.into()) } else { Value::int(ct.size as i32) })
    }
}

/// A key as the cache has it (nil for all integers), and its integer.
#[inline]
fn cache_key(key: Value) -> Option<(Value, i64)> {
    if key.is_str() {
        return Some((key, 0));
    }
    let integer = match number(key)? {
        Number::Float(n) => int64::index_from_num(n),
        n => n.to_i64(),
    };
    Some((Value::NIL, integer))
}

/// The address of a place.
#[inline]
pub(super) fn address(c: Gc<Cdata>, a: &Place, integer: i64) -> *mut u8 {
    let mut at = c.payload();
    for i in 0..a.loads {
        // SAFETY: the payload or what a reference refers to is an address; for other pointers, the program answers.
        at = unsafe {
            if a.narrow && i + 1 == a.loads {
                pointer(at.cast::<u32>().read_unaligned().into())
            } else {
                pointer(at.cast::<u64>().read_unaligned())
            }
        };
    }
    let integer = if a.complex { integer & 1 } else { integer };
    let element = integer.wrapping_mul(a.element.into());
    at.wrapping_offset(element as isize).wrapping_add(a.offset as usize)
}

/// `cdata[key]`
fn get(vm: &mut Vm) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    if let Some((at, field)) = vm.known_place(c, vm.arg(1))
        && let Some(load) = field.load
    {
        // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
        let v = unsafe { vm.load_field(load, at)? };
        return vm.ret1(v);
    }
    if vm.nargs() < 2 {
        return Err(vm.arg_type_error(0, "cdata"));
    }
    let key = vm.arg(1);
    let Found { index, integer } = vm.find(c, key)?;
    match index {
        Index::Access(a) => {
            vm.remember_place(c, key, a);
            let at = address(c, &Place::of(&a), integer);
            // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
            let v = unsafe {
                match a.bitfield {
                    Some(info) => vm.load_bitfield(info, at)?,
                    None => convert::from_c(vm, a.value, at)?,
                }
            };
            vm.ret1(v)
        }
        Index::Constant(id) => {
            let v = vm.constant_value(id)?;
            vm.ret1(v)
        }
        Index::NoSize => Err(vm.no_element_size()),
        Index::Missing { id, .. } => {
            vm.remember_missing(c, key, id);
            let mm = vm.ctype_method(id, MM::Index);
            if mm.is_func() {
                return vm.become_call(mm, &[Value::cdata(c), key]);
            }
            let v = if mm.is_nil() { Value::NIL } else { vm.index(mm, key)? };
            if v.is_nil() { Err(vm.no_such_index(id, key)) } else { vm.ret1(v) }
        }
    }
}

/// `cdata[key] = value`
fn set(vm: &mut Vm) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    if let Some(n) = number(vm.arg(2))
        && let Some((at, field)) = vm.known_place(c, vm.arg(1))
        && let Some(store) = field.store
    {
        // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
        unsafe { store.write(at, n) };
        return Ok(0);
    }
    if vm.nargs() < 3 {
        return Err(vm.arg_type_error(0, "cdata"));
    }
    let (key, v) = (vm.arg(1), vm.arg(2));
    let Found { index, integer } = vm.find(c, key)?;
    match index {
        Index::Access(a) => {
            vm.remember_place(c, key, a);
            let mut at = address(c, &Place::of(&a), integer);
            if let Some(info) = a.bitfield {
                if (info.0 | a.qual) & Info::CONST != 0 {
                    return Err(vm.write_to_const());
                }
                // SAFETY: the container is inside of the struct.
                unsafe { vm.store_bitfield(info, at, v)? };
                return Ok(0);
            }
            let (follow, id, qual) = stored_type(vm.ctypes()?, a.value);
            if follow {
                // SAFETY: the value of a reference is an address.
                at = pointer(unsafe { at.cast::<u64>().read_unaligned() });
            }
            if (qual | a.qual) & Info::CONST != 0 {
                return Err(vm.write_to_const());
            }
            // SAFETY: the place is one of the cdata, or of what the program has a pointer to.
            unsafe { vm.store_value(id, at, v, Mode::VALUE)? };
            Ok(0)
        }
        Index::Constant(_) => Err(vm.write_to_const()),
        Index::NoSize => Err(vm.no_element_size()),
        Index::Missing { id, qual } => {
            if qual & Info::CONST != 0 {
                return Err(vm.write_to_const());
            }
            let mm = vm.ctype_method(id, MM::NewIndex);
            if mm.is_func() {
                return vm.become_call(mm, &[Value::cdata(c), key, v]);
            }
            if mm.is_nil() {
                return Err(vm.no_such_index(id, key));
            }
            vm.set_index(mm, key, v)?;
            Ok(0)
        }
    }
}

/// `cdata(...)`: makes a value of a type, or calls a function.
pub fn call(vm: &mut Vm) -> LuaResult<u32> {
    at_instruction(vm, make_or_call)
}

fn make_or_call(vm: &mut Vm) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    let (id, mm) = match vm.type_of_ctype(c) {
        Some(id) => (id, MM::New),
        None => match vm.call_cdata(c)? {
            Some(results) => return Ok(results),
            None => (c.ctype(), MM::Call),
        },
    };
    let ct = vm.ctypes()?.raw(id);
    let id = if ct.info.is_ptr() { ct.info.child() } else { id };
    let f = vm.ctype_method(id, mm);
    if !f.is_nil() {
        let args = vm.args().to_vec();
        return vm.become_call(f, &args);
    }
    if mm == MM::New {
        return super::lib::new(vm);
    }
    let text = vm.ctype_text(id);
    Err(vm.rt_error_bytes(&[b"'", &text[..], b"' is not callable"].concat()))
}

/// An operator that the types do not define: the metamethod of the first operand that has one is called. Without one, the result is
/// `otherwise`, or there is an error.
pub(super) fn operator(vm: &mut Vm, mm: MM, otherwise: Option<Value>) -> LuaResult<u32> {
    let operands = [vm.arg(0), vm.arg(1)];
    let f = vm.first_operator_method(mm, operands[0], operands[1]);
    if !f.is_nil() {
        let args = vm.args().to_vec();
        return vm.become_call(f, &args);
    }
    if let Some(v) = otherwise {
        return vm.ret1(v);
    }
    let [a, b] = operands.map(|v| match v.as_cdata() {
        Some(c) => vm.ctypes().map_or(Vec::new(), |types| {
            let id = super::arith::operand(types, Value::cdata(c)).map_or(c.ctype(), |o| o.ctype);
            types.repr(id, None)
        }),
        None => v.type_name().into(),
    });
    let message = match mm {
        MM::Len => [b"attempt to get length of '", &a[..], b"'"].concat(),
        MM::Concat => [b"attempt to concatenate '", &a[..], b"' and '", &b[..], b"'"].concat(),
        MM::Lt | MM::Le => [b"attempt to compare '", &a[..], b"' with '", &b[..], b"'"].concat(),
        _ => [b"attempt to perform arithmetic on '", &a[..], b"' and '", &b[..], b"'"].concat(),
    };
    Err(vm.rt_error_bytes(&message))
}

/// Runs a metamethod. The instruction that needed it raises its errors.
pub(super) fn at_instruction(vm: &mut Vm, f: impl FnOnce(&mut Vm) -> LuaResult<u32>) -> LuaResult<u32> {
    vm.count_ffi_operation();
    let result = f(vm);
    if result.is_err() {
        vm.leave_metamethod();
    }
    result
}

/// `cdata[key]`
pub fn index_get(vm: &mut Vm) -> LuaResult<u32> {
    at_instruction(vm, get)
}

/// `cdata[key] = value`
pub fn index_set(vm: &mut Vm) -> LuaResult<u32> {
    at_instruction(vm, set)
}

/// `#cdata`
pub fn len(vm: &mut Vm) -> LuaResult<u32> {
    at_instruction(vm, |vm| operator(vm, MM::Len, None))
}

/// `cdata .. x`, `x .. cdata`
pub fn concat(vm: &mut Vm) -> LuaResult<u32> {
    at_instruction(vm, |vm| operator(vm, MM::Concat, None))
}

fn iterate(vm: &mut Vm, mm: MM) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    let f = vm.operator_method(c, mm);
    if !f.is_nil() {
        return vm.become_call(f, &[Value::cdata(c)]);
    }
    let ct = vm.ctypes()?.raw(c.ctype());
    let id = if ct.info.is_ptr() { ct.info.child() } else { c.ctype() };
    let text = vm.ctype_text(id);
    let name = MM::NAMES[mm as usize].as_bytes();
    Err(vm.rt_error_bytes(&[b"'", &text[..], b"' has no '", name, b"' metamethod"].concat()))
}

/// `pairs(cdata)`
pub fn pairs(vm: &mut Vm) -> LuaResult<u32> {
    iterate(vm, MM::Pairs)
}

/// `ipairs(cdata)`
pub fn ipairs(vm: &mut Vm) -> LuaResult<u32> {
    iterate(vm, MM::Ipairs)
}

/// `tostring(cdata)`
pub fn tostring(vm: &mut Vm) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    let f = vm.operator_method(c, MM::ToString);
    if !f.is_nil() {
        return vm.become_call(f, &[Value::cdata(c)]);
    }
    let text = vm.cdata_text(c);
    vm.ret_str(&text)
}

impl Vm {
    /// The text of a cdata without its metatype.
    pub fn cdata_text(&mut self, c: Gc<Cdata>) -> Vec<u8> {
        if let Some(of) = self.type_of_ctype(c) {
            return [b"ctype<", &self.ctype_text(of)[..], b">"].concat();
        }
        let Ok(types) = self.ctypes() else { return b"cdata".to_vec() };
        let (at, id) = convert::target(types, c);
        let ct = types.raw(id);
        let whole = c.ctype();
        // SAFETY: there is a value of the type `id` at the address, if it is not behind a pointer.
        let shown = unsafe {
            if ct.info.is_complex() {
                let double = ct.size == 16;
                let [re, im] = if double {
                    at.cast::<[f64; 2]>().read_unaligned()
                } else {
                    at.cast::<[f32; 2]>().read_unaligned().map(f64::from)
                };
                return super::repr::complex(re, im);
            } else if ct.size == 8 && ct.info.is_integer() {
                let bits = at.cast::<u64>().read_unaligned();
                return super::repr::int64(bits, ct.info.has(Info::UNSIGNED)).into_bytes();
            } else if ct.info.is_enum() {
                at.cast::<i32>().read_unaligned().to_string().into_bytes()
            } else if ct.info.is_ptr() && ct.size == 4 {
                show_address(at.cast::<u32>().read_unaligned().into())
            } else if ct.info.is_ptr() || ct.info.is_func() {
                show_address(at.cast::<u64>().read_unaligned())
            } else {
                show_address(at.addr() as u64)
            }
        };
        [b"cdata<", &types.repr(whole, None)[..], b">: ", &shown[..]].concat()
    }
}

/// An address as text.
fn show_address(address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    put_address(&mut text, address);
    text
}
