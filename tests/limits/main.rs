//! Limits hold: programs that never end are ended by a time limit and from other threads, and what they leave is a state that works; programs
//! that want more memory than they may have stay near the limit.
#![cfg(target_os = "linux")]

#[path = "../command/mod.rs"]
mod command;
#[path = "../corpus/mod.rs"]
mod corpus;
mod parts;
mod programs;
mod random;

use perilune::{Error, InterruptHandle, Lua};
use programs::{DEEP, ENDLESS, LARGE};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A state in which everything is interpreted, compiled as usual, or compiled at once.
fn state(mode: &str) -> Lua {
    let lua = Lua::new();
    match mode {
        "interpreted" => lua.set_jit(false),
        "at once" => ["hotloop=1", "hotexit=1"].iter().for_each(|o| lua.jit_option(o).expect("an option")),
        "evaluated" => ["hotloop=1", "hotexit=1", "eval=1"].iter().for_each(|o| lua.jit_option(o).expect("an option")),
        _ => {}
    }
    lua
}

const MODES: [&str; 3] = ["interpreted", "as usual", "at once"];

#[test]
fn a_time_limit_ends_every_program() {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, program)) = ENDLESS.get(next.fetch_add(1, Relaxed)) {
                    MODES.iter().for_each(|mode| is_ended(name, program, mode));
                }
            });
        }
    });
}

fn is_ended(name: &str, program: &str, mode: &str) {
    let lua = state(mode);
    lua.set_time_limit(Some(Duration::from_millis(60))).expect("a timer");
    let begun = Instant::now();
    let e = lua.load(program).exec().expect_err(name);
    assert!(matches!(e, Error::TimeLimitExceeded(_)), "{name}, {mode}: {e}");
    // The shortest command that a program waits for takes longer.
    assert!(begun.elapsed() < Duration::from_secs(4), "{name}, {mode}");
    // Nothing runs any more, until the limit is taken back.
    let again = lua.load("local n = 0 for i = 1, 10 do n = n + i end return n");
    assert!(again.eval::<i32>().is_err(), "{name}, {mode}");
    works(&lua, name);
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

/// What is interrupted while it is recorded, a loop or a side trace, is recorded again the next time, however often.
#[test]
fn interrupted_recordings_do_not_count() {
    let lua = Lua::new();
    ["hotloop=20", "hotexit=20"].iter().for_each(|o| lua.jit_option(o).expect("an option"));
    let handle = lua.interrupt_handle();
    let interrupt = lua.create_function(move |_, _: perilune::MultiValue| {
        assert!(handle.interrupt());
        Ok(())
    });
    lua.globals().set("interrupt", interrupt.expect("a function")).expect("set");
    let program = "function f(n, other)
        local s = 0
        for i = 1, n do if other then s = s + i % 3 else s = s + i end end
        return s
      end
      function makes_trace(n, call)
        jit.attach(interrupt)
        call()
        local made = require 'jit.util'.traceinfo(n) ~= nil
        jit.attach(interrupt, 'record')
        return made
      end
      jit.attach(interrupt, 'record')";
    lua.load(program).exec().expect("a program");
    for (trace, call) in [(1, "f(100)"), (2, "f(100, true)")] {
        for i in 0..50 {
            let e = lua.load(call).exec().expect_err("its recording is interrupted");
            assert!(matches!(e, Error::Interrupted(_)), "{i}: {e}");
            lua.clear_interrupt();
        }
        let made = lua.load(format!("return makes_trace({trace}, function() {call} end)")).eval::<bool>();
        assert!(made.expect("it is not interrupted any more"), "{call}");
    }
}

/// An interrupt of one state sends a signal to the thread. Another state of that thread, which waits for a line, reads it all the same.
#[test]
fn an_interrupt_does_not_end_a_read_of_another_state() {
    let (outer, inner) = (Lua::new(), Lua::new());
    let handle = outer.interrupt_handle();
    let read = inner.load("line = io.popen('sleep 0.3; echo line'):read()").into_function().expect("compiles");
    let f = outer.create_function(move |_, ()| {
        let handle = handle.clone();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            assert!(handle.interrupt());
        });
        let done = read.call::<()>(());
        other.join().expect("the other thread");
        done
    });
    outer.globals().set("read", f.expect("a function")).expect("set");
    let e = outer.load("read() while true do end").exec().expect_err("it is interrupted");
    assert!(matches!(e, Error::Interrupted(_)), "{e}");
    assert_eq!(inner.globals().get::<String>("line").expect("it was read"), "line");
}

