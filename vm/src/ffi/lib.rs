//! The functions of the `ffi` library.
#![allow(
    unsafe_code,
    reason = "a payload is read with the type that the table of types has for it; other addresses are the program's"
)]

use super::conversion::{Qualifiers, Rules, compatible, value_type};
use super::convert::{Mode, What};
use super::ctype::{CTypeId, CTypeTable, Ct, Info, NO_SIZE};
use super::parse::{self, Param, ParseError};
use super::scalar::Scalar;
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::gc::limit::LONGEST_STRING;
use crate::object::{Cdata, Gc, Table, cdata_flag};
use crate::value::Value;
use std::rc::Rc;

/// Sets the fields of the library that are no functions.
pub(super) fn add_constants(vm: &mut Vm, lib: Gc<Table>) {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    for (name, value) in [("os", "Linux"), ("arch", arch)] {
        let value = Value::str(vm.new_str(value.as_bytes()));
        vm.set_field(lib, name.as_bytes(), value);
    }
}

/// What `ffi.abi` says yes to.
const ABI: [&[u8]; 6] = [b"64bit", b"fpu", b"hardfp", b"le", b"gc64", b"dualnum"];

const WRONG_PARAMETERS: &str = "wrong number of type parameters";
const INVALID_TYPE: &str = "invalid C type";
const INVALID_SIZE: &str = "size of C type is unknown or too large";

impl Vm {
    /// An argument that is cdata.
    pub(crate) fn check_cdata(&mut self, i: usize) -> LuaResult<Gc<Cdata>> {
        match self.arg(i).as_cdata() {
            Some(c) => Ok(c),
            None => Err(self.arg_type_error(i, "cdata")),
        }
    }
    /// A cdata that stands for a type.
    pub(super) fn new_ctype(&mut self, id: CTypeId) -> LuaResult<Value> {
        let c = self.new_cdata_of(CTypeId::CTYPEID)?;
        // SAFETY: the payload of this type has 4 bytes.
        unsafe { c.write(id.0) };
        Ok(Value::cdata(c))
    }
    /// Arguments that stand for `$` in a declaration.
    fn declaration_params(&self, first: usize) -> Vec<Param> {
        let param = |v: &Value| {
            if let Some(s) = v.as_str() {
                Param::Name(Rc::from(s.bytes()))
            } else if let Some(n) = v.as_number() {
                Param::Number(v.as_int().unwrap_or(super::int64::from_num(n) as i32))
            } else if let Some(c) = v.as_cdata() {
                Param::Type(self.type_of_ctype(c).unwrap_or(c.ctype()))
            } else {
                Param::Other
            }
        };
        self.args().iter().skip(first).map(param).collect()
    }
    #[cold]
    fn parse_error(&mut self, e: ParseError, first: usize) -> LuaError {
        match e {
            ParseError::Message(m) => self.rt_error_bytes(&m),
            ParseError::BadParam(i) => self.arg_type_error(first + i, "type parameter"),
        }
    }
    /// The first argument as a type: its declaration, a cdata that stands for it, or any other cdata of the type. Further arguments are
    /// parameters of the declaration, if there can be some.
    fn check_ctype(&mut self, with_params: bool) -> LuaResult<CTypeId> {
        let v = self.arg(0);
        if let Some(c) = v.as_cdata() {
            if with_params && self.nargs() > 1 {
                return Err(self.arg_error(0, WRONG_PARAMETERS));
            }
            return Ok(self.type_of_ctype(c).unwrap_or(c.ctype()));
        }
        let Some(text) = v.as_str() else { return Err(self.arg_type_error(0, "C type")) };
        let with_params = with_params && self.nargs() > 1;
        if !with_params && let Some(id) = self.ffi.as_ref().and_then(|ffi| ffi.parsed.get(text.bytes())) {
            return Ok(*id);
        }
        let params = if with_params { self.declaration_params(1) } else { Vec::new() };
        match parse::type_name(self.ctypes()?, text.bytes(), &params) {
            Ok(id) => {
                if !with_params && let Some(ffi) = &mut self.ffi {
                    ffi.remember(text.bytes(), id);
                }
                Ok(id)
            }
            Err(e) => Err(self.parse_error(e, 1)),
        }
    }
    /// An argument converted to a C type that is a scalar.
    fn check_scalar(&mut self, i: usize, id: CTypeId) -> LuaResult<u64> {
        if i >= self.nargs() {
            return Err(self.arg_error(i, "value expected"));
        }
        let v = self.arg(i);
        let mut word = 0u64;
        let mode = Mode { cast: false, what: What::Argument(i) };
        // SAFETY: scalars have at most 8 bytes.
        unsafe { self.store_value(id, (&raw mut word).cast(), v, mode)? };
        Ok(word)
    }
    fn check_c_int(&mut self, i: usize) -> LuaResult<i32> {
        Ok(self.check_scalar(i, CTypeId::INT32)? as i32)
    }
    /// An argument converted to a pointer type.
    pub fn check_address(&mut self, i: usize, id: CTypeId) -> LuaResult<*mut u8> {
        Ok(super::convert::pointer(self.check_scalar(i, id)?))
    }
    /// An address as `void *`.
    pub fn address_value(&mut self, address: *mut u8) -> LuaResult<Value> {
        self.ctypes()?;
        Ok(Value::cdata(self.new_pointer(CTypeId::P_VOID, address.expose_provenance() as u64)))
    }
    /// The number of a 64-bit integer or other number that is cdata, for `tonumber`, and that by which a ctype is known; none for other cdata.
    pub(crate) fn cdata_number(&mut self, c: Gc<Cdata>) -> LuaResult<Option<Value>> {
        if let Some(id) = self.type_of_ctype(c) {
            return Ok(Some(Value::integer(i64::from(id.0))));
        }
        if let Some(bits) = c.int64() {
            let n = if c.ctype() == CTypeId::INT64 { bits as i64 as f64 } else { bits as f64 };
            return Ok(Some(Value::number(n)));
        }
        let types = self.ctypes()?;
        let (at, id) = super::convert::target(types, c);
        let id = value_type(types, id);
        let ct = types.get(id);
        if !ct.info.is_num() && !ct.info.is_complex() {
            return Ok(None);
        }
        let mut n = 0f64;
        let conversion = super::conversion::conversion(types, CTypeId::DOUBLE, id, Rules::default());
        match conversion {
            // SAFETY: there is a value of the type `id` at the address, and room for a double.
            Some(c) => unsafe { super::convert::execute(c, (&raw mut n).cast(), at) },
            None => {
                let v = Value::cdata(c);
                return Err(self.value_error(CTypeId::DOUBLE, v, Mode::VALUE));
            }
        }
        // What need not fit an int stays a double, as in traces: a sum has one type then.
        let is_wide = Scalar::of(ct.info, ct.size).is_some_and(|s| matches!(s, Scalar::I64 | Scalar::U64 | Scalar::U32));
        Ok(Some(if is_wide { Value::num(n) } else { Value::number(n) }))
    }
    /// Gives a cdata a finalizer, or takes it away with nil.
    pub(crate) fn set_finalizer(&mut self, c: Gc<Cdata>, f: Value) {
        c.set_flag(cdata_flag::FINALIZER, !f.is_nil());
        self.heap.set_cdata_finalizer(c, f);
    }
}

