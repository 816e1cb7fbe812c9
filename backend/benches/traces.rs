//! Compile time per IR instruction, and the speed of small loops. Prints one line each; `SHOW=1` adds the listings.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Build, Machine, TRACE, exit_id, trace_id};
use perilune_backend::thunk::ThunkAddrs;
use perilune_backend::{CompileRequest, Compiler, TraceTree, isa};
use perilune_recorder::ir::{IrRef, Link, Op, Trace, Ty, conv, sload};
use perilune_vm::Value;
use perilune_vm::layout::Field;
use perilune_vm::value as v;
use std::time::Instant;

fn main() {
    for (ops, guards_every, values) in [(30, 5, 8), (100, 5, 8), (300, 5, 8), (1000, 5, 8), (1000, 5, 2), (1000, 50, 8)] {
        let trace = synthetic(ops, guards_every, values);
        let (us, size) = compile_time(&trace);
        let n = trace.ins.len();
        println!(
            "compile {n:5} instructions, guard each {guards_every:2}, {values} slots per exit: {us:8.1} us, {:.2} us/ins, {size} bytes",
            us / n as f64
        );
    }
    for (name, setup) in
        [("array sum", array_sum as fn(&mut Machine) -> (Trace, u64)), ("array store", array_store), ("int loop", int_loop)]
    {
        let mut m = Machine::new();
        let (trace, rounds) = setup(&mut m);
        let code = m.install(&trace, TRACE, exit_id(0));
        let before = m.stack.clone();
        let best = (0..7).map(|_| {
            m.stack.copy_from_slice(&before);
            let start = Instant::now();
            m.enter(TRACE);
            start.elapsed().as_secs_f64()
        });
        let best = best.fold(f64::MAX, f64::min);
        println!("{name}: {:.3} ns per iteration, {} bytes", best * 1e9 / rounds as f64, code.size);
    }
}

/// Straight-line code in the usual mixture: integer and float arithmetic, table loads, guards with snapshots.
fn synthetic(ops: usize, guards_every: usize, values: usize) -> Trace {
    let mut t = Build::new();
    let mut ints = t.slots(&[Ty::Int; 4]);
    let table = t.slot(6, Ty::Tab);
    let array = t.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabArray as u16));
    let mut nums = vec![t.slot(7, Ty::Num), t.slot(8, Ty::Num)];
    while t.t.ins.len() < ops {
        let n = t.t.ins.len();
        let (i, j) = (ints[n % ints.len()], ints[n * 7 % ints.len()]);
        let (x, y) = (nums[n % nums.len()], nums[n * 5 % nums.len()]);
        match n % 4 {
            0 => ints.push(t.emit(Op::ADD, Ty::Int, i, j)),
            1 => nums.push(t.emit(Op::ADD, Ty::Num, x, y)),
            2 => nums.push(t.emit(Op::MUL, Ty::Num, x, y)),
            _ => {
                let p = t.emit(Op::AREF, Ty::P64, array, i);
                t.emit(Op::ASTORE, Ty::Num, p, x);
            }
        }
        if n.is_multiple_of(guards_every) {
            let mut slots: Vec<(u16, IrRef)> = Vec::new();
            for k in 0..values {
                slots.push((2 + k as u16, if k % 2 == 0 { ints[ints.len() - 1 - k % 4] } else { nums[nums.len() - 1 - k % 2] }));
            }
            t.snap(&slots);
            t.emit(Op::LT, Ty::Int, i, j);
        }
        ints.drain(..ints.len().saturating_sub(8));
        nums.drain(..nums.len().saturating_sub(8));
    }
    let (i, x) = (ints[0], nums[0]);
    t.end(&[(2, i), (7, x)], Link::Interp)
}

/// Best time of a compilation in microseconds, and the size.
fn compile_time(trace: &Trace) -> (f64, usize) {
    let mut compiler = Compiler::new(isa::host().unwrap(), common::helpers::address);
    let req = CompileRequest::new(TraceTree::single(trace, trace_id(1), exit_id(0)), |_| 0);
    let thunks = ThunkAddrs::placeholder();
    let mut best = (f64::MAX, 0);
    for _ in 0..60 {
        let start = Instant::now();
        let code = compiler.emit(&req, &thunks).unwrap().code;
        best = (best.0.min(start.elapsed().as_secs_f64() * 1e6), code.len());
    }
    best
}

const SIZE: usize = 1000;
const REPEAT: i32 = 20_000;

