//! The base library.

use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty, VmRef, conv};
use crate::rec::{Rec, Recorder};
use perilune_vm::Value;
use perilune_vm::layout::Field;
use perilune_vm::meta::MM;
use perilune_vm::stdlib::Builtin;

impl Recorder {
    pub(super) fn lib_base(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        if args.len() == 0 {
            return Ok(None);
        }
        let (r, v) = args.get(0);
        match b {
            Builtin::Assert if v.truthy() => Ok(Some(args.list.iter().map(|a| a.0).collect())),
            Builtin::Type => {
                let Some(name) = args.f.native_upvalues().get(v.type_index()) else { return Ok(None) };
                one(self.b.kgc(name.get()))
            }
            Builtin::Pairs | Builtin::Ipairs if v.is_table() => {
                let Some(iterator) = args.f.native_upvalues().first() else { return Ok(None) };
                let f = self.b.kgc(iterator.get());
                let start = if b == Builtin::Pairs { IrRef::NIL } else { self.b.kint(0) };
                Ok(Some(vec![f, r, start]))
            }
            Builtin::IpairsAux => self.ipairs_aux(args),
            Builtin::Rawget if args.len() >= 2 => {
                let (Some(t), key) = (v.as_table(), args.get(1)) else { return Ok(None) };
                if key.1.is_nil() || key.1.as_number().is_some_and(f64::is_nan) {
                    return Ok(None);
                }
                one(self.raw_get(args.vm, t, r, key)?)
            }
            Builtin::Rawset if args.len() >= 3 => {
                let Some(t) = v.as_table() else { return Ok(None) };
                self.raw_set(args.vm, t, r, args.get(1), args.get(2))?;
                one(r)
            }
            Builtin::Rawequal if args.len() >= 2 => self.rawequal(args),
            Builtin::Tonumber if args.len() == 1 && v.is_number() => one(r),
            Builtin::Tonumber if args.len() == 1 && v.is_cdata() => one(self.cdata_to_number(args.vm, (r, v))?),
            Builtin::Tonumber if args.len() == 1 && v.is_str() => {
                let Some(n) = perilune_vm::meta::to_number(v) else { return Ok(None) };
                let r = self.b.guard(Op::STRTO, Ty::Num, r, IrRef::NONE)?;
                match self.feedback.load_type(n) {
                    Ty::Int => one(self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK))?),
                    _ => one(r),
                }
            }
            Builtin::Tostring if v.is_str() => one(r),
            Builtin::Tostring if args.len() > 0 && self.ty(r).is_pri() && args.vm.metatable_of(v).is_none() => {
                match args.vm.realm.pri_names.get(v.type_index()) {
                    Some(Some(name)) => one(self.b.kgc(Value::str(*name))),
                    _ => Ok(None),
                }
            }
            Builtin::Tostring if v.is_number() && args.vm.metatable_of(v).is_none() => {
                self.gc_step()?;
                one(self.to_str(r, v)?)
            }
            Builtin::Select => self.select(args),
            Builtin::Next => self.first_entry(args),
            Builtin::Unpack => self.unpack(args),
            Builtin::Getmetatable => self.getmetatable(args),
            Builtin::Setmetatable => self.setmetatable(args),
            _ => Ok(None),
        }
    }

    fn ipairs_aux(&mut self, args: &Args<'_>) -> Results {
        let (r, v) = args.get(0);
        let (Some(t), (i, k)) = (v.as_table(), args.get(1)) else { return Ok(None) };
        let (Some(n), true) = (k.as_int(), self.ty(i).is_int()) else { return Ok(None) };
        let Some(n) = n.checked_add(1) else { return Ok(None) };
        let step = self.b.kint(1);
        let key = self.b.emit(Op::ADD, Ty::Int, i, step)?;
        let value = self.raw_get(args.vm, t, r, (key, Value::int(n)))?;
        if t.get_int(n).is_nil() {
            return Ok(Some(Vec::new()));
        }
        Ok(Some(vec![key, value]))
    }

    /// `next(t)`: whether a table is empty, or any entry.
    fn first_entry(&mut self, args: &Args<'_>) -> Results {
        let ((table, v), key) = (args.get(0), args.get(1).1);
        let Some(t) = v.as_table().filter(|_| key.is_nil()) else { return Ok(None) };
        let start = self.b.kint(0);
        let scratch = self.b.kvm(VmRef::Scratch);
        let Some((_, [key, value])) = self.entry_from(t, table, (start, 0), scratch)? else { return one(IrRef::NIL) };
        let mut results = vec![self.entry_part(0, key)?];
        if args.want != 2 {
            results.push(self.entry_part(1, value)?);
        }
        Ok(Some(results))
    }

    fn rawequal(&mut self, args: &Args<'_>) -> Results {
        let ((x, vx), (y, vy)) = (args.get(0), args.get(1));
        let (tx, ty) = (self.ty(x), self.ty(y));
        let yes = vx.raw_equals(vy);
        if tx.is_number() && ty.is_number() {
            let (x, y) = (self.to_num(x)?, self.to_num(y)?);
            self.b.emit(if yes { Op::EQ } else { Op::NE }, Ty::Num, x, y)?;
        } else if tx == ty && !tx.is_pri() {
            self.b.compare(if yes { Op::EQ } else { Op::NE }, x, y)?;
        }
        one(self.b.kvalue(Value::bool(yes)))
    }

    fn select(&mut self, args: &Args<'_>) -> Results {
        let (r, v) = args.get(0);
        let n = args.len() as i32;
        if let Some(s) = v.as_str() {
            if s.bytes() != b"#" {
                return Ok(None);
            }
            self.guard_is(r, v)?;
            return one(self.b.kint(n - 1));
        }
        let (r, i) = self.to_int(r, v)?;
        // From the end, if it is negative.
        let first = if i < 0 { n.saturating_add(i) } else { i };
        if first < 1 {
            return Ok(None);
        }
        self.guard_int(r, i)?;
        Ok(Some(args.list.iter().skip(first as usize).map(|a| a.0).collect()))
    }

    /// `unpack` of few elements: a guard fixes how many there are, and each is loaded, like a loop that is unrolled.
    fn unpack(&mut self, args: &Args<'_>) -> Results {
        let (table, v) = args.get(0);
        let Some(t) = v.as_table() else { return Ok(None) };
        let bound = |rec: &mut Recorder, (r, v): (IrRef, Value)| -> Rec<i32> {
            let (r, i) = rec.to_int(r, v)?;
            rec.guard_int(r, i)?;
            Ok(i)
        };
        let first = if args.get(1).1.is_nil() { 1 } else { bound(self, args.get(1))? };
        let last = if args.get(2).1.is_nil() {
            let (len, n) = (self.b.emit(Op::ALEN, Ty::Int, table, IrRef::NIL)?, t.len() as i32);
            self.guard_int(len, n)?;
            n
        } else {
            bound(self, args.get(2))?
        };
        if i64::from(last) - i64::from(first) >= i64::from(self.params.loopunroll) {
            return Ok(None);
        }
        let mut results = Vec::new();
        for i in first..=last {
            let key = (self.b.kint(i), Value::int(i));
            results.push(self.raw_get(args.vm, t, table, key)?);
        }
        Ok(Some(results))
    }

    fn getmetatable(&mut self, args: &Args<'_>) -> Results {
        let (r, v) = args.get(0);
        if v.as_udata().is_some() {
            return Ok(None);
        }
        let Some(t) = v.as_table() else {
            let Some(m) = Recorder::base_meta(args.vm, v) else { return one(IrRef::NIL) };
            let k = self.b.kgc(Value::table(m));
            return self.shown_metatable(args, m, k);
        };
        let meta = t.meta.get();
        let k = self.guard_meta(args.vm, r, t)?;
        let Some(m) = meta else { return one(IrRef::NIL) };
        self.shown_metatable(args, m, k)
    }
    /// What `getmetatable` makes of a metatable: its `__metatable`, if it has one.
    fn shown_metatable(&mut self, args: &Args<'_>, m: perilune_vm::object::Gc<perilune_vm::object::Table>, k: IrRef) -> Results {
        let Some(name) = args.vm.realm.meta_names[MM::Metatable as usize] else { return Ok(None) };
        let key = (self.b.kgc(Value::str(name)), Value::str(name));
        let protection = self.raw_get(args.vm, m, k, key)?;
        one(if m.get_str(name).is_nil() { k } else { protection })
    }

    fn setmetatable(&mut self, args: &Args<'_>) -> Results {
        let ((r, v), (mr, mv)) = (args.get(0), args.get(1));
        let (Some(t), Some(m)) = (v.as_table(), mv.as_table()) else { return Ok(None) };
        if t.meta.get().is_some() {
            return Ok(None);
        }
        // The collector looks at metatables itself, for finalizers and weakness.
        let _ = m;
        self.check_writable(args.vm, t, r)?;
        self.check_meta_store(args.vm, t, r)?;
        let old = self.field(r, Field::TabMeta)?;
        let null = self.b.knull(Ty::Tab);
        self.b.emit(Op::EQ, Ty::Tab, old, null)?;
        let fref = self.b.emit(Op::FREF, Ty::P64, r, IrRef(Field::TabMeta as u16))?;
        self.b.emit(Op::FSTORE, Ty::Tab, fref, mr)?;
        self.b.emit(Op::TBAR, Ty::Nil, r, IrRef::NIL)?;
        self.snaps.needed = true;
        one(r)
    }
}
