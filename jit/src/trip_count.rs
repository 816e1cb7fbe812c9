//! Trip counts: how much the numeric loops around a hot place are still to run.
//!
//! A numeric loop knows its limit. With the limits of the loops that a place lies in, in its function and in the callers', one can
//! say of a place that has run for a moment only that it will run for long, where a place that cannot tell must prove it.

use crate::frame;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::interp::frames::Level;
use perilune_vm::object::Proto;
use perilune_vm::{Value, Vm};

/// Frames looked at.
const FRAMES: usize = 16;
/// What instructions that may be passed over count for at the most: nobody knows how many of them are.
const BODY: usize = 100;

/// Bytecode instructions that the numeric loops around the running instruction are still to execute, if each iteration of a loop
/// is like the rest of this one and none is left early. Stops at `enough`.
pub fn promised(vm: &Vm, enough: u64) -> u64 {
    let mut work = 0;
    let mut level = Level::running(vm);
    for _ in 0..FRAMES {
        let Some(l) = level else { break };
        if let (Some(proto), Some(pc)) = (l.func.proto(), l.pc) {
            work = in_function(&l, &proto, pc, work, enough);
            if work >= enough {
                break;
            }
        }
        level = l.below(vm);
    }
    work
}

/// The same in one function, `inner` being what its callees promise.
fn in_function(level: &Level, proto: &Proto, pc: usize, inner: u64, enough: u64) -> u64 {
    let mut work = inner;
    for at in (0..pc).rev() {
        let Some((base, end)) = proto.ins(at).and_then(|i| numeric_loop(i, at)).filter(|(_, end)| *end > pc) else { continue };
        let trips = remaining([0, 1, 2].map(|n| frame::slot(level, base + n)));
        work = trips.max(1).saturating_mul(work.max(in_body(proto, at, end) as u64));
        if work >= enough {
            break;
        }
    }
    work.max(1)
}

/// The first slot of the numeric loop that an instruction begins, and the index behind the loop.
fn numeric_loop(ins: Ins, at: usize) -> Option<(usize, usize)> {
    matches!(ins.op(), Op::FORI | Op::JFORI).then(|| (ins.a(), behind(ins, at)))
}

/// Where a jump goes.
fn behind(jump: Ins, at: usize) -> usize {
    (at as i64 + 1 + i64::from(jump.j())) as usize
}

/// Iterations that a numeric loop has left, by its index, limit and step.
fn remaining(slots: [Value; 3]) -> u64 {
    let [index, limit, step] = slots.map(|v| v.as_number().unwrap_or(f64::NAN));
    // Not a number and what is negative become 0, what is beyond all integers the largest.
    ((limit - index) / step) as u64
}

/// How many bytecode instructions one tick of the hot counter of an instruction stands for: an iteration of a loop counts two, a call
/// one.
pub fn weight(proto: &Proto, at: usize) -> u64 {
    let Some(ins) = proto.ins(at) else { return 1 };
    let executed = match ins.op() {
        Op::FORL | Op::ITERL => in_body(proto, behind(ins, at), at),
        Op::ITERN => proto.ins(at + 1).map_or(0, |l| in_body(proto, behind(l, at + 1), at)),
        Op::LOOP => in_body(proto, at, behind(ins, at)),
        // A function: half of it, as there are branches.
        _ => proto.code_len().min(BODY),
    };
    executed.max(2) as u64 / 2
}

/// Instructions that one iteration of the loop between two indices executes: all that no jump passes over, and half of the others.
fn in_body(proto: &Proto, from: usize, to: usize) -> usize {
    let (mut sure, mut passed_until) = (0, from);
    for at in from..to {
        sure += usize::from(at >= passed_until);
        if let Some(jump) = proto.ins(at).filter(|i| i.op() == Op::JMP) {
            passed_until = passed_until.max(behind(jump, at).min(to));
        }
    }
    sure + (to.saturating_sub(from) - sure).min(BODY) / 2
}

#[cfg(test)]
mod tests {
    use super::remaining;
    use perilune_vm::Value;

    #[test]
    fn remaining_iterations() {
        let ints = |i, limit, step| remaining([i, limit, step].map(Value::int));
        assert_eq!(ints(1, 10, 1), 9);
        assert_eq!(ints(10, 1, -3), 3);
        assert_eq!(ints(11, 10, 1), 0);
        let nums = |i, limit, step| remaining([i, limit, step].map(Value::num));
        assert_eq!(nums(0.0, 1.0, 0.25), 4);
        assert_eq!(nums(1.0, f64::INFINITY, 1.0), u64::MAX);
        assert_eq!(nums(1.0, f64::NAN, 1.0), 0);
        assert_eq!(nums(1.0, 2.0, 0.0), u64::MAX);
        assert_eq!(remaining([Value::NIL; 3]), 0);
    }
}
