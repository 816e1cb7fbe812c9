//! What `perilune trace` says first: why a program is slow. The programs in `slow` have one known cause each.

use super::folder::Folder;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn explored(f: &Folder, options: &[&str], script: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
    command
        .args(["trace", "--json", "out.json"])
        .args(options)
        .arg(script)
        .args(arguments)
        .current_dir(f.path())
        .env("TERM", "dumb");
    let done = command.output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&f.read("out.json")).unwrap()
}

/// The first finding for a program of the folder `slow`.
fn first(name: &str, rounds: &str) -> (Value, Value) {
    let f = Folder::new(&format!("findings-{name}"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/subcommands/slow/{name}.lua"));
    let data = explored(&f, &[], &script, &["--", rounds]);
    let found = data["findings"][0].clone();
    assert!(found.is_object(), "nothing was found");
    (found, data)
}

#[track_caller]
fn says(found: &Value, kind: &str, title: &str, advice: &str) {
    assert_eq!(found["kind"], kind, "{found}");
    assert!(found["title"].as_str().unwrap().contains(title), "{found}");
    assert!(found["advice"].as_str().unwrap().contains(advice), "{found}");
}

#[test]
fn a_polymorphic_call() {
    let (found, data) = first("polymorphic", "30");
    says(&found, "many_functions", "polymorphic.lua:27: the call is polymorphic", "one function");
    // Which functions were met is known by their places; the trace and the exit show it.
    assert!(found["title"].as_str().unwrap().contains("polymorphic.lua:1"), "{found}");
    let trace = &data["traces"][found["trace"].as_u64().unwrap() as usize - 1];
    let left = trace["left"].as_array().unwrap().iter().find(|l| l["exit"] == found["exit"]).unwrap();
    let guard = &left["guards"][0];
    assert!(guard["kind"] == "function" && guard["seen"].as_array().unwrap().len() > 1, "{guard}");
    assert_eq!(guard["place"]["line"], 27);
}

#[test]
fn a_metatable_for_each_object() {
    // Without samples, and with so many that the share of the line, which is where the objects are made, is known to be small.
    for rounds in ["30", "3000"] {
        let (found, _) = first("metatable", rounds);
        says(&found, "new_metatable", "metatable.lua:7: each object gets a metatable", "Make the metatable once");
    }
}

#[test]
fn an_unrolled_inner_loop() {
    let (found, _) = first("unrolled", "30");
    says(&found, "inner_loop", "unrolled.lua:8: the inner loop runs only a few times", "run longer");
}

#[test]
fn a_string_built_in_a_loop() {
    let (found, data) = first("string", "1");
    says(&found, "string_built", "string.lua:5: a loop builds a string", "table.concat");
    // The line is where the time goes, if the system has a timer.
    if data["time"]["samples"].as_u64().unwrap_or(0) > 50 {
        assert!(found["share"].as_f64().unwrap() > 0.3, "{found}");
    }
}

#[test]
fn a_builtin_that_is_not_compiled() {
    let (found, _) = first("builtin", "30");
    says(&found, "builtin", "builtin.lua:6: collectgarbage is not compiled", "out of the loop");
    assert!(found["count"].as_u64().unwrap() > 1000, "{found}");
}

/// Code that notes its guards can be generated for programs of all kinds: a debug build says when it cannot.
#[test]
fn code_that_notes_guards() {
    let f = Folder::new("findings-code");
    for program in ["sieve", "matmul", "sha256"] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/programs/{program}.lua"));
        let data = explored(&f, &["-O", "hotloop=5,hotexit=3", "--no-samples"], &script, &[]);
        let failed = data["traces"].as_array().unwrap().iter().flat_map(|t| t["left"].as_array().unwrap());
        assert!(failed.flat_map(|l| l["guards"].as_array().unwrap()).count() > 0, "{program}: {}", data["traces"]);
    }
}

#[test]
fn a_program_with_nothing_to_change() {
    let f = Folder::new("findings-none");
    f.write("p.lua", b"local s = 0 for i = 1, 2e6 do s = s + i % 7 end print(s)");
    let data = explored(&f, &[], Path::new("p.lua"), &[]);
    let named: Vec<&Value> = data["findings"].as_array().unwrap().iter().filter(|f| f["place"].is_object()).collect();
    assert!(named.is_empty(), "{named:?}");
}

#[test]
fn a_program_too_small_to_be_compiled() {
    let f = Folder::new("findings-small");
    f.write("p.lua", b"local s = 0 for i = 1, 30 do s = s + i end");
    let data = explored(&f, &[], Path::new("p.lua"), &[]);
    says(&data["findings"][0], "nothing_compiled", "nothing was compiled", "-O hotloop");
    f.write("p.lua", b"local s = 0 for i = 1, 3000 do s = s + i end");
    let data = explored(&f, &[], Path::new("p.lua"), &[]);
    assert_eq!(data["traces"].as_array().unwrap().len(), 1, "a loop of 3,000 rounds is compiled");
}

/// Values that a guard failed for are named.
#[test]
fn failed_guards_name_what_they_met() {
    let f = Folder::new("findings-guards");
    let source = b"local Circle, Square = {}, {}
Circle.__index, Square.__index = Circle, Square
function Circle.area(s) return s.r * s.r * 3 end
function Square.area(s) return s.w * s.w end
local list = {}
for i = 1, 1000 do
  if i % 3 == 0 then list[i] = setmetatable({w = i}, Square) else list[i] = setmetatable({r = i}, Circle) end
end
local mixed = {}
for i = 1, 1000 do mixed[i] = i % 5 == 0 and 'text' or i % 7 == 0 and {} or i end
local n = 0
for k = 1, 20 do
  for i = 1, #list do n = n + list[i]:area() end
  for i = 1, #mixed do
    local v = mixed[i]
    if type(v) == 'number' then n = n + v end
  end
end";
    f.write("p.lua", source);
    let data = explored(&f, &["-O", "hotloop=56"], Path::new("p.lua"), &[]);
    let guards = |line: u64| {
        let all = data["traces"].as_array().unwrap().iter().flat_map(|t| t["left"].as_array().unwrap());
        let all = all.flat_map(|l| l["guards"].as_array().unwrap()).filter(|g| g["place"]["line"] == line);
        all.flat_map(|g| g["seen"].as_array().unwrap()).filter_map(|s| s["what"].as_str()).collect::<Vec<_>>()
    };
    let classes = guards(13);
    assert!(classes.iter().any(|w| w.contains("Square") || w.contains("Circle")), "{classes:?}");
    let values = guards(15);
    assert!(values.contains(&"\"text\"") || values.contains(&"a table"), "{values:?}");
    let text = data.to_string();
    assert!(!text.contains(" at 0x"), "objects have no addresses");
}

/// What lines allocate, in one run and beside another: as many objects as the program makes, in compiled code or not.
#[test]
fn allocations_by_line() {
    let f = Folder::new("findings-allocations");
    let program = |made: u32| format!("local t = {{}}\nfor i = 1, {made} do\n  t[i % 8 + 1] = {{i, i}}\nend\nprint(#t)");
    let trace = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
        command.arg("trace").args(options).args(["-o", "out.html", "p.lua"]).current_dir(f.path()).output().unwrap()
    };
    let read = |file: &str| serde_json::from_slice::<Value>(&f.read(file)).unwrap();
    f.write("p.lua", program(20_000));
    for options in [
        &["--json", "before.json", "--allocations"][..],
        &["--json", "interpreted.json", "--allocations", "-O", "hotloop=1000000"],
    ] {
        let done = trace(options);
        assert!(done.status.success(), "{done:?}");
        let data = read(options[1]);
        let lines = data["allocations"]["lines"].as_array().unwrap();
        let (line, made) = (&lines[0], lines[0]["allocations"].as_u64().unwrap());
        // An object is a cell, its array part another allocation at most.
        assert!(line["line"] == 3 && (20_000..=40_100).contains(&made), "{options:?}: {line}");
        assert!(line["bytes"].as_u64().unwrap() >= 20_000 * 32, "{line}");
    }
    f.write("p.lua", format!("-- Fewer.\n{}", program(200)));
    let done = trace(&["--json", "now.json", "--allocations", "--before", "before.json"]);
    assert!(done.status.success(), "{done:?}");
    let compared = &read("now.json")["compared"];
    let line = compared["lines"].as_array().unwrap().iter().find(|l| l["text"] == "t[i % 8 + 1] = {i, i}").unwrap();
    let figure = |run: &str, what: &str| line[run][what].as_u64().unwrap();
    assert_eq!((&line["before_line"], &line["line"]), (&Value::from(3), &Value::from(4)), "{line}");
    assert!(figure("before", "allocations") >= 20_000 && figure("now", "allocations") < 500, "{line}");
    assert!(figure("before", "bytes") > 50 * figure("now", "bytes"), "{line}");
    // A run where they were not counted has none.
    assert!(trace(&["--json", "none.json"]).status.success());
    assert!(read("none.json")["allocations"].is_null());
}

