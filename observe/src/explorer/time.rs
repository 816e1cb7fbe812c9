//! Where the time went: the samples of a profile by line and by trace.

use super::answer::{BuiltinTime, LineTime, Time, TraceTime};
use super::report::Report;
use crate::profile::Profile;
use crate::profile::model::{Doing, TraceInfo};
use std::collections::{BTreeMap, HashMap};

impl Report {
    /// Adds where the time went, by a profile of the same run, and draws the conclusions anew.
    pub fn add_profile(&mut self, profile: &Profile) {
        self.time = Some(time(self, profile));
        self.findings = super::finding::findings(self);
    }
}

/// The trace of a report that a profile is about: numbers are used again, so the place must be the same.
fn trace_of(report: &Report, info: &TraceInfo) -> Option<u32> {
    let place = |t: &&super::report::Trace| {
        t.start.is_some_and(|at| {
            let file = &report.files[report.functions[at.function].file].name;
            info.place == format!("{}:{}", file.rsplit('/').next().unwrap_or_default(), at.line)
        })
    };
    let same = report.traces.iter().rev().filter(|t| t.number == info.number.get());
    same.clone().find(place).or_else(|| same.clone().next()).map(|t| t.id)
}

fn time(report: &Report, profile: &Profile) -> Time {
    let files: HashMap<&str, usize> = report.files.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
    let traces: Vec<Option<u32>> = profile.traces.iter().map(|t| trace_of(report, t)).collect();
    let mut lines: BTreeMap<(usize, u32), BTreeMap<&'static str, u64>> = BTreeMap::new();
    let mut by_trace: BTreeMap<u32, (u64, BTreeMap<u32, u64>)> = BTreeMap::new();
    let mut builtins: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in profile.samples() {
        let state = sample.kind.doing.name();
        let place = sample.stack.iter().rev().find_map(|&frame| {
            let file = *files.get(profile.function_of(frame).file.as_str())?;
            Some((file, profile.frames[frame as usize].line)).filter(|p| p.1 != 0)
        });
        if let Some(place) = place {
            *lines.entry(place).or_default().entry(state).or_default() += sample.count;
        }
        if let Some(id) = sample.kind.trace.and_then(|t| traces[t as usize]) {
            let (all, exits) = by_trace.entry(id).or_default();
            *all += sample.count;
            if let Some(exit) = sample.kind.exit {
                *exits.entry(exit).or_default() += sample.count;
            }
        }
        if sample.kind.doing == Doing::Builtin
            && let Some(&frame) = sample.stack.last()
        {
            *builtins.entry(&profile.function_of(frame).name).or_default() += sample.count;
        }
    }
    let mut lines: Vec<LineTime> =
        lines.into_iter().map(|((file, line), states)| LineTime { file, line, samples: states.values().sum(), states }).collect();
    lines.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| (a.file, a.line).cmp(&(b.file, b.line))));
    let mut traces: Vec<TraceTime> =
        by_trace.into_iter().map(|(trace, (samples, exits))| TraceTime { trace, samples, exits }).collect();
    traces.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.trace.cmp(&b.trace)));
    let mut builtins: Vec<BuiltinTime> =
        builtins.into_iter().map(|(name, samples)| BuiltinTime { name: name.to_owned(), samples }).collect();
    builtins.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.name.cmp(&b.name)));
    Time {
        interval_us: profile.interval.as_micros() as u64,
        samples: profile.total(),
        states: profile.by_doing().into_iter().map(|(d, n)| (d.name(), n)).collect(),
        lines,
        traces,
        builtins,
    }
}
