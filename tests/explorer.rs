//! What the trace explorer notes, from Rust: the rest is in `tools/tests/explorer.rs`.

use perilune::observe::explorer::{Fate, Kind, Report, State};
use perilune::{Lua, LuaString};
use std::path::Path;

/// The words of a line, without what only the explorer says.
fn words(line: &str) -> String {
    let known = ["KPRI", "ISEQP", "ISNEP", "USETP"];
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.first().is_some_and(|op| known.contains(op)) && ["nil", "false", "true"].contains(words.last().unwrap()) {
        words.truncate(words.len() - 2);
    }
    words.join(" ")
}

/// Bytecode reads as `jit.bc` lists it.
#[test]
fn bytecode_is_that_of_listings() {
    let mut compared = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs");
    for file in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read(file.unwrap().path()).unwrap();
        let lua = Lua::new();
        lua.start_explorer();
        let function = lua.load(source).set_name("@program.lua").into_function().unwrap();
        lua.globals().set("program", function).unwrap();
        let listing: LuaString = lua
            .load("local text = {} require('jit.bc').dump(program, {write = function(_, s) text[#text + 1] = s end, flush = function() end}, true) return table.concat(text)")
            .eval()
            .unwrap();
        let listing = String::from_utf8_lossy(&listing.as_bytes()).into_owned();
        let report = lua.stop_explorer().unwrap();
        let ours = report.functions.iter().filter(|f| report.files[f.file].name == "program.lua");
        // "0001 => ADDVN ...": number and mark of the targets of jumps are not part of it; nor is the header.
        let lines = |l: &str| l.get(8..).filter(|_| l.as_bytes()[0].is_ascii_digit()).map(words);
        let theirs: Vec<String> = listing.lines().filter(|l| !l.is_empty()).filter_map(lines).collect();
        let ours: Vec<String> = ours.flat_map(|f| f.bytecode.iter().skip(1).map(|b| words(&b.text))).collect();
        // Bytes that are not printable are escaped otherwise there.
        for (ours, theirs) in ours.iter().zip(&theirs).filter(|(ours, _)| !ours.contains('\\')) {
            assert_eq!(ours, theirs);
        }
        assert_eq!(ours.len(), theirs.len());
        compared += ours.len();
    }
    assert!(compared > 5000, "{compared}");
}

fn lua() -> Lua {
    let lua = Lua::new();
    for option in ["hotloop=5", "hotexit=3", "budget=0"] {
        lua.jit_option(option).unwrap();
    }
    lua
}

const LOOP: &str = "local s = 0 for i = 1, 100 do s = s + i % 7 end return s";

fn explored(lua: &Lua) -> Report {
    lua.explore().unwrap()
}

/// It may begin and end at any time, also more than once.
#[test]
fn begins_and_ends() {
    let lua = lua();
    assert!(lua.explore().is_none() && lua.stop_explorer().is_none());
    let f = lua.load(LOOP).set_name("=loop").into_function().unwrap();
    assert_eq!(f.call::<i64>(()).unwrap(), 297);
    lua.start_explorer();
    assert_eq!(explored(&lua).traces.len(), 0, "what was there is made again");
    assert_eq!(f.call::<i64>(()).unwrap(), 297);
    assert_eq!(f.call::<i64>(()).unwrap(), 297);
    let report = explored(&lua);
    // The function existed before: the report has it because a trace was made from it.
    assert_eq!((report.traces.len(), report.functions.len()), (1, 1));
    assert_eq!((report.traces[0].kind, report.traces[0].fate, report.traces[0].entered), (Kind::Root, Fate::Alive, Some(true)));
    assert_eq!(report.files[0].lines[0].state, State::Compiled);
    lua.start_explorer();
    let report = lua.stop_explorer().unwrap();
    assert_eq!((report.traces.len(), report.flushes), (0, 0), "it begins anew");
    assert_eq!(f.call::<i64>(()).unwrap(), 297);
    assert!(lua.explore().is_none());
}

/// In the evaluator there is no machine code, and the rest is the same.
#[test]
fn without_machine_code() {
    let lua = lua();
    lua.jit_option("eval=1").unwrap();
    lua.start_explorer();
    lua.load(LOOP).exec().unwrap();
    let report = explored(&lua);
    let code = report.code[0].as_ref().unwrap();
    assert!(code.machine.is_empty() && !code.optimised.is_empty() && !code.asked.is_empty());
}

/// What is used for an instruction that was asked for is in the trace, and not all of them needed one of their own.
#[test]
fn requested_instructions() {
    let lua = lua();
    lua.start_explorer();
    lua.load("local t = {x = 1} local n = 0 for i = 1, 100 do t.x = t.x + i n = n + #('a' .. i) + t.x / 2 end").exec().unwrap();
    for code in explored(&lua).code.iter().flatten() {
        for asked in code.asked.iter().filter(|a| !a.saved) {
            assert!(code.emitted.iter().any(|l| l.number == asked.number), "{asked:?}");
        }
        assert!(code.asked.iter().any(|a| a.saved));
    }
}
