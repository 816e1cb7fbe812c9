//! Addresses, loads and stores.

use super::value::MEM;
use super::{Lower, Res};
use crate::BackendError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use perilune_recorder::ir::{Const, Ins, IrRef, Op, Ty};
use perilune_vm::helper::Helper;
use perilune_vm::layout::{Field, ofs};

impl Lower<'_> {
    /// AREF to SREF: an address.
    pub(super) fn reference(&mut self, ins: Ins) -> Res<Value> {
        match ins.op {
            Op::AREF => self.array_slot(ins),
            Op::HREFK => self.hash_slot(ins),
            Op::HREF => self.lookup(ins),
            Op::NEWREF => {
                let (table, key) = (self.word(ins.a)?, self.boxed(ins.b)?);
                if !ins.is_guard() {
                    return self.call_word(Helper::TabNewKey, &[table, key]);
                }
                let slot = self.call_word(Helper::TabTryNewKey, &[table, key])?;
                self.guard(slot)?;
                Ok(slot)
            }
            Op::UREFO | Op::UREFC => self.upvalue(ins),
            Op::FREF => {
                let object = self.word(ins.a)?;
                let field = self.field(ins)?;
                Ok(self.offset(object, field.offset() as i64))
            }
            Op::STRREF => {
                let string = self.word(ins.a)?;
                let data = self.offset(string, ofs::STR_DATA as i64);
                self.indexed(data, ins.b, 0)
            }
            Op::LREF => Ok(self.vm_field(ofs::VM_CUR)),
            Op::SREF => Ok(self.slot_address(ins.a.slot())),
            _ => Err(BackendError::Unsupported(ins.op)),
        }
    }

    /// `base + (index << shift)`; indices are not negative.
    fn indexed(&mut self, base: Value, index: IrRef, shift: i64) -> Res<Value> {
        if index.is_const()
            && let Const::Int(k) = self.konst(index)?
        {
            return Ok(self.offset(base, i64::from(k) << shift));
        }
        let index = self.int(index)?;
        let mut wide = self.pos.ins().uextend(types::I64, index);
        if shift != 0 {
            wide = self.pos.ins().ishl_imm_u(wide, shift);
        }
        Ok(self.pos.ins().iadd(base, wide))
    }

    fn array_slot(&mut self, ins: Ins) -> Res<Value> {
        let array = self.word(ins.a)?;
        self.indexed(array, ins.b, 3)
    }

    fn hash_slot(&mut self, ins: Ins) -> Res<Value> {
        if !ins.b.is_const() {
            return Err(self.bad("HREFK without KSLOT"));
        }
        let Const::Slot(key, index) = self.konst(ins.b)? else { return Err(self.bad("HREFK without KSLOT")) };
        let nodes = self.word(ins.a)?;
        let node = index as usize * ofs::NODE_SIZE;
        if !ins.is_guard() {
            return Ok(self.offset(nodes, (node + ofs::NODE_VAL) as i64));
        }
        let found = self.pos.ins().load(types::I64, MEM, nodes, (node + ofs::NODE_KEY) as i32);
        let key = self.boxed(key)?;
        let same = self.pos.ins().icmp(IntCC::Equal, found, key);
        self.guard(same)?;
        Ok(self.offset(nodes, (node + ofs::NODE_VAL) as i64))
    }

    fn lookup(&mut self, ins: Ins) -> Res<Value> {
        let ty = self.ty(ins.b)?;
        if !self.cur.rebuilding && self.walks(self.cur.emitting)? {
            return self.lookup_in_chain(ins);
        }
        let table = self.word(ins.a)?;
        match ty {
            Ty::Str => {
                let key = self.word(ins.b)?;
                self.call_word(Helper::TabGetStr, &[table, key])
            }
            Ty::Int => {
                let key = self.int(ins.b)?;
                self.call_word(Helper::TabGetInt, &[table, key])
            }
            _ => {
                let key = self.boxed(ins.b)?;
                self.call_word(Helper::TabGet, &[table, key])
            }
        }
    }

    /// UREFO, UREFC.
    fn upvalue(&mut self, ins: Ins) -> Res<Value> {
        let function = self.word(ins.a)?;
        let at = ofs::FUNC_UPVALUES + usize::from(ins.b.0 >> 8) * 8;
        let upvalue = self.pos.ins().load(types::I64, MEM, function, at as i32);
        let closed = self.pos.ins().uload8(types::I32, MEM, upvalue, ofs::UPVAL_CLOSED as i32);
        if ins.op == Op::UREFO {
            if ins.is_guard() {
                self.guard_not(closed)?;
            }
            Ok(self.pos.ins().load(types::I64, MEM, upvalue, ofs::UPVAL_V as i32))
        } else {
            if ins.is_guard() {
                self.guard(closed)?;
            }
            Ok(self.offset(upvalue, ofs::UPVAL_TV as i64))
        }
    }

    /// The field named by operand 2.
    fn field(&self, ins: Ins) -> Res<Field> {
        Field::ALL.get(usize::from(ins.b.0)).copied().ok_or(self.bad("no such field"))
    }

    /// SLOAD, ALOAD, HLOAD, ULOAD, VLOAD, FLOAD, XLOAD, ALEN.
    pub(super) fn load(&mut self, ins: Ins) -> Res<Option<Value>> {
        if let Some(value) = self.known_content(ins) {
            return Ok(Some(value));
        }
        match ins.op {
            Op::SLOAD => self.sload(ins),
            Op::ALOAD | Op::HLOAD | Op::ULOAD => self.value_load(ins, 0),
            Op::VLOAD => self.value_load(ins, i32::from(ins.b.0) * 8),
            Op::FLOAD => {
                let at = self.field(ins)?.offset() as i32;
                self.raw_load(ins, at).map(Some)
            }
            Op::XLOAD => self.raw_load(ins, 0).map(Some),
            Op::ALEN => {
                let table = self.word(ins.a)?;
                self.call_helper(if ins.b == IrRef::NIL { Helper::TabLen } else { Helper::TabLenNext }, &[table])
            }
            _ => Err(BackendError::Unsupported(ins.op)),
        }
    }

    fn raw_load(&mut self, ins: Ins, at: i32) -> Res<Value> {
        let addr = self.word(ins.a)?;
        let i = self.pos.ins();
        Ok(match ins.ty {
            Ty::I8 => i.sload8(types::I32, MEM, addr, at),
            Ty::U8 => i.uload8(types::I32, MEM, addr, at),
            Ty::I16 => i.sload16(types::I32, MEM, addr, at),
            Ty::U16 => i.uload16(types::I32, MEM, addr, at),
            Ty::Int | Ty::U32 => i.load(types::I32, MEM, addr, at),
            Ty::Num => i.load(types::F64, MEM, addr, at),
            Ty::Float => i.load(types::F32, MEM, addr, at),
            Ty::Nil | Ty::False | Ty::True => return Err(self.bad("raw load of a primitive")),
            _ => i.load(types::I64, MEM, addr, at),
        })
    }

    /// ASTORE to XSTORE.
    pub(super) fn store(&mut self, ins: Ins) -> Res<()> {
        let addr = self.word(ins.a)?;
        if !matches!(ins.op, Op::FSTORE | Op::XSTORE) {
            return self.store_boxed(ins.b, addr, 0);
        }
        if let Some((bits, ty)) = self.stored_bits(ins)? {
            let value = self.pos.ins().iconst(ty, bits);
            self.pos.ins().store(MEM, value, addr, 0);
            return Ok(());
        }
        let value = self.val(ins.b)?;
        let is_int = self.pos.func.dfg.value_type(value) == types::I32;
        let i = self.pos.ins();
        match ins.ty {
            Ty::I8 | Ty::U8 if is_int => i.istore8(MEM, value, addr, 0),
            Ty::I16 | Ty::U16 if is_int => i.istore16(MEM, value, addr, 0),
            Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 => return Err(self.bad("narrow store of a wide value")),
            _ => i.store(MEM, value, addr, 0),
        };
        Ok(())
    }

    /// The bits that a store of a constant number writes, as an integer of their size: x86 has stores of constants of up to 32 bits, and takes
    /// one instruction less for an integer of 64 bits than for a double.
    fn stored_bits(&self, ins: Ins) -> Res<Option<(i64, Type)>> {
        if !ins.b.is_const() {
            return Ok(None);
        }
        Ok(match (self.konst(ins.b)?, ins.ty) {
            (Const::Int(k), Ty::I8 | Ty::U8) => Some((i64::from(k as u8), types::I8)),
            (Const::Int(k), Ty::I16 | Ty::U16) => Some((i64::from(k as u16), types::I16)),
            (Const::Num(bits), Ty::Num) => Some((bits as i64, types::I64)),
            _ => None,
        })
    }
}
