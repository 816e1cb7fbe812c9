//! Conclusions: why a program is not faster, and what to change.
//!
//! A finding is made from what was seen: guards that failed, recordings that were given up, bytecode that is slow wherever it runs often,
//! and samples. Findings that name a place come first. Among them the share of the samples at the place decides, or, without samples, how
//! often it happened.

use super::advice::{advice_for_abort, advice_for_exit, group, words_for};
use super::answer::Finding;
use super::loops::{Loop, loops};
use super::report::{FailedGuard, HintKind, Kind, Place, Report, State, Trace};
use std::collections::{BTreeMap, HashMap};

/// Failures of one guard's instruction that are worth a word; fewer cost no more than a few side traces.
const MANY_FAILURES: u64 = 40;
/// Exits by one exit to the interpreter that are worth a word.
const MANY_EXITS: u32 = 200;
/// Kinds of values at one instruction from which on it is called polymorphic: a trace for each of two or three is no loss.
const MANY_KINDS: usize = 4;
/// Calls before which traces end.
const MANY_CALLS: u64 = 100;
/// Side traces that contain the end of the same inner loop.
const MANY_COPIES: usize = 3;
/// Samples below which shares say nothing.
const FEW_SAMPLES: u64 = 20;
/// Shares of the samples that are worth a word: of a line that is slow by itself, of a state of the VM.
const SHARE_OF_LINE: f64 = 0.05;
const SHARE_OF_STATE: f64 = 0.2;
/// Most findings.
const MOST: usize = 30;

/// The conclusions, what matters most first.
pub fn findings(report: &Report) -> Vec<Finding> {
    let facts = Facts::of(report);
    let mut list = Vec::new();
    facts.guards(&mut list);
    facts.exits(&mut list);
    facts.calls(&mut list);
    facts.inner_loops(&mut list);
    facts.hints(&mut list);
    facts.aborts(&mut list);
    facts.states(&mut list);
    facts.nothing(&mut list);
    list.sort_by(|a: &Finding, b| {
        let share = |f: &Finding| f.share.unwrap_or(0.0);
        let names_a_place = b.place.is_some().cmp(&a.place.is_some());
        names_a_place.then_with(|| share(b).total_cmp(&share(a))).then_with(|| b.count.cmp(&a.count))
    });
    list.truncate(MOST);
    list
}

/// A report, with what is looked up in it.
struct Facts<'a> {
    report: &'a Report,
    /// Samples by file and line.
    lines: HashMap<(usize, u32), u64>,
    /// All samples, if there are enough.
    samples: Option<u64>,
}

