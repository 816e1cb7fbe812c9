//! The number profile: fields that hold integers at one time and other numbers at another.
//!
//! A load that has met both converts integers ([`Site`]), and a trace that was recorded for one of them must be recorded again. If each
//! load found that out by itself, each would cost a root trace. So one load speaks for the other loads of its function, and for loads of
//! the same field from objects of the same class (tables whose metatables have the same `__index`) in other functions.

use crate::frame;
use crate::policy::proto_table::ProtoTable;
use perilune_recorder::rec::Site;
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::interp::frames::Level;
use perilune_vm::meta::MM;
use perilune_vm::object::{BcPos, Proto};
use std::collections::BTreeSet;

/// A field of a class: addresses of the class and of the name. What is freed may leave its address to another, of which too much
/// is expected then: its numbers are converted.
type Field = (usize, usize);

/// More fields are not remembered: programs that make classes again and again would have ever more of them.
const MAX: usize = 1000;

/// Fields of classes that have held both integers and other numbers.
#[derive(Default, Debug)]
pub struct NumberProfile(BTreeSet<Field>);

impl NumberProfile {
    /// What is known of the instruction at `pc`, about to run, with what its field is expected to hold.
    pub fn site(&self, vm: &Vm, pc: *const Ins, known: Site) -> Site {
        if self.0.is_empty() || known.ints && known.nums || !field(vm, pc).is_some_and(|f| self.0.contains(&f)) {
            return known;
        }
        Site { ints: true, nums: true, ..known }
    }
    /// Both forms were loaded by the instruction at a position, about to run. If that is from a field, the same is expected of the
    /// other fields that this function has loaded numbers from, and of these fields in other functions.
    pub fn expect(&mut self, vm: &Vm, protos: &mut ProtoTable, pos: BcPos) {
        let name = |pos: BcPos| name(&pos.proto, pos.ins()?);
        let Some(load) = pos.ins().filter(|_| name(pos).is_some()) else { return };
        let class = class(vm, load);
        if self.0.len() >= MAX {
            self.0.clear();
        }
        for (index, record) in protos.of_proto(pos.proto) {
            let found = &mut record.feedback;
            if let Some(name) = name(BcPos { index, ..pos })
                && (found.ints || found.nums)
            {
                (found.ints, found.nums) = (true, true);
                self.0.extend(class.map(|c| (c, name)));
            }
        }
    }
}

/// The field that the instruction at `pc`, about to run, loads from an object of a class.
fn field(vm: &Vm, pc: *const Ins) -> Option<Field> {
    let ins = frame::ins(pc);
    let name = name(&*frame::proto(vm)?, ins)?;
    Some((class(vm, ins)?, name))
}

/// The name of the field that an instruction of a function loads.
fn name(proto: &Proto, ins: Ins) -> Option<usize> {
    (ins.op() == Op::TGETS).then(|| proto.kgc(ins.c()))??.as_str().map(|s| s.as_ptr() as usize)
}

/// The class of the object that a field is about to be loaded from.
fn class(vm: &Vm, load: Ins) -> Option<usize> {
    let object = frame::slot(&Level::running(vm)?, load.b());
    let meta = object.as_table()?.meta.get()?;
    let class = vm.metatable_method(meta, MM::Index);
    // Objects may have a metatable each.
    Some(class.as_table().unwrap_or(meta).as_ptr() as usize)
}
