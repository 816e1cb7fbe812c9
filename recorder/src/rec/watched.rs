//! Fields that are taken for constants, and the care that stores take of them. See [`WatchedField`].

use super::index::Place;
use super::{Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::opt::alias;
use perilune_vm::bc::Op as Bc;
use perilune_vm::layout::Field;
use perilune_vm::object::{Func, Gc, Str, Table, WATCHED, WatchedField};
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
    /// The value of a field of a table that is a constant, where that hardly ever changes: a function anywhere; at the `depth`th
    /// class where a lookup goes on, or in a metatable, also a class, or that there is none. Variables that hold tables are
    /// mostly global ones for modules. Anything, where only a chunk has set the field, when it was loaded.
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
            v if v.is_table() => depth > 0 || view::ins(self.feedback.pc).op() == Bc::GGET,
            _ => false,
        };
        let lasts = lasts || !v.is_nil() && !name.varies() && vm.heap.trusts_variables(t);
        (lasts && self.watch(vm, t, Some(name))).then(|| self.b.kvalue(v))
    }
    /// The environment of function `f`, whose reference is `r`: where the function is a constant, hardly ever another one.
    pub(super) fn environment(&mut self, vm: &Vm, (r, f): (IrRef, Gc<Func>)) -> Rec<IrRef> {
        let env = Value::table(f.env.get());
        if r.is_const() && self.b.flags.fwd && vm.heap.watch_environment(f) {
            return Ok(self.b.kvalue(env));
        }
        let field = self.field(r, Field::FuncEnv)?;
        self.guard_is(field, env)
    }
    /// The metatable of a table that is a constant.
    pub(super) fn constant_meta(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef) -> Option<IrRef> {
        let meta = t.meta.get()?;
        (table.is_const() && self.watch(vm, t, None)).then(|| self.b.kgc(Value::table(meta)))
    }

    /// To come before a store under a string key: that no other trace takes the field for a constant.
    pub(super) fn check_store(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: (IrRef, Value), place: &Place) -> Rec<()> {
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
            vm.heap.tire_of_watching(t);
            return Err(Abort::Retry);
        }
        self.guard_unwatched(table, Field::TabWatched)
    }
    /// The same for a store of the metatable.
    pub(super) fn check_meta_store(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef) -> Rec<()> {
        self.check_field_store(vm, t, table, None)
    }
    /// `key` is that of a [`WatchedField`].
    fn check_field_store(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: Option<Gc<Str>>) -> Rec<()> {
        if !t.is_watched() && !table.is_const() {
            return self.guard_unwatched(table, Field::TabWatched);
        }
        // Which table it is need be known then.
        self.guard_is(table, Value::table(t))?;
        vm.heap.note_store(WatchedField { table: t, key });
        Ok(())
    }
    /// Guards that a table or a key has no watchpoints.
    fn guard_unwatched(&mut self, object: IrRef, field: Field) -> Rec<()> {
        // What the trace has made just now has none; a builtin may have called what asked for them.
        if alias::is_new_table(&self.b, object) && self.b.newest(Op::NATIVE) < object {
            return Ok(());
        }
        let flag = self.field(object, field)?;
        let watched = self.b.kint(i32::from(WATCHED));
        self.b.emit(Op::ULT, Ty::Int, flag, watched)?;
        Ok(())
    }
}
