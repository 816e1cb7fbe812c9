//! Namespaces of C libraries: `ffi.C` and what `ffi.load` returns.
//!
//! A namespace is a userdata. Its environment remembers what was looked up: a constant as a number, a function or a variable as a cdata with
//! its address.
#![allow(unsafe_code, reason = "a variable in C is read and written with its declared type")]

use super::convert;
use super::ctype::{CTypeId, Ct, Info, attrib, kinds};
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Str, Udata};
use crate::stdlib::shared_object::{Binding, SharedObject};
use crate::value::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// Kinds of entries that a namespace has by name.
const INDEXED: u32 = kinds(&[Ct::Func, Ct::Extern, Ct::Constval]);
/// An entry of a namespace.
#[derive(Copy, Clone)]
pub enum Symbol {
    /// A constant.
    Constant(Value),
    /// A function, as cdata.
    Function(Value),
    /// A variable: its type, with attributes, and its address.
    Variable(CTypeId, *mut u8),
}

/// The file name of a library: `name` becomes `libname.so`.
fn file_name(name: &[u8]) -> Vec<u8> {
    if name.contains(&b'/') {
        return name.to_vec();
    }
    let prefix: &[u8] = if name.starts_with(b"lib") { b"" } else { b"lib" };
    let suffix: &[u8] = if name.contains(&b'.') { b"" } else { b".so" };
    // `a.b` keeps its name but for the prefix.
    [prefix, name, suffix].concat()
}

/// The first library that a script of the linker names.
fn library_of_script(path: &[u8]) -> Option<Vec<u8>> {
    /// Scripts are short; a library is not read to its end in search of a line.
    const LONGEST: u64 = 4096;
    let file = File::open(crate::stdlib::io::c_path(path)).ok()?;
    let mut lines = BufReader::new(file.take(LONGEST)).split(b'\n').map_while(Result::ok);
    let first = lines.next()?;
    let named = |line: &[u8]| {
        if !line.starts_with(b"GROUP") && !line.starts_with(b"INPUT") {
            return None;
        }
        let list = &line[line.iter().position(|c| *c == b'(')? + 1..];
        let name = list.split(|c| matches!(c, b' ' | b')')).find(|word| !word.is_empty())?;
        Some(name.to_vec())
    };
    if first.starts_with(b"/* GNU ld script") { lines.find_map(|line| named(&line)) } else { named(&first) }
}

fn load_library(name: &[u8], global: bool) -> Result<SharedObject, Vec<u8>> {
    SharedObject::open(&file_name(name), Binding::Lazy, global).or_else(|message| {
        // `/path/libx.so: invalid ELF header`
        let path = message.split(|c| *c == b':').next().filter(|path| path.starts_with(b"/"));
        match path.and_then(library_of_script) {
            Some(library) => SharedObject::open(&library, Binding::Lazy, global),
            None => Err(message),
        }
    })
}

impl Vm {
    /// The namespace of a shared object.
    pub(super) fn new_namespace(&mut self, library: SharedObject) -> Value {
        let meta = self.ffi.as_ref().map(|ffi| ffi.namespace_meta);
        let cache = self.new_table(0, 0);
        let u = self.new_udata(Box::new(library), meta);
        u.env.set(cache);
        Value::udata(u)
    }
    /// The namespace and the name that the running builtin is given.
    fn check_symbol(&mut self) -> LuaResult<(Gc<Udata>, Gc<Str>)> {
        let Some(namespace) = self.arg(0).as_udata().filter(|u| u.is::<SharedObject>()) else {
            return Err(self.arg_type_error(0, "userdata"));
        };
        match self.arg(1).as_str() {
            Some(name) => Ok((namespace, name)),
            None => Err(self.arg_type_error(1, "string")),
        }
    }
    /// Looks up a name in a namespace.
    pub fn symbol(&mut self, namespace: Gc<Udata>, name: Gc<Str>) -> LuaResult<Symbol> {
        let mut v = namespace.env.get().get_str(name);
        if v.is_nil() {
            v = self.resolve(namespace, name)?;
            self.table_set_str(namespace.env.get(), name, v);
        }
        let Some(c) = v.as_cdata() else { return Ok(Symbol::Constant(v)) };
        let types = self.ctypes()?;
        let ct = types.get(c.ctype());
        if !ct.info.is_ct(Ct::Extern) {
            return Ok(Symbol::Function(v));
        }
        // SAFETY: the payload of a symbol is its address.
        Ok(Symbol::Variable(ct.info.child(), core::ptr::with_exposed_provenance_mut(unsafe { c.read::<usize>() })))
    }
    /// A declared name as a value to remember.
    fn resolve(&mut self, namespace: Gc<Udata>, name: Gc<Str>) -> LuaResult<Value> {
        let types = self.ctypes()?;
        let Some(id) = types.named(name.bytes(), INDEXED) else {
            return Err(self.rt_error_bytes(&[b"missing declaration for symbol '", name.bytes(), b"'"].concat()));
        };
        let ct = types.get(id);
        if ct.info.is_ct(Ct::Constval) {
            let is_unsigned = types.raw(ct.info.child()).info.has(Info::UNSIGNED);
            return Ok(if is_unsigned { Value::number(f64::from(ct.size)) } else { Value::int(ct.size as i32) });
        }
        let redirected = types.find(ct.sib.0).filter(|a| a.info.is_attrib_of(attrib::REDIR)).and_then(|a| a.name.clone());
        let symbol = namespace.with(|library: &mut SharedObject| *library);
        let symbol = symbol.map(|library| library.symbol(redirected.as_deref().unwrap_or(name.bytes())));
        match symbol {
            Some(Ok(address)) => {
                let c = self.heap.new_int64(id, address.expose_provenance() as u64);
                Ok(Value::cdata(c))
            }
            Some(Err(message)) => Err(self.rt_error_bytes(&message)),
            None => Err(self.arg_type_error(0, "userdata")),
        }
    }
}

/// `ffi.load(name [, global])`
pub fn load(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let global = !vm.arg(1).is_nil() && vm.arg(1) != Value::FALSE;
    match load_library(name.bytes(), global) {
        Ok(library) => {
            let namespace = vm.new_namespace(library);
            vm.ret1(namespace)
        }
        Err(message) => Err(vm.rt_error_bytes(&message)),
    }
}

/// `namespace[name]`
pub fn index(vm: &mut Vm) -> LuaResult<u32> {
    let (namespace, name) = vm.check_symbol()?;
    let v = match vm.symbol(namespace, name)? {
        Symbol::Constant(v) | Symbol::Function(v) => v,
        // SAFETY: there is a variable of this type, as declared.
        Symbol::Variable(id, address) => unsafe { convert::from_c(vm, id, address) }?,
    };
    vm.ret1(v)
}

/// `namespace[name] = value`
pub fn newindex(vm: &mut Vm) -> LuaResult<u32> {
    let (namespace, name) = vm.check_symbol()?;
    if vm.nargs() < 3 {
        return Err(vm.arg_error(2, "value expected"));
    }
    if let Symbol::Variable(id, address) = vm.symbol(namespace, name)?
        && !vm.ctypes()?.info(id).0.has(Info::CONST)
    {
        let v = vm.arg(2);
        // SAFETY: there is a variable of this type, as declared.
        unsafe { convert::to_c(vm, id, address, v, convert::What::Value) }?;
        return Ok(0);
    }
    Err(vm.rt_error("attempt to write to constant location"))
}
