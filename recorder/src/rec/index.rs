//! Indexing: reads and writes of table fields, through `__index` and `__newindex` (LuaJIT's `lj_record_idx`).

use super::meta::Operand;
use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{Ins, IrRef, Op, Ty, VmRef, conv};
use crate::opt::{abc, alias};
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::layout::Field;
use perilune_vm::meta::MM;
use perilune_vm::object::{Gc, Table};
use perilune_vm::{Value, Vm};

/// The slot of a key in a table.
pub(super) struct KeySlot {
    /// Address of the slot; `None` if the key is absent.
    slot: Option<IrRef>,
    /// In the array part?
    pub(super) array: bool,
    /// The key as it was looked up.
    key: IrRef,
}

/// The result of an indexing operation.
pub(super) enum Indexed {
    /// The value.
    Value(IrRef),
    /// A function to call, and the object to call it with.
    Call(Operand, Operand),
}

const MAX_CHAIN: usize = 20;

impl Recorder {
    /// Finds the slot of a key, with guards that it is there when the trace runs.
    pub(super) fn lookup(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: (IrRef, Value)) -> Rec<KeySlot> {
        let (mut rk, k) = key;
        if let Some(i) = k.as_index() {
            if self.ty(rk) == Ty::Num {
                rk = self.b.guard(Op::CONV, Ty::Int, rk, IrRef(conv::INT_NUM_INDEX))?;
            }
            let asize = self.field(table, Field::TabAsize)?;
            if (i as u32) < t.asize() {
                abc::check(&mut self.b, self.start.induction.as_ref(), asize, rk, t.asize())?;
                let array = self.field(table, Field::TabArray)?;
                let slot = self.b.emit(Op::AREF, Ty::P64, array, rk)?;
                return Ok(KeySlot { slot: Some(slot), array: true, key: rk });
            }
            self.b.emit(Op::ULE, Ty::Int, asize, rk)?;
        }
        let found = t.find(k);
        let node = found.and_then(|slot| t.node_of(slot));
        if rk.is_const() {
            self.feedback.tables.add(&t, node);
        }
        let general = rk.is_const() && self.feedback.site.has_many_shapes();
        if k.is_str() && rk.is_const() {
            if t.shape.get().is_some() && alias::has_known_keys(&self.b, table) {
                return self.slot_in_node(table, rk, node);
            }
            if !general && self.is_guarded_by_shape(vm, &t, table, node) {
                let shape = self.field(table, Field::TabShape)?;
                self.guard_int(shape, t.shape.get().number() as i32)?;
                return self.slot_in_node(table, rk, node);
            }
        }
        // A num that is no array index now may be integral when the trace runs, and then be found in the array part.
        if t.hmask.get() == 0 && !general && (self.ty(rk) != Ty::Num || rk.is_const()) {
            let hmask = self.field(table, Field::TabHmask)?;
            self.guard_int(hmask, 0)?;
            return Ok(KeySlot { slot: None, array: false, key: rk });
        }
        if let Some(node) = node
            && rk.is_const()
            && !general
        {
            let hmask = self.field(table, Field::TabHmask)?;
            self.guard_int(hmask, t.hmask.get() as i32)?;
            let nodes = self.field(table, Field::TabNode)?;
            let kslot = self.b.kslot(rk, node);
            let slot = self.b.guard(Op::HREFK, Ty::P64, nodes, kslot)?;
            return Ok(KeySlot { slot: Some(slot), array: false, key: rk });
        }
        let href = self.b.emit(Op::HREF, Ty::P64, table, rk)?;
        let nil = self.b.kvm(VmRef::NilSlot);
        self.b.emit(if found.is_some() { Op::NE } else { Op::EQ }, Ty::P64, href, nil)?;
        Ok(KeySlot { slot: found.map(|_| href), array: false, key: rk })
    }

    /// Is a constant key guarded by the shape of the table? Otherwise its node is checked. That is better for constant tables, such as
    /// classes and modules, which get further keys while a program is loaded without their keys moving to other nodes. It is also better
    /// where tables of several shapes were met whose keys are in the same nodes, as when some fields are optional.
    fn is_guarded_by_shape(&self, vm: &Vm, t: &Table, table: IrRef, node: Option<u32>) -> bool {
        let shape = t.shape.get();
        let by_node = node.is_some() && (table.is_const() || self.feedback.site.by_node);
        shape.is_some() && !by_node && !vm.heap.does_shape_vary(shape)
    }
    /// The slot of a constant string key that is known to be in a node, or in none.
    fn slot_in_node(&mut self, table: IrRef, key: IrRef, node: Option<u32>) -> Rec<KeySlot> {
        let slot = match node {
            Some(node) => {
                let nodes = self.field(table, Field::TabNode)?;
                let kslot = self.b.kslot(key, node);
                Some(self.b.emit_ins(Ins { flags: 0, ..Ins::new(Op::HREFK, Ty::P64, nodes, kslot) })?)
            }
            None => None,
        };
        Ok(KeySlot { slot, array: false, key })
    }

