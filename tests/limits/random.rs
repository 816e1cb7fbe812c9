//! Interrupts at random times into each of the benchmarks, from another thread, in one state after the other: the program ends, the heap is
//! as it must be, and the state can be used again. CI does it a few times; the rest is
//!
//! cargo test --test limits -- --ignored --nocapture

use super::corpus::{Case, benchmarks};
use super::{MODES, state, works};
use perilune::{Error, Function, InterruptHandle, Lua, Variadic};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a run must not take longer than after its interrupt, even on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a program may go on after its interrupt.
const PROMISED: Duration = Duration::from_millis(10);

/// The clock of the processor time of a thread, which any thread can read.
#[derive(Copy, Clone)]
pub(super) struct Work(libc::clockid_t);

impl Work {
    fn of_this_thread() -> Work {
        let mut clock = 0;
        // SAFETY: the thread exists, and the address is valid during the call.
        let error = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        assert_eq!(error, 0, "each thread has a clock");
        Work(clock)
    }
    fn so_far(self) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the address is valid during the call.
        let status = unsafe { libc::clock_gettime(self.0, &mut time) };
        assert_eq!(status, 0, "the thread exists");
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// When a program was interrupted, and how long its thread had worked.
pub(super) type Interrupted = (Instant, Duration);

/// What the other thread gets: whom to interrupt after which time, and whom to tell.
pub(super) type Order = (InterruptHandle, Duration, Work, mpsc::Sender<Interrupted>);

/// How long programs took to end.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Ends {
    /// The longest time.
    slowest: Duration,
    /// The longest time in which the thread ran: without waiting for a processor that others keep busy.
    pub(super) most_work: Duration,
}

impl Ends {
    pub(super) fn max(self, other: Ends) -> Ends {
        Ends { slowest: self.slowest.max(other.slowest), most_work: self.most_work.max(other.most_work) }
    }
}

/// A small generator of random numbers (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

/// The program as a function, with its output thrown away.
fn load(lua: &Lua, case: &Case) -> Function {
    let prelude = "io.output('/dev/null') print = function(...) io.write(tostring((...))) end arg = {...}";
    lua.load(prelude).call::<()>(Variadic::from(case.args.clone())).expect("the prelude");
    let text = std::fs::read(&case.file).expect("a program");
    lua.load(text).into_function().expect("a program")
}

/// Has the other thread interrupt a program after a time, and runs the program until that ends it.
pub(super) fn end_by_interrupt(
    name: &str,
    lua: &Lua,
    program: impl Fn() -> perilune::Result<()>,
    wait: Duration,
    send: &mpsc::Sender<Order>,
) -> Ends {
    let work = Work::of_this_thread();
    let (interrupted, when) = mpsc::channel();
    send.send((lua.interrupt_handle(), wait, work, interrupted)).expect("the thread runs");
    // A run that was over before is followed by another.
    let e = loop {
        if let Err(e) = program() {
            break e;
        }
    };
    let (end, worked) = (Instant::now(), work.so_far());
    assert!(matches!(e, Error::Interrupted(_)), "{name}: {e}");
    let (when, before) = when.recv().expect("an interrupt");
    let ends = Ends { slowest: end.saturating_duration_since(when), most_work: worked.saturating_sub(before) };
    if ends.most_work > PROMISED / 2 {
        println!("{name}: {ends:?} after {wait:?}");
    }
    assert!(ends.slowest < PATIENCE, "{name}: {ends:?}");
    ends
}

/// The thread that interrupts.
pub(super) fn interrupt_on_order(orders: mpsc::Receiver<Order>) {
    for (handle, wait, work, tell) in orders {
        std::thread::sleep(wait);
        let now = (Instant::now(), work.so_far());
        assert!(handle.interrupt());
        tell.send(now).expect("the other thread waits");
    }
}

/// Interrupts a program so many times in each mode.
fn interrupt(case: &Case, times: u32, seed: u64, send: &mpsc::Sender<Order>) -> Ends {
    let name = case.file.display();
    let mut random = Random(seed * 2 + 1);
    let mut ends = Ends::default();
    for mode in MODES {
        let lua = state(mode);
        // Compiled loops ask for interrupts from the first run on.
        lua.interrupt_handle();
        let program = load(&lua, case);
        let args = || Variadic::from(case.args.clone());
        let begun = Instant::now();
        program.call::<()>(args()).unwrap_or_else(|e| panic!("{name}, {mode}: {e}"));
        let whole = begun.elapsed();
        for _ in 0..times {
            let wait = Duration::from_nanos(random.below(whole.as_nanos() as u64));
            let name = format!("{name}, {mode}");
            ends = ends.max(end_by_interrupt(&name, &lua, || program.call(args()), wait, send));
            works(&lua, mode);
            // Builds with debug assertions verify the heap at each collection that is asked for so.
            lua.jit_option("gcstress=1").expect("an option");
            assert_eq!(
                lua.load("local t = {} for i = 1, 3 do t[i] = {i} end return #t").eval::<i32>().expect("a result"),
                3,
                "{name}, {mode}"
            );
            lua.jit_option("gcstress=0").expect("an option");
        }
        program.call::<()>(args()).unwrap_or_else(|e| panic!("{name}, {mode}: {e}"));
    }
    ends
}

