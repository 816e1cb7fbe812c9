//! Tests of watching: all changes are reported, and the heap is consistent during and after that.

use super::{Rng, scale, vm};
use crate::Vm;
use crate::gc::watch::{Change, Origin, Watcher};
use crate::object::{Gc, Proto};
use crate::value::Value;
use core::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Default)]
struct Seen {
    live: HashMap<usize, usize>,
    change: isize,
    calls: usize,
    ended: bool,
}

struct Listener {
    seen: Rc<RefCell<Seen>>,
    /// Number of changes after which the watcher stops.
    enough: usize,
}

impl Watcher for Listener {
    fn change(&mut self, place: Origin, change: Change) -> bool {
        assert!(matches!(place, Origin::Internal), "the host runs");
        let mut s = self.seen.borrow_mut();
        s.calls += 1;
        assert!(s.calls <= self.enough);
        let (gone, new) = match change {
            Change::Alloc { at, size } => (None, Some((at, size))),
            Change::Free { at, size } => (Some((at, size)), None),
            Change::Realloc { from, old, to, new } => (Some((from, old)), Some((to, new))),
        };
        if let Some((at, size)) = gone {
            s.change -= size as isize;
            let known = s.live.remove(&at);
            assert!(known.is_none_or(|k| k == size));
        }
        if let Some((at, size)) = new {
            s.change += size as isize;
            assert_eq!(s.live.insert(at, size), None);
        }
        s.calls < self.enough
    }
    fn proto(&mut self, _: Gc<Proto>) {}
    fn trace(&mut self, _: crate::TraceId, _: Gc<Proto>, _: u32) {}
    fn end(&mut self) {
        self.seen.borrow_mut().ended = true;
    }
}

fn watch(vm: &mut Vm, enough: usize) -> Rc<RefCell<Seen>> {
    let seen = Rc::new(RefCell::new(Seen::default()));
    assert!(vm.watch(Box::new(Listener { seen: Rc::clone(&seen), enough })).is_ok());
    seen
}

/// Objects of all sizes, some kept, with collections between.
fn work(vm: &mut Vm, rng: &mut Rng) {
    let keep = vm.new_table(0, 0);
    vm.push(Value::table(keep));
    for i in 0..scale(3000) as i32 {
        let s = vm.new_str(&vec![b'x'; rng.below(if i % 100 == 0 { 50_000 } else { 300 }) as usize]);
        let t = vm.new_table(rng.below(40), rng.below(6));
        vm.table_set_str(t, s, Value::int(i));
        let u = vm.new_udata(Box::new(i) as Box<dyn Any>, None);
        vm.set_udata_bytes(u, rng.below(100) as usize);
        vm.set_udata_bytes(u, rng.below(100) as usize);
        let size = 1 + rng.below(400);
        let co = vm.new_thread(size);
        vm.heap.resize_stack(co, size + rng.below(400));
        vm.table_set_int(keep, i % 200, Value::table(t));
        if i % 500 == 0 {
            let load = vm.load_chunk(b"local a = ... return function() return a, 'text' end", b"=chunk", None);
            vm.table_set_int(keep, 300 + i, load.map_or(Value::NIL, Value::func));
            vm.full_gc();
        } else if i % 20 == 0 {
            vm.gc_step(20);
        }
        if i % 300 == 0 {
            vm.verify_heap();
        }
    }
}

#[test]
fn all_changes_are_reported() {
    let mut vm = vm();
    let mut rng = Rng(7);
    work(&mut vm, &mut rng);
    let before = vm.gc_count();
    let seen = watch(&mut vm, usize::MAX);
    work(&mut vm, &mut rng);
    assert_eq!(vm.gc_count() as isize - before as isize, seen.borrow().change);
    assert!(seen.borrow().calls > scale(3000) * 5);
    assert!(vm.take_watcher().is_some() && vm.take_watcher().is_none());
    let calls = seen.borrow().calls;
    work(&mut vm, &mut rng);
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(seen.borrow().calls, calls, "nobody listens any more");
    assert!(!seen.borrow().ended);
}

#[test]
fn a_watcher_that_stops_is_not_called_again() {
    for enough in 1..scale(60) {
        let mut vm = vm();
        let seen = watch(&mut vm, enough);
        work(&mut vm, &mut Rng(enough as u64 + 1));
        vm.full_gc();
        vm.verify_heap();
        assert_eq!(seen.borrow().calls, enough);
        assert!(vm.heap.is_watched());
        drop(vm);
        assert!(seen.borrow().ended);
    }
}
