//! What the trace explorer finds out, as plain data. With `serde` it becomes the JSON that docs/explorer.md describes.
//!
//! Things refer to one another by their index in a list of the [`Report`]; traces by [`Trace::id`], which counts from 1.

use super::answer::{Allocations, Finding, Time, Timeline};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the format. It changes when something of this module is removed or means something else.
pub const VERSION: u32 = 1;

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`VERSION`]
    pub version: u32,
    /// The processor that code is for, as `jit.arch` says.
    pub arch: &'static str,
    /// What the compiler counted: `jit.util.counters(true)`.
    pub counters: BTreeMap<&'static str, u64>,
    /// Times that all traces were flushed while the explorer watched.
    pub flushes: u32,
    /// The files and other texts that functions come from.
    pub files: Vec<File>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The traces in the order in which they were made, also those that are gone.
    pub traces: Vec<Trace>,
    /// What each of the traces is made of, in the same order; nothing for what was left out.
    pub code: Vec<Option<Code>>,
    /// The aborted recordings.
    pub aborts: Vec<Abort>,
    /// What there was no room for.
    pub left_out: LeftOut,
    /// Where the time went, if samples were taken.
    pub time: Option<Time>,
    /// What was allocated, if that was counted.
    pub allocations: Option<Allocations>,
    /// What happened when.
    pub timeline: Timeline,
    /// Why the program is not faster, what matters most first.
    pub findings: Vec<Finding>,
}

/// How much was left out, as there was too much of it.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    /// Functions that no trace is made from.
    pub functions: u64,
    /// Traces.
    pub traces: u64,
    /// The code of further traces.
    pub code: u64,
    /// Places where recordings were aborted.
    pub aborts: u64,
}

/// A source text.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    /// What people call it.
    pub name: String,
    /// The name of the chunk, with its `@` or `=`. Of a string that was loaded without a name it is the text itself, shortened.
    pub chunk: String,
    /// The text. What is not UTF-8 is replaced.
    pub text: Option<String>,
    /// Why there is no text.
    pub note: Option<String>,
    /// The lines that bytecode was made from, and others where something is to be told.
    pub lines: Vec<Line>,
}

/// What became of a line.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Some trace has instructions of it.
    Compiled,
    /// None has, and a recording was given up there.
    Aborted,
    /// It is left to the interpreter, or never runs.
    Interpreted,
}

/// A line of a [`File`].
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its number, from 1.
    pub line: u32,
    /// What became of it.
    pub state: State,
    /// Ids of the traces that have instructions of it.
    pub traces: Vec<u32>,
    /// The recordings that were given up there.
    pub aborts: Vec<usize>,
}

/// A function.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    /// Where it is from.
    pub file: usize,
    /// Line where it starts; 0 for a main chunk.
    pub first_line: u32,
    /// Line where it ends.
    pub last_line: u32,
    /// Its instructions, the header first.
    pub bytecode: Vec<Bytecode>,
    /// What is slow in it in any engine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

/// Something in the bytecode that is slow where it runs often.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hint {
    /// What it is.
    pub kind: HintKind,
    /// The instruction.
    pub pc: usize,
    /// Its line.
    pub line: u32,
}

/// What a [`Hint`] is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HintKind {
    /// A loop appends to a string, which copies all of it each time.
    StringBuilt,
    /// `setmetatable` is called with a table constructor: each object has a metatable of its own.
    NewMetatable,
}

/// An instruction of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Bytecode {
    /// Its line; 0 if that was stripped.
    pub line: u32,
    /// Name and operands.
    pub text: String,
}

/// An instruction and where it is.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Place {
    /// The function.
    pub function: usize,
    /// Index of the instruction.
    pub pc: usize,
    /// Its line.
    pub line: u32,
}

/// What begins a trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A hot loop or function.
    Root,
    /// A hot exit of another trace.
    Side,
    /// The return of a call that another trace ended in front of.
    Stitch,
}

/// Another trace.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Parent {
    /// Its number.
    pub number: u32,
    /// Its id, if the explorer has seen it being made.
    pub trace: Option<u32>,
    /// The exit of it that is taken; none where it ended in front of a call.
    pub exit: Option<u32>,
}

/// How a trace ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// `loop`, `root`, `stitch`, `return` ...: as `jit.util.traceinfo` says.
    pub kind: &'static str,
    /// Id of the trace that it goes on with: its own for a loop.
    pub trace: Option<u32>,
}

/// A function that is called.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Callee {
    /// Its name if it is a builtin, or else where it is defined.
    pub name: String,
    /// Is it a builtin?
    pub builtin: bool,
}

/// Is the trace still there?
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Yes.
    Alive,
    /// It went when all traces were flushed.
    Flushed,
    /// It went with the function that it starts in.
    Collected,
    /// It is not entered any more, since a field was stored to that it takes for a constant.
    Invalidated,
}

