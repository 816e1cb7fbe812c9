//! pprof's `profile.proto` (<https://github.com/google/pprof/blob/main/proto/profile.proto>), not compressed.
//!
//! A sample has a number and nanoseconds, and labels: `state` (what the VM was doing), `trace` and `exit`. The collector and the
//! compiler are functions as well, innermost in the stacks that they worked for.

use super::model::{Doing, Profile, Sample};
use prost::Message;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// The messages of `profile.proto`, with the fields that are written here. Texts are positions in the table of strings.
mod proto {
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    pub struct Profile {
        #[prost(message, repeated, tag = "1")]
        pub sample_type: Vec<ValueType>,
        #[prost(message, repeated, tag = "2")]
        pub sample: Vec<Sample>,
        #[prost(message, repeated, tag = "3")]
        pub mapping: Vec<Mapping>,
        #[prost(message, repeated, tag = "4")]
        pub location: Vec<Location>,
        #[prost(message, repeated, tag = "5")]
        pub function: Vec<Function>,
        #[prost(string, repeated, tag = "6")]
        pub string_table: Vec<String>,
        #[prost(int64, tag = "9")]
        pub time_nanos: i64,
        #[prost(int64, tag = "10")]
        pub duration_nanos: i64,
        #[prost(message, optional, tag = "11")]
        pub period_type: Option<ValueType>,
        #[prost(int64, tag = "12")]
        pub period: i64,
        #[prost(int64, tag = "14")]
        pub default_sample_type: i64,
    }

    #[derive(Copy, Clone, PartialEq, Message)]
    pub struct ValueType {
        #[prost(int64, tag = "1")]
        pub kind: i64,
        #[prost(int64, tag = "2")]
        pub unit: i64,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Sample {
        /// The innermost frame first.
        #[prost(uint64, repeated, tag = "1")]
        pub location_id: Vec<u64>,
        #[prost(int64, repeated, tag = "2")]
        pub value: Vec<i64>,
        #[prost(message, repeated, tag = "3")]
        pub label: Vec<Label>,
    }

    #[derive(Copy, Clone, PartialEq, Message)]
    pub struct Label {
        #[prost(int64, tag = "1")]
        pub key: i64,
        #[prost(int64, tag = "2")]
        pub str: i64,
        #[prost(int64, tag = "3")]
        pub num: i64,
    }

    #[derive(Copy, Clone, PartialEq, Message)]
    pub struct Mapping {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(int64, tag = "5")]
        pub filename: i64,
        #[prost(bool, tag = "7")]
        pub has_functions: bool,
        #[prost(bool, tag = "8")]
        pub has_filenames: bool,
        #[prost(bool, tag = "9")]
        pub has_line_numbers: bool,
    }

    #[derive(Clone, PartialEq, Message)]
    pub struct Location {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(uint64, tag = "2")]
        pub mapping_id: u64,
        #[prost(message, repeated, tag = "4")]
        pub line: Vec<Line>,
    }

    #[derive(Copy, Clone, PartialEq, Message)]
    pub struct Line {
        #[prost(uint64, tag = "1")]
        pub function_id: u64,
        #[prost(int64, tag = "2")]
        pub line: i64,
    }

    #[derive(Copy, Clone, PartialEq, Message)]
    pub struct Function {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(int64, tag = "2")]
        pub name: i64,
        #[prost(int64, tag = "3")]
        pub system_name: i64,
        #[prost(int64, tag = "4")]
        pub filename: i64,
        #[prost(int64, tag = "5")]
        pub start_line: i64,
    }
}

/// The table of strings; the first is empty.
struct Strings {
    list: Vec<String>,
    known: HashMap<String, i64>,
}

