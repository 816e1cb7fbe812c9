//! The state of the FFI.

use super::callback_entries::Callbacks;
use super::classify::CallPlan;
use super::ctype::{CTypeId, CTypeTable, IdMap};
use super::inline_cache::IndexCache;
use super::temporary::Temporaries;
use crate::gc::Marker;
use crate::object::{Gc, Str, Table};
use crate::value::Value;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The state of the FFI.
#[derive(Debug)]
pub struct Ffi {
    /// The C types.
    pub types: CTypeTable,
    /// The library.
    pub lib: Gc<Table>,
    /// The metatables of types.
    pub metatypes: Metatypes,
    /// What keys mean for types.
    pub(super) index_cache: IndexCache,
    /// For each metamethod of all cdata, the index of its node in their metatable, as far as it is known.
    pub(super) metamethods: Box<[Cell<usize>]>,
    /// Cells of references that are used once.
    pub(super) temporaries: Temporaries,
    /// Names of fields that tables have initialised.
    pub(super) field_names: IdMap<CTypeId, Gc<Str>>,
    /// Types by the texts that named them.
    pub(super) parsed: HashMap<Box<[u8]>, CTypeId>,
    /// The metatable of namespaces of C libraries.
    pub(super) namespace_meta: Gc<Table>,
    /// The metatable of pointers to functions, which is also the table of their methods.
    pub(super) function_meta: Gc<Table>,
    /// Calls of C functions.
    pub calls: Calls,
    /// Callbacks.
    pub(super) callbacks: Callbacks,
    /// Operations on cdata that were executed, and not compiled.
    pub(super) operations: u64,
}

/// The metatables of types, by their numbers.
#[derive(Debug, Default)]
pub struct Metatypes {
    tables: Vec<Option<Gc<Table>>>,
}

impl Metatypes {
    /// The metatable of a type.
    #[inline]
    pub fn get(&self, id: CTypeId) -> Option<Gc<Table>> {
        self.tables.get(id.0 as usize).copied().flatten()
    }
    /// Gives a type its metatable. False if it has one.
    pub fn set(&mut self, id: CTypeId, table: Gc<Table>) -> bool {
        let index = id.0 as usize;
        if self.tables.len() <= index {
            self.tables.resize(index + 1, None);
        }
        let is_first = self.tables[index].is_none();
        self.tables[index].get_or_insert(table);
        is_first
    }
    fn tables(&self) -> impl Iterator<Item = Gc<Table>> + '_ {
        self.tables.iter().copied().flatten()
    }
}

/// What is known of calls of C functions.
#[derive(Debug, Default)]
pub struct Calls {
    /// By function type.
    pub(super) plans: Vec<Option<Rc<CallPlan>>>,
    /// Addresses of functions that have called back: compiled code must not call them with values in registers.
    pub(super) call_back: HashSet<usize>,
    /// Has the function that is running called back?
    pub(super) called_back: bool,
}

impl Calls {
    /// Has the function at an address called back while it was called?
    pub fn calls_back(&self, address: usize) -> bool {
        self.call_back.contains(&address)
    }
}

/// So many texts of types are remembered.
const REMEMBERED: usize = 1024;

impl crate::Vm {
    /// Operations on cdata that were executed so far, except those in compiled code. Each takes the interpreter as long as many bytecode
    /// instructions.
    pub fn ffi_operations(&self) -> u64 {
        self.ffi.as_ref().map_or(0, |ffi| ffi.operations)
    }
    /// Counts an operation on cdata.
    pub(super) fn count_ffi_operation(&mut self) {
        if let Some(ffi) = &mut self.ffi {
            ffi.operations += 1;
            if ffi.operations == 1 {
                self.compiler.clone().ffi_used(self);
            }
        }
    }
}

impl Ffi {
    /// Marks the objects that it refers to.
    pub(crate) fn mark(&mut self, m: &mut Marker) {
        self.temporaries.forget();
        self.for_each_object(|v| m.mark_value(v));
    }
    /// Calls `f` for each object that it refers to.
    pub fn for_each_object(&self, mut f: impl FnMut(Value)) {
        for t in [self.lib, self.namespace_meta, self.function_meta] {
            f(Value::table(t));
        }
        self.metatypes.tables().for_each(|t| f(Value::table(t)));
        self.field_names.values().for_each(|name| f(Value::str(*name)));
        self.index_cache.keys().for_each(f);
    }
    /// The name of a field, if a table has initialised one of its struct by name.
    pub fn field_name(&self, field: CTypeId) -> Option<Gc<Str>> {
        self.field_names.get(&field).copied()
    }
    /// The type that a text named before, if it always names the same.
    pub fn parsed_type(&self, text: &[u8]) -> Option<CTypeId> {
        self.parsed.get(text).copied()
    }
    /// Notes the type that a text names. It names the same type from then on, unless it defines a struct: each text does that anew.
    pub(super) fn remember(&mut self, text: &[u8], id: CTypeId) {
        if self.parsed.len() < REMEMBERED && !text.contains(&b'{') {
            self.parsed.insert(Box::from(text), id);
        }
    }
}
