//! The report as text, in the form of Tarantool's parser, and as JSON.

use super::profile::{ByPlace, Profile};
use crate::failure::Outcome;
use serde_json::{Value, json};
use std::io::{self, Write};

fn bytes(n: u128, human: bool) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    if !human {
        return format!("{n}B");
    }
    let mut size = n as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if size.fract() == 0.0 { format!("{size:.0}{}", UNITS[unit]) } else { format!("{size:.2}{}", UNITS[unit]) }
}

fn section(p: &Profile, title: &str, events: &ByPlace, human: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{title}")?;
    for (place, e) in p.sorted(events) {
        let (allocated, freed) = (bytes(e.allocated.into(), human), bytes(e.freed.into(), human));
        writeln!(out, "{}: {} events\t+{allocated}\t-{freed}", p.name(place), e.count)?;
        if !e.overrides.is_empty() {
            let mut names: Vec<&str> = e.overrides.keys().map(|o| p.name(*o)).collect();
            names.sort_unstable();
            writeln!(out, "\tOverrides:")?;
            for name in names {
                writeln!(out, "\t\t{name}")?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out)
}

/// The report as text.
pub fn text(p: &Profile, leak_only: bool, human: bool, out: &mut dyn Write) -> io::Result<()> {
    if !leak_only {
        section(p, "ALLOCATIONS", &p.allocs, human, out)?;
        section(p, "REALLOCATIONS", &p.reallocs, human, out)?;
        section(p, "DEALLOCATIONS", &p.frees, human, out)?;
    }
    writeln!(out, "HEAP SUMMARY:")?;
    for (name, h) in p.held() {
        let held = bytes(h.bytes.unsigned_abs(), human);
        writeln!(out, "{name} holds {held}: {} allocs, {} frees", h.allocs, h.frees)?;
    }
    writeln!(out)?;
    if !p.aliases.is_empty() {
        writeln!(out, "ALIASES:")?;
        for (i, text) in p.aliases.iter().enumerate() {
            writeln!(out, "function_alias_{}:", i + 1)?;
            for (n, line) in text.split('\n').filter(|l| !l.is_empty()).enumerate() {
                writeln!(out, "{}\t| {line}", n + 1)?;
            }
            writeln!(out, "\n")?;
        }
    }
    Ok(())
}

fn events(p: &Profile, events: &ByPlace) -> Value {
    let one = |(place, e): (usize, &super::profile::Events)| {
        let overrides: Vec<Value> = e
            .overrides
            .iter()
            .map(|(o, n)| json!({"place": p.name(*o), "events": n.count, "allocated": n.allocated, "freed": n.freed}))
            .collect();
        json!({"place": p.name(place), "events": e.count, "allocated": e.allocated, "freed": e.freed, "overrides": overrides})
    };
    p.sorted(events).into_iter().map(one).collect()
}

/// The report as JSON.
pub fn json(p: &Profile, leak_only: bool, out: &mut dyn Write) -> Outcome {
    let held: Vec<Value> = p
        .held()
        .into_iter()
        .map(|(name, h)| json!({"place": name, "bytes": h.bytes as u64, "allocs": h.allocs, "frees": h.frees}))
        .collect();
    let mut report = json!({"held": held, "aliases": p.aliases});
    if !leak_only {
        report["allocations"] = events(p, &p.allocs);
        report["reallocations"] = events(p, &p.reallocs);
        report["deallocations"] = events(p, &p.frees);
    }
    writeln!(out, "{report:#}")?;
    Ok(())
}
