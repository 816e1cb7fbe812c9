//! Two runs of a program compared, by line: before and after a change.
//!
//! Lines are matched by their text, the first with the first of the same text and so on, since numbers change with the program.

use super::FORMAT;
use perilune_observe::explorer::Report;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;

/// What is compared of a run, in all or of one line.
#[derive(Copy, Clone, PartialEq, Default, Debug, Serialize)]
pub struct Figures {
    /// Milliseconds of processor time, by samples.
    pub ms: f64,
    /// Traces.
    pub traces: u64,
    /// Exits to the interpreter because guards failed.
    pub exits: u64,
    /// Allocations, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocations: Option<u64>,
    /// Bytes of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A line in both runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// The name of the file.
    pub file: String,
    /// Its number before; none for a new line.
    pub before_line: Option<u64>,
    /// Its number now; none for a line that is gone.
    pub line: Option<u64>,
    /// Its text.
    pub text: String,
    /// Before.
    pub before: Figures,
    /// Now.
    pub now: Figures,
}

/// The comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// The earlier run in all.
    pub before: Figures,
    /// This run in all.
    pub now: Figures,
    /// The lines that differ or took time, those whose time changed most first.
    pub lines: Vec<Line>,
}

/// Lines that are listed.
const MOST: usize = 100;

/// What a line is recognised by: file, text, and how many lines of the same text come before.
type Key = (String, String, usize);

/// A run by lines.
#[derive(Default)]
struct Run {
    all: Figures,
    lines: BTreeMap<Key, (u64, Figures)>,
}

/// An earlier run, from data that was written as JSON.
pub struct Before(Run);

impl Before {
    /// Reads the data.
    ///
    /// # Errors
    /// It is not the data of a run.
    pub fn read(data: &[u8]) -> Result<Before, String> {
        let data: Value = serde_json::from_slice(data).map_err(|e| format!("not the data of a run: {e}"))?;
        if data["format"] != FORMAT {
            return Err(format!("not the data of a run: its format is not {FORMAT}"));
        }
        Ok(Before(Run::of(&data)))
    }
}

/// Compares a run with an earlier one.
pub fn compare(Before(mut before): Before, report: &Report) -> Result<Compared, serde_json::Error> {
    // As the data of a run is written and read.
    let mut data = Vec::new();
    serde_json::to_writer(&mut data as &mut dyn Write, report)?;
    let now = Run::of(&serde_json::from_slice(&data)?);
    let mut lines = Vec::new();
    for ((file, text, nth), (line, figures)) in now.lines {
        let known = before.lines.remove(&(file.clone(), text.clone(), nth));
        let (before_line, before) = known.map_or((None, Figures::default()), |(line, f)| (Some(line), f));
        lines.push(Line { file, before_line, line: Some(line), text, before, now: figures });
    }
    for ((file, text, _), (line, figures)) in before.lines {
        lines.push(Line { file, before_line: Some(line), line: None, text, before: figures, now: Figures::default() });
    }
    lines.retain(|l| l.before != l.now || l.now.ms > 0.0);
    let change = |l: &Line| (l.now.ms - l.before.ms).abs();
    let bytes = |l: &Line| l.now.bytes.unwrap_or(0).abs_diff(l.before.bytes.unwrap_or(0));
    let order = |a: &Line, b: &Line| change(b).total_cmp(&change(a)).then_with(|| bytes(b).cmp(&bytes(a)));
    lines.sort_by(|a, b| order(a, b).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line))));
    lines.truncate(MOST);
    Ok(Compared { before: before.all, now: now.all, lines })
}

fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

fn number(v: &Value) -> u64 {
    v.as_u64().unwrap_or(0)
}

impl Run {
    /// From the data of the explorer. What is missing counts as nothing.
    fn of(data: &Value) -> Run {
        let files = list(&data["files"]);
        let mut by_line: HashMap<(u64, u64), Figures> = HashMap::new();
        let interval_ms = number(&data["time"]["interval_us"]) as f64 / 1000.0;
        let mut all = Figures { traces: list(&data["traces"]).len() as u64, ..Figures::default() };
        all.ms = number(&data["time"]["samples"]) as f64 * interval_ms;
        for l in list(&data["time"]["lines"]) {
            by_line.entry((number(&l["file"]), number(&l["line"]))).or_default().ms += number(&l["samples"]) as f64 * interval_ms;
        }
        let counted = |l: &Value| (l["allocations"].as_u64(), l["bytes"].as_u64());
        (all.allocations, all.bytes) = counted(&data["allocations"]);
        for l in list(&data["allocations"]["lines"]) {
            let figures = by_line.entry((number(&l["file"]), number(&l["line"]))).or_default();
            (figures.allocations, figures.bytes) = counted(l);
        }
        for (i, file) in files.iter().enumerate() {
            for l in list(&file["lines"]).iter().filter(|l| !list(&l["traces"]).is_empty()) {
                by_line.entry((i as u64, number(&l["line"]))).or_default().traces = list(&l["traces"]).len() as u64;
            }
        }
        for guard in list(&data["traces"]).iter().flat_map(|t| list(&t["left"])).flat_map(|x| list(&x["guards"])) {
            let failed = number(&guard["failed"]);
            all.exits += failed;
            if let Some(function) = guard["place"]["function"].as_u64() {
                let file = number(&data["functions"][function as usize]["file"]);
                by_line.entry((file, number(&guard["place"]["line"]))).or_default().exits += failed;
            }
        }
        let mut run = Run { all, lines: BTreeMap::new() };
        for (i, file) in files.iter().enumerate() {
            let name = file["name"].as_str().unwrap_or("?");
            let mut seen: HashMap<&str, usize> = HashMap::new();
            for (n, text) in file["text"].as_str().unwrap_or_default().lines().enumerate() {
                let nth = seen.entry(text.trim()).or_default();
                if let Some(figures) = by_line.get(&(i as u64, n as u64 + 1)) {
                    run.lines.insert((name.to_owned(), text.trim().to_owned(), *nth), (n as u64 + 1, *figures));
                }
                *nth += 1;
            }
        }
        run
    }
}
