//! What the compiler chooses to compile, against LuaJIT and against what it chose before: numbers of traces, of their links and of
//! recordings given up, in the programs of `tests/lua/jit` and `benches/programs`, with the same thresholds.
//!
//! `tests/selection/luajit.txt` is LuaJIT's table (`tests/selection/table.sh` writes it), `perilune.txt` ours, and `outside.txt` lists what
//! is not within the bounds of LuaJIT's. `BLESS=1` writes the last two: read the difference before committing it.

mod command;

use command::run_in;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `count.lua` prints of a program.
#[derive(Clone)]
struct Counts {
    line: String,
    roots: u64,
    sides: u64,
    links: BTreeMap<String, u64>,
    aborts: u64,
}

/// `a=1; b=2`, or `-`.
fn list(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.split("; ").filter_map(|pair| pair.rsplit_once('='));
    pairs.map(|(name, count)| (name.to_owned(), count.parse().expect("a count"))).collect()
}

fn counts(line: &str) -> Counts {
    let parts: Vec<&str> = line.split('\t').collect();
    let &[roots, sides, links, aborts] = &parts[..] else { panic!("not four columns: {line}") };
    let number = |text: &str| text.parse().expect("a count");
    let aborts = list(aborts).values().sum();
    Counts { line: line.to_owned(), roots: number(roots), sides: number(sides), links: list(links), aborts }
}

type Table = BTreeMap<String, Counts>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> PathBuf {
    root().join("tests/selection").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn table(name: &str) -> Table {
    let text = read(name);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once('\t').unwrap_or_else(|| panic!("{name}: {line}")));
    parts.map(|(program, rest)| (program.to_owned(), counts(rest))).collect()
}

/// The median of three runs, by the number of traces: some of them depend on the order of `pairs`.
fn measure(program: &str) -> Counts {
    let mut runs = [(); 3].map(|()| run(program));
    runs.sort_by_key(|counts| counts.roots + counts.sides);
    let [_, median, _] = runs;
    median
}

/// Runs a program of the table with LuaJIT's thresholds, whatever compiling costs.
fn run(program: &str) -> Counts {
    let path = root().join(program);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{program}: {e}"));
    let small = text.lines().find_map(|line| line.strip_prefix("-- small: ")).map(str::trim);
    let count = file("count.lua").to_string_lossy().into_owned();
    let name = path.file_name().expect("a file name").to_string_lossy();
    let args: Vec<&str> = ["-Obudget=0", &count, &name].into_iter().chain(small).collect();
    // What it writes to standard error is its own affair.
    let done = run_in(path.parent().expect("a folder"), &args, "");
    assert_eq!(done.status, Some(0), "{program}: {}", done.errors);
    counts(done.output.lines().next_back().unwrap_or(""))
}

fn measure_all(programs: &[String]) -> Table {
    let (next, ours) = (AtomicUsize::new(0), Mutex::new(Table::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let counts = measure(program);
                    ours.lock().expect("no panic while locked").insert(program.clone(), counts);
                }
            });
        }
    });
    ours.into_inner().expect("no panic while locked")
}

/// A number that is compared with LuaJIT's.
struct Quantity {
    name: &'static str,
    of: fn(&Counts) -> u64,
    /// Within a factor of two and this.
    slack: f64,
    /// Is it good to have fewer?
    fewer_is_fine: bool,
}

fn links(c: &Counts, kind: &str) -> u64 {
    c.links.get(kind).copied().unwrap_or(0)
}

const QUANTITIES: [Quantity; 5] = [
    Quantity { name: "roots", of: |c| c.roots, slack: 3.0, fewer_is_fine: false },
    Quantity { name: "sides", of: |c| c.sides, slack: 8.0, fewer_is_fine: false },
    Quantity { name: "loops", of: |c| links(c, "loop"), slack: 6.0, fewer_is_fine: false },
    Quantity { name: "unfinished", of: |c| links(c, "stitch") + links(c, "interpreter"), slack: 5.0, fewer_is_fine: true },
    Quantity { name: "aborts", of: |c| c.aborts, slack: 10.0, fewer_is_fine: true },
];

impl Quantity {
    /// On which side of the bounds is our number? The bounds are made wider, or closer, by a tenth of themselves and two for each 1 of
    /// `wider`.
    fn outside(&self, ours: &Counts, theirs: &Counts, wider: f64) -> Option<&'static str> {
        let (ours, theirs) = ((self.of)(ours) as f64, (self.of)(theirs) as f64);
        let most = |n: f64| (2.0 * n + self.slack) * (1.0 + wider / 10.0) + 2.0 * wider;
        match () {
            () if ours > most(theirs) => Some("more"),
            () if theirs > most(ours) && !self.fewer_is_fine => Some("fewer"),
            () => None,
        }
    }
}