/// A table with an array part, leaked.
fn table(value: Value) -> Value {
    let array = vec![value; SIZE].leak();
    let table = vec![(SIZE as u64) << 32, array.as_mut_ptr() as u64, 0, 0, 0, 0].leak();
    // SAFETY: compiled code looks at the words of a table that lie there.
    unsafe { Value::from_bits(v::TAG_TAB << v::PAYLOAD_BITS | table.as_mut_ptr() as u64) }
}

/// The loop `i = (i + 1) % SIZE`-free: counts down slot 2 with an inner index that wraps by a select-free mask.
fn looped(t: &mut Build, sum: IrRef, mut body: impl FnMut(&mut Build, IrRef, IrRef) -> IrRef) {
    let (one, mask) = (t.int(1), t.int(511));
    let n = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), IrRef(sload::TYPECHECK));
    let zero = t.int(0);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, n), (4, sum)]);
    let i = t.emit(Op::BAND, Ty::Int, n, mask);
    let sum2 = body(t, i, sum);
    let n2 = t.emit(Op::SUB, Ty::Int, n, one);
    t.snap(&[(2, n2), (4, sum2)]);
    t.emit(Op::GT, Ty::Int, n2, zero);
    t.emit(Op::PHI, Ty::Int, n, n2);
    if sum != sum2 {
        let ty = t.t.ins[sum.ins_index()].ty;
        t.emit(Op::PHI, ty, sum, sum2);
    }
    t.t.link = Link::Loop;
}

fn array_of(t: &mut Build) -> (IrRef, IrRef) {
    let table = t.guarded(Op::SLOAD, Ty::Tab, IrRef(3), IrRef(sload::TYPECHECK));
    let size = t.emit(Op::FLOAD, Ty::Int, table, IrRef(Field::TabAsize as u16));
    let array = t.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabArray as u16));
    (size, array)
}

/// sum = sum + t[i]
fn array_sum(m: &mut Machine) -> (Trace, u64) {
    let rounds = REPEAT * SIZE as i32;
    (*m.slot(2), *m.slot(3), *m.slot(4)) = (Value::int(rounds).bits(), table(Value::num(0.5)).bits(), Value::num(0.0).bits());
    let mut t = Build::new();
    let (size, array) = array_of(&mut t);
    let sum = t.guarded(Op::SLOAD, Ty::Num, IrRef(4), IrRef(sload::TYPECHECK));
    looped(&mut t, sum, |t, i, sum| {
        t.emit(Op::ABC, Ty::Int, size, i);
        let p = t.emit(Op::AREF, Ty::P64, array, i);
        let x = t.guarded(Op::ALOAD, Ty::Num, p, IrRef::NIL);
        t.emit(Op::ADD, Ty::Num, sum, x)
    });
    (t.t, rounds as u64)
}

/// t[i] = i + 0.0, then sum = sum + t[i] as an int check
fn array_store(m: &mut Machine) -> (Trace, u64) {
    let rounds = REPEAT * SIZE as i32;
    (*m.slot(2), *m.slot(3), *m.slot(4)) = (Value::int(rounds).bits(), table(Value::int(1)).bits(), Value::int(0).bits());
    let mut t = Build::new();
    let (size, array) = array_of(&mut t);
    let sum = t.guarded(Op::SLOAD, Ty::Int, IrRef(4), IrRef(sload::TYPECHECK));
    looped(&mut t, sum, |t, i, sum| {
        t.emit(Op::ABC, Ty::Int, size, i);
        let p = t.emit(Op::AREF, Ty::P64, array, i);
        let x = t.guarded(Op::ALOAD, Ty::Int, p, IrRef::NIL);
        t.emit(Op::ASTORE, Ty::Int, p, i);
        t.emit(Op::BXOR, Ty::Int, sum, x)
    });
    (t.t, rounds as u64)
}

/// sum = sum + i, with the sum a num
fn int_loop(m: &mut Machine) -> (Trace, u64) {
    let rounds = REPEAT * SIZE as i32;
    (*m.slot(2), *m.slot(4)) = (Value::int(rounds).bits(), Value::num(0.0).bits());
    let mut t = Build::new();
    let sum = t.guarded(Op::SLOAD, Ty::Num, IrRef(4), IrRef(sload::TYPECHECK));
    looped(&mut t, sum, |t, i, sum| {
        let x = t.emit(Op::CONV, Ty::Num, i, IrRef(conv::NUM_INT));
        t.emit(Op::ADD, Ty::Num, sum, x)
    });
    (t.t, rounds as u64)
}
