//! What was found: grouped, so that one fault does not flood a run, and written to a folder.

use crate::grammar::Grammar;
use crate::modes::{self, Mode};
use crate::program::{self, Node};
use crate::reduce::{self, Fault};
use crate::run;
use crate::supervise::Setup;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// A program that shows a fault in a mode.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The program's seed.
    pub seed: u64,
    /// The number of the mode.
    pub mode: usize,
    /// How the worker ended; empty if the output differs.
    pub how: String,
}

/// Findings that are taken for one fault.
struct Group {
    report: String,
    seeds: Vec<u64>,
}

/// All findings of a run.
pub struct Findings {
    modes: Vec<Mode>,
    folder: PathBuf,
    /// For making one program smaller.
    patience: Duration,
    groups: Mutex<BTreeMap<String, Group>>,
    /// How many there are of each kind that is seen without making them smaller.
    kinds: Mutex<BTreeMap<String, u64>>,
}

impl Findings {
    /// `folder`: where programs are written to. `patience`: for making one smaller.
    pub fn new(folder: PathBuf, patience: Duration) -> Findings {
        Findings { modes: modes::all(), folder, patience, groups: Mutex::default(), kinds: Mutex::default() }
    }
    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups.lock().map_or(0, |g| g.len())
    }
    /// Takes a finding: makes the program smaller and writes it, unless many like it were found already.
    pub fn add(&self, setup: &Setup, finding: &Finding) {
        let mode = &self.modes[finding.mode].name;
        if !self.is_worth_reducing(&format!("{mode} {}", finding.how)) {
            return self.group(&format!("{mode}: {}, not made smaller", shown_how(&finding.how)), finding.seed, String::new);
        }
        let nodes = Grammar::new(finding.seed).program().nodes;
        let Some((smaller, fault)) = reduce::reduce(setup, nodes, finding.mode, finding.seed, self.patience) else {
            return self.group(&format!("{mode}: {}, does not come again", shown_how(&finding.how)), finding.seed, String::new);
        };
        let text = program::text(&smaller);
        let how = match &fault {
            Fault::Differs(..) => String::new(),
            Fault::Dies(death) => death.how.clone(),
        };
        let key = format!("{}: {}", shown_how(&how), shape(&text));
        self.group(&key, finding.seed, || self.report(finding, &smaller, &fault));
    }
    /// The first few of a kind, later every so many.
    fn is_worth_reducing(&self, kind: &str) -> bool {
        let Ok(mut kinds) = self.kinds.lock() else { return false };
        let n = kinds.entry(kind.into()).or_default();
        *n += 1;
        *n <= 6 || n.is_power_of_two()
    }
    fn group(&self, key: &str, seed: u64, report: impl FnOnce() -> String) {
        let Ok(mut groups) = self.groups.lock() else { return };
        let group = groups.entry(key.into()).or_insert_with(|| {
            // A long run is not waited for.
            eprintln!("found: seed {seed}, {}", key.lines().next().unwrap_or_default());
            Group { report: report(), seeds: Vec::new() }
        });
        group.seeds.push(seed);
    }
    /// Writes the program to a file and describes it.
    fn report(&self, finding: &Finding, nodes: &[Node], fault: &Fault) -> String {
        let Finding { seed, mode, .. } = *finding;
        let mode = &self.modes[mode];
        let options: String = mode.options(seed).iter().map(|o| format!(" -O{o}")).collect();
        let switch = if mode.compiler { "" } else { " -joff" };
        let shown = match fault {
            Fault::Differs(a, b) => format!("--- reference:\n{a}--- {}:\n{b}", mode.name),
            Fault::Dies(death) if death.doing.mode == 0 => format!("interpreted it {}\n", death.how),
            Fault::Dies(death) => format!("it {}\n", death.how),
        };
        let how = match fault {
            Fault::Differs(..) => "differs",
            Fault::Dies(death) if death.hung => "hangs",
            Fault::Dies(_) => "dies",
        };
        let file = self.folder.join(format!("seed-{seed}-{}-{how}.lua", mode.name));
        let commented: String = shown.lines().map(|l| format!("-- {l}\n")).collect();
        let head = format!("-- Seed {seed}, mode {}: perilune{switch}{options}\n{commented}", mode.name);
        let text = program::text(nodes);
        let before = mode.before(seed).map_or(String::new(), |before| format!("{before}\n"));
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&file, format!("{head}{}", run::standalone(&text, &before))));
        let place = written.map_or_else(|e| format!("not written: {e}"), |()| file.display().to_string());
        format!("seed {seed}, mode {}{switch}{options}: {place}\n{text}{shown}", mode.name)
    }
    /// All groups, the largest first.
    pub fn text(&self) -> String {
        let Ok(groups) = self.groups.lock() else { return String::new() };
        let mut sorted: Vec<_> = groups.iter().collect();
        sorted.sort_by_key(|(_, g)| std::cmp::Reverse(g.seeds.len()));
        let line = |(key, g): &(&String, &Group)| {
            let seeds: Vec<String> = g.seeds.iter().take(12).map(u64::to_string).collect();
            let title = key.lines().next().unwrap_or_default();
            format!("== {} times, {title}\n   seeds {}\n{}\n", g.seeds.len(), seeds.join(" "), g.report)
        };
        sorted.iter().map(line).collect()
    }
}

fn shown_how(how: &str) -> &str {
    if how.is_empty() { "differs" } else { how }
}

/// A program without the numbers in it, which are those of names above all.
fn shape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('0') {
            out.push('0');
        }
    }
    out
}