/// A trace.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// Which it is. Numbers are used again when a trace has gone; ids are not.
    pub id: u32,
    /// Its number.
    pub number: u32,
    /// What begins it.
    pub kind: Kind,
    /// The trace that it goes on from.
    pub parent: Option<Parent>,
    /// Id of the root trace of its tree: its own for a root trace.
    pub root: Option<u32>,
    /// How it ends.
    pub link: Link,
    /// The function that is called where it ends before a call.
    pub stitch: Option<Callee>,
    /// Where it starts.
    pub start: Option<Place>,
    /// What became of it.
    pub fate: Fate,
    /// For a trace that is no side trace: is it (or was it, to the end) entered where it starts? If not, another trace took its place,
    /// or it did not pay.
    pub entered: Option<bool>,
    /// Was it taken out of use because its tree lost more than it gained?
    pub disabled: bool,
    /// Id of the root trace that took its place.
    pub replaced_by: Option<u32>,
    /// Times that it was entered from the interpreter.
    pub entries: u64,
    /// Instructions of IR that are executed.
    pub instructions: usize,
    /// Bytes of machine code.
    pub mcode: usize,
    /// Exits.
    pub exits: usize,
    /// The exits that were taken to the interpreter, or lead to a side trace.
    pub left: Vec<Left>,
    /// What each pass did.
    pub passes: Vec<Pass>,
    /// Microseconds for recording.
    pub record_us: f64,
    /// Microseconds for the passes.
    pub optimise_us: f64,
    /// Microseconds for machine code.
    pub lower_us: f64,
}

/// An exit that matters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Left {
    /// Its number.
    pub exit: usize,
    /// Times taken to the interpreter: until a side trace began there, if one did.
    pub taken: u32,
    /// Id of the side trace.
    pub to: Option<u32>,
    /// The guards that failed there, the one that failed most often first.
    pub guards: Vec<FailedGuard>,
}

/// A guard that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FailedGuard {
    /// Number of the instruction.
    #[serde(rename = "ref")]
    pub number: String,
    /// What it is about: `branch`, `type`, `shape`, `metatable`, `function`, `class`, `constant`, `key`, `bounds`, `integer`, `return`,
    /// `runtime`, `other`.
    pub kind: &'static str,
    /// What did not hold.
    pub condition: String,
    /// The instruction that it was recorded for.
    pub place: Option<Place>,
    /// How often it failed.
    pub failed: u64,
    /// The values that it failed for, the most frequent first.
    pub seen: Vec<Seen>,
    /// Failures for further values.
    pub others: u64,
}

/// A value, or a kind of values, and how often it was met.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Seen {
    /// The value in words.
    pub what: String,
    /// Its type; `integer` for a number that is held as one.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// How often.
    pub count: u64,
}

/// What a pass did.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Pass {
    /// Its name. `emit` is FOLD, CSE and forwarding, which work while instructions are emitted.
    pub name: &'static str,
    /// Instructions before.
    pub before: usize,
    /// Instructions after it.
    pub after: usize,
}

/// What a trace is made of.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Code {
    /// The places that the rest refers to.
    pub places: Vec<Place>,
    /// The bytecode as it was recorded.
    pub bytecode: Vec<Recorded>,
    /// The IR that was asked for: before any optimisation.
    pub asked: Vec<Ir>,
    /// The IR that was emitted: after FOLD, CSE and forwarding, before the passes that work on the whole trace.
    pub emitted: Vec<Ir>,
    /// The IR that was compiled: after all passes.
    pub optimised: Vec<Ir>,
    /// The machine code.
    pub machine: Vec<Machine>,
    /// The exits.
    pub exits: Vec<Exit>,
}

/// An instruction that was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recorded {
    /// Where it is; none for a builtin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// The builtin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// Frames entered since the start.
    pub depth: usize,
}

/// A line of IR.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Ir {
    /// Number of the instruction. Of one that was asked for: what is used for it, a number or a constant, or nothing.
    #[serde(skip_serializing_if = "Option::is_none", rename = "ref")]
    pub number: Option<String>,
    /// The snapshot, if the line is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<usize>,
    /// Marks, type, operation and operands; or the slots of a snapshot.
    pub text: String,
    /// What it was recorded for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// Of what was asked for: was nothing new made of it?
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub saved: bool,
}

/// A machine instruction.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Machine {
    /// Offset in the code of the trace.
    pub offset: usize,
    /// The instruction.
    pub text: String,
    /// The instruction of IR that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", rename = "ref")]
    pub number: Option<String>,
    /// What it was recorded for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// The exit that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<usize>,
    /// Does the loop begin here?
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub head: bool,
}

/// An exit.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Exit {
    /// Where the interpreter goes on.
    pub place: Option<usize>,
    /// The guards that leave by it.
    pub guards: Vec<Guard>,
    /// The slots that it restores: the snapshot.
    pub slots: String,
}

/// A guard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Guard {
    /// Number of the instruction.
    #[serde(rename = "ref")]
    pub number: String,
    /// What must hold for the trace to go on.
    pub condition: String,
    /// The type that it asks for, if it asks for one.
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    pub asks_type: Option<&'static str>,
    /// What it was recorded for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
}

/// Aborted recordings, from one place, at another, for one reason.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
pub struct Abort {
    /// Where they started.
    pub start: Option<Place>,
    /// What they were to go on from.
    pub parent: Option<Parent>,
    /// Where they were given up.
    pub at: Option<Place>,
    /// Why, with the bytecode or the builtin.
    pub reason: String,
    /// How many.
    pub count: u64,
}
