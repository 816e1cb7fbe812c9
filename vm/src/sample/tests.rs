//! Samples of a VM without a compiler.

use super::walk::Walked;
use super::{Activity, Consumer, InCode, Part, Sample};
use crate::Vm;
use crate::value::Value;
use core::cell::RefCell;
use core::time::Duration;
use std::rc::Rc;

const MS: Duration = Duration::from_millis(1);

/// Keeps samples, with the innermost frame of each.
#[derive(Default)]
struct Keep(RefCell<Vec<(Sample, String)>>);

impl Consumer for Keep {
    fn sample(&self, vm: &mut Vm, sample: Sample) {
        let stack = super::dump_stack(vm, vm.cur, b"F", 1);
        self.0.borrow_mut().push((sample, String::from_utf8_lossy(&stack).into_owned()));
    }
}

fn new_vm() -> Box<Vm> {
    let mut vm = Vm::new();
    vm.open_libs();
    vm
}

fn run(vm: &mut Vm, text: &str) {
    let f = vm.load_chunk(text.as_bytes(), b"=t", None).expect("it compiles");
    assert!(vm.pcall_traced(Value::func(f), &[]).is_ok());
}

const BUSY: &str = "local function busy() for i = 1, 100000 do local x = i % 7 end end busy() busy()";

#[test]
#[cfg_attr(miri, ignore = "signals")]
fn samples_come_while_the_vm_runs() {
    let mut vm = new_vm();
    let keep = Rc::new(Keep::default());
    assert!(vm.start_sampling(MS, InCode::Late, Rc::<Keep>::clone(&keep)) && vm.is_sampling());
    let mut rounds = 0;
    while keep.0.borrow().len() < 4 {
        run(&mut vm, BUSY);
        rounds += 1;
        assert!(rounds < 5000, "no samples come");
    }
    vm.stop_sampling();
    assert!(!vm.is_sampling() && !vm.is_exit_requested());
    let seen = keep.0.borrow().clone();
    assert!(seen.iter().all(|(s, _)| s.count() > 0 && s.activity() != Activity::Compiled as u8), "{seen:?}");
    assert!(seen.iter().any(|(s, at)| s.activity() == Activity::Interpreter as u8 && at == "t:busy"), "{seen:?}");
    run(&mut vm, BUSY);
    assert_eq!(keep.0.borrow().len(), seen.len(), "none come when it has ended");
}

#[test]
#[cfg_attr(miri, ignore = "signals")]
fn one_vm_of_a_thread_is_sampled() {
    let (mut one, mut two) = (new_vm(), new_vm());
    let keep = Rc::new(Keep::default());
    assert!(one.start_sampling(MS, InCode::Late, Rc::<Keep>::clone(&keep)));
    assert!(!two.start_sampling(MS, InCode::Late, Rc::<Keep>::clone(&keep)) && !two.is_sampling());
    assert!(one.start_sampling(MS, InCode::Late, Rc::<Keep>::clone(&keep)), "it may begin again");
    let other = std::thread::spawn(|| new_vm().start_sampling(MS, InCode::Late, Rc::new(Keep::default())));
    assert!(other.join().expect("no panic"), "another thread has its own");
    // A VM that ends is no longer sampled.
    drop(one);
    assert!(two.start_sampling(MS, InCode::Late, keep));
    run(&mut two, BUSY);
}

#[test]
fn pending_stacks_are_kept_until_they_are_read() {
    let vm = new_vm();
    let walked = Walked::new();
    let part = |count| Part { count, activity: Activity::Compiled as u8, builtin: 0, place: None };
    let added: Vec<_> = (0..300).map(|i| walked.add(part(i), vm.cur, None)).collect();
    let room = added.iter().filter(|a| a.is_some()).count();
    assert!(room < 300 && added[..room].iter().all(Option::is_some));
    assert_eq!(added[..room].iter().position(|a| *a == Some(true)), Some(room / 2 - 1), "half of it is used");
    let mut read = Vec::new();
    walked.take(|part, stack| {
        assert!(stack.whole && stack.frames.is_empty());
        assert_eq!(walked.add(part, vm.cur, None), None, "not while they are read");
        read.push(part.count);
    });
    assert_eq!(read, (0..room as u32).collect::<Vec<_>>());
    assert!(walked.is_empty() && walked.add(part(1), vm.cur, None) == Some(false));
}