impl<'a> Facts<'a> {
    fn of(report: &'a Report) -> Facts<'a> {
        let time = report.time.as_ref().filter(|t| t.samples >= FEW_SAMPLES);
        let lines = time.map(|t| t.lines.iter().map(|l| ((l.file, l.line), l.samples)).collect());
        Facts { report, lines: lines.unwrap_or_default(), samples: time.map(|t| t.samples) }
    }
    fn file(&self, place: Place) -> usize {
        self.report.functions[place.function].file
    }
    /// "file.lua:12".
    fn at(&self, place: Place) -> String {
        let name = &self.report.files[self.file(place)].name;
        format!("{}:{}", name.rsplit('/').next().unwrap_or_default(), place.line)
    }
    /// The share of the samples that a line has.
    fn share(&self, place: Option<Place>) -> Option<f64> {
        let place = place?;
        let at = self.lines.get(&(self.file(place), place.line)).copied().unwrap_or(0);
        Some(at as f64 / self.samples? as f64)
    }
    fn state(&self, name: &str) -> Option<f64> {
        let n = self.report.time.as_ref()?.states.get(name)?;
        Some(*n as f64 / self.samples? as f64)
    }
    /// The hottest lines in a state, in words.
    fn lines_in(&self, state: &str) -> String {
        let Some(time) = &self.report.time else { return String::new() };
        let mut lines: Vec<(u64, String)> = time
            .lines
            .iter()
            .filter_map(|l| {
                let name = &self.report.files[l.file].name;
                Some((*l.states.get(state)?, format!("{}:{}", name.rsplit('/').next().unwrap_or_default(), l.line)))
            })
            .collect();
        lines.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let words: Vec<String> = lines.iter().take(3).map(|(n, at)| format!("{at} ({n} samples)")).collect();
        words.join(", ")
    }

    /// Instructions whose guards fail for many kinds of values.
    fn guards(&self, list: &mut Vec<Finding>) {
        let mut by_place: BTreeMap<(usize, usize, &str), Vec<Failed<'_>>> = BTreeMap::new();
        for t in &self.report.traces {
            for x in &t.left {
                for g in &x.guards {
                    if let Some(place) = g.place {
                        by_place.entry((place.function, place.pc, group(g.kind))).or_default().push((t, x.exit, g));
                    }
                }
            }
        }
        for ((_, _, group), guards) in by_place {
            let failed: u64 = guards.iter().map(|(_, _, g)| g.failed).sum();
            let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
            for seen in guards.iter().flat_map(|(_, _, g)| &g.seen) {
                // A test for nil or a boolean is a branch of the program.
                match (group, seen.kind) {
                    ("type", "nil" | "boolean") => {}
                    ("type", kind) => *kinds.entry(kind).or_default() += seen.count,
                    _ => *kinds.entry(&seen.what).or_default() += seen.count,
                }
            }
            let enough = if group == "type" { 2 } else { MANY_KINDS };
            let Some(words) =
                words_for(group).filter(|_| failed >= MANY_FAILURES.min(10 * enough as u64) && kinds.len() >= enough)
            else {
                continue;
            };
            let Some(&(t, exit, g)) = guards.iter().max_by_key(|(_, _, g)| g.failed) else { continue };
            let Some(place) = g.place else { continue };
            let mut kinds: Vec<(&str, u64)> = kinds.into_iter().collect();
            kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            let mut named: Vec<&str> = kinds.iter().take(5).map(|k| k.0).collect();
            let more = format!("{} more", kinds.len() - named.len());
            if kinds.len() > named.len() {
                named.push(&more);
            }
            list.push(Finding {
                kind: words.kind,
                title: format!("{}: {} {}", self.at(place), words.title, named.join(", ")),
                text: format!(
                    "Guards of this line failed {failed} times, in {} traces: {}. Each further kind needs a trace of its own.",
                    traces_of(&guards),
                    g.condition
                ),
                advice: words.advice.into(),
                share: self.share(Some(place)),
                count: failed,
                place: Some(place),
                trace: Some(t.id),
                exit: Some(exit as u32),
            });
        }
    }
    /// Exits to the interpreter that are taken over and over.
    fn exits(&self, list: &mut Vec<Finding>) {
        for t in &self.report.traces {
            for x in t.left.iter().filter(|x| x.to.is_none() && x.taken >= MANY_EXITS) {
                let Some(g) = x.guards.first() else { continue };
                let values: Vec<&str> = g.seen.iter().take(3).map(|s| s.what.as_str()).collect();
                let but = if values.is_empty() { String::new() } else { format!(", but it was {}", values.join(", ")) };
                let place = g.place;
                let at = self.at_some(place);
                list.push(Finding {
                    kind: "hot_exit",
                    title: format!("{at}: trace {} is left {} times to the interpreter", t.number, x.taken),
                    text: format!("The guard that failed most often, {} times, asserts that {}{but}.", g.failed, g.condition),
                    advice: advice_for_exit(g.kind).into(),
                    share: self.share(place),
                    count: x.taken.into(),
                    place,
                    trace: Some(t.id),
                    exit: Some(x.exit as u32),
                });
            }
        }
    }
    /// Calls that traces end before.
    fn calls(&self, list: &mut Vec<Finding>) {
        for ((callee, _), (count, place, trace)) in self.stitched(true) {
            let builtin = callee.unwrap_or_default();
            list.push(Finding {
                kind: "builtin",
                title: format!("{}: {builtin} is not compiled, and is called here in a hot loop", self.at_some(place)),
                text: format!(
                    "Compiled code ended before the call and another trace went on after it, {count} times. Values go through memory each \
                     time, and nothing is optimised across the call."
                ),
                advice: format!("Call {builtin} less often: move it out of the loop, or keep its result."),
                share: self.share(place),
                count,
                place,
                trace: Some(trace),
                exit: None,
            });
        }
        for (_, (count, place, trace)) in self.stitched(false) {
            let calls = format!("Compiled code ended before the call and another trace went on after it, {count} times.");
            let is_known =
                |f: &&mut Finding| f.kind == "many_functions" && f.place.zip(place).is_some_and(|(a, b)| same_line(a, b));
            match (list.iter_mut().find(is_known), words_for("function")) {
                (Some(f), _) => {
                    f.text = format!("{calls} {}", f.text);
                    f.count += count;
                }
                (None, Some(words)) => list.push(Finding {
                    kind: words.kind,
                    title: format!("{}: the call is polymorphic, it meets many functions", self.at_some(place)),
                    text: calls,
                    advice: words.advice.into(),
                    share: self.share(place),
                    count,
                    place,
                    trace: Some(trace),
                    exit: None,
                }),
                (None, None) => {}
            }
        }
    }
    /// Calls of builtins, or of Lua functions, that traces end before: by callee (one for all Lua functions) and place, with how often the
    /// trace after the call was entered, the call, and a trace that ends there.
    fn stitched(&self, builtins: bool) -> Calls<'_> {
        let mut calls = Calls::new();
        for t in &self.report.traces {
            let Some(callee) = t.stitch.as_ref().filter(|c| c.builtin == builtins) else { continue };
            let after = |s: &&Trace| s.kind == Kind::Stitch && s.parent.is_some_and(|p| p.trace == Some(t.id));
            for s in self.report.traces.iter().filter(after) {
                // It starts at the instruction after the call.
                let place = s.start.map(|p| {
                    let pc = p.pc.saturating_sub(1);
                    Place { pc, line: self.report.functions[p.function].bytecode[pc].line, ..p }
                });
                let name = builtins.then_some(callee.name.as_str());
                let call = calls.entry((name, place.map(|p| (p.function, p.line)))).or_insert((0, place, t.id));
                call.0 += s.entries;
            }
        }
        calls.retain(|_, (count, ..)| *count >= MANY_CALLS);
        calls
    }
    fn at_some(&self, place: Option<Place>) -> String {
        place.map_or_else(|| "?".into(), |p| self.at(p))
    }
    /// Inner loops that run so shortly that side traces contain them.
    fn inner_loops(&self, list: &mut Vec<Finding>) {
        let loops: Vec<Vec<Loop>> = self.report.functions.iter().map(|f| loops(&f.bytecode)).collect();
        let mut copies: BTreeMap<(usize, usize), (Vec<u32>, Place)> = BTreeMap::new();
        for (t, code) in self.report.traces.iter().zip(&self.report.code).filter(|(t, _)| t.kind == Kind::Side) {
            let places: Vec<Place> =
                code.iter().flat_map(|c| c.bytecode.iter().filter_map(|b| Some(c.places[b.place?]))).collect();
            let mut functions: Vec<usize> = places.iter().map(|p| p.function).collect();
            functions.sort_unstable();
            functions.dedup();
            for function in functions {
                let passes = |f: &dyn Fn(usize) -> bool| places.iter().any(|p| p.function == function && f(p.pc));
                // A side trace from a loop that runs long leads back to it. One from a loop that has ended leads round the loop around it, and
                // into the inner one again.
                let inner = loops[function].iter().filter(|inner| {
                    let around = |outer: &&Loop| outer.first < inner.first && outer.last > inner.last;
                    passes(&|pc| (inner.first..inner.last).contains(&pc))
                        && loops[function].iter().filter(around).any(|outer| passes(&|pc| pc == outer.last))
                });
                for inner in inner {
                    let line = self.report.functions[function].bytecode[inner.end].line;
                    let place = Place { function, pc: inner.end, line };
                    copies.entry((function, inner.end)).or_insert((Vec::new(), place)).0.push(t.id);
                }
            }
        }
        for (ids, place) in copies.into_values().filter(|(ids, _)| ids.len() >= MANY_COPIES) {
            let exits: u64 =
                ids.iter().flat_map(|id| &self.report.traces[*id as usize - 1].left).map(|x| u64::from(x.taken)).sum();
            list.push(Finding {
                kind: "inner_loop",
                title: format!("{}: the inner loop runs only a few times, so it is copied into {} side traces", self.at(place), ids.len()),
                text: format!(
                    "A loop that ends after a few rounds is left all the time. The traces that go on from there contain rounds of it as \
                     well, one for each number of rounds; they were left {exits} times."
                ),
                advice: "Let the inner loop run longer, or replace it: by a formula, a table, or separate code for the usual numbers of \
                         rounds."
                    .into(),
                share: self.share(Some(place)),
                count: ids.len() as u64,
                place: Some(place),
                trace: ids.first().copied(),
                exit: None,
            });
        }
    }
    /// What is slow in any engine.
    fn hints(&self, list: &mut Vec<Finding>) {
        for (function, f) in self.report.functions.iter().enumerate() {
            for hint in &f.hints {
                let place = Place { function, pc: hint.pc, line: hint.line };
                let (share, traces) = (self.share(Some(place)), self.traces_at(place));
                // What a metatable of its own costs shows where the object is used, on other lines.
                let share_of_line = share.filter(|_| hint.kind == HintKind::StringBuilt);
                let matters = share_of_line.map_or(!traces.is_empty(), |s| s >= SHARE_OF_LINE);
                if !matters {
                    continue;
                }
                let (kind, title, text, advice) = match hint.kind {
                    HintKind::StringBuilt => (
                        "string_built",
                        "a loop builds a string piece by piece",
                        "Each round copies everything that is there so far: twice as many rounds take four times as long, and each copy \
                         is garbage.",
                        "Put the pieces into a table and call table.concat once, or use a buffer: require \"string.buffer\".",
                    ),
                    HintKind::NewMetatable => (
                        "new_metatable",
                        "each object gets a metatable of its own",
                        "A metatable is made for each object. That takes memory and time, and code that was compiled for one class of \
                         objects cannot know that they belong together.",
                        "Make the metatable once, outside of the function, and share it among the objects.",
                    ),
                };
                list.push(Finding {
                    kind,
                    title: format!("{}: {title}", self.at(place)),
                    text: text.into(),
                    advice: advice.into(),
                    share,
                    count: traces.len() as u64,
                    place: Some(place),
                    trace: traces.first().copied(),
                    exit: None,
                });
            }
        }
    }
    /// The traces that have instructions of a line.
    fn traces_at(&self, place: Place) -> &[u32] {
        let lines = &self.report.files[self.file(place)].lines;
        lines.iter().find(|l| l.line == place.line).map_or(&[], |l| &l.traces)
    }
    /// Recordings that were given up, where no other one succeeded.
    fn aborts(&self, list: &mut Vec<Finding>) {
        let mut by_line: BTreeMap<(usize, u32, &str), (u64, Place)> = BTreeMap::new();
        for a in &self.report.aborts {
            let Some(at) = a.at else { continue };
            by_line.entry((self.file(at), at.line, &a.reason)).or_insert((0, at)).0 += a.count;
        }
        for ((file, line, reason), (count, place)) in by_line {
            let state = self.report.files[file].lines.iter().find(|l| l.line == line).map(|l| l.state);
            let (share, given_up) = (self.share(Some(place)), state == Some(State::Aborted));
            // These are how nested loops are compiled: the inner one first.
            let is_usual = matches!(reason, "inner loop in root trace" | "leaving loop in root trace");
            if !given_up && (is_usual || share.is_none_or(|s| s < SHARE_OF_LINE || count < 3)) {
                continue;
            }
            list.push(Finding {
                kind: "given_up",
                title: format!("{}: recording was given up {count} times: {reason}", self.at(place)),
                text: if given_up {
                    "No trace has this line: it is interpreted.".into()
                } else {
                    "Other recordings of this line succeeded.".into()
                },
                advice: advice_for_abort(reason).into(),
                share,
                count,
                place: Some(place),
                trace: None,
                exit: None,
            });
        }
    }
    /// What the VM did other than running the program's code.
    fn states(&self, list: &mut Vec<Finding>) {
        let mut add = |kind, name: &str, title: &str, text: String, advice: &str| {
            if let Some(share) = self.state(name).filter(|s| *s >= SHARE_OF_STATE) {
                let title = format!("{title} takes {:.0} % of the time", share * 100.0);
                let count = self.report.time.as_ref().map_or(0, |t| t.states[name]);
                let advice = advice.into();
                list.push(Finding { kind, title, text, advice, share: Some(share), count, place: None, trace: None, exit: None });
            }
        };
        let lines = self.lines_in("garbage collector");
        let text = format!("It works when the program allocates. Lines that were running: {lines}.");
        add(
            "collector",
            "garbage collector",
            "the collector",
            text,
            "Make fewer objects: use them again, and move constructors out of loops.",
        );
        let text = format!("{} traces were compiled, and {} recordings given up.", self.report.traces.len(), self.aborted());
        add(
            "compiler",
            "compiler",
            "the compiler",
            text,
            "A longer run spends less on it. Code that takes many paths needs many traces.",
        );
        let lines = self.lines_in("interpreted");
        let text = format!("Lines that were interpreted: {lines}.");
        add(
            "interpreted",
            "interpreted",
            "the interpreter",
            text,
            "Look at the findings that name a line, and at these lines in the source.",
        );
        if self.report.flushes >= 3 {
            let count = self.report.flushes.into();
            list.push(Finding {
                kind: "flushes",
                title: format!("all traces were thrown away {count} times"),
                text: "Each time everything that is hot is recorded and compiled again.".into(),
                advice: "If the program does not call jit.flush: raise -Omaxtrace or -Omaxmcode, or set functions of modules and classes \
                         only once."
                    .into(),
                share: self.state("compiler"),
                count,
                place: None,
                trace: None,
                exit: None,
            });
        }
    }
    fn aborted(&self) -> u64 {
        self.report.aborts.iter().map(|a| a.count).sum()
    }
    /// Nothing was compiled.
    fn nothing(&self, list: &mut Vec<Finding>) {
        if !self.report.traces.is_empty() {
            return;
        }
        let aborted = self.aborted();
        let (text, advice) = if aborted != 0 {
            (format!("{aborted} recordings were given up, see the other findings."), "Change what is given as the reason.")
        } else {
            (
                "No loop and no function ran often enough: a loop is recorded after 56 rounds and a function after 112 calls while the \
                 program is watched. Or the compiler is switched off for them (jit.off)."
                    .into(),
                "Let the program do more work, or set the threshold: -O hotloop=2.",
            )
        };
        let title = "nothing was compiled".into();
        list.push(Finding {
            kind: "nothing_compiled",
            title,
            text,
            advice: advice.into(),
            share: self.state("interpreted"),
            count: aborted,
            place: None,
            trace: None,
            exit: None,
        });
    }
}

fn traces_of(guards: &[Failed<'_>]) -> usize {
    let mut ids: Vec<u32> = guards.iter().map(|(t, _, _)| t.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

/// Calls by callee, function and line: how often, where exactly, a trace that ends there.
type Calls<'a> = BTreeMap<(Option<&'a str>, Option<(usize, u32)>), (u64, Option<Place>, u32)>;

/// A guard that failed, with its trace and exit.
type Failed<'a> = (&'a Trace, usize, &'a FailedGuard);

fn same_line(a: Place, b: Place) -> bool {
    (a.function, a.line) == (b.function, b.line)
}
