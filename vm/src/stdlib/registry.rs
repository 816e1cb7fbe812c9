//! Tables by name: fields, entries of the registry, libraries and modules.

use crate::Vm;
use crate::object::{Gc, NativeFn, Table};
use crate::value::Value;

/// Name of the registry entry with the loaded modules.
pub const LOADED: &[u8] = b"_LOADED";
/// Name of the registry entry with the loaders of modules that are not loaded yet.
pub const PRELOAD: &[u8] = b"_PRELOAD";

impl Vm {
    /// Sets a field by name, raw.
    pub fn set_field(&mut self, t: Gc<Table>, name: &[u8], v: Value) {
        let name = self.new_str(name);
        self.table_set_str(t, name, v);
    }
    /// A field by name, raw.
    pub fn field(&mut self, t: Gc<Table>, name: &[u8]) -> Value {
        let name = self.new_str(name);
        t.get_str(name)
    }
    /// The table in a field, made if there is none.
    pub fn subtable(&mut self, t: Gc<Table>, name: &[u8]) -> Gc<Table> {
        if let Some(t) = self.field(t, name).as_table() {
            return t;
        }
        let new = self.new_table(0, 3);
        self.set_field(t, name, Value::table(new));
        new
    }
    /// A table in the registry, made if there is none.
    pub fn registry_table(&mut self, name: &[u8]) -> Gc<Table> {
        let registry = self.realm.registry;
        self.subtable(registry, name)
    }
    /// The table of a library, made if there is none: a global that is among the loaded modules.
    pub fn library(&mut self, name: &[u8]) -> Gc<Table> {
        let globals = self.realm.globals;
        let lib = self.subtable(globals, name);
        let loaded = self.registry_table(LOADED);
        self.set_field(loaded, name, Value::table(lib));
        lib
    }
    /// Lets `require` find a module: `load` is called with its name.
    pub fn preload(&mut self, name: &[u8], load: NativeFn) {
        let preload = self.registry_table(PRELOAD);
        let f = self.new_native(load, 1, &[]);
        self.set_field(preload, name, Value::func(f));
    }
}
