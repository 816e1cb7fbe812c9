//! How the FFI is opened: by `require "ffi"`, or by a literal that is cdata.

use super::Ffi;
use super::callback_entries::Callbacks;
use super::ctype::{CTypeTable, IdMap};
use super::inline_cache::IndexCache;
use super::state::{Calls, Metatypes};
use super::temporary::Temporaries;
use crate::Vm;
use crate::error::LuaResult;
use crate::meta::MM;
use crate::object::{Gc, Table};
use crate::stdlib::shared_object::SharedObject;
use crate::stdlib::{Builtin, LOADED, StdLib};
use crate::value::{TAG_CDATA, Value};
use std::cell::Cell;
use std::collections::HashMap;

/// The index of the metatable of all cdata.
const META: usize = (!TAG_CDATA & 0x1f) as usize;

impl Vm {
    /// Lets programs have literals of the FFI, such as `1LL`, though they cannot require it.
    pub fn allow_cdata(&mut self) {
        self.realm.ffi_allowed = true;
    }
    /// Lets programs open the FFI.
    pub(crate) fn allow_ffi(&mut self) {
        self.allow_cdata();
        self.preload(b"ffi", |vm| match vm.open_ffi() {
            Some(lib) => vm.ret1(Value::table(lib)),
            None => Ok(0),
        });
    }
    /// The `ffi` library, which is made if it is allowed and not there yet.
    pub fn open_ffi(&mut self) -> Option<Gc<Table>> {
        if let Some(ffi) = &self.ffi {
            return Some(ffi.lib);
        }
        if !self.realm.ffi_allowed {
            return None;
        }
        let [lib, meta, namespace_meta, function_meta] = [5, 5, 1, 2].map(|bits| self.new_table(0, bits));
        for b in Builtin::ALL.iter().filter(|b| b.library() == Some(StdLib::FFI)) {
            let (Some(native), Some(name)) = (b.native(), b.name().strip_prefix("ffi.")) else { continue };
            let f = Value::func(self.new_native(native, b.id(), &[]));
            let (table, name) = match name.split_once('.') {
                Some(("meta", name)) => (meta, name),
                Some(("clib", name)) => (namespace_meta, name),
                Some((_, name)) => (function_meta, name),
                None => (lib, name),
            };
            self.set_field(table, name.as_bytes(), f);
        }
        let name = Value::str(self.new_str(b"ffi"));
        self.set_field(meta, b"__metatable", name);
        self.realm.base_meta[META] = Some(meta);
        self.set_field(function_meta, b"__index", Value::table(function_meta));
        self.ffi = Some(Box::new(Ffi {
            types: CTypeTable::new(),
            lib,
            metatypes: Metatypes::default(),
            field_names: IdMap::default(),
            index_cache: IndexCache::default(),
            metamethods: MM::ALL.iter().map(|_| Cell::new(usize::MAX)).collect(),
            temporaries: Temporaries::default(),
            parsed: HashMap::new(),
            namespace_meta,
            function_meta,
            calls: Calls::default(),
            callbacks: Callbacks::default(),
            operations: 0,
        }));
        super::lib::add_constants(self, lib);
        let program = self.new_namespace(SharedObject::PROGRAM);
        self.set_field(lib, b"C", program);
        let loaded = self.registry_table(LOADED);
        self.set_field(loaded, b"ffi", Value::table(lib));
        Some(lib)
    }
    /// The C types. Builtins of the FFI run only if it is open.
    pub fn ctypes(&mut self) -> LuaResult<&mut CTypeTable> {
        match self.ffi {
            Some(_) => {}
            None => return Err(self.plain_error(b"the FFI is not open")),
        }
        match &mut self.ffi {
            Some(ffi) => Ok(&mut ffi.types),
            None => unreachable!("checked above"),
        }
    }
}
