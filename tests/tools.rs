//! The modules behind `-jv`, `-jdump` and `-jp`: ours, and LuaJIT's own where they are at hand.

mod command;

use command::{Done, PERILUNE, folder, run, without_addresses};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders with LuaJIT's modules (`jit/v.lua` and so on), with colons between them.
const FOREIGN: &str = "PERILUNE_LUAJIT_TOOLS";
/// LuaJIT's thresholds, and no limit to what compiling may cost.
const EAGER: &[&str] = &["-Ohotloop=20", "-Ohotexit=4", "-Obudget=0"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a program with options, and variables.
fn perilune(options: &[&str], program: &[&str], variables: &[(&str, &str)]) -> Done {
    let mut command = Command::new(PERILUNE);
    command.args(EAGER).args(options).args(program).current_dir(root().join("tests/lua/tools")).env("TERM", "dumb");
    command.envs(variables.iter().copied());
    run(command, "")
}

/// Masks numbers of shapes, which depend on how many the libraries have: of three digits, in guards on ints.
fn without_shapes(text: &str) -> String {
    let line = |line: &str| match line.split_once("  +") {
        Some((guard, n)) if guard.contains(" int EQ ") && n.trim_end().len() > 2 => format!("{guard}  +?\n"),
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// What differs from run to run, masked: addresses, places in hash parts, shapes.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for part in without_addresses(&without_shapes(text)).split_inclusive(" @") {
        if out.ends_with(" @") {
            out += "?";
            out += part.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            out += part;
        }
    }
    out
}

/// Compares with what is stored (`BLESS=1` stores it).
#[track_caller]
fn stored(name: &str, text: &str) {
    let path = root().join("tests/lua/tools").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).expect("the output is stored");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("a stored output"), text, "{name}");
}

#[test]
fn dump() {
    stored("small.dump", &masked(&perilune(&["-jdump=tbisxa"], &["small.lua"], &[]).ok()));
}

#[test]
fn lines_of_traces() {
    let done = perilune(&["-jv=-"], &["small.lua"], &[]);
    stored("small.v", &done.ok());
    // To standard error where no file is named.
    let done = perilune(&["-jv"], &["small.lua"], &[]);
    assert!(done.status == Some(0) && done.errors.starts_with("[TRACE   1 small.lua:3 loop]\n"), "{done:?}");
}

#[test]
fn machine_code() {
    let text = perilune(&["-jdump=m"], &["small.lua"], &[]).ok();
    assert!(text.contains("---- TRACE 1 mcode ") && text.contains("\n->LOOP:\n"), "{text}");
    assert!(text.contains("\t->LOOP\n") && text.contains("\t->1\n"), "jumps have names:\n{text}");
    let code = text.lines().filter(|l| l.len() > 14 && l.as_bytes()[12..14] == *b"  ");
    assert!(code.clone().count() > 50 && !code.into_iter().any(|l| l.contains(".byte")), "{text}");
}

#[test]
fn kinds_of_output() {
    let text = perilune(&["-jdump"], &["small.lua"], &[]).ok();
    assert!(
        text.contains(" IR\n")
            && text.contains("mcode")
            && !text.contains("SNAP")
            && !text.contains("exit")
            && !text.contains('\x1b')
    );
    let colours = perilune(&["-jdump=+As"], &["small.lua"], &[]).ok();
    assert!(colours.contains("\x1b[35mint\x1b[m") && colours.contains("SNAP"));
    let by_terminal = perilune(&["-jdump"], &["small.lua"], &[("TERM", "xterm-256color")]).ok();
    assert!(by_terminal.contains("\x1b[35mint\x1b[m"));
    let html = perilune(&["-jdump=-mH"], &["small.lua"], &[]).ok();
    assert!(html.starts_with("<style") && html.contains("<span class=\"irt_int\">int</span>") && !html.contains("mcode"));
    assert_eq!(html.matches("<pre").count(), html.matches("</pre>").count());
    assert!(!html.contains("stop -> ") && html.contains("stop -&gt; "));
    let snapshots = perilune(&["-jdump=s"], &["small.lua"], &[]).ok();
    assert!(snapshots.contains("---- TRACE 1 snapshots\n#0   0001 [ "), "{snapshots}");
    let registers = perilune(&["-jdump=X"], &["small.lua"], &[]).ok();
    assert!(registers.contains("---- TRACE 1 exit ") && !registers.contains("IR"));
}

