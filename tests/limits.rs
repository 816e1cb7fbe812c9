//! Limits hold: programs that never end are ended by a time limit and from other threads, and what they leave is a state that works; programs
//! that want more memory than they may have stay near the limit.
#![cfg(target_os = "linux")]

use perilune::{Error, InterruptHandle, Lua};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Programs without an end, by what they do.
const ENDLESS: [(&str, &str); 23] = [
    ("loop", "while true do end"),
    ("counter", "local i = 0 while true do i = i + 1 end"),
    ("numeric loop", "for i = 1, math.huge do local x = i * 2 end"),
    ("nested loops", "while true do for i = 1, 100 do for j = 1, 100 do end end end"),
    ("goto", "::again:: goto again"),
    ("tail calls", "local function f(n) return f(n + 1) end f(0)"),
    ("calls", "local function f() end while true do f() end"),
    ("recursion and return", "local function f(n) if n > 0 then return 1 + f(n - 1) end return 0 end while true do f(50) end"),
    ("caught", "while true do pcall(function() while true do end end) end"),
    ("caught with a handler", "while true do xpcall(function() while true do end end, function(e) while true do end end) end"),
    ("caught by coroutines", "while true do coroutine.resume(coroutine.create(function() while true do end end)) end"),
    ("coroutines", "local f = coroutine.wrap(function() while true do coroutine.yield() end end) while true do f() end"),
    (
        "metamethods",
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) pcall(function() return t[1] end) while true do local x = rawequal(t, t) end",
    ),
    ("iterator", "local function iter(s, c) return c + 1 end for i in iter, nil, 0 do end"),
    ("pairs", "local t = {1, 2, 3} while true do for k in pairs(t) do t[k] = k end end"),
    ("sort", "local t = {} for i = 1, 300 do t[i] = i % 7 end while true do table.sort(t, function(a, b) return a < b end) end"),
    ("gsub", "while true do (('x'):rep(100)):gsub('x', function(c) return c end) end"),
    ("backtracking", "local s = ('a'):rep(30000) return s:find(('a*'):rep(6) .. 'b')"),
    ("balance", "local s = ('('):rep(300000) return s:find('%b()')"),
    (
        "finalizer",
        "local p = newproxy(true) getmetatable(p).__gc = function() while true do end end p = nil collectgarbage() while true do end",
    ),
    ("load", "while true do load('return 1')() end"),
    ("concat", "local s = '' while true do s = (s .. 'x'):sub(-100) end"),
    ("tables", "while true do local t = {} for i = 1, 100 do t[i] = {i} end end"),
];

/// A state in which everything is interpreted, compiled as usual, or compiled at once.
fn state(mode: &str) -> Lua {
    let lua = Lua::new();
    match mode {
        "interpreted" => lua.set_jit(false),
        "at once" => ["hotloop=1", "hotexit=1"].iter().for_each(|o| lua.jit_option(o).expect("an option")),
        _ => {}
    }
    lua
}

const MODES: [&str; 3] = ["interpreted", "as usual", "at once"];

#[test]
fn a_time_limit_ends_every_program() {
    for (name, program) in ENDLESS {
        for mode in MODES {
            let lua = state(mode);
            lua.set_time_limit(Some(Duration::from_millis(60))).expect("a timer");
            let e = lua.load(program).exec().expect_err(name);
            assert!(matches!(e, Error::TimeLimitExceeded(_)), "{name}, {mode}: {e}");
            // Nothing runs any more, until the limit is taken back.
            let again = lua.load("local n = 0 for i = 1, 10 do n = n + i end return n");
            assert!(again.eval::<i32>().is_err(), "{name}, {mode}");
            works(&lua, name);
        }
    }
}

/// The state can be used again.
#[track_caller]
fn works(lua: &Lua, name: &str) {
    lua.clear_interrupt();
    let program = "local t = {} for i = 1, 1000 do t[i] = tostring(i) end collectgarbage() return #table.concat(t)";
    assert_eq!(lua.load(program).eval::<usize>().unwrap_or_else(|e| panic!("{name}: {e}")), 2893);
}

/// Another thread interrupts programs of one state, one after the other, at times that vary.
#[test]
fn another_thread_interrupts() {
    let (send, receive) = mpsc::channel::<(InterruptHandle, Duration)>();
    let other = std::thread::spawn(move || {
        for (handle, wait) in receive {
            std::thread::sleep(wait);
            assert!(handle.interrupt());
        }
    });
    for mode in MODES {
        let lua = state(mode);
        for (i, (name, program)) in ENDLESS.iter().enumerate() {
            let wait = Duration::from_micros(500 + 1_700 * (i as u64 % 11));
            send.send((lua.interrupt_handle(), wait)).expect("the thread runs");
            let e = lua.load(*program).exec().expect_err(name);
            assert!(matches!(e, Error::Interrupted(_)), "{name}, {mode}: {e}");
            works(&lua, name);
        }
    }
    drop(send);
    other.join().expect("the other thread");
}

