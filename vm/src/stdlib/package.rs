//! The package library: `require`, the loaders, `module`.

use super::dynamic::{self, Failure};
use super::io::c_path;
use super::load::load_file;
use super::{LOADED, PRELOAD, levels};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::object::{Gc, NativeFn, Str, Table};
use crate::text::until_nul;
use crate::value::Value;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

const DEFAULT_PATH: &[u8] =
    b"./?.lua;/usr/local/share/luajit-2.1/?.lua;/usr/local/share/lua/5.1/?.lua;/usr/local/share/lua/5.1/?/init.lua";
const DEFAULT_CPATH: &[u8] = b"./?.so;/usr/local/lib/lua/5.1/?.so;/usr/local/lib/lua/5.1/loadall.so";
/// Directory separator, path separator, mark of the name, mark of the executable's directory, mark that hides a prefix.
const CONFIG: &[u8] = b"/\n;\n?\n!\n-\n";
/// The error of loading modules in C.
const NO_DYNAMIC: &[u8] = b"dynamic libraries not enabled; check your Lua installation";
/// The part that failed then.
const ABSENT: &[u8] = b"absent";
/// Marks a module that is being loaded.
const SENTINEL: Value = Value::lightud(0x73);

/// Makes the library. The functions have it as their environment.
pub(super) fn open(vm: &mut Vm) {
    let package = vm.library(b"package");
    let add = |vm: &mut Vm, t: Gc<Table>, name: &[u8], f: NativeFn| {
        let f = vm.new_native(f, 1, &[]);
        f.env.set(package);
        vm.set_field(t, name, Value::func(f));
    };
    let loaders = vm.new_table(5, 0);
    let globals = vm.realm.globals;
    add(vm, package, b"loadlib", loadlib);
    add(vm, package, b"searchpath", searchpath);
    add(vm, package, b"seeall", seeall);
    add(vm, globals, b"module", module);
    add(vm, globals, b"require", require);
    let all: [NativeFn; 4] = [loader_preload, loader_lua, loader_c, loader_croot];
    for (i, f) in all.into_iter().enumerate() {
        let f = vm.new_native(f, 1, &[]);
        f.env.set(package);
        vm.table_set_int(loaders, i as i32 + 1, Value::func(f));
    }
    vm.set_field(package, b"loaders", Value::table(loaders));
    set_path(vm, package, b"path", "LUA_PATH", DEFAULT_PATH);
    set_path(vm, package, b"cpath", "LUA_CPATH", DEFAULT_CPATH);
    let config = vm.new_str(CONFIG);
    vm.set_field(package, b"config", Value::str(config));
    for (field, name) in [(b"loaded".as_slice(), LOADED), (b"preload", PRELOAD)] {
        let t = vm.registry_table(name);
        vm.set_field(package, field, Value::table(t));
    }
}

/// Sets a search path from the environment; `;;` in it stands for the default.
fn set_path(vm: &mut Vm, package: Gc<Table>, field: &[u8], variable: &str, default: &[u8]) {
    let registry = vm.realm.registry;
    let ignored = vm.field(registry, b"LUA_NOENV").truthy();
    let path = match std::env::var_os(variable) {
        Some(path) if !ignored => {
            let with_mark = replace(&path.into_vec(), b";;", b";\x01;");
            replace(&with_mark, b"\x01", default)
        }
        _ => default.to_vec(),
    };
    let path = vm.new_str(&path);
    vm.set_field(package, field, Value::str(path));
}

