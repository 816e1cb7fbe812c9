//! Watchpoints: fields of tables that compiled code takes for constants, until they are stored to.
//!
//! Functions in classes and modules, the classes themselves, and the absence of fields in such tables hardly ever change. A trace that
//! looks up a constant key in a table that is a constant for it asks for a watchpoint ([`Heap::watch_field`]) and then needs no guard. The
//! first store to such a field fires the watchpoint: the traces that rely on the field are not entered again
//! ([`Compiler::fields_changed`](crate::hooks::Compiler::fields_changed)), and the field gets no watchpoint again.
//!
//! Every store to a watched field is noticed. Keys that have watchpoints in some table have a flag, which the interpreter, builtins and the
//! embedding API check when they store under a string key. Compiled code stores without a check under a key that has none, and marks the
//! key with another flag, so that it gets none later. Under a key that has watchpoints, compiled code guards that the table has none; under
//! a key that is not a constant, that the key has none. Keys of methods are seldom keys of data.
//!
//! The environment of a function that is a constant for a trace is watched in the same way: hardly any function gets another one once it is
//! hot.
//!
//! Programs that continue to store to such fields do not become slow: a table gets no watchpoints any more when four have fired, or when
//! many stores were checked in vain, and after [`MAX_FIRED`] in all no table does.
#![allow(unsafe_code, reason = "a watched table is forgotten before it is freed")]

use super::{Func, Gc, Str, Table};
use crate::Vm;
use crate::gc::Heap;
use crate::value::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// Watchpoints of one table that may fire before it gets none any more: a table that is changed again and again is not a class.
const MAX_FIRED_OF_TABLE: u32 = 4;
/// Watchpoints that may fire in all. Each costs as much as compiling again all traces that rely on the field.
const MAX_FIRED: u32 = 16;
/// Stores to fields of a watched table that are checked because the same key is watched in another table. Each costs some 20 ns more than a
/// store to a table that is not watched, so this many cost as much as compiling a small trace.
const MAX_STORES: u32 = 1000;

type ByAddress<T> = HashMap<u64, T, foldhash::fast::FixedState>;

/// A field that compiled code takes for a constant: a key of a table, or its metatable.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct WatchedField {
    /// The table.
    pub table: Gc<Table>,
    /// The key; `None` for the metatable.
    pub key: Option<Gc<Str>>,
}

/// The fields that a store has changed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ChangedFields {
    /// One.
    One(WatchedField),
    /// Any of the table, which gets no watchpoints any more.
    All(Gc<Table>),
}

impl ChangedFields {
    /// Is the field one of them?
    pub fn contains(self, field: WatchedField) -> bool {
        match self {
            ChangedFields::One(changed) => changed == field,
            ChangedFields::All(table) => table == field.table,
        }
    }
}

/// The state of a watched field.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Field {
    /// A recording relies on it.
    Wanted,
    /// Finished traces rely on it.
    Used,
    /// It changes.
    Changes,
}

#[derive(Debug, Default)]
struct Watched {
    fields: ByAddress<Field>,
    fired: u32,
    stores: u32,
    /// It gets no watchpoints any more.
    given_up: bool,
}

/// What a store to a watched table means for compiled code.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fired {
    /// Nothing.
    No,
    /// The recording is invalid.
    Recording,
    /// Finished traces are invalid.
    Traces,
}

/// The watchpoints of a heap.
#[derive(Debug, Default)]
pub(crate) struct Watchpoints(RefCell<All>);

#[derive(Debug, Default)]
struct All {
    tables: ByAddress<Watched>,
    fired: u32,
}

fn address(key: Option<Gc<Str>>) -> u64 {
    key.map_or(0, |k| Value::str(k).payload())
}

impl Watched {
    /// Removes all watchpoints of the table.
    fn give_up(&mut self, t: Gc<Table>) -> Fired {
        self.given_up = true;
        t.hdr.b1.set(t.hdr.b1.get() & !WATCHED);
        let fields = core::mem::take(&mut self.fields);
        fields.values().map(|f| f.fires()).max().unwrap_or(Fired::No)
    }
}

