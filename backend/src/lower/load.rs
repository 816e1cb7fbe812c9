//! Loads of boxed values with their type checks.

use super::value::{INT_HIGH, MEM, repr};
use super::{Lower, Res, known};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use perilune_recorder::ir::{Const, Ins, IrRef, Op, Snapshot, Ty, sload};
use perilune_vm::value as v;

/// How a load checks the tag in memory.
#[derive(Copy, Clone)]
pub(super) struct Check {
    /// Leave when the type is a different one.
    guard: bool,
    /// Accept the other number representation and convert it.
    convert: bool,
}

impl Lower<'_> {
    /// SLOAD.
    pub(super) fn sload(&mut self, ins: Ins) -> Res<Option<Value>> {
        let (slot, flags) = (ins.a.slot(), ins.b.0);
        let guard = ins.is_guard() || flags & sload::TYPECHECK != 0;
        let at = self.slot_offset(slot);
        if let Some(known) = known::find(&self.cur.known, at, ins.ty) {
            return Ok(Some(self.as_type(known, ins.ty)));
        }
        if self.is_taken_apart(slot, ins.ty) {
            // Only what is in the object is used.
            return Ok(Some(self.k64(0)));
        }
        if flags & sload::KEYINDEX != 0 {
            // A bare index without a tag.
            return Ok(Some(self.pos.ins().load(types::I32, MEM, self.cur.base, at)));
        }
        let convert = flags & sload::CONVERT != 0 || (guard && ins.ty == Ty::Num);
        self.boxed_load(self.cur.base, at, ins.ty, Check { guard, convert })
    }

    /// Lowers instruction `i` together with the one after it, if they load an object and check that it is a certain object, which implies
    /// its type.
    pub(super) fn checked_load(&mut self, i: usize) -> Res<bool> {
        let trace = self.cur.trace;
        let (ins, Some(&check)) = (trace.ins[i], trace.ins.get(i + 1)) else { return Ok(false) };
        let loaded = |r: IrRef| !r.is_const() && r.ins_index() == i;
        let is_check = check.op == Op::EQ && check.is_guard() && loaded(check.a) && check.b.is_const();
        let seen = |s: &Snapshot| s.at.ins_index() == i + 1 && s.slots.iter().any(|slot| loaded(slot.value));
        if !is_check || ins.ty.tag().is_none() || self.known_content(ins).is_some() || trace.snaps.iter().any(seen) {
            return Ok(false);
        }
        let (addr, at) = match ins.op {
            Op::SLOAD if self.cur.known.iter().all(|k| k.at != self.slot_offset(ins.a.slot())) => {
                (self.cur.base, self.slot_offset(ins.a.slot()))
            }
            Op::ALOAD | Op::HLOAD | Op::ULOAD => (self.word(ins.a)?, 0),
            _ => return Ok(false),
        };
        let Const::Gc(object) = self.konst(check.b)? else { return Ok(false) };
        let word = self.pos.ins().load(types::I64, MEM, addr, at);
        let expected = self.k64(object.bits());
        let same = self.pos.ins().icmp(IntCC::Equal, word, expected);
        (self.cur.emitting, self.cur.checked) = (i + 1, Some((addr, at)));
        self.guard(same)?;
        self.cur.checked = None;
        self.cur.values[i] = self.k64(object.payload()).into();
        Ok(true)
    }

    /// ALOAD, HLOAD, ULOAD, VLOAD.
    pub(super) fn value_load(&mut self, ins: Ins, at: i32) -> Res<Option<Value>> {
        let addr = self.word(ins.a)?;
        self.boxed_load(addr, at, ins.ty, Check { guard: ins.is_guard(), convert: ins.ty == Ty::Num })
    }

    /// Loads a boxed value as an unboxed one of type `ty`.
    fn boxed_load(&mut self, addr: Value, at: i32, ty: Ty, check: Check) -> Res<Option<Value>> {
        self.cur.checked = Some((addr, at));
        if let Some(word) = ty.pri_value().map(|v| v.bits()) {
            if check.guard {
                // The upper half of a word tells an int from all other values.
                let high = self.load_high(addr, at);
                let ok = self.is32(IntCC::Equal, high, (word >> 32) as i32);
                self.guard(ok)?;
            }
            return Ok(None);
        }
        let value = if let Some(tag) = ty.tag() {
            self.load_pointer(addr, at, tag << v::PAYLOAD_BITS, check.guard)?
        } else if ty == Ty::Num {
            self.load_num(addr, at, check)?
        } else if ty.is_int() {
            self.load_int(addr, at, check)?
        } else {
            self.pos.ins().load(types::I64, MEM, addr, at)
        };
        debug_assert_eq!(repr(ty), Some(self.pos.func.dfg.value_type(value)));
        Ok(Some(value))
    }

    fn load_high(&mut self, addr: Value, at: i32) -> Value {
        self.pos.ins().load(types::I32, MEM, addr, at + 4)
    }

    /// Removes the expected tag; the rest is a payload if the tag was right.
    fn load_pointer(&mut self, addr: Value, at: i32, tag: u64, guard: bool) -> Res<Value> {
        let word = self.pos.ins().load(types::I64, MEM, addr, at);
        if !guard {
            let mask = self.k64(v::PAYLOAD_MASK);
            return Ok(self.pos.ins().band(word, mask));
        }
        let tag = self.k64(tag);
        let payload = self.pos.ins().bxor(word, tag);
        let end = self.k64(v::PAYLOAD_MASK + 1);
        let ok = self.pos.ins().icmp(IntCC::UnsignedLessThan, payload, end);
        self.guard(ok)?;
        Ok(payload)
    }

    fn load_num(&mut self, addr: Value, at: i32, check: Check) -> Res<Value> {
        let value = self.pos.ins().load(types::F64, MEM, addr, at);
        if !check.convert {
            if check.guard {
                let high = self.load_high(addr, at);
                let ok = self.is32(IntCC::UnsignedLessThan, high, INT_HIGH);
                self.guard(ok)?;
            }
            return Ok(value);
        }
        let high = self.load_high(addr, at);
        let ok = self.is32(IntCC::UnsignedLessThan, high, INT_HIGH);
        let (next, cold) = (self.block(), self.cold_block());
        let result = self.block_param(next, types::F64);
        self.pos.ins().brif(ok, next, &[value.into()], cold, &[]);
        self.enter(cold);
        let int = self.pos.ins().load(types::I32, MEM, addr, at);
        let num = self.pos.ins().fcvt_from_sint(types::F64, int);
        if check.guard {
            let (ok, exit) = (self.is_int_high(high), self.exit()?);
            self.pos.ins().brif(ok, next, &[num.into()], exit, &[]);
        } else {
            self.jump(next, &[num]);
        }
        self.enter(next);
        Ok(result)
    }

    fn load_int(&mut self, addr: Value, at: i32, check: Check) -> Res<Value> {
        if !check.guard {
            return Ok(self.pos.ins().load(types::I32, MEM, addr, at));
        }
        let high = self.load_high(addr, at);
        let ok = self.is_int_high(high);
        if !check.convert {
            self.guard(ok)?;
            return Ok(self.pos.ins().load(types::I32, MEM, addr, at));
        }
        let int = self.pos.ins().load(types::I32, MEM, addr, at);
        let (next, cold) = (self.block(), self.cold_block());
        let result = self.block_param(next, types::I32);
        self.pos.ins().brif(ok, next, &[int.into()], cold, &[]);
        self.enter(cold);
        let ok = self.is32(IntCC::UnsignedLessThan, high, INT_HIGH);
        self.guard_cold(ok)?;
        let num = self.pos.ins().load(types::F64, MEM, addr, at);
        let (int, ok) = self.exact_int(num, true);
        self.guard_cold(ok)?;
        self.jump(next, &[int]);
        self.enter(next);
        Ok(result)
    }

    /// A guard on a path that is cold itself.
    pub(super) fn guard_cold(&mut self, cond: Value) -> Res<()> {
        self.guard(cond)?;
        if let Some(block) = cranelift_codegen::cursor::Cursor::current_block(&self.pos) {
            self.pos.func.layout.set_cold(block);
        }
        Ok(())
    }

    /// A num as an int and whether that is exact; -0 counts as exact only if `!strict`.
    pub(super) fn exact_int(&mut self, num: Value, strict: bool) -> (Value, Value) {
        let int = self.pos.ins().fcvt_to_sint_sat(types::I32, num);
        let back = self.pos.ins().fcvt_from_sint(types::F64, int);
        let ok = if strict {
            let a = self.pos.ins().bitcast(types::I64, MemFlagsData::new(), num);
            let b = self.pos.ins().bitcast(types::I64, MemFlagsData::new(), back);
            self.pos.ins().icmp(IntCC::Equal, a, b)
        } else {
            self.pos.ins().fcmp(cranelift_codegen::ir::condcodes::FloatCC::Equal, num, back)
        };
        (int, ok)
    }
}
