//! The number profile: fields that hold integers at one time and other numbers at another.
//!
//! A load that has met both converts integers ([`Site`]), and a trace that was recorded for one of them must be recorded again. If each
//! load had to find that out by itself, each would cost a root trace. So one load decides for the other loads of its function, and for
//! loads of the same field from objects of the same class (tables whose metatables have the same `__index`) in other functions.

use crate::frame;
use crate::policy::number_fields::Field;
use crate::policy::proto_table::ProtoTable;
use perilune_recorder::rec::Site;
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::interp::frames::Level;
use perilune_vm::meta::MM;
use perilune_vm::object::{BcPos, Proto};

impl ProtoTable {
    /// The feedback of the instruction at a position, about to run, with what its field is expected to hold.
    pub fn expected(&self, vm: &Vm, pos: BcPos) -> Site {
        let known = self.feedback(pos);
        let profile = &self.number_profile;
        let is_mixed = || pos.ins().and_then(|ins| field(vm, ins)).is_some_and(|f| profile.contains(f));
        if profile.is_empty() || known.ints && known.nums || !is_mixed() {
            return known;
        }
        Site { ints: true, nums: true, ..known }
    }
    /// Both forms of numbers were loaded by the instruction at a position, about to run. If it loads a field, the same is expected of the
    /// other fields that this function has loaded numbers from, and of these fields in other functions.
    pub fn expect_both(&mut self, vm: &Vm, pos: BcPos) {
        let name = |pos: BcPos| name(&pos.proto, pos.ins()?);
        let Some(load) = pos.ins().filter(|_| name(pos).is_some()) else { return };
        let class = class(vm, load);
        let mut fields = Vec::new();
        for (index, record) in self.of_proto(pos.proto) {
            let found = &mut record.feedback;
            if let Some(name) = name(BcPos { index, ..pos })
                && (found.ints || found.nums)
            {
                (found.ints, found.nums) = (true, true);
                fields.extend(class.map(|c| (c, name)));
            }
        }
        self.add_number_fields(pos.proto, fields);
    }
}

/// The field that an instruction of the running function, about to run, loads from an object of a class.
fn field(vm: &Vm, ins: Ins) -> Option<Field> {
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
    // Each object may have its own metatable.
    Some(class.as_table().unwrap_or(meta).as_ptr() as usize)
}