/// `ffi.cdef(text [, ...])`
pub fn cdef(vm: &mut Vm) -> LuaResult<u32> {
    let text = vm.check_str(0)?;
    let params = vm.declaration_params(1);
    match parse::declarations(vm.ctypes()?, text.bytes(), &params) {
        Ok(()) => Ok(0),
        Err(e) => Err(vm.parse_error(e, 1)),
    }
}

/// `ffi.new(ct [, elements] [, initializers...])`, `ct(...)`
pub fn new(vm: &mut Vm) -> LuaResult<u32> {
    vm.count_ffi_operation();
    let id = vm.check_ctype(false)?;
    let types = vm.ctypes()?;
    let raw = types.raw_id(id);
    let (info, size) = types.info(id);
    let mut first = 1;
    let size = if info.is_variable() {
        first = 2;
        let elements = vm.check_c_int(1)?;
        vm.ctypes()?.variable_size(raw, u64::from(elements as u32))
    } else {
        size
    };
    let Some(size) = size else { return Err(vm.arg_error(0, INVALID_SIZE)) };
    let is_struct = info.is_struct();
    let c = vm.new_cdata(id, size)?;
    // It is alive while it is initialised.
    vm.set_arg(0, Value::cdata(c));
    if vm.nargs() > first {
        // SAFETY: the new payload has this size.
        unsafe { vm.initialize(raw, size, c.payload(), first..vm.nargs())? };
    }
    if is_struct {
        let f = vm.ctype_method(id, crate::meta::MM::Gc);
        if !f.is_nil() {
            vm.set_finalizer(c, f);
        }
    }
    vm.ret1(Value::cdata(c))
}