impl Strings {
    fn new() -> Strings {
        Strings { list: vec![String::new()], known: HashMap::from([(String::new(), 0)]) }
    }
    /// The position of a text.
    fn at(&mut self, text: &str) -> i64 {
        if let Some(&n) = self.known.get(text) {
            return n;
        }
        let n = self.list.len() as i64;
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), n);
        n
    }
    fn value_type(&mut self, kind: &str, unit: &str) -> proto::ValueType {
        proto::ValueType { kind: self.at(kind), unit: self.at(unit) }
    }
}

/// The bytes of a profile. `program` is what was run.
pub fn encode(p: &Profile, program: &str) -> Vec<u8> {
    let mut strings = Strings::new();
    let sample_type = vec![strings.value_type("samples", "count"), strings.value_type("cpu", "nanoseconds")];
    let mapping =
        proto::Mapping { id: 1, filename: strings.at(program), has_functions: true, has_filenames: true, has_line_numbers: true };
    let mut out = proto::Profile {
        sample_type,
        sample: p.samples().iter().map(|s| sample(p, s, &mut strings)).collect(),
        mapping: vec![mapping],
        location: Vec::new(),
        function: Vec::new(),
        string_table: Vec::new(),
        time_nanos: p.began.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanoseconds),
        duration_nanos: nanoseconds(p.duration),
        period_type: Some(strings.value_type("cpu", "nanoseconds")),
        period: nanoseconds(p.interval),
        default_sample_type: strings.at("cpu"),
    };
    for (id, frame) in (1..).zip(&p.frames) {
        out.location.push(location(id, u64::from(frame.function) + 1, frame.line.into()));
    }
    for (id, f) in (1..).zip(&p.functions) {
        let name = if f.file.is_empty() { f.name.clone() } else { f.label() };
        out.function.push(proto::Function {
            id,
            name: strings.at(&name),
            system_name: strings.at(&f.name),
            filename: strings.at(&f.file),
            start_line: f.line.into(),
        });
    }
    for (i, doing) in WITHOUT_FRAME.iter().enumerate() {
        let (location_id, id) = without_frame(p, i);
        let name = strings.at(&format!("({})", doing.name()));
        out.location.push(location(location_id, id, 0));
        out.function.push(proto::Function { id, name, system_name: name, filename: 0, start_line: 0 });
    }
    out.string_table = strings.list;
    out.encode_to_vec()
}

/// The states of the VM that are shown as functions, because no frame of the profile stands for them.
const WITHOUT_FRAME: [Doing; 3] = [Doing::Collecting, Doing::Compiling, Doing::Leaving];

/// The numbers of the location and the function of one of these.
fn without_frame(p: &Profile, i: usize) -> (u64, u64) {
    ((p.frames.len() + i + 1) as u64, (p.functions.len() + i + 1) as u64)
}

fn sample(p: &Profile, s: &Sample, strings: &mut Strings) -> proto::Sample {
    let frames = s.stack.iter().rev().map(|&frame| u64::from(frame) + 1);
    let innermost = WITHOUT_FRAME.iter().position(|d| *d == s.kind.doing).map(|i| without_frame(p, i).0);
    let mut label = vec![proto::Label { key: strings.at("state"), str: strings.at(s.kind.doing.name()), num: 0 }];
    if let Some(trace) = s.kind.trace {
        let trace = p.traces[trace as usize].label();
        label.push(proto::Label { key: strings.at("trace"), str: strings.at(&trace), num: 0 });
    }
    if let Some(exit) = s.kind.exit {
        label.push(proto::Label { key: strings.at("exit"), str: 0, num: exit.into() });
    }
    let count = s.count as i64;
    proto::Sample {
        location_id: innermost.into_iter().chain(frames).collect(),
        value: vec![count, count * nanoseconds(p.interval)],
        label,
    }
}

fn location(id: u64, function_id: u64, line: i64) -> proto::Location {
    proto::Location { id, mapping_id: 1, line: vec![proto::Line { function_id, line }] }
}

fn nanoseconds(d: Duration) -> i64 {
    i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)
}
