//! `perilune heap` and `perilune memprof` from outside: what it prints, and what it says of files that are broken or something else.

use super::folder::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the command with little memory.
fn tools(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut c = Command::new("sh");
    c.args(["-c", "ulimit -v 1000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_perilune")]);
    c.args(arguments.iter().map(|a| a.as_ref())).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command prints that succeeds.
fn good(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let o = tools(arguments);
    assert!(o.status.success(), "{}", text(&o.stderr));
    text(&o.stdout)
}

/// The message of a command that fails, with what follows it.
fn bad(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let o = tools(arguments);
    let message = text(&o.stderr);
    assert_eq!(o.status.code(), Some(1), "{message}");
    assert!(message.contains("perilune: "), "{message}");
    message
}

const SCRIPT: &str = "local n = ...
Account = {}
Account.__index = Account
local cache = {}
function open(i)
  local a = setmetatable({id = i, history = {}}, Account)
  a.history[1] = 'opened ' .. i
  cache[i] = a
end
for i = 1, tonumber(n) do open(i) end
weak = setmetatable({cache[1]}, {__mode = 'v'})
";

#[test]
fn a_profile_is_reported_by_line() {
    let f = Folder::new("report");
    let (script, profile, svg) = (f.write("leak.lua", SCRIPT.as_bytes()), f.file("profile"), f.file("out.svg"));
    good(&[&"memprof", &"record", &"--lines", &"-o", &profile, &script, &"1000"]);
    let report = good(&[&"memprof", &"report", &profile]);
    let name = script.display();
    // An account, the table of its history; its array part as it grows.
    assert!(report.contains(&format!("@{name}:6: 2000 events\t+")), "{report}");
    assert!(report.starts_with("ALLOCATIONS\n") && report.contains("\nREALLOCATIONS\n") && report.contains("\nDEALLOCATIONS\n"));
    let leaks = good(&[&"memprof", &"report", &"--leak-only", &"--human-readable", &profile]);
    assert!(leaks.starts_with("HEAP SUMMARY:\n@") && leaks.contains("KiB: "), "{leaks}");
    let json = good(&[&"memprof", &"report", &"--json", &"--flamegraph", &svg, &profile]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let place = format!("@{name}:6");
    let line = json["allocations"].as_array().unwrap().iter().find(|e| e["place"] == place.as_str()).unwrap();
    assert_eq!(line["events"], 2000);
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.contains("Memory allocated") && svg.contains(&format!("leak.lua:{}", 6)), "the graph names the line");
}

/// A stream of version `version`: symbols and events as given.
fn stream(version: u8, symbols: &[u8], events: &[u8]) -> Vec<u8> {
    [b"ljs", &[version, 0, 0, 0][..], symbols, &[0x80], b"ljm", &[version, 0, 0, 0], events, &[0x80]].concat()
}

#[test]
fn older_versions_are_read() {
    let f = Folder::new("versions");
    let proto = [&[0x00, 0x10, 5][..], b"@file", &[3]].concat();
    // Allocated at line 4 of the function, freed by the collector.
    let events = [0x09, 0x10, 4, 0x20, 64, 0x09, 0x10, 5, 0x30, 32, 0x06, 0x20, 64];
    let expected = "HEAP SUMMARY:\n@file:5 holds 32B: 1 allocs, 0 frees\n\n";
    for version in 1..=3 {
        let file = f.write("stream", stream(version, &proto, &events));
        assert_eq!(good(&[&"memprof", &"report", &"--leak-only", &file]), expected, "version {version}");
    }
    // The patch that was first proposed marks events; a trace of version 2 has an address.
    let marked = [0x49, 0x10, 5, 0x30, 32, 0xc0];
    assert_eq!(good(&[&"memprof", &"report", &"--leak-only", &f.write("stream", stream(2, &proto, &marked))]), expected);
    let symbols = [&proto[..], &[0x01, 7, 0x66, 0x10, 9]].concat();
    let on_trace =
        good(&[&"memprof", &"report", &"--leak-only", &f.write("stream", stream(2, &symbols, &[0x11, 7, 0x66, 0x40, 16]))]);
    assert_eq!(on_trace, "HEAP SUMMARY:\nTRACE [7] started at @file:9 holds 16B: 1 allocs, 0 frees\n\n");
    let symbols = [&proto[..], &[0x02, 7, 0x10, 9]].concat();
    let on_trace = good(&[&"memprof", &"report", &"--leak-only", &f.write("stream", stream(3, &symbols, &[0x11, 7, 0x40, 16]))]);
    assert_eq!(on_trace, "HEAP SUMMARY:\nTRACE [7] started at @file:9 holds 16B: 1 allocs, 0 frees\n\n");
}

