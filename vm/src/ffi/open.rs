//! The state of the FFI, and how it comes to be: by `require "ffi"`, or by a literal that is cdata.

use super::ctype::CTypeTable;
use crate::Vm;
use crate::error::LuaResult;
use crate::gc::Marker;
use crate::object::{Gc, Table};
use crate::stdlib::{Builtin, LOADED, StdLib};
use crate::value::{TAG_CDATA, Value};

/// The state of the FFI.
#[derive(Debug)]
pub struct Ffi {
    /// The C types.
    pub types: CTypeTable,
    /// The library.
    pub lib: Gc<Table>,
}

impl Ffi {
    /// Marks the objects that it refers to.
    pub(crate) fn mark(&self, m: &mut Marker) {
        m.mark(self.lib);
    }
}

/// The index of the metatable of all cdata.
const META: usize = (!TAG_CDATA & 0x1f) as usize;

impl Vm {
    /// Lets programs open the FFI.
    pub(crate) fn allow_ffi(&mut self) {
        self.realm.ffi_allowed = true;
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
        let (lib, meta) = (self.new_table(0, 5), self.new_table(0, 5));
        for b in Builtin::ALL.iter().filter(|b| b.library() == Some(StdLib::FFI)) {
            let (Some(native), Some(name)) = (b.native(), b.name().strip_prefix("ffi.")) else { continue };
            let f = Value::func(self.new_native(native, b.id(), &[]));
            match name.strip_prefix("meta.") {
                Some(name) => self.set_field(meta, name.as_bytes(), f),
                None => self.set_field(lib, name.as_bytes(), f),
            }
        }
        let name = Value::str(self.new_str(b"ffi"));
        self.set_field(meta, b"__metatable", name);
        self.realm.base_meta[META] = Some(meta);
        self.ffi = Some(Box::new(Ffi { types: CTypeTable::new(), lib }));
        super::lib::add_constants(self, lib);
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