    /// Loads the value of a slot.
    pub(super) fn load(&mut self, place: &KeySlot, v: Value) -> Rec<IrRef> {
        let Some(slot) = place.slot else { return Ok(IrRef::NIL) };
        let ty = self.feedback.load_type(v);
        let r = self.b.guard(if place.array { Op::ALOAD } else { Op::HLOAD }, ty, slot, IrRef::NONE)?;
        Ok(if ty.is_pri() { self.b.kvalue(v) } else { r })
    }

    /// `t[k]` without metamethods.
    pub(super) fn raw_get(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: (IrRef, Value)) -> Rec<IrRef> {
        let place = self.lookup(vm, t, table, key)?;
        self.load(&place, t.get(key.1))
    }

    /// Guards that a table has a metatable, or that it has none, and returns the reference of the metatable. The metatable itself is not
    /// guarded: keys are looked up in it. But the metatable of a constant table hardly ever changes, so it is guarded to be a constant,
    /// which saves the lookups.
    pub(super) fn guard_meta(&mut self, vm: &Vm, table: IrRef, t: Gc<Table>) -> Rec<IrRef> {
        if let Some(k) = self.constant_meta(vm, t, table) {
            return Ok(k);
        }
        let meta = t.meta.get();
        let r = self.field(table, Field::TabMeta)?;
        if let Some(m) = meta
            && vm.realm.meta_names[MM::Index as usize].is_some_and(|name| m.get_str(name) == Value::table(m))
            && !self.feedback.is_one_of_many_classes(m)
            && !self.is_made(r)
        {
            // Not for a class that is its own `__index`: the lookup compares it again.
            return self.guard_is(r, Value::table(m));
        }
        let null = self.b.knull(Ty::Tab);
        match meta {
            None if r != null => self.b.emit(Op::EQ, Ty::Tab, r, null).map(|_| null),
            None => Ok(null),
            Some(m) if table.is_const() && !self.is_made(r) => {
                let k = self.b.kgc(Value::table(m));
                if r != k {
                    self.b.emit(Op::EQ, Ty::Tab, r, k)?;
                }
                Ok(k)
            }
            Some(_) => {
                if !r.is_const() && !self.is_made(r) {
                    self.b.emit(Op::NE, Ty::Tab, r, null)?;
                }
                Ok(r)
            }
        }
    }
    /// Does the trace make this object? Such an object differs each time, so it must not be guarded to be a constant.
    pub(super) fn is_made(&self, r: IrRef) -> bool {
        crate::opt::alias::is_new_table(&self.b, r) || self.closure(r).is_some()
    }
    /// The class that a lookup continues in. It is mostly the same one each time, and then guarded to be a constant. Where several classes
    /// were met, or where the trace makes the class, the reference that was found is used.
    pub(super) fn specialize_class(&mut self, r: IrRef, class: Gc<Table>, depth: usize) -> Rec<IrRef> {
        let many = if depth == 0 { self.feedback.is_one_of_many_classes(class) } else { self.feedback.site.classes };
        if many || self.is_made(r) { Ok(r) } else { self.guard_is(r, Value::table(class)) }
    }
    /// Looks up a metamethod in a metatable.
    pub(super) fn method(&mut self, vm: &Vm, meta: Gc<Table>, kmeta: IrRef, mm: MM) -> Rec<(IrRef, Value)> {
        let Some(name) = vm.realm.meta_names[mm as usize] else { return Ok((IrRef::NIL, Value::NIL)) };
        let key = (self.b.kgc(Value::str(name)), Value::str(name));
        let r = match self.constant_field(vm, meta, kmeta, key, 1) {
            Some(k) => k,
            None => self.raw_get(vm, meta, kmeta, key)?,
        };
        Ok((r, meta.get_str(name)))
    }
    /// `o[k]`, following `__index` as long as it leads to tables.
    pub(super) fn index(&mut self, vm: &Vm, object: (IrRef, Value), key: (IrRef, Value)) -> Rec<Indexed> {
        let (mut r, mut v) = object;
        if !self.feedback.site.classes {
            self.feedback.site.classes = is_method_made_anew(vm, v, key.1);
        }
        for depth in 0..MAX_CHAIN {
            let (meta, kmeta);
            if let Some(t) = v.as_table() {
                if key.1.as_number().is_some_and(f64::is_nan) {
                    return Err(Abort::NyiBytecode);
                }
                let found = t.get(key.1);
                // No table has a nil key.
                let value = match self.constant_field(vm, t, r, key, depth) {
                    _ if key.1.is_nil() => IrRef::NIL,
                    Some(k) => k,
                    None => self.raw_get(vm, t, r, key)?,
                };
                if !found.is_nil() {
                    return Ok(Indexed::Value(value));
                }
                kmeta = self.guard_meta(vm, r, t)?;
                match t.meta.get() {
                    Some(m) => meta = m,
                    None => return Ok(Indexed::Value(IrRef::NIL)),
                }
            } else if v.is_cdata() {
                match self.cdata_index(vm, (r, v), key) {
                    // The builtin is called.
                    Err(Abort::BadType) => {}
                    done => return done,
                }
                let Some(m) = Recorder::base_meta(vm, v) else { return Err(Abort::MissingMetamethod) };
                kmeta = self.b.kgc(Value::table(m));
                meta = m;
            } else if let Some(u) = v.as_udata() {
                let Some(m) = u.meta.get() else { return Err(Abort::MissingMetamethod) };
                let f = self.field(r, Field::UdataMeta)?;
                kmeta = self.guard_is(f, Value::table(m))?;
                meta = m;
            } else {
                let Some(m) = Recorder::base_meta(vm, v) else { return Err(Abort::MissingMetamethod) };
                kmeta = self.b.kgc(Value::table(m));
                meta = m;
            }
            let (mr, mv) = self.method(vm, meta, kmeta, MM::Index)?;
            if mv.is_nil() {
                return if v.is_table() { Ok(Indexed::Value(IrRef::NIL)) } else { Err(Abort::MissingMetamethod) };
            }
            if let Some(u) = v.as_udata()
                && let Some(value) = self.without_builtin(|rec| rec.namespace_index(vm, (r, u), mv, key))?
            {
                return Ok(Indexed::Value(value));
            }
            if mv.is_func() {
                return Ok(Indexed::Call((mr, mv), (r, v)));
            }
            r = if let Some(class) = mv.as_table() { self.specialize_class(mr, class, depth)? } else { mr };
            v = mv;
        }
        Err(Abort::LoopingIndex)
    }

