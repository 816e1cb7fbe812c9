//! Random programs, interpreted, and run as traces under every combination of passes: the same comes out.

mod common;

use common::World;
use common::program::{FIRST, Machine, Program, Rng, SLOTS, generate};
use common::recorder::Recorder;
use perilune_recorder::abort::Abort;
use perilune_recorder::eval::{self, Config, Outcome};
use perilune_recorder::ir::Trace;
use perilune_recorder::ir::verify::verify;
use perilune_recorder::opt;
use perilune_recorder::params::Limits;
use perilune_recorder::params::OptFlags;
use perilune_vm::Value;

const STACK: usize = 32;
/// Iterations that are interpreted before recording starts.
const WARM_UP: usize = 2;
/// Iterations that may be recorded one after the other.
const UNROLL: usize = 4;

struct Setup {
    world: World,
    program: Program,
    stack: Vec<Value>,
}

fn setup(seed: u64) -> Setup {
    let mut world = World::new();
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (program, slots) = generate(&mut world.vm, &mut rng);
    let mut stack = vec![Value::NIL; STACK];
    stack[8..8 + SLOTS + 1 - FIRST].copy_from_slice(&slots[FIRST..]);
    Setup { world, program, stack }
}

impl Setup {
    fn machine(&mut self) -> (Machine<'_>, &Program) {
        let base = self.stack.as_mut_ptr().wrapping_add(8);
        (Machine { vm: &mut self.world.vm, base }, &self.program)
    }
    /// Interprets from `pc` until the program stops or has come back to its start `iterations` times; whether it goes on.
    fn interpret(&mut self, mut pc: usize, iterations: usize) -> bool {
        let (mut m, p) = self.machine();
        let mut done = 0;
        while done < iterations {
            match m.step(p, pc) {
                Ok(next) => {
                    done += usize::from(next == 0 && pc >= p.body.len());
                    pc = next;
                }
                Err(_) => return false,
            }
        }
        true
    }
    fn state(&self) -> String {
        let mut seen = Vec::new();
        let slots: Vec<String> = (8..8 + SLOTS + 1 - FIRST).map(|i| show(&self.world, self.stack[i], &mut seen)).collect();
        slots.join(" ")
    }
}

/// A value with all that is reachable from it; tables by the order in which they are met.
fn show(world: &World, v: Value, seen: &mut Vec<u64>) -> String {
    let Some(t) = v.as_table() else { return world.show(v) };
    if let Some(i) = seen.iter().position(|a| *a == t.addr()) {
        return format!("<{i}>");
    }
    seen.push(t.addr());
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some((next, k, v)) = t.next_index(at) {
        // Tables that are keys come in the order of their addresses: their contents tell them apart.
        let contents = |v: Value| v.as_table().map_or(String::new(), |t| world.show_table(t, 0));
        entries.push((world.show(k) + &contents(k), world.show(v) + &contents(v), v));
        at = next;
    }
    entries.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let entries: Vec<String> = entries.into_iter().map(|(k, _, v)| format!("{k}={}", show(world, v, seen))).collect();
    format!("{{{}}}", entries.join(" "))
}

/// Records iterations while executing them.
fn record(s: &mut Setup, flags: OptFlags, dense: bool) -> Result<Trace, Abort> {
    let (mut m, p) = s.machine();
    let b = opt::buffer(flags, Limits::default());
    let mut r = Recorder::new(b, p, dense);
    r.snapshot(0)?;
    for _ in 0..UNROLL {
        let mut pc = 0;
        loop {
            let (i, limit) = (m.get(p.counter).as_int(), m.get(p.limit).as_int());
            if pc >= p.body.len() && i >= limit {
                return Err(Abort::LeavingLoop);
            }
            r.statement(&m, pc)?;
            let Ok(next) = m.step(p, pc) else { return Err(Abort::LeavingLoop) };
            if next == 0 && pc >= p.body.len() {
                break;
            }
            pc = next;
        }
        r.close()?;
        verify(&r.b.trace).unwrap_or_else(|e| panic!("{e}\n{}", r.b.trace));
        match opt::finish(&mut r.b, true) {
            Err(Abort::TypeInstability | Abort::GuardAlwaysFails) => {}
            Err(e) => return Err(e),
            Ok(_) => return Ok(r.b.trace),
        }
    }
    Err(Abort::TypeInstability)
}

