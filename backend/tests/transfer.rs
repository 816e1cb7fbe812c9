//! Calls and returns at the ends of traces.

mod common;

use common::*;
use perilune_recorder::ir::{Const, IrRef, Link, Op, Trace, Transfer, Ty, sload};
use perilune_vm::Value;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::layout::{Field, ofs};
use perilune_vm::object::BcAddr;

/// A function in memory, as far as traces look at one.
struct Function {
    header: Box<Ins>,
    proto: Vec<u8>,
    object: Vec<u64>,
}

impl Function {
    fn new(header: Ins, params: u8, frame: u8) -> Function {
        let mut f = Function { header: Box::new(header), proto: vec![0; 64], object: vec![0; 8] };
        f.proto[ofs::PROTO_NUM_PARAMS] = params;
        f.proto[ofs::PROTO_FRAMESIZE] = frame;
        f.object[Field::FuncPc.offset() / 8] = &raw const *f.header as u64;
        f.object[ofs::FUNC_PROTO / 8] = f.proto.as_ptr() as u64;
        f
    }
    fn value(&self) -> Value {
        value_of(perilune_vm::value::TAG_FUNC << perilune_vm::value::PAYLOAD_BITS | self.object.as_ptr() as u64)
    }
}

/// A call, and the instruction after it.
#[repr(align(8))]
struct Stub([Ins; 2]);

impl Stub {
    /// A call of slot 3 of the frame that takes so many results; `u8::MAX` for all.
    fn new(results: u8, behind: Ins) -> Box<Stub> {
        Box::new(Stub([Ins::abc(Bc::CALL, 3, results.wrapping_add(1), 2), behind]))
    }
    fn address(&self) -> u64 {
        &raw const self.0[1] as u64
    }
}

const CALLEE: u16 = 5;
/// Where the frame of a call of slot 3 is.
const DISTANCE: isize = 5;

/// A trace that calls slot 3 of its frame, as the trace counts slots 5, with the number 7.
fn caller(transfer: Transfer) -> Trace {
    let mut t = Build::new();
    let f = t.guarded(Op::SLOAD, Ty::Func, IrRef(5), IrRef(sload::TYPECHECK));
    let seven = t.int(7);
    let mut trace = t.end(&[(5, f), (7, seven)], Link::Stitch);
    trace.transfer = Some(transfer);
    trace
}

/// A machine with a trace that stores 42 to its slot 1, under the number of the callee.
fn machine() -> Machine {
    let mut m = Machine::new();
    let mut t = Build::new();
    let k = t.int(42);
    m.install(&t.end(&[(3, k)], Link::Interp), trace_id(CALLEE.into()), exit_id(50));
    m
}

fn call(f: &Function, transfer: Transfer) -> (Machine, (u64, isize)) {
    let mut m = machine();
    m.install(&caller(transfer), TRACE, EXIT_BASE);
    *m.slot(5) = f.value().bits();
    let left = m.enter(TRACE);
    (m, left)
}

#[test]
fn calls_enter_the_trace_of_the_function() {
    let link = 0x1234_5678;
    let transfer = Transfer::Call { func: 3, nargs: 1, link: Some(BcAddr::new(link)) };
    let compiled = Ins::ad(Bc::JFUNCF, 9, CALLEE);
    let f = Function::new(compiled, 1, 9);
    let (mut m, left) = call(&f, transfer);
    assert_eq!(left, (51, DISTANCE));
    assert_eq!((*m.slot(5), *m.slot(6), m.slot_value(7)), (f.value().bits(), link, Value::int(7)));
    assert_eq!(m.slot_value(8), Value::int(42), "the callee has not run on its frame");
    // The interpreter executes other calls: no trace, too few arguments, no room.
    for f in [
        Function::new(Ins::ad(Bc::FUNCF, 9, CALLEE), 1, 9),
        Function::new(Ins::ad(Bc::JFUNCV, 9, CALLEE), 1, 9),
        Function::new(compiled, 2, 9),
        Function::new(compiled, 1, 64),
    ] {
        let (mut m, left) = call(&f, transfer);
        assert_eq!(left, (11, 0));
        assert_eq!((m.slot_value(7), m.slot_value(8)), (Value::int(7), Value::NIL));
    }
}