/// `ffi.cast(ct, value)`
pub fn cast(vm: &mut Vm) -> LuaResult<u32> {
    vm.count_ffi_operation();
    let id = vm.check_ctype(false)?;
    let v = vm.check_any(1)?;
    let types = vm.ctypes()?;
    let ct = types.raw(id);
    let (info, size) = (ct.info, ct.size);
    if !info.is_num() && !info.is_ptr() && !info.is_enum() || size == NO_SIZE {
        return Err(vm.arg_error(0, INVALID_TYPE));
    }
    if v.as_cdata().is_some_and(|c| c.ctype() == id) {
        return vm.ret1(v);
    }
    let c = vm.new_cdata(id, size)?;
    // SAFETY: the new payload has this size.
    unsafe { vm.store_value(id, c.payload(), v, Mode { cast: true, what: What::Value })? };
    vm.ret1(Value::cdata(c))
}

/// `ffi.typeof(ct [, ...])`
pub fn type_of(vm: &mut Vm) -> LuaResult<u32> {
    let id = vm.check_ctype(true)?;
    let v = vm.new_ctype(id)?;
    vm.ret1(v)
}

/// `ffi.typeinfo(number)`: the entry of a type.
pub fn typeinfo(vm: &mut Vm) -> LuaResult<u32> {
    let id = vm.check_c_int(0)?;
    let Some(ct) = vm.ctypes()?.find(id as u32).filter(|_| id > 0).cloned() else { return Ok(0) };
    let t = vm.new_table(0, 2);
    vm.set_field(t, b"info", Value::int(ct.info.0 as i32));
    if ct.size != NO_SIZE {
        vm.set_field(t, b"size", Value::int(ct.size as i32));
    }
    if ct.sib != CTypeId::NONE {
        vm.set_field(t, b"sib", Value::int(ct.sib.0 as i32));
    }
    if let Some(name) = &ct.name {
        let name = Value::str(vm.new_str(name));
        vm.set_field(t, b"name", name);
    }
    vm.ret1(Value::table(t))
}

/// Is a cdata of the type `b` of the type `a`?
pub fn is_type(types: &CTypeTable, a: CTypeId, b: CTypeId) -> bool {
    let (a, b) = (types.raw_ref(a), types.raw_ref(b));
    if a == b {
        return true;
    }
    let (x, y) = (types.get(a), types.get(b));
    if x.info.ct() == y.info.ct() && x.size == y.size {
        return match x.info.ct() {
            Ct::Ptr | Ct::Array => compatible(types, a, b, Rules::default(), Qualifiers::Ignored),
            Ct::Num | Ct::Void => (x.info.0 ^ y.info.0) & !(Info::QUAL | Info::LONG) == 0,
            _ => false,
        };
    }
    x.info.is_struct() && y.info.is_ptr() && types.raw_child(y) == a
}

/// `ffi.istype(ct, value)`
pub fn istype(vm: &mut Vm) -> LuaResult<u32> {
    let a = vm.check_ctype(false)?;
    let v = vm.check_any(1)?;
    let is = match v.as_cdata() {
        Some(c) => {
            let b = vm.type_of_ctype(c).unwrap_or(c.ctype());
            is_type(vm.ctypes()?, a, b)
        }
        None => false,
    };
    vm.ret1(Value::bool(is))
}

/// `ffi.sizeof(ct [, elements])`
pub fn sizeof(vm: &mut Vm) -> LuaResult<u32> {
    let id = vm.check_ctype(false)?;
    let of = vm.arg(0);
    let types = vm.ctypes()?;
    let raw = types.raw_ref(id);
    let variable = types.get(raw).info.is_variable();
    let size = match of.as_cdata().filter(|c| variable && c.ctype() == id).and_then(|c| c.stored_size()) {
        Some(size) => Some(size),
        None if variable => {
            let elements = vm.check_c_int(1)?;
            vm.ctypes()?.variable_size(raw, u64::from(elements as u32))
        }
        None => types.size(raw),
    };
    vm.ret1(size.map_or(Value::NIL, |s| Value::int(s as i32)))
}

/// `ffi.alignof(ct)`
pub fn alignof(vm: &mut Vm) -> LuaResult<u32> {
    let id = vm.check_ctype(false)?;
    let types = vm.ctypes()?;
    let ct = types.get(id);
    let id = if ct.info.is_ref() { ct.info.child() } else { id };
    let (info, _) = types.info(id);
    vm.ret1(Value::int(1 << info.align_log()))
}

