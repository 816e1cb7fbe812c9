//! FUEL: whether there is fuel for what the trace is about to execute. Machine code takes it later, once for all that it has executed, where
//! others can look at the fuel: where it leaves the tree, or links to a start, and before it calls a builtin. In a loop that calls no builtin
//! the fuel is in a register, from which FUEL takes it at once.

use super::value::MEM;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_recorder::ir::{Ins, Op, SnapId};
use perilune_vm::layout::ofs;

/// The fuel while a trace runs.
#[derive(Copy, Clone, Default)]
pub(super) struct Fuel {
    /// It is in this register; in memory otherwise.
    left: Option<Value>,
    /// Index of the FUEL whose instructions run.
    segment: Option<usize>,
    /// What is to be taken from it when they have run.
    owed: i64,
}

impl Fuel {
    /// The register that a loop carries it in.
    pub(super) fn carried(self) -> Option<Value> {
        self.left
    }
}

impl Lower<'_> {
    /// FUEL.
    pub(super) fn fuel(&mut self, ins: Ins) -> Res<()> {
        let units = i64::from(ins.b.0.saturating_sub(ins.a.0));
        let Fuel { left, owed, .. } = self.cur.fuel;
        self.set_fuel(Fuel { left, segment: None, owed });
        let value = left.unwrap_or_else(|| self.vm_field(ofs::VM_FUEL));
        let needed = self.k64((owed + units) as u64);
        let enough = self.pos.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, value, needed);
        self.guard(enough)?;
        let segment = Some(self.cur.at);
        let now = match left {
            // A loop may end in its last guard, so that nothing is left to be taken there.
            Some(_) => Fuel { left: Some(self.pos.ins().iadd_imm_s(value, -units)), segment, owed },
            None => Fuel { left, segment, owed: owed + units },
        };
        self.set_fuel(now);
        Ok(())
    }

    fn set_fuel(&mut self, fuel: Fuel) {
        self.cur.fuel = fuel;
        // Exits from here on take something else.
        self.cur.exit = None;
    }
    /// The fuel at an exit.
    pub(super) fn fuel_at(&self, snap: SnapId) -> Fuel {
        let Fuel { left, segment, owed } = self.cur.fuel;
        let ahead = segment.map_or(0, |taken| self.cur.trace.fuel_back(snap, taken));
        Fuel { left, segment: None, owed: owed - i64::from(ahead) }
    }
    /// The fuel at the start of a side trace that follows at an exit. It is in memory: in a register, it would cost the loop other registers.
    pub(super) fn fuel_into_side(&mut self, fuel: Fuel) -> Fuel {
        if fuel.left.is_none() {
            return fuel;
        }
        self.store_fuel(fuel);
        Fuel::default()
    }
    /// Stores the fuel that is left at an exit, a link, or the start of a side trace that something else links to.
    pub(super) fn store_fuel(&mut self, fuel: Fuel) {
        if fuel.left.is_some() || fuel.owed != 0 {
            let left = self.fuel_left(fuel);
            self.pos.ins().store(MEM, left, self.vm, ofs::VM_FUEL as i32);
        }
    }
    fn fuel_left(&mut self, fuel: Fuel) -> Value {
        let left = fuel.left.unwrap_or_else(|| self.vm_field(ofs::VM_FUEL));
        self.offset(left, -fuel.owed)
    }
    /// Stores the fuel that is left at the end of a segment. From here on it is in memory.
    pub(super) fn settle_fuel(&mut self) {
        self.store_fuel(self.cur.fuel);
        self.set_fuel(Fuel::default());
    }

    /// In front of a loop: the fuel that is left, for the head of the loop, if only FUEL and exits look at it there.
    pub(super) fn fuel_into_loop(&mut self) -> Option<Value> {
        let body = &self.cur.trace.ins[self.cur.at..];
        if body.iter().any(|i| i.op == Op::FUEL) && body.iter().all(|i| i.op != Op::NATIVE) {
            return Some(self.fuel_left(self.cur.fuel));
        }
        self.settle_fuel();
        None
    }
    /// At the head of a loop that carries the fuel.
    pub(super) fn fuel_in_loop(&mut self, left: Value) {
        self.set_fuel(Fuel { left: Some(left), segment: None, owed: 0 });
    }
}
