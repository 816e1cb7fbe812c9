//! Ids of objects: the same from one snapshot to the next, and never those of another object.
//!
//! The address of a dead object may become another's. So an object that gets an id is marked ([`perilune_vm::gc::color::NUMBERED`]); one that
//! is not marked is new, whatever was at its address before. The ids are kept by position in the [`Index`] of the last snapshot.

use super::index::Index;
use perilune_vm::Vm;
use perilune_vm::interrupt::{Interrupted, Poll};
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
    ///
    /// # Errors
    /// An interrupt waits. If objects had new ids by then, all objects get new ones in the next snapshot.
    pub fn take(vm: &mut Vm, poll: Poll<'_>) -> Result<Ids, Interrupted> {
        let index = Index::new(vm, poll, |_| true)?;
        let before = vm.host.snapshots.take().and_then(|any| any.downcast::<Ids>().ok());
        let mut last = before.as_ref().map_or(ROOT, |ids| ids.last);
        let mut by_position = Vec::with_capacity(index.len() as usize);
        let all = vm.heap.try_for_each_object(|o| {
            let is_new = o.number();
            let known = before.as_ref().filter(|_| !is_new).and_then(|ids| ids.of(o));
            by_position.push(known.unwrap_or_else(|| {
                last += 2;
                last
            }));
            poll.look()
        });
        if let Err(e) = all {
            // Some objects are marked whose ids are lost.
            Ids { index: Index::default(), by_position: Vec::new(), last }.keep(vm);
            return Err(e);
        }
        Ok(Ids { index, by_position, last })
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

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::collections::HashMap;

    /// The ids of the next snapshot by address.
    fn ids(vm: &mut Vm) -> HashMap<u64, u32> {
        let ids = Ids::take(vm, Poll::Never).unwrap();
        let mut by_address = HashMap::new();
        vm.heap.for_each_object(|o| {
            by_address.insert(o.addr(), ids.of(o).unwrap());
        });
        ids.keep(vm);
        by_address
    }

    /// Wherever an interrupt ends the walks, no object gets an id that another one had.
    #[test]
    fn an_interrupted_snapshot_does_not_mix_up_ids() {
        let mut vm = Vm::new();
        vm.open_libs();
        let mut looks = 0;
        loop {
            let dead = vm.new_table(0, 0);
            let before = ids(&mut vm);
            let highest = before.values().copied().max().unwrap();
            vm.full_gc();
            // The address of a dead object is another's.
            let new = (0..10_000).map(|_| vm.new_table(0, 0)).find(|t| *t == dead).unwrap();
            let left = Cell::new(looks);
            if let Ok(ids) = Ids::take(&mut vm, Poll::After(&left)) {
                assert!(ids.of(new.header()).unwrap() > highest);
                break;
            }
            for (address, id) in ids(&mut vm) {
                let same = before.get(&address).is_some_and(|known| *known == id && address != new.addr());
                assert!(same || id > highest, "{looks} looks: {id}");
            }
            looks += 7;
        }
        assert!(looks > 300);
    }
}
