//! Lookups of keys that are objects, strings above all, or ints: the walk along the chain of nodes, inline. An int is looked up after a guard has found
//! that it is no index of the array part. (Where a num has turned out to be an int, no guard has.)
//!
//! Most lookups are followed by a comparison that says whether the key was found. The comparison is lowered together with the walk, which
//! branches to the exit instead of computing an address to compare.

use super::value::MEM;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use perilune_recorder::ir::{Const, Ins, IrRef, Op, Ty, VmRef};
use perilune_vm::layout::{Field, ofs};
use perilune_vm::object::table::{MULTIPLIER, hash_int};

impl Lower<'_> {
    /// Lowers instruction `i` together with the one after it, if they are a lookup and the check of what it found.
    pub(super) fn checked_lookup(&mut self, i: usize) -> Res<bool> {
        let ins = self.cur.trace.ins[i];
        let Some(&check) = self.cur.trace.ins.get(i + 1) else { return Ok(false) };
        let same = |r: IrRef| !r.is_const() && r.ins_index() == i;
        let is_check = matches!(check.op, Op::EQ | Op::NE) && same(check.a) && self.is_nil_slot(check.b);
        if ins.op != Op::HREF || !is_check || !self.walks(i)? {
            return Ok(false);
        }
        self.advance_snapshot(i + 1);
        self.cur.emitting = i + 1;
        let exit = self.exit()?;
        let next = self.block();
        let node = if check.op == Op::EQ { self.walk(ins, exit, next)? } else { self.walk(ins, next, exit)? };
        self.enter(next);
        let slot = if check.op == Op::EQ { self.nil_slot() } else { self.offset(node, ofs::NODE_VAL as i64) };
        self.cur.values[i] = slot.into();
        Ok(true)
    }

    /// HREF of a key that is an object or an int: the address of its value, or of the VM's nil.
    pub(super) fn lookup_in_chain(&mut self, ins: Ins) -> Res<Value> {
        let (found, missing, done) = (self.block(), self.block(), self.block());
        let node = self.walk(ins, found, missing)?;
        self.enter(found);
        let slot = self.offset(node, ofs::NODE_VAL as i64);
        self.jump(done, &[slot]);
        self.enter(missing);
        let slot = self.nil_slot();
        self.jump(done, &[slot]);
        self.enter(done);
        Ok(self.block_param(done, types::I64))
    }

    fn is_nil_slot(&self, r: IrRef) -> bool {
        r.is_const() && matches!(self.konst(r), Ok(Const::Vm(VmRef::NilSlot)))
    }
    fn nil_slot(&mut self) -> Value {
        self.offset(self.vm, ofs::VM_NIL_SLOT as i64)
    }

    /// Follows the chain of a key to block `found` or `missing`; the node, when it was found.
    fn walk(&mut self, ins: Ins, found: Block, missing: Block) -> Res<Value> {
        let table = self.word(ins.a)?;
        let key = self.boxed(ins.b)?;
        let first = self.main_node(table, ins.b, key)?;
        let (head, on) = (self.block(), self.block());
        self.jump(head, &[first]);
        self.enter(head);
        let node = self.block_param(head, types::I64);
        let there = self.pos.ins().load(types::I64, MEM, node, ofs::NODE_KEY as i32);
        let same = self.pos.ins().icmp(IntCC::Equal, there, key);
        self.pos.ins().brif(same, found, &[], on, &[]);
        self.enter(on);
        let next = self.pos.ins().load(types::I64, MEM, node, ofs::NODE_NEXT as i32);
        self.pos.ins().brif(next, head, &[next.into()], missing, &[]);
        Ok(node)
    }

    /// The node where a key is looked for first; `word` is the key as a value.
    fn main_node(&mut self, table: Value, key: IrRef, word: Value) -> Res<Value> {
        let mask = self.pos.ins().load(types::I32, MEM, table, Field::TabHmask.offset() as i32);
        let ty = self.ty(key)?;
        let constant = if key.is_const() { self.konst(key)? } else { Const::Null(ty) };
        let hash = match constant {
            Const::Gc(v) => self.k32((self.req.key_hash)(v) as i32),
            Const::Int(k) => self.k32(hash_int(k) as i32),
            _ if ty == Ty::Str => {
                let string = self.word(key)?;
                self.pos.ins().load(types::I32, MEM, string, ofs::STR_HASH as i32)
            }
            _ if ty == Ty::Int => {
                let key = self.int(key)?;
                let bits = self.pos.ins().uextend(types::I64, key);
                self.mix(bits)
            }
            _ => {
                let upper = self.pos.ins().ushr_imm_u(word, 32);
                let bits = self.pos.ins().bxor(word, upper);
                self.mix(bits)
            }
        };
        let index = self.pos.ins().band(mask, hash);
        let index = self.pos.ins().uextend(types::I64, index);
        let at = self.pos.ins().imul_imm_s(index, ofs::NODE_SIZE as i64);
        let nodes = self.pos.ins().load(types::I64, MEM, table, Field::TabNode.offset() as i32);
        Ok(self.pos.ins().iadd(nodes, at))
    }
    /// The hash of bits of a key, as the table computes it.
    fn mix(&mut self, bits: Value) -> Value {
        let multiplier = self.k64(MULTIPLIER);
        let product = self.pos.ins().imul(bits, multiplier);
        let hash = self.pos.ins().ushr_imm_u(product, 32);
        self.pos.ins().ireduce(types::I32, hash)
    }

    /// Is the key of the HREF `i` looked up inline?
    pub(super) fn walks(&self, i: usize) -> Res<bool> {
        let ty = self.ty(self.cur.trace.ins[i].b)?;
        Ok(ty.is_gc() || ty == Ty::Int && self.is_no_index(i))
    }
    /// Does the guard in front of the HREF `i` say that its key is no index of the array part?
    fn is_no_index(&self, i: usize) -> bool {
        let (ins, all) = (self.cur.trace.ins[i], &self.cur.trace.ins);
        let is_size = |r: IrRef| {
            let def = (!r.is_const()).then(|| all[r.ins_index()]);
            def.is_some_and(|d| d.op == Op::FLOAD && d.a == ins.a && d.b.0 == Field::TabAsize as u16)
        };
        let before = all[..i].last().filter(|g| g.is_guard());
        before.is_some_and(|g| match g.op {
            Op::ULE => is_size(g.a) && g.b == ins.b,
            Op::UGE => is_size(g.b) && g.a == ins.b,
            _ => false,
        })
    }
}
