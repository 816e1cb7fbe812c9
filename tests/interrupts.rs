//! Ctrl-C: one ends whatever the program does, with the error "interrupted!" and a traceback.

mod command;

use command::{PERILUNE, folder};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than any program here takes to be interrupted.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Runs the command up to its first line of output, presses Ctrl-C after a while, and gives status, output and errors.
fn interrupted(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(PERILUNE);
    command.args(args).current_dir(folder).env_remove("LUA_INIT");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut keyboard = child.stdin.take().expect("piped");
    keyboard.write_all(b"no whole line").expect("it is open");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n", "{args:?}");
    // Compiling begins, and the loop is what it will be.
    std::thread::sleep(Duration::from_millis(300));
    // SAFETY: the process is our child, and not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > TIMEOUT {
            let _ = child.kill();
            panic!("one Ctrl-C does not end {args:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let (mut output, mut errors) = (String::new(), String::new());
    out.read_to_string(&mut output).expect("a text");
    child.stderr.take().expect("piped").read_to_string(&mut errors).expect("a text");
    (status.code(), output, command::without_addresses(&errors).replace(PERILUNE, "perilune"))
}

/// Programs that do not end, by what they do.
const ENDLESS: [(&str, &str); 13] = [
    ("an empty loop", "while true do end"),
    ("a sum", "local x = 0 while true do x = x + 1 end"),
    ("a counted loop", "for i = 1, math.huge do end"),
    ("a long counted loop", "local t = {} for i = 1, 1e15 do t[1] = i end"),
    ("repeat", "local s repeat s = tostring(1) until not s"),
    ("an iterator", "for _ in function() return 1 end do end"),
    ("tail calls", "local function f(n) return f(n + 1) end f(1)"),
    ("a loop in a loop", "while true do for i = 1, 10 do local t = {i} end end"),
    ("a coroutine", "local c = coroutine.wrap(function() while true do coroutine.yield(1) end end) while true do c() end"),
    ("inside a coroutine", "coroutine.wrap(function() local x = 0 while true do x = x + 1 end end)()"),
    ("garbage", "local t while true do t = {t and {} or 1} end"),
    ("a match in very many ways", "local s = ('a'):rep(1e5) s:find(('a-'):rep(30) .. 'b')"),
    ("waiting for input", "io.read() error('read on')"),
];

#[test]
fn one_is_enough() {
    for options in [&["-joff"][..], &[], &["-Ohotloop=2", "-Ohotexit=2", "-Obudget=0"]] {
        for (what, text) in ENDLESS {
            let program = format!("print 'ready' io.stdout:flush() io.write 'kept' {text}");
            let (status, output, errors) =
                interrupted(env!("CARGO_TARGET_TMPDIR").as_ref(), &[options, &["-e", &program]].concat());
            assert_eq!((status, &*output), (Some(1), "kept"), "{what} {options:?}: {errors}");
            assert!(
                errors.starts_with("perilune: ") && errors.contains("interrupted!\nstack traceback:\n"),
                "{what} {options:?}: {errors}"
            );
            assert!(
                errors.contains("\t(command line):1: in ") && errors.ends_with("\t[C]: at 0x?\n"),
                "{what} {options:?}: {errors}"
            );
        }
    }
}

/// Loops over `n` that are compiled while they are short.
const RECORDED_SHORT: [(&str, &str); 7] = [
    ("while", "local i = 0.5 while i < n do i = i + 1 end"),
    ("counting in doubles", "local s = 0 for i = 0.5, n do s = s + i end"),
    ("counting down", "local s = 0 for i = -0.5, -n, -1 do s = s + i end"),
    ("an inner loop", "local s = 0 for i = 0.5, n do for j = 1, n > 1e3 and 10 or 3 do s = s + j end end"),
    ("side traces", "local i, s = 0.5, 0 while i < n do i = i + 1 if i % 2 < 1 then s = s + 1 else s = s - i end end"),
    ("repeat", "local i = 0.5 repeat i = i + 1 until i >= n"),
    ("tail calls", "local function g(i) if i < n then return g(i + 1) end end g(0.5)"),
];

#[test]
fn loops_recorded_while_they_were_short() {
    for (what, body) in RECORDED_SHORT {
        let program = format!(
            "local function f(n) {body} end for i = 1, 300 do f(100) end print 'ready' io.stdout:flush() io.write 'kept' f(1e15)"
        );
        let (status, output, errors) = interrupted(env!("CARGO_TARGET_TMPDIR").as_ref(), &["-e", &program]);
        assert_eq!((status, &*output), (Some(1), "kept"), "{what}: {errors}");
        assert!(errors.contains("interrupted!\nstack traceback:\n"), "{what}: {errors}");
    }
}

/// A loop that counts in integers is left in its middle, up and down, with a step that is constant or not. It would take some seconds.
#[test]
fn counted_loops_are_left_between_iterations() {
    for (first, last, step) in
        [("1", "2^31 - 2", "1"), ("-1", "-2^31 + 2", "-1"), ("1", "2^31 - 3", "s"), ("1", "2^31 - 5", "3 * s")]
    {
        let program = format!(
            "local seen = 0 local function f(n, s) local x = 1 for i = {first}, n, {step} do x = (x * 7 + i) % 1000003 % 1009 % 17 seen = i end end
            local sign = {first} for i = 1, 300 do f(100 * sign, 1) end
            print 'ready' io.stdout:flush() local ok, e = pcall(f, {last}, 1) print(ok, e, sign * seen > 1000, sign * seen < 2^31 - 10)"
        );
        let (status, output, errors) = interrupted(env!("CARGO_TARGET_TMPDIR").as_ref(), &["-e", &program]);
        assert_eq!((status, &*output, &*errors), (Some(0), "false\t(command line):1: interrupted!\ttrue\ttrue\n", ""), "{step}");
    }
}

/// A loop whose step is 0 does not end either.
#[test]
fn a_step_of_zero() {
    let program = "local function f(n, s) for i = 1, n, s do end end for i = 1, 300 do f(100, 1) end
        print 'ready' io.stdout:flush() f(100, 0)";
    let (status, _, errors) = interrupted(env!("CARGO_TARGET_TMPDIR").as_ref(), &["-e", program]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("interrupted!"), "{errors}");
}

/// What a compiled loop has computed is there, though it was left between two exits.
#[test]
fn the_state_is_that_of_the_program() {
    let program = "local x, y = 0, 0 print 'ready' io.stdout:flush()
        local ok, e = pcall(function() while true do x = x + 1 y = y + 2 end end)
        print(ok, e, x > 1e6, y == 2 * x or y == 2 * x - 2)";
    let (status, output, errors) = interrupted(env!("CARGO_TARGET_TMPDIR").as_ref(), &["-e", program]);
    assert_eq!((status, &*output, &*errors), (Some(0), "false\t(command line):2: interrupted!\ttrue\ttrue\n", ""));
}

/// The page of an endless program can be looked at.
#[test]
fn subcommands() {
    let folder = folder("interrupts");
    std::fs::write(folder.join("p.lua"), "print 'ready' io.stdout:flush() while true do end").expect("a file is written");
    let (status, _, errors) = interrupted(&folder, &["trace", "-o", "p.html", "p.lua"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.starts_with("perilune: p.lua:1: interrupted!\n"), "{errors}");
    let page = std::fs::read_to_string(folder.join("p.html")).expect("a page");
    assert!(page.contains("interrupted!") && page.contains("\"kind\":\"loop\""), "the loop is on it");
    for args in [&["heap", "snapshot", "-o", "p.heapsnapshot", "p.lua"][..], &["memprof", "record", "-o", "p.memprof", "p.lua"]] {
        let (status, _, errors) = interrupted(&folder, args);
        assert_eq!(status, Some(1), "{errors}");
        assert!(errors.starts_with("perilune: p.lua:1: interrupted!\n"), "{errors}");
    }
    assert!(folder.join("p.heapsnapshot").exists(), "what the script has left");
}

/// Only the command has loops ask whether there was an interrupt; and samples, while they are taken.
#[test]
fn loops_without_interrupts_have_no_checks() {
    let lua = perilune::Lua::new();
    lua.jit_option("budget=0").expect("an option");
    let source = "local util, names = require 'jit.util', require 'jit.vmdef'.irnames
        local x = 0 while x ~= 10000 do x = x + 1 end
        local found = {}
        for i = 1, util.traceinfo(1).nins do
            local at = 6 * bit.rshift(select(2, util.traceir(1, i)), 8)
            found[#found + 1] = names:sub(at + 1, at + 6):match('%S+')
        end
        return table.concat(found, ' ')";
    let operations: String = lua.load(source).eval().expect("no error");
    assert!(operations.contains("LOOP") && !operations.contains("PROF"), "{operations}");
}

/// A check has a snapshot of its own, so that the sum of the iteration before it is not needed any more.
#[test]
fn checks_have_snapshots_of_their_own() {
    let lua = perilune::Lua::new();
    lua.jit_option("budget=0").expect("an option");
    let _handle = lua.interrupt_handle();
    let source = "local util, names = require 'jit.util', require 'jit.vmdef'.irnames
        local t, sum = { 1.5, 2.5, 3.5, 4.5 }, 0.5
        for i = 1, 100000 do sum = sum + t[i % 4 + 1] end
        local snaps, checks = {}, {}
        for n = 0, util.traceinfo(1).nexit - 1 do snaps[util.tracesnap(1, n)[0]] = true end
        for i = 1, util.traceinfo(1).nins do
            local at = 6 * bit.rshift(select(2, util.traceir(1, i)), 8)
            if names:find('^PROF', at + 1) then checks[#checks + 1] = tostring(snaps[i]) end
        end
        return table.concat(checks, ' ')";
    let checks: String = lua.load(source).eval().expect("no error");
    assert_eq!(checks, "true true");
}

/// A side trace that passes a loop does not check: it comes back through an exit. The loop that it returns to checks.
#[test]
fn side_traces_have_no_checks() {
    let lua = perilune::Lua::new();
    ["budget=0", "hotexit=2"].iter().for_each(|o| lua.jit_option(o).expect("an option"));
    let _handle = lua.interrupt_handle();
    let source = "local util, names = require 'jit.util', require 'jit.vmdef'.irnames
        local i, n, two = 0.5, 0, 2
        while i < 10000 do
            i = i + 1
            if i % 8 == 0.5 then
                for k = 1, two do n = n + k end
            end
        end
        local found = {}
        for t = 1, 2 do
            local info, checks = util.traceinfo(t), 0
            for i = 1, info.nins do
                local at = 6 * bit.rshift(select(2, util.traceir(t, i)), 8)
                if names:find('^PROF', at + 1) then checks = checks + 1 end
            end
            found[t] = info.linktype .. ' ' .. checks
        end
        return table.concat(found, ', ')";
    let checks: String = lua.load(source).eval().expect("no error");
    assert_eq!(checks, "loop 2, root 0");
}
