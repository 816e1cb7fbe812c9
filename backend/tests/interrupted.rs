//! Compiling ends when the program is interrupted, and leaves a compiler that works.

mod common;

use common::{Build, DELTA, EXIT_BASE, TRACE};
use perilune_backend::thunk::ThunkAddrs;
use perilune_backend::{BackendError, CompileRequest, Compiler, Emitted, TraceTree, isa};
use perilune_recorder::ir::{Op, Trace, Ty};
use perilune_vm::helper::Helper;
use perilune_vm::interrupt::{Cause, Flag};
use std::time::{Duration, Instant};

fn emit(compiler: &mut Compiler, trace: &Trace, flag: Option<&Flag>) -> Result<Emitted, BackendError> {
    let tree = TraceTree::single(trace, TRACE, EXIT_BASE);
    let request = CompileRequest { interrupt: flag, ..CompileRequest::new(tree, |_| DELTA) };
    compiler.emit(&request, &ThunkAddrs::placeholder())
}

/// A trace with so many products of all values before them.
fn chain(length: usize) -> Trace {
    let mut t = Build::new();
    let mut values = t.slots(&[Ty::Num, Ty::Num]);
    for i in 0..length {
        let (a, b) = (values[values.len() - 1], values[i / 2]);
        values.push(t.emit(Op::MUL, Ty::Num, a, b));
    }
    t.results(&values[length..])
}

#[test]
fn an_interrupt_that_waits_ends_any_compilation() {
    let mut compiler = Compiler::new(isa::host().unwrap(), Helper::address);
    let flag = Flag::new();
    flag.set(Cause::Host);
    for trace in [chain(1), chain(3_000)] {
        assert_eq!(emit(&mut compiler, &trace, Some(&flag)).unwrap_err(), BackendError::Interrupted);
        assert!(emit(&mut compiler, &trace, None).is_ok());
    }
}

#[test]
fn code_is_the_same_from_another_thread() {
    let mut compiler = Compiler::new(isa::host().unwrap(), Helper::address);
    for (length, is_large) in [(1, false), (3_000, true)] {
        let trace = chain(length);
        let here = emit(&mut compiler, &trace, None).unwrap();
        let there = emit(&mut compiler, &trace, Some(&Flag::new())).unwrap();
        assert_eq!((&here.code, &here.map), (&there.code, &there.map));
        assert_eq!((here.elsewhere, there.elsewhere > Duration::ZERO), (Duration::ZERO, is_large), "{length}");
    }
}

#[test]
fn code_generation_is_not_waited_for() {
    let mut compiler = Compiler::new(isa::host().unwrap(), Helper::address);
    let trace = chain(4_000);
    let begun = Instant::now();
    emit(&mut compiler, &trace, None).unwrap();
    let whole = begun.elapsed();
    // At several times, to meet the lowering and the code generation.
    for i in 0..8 {
        let flag = Flag::new();
        let (end, interrupted) = std::thread::scope(|scope| {
            let interrupts = scope.spawn(|| {
                std::thread::sleep(whole * i / 16);
                flag.set(Cause::Time);
                Instant::now()
            });
            assert_eq!(emit(&mut compiler, &trace, Some(&flag)).unwrap_err(), BackendError::Interrupted);
            (Instant::now(), interrupts.join().unwrap())
        });
        println!("{:?} of {whole:?} after the interrupt", end - interrupted);
    }
    let again = emit(&mut compiler, &trace, Some(&Flag::new())).unwrap();
    assert_eq!(again.code, emit(&mut compiler, &trace, None).unwrap().code);
}
