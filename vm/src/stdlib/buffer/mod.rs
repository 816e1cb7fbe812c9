//! `string.buffer`: the library, and the functions of buffers that other libraries use.

mod decode;
mod encode;
mod format;
pub(super) mod methods;
mod object;

pub use object::{MAX_LEN, can_put, is_buffer, stay_in_place, with_bytes};
pub(crate) use object::{Source, as_buffer, with};

use super::{Builtin, LOADED};
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Table};
use crate::value::Value;
use object::{Dict, Dicts};

/// Name of the registry entry with the metatable of buffers; also the name of that library in the list of builtins.
pub(super) const META: &[u8] = b"buffer.method";
/// Name of the module.
const MODULE: &[u8] = b"string.buffer";

/// Makes the library available to `require`. The functions are builtins already.
pub(super) fn open(vm: &mut Vm) {
    let meta = vm.registry_table(META);
    let name = vm.new_str(b"buffer");
    vm.set_field(meta, b"__metatable", Value::str(name));
    vm.set_field(meta, b"__index", Value::table(meta));
    let tostring = vm.field(meta, b"__tostring");
    vm.set_field(meta, b"tostring", tostring);
    vm.preload(MODULE, |vm| {
        let lib = vm.new_table(0, 2);
        for b in [Builtin::BufferNew, Builtin::BufferEncode, Builtin::BufferDecode] {
            if let (Some(native), Some((_, name))) = (b.native(), b.name().split_once('.')) {
                let f = vm.new_native(native, b.id(), &[]);
                vm.set_field(lib, name.as_bytes(), Value::func(f));
            }
        }
        let loaded = vm.registry_table(LOADED);
        vm.set_field(loaded, MODULE, Value::table(lib));
        vm.ret1(Value::table(lib))
    });
}

impl Vm {
    /// An argument that is a count of bytes.
    fn check_size(&mut self, i: usize) -> LuaResult<usize> {
        let v = self.arg(i);
        let Some(n) = v.as_number() else { return Err(self.arg_type_error(i, "number")) };
        // The fraction is ignored.
        if n > -1.0 && n < (MAX_LEN + 1) as f64 { Ok(n as usize) } else { Err(self.arg_error(i, "number out of range")) }
    }
    /// A string; numbers are not converted.
    fn check_exact_str(&mut self, i: usize) -> LuaResult<Gc<crate::object::Str>> {
        match self.arg(i).as_str() {
            Some(s) => Ok(s),
            None => Err(self.arg_type_error(i, "string")),
        }
    }
}

/// `buffer.new([size] [, options])`
pub fn new(vm: &mut Vm) -> LuaResult<u32> {
    let (mut size, mut options) = (0, 0);
    if vm.nargs() > 0 && !vm.arg(0).is_table() {
        options = 1;
        if !vm.arg(0).is_nil() {
            size = vm.check_size(0)?;
        }
    }
    let mut dicts = Dicts::default();
    if vm.nargs() > options {
        let t = vm.check_table(options)?;
        dicts.strings = dict(vm, t, b"dict", Value::is_str)?;
        dicts.metatables = dict(vm, t, b"metatable", Value::is_table)?;
    }
    let meta = vm.registry_table(META);
    let u = vm.new_buffer(dicts, Some(meta));
    vm.push(Value::udata(u));
    if size > 0 {
        vm.buffer_reserve(u, size)?;
    }
    Ok(1)
}

/// The dictionary in a field of the options, if there is a table.
fn dict(vm: &mut Vm, options: Gc<Table>, field: &[u8], fits: fn(Value) -> bool) -> LuaResult<Option<Dict>> {
    let Some(list) = vm.field(options, field).as_table() else { return Ok(None) };
    let len = list.len();
    let index = vm.new_table(0, 4);
    for i in 1..=len as i32 {
        let v = list.get_int(i);
        if fits(v) {
            if index.get(v).is_nil() {
                vm.table_set(index, v, Value::int(i - 1))?;
            }
        } else if v != Value::FALSE {
            return Err(vm.rt_error("bad options table"));
        }
    }
    Ok(Some(Dict { list, index }))
}

/// `buffer.encode(v)`
pub fn encode(vm: &mut Vm) -> LuaResult<u32> {
    let v = vm.check_any(0)?;
    let mut out = Vec::new();
    encode::encode(vm, &mut out, Dicts::default(), v)?;
    vm.check_alloc(out.len())?;
    vm.ret_str(&out)
}

/// `buffer.decode(s)`
pub fn decode(vm: &mut Vm) -> LuaResult<u32> {
    let s = vm.check_exact_str(0)?;
    vm.check_alloc(s.len())?;
    let (v, size) = decode::decode(vm, s.bytes(), Dicts::default())?;
    if size != s.len() {
        return Err(vm.rt_error("left-over data in buffer"));
    }
    vm.ret1(v)
}