/// Finalizers of the program are limited, and say so. Files are closed in any case, without a message, and what was written to them is there.
#[test]
fn a_limit_does_not_keep_files_open() {
    let path = std::env::temp_dir().join(format!("perilune-limits-{}.txt", std::process::id()));
    let endless = "while true do pcall(function() while true do t[#t + 1] = (' '):rep(1000) end end) end";
    for limit in [&["--time-limit", "100ms"], &["--fuel", "100000"], &["--memory-limit", "8m"]] {
        for finalizer in ["", "local p = newproxy(true) getmetatable(p).__gc = function() while true do end end "] {
            if limit[0] == "--memory-limit" && !finalizer.is_empty() {
                // It would not end.
                continue;
            }
            let open = format!(
                "t = {{}} f = io.open('{}', 'w') f:write('text') b = require 'string.buffer'.new():put(1) ",
                path.display()
            );
            let last = if limit[0] == "--memory-limit" { "while true do t[#t + 1] = (' '):rep(1000) end" } else { endless };
            let program = format!("{open}{finalizer}keep = p {last}");
            let done = std::process::Command::new(env!("CARGO_BIN_EXE_perilune"))
                .args(limit)
                .args(["-e", &program])
                .stdin(std::process::Stdio::null())
                .output()
                .expect("the command runs");
            let errors = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(1), "{limit:?}: {errors}");
            let reported = errors.lines().filter(|l| l.starts_with("ERROR in finalizer")).count();
            assert_eq!(reported, usize::from(!finalizer.is_empty()), "{limit:?}: {errors}");
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), "text", "{limit:?}");
            std::fs::remove_file(&path).expect("it is there");
        }
    }
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
    // Nor is a reader that never reads.
    for write in ["io.write(s)", "print(s)", "f:write(s)", "f:write(s:rep(1e6))"] {
        let program =
            format!("local s, f = ('x'):rep(99), io.popen('exec sleep 100 > /dev/null 2>&1', 'w') while true do {write} end");
        let mut waits = Command::new(command);
        waits
            .args(["--time-limit=100ms", "-e", &program])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut waits = waits.spawn().expect("the command");
        let output = waits.stdout.take();
        let ended = waits.wait_with_output().expect("its end");
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.code() == Some(1) && text.contains("time limit exceeded"), "{write}: {text}");
        drop(output);
    }
    // Nor is another process that never opens the other end of a pipe.
    let pipe = std::env::temp_dir().join(format!("perilune-pipe-{}", std::process::id()));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for open in ["io.open(name)", "io.open(name, 'w')", "loadfile(name)"] {
        let program = format!("local name = '{}' {open}", pipe.display());
        let ended = Command::new(command).args(["--time-limit=100ms", "-e", &program]).output().expect("the command");
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(text.contains("time limit exceeded"), "{open}: {text}");
    }
    std::fs::remove_file(&pipe).expect("the pipe");
}

/// The signal of an interrupt comes a second time: the first may have come just before the program began to wait.
#[test]
fn a_signal_that_comes_too_early_comes_again() {
    let lua = Lua::new();
    let handle = lua.interrupt_handle();
    let wait = lua.create_function(move |_, ()| {
        handle.interrupt();
        // The first signal has come by now. SAFETY: no descriptors.
        Ok(unsafe { libc::poll(core::ptr::null_mut(), 0, 10_000) })
    });
    lua.globals().set("wait", wait.expect("a function")).expect("a field");
    let begun = Instant::now();
    let e = lua.load("wait()").exec().expect_err("an interrupt");
    assert!(e.to_string().contains("interrupted!"), "{e}");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// What a program has written when its time is over is not lost where somebody reads it.
#[test]
fn what_was_written_is_not_lost() {
    let program = "io.write(('x'):rep(3e6)) print(('y'):rep(9e5)) while true do io.write('z') pcall(load, 'x') end";
    let output =
        Command::new(env!("CARGO_BIN_EXE_perilune")).args(["--time-limit=200ms", "-e", program]).output().expect("the command");
    let count = |byte| output.stdout.iter().filter(|b| **b == byte).count();
    assert_eq!((count(b'x'), count(b'y')), (3_000_000, 900_000));
    assert!(count(b'z') > 0 && output.stdout.ends_with(b"z"));
}

/// Runs the command with each program in each mode, two at a time.
fn in_each_mode(programs: &[(&str, &str)], check: impl Fn(&str, &str, &[&str]) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, program)) = programs.get(next.fetch_add(1, Relaxed)) {
                    for options in [&["-joff"][..], &[], &["-Ohotloop=1", "-Ohotexit=1"]] {
                        check(name, program, options);
                    }
                }
            });
        }
    });
}

