//! Linux' `perf` names compiled code: by its map, and by a jitdump file. gdb shows a backtrace through a trace.

mod command;

use command::PERILUNE;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = "local function square(n)
  return n * n % 7
end
local s = 0
for i = 1, 3e7 do
  s = s + square(i)
end
print(s)
";

/// A folder with the program, which goes away.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("perilune-perf-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("hot.lua"), PROGRAM).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).current_dir(folder).env("HOME", folder).output().ok()
}

/// Records the program by `perf`. None, with a printed line, where that cannot be done.
fn recorded(f: &Folder, which: &str) -> Option<()> {
    let arguments = ["record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "500", "-o", "perf.data", PERILUNE, which, "hot.lua"];
    match run(&f.0, "perf", &arguments) {
        Some(done) if done.status.success() => Some(()),
        other => {
            println!(
                "SKIPPED perf: {}",
                other.map_or("it is not installed".into(), |o| String::from_utf8_lossy(&o.stderr).into_owned())
            );
            None
        }
    }
}

fn text(f: &Folder, arguments: &[&str]) -> String {
    let done = run(&f.0, "perf", arguments).expect("perf has run before");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
#[cfg(target_os = "linux")]
fn the_map_names_lines_and_traces() {
    let f = Folder::new("map");
    // Without perf the map is there all the same; the program says its own number.
    let program = "for i = 1, 1000 do local x = i end local f = io.open('/proc/self/stat') print(f:read('*n'))";
    let done = run(&f.0, PERILUNE, &["-Operf=1", "-Ohotloop=5", "-e", program]).unwrap();
    let pid = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    let file = PathBuf::from(format!("/tmp/perf-{pid}.map"));
    let map = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    let mut end = 0;
    for line in map.lines() {
        let mut words = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(words.next().unwrap(), 16).unwrap();
        let (start, size) = (number(), number());
        assert!(start >= end && size > 0, "parts follow one another: {map}");
        end = start + size;
        assert!(words.next().unwrap().contains("trace 1"), "{line}");
    }
    assert!(map.contains("(command line):1 (trace 1)"), "{map}");
    if recorded(&f, "-Operf=1").is_some() {
        let report = text(&f, &["report", "-i", "perf.data", "--stdio"]);
        assert!(report.contains("hot.lua:2 (trace "), "{report}");
    }
    for entry in std::fs::read_dir("/tmp").unwrap().flatten() {
        // The map of the process that perf has started.
        let is_ours = |t: &str| t.contains("hot.lua:2 (trace ");
        let name = entry.file_name();
        if name.to_str().is_some_and(|n| n.starts_with("perf-") && n.ends_with(".map"))
            && std::fs::read_to_string(entry.path()).is_ok_and(|t| is_ours(&t))
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_dump_has_code_and_lines() {
    let f = Folder::new("dump");
    let done = run(&f.0, PERILUNE, &["-Operf=2", "-Ohotloop=5", "-e", "for i = 1, 1000 do local x = i end"]).unwrap();
    assert!(done.status.success());
    let dump = std::fs::read_dir(&f.0).unwrap().flatten().find(|e| e.file_name().to_string_lossy().starts_with("jit-")).unwrap();
    let bytes = std::fs::read(dump.path()).unwrap();
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(0), word(4), word(8)), (0x4a69_5444, 1, 40));
    // Records follow the header up to the end: lines (2), then code (0).
    let (mut at, mut kinds) = (40, Vec::new());
    while at < bytes.len() {
        kinds.push(word(at));
        at += word(at + 4) as usize;
    }
    assert_eq!((at, &kinds[..2]), (bytes.len(), &[2, 0][..]));
    std::fs::remove_file(dump.path()).unwrap();
    if recorded(&f, "-Operf=2").is_some() {
        let done = run(&f.0, "perf", &["inject", "--jit", "-i", "perf.data", "-o", "jit.data"]).unwrap();
        assert!(done.status.success(), "{done:?}");
        let report = text(&f, &["report", "-i", "jit.data", "--stdio"]);
        assert!(report.contains("hot.lua:") && report.contains("] trace "), "{report}");
        let lines = text(&f, &["annotate", "-i", "jit.data", "--stdio"]);
        assert!(lines.contains("hot.lua:2") || !lines.contains("Disassembly"), "{lines}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn gdb_finds_the_callers_of_a_trace() {
    let f = Folder::new("gdb");
    let program = "local function attempt(name)
  return os.remove(name)
end
for i = 1, 2000 do
  attempt('/nonexistent')
end
";
    std::fs::write(f.0.join("calls.lua"), program).unwrap();
    // The function of the system that `os.remove` calls, when it is long compiled.
    let commands = ["break unlink", "ignore 1 1000", "run", "bt", "kill"];
    let mut arguments = vec!["-nx", "-q", "-batch"];
    commands.iter().for_each(|c| arguments.extend(["-ex", c]));
    arguments.extend(["--args", PERILUNE, "-Ogdb=1", "-Ohotloop=10", "calls.lua"]);
    let Some(done) = run(&f.0, "gdb", &arguments) else {
        return println!("SKIPPED gdb: it is not installed");
    };
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if !out.contains("Breakpoint 1, ") {
        // A container may forbid it, and an emulator cannot do it.
        return println!("SKIPPED gdb: it cannot run the program: {out}{err}");
    }
    let frames: Vec<&str> = out.lines().filter(|l| l.starts_with('#')).collect();
    let trace = frames.iter().position(|l| l.contains(" in trace 1 calls.lua:4 () at calls.lua:2"));
    let trace = trace.unwrap_or_else(|| panic!("a frame of the trace: {out}{err}"));
    assert!(frames[trace + 1].contains("enter a trace"), "{out}");
    assert!(frames.iter().any(|l| l.contains("in main ()")), "the whole stack: {out}");
}