#[test]
fn the_form_is_that_of_tarantools_parser() {
    let f = Folder::new("form");
    let symbols = [&[0x00, 0x10, 6][..], b"a\nb\n\nc", &[0], &[0x01, 0x80, 0x02, 4], b"rand"].concat();
    let events =
        [0x0d, 0x90, 0x02, 0x20, 64, 0x0b, 0x10, 2, 0x20, 64, 0x28, 0x80, 0x10, 0x06, 0x28, 0x80, 0x10, 0x0d, 0x05, 0x40, 16];
    let report = good(&[&"memprof", &"report", &"--human-readable", &f.write("stream", stream(3, &symbols, &events))]);
    let expected = "ALLOCATIONS
CFUNC 0x5: 1 events\t+16B\t-0B
rand:0x100: 1 events\t+64B\t-0B

REALLOCATIONS
function_alias_1:2: 1 events\t+2KiB\t-64B
\tOverrides:
\t\trand:0x100


DEALLOCATIONS
INTERNAL: 1 events\t+0B\t-2KiB
\tOverrides:
\t\tfunction_alias_1:2


HEAP SUMMARY:
rand:0x100 holds 2KiB: 2 allocs, 1 frees
CFUNC 0x5 holds 16B: 1 allocs, 0 frees

ALIASES:
function_alias_1:
1\t| a
2\t| b
3\t| c


";
    assert_eq!(report, expected);
}

#[test]
fn errors_in_a_stream_have_an_offset() {
    let f = Folder::new("wrong");
    let proto = [&[0x00, 0x10, 5][..], b"@file", &[3]].concat();
    let check = |bytes: &[u8], message: &str| {
        let said = bad(&[&"memprof", &"report", &f.write("stream", bytes)]);
        assert!(said.trim_end().ends_with(message), "{said}");
    };
    check(b"", ": unexpected end of data at offset 0");
    check(b"ljs\x03", ": unexpected end of data at offset 0");
    check(b"{\"objects\": {}}", ": no symbol table at offset 0");
    check(b"ljs\x04\0\0\0\x80", ": a symbol table of version 4, which is not known at offset 3");
    check(&stream(3, &[0x03], &[]), ": a symbol of kind 3 at offset 7");
    check(&stream(3, &proto, &[0x14]), ": an event with header 0x14 at offset 24");
    check(&stream(3, &proto, &[0x04]), ": an event with header 0x04 at offset 24");
    check(&stream(1, &proto, &[0x11]), ": an event with header 0x11 at offset 24");
    check(
        &stream(3, &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], &[]),
        ": a number of more than 64 bits at offset 8",
    );
    check(&stream(3, &[0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], &[]), ": a string of 4398046511103 bytes at offset 9");
    let whole = stream(3, &proto, &[0x05, 0x20, 64]);
    let said = bad(&[&"memprof", &"report", &f.write("stream", &whole[..whole.len() - 1])]);
    assert!(said.trim_end().ends_with(&format!("unexpected end of data at offset {}", whole.len() - 1)), "{said}");
    let said = bad(&[&"memprof", &"report", &f.file("missing")]);
    assert!(said.contains("No such file"), "{said}");
}