#[test]
fn memory_stays_near_its_limit() {
    const LIMIT: usize = 32;
    // Megabytes of the program's file that are in memory in a release build, among the 20 beside the limit. A development build has more.
    const CODE: usize = 6;
    in_each_mode(&LARGE, |name, program, options| {
        // The most that was in use, as the kernel counts it, and the part of it that is the program's file.
        let usage = format!(
            "{program} collectgarbage() local s = io.open('/proc/self/status'):read('*a') io.write(s:match('VmHWM:%s*(%d+)'), ' ', s:match('RssFile:%s*(%d+)'))"
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
        command.args(["--memory-limit", &format!("{LIMIT}m"), "--time-limit", "60s"]);
        let output = command.args(options).args(["-e", &usage]).output().expect("the command");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.signal(), None, "{name} with {options:?}");
        // The program may have printed something before.
        let (peak, file) = text
            .lines()
            .last()
            .and_then(|l| l.split_once(' '))
            .and_then(|(peak, file)| Some((peak.parse::<usize>().ok()?, file.parse::<usize>().ok()?)))
            .unwrap_or_else(|| panic!("{name} with {options:?}: {text} {}", String::from_utf8_lossy(&output.stderr)));
        assert!(
            peak - file < (2 * LIMIT + 20 - CODE) << 10,
            "{name} with {options:?}: {peak} KB, {file} of them the program's file"
        );
    });
}

/// Programs that nest run with a native stack of a megabyte, and come to their end.
#[test]
fn the_native_stack_is_enough() {
    in_each_mode(&DEEP, |name, program, options| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -s 1024 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_perilune")]);
        command.args(["--memory-limit", "256m", "--time-limit", "60s"]).args(options);
        let output = command
            .args(["-e", &format!("do local function f() {program} end f() end io.write('done')")])
            .output()
            .expect("the command");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.signal(), &*text), (None, "done"), "{name} with {options:?}: {errors}");
    });
}

/// The host chooses how deep calls may nest; the state works afterwards.
#[test]
fn depth_has_limits() {
    for mode in MODES {
        let lua = state(mode);
        let recursion = "local n = 0 local function f() n = n + 1 return 1 + f() end
            local ok, e = pcall(f) assert(not ok and e:find('stack overflow')) return n";
        let nesting = "local n = 0 local function f(c) n = n + 1 return (c:gsub('x', f)) end
            local ok, e = pcall(f, 'x') assert(not ok and e:find('C stack overflow')) return n";
        let depths =
            |lua: &Lua| [recursion, nesting].map(|p| lua.load(p).eval::<u32>().unwrap_or_else(|e| panic!("{mode}: {e}")));
        let [deep, nested] = depths(&lua);
        assert!(deep > 100_000 && nested > 100, "{mode}: {deep} {nested}");
        lua.set_stack_limit(10_000);
        lua.set_native_depth_limit(30);
        for _ in 0..5 {
            let [deep, nested] = depths(&lua);
            assert!((1_000..5_000).contains(&deep) && (20..31).contains(&nested), "{mode}: {deep} {nested}");
        }
        // In a coroutine as well.
        let inside = lua.load(format!("return coroutine.wrap(function() {recursion} end)()")).eval::<u32>();
        assert!(inside.is_ok_and(|n| n < 5_000), "{mode}");
        // No limit is so low that nothing runs, or higher than usual.
        lua.set_stack_limit(0);
        lua.set_native_depth_limit(0);
        works(&lua, mode);
        lua.set_stack_limit(usize::MAX);
        lua.set_native_depth_limit(usize::MAX);
        assert!(depths(&lua)[0] > 100_000, "{mode}");
    }
}