/// Counts of what happened, so that a test that tests nothing is seen.
#[derive(Default, Debug)]
struct Counts {
    stopped: usize,
    aborted: usize,
    ran: usize,
    looped: usize,
    executed: u64,
    sunk: usize,
}

/// Runs a program with a trace for its loop; the state it ends in.
fn traced(seed: u64, flags: OptFlags, dense: bool, counts: &mut Counts) -> (String, String) {
    let mut s = setup(seed);
    if !s.interpret(0, WARM_UP) {
        counts.stopped += 1;
        return (s.state(), String::new());
    }
    let trace = match record(&mut s, flags, dense) {
        Ok(trace) => trace,
        Err(_) => {
            counts.aborted += 1;
            return (String::new(), String::new());
        }
    };
    verify(&trace).unwrap_or_else(|e| panic!("{e}\n{trace}"));
    counts.ran += 1;
    counts.sunk += usize::from(trace.ins.iter().any(|i| i.is_sunk()));
    let text = trace.to_string();
    for _ in 0..100 {
        let base = s.stack.as_mut_ptr().wrapping_add(8);
        let config = Config { fuel: 100_000, ..Config::default() };
        // SAFETY: the trace was made for this VM and this stack.
        let exit = unsafe { eval::run_with(&config, &trace, &raw mut *s.world.vm, base) };
        counts.looped += usize::from(exit.iterations > 2);
        counts.executed += exit.executed;
        match exit.outcome {
            Outcome::Again => {}
            Outcome::Exit(k) => {
                let pc = trace.snap(k).pc.get() as usize;
                // To the start of the next iteration, if there is one.
                if !s.interpret(pc, 1) {
                    break;
                }
            }
            outcome => panic!("{outcome:?}\n{text}"),
        }
    }
    (s.state(), text)
}

fn check(seed: u64, flags: OptFlags, dense: bool, counts: &mut Counts) {
    let (actual, trace) = traced(seed, flags, dense, counts);
    if actual.is_empty() {
        return;
    }
    let mut s = setup(seed);
    while s.interpret(0, 1) {}
    let expected = s.state();
    assert!(
        actual == expected,
        "seed {seed} dense {dense} passes {:?}\nprogram {:#?}\n{trace}\nexpected {expected}\nactual   {actual}",
        flags.names().collect::<Vec<_>>(),
        s.program.body
    );
}

/// The sets of passes to try.
fn sets() -> Vec<OptFlags> {
    let mut sets = vec![OptFlags::ALL, OptFlags::NONE, OptFlags::level(1), OptFlags::level(2)];
    for name in ["fold", "cse", "dce", "fwd", "dse", "loop", "narrow", "abc", "sink"] {
        let mut flags = OptFlags::ALL;
        assert!(flags.set(name, false));
        sets.push(flags);
    }
    sets
}

#[test]
fn traces_behave_as_programs() {
    let n = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    let from: u64 = std::env::var("FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut all = Vec::new();
    for flags in sets() {
        let mut counts = Counts::default();
        for seed in from..from + n {
            check(seed, flags, seed % 3 != 0, &mut counts);
        }
        all.push(counts);
    }
    assert!(all[0].looped > all[0].ran / 4, "{all:#?}");
    assert!(all[0].executed < all[1].executed, "optimised traces execute more: {all:#?}");
    if std::env::var_os("COUNTS").is_some() {
        println!("{all:#?}");
    }
}
