//! A profile: a tree of stacks with counts.

use super::HashMap;
use core::time::Duration;
use perilune_recorder::ir::TraceExit;
use perilune_vm::TraceId;
use std::time::SystemTime;

/// Most stacks (that is, ways from the outermost function to some other) that are kept. Samples of others are counted where the
/// part of their stack ends that is known.
const MAX_STACKS: usize = 1 << 18;
/// Most kinds of samples that are kept: stacks with what the VM was doing there. Beyond that, traces are not told apart.
const MAX_KINDS: usize = 1 << 19;
/// Most changes from one kind of sample to another that are kept in the order of time: half an hour of samples that all differ.
const MAX_ORDER: usize = 1 << 21;

/// What the VM was doing.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Doing {
    /// Interpreting bytecode.
    Interpreting,
    /// Running a trace, with the helpers that it calls.
    Compiled,
    /// Running a builtin: the innermost function of the stack.
    Builtin,
    /// Collecting garbage.
    Collecting,
    /// Recording or compiling.
    Compiling,
    /// Leaving a trace to the interpreter, where that takes more than going on there.
    Leaving,
}

impl Doing {
    /// All of them.
    pub const ALL: [Doing; 6] =
        [Doing::Interpreting, Doing::Compiled, Doing::Builtin, Doing::Collecting, Doing::Compiling, Doing::Leaving];
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Doing::Interpreting => "interpreted",
            Doing::Compiled => "compiled",
            Doing::Builtin => "builtin",
            Doing::Collecting => "garbage collector",
            Doing::Compiling => "compiler",
            Doing::Leaving => "leaving traces",
        }
    }
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// What it is called where it is defined, or else where it is called; `main chunk`; the dotted name of a builtin.
    pub name: String,
    /// The file, or the display form of another chunk's name; empty for a builtin.
    pub file: String,
    /// The line it is defined at; 0 for a main chunk and a builtin.
    pub line: u32,
}

impl Function {
    /// Name, and where it is defined if that is known.
    pub fn label(&self) -> String {
        if self.file.is_empty() {
            return self.name.clone();
        }
        let file = self.file.rsplit('/').next().unwrap_or_default();
        if self.line == 0 { format!("{} ({file})", self.name) } else { format!("{} ({file}:{})", self.name, self.line) }
    }
}

/// A function at a line.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// Index of the function in [`Profile::functions`].
    pub function: u32,
    /// The line it is at; 0 if that is not known.
    pub line: u32,
}

/// A trace that was sampled.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TraceInfo {
    /// Its number, which another trace may have had before or after it.
    pub number: TraceId,
    /// File and line that it starts at.
    pub place: String,
    /// For a side trace: the trace and the exit that it goes on from.
    pub parent: Option<TraceExit>,
    /// How it ends.
    pub link: &'static str,
}

impl TraceInfo {
    /// Number, parent and place, as `-jv` shows them.
    pub fn label(&self) -> String {
        match self.parent {
            Some(parent) => format!("trace {} ({parent}) {}", self.number, self.place),
            None => format!("trace {} {}", self.number, self.place),
        }
    }
}

/// What samples are counted by.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kind {
    /// The innermost frame: index in the tree.
    stack: Option<u32>,
    /// What the VM was doing.
    pub doing: Doing,
    /// Index in [`Profile::traces`] of the trace that ran.
    pub trace: Option<u32>,
    /// The exit that was being left by.
    pub exit: Option<u32>,
}

/// A stack in the tree.
#[derive(Copy, Clone, Debug)]
struct Node {
    below: Option<u32>,
    frame: u32,
}

/// What was sampled.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Processor time between two samples.
    pub interval: Duration,
    /// When it began.
    pub began: SystemTime,
    /// How long it took, by the clock.
    pub duration: Duration,
    /// The functions.
    pub functions: Vec<Function>,
    /// The frames.
    pub frames: Vec<Frame>,
    /// The traces.
    pub traces: Vec<TraceInfo>,
    /// Samples whose stack is not told to its end.
    pub truncated: u64,
    nodes: Vec<Node>,
    samples: HashMap<Kind, u64>,
    /// The samples in the order of time, with how many of one kind followed one another, up to [`MAX_ORDER`].
    order: Vec<(Kind, u32)>,
    known_nodes: HashMap<(Option<u32>, u32), u32>,
    known_frames: HashMap<Frame, u32>,
}

/// Samples of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Indices of the frames in [`Profile::frames`], the outermost first.
    pub stack: Vec<u32>,
    /// What else they have in common.
    pub kind: Kind,
    /// How many there are.
    pub count: u64,
}