#[test]
fn tail_calls_replace_the_frame() {
    let f = Function::new(Ins::ad(Bc::JFUNCF, 9, CALLEE), 1, 9);
    let (mut m, left) = call(&f, Transfer::Call { func: 3, nargs: 1, link: None });
    assert_eq!(left, (51, 0));
    assert_eq!((*m.slot(0), m.slot_value(2), m.slot_value(3)), (f.value().bits(), Value::int(7), Value::int(42)));
}

#[test]
fn calls_leave_on_request() {
    let f = Function::new(Ins::ad(Bc::JFUNCF, 9, CALLEE), 1, 9);
    let mut m = machine();
    m.install(&caller(Transfer::Call { func: 3, nargs: 1, link: Some(BcAddr::new(8)) }), TRACE, EXIT_BASE);
    *m.slot(5) = f.value().bits();
    let limit = m.get(ofs::VM_CODE_STACK_LIMIT);
    m.set(ofs::VM_CODE_STACK_LIMIT, 0);
    assert_eq!(m.enter(TRACE), (11, 0));
    m.set(ofs::VM_CODE_STACK_LIMIT, limit);
    assert_eq!(m.enter(TRACE), (51, DISTANCE));
}

/// A constant is called; a value of which the trace knows nothing is left to the interpreter.
#[test]
fn the_function_must_be_known_to_be_one() {
    let f = Function::new(Ins::ad(Bc::JFUNCF, 9, CALLEE), 1, 9);
    let transfer = Some(Transfer::Call { func: 3, nargs: 1, link: Some(BcAddr::new(8)) });
    let mut m = machine();
    let mut t = Build::new();
    let k = t.konst(Const::Gc(f.value()));
    let mut trace = t.end(&[(5, k)], Link::Stitch);
    trace.transfer = transfer;
    m.install(&trace, TRACE, EXIT_BASE);
    assert_eq!(m.enter(TRACE), (51, DISTANCE));
    let mut trace = Build::new().end(&[], Link::Stitch);
    trace.transfer = transfer;
    m.install(&trace, TRACE, EXIT_BASE);
    assert_eq!(m.enter(TRACE), (11, 0));
}

/// A return of the numbers 1 and 2 to a call in a frame five slots below, and the slots from that of the called function on.
fn return_to(link: u64) -> ((u64, isize), [Value; 3]) {
    let mut m = machine();
    let mut t = Build::new();
    let (one, two) = (t.int(1), t.int(2));
    let mut trace = t.end(&[(6, one), (7, two)], Link::Return);
    trace.transfer = Some(Transfer::Return { first: 4, count: 2 });
    m.install(&trace, TRACE, EXIT_BASE);
    *m.slot(1) = link;
    let left = m.enter(TRACE);
    (left, [0, 1, 2].map(|i| m.slot_value(i)))
}

#[test]
fn returns_enter_the_trace_behind_the_call() {
    let stitch = Ins::ad(Bc::STITCH, 0, CALLEE);
    let (one, two) = (Value::int(1), Value::int(2));
    for results in 0..=2 {
        let stub = Stub::new(results, stitch);
        let (left, slots) = return_to(stub.address());
        let taken = usize::from(results);
        assert_eq!((left, &slots[..taken]), ((51, -DISTANCE), &[one, two][..taken]));
    }
    // The interpreter executes other returns: more results, all results, no trace, no STITCH, no call of a Lua function.
    let stubs = [
        Stub::new(3, stitch),
        Stub::new(u8::MAX, stitch),
        Stub::new(1, Ins::ad(Bc::STITCH, 0, 0)),
        Stub::new(1, Ins::ad(Bc::STITCH, 1, 0)),
        Stub::new(1, Ins::ad(Bc::JFORL, 0, CALLEE)),
    ];
    for link in stubs.iter().map(|s| s.address()).chain([perilune_vm::interp::frame::link(5, 1).bits()]) {
        let (left, slots) = return_to(link);
        assert_eq!((left, slots[2]), ((11, 0), Value::NIL));
    }
}
