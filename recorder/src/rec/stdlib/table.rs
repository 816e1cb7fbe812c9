//! The table library.

use super::{Args, Results};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::Recorder;
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
            Builtin::TableInsert if args.len() == 2 => {
                let len = self.b.emit(Op::ALEN, Ty::Int, table, IrRef::NIL)?;
                let one = self.b.kint(1);
                let key = self.b.emit(Op::ADD, Ty::Int, len, one)?;
                let k = Value::int(t.len() as i32 + 1);
                self.raw_set(args.vm, t, table, (key, k), args.get(1))?;
                Ok(Some(Vec::new()))
            }
            Builtin::TableRemove if args.len() == 1 => {
                let len = self.b.emit(Op::ALEN, Ty::Int, table, IrRef::NIL)?;
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
