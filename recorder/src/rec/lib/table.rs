//! The table library.

use super::{Args, Results};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::Recorder;
use perilune_vm::Value;
use perilune_vm::lib::Builtin;

impl Recorder {
    pub(super) fn lib_table(&mut self, b: Builtin, args: &Args<'_>) -> Results {
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
}