impl Field {
    fn fires(self) -> Fired {
        match self {
            Field::Wanted => Fired::Recording,
            Field::Used => Fired::Traces,
            Field::Changes => Fired::No,
        }
    }
}

impl Watchpoints {
    /// Forgets tables that are about to be freed.
    pub(crate) fn sweep(&mut self) {
        // SAFETY: tables are forgotten here before they are freed.
        self.0.get_mut().tables.retain(|&t, _| unsafe { !Gc::<Table>::from_addr(t).hdr.is_white() });
    }
}

impl All {
    fn of(&mut self, t: Gc<Table>) -> &mut Watched {
        self.tables.entry(Value::table(t).payload()).or_default()
    }
    fn store(&mut self, field: WatchedField) -> (Fired, ChangedFields) {
        let watched = self.of(field.table);
        let before = watched.fields.get(&address(field.key)).map_or(Fired::No, |f| f.fires());
        let (mut fired, mut changed) = (before, ChangedFields::One(field));
        if before == Fired::No {
            watched.stores += 1;
        } else {
            watched.fields.insert(address(field.key), Field::Changes);
            watched.fired += 1;
        }
        if watched.fired >= MAX_FIRED_OF_TABLE || watched.stores > MAX_STORES {
            fired = fired.max(watched.give_up(field.table));
            changed = ChangedFields::All(field.table);
        }
        if fired == Fired::Traces {
            self.fired += 1;
        }
        (fired, changed)
    }
}

/// Flag of tables that have watchpoints, and of keys that have some in some table. A flag byte that is at least as large says that the
/// table or the key is watched.
pub const WATCHED: u8 = 0x80;
/// Compiled code stores under this key without a check for watchpoints.
const STORED: u8 = 2;
/// A field of some table was set under this key by a function, or got another value: it is the name of a variable. Other keys name what
/// chunks define when they are loaded, and nothing has changed since.
const VARIES: u8 = 4;

/// Compiled code takes the environment of the function for a constant.
const FIXED: u8 = 1;
/// It has changed, and may change again.
const CHANGED: u8 = 2;

impl Str {
    /// Does it have watchpoints, as a key of some table?
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.hdr.b1.get() & WATCHED != 0
    }
    /// Is it known as the name of a variable?
    #[inline(always)]
    pub fn varies(&self) -> bool {
        self.hdr.b1.get() & (VARIES | STORED) != 0
    }
    /// Is it the name of a variable without watchpoints?
    #[inline(always)]
    pub(crate) fn is_plain_variable(&self) -> bool {
        matches!(self.hdr.b1.get(), 1..WATCHED)
    }
    /// A function sets a field of this name.
    #[inline(always)]
    pub(crate) fn note_variable(&self) {
        self.hdr.b1.set(self.hdr.b1.get() | VARIES);
    }
}

impl Table {
    /// Does it have watchpoints?
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        self.hdr.b1.get() != 0
    }
}