/// An interrupt of one state is none of another, on the same thread or not; a closed state cannot be interrupted.
#[test]
fn states_are_interrupted_one_by_one() {
    let (one, two) = (Lua::new(), Lua::new());
    let (first, second) = (one.interrupt_handle(), two.interrupt_handle());
    assert!(first.interrupt());
    assert!(matches!(one.load("return 1").eval::<i32>(), Err(Error::Interrupted(_))));
    assert_eq!(two.load("local n = 0 for i = 1, 1e5 do n = n + 1 end return n").eval::<i32>().expect("runs"), 100_000);
    drop(one);
    assert!(!first.interrupt());
    assert!(second.interrupt());
    assert!(two.load("while true do end").exec().is_err());
    drop(two);
    assert!(!second.interrupt());
    let there = std::thread::spawn(|| {
        let lua = Lua::new();
        let handle = lua.interrupt_handle();
        std::thread::spawn(move || handle.interrupt()).join().expect("a thread");
        assert!(lua.load("while true do end").exec().is_err());
    });
    there.join().expect("a thread");
}

#[test]
fn the_command_has_a_time_limit() {
    let begun = Instant::now();
    let command = env!("CARGO_BIN_EXE_perilune");
    let output = Command::new(command)
        .args(["--time-limit", "100ms", "-e", "while true do pcall(load, 'x') end"])
        .output()
        .expect("the command");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("time limit exceeded"), "{text}");
    assert!(begun.elapsed() >= Duration::from_millis(100));
    // Input that never comes is not waited for any longer.
    let waits = Command::new(command).args(["--time-limit=100ms", "-e", "io.read()"]).stdin(std::process::Stdio::piped()).spawn();
    let mut waits = waits.expect("the command");
    let input = waits.stdin.take();
    assert_eq!(waits.wait().expect("its end").code(), Some(1));
    drop(input);
}

/// Programs that want more memory than the limit, with what they say in the end.
const LARGE: [(&str, &str); 12] = [
    (
        "nested coroutines",
        "local function f(n) if n == 0 then return 1 end return 1, coroutine.resume(coroutine.create(f), n - 1) end f(20000)",
    ),
    ("nested wraps", "local function f(n) if n == 0 then return 1 end return 1, coroutine.wrap(f)(n - 1) end f(20000)"),
    ("endless coroutines", "local function f() return coroutine.wrap(f)() end pcall(f)"),
    ("table.new, fields", "pcall(require 'table.new', 0, 2^26)"),
    ("table.new, elements", "pcall(require 'table.new', 2^26, 0)"),
    (
        "load in pieces",
        "local n = 0 load(function() n = n + 1 return n == 1 and 'return {' or n < 3e6 and (\"'s\" .. n .. \"',\") or nil end)",
    ),
    ("doubling", "pcall(function() local s = 'x' while true do s = s .. s end end)"),
    ("list", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = i end end)"),
    ("fields", "pcall(function() local t = {} for i = 1, 1e9 do t['f' .. i] = i end end)"),
    ("closures", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = function() return i end end end)"),
    ("rep", "pcall(string.rep, 'x', 2^30)"),
    ("coroutines", "pcall(function() local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end end)"),
];

#[test]
fn memory_stays_near_its_limit() {
    const LIMIT: usize = 64;
    for (name, program) in LARGE {
        for options in [&["-joff"][..], &[], &["-Ohotloop=1", "-Ohotexit=1"]] {
            let program = format!("{program} io.write('done')");
            let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
            command.args(["--memory-limit", &format!("{LIMIT}m")]);
            // The most that was in use, as the kernel counts it.
            let peak = format!("{program} for l in io.lines('/proc/self/status') do io.write(l:match('^VmHWM:.*') or '') end");
            let output = command.args(options).args(["-e", &peak]).output().expect("the command");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.signal(), None, "{name} with {options:?}");
            let kilobytes: usize = text
                .split_once("VmHWM:")
                .and_then(|(_, n)| n.trim().split(' ').next()?.parse().ok())
                .unwrap_or_else(|| panic!("{name} with {options:?}: {text} {}", String::from_utf8_lossy(&output.stderr)));
            assert!(kilobytes < (2 * LIMIT + 20) << 10, "{name} with {options:?}: {kilobytes} KB");
        }
    }
}
