//! States on several threads at once. What they share is the process's: the counters of the compiler, the list of open files and the
//! standard ones, the reserve of memory, the clock of samples. ThreadSanitizer looks at it by tests/sanitize/thread.sh.

use perilune::Lua;
use perilune::observe::profile;
use perilune_jit::view::counters::of_process;
use std::sync::atomic::{AtomicBool, Ordering};

const THREADS: u64 = 4;
const STATES: usize = 3;

/// Compiles a loop, uses files, collects.
const PROGRAM: &str = "jit.opt.start('hotloop=2')
    local f = io.tmpfile()
    local s = 0
    for i = 1, 300 do
      s = s + #tostring(i)
      f:write(i, '\\n')
    end
    f:flush()
    io.write('') io.flush() io.stderr:write('')
    f:seek('set')
    local n = 0
    for line in f:lines() do n = n + line end
    f:close()
    local left = io.tmpfile() left:write('left open')
    local t = {} for i = 1, 200 do t[i] = { i } end
    t = nil
    collectgarbage()
    return n, s";

/// Runs the program in new states; how many traces were compiled.
fn states() -> u64 {
    let mut traces = 0;
    for _ in 0..STATES {
        let lua = Lua::new();
        lua.jit_option("budget=0").expect("an option");
        lua.set_memory_limit(64 << 20).expect("a limit");
        // One thread has samples at a time, the others are told so.
        let sampled = lua.start_profile(profile::Options::new()).is_ok();
        let (n, s): (u32, u32) = lua.load(PROGRAM).eval().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((n, s), (300 * 301 / 2, 9 + 90 * 2 + 201 * 3));
        if sampled {
            lua.stop_profile().expect("it was started");
        }
        lua.flush();
        traces += lua.load("return require('jit.util').counters(true).closed").eval::<u64>().expect("a counter");
    }
    traces
}

#[test]
fn states_on_threads() {
    let done = AtomicBool::new(false);
    let compiled: u64 = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let now = of_process().closed;
                assert!(now >= last, "counters go back");
                last = now;
                std::thread::yield_now();
            }
        });
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(states)).collect();
        let sum = threads.into_iter().map(|t| t.join().expect("no panic")).sum();
        done.store(true, Ordering::Relaxed);
        sum
    });
    assert!(compiled >= THREADS * STATES as u64, "{compiled} traces");
    assert_eq!(of_process().closed, compiled);
}