/// The lines of `outside.txt`: program, quantity, side, ours and LuaJIT's.
fn outside(ours: &Table, theirs: &Table) -> String {
    let mut text = String::from("# Not within the bounds of tests/selection.rs: program, what, how, ours, LuaJIT's\n");
    for (program, counts) in ours {
        for q in &QUANTITIES {
            if let Some(how) = q.outside(counts, &theirs[program], 0.0) {
                let (a, b) = ((q.of)(counts), (q.of)(&theirs[program]));
                let _ = writeln!(text, "{program}\t{}\t{how}\t{a}\t{b}", q.name);
            }
        }
    }
    text
}

/// What is not as `outside.txt` lists it. Whatever is close to a bound may be on either side.
fn unlisted(ours: &Table, theirs: &Table, listed: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (program, counts) in ours {
        for q in &QUANTITIES {
            let line = |how: &str| format!("{program}\t{}\t{how}\t", q.name);
            let (narrow, wide) = (q.outside(counts, &theirs[program], -1.0), q.outside(counts, &theirs[program], 1.0));
            let numbers = || format!("{} {}, LuaJIT {}", (q.of)(counts), q.name, (q.of)(&theirs[program]));
            for how in ["more", "fewer"] {
                let is_listed = listed.lines().any(|l| l.starts_with(&line(how)));
                if wide == Some(how) && !is_listed {
                    wrong.push(format!("{program}: {}, which is not within the bounds", numbers()));
                }
                if is_listed && narrow != Some(how) {
                    wrong.push(format!("{program}: {}, which is within the bounds and listed", numbers()));
                }
            }
        }
    }
    wrong
}

/// Where our numbers are not those of `perilune.txt`, but for what the order of `pairs` may change.
fn changed(ours: &Table, before: &Table) -> Vec<String> {
    let differs = |new: u64, old: u64, slack: u64| new.abs_diff(old) > slack + old / 5;
    let mut wrong = Vec::new();
    for (program, new) in ours {
        let Some(old) = before.get(program) else {
            wrong.push(format!("{program} is not in the table"));
            continue;
        };
        if differs(new.roots, old.roots, 4) || differs(new.sides, old.sides, 6) || differs(new.aborts, old.aborts, 12) {
            wrong.push(format!("{program}:\n  - {}\n  + {}", old.line, new.line));
        }
    }
    wrong
}

#[test]
fn traces_are_chosen_as_luajit_does() {
    let theirs = table("luajit.txt");
    let programs: Vec<String> = theirs.keys().cloned().collect();
    let ours = measure_all(&programs);
    if std::env::var_os("BLESS").is_some() {
        let mut text = String::from(
            "# Perilune, by BLESS=1 cargo test --test selection: program, root traces, side traces, links by kind, recordings given up by reason\n",
        );
        for (program, counts) in &ours {
            let _ = writeln!(text, "{program}\t{}", counts.line);
        }
        std::fs::write(file("perilune.txt"), text).expect("the table is written");
        std::fs::write(file("outside.txt"), outside(&ours, &theirs)).expect("the list is written");
    }
    let mut wrong = unlisted(&ours, &theirs, &read("outside.txt"));
    wrong.extend(changed(&ours, &table("perilune.txt")));
    assert!(wrong.is_empty(), "BLESS=1 accepts what is meant to be so:\n{}", wrong.join("\n"));
    // A little more everywhere does not pass for what the order of `pairs` may change.
    let total = |table: &Table| table.values().map(|c| c.roots + c.sides).sum::<u64>() as f64;
    let ratio = total(&ours) / total(&table("perilune.txt"));
    assert!((0.95..1.05).contains(&ratio), "{ratio:.3} times the traces of the table in all");
}

/// Every program of both folders is in the table, or said not to run in LuaJIT.
#[test]
fn the_table_is_complete() {
    let text = read("luajit.txt");
    for folder in ["benches/programs", "tests/lua/jit"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
            let program = format!("{folder}/{name}");
            let is_there = || text.lines().any(|l| l.trim_start_matches("# ").split(['\t', ':']).next() == Some(&program));
            assert!(!name.ends_with(".lua") || is_there(), "{program}: tests/selection/table.sh writes the table");
        }
    }
}

/// A program whose traces are others is found, in either table.
#[test]
fn other_choices_are_found() {
    let theirs = table("luajit.txt");
    let ours = table("perilune.txt");
    let listed = read("outside.txt");
    for program in ["benches/programs/collatz.lua", "tests/lua/jit/loop_kinds.lua"] {
        let mut other = ours.clone();
        let counts = other.get_mut(program).expect("a program of the table");
        counts.roots = counts.roots * 3 + 5;
        let found = |wrong: Vec<String>| wrong.iter().any(|line| line.starts_with(program));
        assert!(found(unlisted(&other, &theirs, &listed)), "{program}");
        assert!(found(changed(&other, &ours)), "{program}");
    }
    assert_eq!(changed(&ours, &ours), Vec::<String>::new());
}
