//! Starts of traces that the compiled tree comes back to.
//!
//! A link to such a start passes the slots that the trace loads first as block parameters, if it has them with the right types: then nothing
//! is loaded, and no type is checked. Whatever else enters the trace loads them:
//!
//! ```text
//! start(base): loads, type checks -> entry(base, slots...): the trace <- links with values of these types
//! ```
//!
//! The slots are stored all the same, since exits of the trace assume that memory has what they do not store.

use super::plan::Class;
use super::value::{MEM, repr};
use super::{Lower, Res, known};
use crate::request::TraceTree;
use crate::source_loc::location;
use cranelift_codegen::cursor::Cursor;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, types};
use perilune_recorder::ir::{Effect, IrRef, Link, Op, SnapId, Trace, Ty, sload};
use perilune_vm::TraceId;
use perilune_vm::layout::ofs;

/// Where a trace begins.
#[derive(Clone)]
pub(super) struct Start {
    /// Takes the base.
    pub block: Block,
    /// Takes the base and the slots, if a link leads to this trace from within the tree, and if it loads slots first.
    entry: Option<Block>,
    slots: Vec<EntrySlot>,
}

/// A slot that a trace loads before it does anything else, and the instruction that loads it.
#[derive(Copy, Clone)]
struct EntrySlot {
    /// Bytes from the base to the slot.
    at: i32,
    ty: Ty,
    repr: Type,
    ins: usize,
}

impl Start {
    pub(super) fn new(block: Block) -> Start {
        Start { block, entry: None, slots: Vec::new() }
    }
    /// Is it instruction `i` that loads one of the slots?
    pub(super) fn loads(&self, i: usize) -> bool {
        self.slots.iter().any(|s| s.ins == i)
    }
}

/// Does a trace of the tree link to trace `n`?
fn links_to(tree: &TraceTree<'_>, n: TraceId) -> bool {
    tree.trace.link == Link::Root(n) || tree.sides.iter().any(|s| links_to(&s.1, n))
}

/// Does the first trace of a tree, or a trace below it, jump to the start of the first?
pub(super) fn comes_back(tree: &TraceTree<'_>) -> bool {
    tree.trace.restarts() || links_to(tree, tree.id)
}

/// The slots that a trace loads under its first snapshot, before it changes anything: it leaves by that snapshot if one of them has
/// another type, in whatever order they are checked. A load of an object that is compared with a constant next is a check of its own.
fn entry_slots(trace: &Trace, is_hot: impl Fn(usize) -> bool) -> Vec<EntrySlot> {
    let mut slots = Vec::new();
    for (i, ins) in trace.ins.iter().enumerate().skip(1) {
        if ins.op == Op::FUEL {
            continue;
        }
        if trace.next_snap_is_at(SnapId::FIRST, i) || ins.op.effect() == Effect::Store || ins.op.moves_base() {
            break;
        }
        let compared =
            trace.ins.get(i + 1).is_some_and(|next| next.op == Op::EQ && next.a == IrRef::of_ins(i) && next.b.is_const());
        if ins.op != Op::SLOAD || ins.b.0 & sload::KEYINDEX != 0 || ins.is_sunk() || !is_hot(i) || compared {
            continue;
        }
        if let Some(repr) = repr(ins.ty) {
            let at = (ins.a.slot().from_base() - trace.entry.from_base()) * 8;
            slots.push(EntrySlot { at, ty: ins.ty, repr, ins: i });
        }
    }
    slots
}

impl Lower<'_> {
    /// Begins the current trace, which the compiled tree comes back to, in its start block.
    pub(super) fn keep_start(&mut self) -> Res<()> {
        self.load_entry_slots()?;
        self.starts.push((self.cur.tree, self.cur.start.clone()));
        Ok(())
    }

    /// Loads what links to the current trace pass as block parameters.
    fn load_entry_slots(&mut self) -> Res<()> {
        let is_root = self.is_root();
        let slots = entry_slots(self.cur.trace, |i| self.cur.plan.class[i] == Class::Hot);
        if slots.is_empty() {
            return Ok(());
        }
        let mut args = vec![self.cur.base];
        self.cur.starting = true;
        for s in &slots {
            self.cur.at = s.ins;
            if is_root {
                self.pos.set_srcloc(location(s.ins));
            }
            self.instruction(s.ins)?;
            args.push(self.val(IrRef::of_ins(s.ins))?);
        }
        self.cur.starting = false;
        let entry = self.block();
        self.jump(entry, &args);
        self.enter(entry);
        self.cur.base = self.block_param(entry, types::I64);
        for s in &slots {
            self.cur.values[s.ins] = self.block_param(entry, s.repr).into();
        }
        // The exit of the first snapshot counts from the base of the entry from here on.
        self.cur.exit = None;
        self.cur.start.entry = Some(entry);
        self.cur.start.slots = slots;
        Ok(())
    }

    /// Counts a run down; leaves by the first exit when none is left, to the interpreter even if the exit has a side trace.
    pub(super) fn count_run(&mut self) -> Res<()> {
        let table = self.vm_field(ofs::VM_SIDE_COUNTDOWN);
        let at = self.cur.tree.id.get() as i32 * 4;
        let left = self.pos.ins().load(types::I32, MEM, table, at);
        let left = self.pos.ins().iadd_imm_s(left, -1);
        self.pos.ins().store(MEM, left, table, at);
        let more = self.is32(IntCC::SignedGreaterThanOrEqual, left, 0);
        let (next, over) = self.split_cold(more);
        self.enter(over);
        let base = self.restore_for_interpreter(SnapId::FIRST)?;
        self.forget_cold();
        let id = self.k64(u64::from(self.cur.tree.exit_base.exit(SnapId::FIRST.number()).get()));
        let stub = self.k64(self.env.thunks.exit_stub as u64);
        let sig = self.trace_sig(Vec::new());
        self.pos.ins().return_call_indirect(sig, stub, &[self.vm, base, id]);
        self.enter(next);
        Ok(())
    }

    /// Stores the slots of the last snapshot and jumps to the start of a trace.
    pub(super) fn link_to(&mut self, start: &Start, last: SnapId) -> Res<()> {
        self.settle_fuel();
        let base = self.restore(last)?;
        let known = self.known_at(last)?;
        let mut args = vec![base];
        for s in &start.slots {
            args.extend(known::find(&known, s.at, s.ty).map(|k| self.as_type(k, s.ty)));
        }
        self.forget_cold();
        match start.entry {
            Some(entry) if args.len() == 1 + start.slots.len() => self.jump(entry, &args),
            _ => self.jump(start.block, &[base]),
        }
        Ok(())
    }
}
