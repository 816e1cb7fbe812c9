//! Ids of objects: the same from one snapshot to the next, and never those of another object.
//!
//! The address of a dead object may become another's. So an object that gets an id is marked ([`perilune_vm::gc::color::NUMBERED`]); one that
//! is not marked is new, whatever was at its address before. The ids are kept by position in the [`Index`] of the last snapshot.

use super::index::Index;
use perilune_vm::Vm;
use perilune_vm::object::{Gc, GcHeader};

/// The id of the made-up root. Objects have the odd numbers above, in the order in which snapshots first saw them: the developer tools show
/// what is new in a snapshot by the highest odd id of the one before. Nodes that are no objects have even numbers.
pub const ROOT: u32 = 1;

/// The objects of a snapshot with their ids.
pub struct Ids {
    /// Positions of the objects.
    pub index: Index,
    by_position: Vec<u32>,
    /// The id that was given last.
    last: u32,
}

impl Ids {
    /// For the objects that there are now. The ids of the last snapshot are those that [`Ids::keep`] left with the state.
    pub fn take(vm: &mut Vm) -> Ids {
        let before = vm.host.snapshots.take().and_then(|any| any.downcast::<Ids>().ok());
        let index = Index::new(vm, |_| true);
        let mut last = before.as_ref().map_or(ROOT, |ids| ids.last);
        let mut by_position = Vec::with_capacity(index.len() as usize);
        vm.heap.for_each_object(|o| {
            let is_new = o.number();
            let known = before.as_ref().filter(|_| !is_new).and_then(|ids| ids.of(o));
            by_position.push(known.unwrap_or_else(|| {
                last += 2;
                last
            }));
        });
        Ids { index, by_position, last }
    }
    /// Leaves the ids with the state, for the next snapshot.
    pub fn keep(self, vm: &mut Vm) {
        vm.host.snapshots = Some(Box::new(self));
    }
    /// The id of an object.
    pub fn of(&self, o: Gc<GcHeader>) -> Option<u32> {
        self.by_position.get(self.index.position(o)? as usize).copied()
    }
}
