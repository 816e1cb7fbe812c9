//! The size of a table that is filled field by field.
//!
//! After `local t = {}`, or `local t = setmetatable({}, class)`, the statements of the same block often assign fields of `t`, as constructors
//! of objects do. The table is then made as if the constructor listed these fields (`{x = nil}`, with values that are not constants): with room for
//! them, or from a template that has their keys, so that storing them finds the keys. Luau's compiler predicts sizes in the same way.

use super::emit::FuncState;
use super::template::Template;
use crate::bc::{Ins, KGc, KVal, Op};
use crate::object::hbits_for;
use std::rc::Rc;

/// A local whose first value is a new table without fields.
pub(super) struct NewTable {
    /// Where the table is made.
    pc: u32,
    /// The slot of the local.
    slot: u8,
    /// Number of scopes around its declaration.
    depth: usize,
    /// The fields that are assigned in its block: constants of the function.
    fields: Vec<u8>,
}

impl FuncState {
    /// Begins to count the fields of the local that was declared last, if its value, computed from `first` on, is a new table.
    pub(super) fn watch_table(&mut self, first: u32) {
        let slot = (self.locals.active - 1) as u8;
        if let Some(pc) = self.new_table_at(first, slot) {
            let depth = self.locals.scopes.len();
            self.new_tables.push(NewTable { pc, slot, depth, fields: Vec::new() });
        }
    }
    /// The instruction that makes the table that the code from `first` on leaves in a register.
    fn new_table_at(&self, first: u32, reg: u8) -> Option<u32> {
        let last = self.pc().checked_sub(1).filter(|last| *last >= first)?;
        let makes_table = |pc: u32, reg: u8| {
            let ins = self.ins(pc);
            ins.op() == Op::TNEW && ins.a() == usize::from(reg) && ins.d() == 0
        };
        if last == first {
            return makes_table(first, reg).then_some(first);
        }
        let calls = |pc: u32| self.ins(pc).op() == Op::CALL && self.ins(pc).a() == usize::from(reg);
        // The function, a slot that calls need, and the first argument. Nothing is called with the result.
        let is_call = calls(last) && !(first..last).any(calls) && self.calls_setmetatable(first);
        (is_call && makes_table(first + 1, reg.checked_add(2)?)).then_some(first + 1)
    }
    /// Does the instruction load something of the name `setmetatable`?
    fn calls_setmetatable(&self, pc: u32) -> bool {
        let ins = self.ins(pc);
        let name = match ins.op() {
            Op::GGET => self.string_at(ins.d()),
            Op::UGET => self.upvalues.names.get(ins.d()).map(|name| &**name),
            Op::MOV => self.local_name(ins.d()),
            _ => None,
        };
        name == Some(b"setmetatable")
    }
    /// Notes that a field of the table in a register is assigned: the string constant of this index.
    pub(super) fn assigns_field(&mut self, table: u8, key: u8) {
        let depth = self.locals.scopes.len();
        let Some(new) = self.new_tables.last_mut() else { return };
        let new = if new.slot == table { Some(new) } else { self.new_tables.iter_mut().rev().find(|new| new.slot == table) };
        if let Some(new) = new.filter(|new| new.depth == depth && !new.fields.contains(&key)) {
            new.fields.push(key);
        }
    }
    /// The locals from this slot on have other values from here on, or none.
    pub(super) fn settle_tables(&mut self, slot: u32) {
        while let Some(new) = self.new_tables.pop_if(|new| u32::from(new.slot) >= slot) {
            self.settle(&new);
        }
    }
    /// The local in this slot gets another value.
    pub(super) fn settle_table(&mut self, slot: u8) {
        if let Some(i) = self.new_tables.iter().position(|new| new.slot == slot) {
            let new = self.new_tables.remove(i);
            self.settle(&new);
        }
    }
    fn settle(&mut self, new: &NewTable) {
        let n = new.fields.len() as u32;
        if n == 0 {
            return;
        }
        // What a chunk makes once needs no template beside it.
        let once = self.first_line == 0 && new.depth == 1;
        let ins = self.ins(new.pc);
        *self.ins_mut(new.pc) = match if once { None } else { self.new_template(&new.fields) } {
            Some(k) => Ins::ad(Op::TDUP, ins.a() as u8, k),
            None => ins.with_d((hbits_for(n) << 11) as u16),
        };
    }
    /// A constant: a template with these fields, which are nil. None if there is no room for it.
    fn new_template(&mut self, fields: &[u8]) -> Option<u16> {
        let mut template = Template::new(0, fields.len() as u32);
        for &key in fields {
            template.set(KVal::Str(Rc::from(self.string_at(usize::from(key))?)), KVal::Nil);
        }
        self.add_object(KGc::Table(template.finish(0)))
    }
}
