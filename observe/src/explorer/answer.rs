//! What the explorer concludes, as plain data: where the time went, what happened when, and why the program is not faster.

use super::report::Place;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where the time went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Time {
    /// Microseconds of processor time between two samples.
    pub interval_us: u64,
    /// Number of samples.
    pub samples: u64,
    /// Samples by what the VM was doing: `interpreted`, `compiled`, `builtin`, `garbage collector`, `compiler`, `leaving traces`.
    pub states: BTreeMap<&'static str, u64>,
    /// Samples by line of the innermost Lua function, the hottest first.
    pub lines: Vec<LineTime>,
    /// Samples in compiled code by trace, the hottest first.
    pub traces: Vec<TraceTime>,
    /// Samples in builtins, the hottest first.
    pub builtins: Vec<BuiltinTime>,
}

/// The samples of a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LineTime {
    /// The file.
    pub file: usize,
    /// The line.
    pub line: u32,
    /// Number of samples.
    pub samples: u64,
    /// By what the VM was doing.
    pub states: BTreeMap<&'static str, u64>,
}

/// The samples of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TraceTime {
    /// Id of the trace.
    pub trace: u32,
    /// Number of samples.
    pub samples: u64,
    /// Those in the code of exits, by exit.
    pub exits: BTreeMap<u32, u64>,
}

/// The samples of a builtin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BuiltinTime {
    /// Its name.
    pub name: String,
    /// Number of samples.
    pub samples: u64,
}

/// What was allocated.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Allocations {
    /// How often memory was allocated, or became larger.
    pub allocations: u64,
    /// Bytes in all, also of what was freed since.
    pub bytes: u64,
    /// By line of the innermost Lua function, the largest first.
    pub lines: Vec<LineAllocations>,
}

/// What a line has allocated.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LineAllocations {
    /// The file.
    pub file: usize,
    /// The line.
    pub line: u32,
    /// How often it allocated memory, or more of it.
    pub allocations: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What happened when.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Timeline {
    /// Milliseconds of each part.
    pub part_ms: f64,
    /// The parts of the running time.
    pub moments: Vec<Moment>,
}

/// What happened in a part of the running time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Moment {
    /// Traces compiled.
    pub compiled: u64,
    /// Recordings given up.
    pub aborted: u64,
    /// Exits to the interpreter, of guards that failed.
    pub exits: u64,
    /// Flushes of all traces.
    pub flushes: u64,
    /// Collections that began.
    pub collections: u64,
}

/// A reason why the program is not faster.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// What it is: `many_functions`, `many_classes`, `many_shapes`, `many_types`, `hot_exit`, `inner_loop`, `string_built`,
    /// `new_metatable`, `builtin`, `given_up`, `interpreted`, `collector`, `compiler`, `flushes`, `nothing_compiled`.
    pub kind: &'static str,
    /// In a sentence.
    pub title: String,
    /// What was seen.
    pub text: String,
    /// What to change.
    pub advice: String,
    /// The share of the samples that it concerns, from 0 to 1, if samples were taken.
    pub share: Option<f64>,
    /// How often it happened.
    pub count: u64,
    /// Where.
    pub place: Option<Place>,
    /// Id of a trace that shows it.
    pub trace: Option<u32>,
    /// An exit of that trace.
    pub exit: Option<u32>,
}