/// Two runs compared by line; lines are matched by their text.
#[test]
fn two_runs() {
    let f = Folder::new("findings-compared");
    let rest = "
local s = 0
for i = 1, 2000 do s = s + pick(list[i % 6 + 1]) end
print(s)";
    f.write(
        "p.lua",
        format!(
            "local list = {{1, 2, 'x', 4, {{}}, 6}}\nfunction pick(v) if type(v) == 'number' then return v end return 0 end{rest}"
        ),
    );
    explored(&f, &[], Path::new("p.lua"), &[]);
    std::fs::rename(f.file("out.json"), f.file("before.json")).unwrap();
    f.write("p.lua", format!("-- Numbers alone.\nlocal list = {{1, 2, 0, 4, 0, 6}}\nfunction pick(v) return v end{rest}"));
    let trace = |before: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
        command
            .args(["trace", "--json", "out.json", "-o", "out.html", "--before", before, "p.lua"])
            .current_dir(f.path())
            .output()
            .unwrap()
    };
    let done = trace("before.json");
    assert!(done.status.success(), "{done:?}");
    let data: Value = serde_json::from_slice(&f.read("out.json")).unwrap();
    let compared = &data["compared"];
    let count = |run: &str, what: &str| compared[run][what].as_u64().unwrap();
    assert!(count("before", "exits") > count("now", "exits") && count("before", "traces") > count("now", "traces"), "{compared}");
    let lines = compared["lines"].as_array().unwrap();
    let line = lines.iter().find(|l| l["text"].as_str().unwrap().starts_with("for i")).unwrap();
    assert_eq!((&line["before_line"], &line["line"]), (&Value::from(4), &Value::from(5)), "{line}");
    let gone = lines.iter().find(|l| l["text"].as_str().unwrap().contains("type(v)")).unwrap();
    assert!(gone["line"].is_null() && gone["before"]["traces"].as_u64().unwrap() > 0, "{gone}");
    f.write("wrong.json", b"{\"format\": \"other\"}");
    f.write("cut.json", &f.read("before.json")[..100]);
    for (file, message) in
        [("wrong.json", "not the data of a run"), ("cut.json", "not the data of a run"), ("none.json", "No such file")]
    {
        let done = trace(file);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(1) && said.contains(message) && said.trim_end().lines().count() == 1, "{said}");
    }
}