/// `ffi.offsetof(ct, field)`
pub fn offsetof(vm: &mut Vm) -> LuaResult<u32> {
    let id = vm.check_ctype(false)?;
    let name = vm.check_str(1)?;
    let types = vm.ctypes()?;
    let raw = types.raw_ref(id);
    let ct = types.get(raw);
    if !ct.info.is_struct() || ct.size == NO_SIZE {
        return Ok(0);
    }
    let Some(m) = types.member(raw, name.bytes()) else { return Ok(0) };
    let info = types.get(m.id).info;
    let offset = Value::int(m.offset as i32);
    match info.ct() {
        Ct::Field => vm.ret1(offset),
        Ct::Bitfield => {
            vm.push(offset);
            vm.push(Value::int(info.bit_pos() as i32));
            vm.push(Value::int(info.bit_size() as i32));
            Ok(3)
        }
        _ => Ok(0),
    }
}

/// `ffi.errno([new])`
pub fn errno(vm: &mut Vm) -> LuaResult<u32> {
    let old = crate::errno::get();
    if vm.nargs() > 0 {
        crate::errno::set(vm.check_c_int(0)?);
    }
    vm.ret1(Value::int(old))
}

/// `ffi.string(pointer [, length])`
pub fn string(vm: &mut Vm) -> LuaResult<u32> {
    vm.check_any(0)?;
    let (at, len) = if vm.nargs() > 1 && !vm.arg(1).is_nil() {
        let len = vm.check_c_int(1)?;
        (vm.check_address(0, CTypeId::P_CVOID)?, len as u32 as usize)
    } else {
        let at = vm.check_address(0, CTypeId::P_CCHAR)?;
        // SAFETY: the program says that a string is there, which ends with a NUL.
        (at, unsafe { libc::strlen(at.cast()) })
    };
    if len > LONGEST_STRING {
        return Err(vm.plain_error(b"string length overflow"));
    }
    vm.check_alloc(len)?;
    if len == 0 {
        return vm.ret_str(b"");
    }
    // SAFETY: the program says that so many bytes are there. They are not written while the string is made.
    let bytes = unsafe { core::slice::from_raw_parts(at, len) };
    vm.ret_str(bytes)
}

/// `ffi.copy(to, from [, length])`
pub fn copy(vm: &mut Vm) -> LuaResult<u32> {
    let to = vm.check_address(0, CTypeId::P_VOID)?;
    let from = vm.check_address(1, CTypeId::P_CVOID)?;
    let len = match vm.arg(1).as_str() {
        // With its NUL.
        Some(s) if vm.nargs() < 3 => s.len() + 1,
        _ => vm.check_c_int(2)? as u32 as usize,
    };
    // SAFETY: the program says that so many bytes are at both addresses.
    unsafe { core::ptr::copy(from, to, len) };
    Ok(0)
}

/// `ffi.fill(to, length [, byte])`
pub fn fill(vm: &mut Vm) -> LuaResult<u32> {
    let to = vm.check_address(0, CTypeId::P_VOID)?;
    let len = vm.check_c_int(1)? as u32 as usize;
    let byte = if vm.arg(2).is_nil() { 0 } else { vm.check_c_int(2)? };
    // SAFETY: the program says that there is room for so many bytes.
    unsafe { core::ptr::write_bytes(to, byte as u8, len) };
    Ok(0)
}

/// `ffi.abi(name)`
pub fn abi(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    vm.ret1(Value::bool(ABI.contains(&name.bytes())))
}

/// `ffi.metatype(ct, metatable)`
pub fn metatype(vm: &mut Vm) -> LuaResult<u32> {
    let id = vm.check_ctype(false)?;
    let meta = vm.check_table(1)?;
    let types = vm.ctypes()?;
    let raw = types.raw_id(id);
    let info = types.get(raw).info;
    if !info.is_struct() && !info.is_complex() && !info.is_vector() {
        return Err(vm.arg_error(0, INVALID_TYPE));
    }
    let fresh = match &mut vm.ffi {
        Some(ffi) => ffi.metatypes.set(raw, meta),
        None => true,
    };
    if !fresh {
        return Err(vm.rt_error("cannot change a protected metatable"));
    }
    let v = vm.new_ctype(id)?;
    vm.ret1(v)
}

/// Can cdata of a type have a finalizer by `ffi.gc`?
pub fn takes_finalizer(info: Info) -> bool {
    info.is_ptr() || info.is_struct() || info.is_plain_array()
}

/// `ffi.gc(cdata, finalizer)`
pub fn gc(vm: &mut Vm) -> LuaResult<u32> {
    let c = vm.check_cdata(0)?;
    let f = vm.check_any(1)?;
    let info = vm.ctypes()?.raw(c.ctype()).info;
    if !takes_finalizer(info) {
        return Err(vm.arg_error(0, INVALID_TYPE));
    }
    vm.set_finalizer(c, f);
    vm.ret1(Value::cdata(c))
}