impl Profile {
    /// A profile without samples.
    pub fn new(interval: Duration) -> Profile {
        Profile {
            interval,
            began: SystemTime::now(),
            duration: Duration::ZERO,
            functions: Vec::new(),
            frames: Vec::new(),
            traces: Vec::new(),
            truncated: 0,
            nodes: Vec::new(),
            samples: HashMap::default(),
            order: Vec::new(),
            known_nodes: HashMap::default(),
            known_frames: HashMap::default(),
        }
    }
    /// The number of a frame.
    pub fn frame(&mut self, frame: Frame) -> u32 {
        *self.known_frames.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            self.frames.len() as u32 - 1
        })
    }
    /// Counts samples. `stack` are numbers of frames, the innermost first; `whole` says whether it has all there are.
    pub fn add(&mut self, stack: &[u32], whole: bool, doing: Doing, trace: Option<(u32, Option<u32>)>, count: u64) {
        let (mut at, mut whole) = (None, whole);
        for &frame in stack.iter().rev() {
            match self.node(at, frame) {
                Some(node) => at = Some(node),
                None => {
                    whole = false;
                    break;
                }
            }
        }
        let (trace, exit) = trace.map_or((None, None), |(t, exit)| (Some(t), exit));
        let mut kind = Kind { stack: at, doing, trace, exit };
        if self.samples.len() >= MAX_KINDS && !self.samples.contains_key(&kind) {
            kind = Kind { trace: None, exit: None, ..kind };
        }
        *self.samples.entry(kind).or_insert(0) += count;
        let times = u32::try_from(count).unwrap_or(u32::MAX);
        if let Some((_, n)) = self.order.last_mut().filter(|(last, _)| *last == kind) {
            *n = n.saturating_add(times);
        } else if self.order.len() < MAX_ORDER {
            self.order.push((kind, times));
        }
        if !whole {
            self.truncated += count;
        }
    }
    fn node(&mut self, below: Option<u32>, frame: u32) -> Option<u32> {
        if let Some(&known) = self.known_nodes.get(&(below, frame)) {
            return Some(known);
        }
        if self.nodes.len() >= MAX_STACKS {
            return None;
        }
        let new = self.nodes.len() as u32;
        self.nodes.push(Node { below, frame });
        self.known_nodes.insert((below, frame), new);
        Some(new)
    }
    /// Number of samples.
    pub fn total(&self) -> u64 {
        self.samples.values().sum()
    }
    /// The number of samples by what the VM was doing.
    pub fn by_doing(&self) -> Vec<(Doing, u64)> {
        let count = |d| self.samples.iter().filter(|s| s.0.doing == d).map(|s| *s.1).sum();
        Doing::ALL.iter().map(|&d| (d, count(d))).collect()
    }
    /// The samples, most frequent first; the order is the same each time.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples: Vec<Sample> =
            self.samples.iter().map(|(kind, &count)| Sample { stack: self.stack(*kind), kind: *kind, count }).collect();
        let key = |s: &Sample| (core::cmp::Reverse(s.count), s.stack.clone(), s.kind.doing, s.kind.trace, s.kind.exit);
        samples.sort_by_cached_key(key);
        samples
    }
    fn stack(&self, kind: Kind) -> Vec<u32> {
        let nodes = core::iter::successors(kind.stack, |&n| self.nodes[n as usize].below);
        let mut stack: Vec<u32> = nodes.map(|n| self.nodes[n as usize].frame).collect();
        stack.reverse();
        stack
    }
    /// The function of a frame.
    pub fn function_of(&self, frame: u32) -> &Function {
        &self.functions[self.frames[frame as usize].function as usize]
    }
    /// How many samples have each function innermost, by what it is called, most frequent first.
    pub fn by_function(&self) -> Vec<(String, u64)> {
        let mut counts: HashMap<u32, u64> = HashMap::default();
        for (kind, count) in &self.samples {
            if let Some(n) = kind.stack {
                *counts.entry(self.frames[self.nodes[n as usize].frame as usize].function).or_insert(0) += count;
            }
        }
        let mut list: Vec<(String, u64)> = counts.into_iter().map(|(f, n)| (self.functions[f as usize].label(), n)).collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list
    }
}

/// How a stack is shown where there are only frames.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct View {
    /// By trace and exit first.
    pub traces: bool,
    /// A frame for each line, and not for each function.
    pub lines: bool,
}

/// A frame as it is shown.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shown {
    /// What it is called.
    pub label: String,
    /// File and line, of the definition or, by lines, of the place.
    pub at: Option<(String, u32)>,
}

/// All stacks as they are shown.
#[derive(Default)]
pub struct ShownStacks {
    /// The frames, each once.
    pub frames: Vec<Shown>,
    /// For each of [`Profile::samples`] the indices of its frames, the outermost first, and how many there were.
    pub stacks: Vec<(Vec<u32>, u64)>,
    /// The same in the order of time: indices of stacks, and how many samples followed one another there. What came after a certain number
    /// is left out.
    pub order: Vec<(usize, u32)>,
    known: HashMap<Shown, u32>,
}