    /// `o[k] = x`: emits the store as the last instruction, or returns the function and the object to call it with.
    pub(super) fn set_index(
        &mut self,
        vm: &Vm,
        object: (IrRef, Value),
        key: (IrRef, Value),
        value: (IrRef, Value),
    ) -> Rec<Option<(Operand, Operand)>> {
        let mut object = object;
        for depth in 0..MAX_CHAIN {
            let Some(t) = object.1.as_table() else {
                if object.1.is_cdata() {
                    match self.cdata_set_index(vm, object, key, value) {
                        Err(Abort::BadType) => {}
                        done => return done.map(|f| f.map(|f| (f, object))),
                    }
                }
                let f = self.metamethod(vm, object, MM::NewIndex)?;
                let stored = |rec: &mut Recorder| match object.1.as_udata() {
                    Some(u) => rec.namespace_set_index(vm, (object.0, u), f.1, key, value).map(Some),
                    None => Ok(None),
                };
                if self.without_builtin(stored)? == Some(true) {
                    return Ok(None);
                }
                match f.1 {
                    m if m.is_func() => return Ok(Some((f, object))),
                    m => match m.as_table() {
                        Some(class) => object = (self.specialize_class(f.0, class, depth)?, m),
                        None => return Err(Abort::MissingMetamethod),
                    },
                }
                continue;
            };
            let table = object.0;
            let old = t.get(key.1);
            let place = self.check_key(vm, t, table, key)?;
            if t.meta.get().is_none() {
                self.guard_meta(vm, table, t)?;
            } else {
                self.load(&place, old)?;
                if old.is_nil() {
                    let f = self.metamethod(vm, object, MM::NewIndex)?;
                    match f.1 {
                        m if m.is_nil() => {}
                        m if m.is_func() => return Ok(Some((f, object))),
                        m => {
                            let r = if let Some(class) = m.as_table() { self.specialize_class(f.0, class, depth)? } else { f.0 };
                            object = (r, m);
                            continue;
                        }
                    }
                }
            }
            self.store(vm, (t, table), key, &place, value)?;
            return Ok(None);
        }
        Err(Abort::LoopingIndex)
    }
    /// `t[k] = x` without metamethods.
    pub(super) fn raw_set(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: (IrRef, Value), value: (IrRef, Value)) -> Rec<()> {
        let place = self.check_key(vm, t, table, key)?;
        self.store(vm, (t, table), key, &place, value)
    }
    fn check_key(&mut self, vm: &Vm, t: Gc<Table>, table: IrRef, key: (IrRef, Value)) -> Rec<KeySlot> {
        if key.1.is_nil() || key.1.as_number().is_some_and(f64::is_nan) {
            return Err(Abort::NilOrNanKey);
        }
        let place = self.lookup(vm, t, table, key)?;
        if place.slot.is_none() && self.ty(place.key) == Ty::Num {
            // It must not be a NaN when the trace runs.
            self.b.emit(Op::EQ, Ty::Num, place.key, place.key)?;
        }
        Ok(place)
    }
    /// The barrier for a store under `key`; `value` is what was stored, if it is collectable. Tables with constant keys are small: one barrier
    /// serves all stores to them.
    pub(super) fn table_barrier(&mut self, table: IrRef, key: IrRef, value: Option<IrRef>, with_key: bool) -> Rec<()> {
        if key.is_const() {
            if with_key || value.is_some() {
                self.b.emit(Op::TBAR, Ty::Nil, table, IrRef::NIL)?;
            }
            return Ok(());
        }
        for stored in with_key.then_some(key).into_iter().chain(value) {
            self.b.emit(Op::TBAR, Ty::Nil, table, stored)?;
        }
        Ok(())
    }
    fn store(
        &mut self,
        vm: &Vm,
        (t, table): (Gc<Table>, IrRef),
        key: (IrRef, Value),
        place: &KeySlot,
        value: (IrRef, Value),
    ) -> Rec<()> {
        let (r, v) = value;
        let ty = self.ty(r);
        if place.slot.is_none() && v.is_nil() {
            return Ok(());
        }
        if !place.array || place.slot.is_none() {
            self.check_writable(vm, t, table)?;
        }
        self.check_store(vm, t, table, key, place)?;
        let (slot, op) = match place.slot {
            Some(slot) => (slot, if place.array { Op::ASTORE } else { Op::HSTORE }),
            None => {
                // The table may grow.
                self.gc_step()?;
                let ins = Ins::new(Op::NEWREF, Ty::P64, table, place.key);
                (self.b.emit_ins(if vm.is_interruptible() { ins.guarded() } else { ins })?, Op::HSTORE)
            }
        };
        self.b.emit(op, ty, slot, r)?;
        // A slot that held nil did not keep its key alive, unless that is a string, and it may hold nil when the trace runs: the key needs a
        // barrier. (NEWREF has its own.)
        let key_ty = self.ty(place.key);
        let revives = place.slot.is_some() && !v.is_nil() && key_ty.is_gc() && key_ty != Ty::Str;
        if !is_injected(Fault::NoBarrier) {
            self.table_barrier(table, place.key, ty.is_gc().then_some(r), revives)?;
        }
        if let Some(s) = key.1.as_str()
            && (!place.key.is_const() || s.bytes().starts_with(b"__"))
        {
            // The table may be a metatable whose negative metamethod cache says that this method is absent.
            let nomm = self.b.emit(Op::FREF, Ty::P64, table, IrRef(Field::TabNomm as u16))?;
            let zero = self.b.kint(0);
            self.b.emit(Op::FSTORE, Ty::U8, nomm, zero)?;
        }
        self.snaps.needed = true;
        Ok(())
    }
}

/// Is the value of a key, which `__index` leads to, one of many closures of its prototype? A program that makes its methods anew makes the
/// classes anew that hold them.
fn is_method_made_anew(vm: &Vm, object: Value, key: Value) -> bool {
    let Some(name) = vm.realm.meta_names[MM::Index as usize] else { return false };
    let mut v = object;
    for depth in 0..MAX_CHAIN {
        let Some(t) = v.as_table() else { return false };
        let found = t.get(key);
        if !found.is_nil() {
            let proto = found.as_func().and_then(|f| f.proto());
            return depth > 0 && proto.is_some_and(|p| p.has_many_closures());
        }
        let Some(meta) = t.meta.get() else { return false };
        v = meta.get_str(name);
    }
    false
}
