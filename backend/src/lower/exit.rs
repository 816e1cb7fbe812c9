//! Guards and the exits they leave through.
//!
//! All guards of one snapshot share a cold block that stores the modified slots, computes the base of the frame to resume and
//! jumps to the function's shared tail, which tail-calls through the exit table. Where a side trace is attached to the exit, the
//! side trace is lowered into that block instead.

use super::rotate::GuardBranch;
use super::value::{INT_HIGH, MEM};
use super::{Lower, Pending, Res};
use crate::exit_abi;
use crate::source_loc::{exit_location, side_location};
use cranelift_codegen::cursor::{Cursor, CursorPosition};
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, InstructionData, Value, types};
use perilune_recorder::ir::{Ins, IrRef, SlotIdx, SnapId, Snapshot, Trace};
use perilune_vm::layout::ofs;

impl<'a> Lower<'a> {
    /// Bytes from the base at the start of the trace to a stack slot of the current frame.
    pub(super) fn slot_offset(&self, slot: SlotIdx) -> i32 {
        slot.from_base() * 8 + self.cur.moved
    }
    /// The address of a stack slot.
    pub(super) fn slot_address(&mut self, slot: SlotIdx) -> Value {
        self.offset(self.cur.base, i64::from(self.slot_offset(slot)))
    }
    pub(super) fn block(&mut self) -> Block {
        let block = self.pos.func.dfg.make_block();
        self.pos.func.layout.append_block(block);
        block
    }
    /// A block off the hot path.
    pub(super) fn cold_block(&mut self) -> Block {
        let block = self.block();
        self.pos.func.layout.set_cold(block);
        block
    }
    pub(super) fn enter(&mut self, block: Block) {
        self.pos.set_position(CursorPosition::After(block));
    }
    pub(super) fn block_param(&mut self, block: Block, ty: types::Type) -> Value {
        self.pos.func.dfg.append_block_param(block, ty)
    }
    pub(super) fn jump(&mut self, to: Block, args: &[Value]) {
        let args: Vec<BlockArg> = args.iter().map(|&v| BlockArg::Value(v)).collect();
        self.pos.ins().jump(to, args.iter());
    }

    /// Continues where `cond` holds, leaves otherwise.
    pub(super) fn guard(&mut self, cond: Value) -> Res<()> {
        let (exit, next) = (self.exit()?, self.block());
        // Cranelift puts the second successor next, if it is not cold. The trace goes on next, not its side trace.
        let opposite = if self.pos.func.layout.is_cold(exit) { None } else { self.opposite(cond) };
        let branch = match opposite {
            Some(not) => self.pos.ins().brif(not, exit, &[], next, &[]),
            None => self.pos.ins().brif(cond, next, &[], exit, &[]),
        };
        self.cur.last_guard = Some(GuardBranch { branch, cond, continues: true, next, exit, snap: self.cur.snap, over: None });
        self.enter(next);
        Ok(())
    }
    /// The opposite of a comparison.
    pub(super) fn opposite(&mut self, cond: Value) -> Option<Value> {
        let ins = self.pos.func.dfg.value_def(cond).inst()?;
        match self.pos.func.dfg.insts[ins] {
            InstructionData::IntCompare { cond, args: [a, b], .. } => Some(self.pos.ins().icmp(cond.complement(), a, b)),
            InstructionData::FloatCompare { cond, args: [a, b], .. } => Some(self.pos.ins().fcmp(cond.complement(), a, b)),
            _ => None,
        }
    }
    /// Leaves where `cond` holds, continues otherwise.
    pub(super) fn guard_not(&mut self, cond: Value) -> Res<()> {
        let (exit, next) = (self.exit()?, self.block());
        let branch = self.pos.ins().brif(cond, exit, &[], next, &[]);
        self.cur.last_guard = Some(GuardBranch { branch, cond, continues: false, next, exit, snap: self.cur.snap, over: None });
        self.enter(next);
        Ok(())
    }
    /// Branches to a new block where `cond` holds, and to a cold block otherwise. Gives both.
    pub(super) fn split_cold(&mut self, cond: Value) -> (Block, Block) {
        let (next, cold) = (self.block(), self.cold_block());
        self.pos.ins().brif(cond, next, &[], cold, &[]);
        (next, cold)
    }
    /// Compares with a 32-bit constant.
    pub(super) fn is32(&mut self, cc: IntCC, value: Value, k: i32) -> Value {
        let k = self.k32(k);
        self.pos.ins().icmp(cc, value, k)
    }
    /// Is this upper half that of an integer?
    pub(super) fn is_int_high(&mut self, high: Value) -> Value {
        self.is32(IntCC::Equal, high, INT_HIGH)
    }

