//! Traces as text. Any text is a trace or an error; what is printed of a trace reads as the same trace. What is well formed is so
//! after each pass that leaves it a trace.

use perilune_recorder::ir::parse::{Objects, parse};
use perilune_recorder::ir::print::{Names, kind_name, print};
use perilune_recorder::ir::verify::verify;
use perilune_recorder::ir::{Const, Effect, Link, Op, Trace, Ty};
use perilune_recorder::opt;
use perilune_recorder::params::Limits;
use perilune_recorder::params::OptFlags;
use perilune_vm::object::Gc;
use perilune_vm::{Value, Vm};

/// Longer texts are left alone.
const MOST: usize = 1 << 14;
/// Address of the first made-up object. Nothing lives there.
const FIRST: u64 = 0x10_0000;
/// Bytes between two of them.
const STEP: u64 = 64;

struct World(Box<Vm>);

fn fake<T>(address: u64) -> Gc<T> {
    // SAFETY: passes and printing compare the addresses of constants, and follow none.
    unsafe { Gc::from_addr(address) }
}

impl Objects for World {
    fn string(&mut self, s: &[u8]) -> Value {
        Value::str(self.0.new_str(s))
    }
    fn object(&mut self, kind: &str, index: u32) -> Option<Value> {
        let address = FIRST + u64::from(index) * STEP;
        Some(match kind {
            "tab" => Value::table(fake(address)),
            "fun" => Value::func(fake(address)),
            "pro" => Value::proto(fake(address)),
            "udt" => Value::udata(fake(address)),
            "thr" => Value::thread(fake(address)),
            "lud" => Value::lightud(address),
            _ => return None,
        })
    }
}

impl Names for World {
    fn object(&self, v: Value) -> String {
        format!("{}:{}", kind_name(v), (v.payload() - FIRST) / STEP)
    }
}

/// Runs the target.
pub fn run(data: &[u8]) {
    if data.len() > MOST {
        return;
    }
    let Ok(text) = core::str::from_utf8(data) else { return };
    let mut world = World(Vm::new());
    let Ok(trace) = parse(text, &mut world) else { return };
    if verify(&trace).is_err() {
        return;
    }
    let shown = print(&trace, &world);
    let again = parse(&shown, &mut world).unwrap_or_else(|e| panic!("what is printed is no trace: {e}\n{shown}"));
    let second = print(&again, &world);
    assert!(second == shown, "another trace is read:\n{shown}\nis\n{second}");
    if is_arithmetic(&trace) {
        passes(&trace);
    }
}

/// Does the trace only compute, from what is in slots? About memory, passes rely on more than being well formed: that what is loaded
/// belongs to what it is loaded from, say, as it does in what is recorded.
fn is_arithmetic(trace: &Trace) -> bool {
    let computes = |op: Op| op == Op::SLOAD || op == Op::BASE || op.effect() == Effect::Pure && !matches!(op, Op::LOOP | Op::PHI);
    trace.ins.iter().all(|i| computes(i.op) && i.ty != Ty::P64) && !trace.consts.iter().any(|k| matches!(k, Const::Gc(_)))
}

/// Emits the trace once more, with each set of passes.
fn passes(trace: &Trace) {
    let looping = trace.link == Link::Loop;
    for flags in [OptFlags::NONE, OptFlags::ALL] {
        let Ok(mut b) = opt::reemit(trace, flags, Limits::default()) else { continue };
        check(trace, &b.trace, "emitted once more");
        if opt::finish(&mut b, looping).is_ok() {
            check(trace, &b.trace, "finished");
        }
    }
}

fn check(before: &Trace, after: &Trace, what: &str) {
    if let Err(e) = verify(after) {
        panic!("{what} it is not well formed: {e}\n{before}\n{after}");
    }
}