impl ShownStacks {
    fn number(&mut self, frame: Shown) -> u32 {
        *self.known.entry(frame).or_insert_with_key(|f| {
            self.frames.push(f.clone());
            self.frames.len() as u32 - 1
        })
    }
    fn plain(&mut self, label: String) -> u32 {
        self.number(Shown { label, at: None })
    }
}

impl Profile {
    /// The stacks: in front of the frames the trace and the exit, if that is wanted, after them what the VM was doing, if it was no
    /// builtin.
    pub fn shown(&self, view: View) -> ShownStacks {
        let mut all = ShownStacks::default();
        let mut numbers: Vec<Option<u32>> = vec![None; self.frames.len()];
        let mut positions: HashMap<Kind, usize> = HashMap::default();
        for s in self.samples() {
            positions.insert(s.kind, all.stacks.len());
            let mut out = Vec::with_capacity(s.stack.len() + 3);
            if view.traces {
                let trace = s.kind.trace.and_then(|t| self.traces.get(t as usize));
                out.push(all.plain(trace.map_or_else(|| "no trace".to_owned(), TraceInfo::label)));
                out.extend(s.kind.exit.filter(|_| trace.is_some()).map(|k| all.plain(format!("exit {k}"))));
            }
            for &f in &s.stack {
                out.push(*numbers[f as usize].get_or_insert_with(|| all.number(self.shown_frame(f, view))));
            }
            if s.kind.doing != Doing::Builtin {
                out.push(all.plain(format!("({})", s.kind.doing.name())));
            }
            all.stacks.push((out, s.count));
        }
        all.order = self.order.iter().filter_map(|(kind, n)| Some((*positions.get(kind)?, *n))).collect();
        all
    }
    fn shown_frame(&self, frame: u32, view: View) -> Shown {
        let (f, line) = (self.function_of(frame), self.frames[frame as usize].line);
        if f.file.is_empty() {
            return Shown { label: f.name.clone(), at: None };
        }
        if !view.lines || line == 0 {
            return Shown { label: f.label(), at: Some((f.file.clone(), f.line)) };
        }
        let file = f.file.rsplit('/').next().unwrap_or_default();
        Shown { label: format!("{} {file}:{line}", f.name), at: Some((f.file.clone(), line)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perilune_recorder::ir::SnapId;

    #[test]
    fn the_tree_does_not_grow_without_limit() {
        let mut p = Profile::new(Duration::from_millis(1));
        p.functions.push(Function { name: "f".into(), file: "x.lua".into(), line: 3 });
        for line in 0..MAX_STACKS as u32 + 50 {
            let f = p.frame(Frame { function: 0, line });
            p.add(&[f], true, Doing::Interpreting, None, 1);
        }
        assert_eq!((p.total(), p.truncated, p.nodes.len()), (MAX_STACKS as u64 + 50, 50, MAX_STACKS));
    }
    #[test]
    fn equal_stacks_are_counted() {
        let mut p = Profile::new(Duration::from_millis(1));
        p.functions.push(Function { name: "f".into(), file: "dir/x.lua".into(), line: 3 });
        p.functions.push(Function { name: "main chunk".into(), file: "dir/x.lua".into(), line: 0 });
        let (f, main) = (p.frame(Frame { function: 0, line: 4 }), p.frame(Frame { function: 1, line: 9 }));
        let id = |n| TraceId::new(n).expect("no zero");
        p.traces.push(TraceInfo {
            number: id(7),
            place: "x.lua:4".into(),
            parent: Some(TraceExit { trace: id(2), exit: SnapId::new(1) }),
            link: "loop",
        });
        for _ in 0..3 {
            p.add(&[f, main], true, Doing::Compiled, Some((0, Some(5))), 2);
        }
        p.add(&[main], false, Doing::Collecting, None, 1);
        let samples = p.samples();
        assert_eq!((samples.len(), samples[0].count, p.truncated), (2, 6, 1));
        let labels = |view| {
            let shown = p.shown(view);
            shown.stacks[0].0.iter().map(|&f| shown.frames[f as usize].label.clone()).collect::<Vec<_>>()
        };
        assert_eq!(labels(View::default()), ["main chunk (x.lua)", "f (x.lua:3)", "(compiled)"]);
        assert_eq!(
            labels(View { traces: true, lines: true }),
            ["trace 7 (2/1) x.lua:4", "exit 5", "main chunk x.lua:9", "f x.lua:4", "(compiled)"]
        );
        assert_eq!(p.by_function(), [("f (x.lua:3)".to_owned(), 6), ("main chunk (x.lua)".to_owned(), 1)]);
    }
}