#[test]
fn errors_in_a_heap_have_an_offset() {
    let f = Folder::new("wrong-heap");
    let check = |text: &str, message: &str| {
        let said = bad(&[&"heap", &"summary", &f.write("heap", text.as_bytes())]);
        assert!(said.trim_end().ends_with(message), "{said}");
    };
    check("", ": EOF while parsing a value at offset 0");
    check("zzz", ": expected value at offset 0");
    let dump = r#"{"objects": {"0x1": {"type": "table", "size": 1, "metatable": "0x2"}}, "roots": {}}"#;
    check(dump, &format!(": there is no object 0x2 at offset {}", dump.find("\"0x2").unwrap()));
    check(&dump.replace("0x2", "0x1").replace("1, ", "-1, "), "expected u64 at offset 48");
    let header = r#"{"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["object"]],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[["context"]]},"node_count":2,"edge_count":1},"#;
    let snapshot = |nodes: &str, edges: &str| format!(r#"{header} "nodes": [{nodes}],"edges":[{edges}],"strings":["a"]}}"#);
    good(&[&"heap", &"summary", &f.write("heap", snapshot("0,0,1,8,1, 0,0,2,8,0", "0,0,5").as_bytes())]);
    let nodes = header.len() + " \"nodes\": [".len();
    let edges = |nodes_text: &str| nodes + nodes_text.len() + "],\"edges\":[".len();
    let whole = "0,0,1,8,1, 0,0,2,8,0";
    check(&snapshot("0,0,1,8,1", ""), &format!("5 numbers are not 2 nodes of 5 at offset {}", nodes - 1));
    check(&snapshot("0,0,1,8,1,7,0,2,8,0", "0,0,5"), &format!("node 1 has an unknown type at offset {}", nodes + 10));
    check(&snapshot("0,3,1,8,1,0,0,2,8,0", "0,0,5"), &format!("node 0 has the name 3, of 1 strings at offset {}", nodes + 2));
    check(&snapshot("0,0,1,8,9,0,0,2,8,0", "0,0,5"), &format!("node 0 has more edges than there are at offset {}", nodes + 8));
    check(
        &snapshot("0,0,1,8,0,0,0,2,8,0", "0,0,5"),
        &format!("nodes have 0 edges, but there are 1 at offset {}", edges(&whole[1..]) - 1),
    );
    check(&snapshot(whole, "0,0,6"), &format!("edge 0 leads to no node at offset {}", edges(whole) + 4));
    check(
        &header.replace("self_size", "size").replace("1},", r#"1},"nodes":[],"edges":[],"strings":[]}"#),
        "of the snapshot at offset 12",
    );
    // Nothing that has no end is read to it.
    for endless in ["/dev/zero", "/dev/full"] {
        assert!(bad(&[&"heap", &"summary", &endless]).contains("expected value at offset 0"));
    }
}

/// Two files of each kind of the script.
fn heaps(f: &Folder) -> (PathBuf, Vec<PathBuf>) {
    let script = f.write("leak.lua", SCRIPT.as_bytes());
    let (dump, small, large) = (f.file("dump.json"), f.file("small.heapsnapshot"), f.file("large.heapsnapshot"));
    good(&[&"heap", &"dump", &"-o", &dump, &script, &"100"]);
    good(&[&"heap", &"snapshot", &"-o", &small, &script, &"100"]);
    good(&[&"heap", &"snapshot", &"-o", &large, &script, &"350"]);
    (dump, vec![small, large])
}

/// The line of a listing that ends in `title`: objects and bytes.
fn row(listing: &str, title: &str) -> (i64, i64) {
    let line = listing.lines().find(|l| l.rsplit_once("  ").is_some_and(|(_, t)| t.trim() == title));
    let line = line.unwrap_or_else(|| panic!("{title} in {listing}"));
    let mut numbers = line.split_whitespace().map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn heaps_are_summed_up_compared_and_explained() {
    let f = Folder::new("heap");
    let (dump, snapshots) = heaps(&f);
    let (a, b) = (good(&[&"heap", &"summary", &dump]), good(&[&"heap", &"summary", &snapshots[0]]));
    assert_eq!(row(&a, "string"), row(&b, "string"), "both files say the same");
    assert_eq!(row(&a, "in all").1, row(&b, "in all").1);
    assert_eq!(row(&b, "object Account"), (100, 100 * 96));
    let grown = good(&[&"heap", &"diff", &snapshots[0], &snapshots[1]]);
    assert_eq!(row(&grown, "object Account"), (250, 250 * 96), "{grown}");
    assert_eq!(row(&grown, "string").0, 250);
    let why = good(&[&"heap", &"why", &snapshots[0], &"opened 77"]);
    let path: Vec<&str> = why.lines().map(|l| l.trim_start().split(" = ").next().unwrap()).collect();
    assert_eq!(&path[1..], ["globals", ".open", "cache", "value", "[77]", ".history", "[1]"], "{why}");
    let why = good(&[&"heap", &"why", &dump, &"opened 77"]);
    assert!(why.contains(".history = table 0x") && why.trim_end().ends_with("bytes)"), "{why}");
    let address = why.lines().last().unwrap().split_whitespace().find(|w| w.starts_with("0x")).unwrap().to_owned();
    assert_eq!(good(&[&"heap", &"why", &dump, &address]), why);
    assert!(bad(&[&"heap", &"why", &dump, &"nothing"]).contains("no object nothing"));
    let all = good(&[&"heap", &"why", &"--limit", &"2", &snapshots[0], &"Account"]);
    assert!(all.trim_end().ends_with("more") && !all.contains("nothing that keeps"), "{all}");
}

#[test]
fn large_heaps_are_read_with_little_memory() {
    let f = Folder::new("large-heap");
    let script = f.write("large.lua", b"t = {} for i = 1, 150000 do t[i] = {i, next = t[i - 1], name = 'object ' .. i} end");
    for (kind, name) in [("dump", "large.json"), ("snapshot", "large.heapsnapshot")] {
        let file = f.file(name);
        good(&[&"heap", &kind, &"-o", &file, &script]);
        let size = std::fs::metadata(&file).unwrap().len();
        for command in [vec!["summary"], vec!["why", "object 149999"]] {
            let mut c = Command::new("sh");
            // Of addresses, not all of which are memory; 24 MB are the command's own in a development build.
            let limit = (size + size / 2 + (28 << 20)) / 1024;
            c.args(["-c", "ulimit -v $0; exec \"$@\"", &limit.to_string(), env!("CARGO_BIN_EXE_perilune"), "heap", command[0]]);
            let o = c.arg(&file).args(&command[1..]).output().unwrap();
            assert!(o.status.success(), "{size} bytes: {}", text(&o.stderr));
        }
    }
}

#[test]
fn a_script_that_fails_leaves_a_file() {
    let f = Folder::new("fails");
    let script = f.write("fails.lua", b"t = {1, 2, 3}\nerror('on purpose')");
    for command in [&["heap", "dump"], &["heap", "snapshot"], &["memprof", "record"]] {
        let out = f.file(command[1]);
        let said = bad(&[&command[0], &command[1], &"-o", &out, &script]);
        assert!(said.contains("fails.lua:2: on purpose"), "{said}");
        let report = if command[0] == "heap" { "summary" } else { "report" };
        good(&[&command[0], &report, &out]);
        assert!(bad(&[&command[0], &command[1], &"-o", &"/nonexistent/file", &script]).contains("/nonexistent/file"));
        assert!(bad(&[&command[0], &command[1], &"-o", &out, &"/nonexistent/script"]).contains("/nonexistent/script"));
    }
}

#[test]
fn a_script_that_ends_the_process_leaves_a_file() {
    let f = Folder::new("exits");
    for (i, end) in
        ["os.exit(5)", "coroutine.wrap(function() os.exit(5, true) end)()", "collected() collectgarbage()"].iter().enumerate()
    {
        let program = format!(
            "kept = {{ name = 'kept' }} local function collected() getmetatable(newproxy(true)).__gc = function() os.exit(5) end end {end}"
        );
        let script = f.write("exits.lua", program.as_bytes());
        for command in [&["heap", "dump"], &["heap", "snapshot"], &["memprof", "record"]] {
            let out = f.file(&format!("{}{i}", command[1]));
            let o = tools(&[&command[0], &command[1], &"-o", &out, &script]);
            assert_eq!((o.status.code(), &*text(&o.stderr)), (Some(5), ""), "{command:?} {end}");
            let report = if command[0] == "heap" { "summary" } else { "report" };
            good(&[&command[0], &report, &out]);
            let o = tools(&[&command[0], &command[1], &"-o", &"/dev/full", &script]);
            assert!(
                o.status.code() == Some(1) && text(&o.stderr).contains("No space left"),
                "{command:?} {end}: {}",
                text(&o.stderr)
            );
        }
    }
}

/// Runs a command on mutants of a file: cut, or with a byte changed. It prints something or a message of one line.
fn mutants(f: &Folder, file: &Path, command: &[&str], step: usize) {
    let bytes = std::fs::read(file).unwrap();
    let (mut refused, mut tried) = (0, 0);
    for (n, at) in (0..bytes.len()).step_by(step).enumerate() {
        let mut mutant = bytes.clone();
        match n % 5 {
            0 => mutant.truncate(at),
            1 => mutant[at] ^= 0x80,
            2 => mutant[at] = b'9',
            3 => mutant[at] = b'0',
            _ => mutant[at] ^= 1 << (n / 5 % 7),
        }
        let path = f.write("mutant", &mutant);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = command.iter().map(|c| c as &dyn AsRef<std::ffi::OsStr>).collect();
        arguments.insert(2, &path);
        let o = tools(&arguments);
        let said = text(&o.stderr);
        tried += 1;
        match o.status.code() {
            Some(0) => {}
            Some(1) => {
                refused += 1;
                assert_eq!(said.lines().count(), 1, "byte {at}: {said}");
                assert!(n % 5 != 0 || said.contains("at offset "), "byte {at}: {said}");
            }
            _ => panic!("byte {at}, mutant {n}: {:?} {said}", o.status),
        }
    }
    assert!(tried > 100 && refused > tried / 4, "{refused} of {tried}");
}

#[test]
fn broken_files_are_refused() {
    let f = Folder::new("mutants");
    let script = f.write("small.lua", b"local t = {} for i = 1, 20 do t[i] = {i .. 'x'} end kept = t");
    let (profile, dump, snapshot) = (f.file("profile"), f.file("dump"), f.file("snapshot"));
    good(&[&"memprof", &"record", &"-o", &profile, &script]);
    good(&[&"heap", &"dump", &"-o", &dump, &script]);
    good(&[&"heap", &"snapshot", &"-o", &snapshot, &script]);
    let steps = |file: &Path, n: usize| (std::fs::metadata(file).unwrap().len() as usize / n).max(1);
    mutants(&f, &profile, &["memprof", "report", "--json"], steps(&profile, 250));
    mutants(&f, &dump, &["heap", "summary"], steps(&dump, 250));
    mutants(&f, &snapshot, &["heap", "why", "1x"], steps(&snapshot, 250));
}
