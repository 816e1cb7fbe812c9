//! Watchpoints: fields that the trace takes for constants, and stores that may change such fields. See [`WatchedField`].

use super::index::KeySlot;
use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::opt::alias;
use perilune_vm::bc::Op as Bc;
use perilune_vm::layout::Field;
use perilune_vm::object::{Func, Gc, READONLY, Str, Table, WATCHED, WatchedField};
use perilune_vm::{Value, Vm};

impl Recorder {
    fn watch(&mut self, vm: &Vm, table: Gc<Table>, key: Option<Gc<Str>>) -> bool {
        let field = WatchedField { table, key };
        let known = self.deps.watched.contains(&field);
        if !known && self.b.flags.fwd && vm.heap.watch_field(field) {
            self.deps.watched.push(field);
            return true;
        }
        known
    }
    /// The value of a field of a constant table, as a constant with a watchpoint, if the field hardly ever changes. That is assumed of
    /// functions everywhere, of classes (and their absence) at the `depth`th class of a lookup or in a metatable, of modules in global
    /// variables, and of any value in a field that only a chunk has set when it was loaded.
    pub(super) fn constant_field(
        &mut self,
        vm: &Vm,
        t: Gc<Table>,
        table: IrRef,
        key: (IrRef, Value),
        depth: usize,
    ) -> Option<IrRef> {
        let name = key.1.as_str()?;
        if !table.is_const() || !key.0.is_const() {
            return None;
        }
        let v = t.get_str(name);
        let lasts = match v {
            v if v.is_func() => true,
            v if v.is_nil() => depth > 0 || t.meta.get().is_some(),
            v if v.is_table() => depth > 0 || self.feedback.pc.ins().op() == Bc::GGET,
            _ => false,
        };
        let lasts = lasts || !v.is_nil() && !name.varies() && vm.heap.trusts_variables(t);
        (lasts && self.watch(vm, t, Some(name))).then(|| self.b.kvalue(v))
    }
    /// The environment of function `f`, whose reference is `r`: a constant if the function is one, since it hardly ever changes. Otherwise
    /// its identity is guarded, so that its functions are constants, until functions of this prototype turn out to have several.
    pub(super) fn environment(&mut self, vm: &Vm, (r, f): (IrRef, Gc<Func>)) -> Rec<IrRef> {
        let env = Value::table(f.env.get());
        if r.is_const() && self.b.flags.fwd && vm.heap.watch_environment(f) {
            return Ok(self.b.kvalue(env));
        }
        let field = self.field(r, Field::FuncEnv)?;
        if f.proto().is_some_and(|p| self.feedback.has_environments(p, f.env.get())) {
            return Ok(field);
        }
        self.guard_is(field, env)
    }
    /// The metatable of a table that is a constant.
    pub(super) fn constant_meta(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef) -> Option<IrRef> {
        let meta = t.meta.get()?;
        (table.is_const() && self.watch(vm, t, None)).then(|| self.b.kgc(Value::table(meta)))
    }

    /// Guards before a store that the table is writable. A table with an array part is.
    pub(super) fn check_writable(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef) -> Rec<()> {
        if t.is_readonly() {
            return Err(Abort::MissingMetamethod);
        }
        // Traces that store to a constant table are flushed when it becomes read-only.
        if !vm.realm.has_readonly || table.is_const() || self.is_untouched(table) {
            return Ok(());
        }
        let flags = self.field(table, Field::TabWatched)?;
        let readonly = self.b.kint(i32::from(READONLY));
        let flag = self.b.emit(Op::BAND, Ty::Int, flags, readonly)?;
        self.guard_int(flag, 0)
    }
    /// Has the trace just made the table, and called no builtin since, which might have set a flag of it?
    fn is_untouched(&self, table: IrRef) -> bool {
        alias::is_new_table(&self.b, table) && self.b.newest(Op::NATIVE) < table
    }
    /// Guards before a store under a string key that no trace has a watchpoint on the field.
    pub(super) fn check_store(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: (IrRef, Value), place: &KeySlot) -> Rec<()> {
        let Some(name) = key.1.as_str() else { return Ok(()) };
        if place.array || key.0.is_const() && vm.heap.note_stored_key(name) {
            return Ok(());
        }
        if key.0.is_const() {
            return self.check_field_store(vm, t, table, Some(name));
        }
        if !name.is_watched() {
            return self.guard_unwatched(key.0, Field::StrWatched);
        }
        if t.is_watched() {
            vm.heap.give_up_watching(t);
            return Err(Abort::Retry);
        }
        self.guard_unwatched(table, Field::TabWatched)
    }
    /// The same before a store of the metatable.
    pub(super) fn check_meta_store(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef) -> Rec<()> {
        self.check_field_store(vm, t, table, None)
    }
    /// The same; `key` is that of a [`WatchedField`].
    fn check_field_store(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: Option<Gc<Str>>) -> Rec<()> {
        if !t.is_watched() && !table.is_const() {
            return self.guard_unwatched(table, Field::TabWatched);
        }
        // In that case the table must be known.
        self.guard_is(table, Value::table(t))?;
        vm.heap.note_store(WatchedField { table: t, key });
        Ok(())
    }
    /// Guards that a table or a key has no watchpoints.
    fn guard_unwatched(&mut self, object: IrRef, field: Field) -> Rec<()> {
        if self.is_untouched(object) {
            return Ok(());
        }
        let flag = self.field(object, field)?;
        let watched = self.b.kint(i32::from(WATCHED));
        self.b.emit(Op::ULT, Ty::Int, flag, watched)?;
        Ok(())
    }
}