fn interrupt_all(times: u32) -> Ends {
    // Programs run several times in one state, where a declaration of C is made once.
    let mut cases = benchmarks();
    cases.retain(|case| !case.file.parent().is_some_and(|folder| folder.ends_with("ffi")));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (send, receive) = mpsc::channel::<Order>();
                scope.spawn(move || interrupt_on_order(receive));
                let (cases, next) = (&cases, &next);
                scope.spawn(move || {
                    let mut ends = Ends::default();
                    loop {
                        let i = next.fetch_add(1, Relaxed);
                        let Some(case) = cases.get(i) else { return ends };
                        ends = ends.max(interrupt(case, times, i as u64, &send));
                    }
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().expect("a thread")).fold(Ends::default(), Ends::max)
    })
}

#[test]
fn interrupts_at_random_times() {
    interrupt_all(2);
}

#[test]
#[ignore = "takes minutes"]
fn many_interrupts_at_random_times() {
    let ends = interrupt_all(100);
    println!("{ends:?}");
    // Builds without optimisation take longer; how long a thread waits for a processor is not ours.
    assert!(cfg!(debug_assertions) || ends.most_work <= PROMISED, "{ends:?}");
}

/// Compiling a large trace, which takes longer than an interrupt may, is given up.
#[test]
fn large_traces_are_not_waited_for() {
    // 2,900 instructions with the body of the loop that the optimiser makes.
    let body: String = (1..=130)
        .map(|k| {
            let place = |n| k * n % 32 + 33;
            format!("t[{}] = t[{}] + {k}.25 * t[(i + {k}) % 32 + 1] s = s + t[{}] ", place(1), place(7), place(5))
        })
        .collect();
    let program = format!("local t, s = {{}}, 0 for i = 1, 64 do t[i] = i * 1.5 end for i = 1, 500 do {body} end");
    let (send, receive) = mpsc::channel::<Order>();
    let other = std::thread::spawn(move || interrupt_on_order(receive));
    let mut ends = Ends::default();
    let mut random = Random(1);
    let begun = Instant::now();
    let compile_time = |lua: &Lua| {
        lua.load(&*program).exec().expect("a program");
        lua.load("return require 'jit.util'.counters(true).compile_ns").eval::<f64>().expect("a counter")
    };
    let here = compile_time(&state("at once"));
    let whole = begun.elapsed();
    let interruptible = state("at once");
    interruptible.interrupt_handle();
    let elsewhere = compile_time(&interruptible);
    assert!(elsewhere > here / 3.0, "the time of another thread counts: {elsewhere} {here}");
    for _ in 0..20 {
        // In a new state, nothing is compiled yet.
        let lua = state("at once");
        let function = lua.load(&*program).into_function().expect("a program");
        let wait = Duration::from_nanos(random.below(whole.as_nanos() as u64));
        ends = ends.max(end_by_interrupt("large trace", &lua, || function.call(()), wait, &send));
        works(&lua, "large trace");
        lua.load(&*program).exec().expect("the trace can be compiled after all");
    }
    drop(send);
    other.join().expect("the other thread");
    println!("{ends:?} of {whole:?}");
    assert!(cfg!(debug_assertions) || ends.most_work <= PROMISED, "{ends:?}");
    // Compiling the trace is most of the run.
    assert!(ends.most_work < whole / 3, "{ends:?} of {whole:?}");
}

/// Two states on two threads: what is done to the one does not concern the other.
#[test]
fn two_states_on_two_threads() {
    let (send, receive) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let lua = Lua::new();
        lua.jit_option("hotloop=2").expect("an option");
        send.send(lua.interrupt_handle()).expect("the other thread waits");
        let mut ends = 0;
        while ends < 20 {
            let e = lua
                .load("while true do local t = {} for i = 1, 50 do t[i] = tostring(i) end end")
                .exec()
                .expect_err("an interrupt");
            assert!(matches!(e, Error::Interrupted(_)), "{e}");
            lua.clear_interrupt();
            ends += 1;
        }
    });
    let handle = receive.recv().expect("a handle");
    let lua = Lua::new();
    lua.set_fuel(Some(u64::MAX));
    let program =
        lua.load("local n, t = 0, {} for i = 1, 2e4 do t[i % 100] = {i} n = n + #tostring(i) end return n").into_function();
    let program = program.expect("a program");
    while !worker.is_finished() {
        handle.interrupt();
        assert_eq!(program.call::<u32>(()).expect("nobody interrupts this one"), 9 + 180 + 2700 + 36000 + 50005);
    }
    worker.join().expect("the other thread");
    assert!(!handle.interrupt());
}