    /// The block that a guard of the snapshot in force leaves to.
    pub(super) fn exit(&mut self) -> Res<Block> {
        let guard = self.cur.emitting;
        let exit = self.exit_block()?;
        // Side traces that are lowered in place of an exit are not left.
        if self.req.notes_guards && self.pos.func.layout.is_cold(exit) { self.note_guard(guard, exit) } else { Ok(exit) }
    }
    /// The exit block of the snapshot in force.
    fn exit_block(&mut self) -> Res<Block> {
        if let Some(block) = self.cur.exit {
            return Ok(block);
        }
        let side = self.attach(self.cur.snap);
        let block = if side.is_some() { self.block() } else { self.cold_block() };
        let position = self.pos.position();
        self.enter(block);
        let place = self.pos.srcloc();
        if self.is_root() {
            self.pos.set_srcloc(exit_location(self.cur.snap));
        }
        self.emit_exit(self.cur.snap, side)?;
        self.pos.set_srcloc(place);
        self.pos.set_position(position);
        self.cur.exit = Some(block);
        Ok(block)
    }

    /// Index among the side traces of the one attached to an exit, which is lowered once: where the exit is emitted again, for another base,
    /// it leaves through the exit table.
    fn attach(&mut self, snap: SnapId) -> Option<usize> {
        let side = self.cur.tree.sides.iter().position(|(exit, _)| *exit == snap)?;
        if self.cur.starting || self.cur.attached.contains(&side) {
            return None;
        }
        self.cur.attached.push(side);
        Some(side)
    }
    /// Emits the exit of a snapshot: stores its slots, then jumps to the exit table or to the attached side trace.
    pub(super) fn emit_exit(&mut self, snap: SnapId, side: Option<usize>) -> Res<()> {
        let fuel = self.fuel_at(snap);
        match side {
            Some(side) => {
                let fuel = self.fuel_into_side(fuel);
                let taken = self.taken_apart(snap, &self.cur.tree.sides[side].1);
                let base = self.store_slots(snap, &taken, Lower::store_slot)?;
                let block = self.pos.current_block().ok_or(self.bad("exit outside of a block"))?;
                let mut known = self.known_at(snap)?;
                self.copy_nums_for(self.cur.tree.sides[side].1.trace, &mut known);
                let contents = self.contents_of(snap, self.cur.tree.sides[side].1.trace, &taken)?;
                self.forget_cold();
                self.pending.push(Pending { tree: &self.cur.tree.sides[side].1, block, base, known, contents, fuel });
            }
            None => {
                self.store_fuel(fuel);
                let base = self.restore_for_interpreter(snap)?;
                let n = u64::from(self.cur.tree.exit_base.exit(snap.number()).get());
                if self.cur.direct {
                    let mut args = Vec::new();
                    for (_, r) in exit_abi::values(self.cur.trace, snap) {
                        let value = self.val(r)?;
                        let is_num = self.pos.func.dfg.value_type(value) == types::F64;
                        args.push(if is_num { self.canonical(value) } else { value });
                    }
                    let table = self.vm_field(ofs::VM_EXIT_TABLE);
                    self.tail_call_entry(table, base, n, &args);
                } else {
                    let (id, shared) = (self.k64(n), self.shared());
                    self.jump(shared, &[base, id]);
                }
                self.forget_cold();
            }
        }
        Ok(())
    }

    /// Stores the modified slots of a snapshot; the base of the frame to resume.
    pub(super) fn restore(&mut self, number: SnapId) -> Res<Value> {
        self.store_slots(number, &[], Lower::store_slot)
    }
    /// SYNC.
    pub(super) fn synchronise(&mut self) -> Res<()> {
        let trace: &'a Trace = self.cur.trace;
        let snap: &'a Snapshot = trace.snaps.get(self.cur.snap.index()).ok_or(self.bad("no snapshot"))?;
        self.emit_cold_for(snap, &[])?;
        for slot in trace.synced(self.cur.snap) {
            self.store_slot(slot.value, self.slot_offset(slot.slot))?;
        }
        self.forget_cold();
        Ok(())
    }
    /// The same for an exit to the interpreter, which may leave values unboxed, as [`crate::unboxed`] says.
    pub(super) fn restore_for_interpreter(&mut self, number: SnapId) -> Res<Value> {
        self.store_slots(number, &[], if self.req.unboxed_exits { Lower::store_unboxed } else { Lower::store_slot })
    }
    /// Stores the modified slots with `store`, but not those that hold an object among `taken`, which are not made.
    fn store_slots(&mut self, number: SnapId, taken: &[IrRef], store: fn(&mut Self, IrRef, i32) -> Res<()>) -> Res<Value> {
        let trace: &'a Trace = self.cur.trace;
        let snap: &'a Snapshot = trace.snaps.get(number.index()).ok_or(self.bad("no snapshot"))?;
        let sunk = trace.sunk(number);
        self.emit_cold_for(snap, &sunk)?;
        let is_made = |r: &IrRef| !trace.sunk_table(r.ins_index()).is_some_and(|i| taken.contains(&IrRef::of_ins(i)));
        let made: Vec<IrRef> = sunk.into_iter().filter(is_made).collect();
        self.rebuild(&made)?;
        for slot in snap.restored().filter(|s| !taken.contains(&s.value)) {
            store(self, slot.value, self.slot_offset(slot.slot))?;
        }
        Ok(self.slot_address(snap.base_slot))
    }

