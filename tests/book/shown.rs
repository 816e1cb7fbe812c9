//! Outputs about traces that pages show, of programs that anybody can run. The test compares them but for what depends on the machine: times,
//! and sizes of machine code. `BLESS=1` writes those that differ anew.

use crate::command::{folder, run_in};
use crate::{blocks, read, root};
use std::path::PathBuf;

/// Where a program is.
enum Program {
    /// The first program of the page, which is to be written to this file.
    First(&'static str),
    /// In this folder.
    In(&'static str),
}

/// Pages, the commands of which the output is compared, and their programs.
const SHOWN: [(&str, &str, Program); 5] = [
    ("docs/start-watch.md", "-jv=- shapes.lua", Program::First("shapes.lua")),
    ("docs/start-watch.md", "-jstats shapes.lua", Program::First("shapes.lua")),
    ("docs/watching.md", "-jv=- collatz.lua", Program::In("benches/programs")),
    ("docs/watching.md", "-jstats=4 collatz.lua", Program::In("benches/programs")),
    ("docs/watching.md", "examples/lua/counters.lua", Program::In(".")),
];

/// A line without what depends on the machine: bytes and microseconds in a row about a trace; numbers of kilobytes and milliseconds.
fn without_measures(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_row = words.len() > 5 && words[..5].iter().all(|w| w.bytes().all(|b| b.is_ascii_digit()));
    for i in 0..words.len() {
        let is_measure = words.get(i + 1).is_some_and(|unit| unit.starts_with("KB") || unit.starts_with("ms"));
        if is_measure || is_row && (i == 3 || i == 4) {
            words[i] = "?";
        }
    }
    words.join(" ")
}

/// The page with the output after a command as `printed`, if it differs in more than what depends on the machine.
fn renewed(page: &str, command: &str, printed: &str) -> String {
    let head = format!("    $ perilune {command}\n");
    let (before, rest) = page.split_once(&head).unwrap_or_else(|| panic!("no page shows {command}"));
    // An empty line within the output has lines of it on both sides.
    let lines: Vec<&str> = rest.split_inclusive('\n').collect();
    let is_shown = |i: usize| lines.get(i).is_some_and(|l| l.starts_with("    ") && !l.starts_with("    $ "));
    let mut end = 0;
    while is_shown(end) || lines.get(end) == Some(&"\n") && is_shown(end + 1) {
        end += 1;
    }
    let shown: Vec<String> = lines[..end].iter().map(|l| without_measures(l)).collect();
    let new: Vec<String> = printed.lines().map(without_measures).collect();
    if shown == new {
        return page.to_owned();
    }
    let indented = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let printed: String = printed.lines().map(indented).collect();
    format!("{before}{head}{printed}{}", lines[end..].concat())
}

#[test]
fn outputs_about_traces_are_those_of_the_programs() {
    for (page, command, program) in SHOWN {
        let path = root().join(page);
        let text = read(&path);
        let place: PathBuf = match program {
            Program::First(name) => {
                let place = folder(&format!("shown-{}", command.split(' ').next().unwrap_or_default()));
                std::fs::write(place.join(name), &blocks(&text, "lua")[0].1).expect("the program is written");
                place
            }
            Program::In(folder) => root().join(folder),
        };
        let arguments: Vec<&str> = command.split(' ').collect();
        let done = run_in(&place, &arguments, "");
        assert_eq!(done.status, Some(0), "{command}: {done:?}");
        // Reports of watchers that go to standard error are shown after what the program prints.
        let new = renewed(&text, command, &(done.output + &done.errors));
        if std::env::var_os("BLESS").is_some() && new != text {
            std::fs::write(&path, &new).expect("the page is written");
        }
        assert_eq!(read(&path), new, "{page}");
    }
}

#[test]
fn measures_do_not_count() {
    let page = "a\n\n    $ perilune x\n    1 2 3 400 500 loop\n\n    took 3.5 ms\n\nb\n";
    assert_eq!(renewed(page, "x", "1 2 3 4 5 loop\n\ntook 1 ms\n"), page);
    assert_eq!(renewed(page, "x", "1 2 4 4 5 loop\n"), "a\n\n    $ perilune x\n    1 2 4 4 5 loop\n\nb\n");
}