#[test]
fn files_of_output() {
    let folder = folder("tools-files");
    let at = |name: &str| folder.join(name).to_str().expect("a name").to_owned();
    let output = |options: &[&str], variables: &[(&str, &str)]| {
        let done = perilune(options, &["small.lua"], variables).ok();
        assert!(!done.contains("TRACE") && !done.contains('%'), "{done}");
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file was written");
    output(&[&format!("-jdump=t,{}", at("a"))], &[]);
    assert!(read("a").contains("TRACE 1 start"));
    output(&["-jdump=t"], &[("LUAJIT_DUMPFILE", &at("b"))]);
    assert!(read("b").contains("TRACE 1 start"));
    output(&["-jv"], &[("LUAJIT_VERBOSEFILE", &at("c"))]);
    assert!(read("c").starts_with("[TRACE"));
    output(&[&format!("-jp=f,{}", at("d"))], &[]);
    assert!(!read("d").is_empty());
    output(&["-jp"], &[("LUAJIT_PROFILEFILE", &at("e"))]);
    assert!(!read("e").is_empty());
}

/// A program that works for some time.
const BUSY: &str = "local zone = require 'jit.zone'\n\
    local function inner(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end\n\
    local function outer(n) zone 'sums' local s = inner(n) zone() return s end\n\
    local t = os.clock() while os.clock() - t < 0.25 do outer(100000) end\n";

fn profile(mode: &str) -> String {
    let file = folder("tools-profile").join(format!("busy{}.lua", mode.replace(|c: char| !c.is_alphanumeric(), "_")));
    std::fs::write(&file, BUSY).expect("a file is written");
    perilune(&[&format!("-jp={mode}")], &[file.to_str().expect("a name")], &[]).ok()
}

#[test]
fn profiles() {
    let functions = profile("f");
    assert!(functions.lines().next().is_some_and(|l| l.ends_with("%  inner")), "{functions}");
    let modules = profile("F");
    assert!(modules.lines().next().is_some_and(|l| l.contains(".lua:inner")), "{modules}");
    let lines = profile("l");
    assert!(lines.lines().next().is_some_and(|l| l.ends_with(".lua:2")), "{lines}");
    let states = profile("v");
    assert!(states.lines().next().is_some_and(|l| l.ends_with("%  Compiled")), "{states}");
    let zones = profile("zf");
    assert!(zones.contains("%  sums\n  -- ") && zones.contains("%  inner"), "{zones}");
    let both = profile("vf");
    assert!(both.contains("%  Compiled\n  -- ") && both.contains("%  inner"), "{both}");
    let by_function = profile("fv");
    assert!(by_function.contains("%  inner\n  <- ") && by_function.contains("%  Compiled"), "{by_function}");
    let by_line = profile("fl");
    assert!(by_line.contains("%  inner\n  -- ") && by_line.contains(".lua:2"), "{by_line}");
    let split = profile("s");
    assert!(split.contains("%  inner\n  <- ") && split.contains("%  outer"), "{split}");
    let outermost = profile("-2s");
    assert!(outermost.contains("%  outer\n  -> ") && outermost.contains("%  inner"), "{outermost}");
    let deep = profile("3f");
    assert!(deep.contains("inner < outer < busy"), "{deep}");
    let counts = profile("rfi1");
    let first: Option<u32> = counts.split_whitespace().next().and_then(|n| n.parse().ok());
    assert!(first.is_some_and(|n| n > 5), "{counts}");
    let graph = profile("G");
    assert!(
        graph.lines().all(|l| l.rsplit_once(' ').is_some_and(|(k, n)| k.contains(';') && n.parse::<u32>().is_ok())),
        "{graph}"
    );
    let source = profile("a");
    assert!(source.contains("======\n") && source.contains("% | local function inner"), "{source}");
    let all = profile("Ar");
    assert!(all.lines().count() >= BUSY.lines().count() && all.contains(" | local zone"), "{all}");
    assert!(profile("fm101").is_empty());
}

#[test]
fn nothing_to_profile() {
    assert_eq!(perilune(&["-jp"], &["-e", "local x = 1"], &[]).ok(), "[No samples collected]\n");
}

#[test]
fn statistics() {
    let text = perilune(&["-jstats=2"], &["small.lua"], &[]).ok();
    let mut parts = text.split("\n\n");
    let mut traces = parts.next().unwrap_or_default().lines().skip(1);
    assert_eq!(traces.next(), Some("6 traces"), "{text}");
    assert!(traces.next().is_some_and(|l| l.starts_with("trace  entries  instr   bytes      us     link")), "{text}");
    assert!(traces.next().is_some_and(|l| l.starts_with("    1 ") && l.ends_with("     loop  small.lua:4")), "{text}");
    assert!(traces.next().is_some_and(|l| l.starts_with("    2 ") && l.ends_with("     -> 1  small.lua:6")), "{text}");
    let exits = parts.next().unwrap_or_default();
    assert!(exits.contains(" exits taken to the interpreter\n") && exits.contains("trace 2"), "{text}");
    assert_eq!(exits.lines().skip(2).filter(|l| !l.starts_with("          ")).count(), 2, "no more than asked for:\n{text}");
    assert!(exits.contains("small.lua:6 ISNEN: "), "{text}");
    assert!(parts.next().is_some_and(|l| l.contains(" places where recording was given up")), "{text}");
}

#[test]
fn bytecodes_are_counted() {
    let program = "local t = {} for i = 1, 1000 do if i > 0 then t[i] = math.abs(i) end end";
    let count = |options: &[&str], most: &str| perilune(&[options, &[most]].concat(), &["-e", program], &[]).ok();
    let text = count(&["-joff"], "-jops=1000");
    let counts: std::collections::HashMap<&str, u64> = (text.lines())
        .filter_map(|line| line.split_once("%  ").and_then(|(n, name)| Some((name, n.split_whitespace().next()?.parse().ok()?))))
        .collect();
    for name in ["ISGE", "GGET", "TGETS", "CALL", "TSETV", "FORL", "math.abs"] {
        // The module that counts executes some itself.
        assert!(counts.get(name).is_some_and(|n| (1000..1010).contains(n)), "{name}:\n{text}");
    }
    // The comparison has its jump behind it. A call is followed by what is called.
    for pair in ["ISGE GGET", "GGET TGETS", "MOV CALL", "TSETV FORL"] {
        assert_eq!(counts.get(pair), Some(&1000), "{pair}:\n{text}");
    }
    assert!(["FORL ISGE", "CALL TSETV", "CALL math.abs"].iter().all(|pair| !counts.contains_key(pair)), "{text}");
    let lines = |text: &str| text.lines().filter(|line| line.contains('%')).count();
    assert_eq!(lines(&count(&["-joff"], "-jops=2")), 4, "no more than asked for");
    // What is compiled is not interpreted.
    assert!(count(&["-Ohotloop=2"], "-jops=1000").lines().any(|line| line.ends_with(" FORL") && !line.contains(" 1000 ")));
}

/// Nobody could be told of it otherwise.
#[test]
fn errors_in_the_function_end_the_process() {
    let program = "io.write 'before' require('jit.profile').start('f', function() error('no') end) while true do end";
    let done = perilune(&[], &["-e", program], &[]);
    let expected = "PANIC: unprotected error in call to Lua API ((command line):1: no)\n";
    assert_eq!((done.status, &*done.output, &*done.errors), (Some(1), "before", expected));
}

/// The size at which a benchmark runs for a short time, as it says itself.
fn small_size(program: &Path) -> String {
    let text = std::fs::read_to_string(program).expect("a program");
    let line = text.lines().find_map(|l| l.strip_prefix("-- small: "));
    line.expect("a program says its small size").to_owned()
}

/// LuaJIT's modules, unmodified, on all programs of `benches`. Where there are none this says so.
#[test]
fn modules_of_luajit() {
    let Some(folders) = std::env::var_os(FOREIGN) else {
        println!("skipped: {FOREIGN} names no folder with LuaJIT's modules");
        return;
    };
    let mut programs: Vec<PathBuf> =
        std::fs::read_dir(root().join("benches/programs")).expect("programs").map(|e| e.expect("an entry").path()).collect();
    programs.sort();
    for folder in std::env::split_paths(&folders) {
        for module in ["v", "dump", "bc", "p", "zone"] {
            let file = folder.join(format!("jit/{module}.lua"));
            assert!(file.exists(), "{}", file.display());
        }
        let path = format!("{}/?.lua;;", folder.display());
        // Modules refuse any other version than their own.
        let module = std::fs::read_to_string(folder.join("jit/v.lua")).expect("a module");
        let version = module.split("jit.version_num == ").nth(1).and_then(|rest| rest.split(',').next());
        let init = version.map_or(String::new(), |n| format!("jit.version_num = {n}"));
        for program in &programs {
            let size = small_size(program);
            for (option, wanted) in [
                ("-jv=-", "[TRACE   1 "),
                ("-jdump=+tbisrmxXa", "---- TRACE 1 mcode "),
                ("-jdump=+aHX", "<span class=\"irt_"),
                ("-jbc=-", "-- BYTECODE -- "),
                ("-jp=vfi1", ""),
                ("-jp=Fli1", ""),
                ("-jp=si1", ""),
                ("-jp=zi1", ""),
                ("-jp=ai1", ""),
                ("-jp=-5Fi1", ""),
                ("-jp=Gi1", ""),
            ] {
                let name = program.to_str().expect("a name");
                let done = perilune(&[option], &[name, &size], &[("LUA_PATH", &path), ("LUA_INIT", &init)]);
                assert_eq!((done.status, &*done.errors), (Some(0), ""), "{option} {name} with {}", folder.display());
                assert!(done.output.contains(wanted), "{option} {name} with {}", folder.display());
            }
        }
    }
}