    /// Makes and fills the tables that were sunk.
    fn rebuild(&mut self, sunk: &[IrRef]) -> Res<()> {
        self.cur.rebuilding = true;
        for r in sunk {
            self.instruction(r.ins_index())?;
            self.cur.cold.push(r.ins_index());
        }
        self.cur.rebuilding = false;
        Ok(())
    }

    /// Emits the cold instructions that this snapshot uses, for its slots or for sunk tables.
    fn emit_cold_for(&mut self, snap: &Snapshot, sunk: &[IrRef]) -> Res<()> {
        let mut work: Vec<usize> = Vec::new();
        let mut need: Vec<usize> = Vec::new();
        work.extend(snap.restored().filter(|s| self.is_cold(s.value)).map(|s| s.value.ins_index()));
        for r in sunk {
            let ins = self.cur.trace.ins[r.ins_index()];
            work.extend(ins.operands().filter(|&r| self.is_cold(r)).map(|r| r.ins_index()));
        }
        while let Some(i) = work.pop() {
            need.push(i);
            let ins = self.cur.trace.ins[i];
            work.extend(ins.operands().filter(|&r| self.is_cold(r)).map(|r| r.ins_index()));
        }
        need.sort_unstable();
        need.dedup();
        for i in need {
            self.instruction(i)?;
            self.cur.cold.push(i);
        }
        Ok(())
    }
    /// Values that were emitted in one exit cannot be used in others.
    pub(super) fn forget_cold(&mut self) {
        for i in self.cur.cold.drain(..) {
            self.cur.values[i] = None.into();
        }
    }

    /// The block at the end of the function that tail-calls through the exit table: parameters base and exit id.
    pub(super) fn shared(&mut self) -> Block {
        if let Some(block) = self.shared {
            return block;
        }
        let position = self.pos.position();
        let block = self.cold_block();
        let base = self.block_param(block, types::I64);
        let id = self.block_param(block, types::I64);
        self.enter(block);
        let place = self.pos.srcloc();
        self.pos.set_srcloc(side_location());
        let table = self.vm_field(ofs::VM_EXIT_TABLE);
        self.tail_call(table, base, id);
        self.pos.set_srcloc(place);
        self.pos.set_position(position);
        self.shared = Some(block);
        block
    }
    /// Tail-calls entry `n` of a table of code addresses.
    pub(super) fn tail_call(&mut self, table: Value, base: Value, n: Value) {
        let scaled = self.pos.ins().ishl_imm_u(n, 3);
        let entry = self.pos.ins().iadd(table, scaled);
        let code = self.pos.ins().load(types::I64, MEM, entry, 0);
        let sig = self.trace_sig(Vec::new());
        self.pos.ins().return_call_indirect(sig, code, &[self.vm, base, n]);
    }

    /// Tail-calls a known entry, with further arguments.
    pub(super) fn tail_call_entry(&mut self, table: Value, base: Value, n: u64, more: &[Value]) {
        let id = self.k64(n);
        let code = self.pos.ins().load(types::I64, MEM, table, n as i32 * 8);
        let more_types = more.iter().map(|&v| self.pos.func.dfg.value_type(v)).collect();
        let sig = self.trace_sig(more_types);
        let mut args = vec![self.vm, base, id];
        args.extend_from_slice(more);
        self.pos.ins().return_call_indirect(sig, code, &args);
    }

    /// Leaves through snapshot 0 when the frames of the trace do not fit the stack.
    pub(super) fn stack_check(&mut self) -> Res<()> {
        if !self.cur.trace.checks_stack() {
            return Ok(());
        }
        self.countdown(self.cur.trace.ins[0])?;
        let limit = self.vm_field(ofs::VM_CODE_STACK_LIMIT);
        let top = self.slot_address(SlotIdx::new(self.cur.trace.top_slot as usize));
        let over = self.pos.ins().icmp(IntCC::UnsignedGreaterThan, top, limit);
        self.guard_not(over)
    }

    /// Exit stress: leaves when the countdown is over.
    pub(super) fn countdown(&mut self, ins: Ins) -> Res<()> {
        if !ins.is_stressed() {
            return Ok(());
        }
        let at = ofs::VM_EXIT_COUNTDOWN as i32;
        let left = self.pos.ins().load(types::I32, MEM, self.vm, at);
        let left = self.pos.ins().iadd_imm_s(left, -1);
        self.pos.ins().store(MEM, left, self.vm, at);
        let (next, over) = self.split_cold(left);
        self.enter(over);
        let every = self.pos.ins().load(types::I32, MEM, self.vm, ofs::VM_EXIT_EVERY as i32);
        self.pos.ins().store(MEM, every, self.vm, at);
        let exit = self.exit()?;
        self.jump(exit, &[]);
        self.enter(next);
        Ok(())
    }
}