/// Replaces all occurrences of a text, which is not empty.
fn replace(s: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len());
    let mut rest = s;
    while let Some(at) = crate::text::find_plain(rest, what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Searches a file along a path. The error lists the names that were tried.
fn search(name: &[u8], path: &[u8], sep: &[u8], dir: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    let (name, path) = (until_nul(name), until_nul(path));
    let name = if sep.is_empty() { name.to_vec() } else { replace(name, sep, dir) };
    let mut message = Vec::new();
    for template in path.split(|c| *c == b';').filter(|t| !t.is_empty()) {
        let file = replace(template, b"?", &name);
        if std::fs::File::open(c_path(&file)).is_ok() {
            return Ok(file);
        }
        message.extend_from_slice(b"\n\tno file '");
        message.extend_from_slice(&file);
        message.push(b'\'');
    }
    Err(message)
}

/// `package.searchpath(name, path [, sep [, rep]])`
fn searchpath(vm: &mut Vm) -> LuaResult<u32> {
    let path = vm.check_str(1)?;
    let name = vm.check_str(0)?;
    let sep = vm.opt_str(2)?;
    let dir = vm.opt_str(3)?;
    let sep = sep.as_ref().map_or(&b"."[..], |s| s.bytes());
    let dir = dir.as_ref().map_or(&b"/"[..], |s| s.bytes());
    match search(name.bytes(), path.bytes(), sep, dir) {
        Ok(file) => vm.ret_str(&file),
        Err(message) => {
            vm.push(Value::NIL);
            let message = vm.new_str(&message);
            vm.push(Value::str(message));
            Ok(2)
        }
    }
}

/// Looks for a module's file along a path of the library.
fn find_file(vm: &mut Vm, name: &[u8], field: &str) -> LuaResult<Result<Vec<u8>, Vec<u8>>> {
    let package = vm.callee().env.get();
    let path = vm.field(package, field.as_bytes());
    match path.as_str() {
        Some(path) => Ok(search(name, path.bytes(), b".", b"/")),
        None => Err(vm.rt_error(&format!("'package.{field}' must be a string"))),
    }
}

fn load_error(vm: &mut Vm, name: Gc<Str>, file: &[u8], why: &[u8]) -> LuaError {
    let message = [b"error loading module '", name.bytes(), b"' from file '", file, b"':\n\t", why].concat();
    vm.rt_error_bytes(&message)
}

/// Looks in `package.preload`, and then among the bytecode that the program was linked with.
fn loader_preload(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let package = vm.callee().env.get();
    let Some(preload) = vm.field(package, b"preload").as_table() else {
        return Err(vm.rt_error("'package.preload' must be a table"));
    };
    let v = vm.index(Value::table(preload), Value::str(name))?;
    if v.is_nil() {
        if vm.host.c_function.is_some()
            && let Some(f) = dynamic::linked_in(vm, until_nul(name.bytes()))
        {
            return vm.ret1(Value::func(f));
        }
        return vm.ret_str(&[b"\n\tno field package.preload['", name.bytes(), b"']"].concat());
    }
    vm.ret1(v)
}

/// Searches a file along `package.path`, and then among the modules in the binary.
fn loader_lua(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let file = match find_file(vm, name.bytes(), "path")? {
        Ok(file) => file,
        Err(message) => match vm.embedded(name) {
            Some(load) => return vm.ret1(load),
            None => return vm.ret_str(&message),
        },
    };
    let path = vm.new_str(&file);
    match load_file(vm, Some(path), None) {
        Ok(f) => vm.ret1(Value::func(f)),
        Err(message) => Err(load_error(vm, name, &file, message.bytes())),
    }
}

/// Looks for a library along `package.cpath`.
fn loader_c(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let file = match find_file(vm, name.bytes(), "cpath")? {
        Ok(file) => file,
        Err(message) => return vm.ret_str(&message),
    };
    match open_module(vm, name, &file) {
        Ok(f) => vm.ret1(f),
        Err(failure) => Err(load_error(vm, name, &file, &failure.message)),
    }
}

/// The function that opens a module from a library.
fn open_module(vm: &mut Vm, name: Gc<Str>, file: &[u8]) -> Result<Value, Failure> {
    if vm.host.c_function.is_none() {
        return Err(Failure { message: NO_DYNAMIC.to_vec(), part: ABSENT });
    }
    Ok(dynamic::opener(vm, file, until_nul(name.bytes()))?.map_or(Value::NIL, Value::func))
}

/// Looks for the library of the root of a dotted name along `package.cpath`.
fn loader_croot(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let Some(dot) = crate::text::find_byte(name.bytes(), b'.') else { return Ok(0) };
    let file = match find_file(vm, &name.bytes()[..dot], "cpath")? {
        Ok(file) => file,
        Err(message) => return vm.ret_str(&message),
    };
    match open_module(vm, name, &file) {
        Ok(f) => vm.ret1(f),
        Err(failure) if failure.is_of_function() => {
            vm.ret_str(&[b"\n\tno module '", name.bytes(), b"' in file '", &file, b"'"].concat())
        }
        Err(failure) => Err(load_error(vm, name, &file, &failure.message)),
    }
}

/// `package.loadlib(path, name)`
fn loadlib(vm: &mut Vm) -> LuaResult<u32> {
    let path = vm.check_str(0)?;
    let name = vm.check_str(1)?;
    if vm.host.c_function.is_some() {
        return match dynamic::function(vm, until_nul(path.bytes()), until_nul(name.bytes())) {
            Ok(f) => vm.ret1(f.map_or(Value::TRUE, Value::func)),
            Err(failure) => {
                vm.push(Value::NIL);
                for text in [&failure.message[..], failure.part] {
                    let text = vm.new_str(text);
                    vm.push(Value::str(text));
                }
                Ok(3)
            }
        };
    }
    vm.push(Value::NIL);
    let why = match std::fs::metadata(c_path(path.bytes())) {
        Ok(_) => NO_DYNAMIC.to_vec(),
        Err(e) => {
            let path = c_path(path.bytes()).as_os_str().as_bytes();
            [path, b": cannot open shared object file: ", super::io::error_text(&e).as_bytes()].concat()
        }
    };
    let why = vm.new_str(&why);
    vm.push(Value::str(why));
    let place = vm.new_str(ABSENT);
    vm.push(Value::str(place));
    Ok(3)
}

/// Argument slots of `require`: the name, the loaders, the loader that was found.
const LOADERS: usize = 1;
const FOUND: usize = 2;

/// `require(name)`
fn require(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    vm.set_nargs(3);
    let loaded = Value::table(vm.registry_table(LOADED));
    let v = vm.index(loaded, Value::str(name))?;
    if v == SENTINEL {
        let message = [b"loop or previous error loading module '", name.bytes(), b"'"].concat();
        return Err(vm.rt_error_bytes(&message));
    }
    if v.truthy() {
        return vm.ret1(v);
    }
    let package = vm.callee().env.get();
    let loaders = vm.field(package, b"loaders");
    if !loaders.is_table() {
        return Err(vm.rt_error("'package.loaders' must be a table"));
    }
    vm.set_arg(LOADERS, loaders);
    find_loader(vm, name)?;
    vm.set_index(loaded, Value::str(name), SENTINEL)?;
    let f = vm.arg(FOUND);
    let r = vm.call1(f, &[Value::str(name)])?;
    let loaded = Value::table(vm.registry_table(LOADED));
    if !r.is_nil() {
        vm.set_index(loaded, Value::str(name), r)?;
    }
    let mut v = vm.index(loaded, Value::str(name))?;
    if v == SENTINEL {
        v = Value::TRUE;
        vm.set_index(loaded, Value::str(name), v)?;
    }
    vm.ret1(v)
}

/// Calls the loaders in turn, until one returns a function.
fn find_loader(vm: &mut Vm, name: Gc<Str>) -> LuaResult<()> {
    let mut message = Vec::new();
    for i in 1.. {
        let loader = vm.arg(LOADERS).as_table().map_or(Value::NIL, |t| t.get_int(i));
        if loader.is_nil() {
            break;
        }
        let r = vm.call1(loader, &[Value::str(name)])?;
        if r.is_func() {
            vm.set_arg(FOUND, r);
            return Ok(());
        }
        if r.is_str() || r.is_number() {
            super::put_value(&mut message, r);
        }
    }
    let message = [b"module '", name.bytes(), b"' not found:", &message].concat();
    Err(vm.rt_error_bytes(&message))
}

/// `module(name [, ...])`
fn module(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let n = vm.nargs();
    let t = module_table(vm, name)?;
    if vm.field(t, b"_NAME").is_nil() {
        vm.check_writable(t)?;
        vm.set_field(t, b"_M", Value::table(t));
        vm.set_field(t, b"_NAME", Value::str(name));
        let package = name.bytes().iter().rposition(|c| *c == b'.').map_or(0, |dot| dot + 1);
        let package = vm.new_str(&name.bytes()[..package]);
        vm.set_field(t, b"_PACKAGE", Value::str(package));
    }
    match levels::function_at(vm, 1) {
        Some(f) if f.is_lua() => super::env::set_function_env(vm, f, t),
        _ => return Err(vm.rt_error("'module' not called from a Lua function")),
    }
    for i in 1..n {
        let option = vm.arg(i);
        vm.call1(option, &[Value::table(t)])?;
    }
    Ok(0)
}

/// The table of a module: a loaded one, or the one at the end of the dotted name in the globals.
fn module_table(vm: &mut Vm, name: Gc<Str>) -> LuaResult<Gc<Table>> {
    let loaded = vm.registry_table(LOADED);
    if let Some(t) = loaded.get_str(name).as_table() {
        return Ok(t);
    }
    let mut t = vm.cur.env.get();
    for part in name.bytes().split(|c| *c == b'.') {
        let v = vm.field(t, part);
        if !v.is_nil() && !v.is_table() {
            let message = [b"name conflict for module '", name.bytes(), b"'"].concat();
            return Err(vm.rt_error_bytes(&message));
        }
        if v.is_nil() {
            vm.check_writable(t)?;
        }
        t = vm.subtable(t, part);
    }
    vm.table_set_str(loaded, name, Value::table(t));
    Ok(t)
}

/// `package.seeall(module)`
fn seeall(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    vm.check_writable(t)?;
    let meta = match t.meta.get() {
        Some(meta) => meta,
        None => {
            let meta = vm.new_table(0, 1);
            vm.set_table_meta(t, Some(meta));
            meta
        }
    };
    let globals = vm.cur.env.get();
    vm.set_field(meta, b"__index", Value::table(globals));
    Ok(0)
}