/// For the recorder.
impl Heap {
    /// Should a field be taken for a constant? If so, its watchpoint fires from now on when it is stored to.
    pub fn watch_field(&self, field: WatchedField) -> bool {
        if field.key.is_some_and(|k| k.hdr.b1.get() & STORED != 0) {
            return false;
        }
        let mut all = self.watchpoints.0.borrow_mut();
        let spent = all.fired >= MAX_FIRED;
        let watched = all.of(field.table);
        if spent || watched.given_up || *watched.fields.entry(address(field.key)).or_insert(Field::Wanted) == Field::Changes {
            return false;
        }
        field.table.hdr.b1.set(field.table.hdr.b1.get() | WATCHED);
        if let Some(key) = field.key {
            key.hdr.b1.set(key.hdr.b1.get() | WATCHED);
        }
        true
    }
    /// May fields of the table be taken for constants whatever they hold, and not only functions and classes? Not if that was wrong before:
    /// functions change less often than other values.
    pub fn trusts_variables(&self, t: Gc<Table>) -> bool {
        let all = self.watchpoints.0.borrow();
        let of_table = all.tables.get(&Value::table(t).payload()).map_or(0, |w| w.fired);
        all.fired < MAX_FIRED_OF_TABLE && of_table < MAX_FIRED_OF_TABLE / 2
    }
    /// Should the environment of a function be taken for a constant? If so, its watchpoint fires from now on when the function gets another
    /// one.
    pub fn watch_environment(&self, f: Gc<Func>) -> bool {
        if f.hdr.b1.get() == CHANGED || self.watchpoints.0.borrow().fired >= MAX_FIRED {
            return false;
        }
        f.hdr.b1.set(FIXED);
        true
    }
    /// A trace that takes the field for a constant was finished.
    pub fn use_watched(&self, field: WatchedField) {
        let mut all = self.watchpoints.0.borrow_mut();
        let known = all.of(field.table).fields.insert(address(field.key), Field::Used);
        debug_assert!(matches!(known, Some(Field::Wanted | Field::Used)), "a trace goes by a field that was stored to");
    }
    /// No trace takes the field for a constant any more.
    pub fn stop_using(&self, field: WatchedField) {
        let mut all = self.watchpoints.0.borrow_mut();
        let fields = &mut all.of(field.table).fields;
        if fields.get(&address(field.key)) == Some(&Field::Used) {
            fields.remove(&address(field.key));
        }
    }
    /// Compiled code will store under this key in some table. Returns true if it need not check for watchpoints: there are none, and will
    /// be none.
    pub fn note_stored_key(&self, key: Gc<Str>) -> bool {
        if !key.is_watched() {
            key.hdr.b1.set(key.hdr.b1.get() | STORED);
        }
        !key.is_watched()
    }
    /// Compiled code will store to this field without checking for a watchpoint. If there is one, the store that is being recorded fires
    /// it.
    pub fn note_store(&self, field: WatchedField) {
        self.watchpoints.0.borrow_mut().of(field.table).fields.entry(address(field.key)).or_insert(Field::Changes);
    }
    /// Compiled code will store to any field of the table. The store to this one, which comes first, will remove all watchpoints of the
    /// table.
    pub fn give_up_watching(&self, t: Gc<Table>) {
        self.watchpoints.0.borrow_mut().of(t).stores = MAX_STORES;
    }
}

impl Vm {
    /// Must be called after a store to a table under a string key.
    #[inline(always)]
    pub(crate) fn stored_to(&mut self, table: Gc<Table>, key: Gc<Str>) {
        if key.is_watched() && table.is_watched() {
            self.fire(WatchedField { table, key: Some(key) });
        }
    }
    /// Must be called after a table got another metatable.
    #[inline(always)]
    pub(crate) fn meta_stored_to(&mut self, table: Gc<Table>) {
        if table.is_watched() {
            self.fire(WatchedField { table, key: None });
        }
    }
    /// Must be called before all keys of a table are removed.
    #[inline]
    pub(crate) fn stores_everywhere(&mut self, table: Gc<Table>) {
        if table.is_watched() {
            self.heap.give_up_watching(table);
            self.fire(WatchedField { table, key: None });
        }
    }
    /// Must be called after a function got another environment.
    pub(crate) fn environment_changed(&mut self, f: Gc<Func>) {
        if f.hdr.b1.get() == FIXED {
            f.hdr.b1.set(CHANGED);
            self.heap.watchpoints.0.get_mut().fired += 1;
            self.constant_changed();
        }
    }
    #[cold]
    #[inline(never)]
    fn fire(&mut self, field: WatchedField) {
        let (fired, changed) = self.heap.watchpoints.0.borrow_mut().store(field);
        match fired {
            Fired::No => {}
            Fired::Recording => self.abort_recording(),
            Fired::Traces => self.fields_changed(changed),
        }
    }
}
