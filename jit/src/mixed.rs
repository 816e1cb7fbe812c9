//! Fields that hold integers at one time and other numbers at another.
//!
//! Loads of both forms convert integers ([`Site`]), and what recorded a load of one form has to be recorded again. To learn that of each
//! load on its own would take a root trace each time; but one says something about the others in its function.

use crate::frame;
use crate::places::Places;
use perilune_recorder::rec::Site;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::object::{Gc, Proto};

/// Both forms were loaded at `pc` in `proto`. If that was from a field, the same is expected of the other fields that this function has
/// loaded numbers from.
pub fn expect(sites: &mut Places<Site>, pc: *const Ins, proto: Gc<Proto>) {
    let loads_field = |pc: *const Ins| frame::ins(pc).op() == Op::TGETS;
    if !loads_field(pc) {
        return;
    }
    for (at, site) in sites.range_mut(proto.code_range()) {
        if loads_field(*at) && (site.ints || site.nums) {
            (site.ints, site.nums) = (true, true);
        }
    }
}
