//! The counters of the process are those of all its VMs, on whatever thread, and remember the VMs that are gone.

use perilune_jit::view::counters::{Counters, of_process};
use perilune_jit::{Jit, attach};
use perilune_vm::{Value, Vm};

/// A VM that has compiled a loop.
fn compiled() -> Box<Vm> {
    let mut vm = Vm::new();
    vm.open_libs();
    attach(&mut vm);
    let source = b"require 'jit.opt'.start('eval=1', 'hotloop=2', 'budget=0') for i = 1, 100 do end return require 'jit.util'.counters(true).closed";
    let f = vm.load_chunk(source, b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
    assert_eq!(vm.call1(Value::func(f), &[]).ok().and_then(Value::as_number), Some(1.0));
    vm
}

#[test]
fn counts_of_the_process() {
    assert_eq!(of_process(), Counters::NONE);
    let here = compiled();
    let there = std::thread::spawn(|| {
        let vm = compiled();
        let both = of_process();
        (both.closed, both.alive, Jit::of(&vm).map(|jit| jit.counts().closed))
    });
    assert_eq!(there.join().ok(), Some((2, 2, Some(1))));
    // The thread has ended, and its VM with it.
    let after = of_process();
    assert_eq!((after.closed, after.started, after.alive), (2, 2, 1));
    drop(here);
    let after = of_process();
    assert_eq!((after.closed, after.alive, after.mcode), (2, 0, 0));
}
