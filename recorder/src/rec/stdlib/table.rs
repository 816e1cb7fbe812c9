//! The table library.

use super::{Args, Results};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::{Rec, Recorder};
use perilune_vm::Value;
use perilune_vm::object::hbits_for;
use perilune_vm::stdlib::Builtin;

impl Recorder {
    pub(super) fn lib_table(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        if b == Builtin::TableNew {
            return self.table_new(args);
        }
        let (table, v) = args.get(0);
        let Some(t) = v.as_table() else { return Ok(None) };
        match b {
            Builtin::TableInsert if args.len() == 2 || args.len() == 3 => {
                let k = t.len() as i32 + 1;
                if args.len() == 3 && !is_int(args.get(1).1, k) {
                    return Ok(None);
                }
                let len = self.b.emit(Op::ALEN, Ty::Int, table, IrRef::NIL)?;
                let one = self.b.kint(1);
                let key = self.b.emit(Op::ADD, Ty::Int, len, one)?;
                if args.len() == 3 {
                    self.guard_position(args.get(1), key)?;
                }
                self.raw_set(args.vm, t, table, (key, Value::int(k)), args.get(args.len() - 1))?;
                Ok(Some(Vec::new()))
            }
            Builtin::TableRemove if args.len() == 1 || args.len() == 2 => {
                if args.len() == 2 && (t.is_empty() || !is_int(args.get(1).1, t.len() as i32)) {
                    return Ok(None);
                }
                let len = self.b.emit(Op::ALEN, Ty::Int, table, IrRef::NIL)?;
                if args.len() == 2 {
                    self.guard_position(args.get(1), len)?;
                }
                let zero = self.b.kint(0);
                if t.is_empty() {
                    self.guard_int(len, 0)?;
                    return Ok(Some(Vec::new()));
                }
                self.b.emit(Op::NE, Ty::Int, len, zero)?;
                let key = (len, Value::int(t.len() as i32));
                let place = self.lookup(args.vm, t, table, key)?;
                let r = self.load(&place, t.get(key.1))?;
                self.raw_set(args.vm, t, table, key, (IrRef::NIL, Value::NIL))?;
                Ok(Some(vec![r]))
            }
            Builtin::TableGetn => {
                let len = self.b.emit(Op::ALEN, Ty::Int, table, IrRef::NIL)?;
                Ok(Some(vec![len]))
            }
            _ => Ok(None),
        }
    }
    /// The position given to `insert` or `remove` is at the end of the list.
    fn guard_position(&mut self, (r, v): (IrRef, Value), end: IrRef) -> Rec<()> {
        let (pos, _) = self.to_int(r, v)?;
        if pos != end {
            self.b.emit(Op::EQ, Ty::Int, pos, end)?;
        }
        Ok(())
    }
    /// `table.new` with constant sizes that fit the operands of TNEW.
    fn table_new(&mut self, args: &Args<'_>) -> Results {
        if args.len() < 2 {
            return Ok(None);
        }
        let ((ra, va), (rh, vh)) = (args.get(0), args.get(1));
        let ((ra, array), (rh, hash)) = (self.to_int(ra, va)?, self.to_int(rh, vh)?);
        // Negative sizes are errors.
        if !(0..i32::from(u16::MAX)).contains(&array) || !(0..=i32::from(u16::MAX)).contains(&hash) {
            return Ok(None);
        }
        self.guard_int(ra, array)?;
        self.guard_int(rh, hash)?;
        // Slot 0 is part of the array.
        let asize = if array == 0 { 0 } else { array as u16 + 1 };
        self.gc_step()?;
        let hbits = hbits_for(hash as u32) as u16;
        Ok(Some(vec![self.b.emit(Op::TNEW, Ty::Tab, IrRef(asize), IrRef(hbits))?]))
    }
}

/// Is a value the integer `k`?
fn is_int(v: Value, k: i32) -> bool {
    v.as_number() == Some(f64::from(k))
}
