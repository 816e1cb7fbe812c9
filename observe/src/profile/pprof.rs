//! pprof's `profile.proto` (<https://github.com/google/pprof/blob/main/proto/profile.proto>), not compressed.
//!
//! A sample has a number and nanoseconds, and labels: `state` (what the VM was doing), `trace` and `exit`. The collector and the
//! compiler are functions as well, innermost in the stacks that they worked for.

use super::model::{Doing, Profile};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// The wire format of Protocol Buffers, as far as it is needed: fields that are varints, and fields with a length.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }
    fn int(&mut self, field: u64, n: u64) {
        if n != 0 {
            self.varint(field << 3);
            self.varint(n);
        }
    }
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
    fn message(&mut self, field: u64, f: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        f(&mut inner);
        self.bytes(field, &inner.0);
    }
    fn packed(&mut self, field: u64, items: &[u64]) {
        self.message(field, |m| items.iter().for_each(|&n| m.varint(n)));
    }
}

/// The table of strings; the first is empty.
struct Strings {
    list: Vec<String>,
    known: HashMap<String, u64>,
}

impl Strings {
    fn new() -> Strings {
        Strings { list: vec![String::new()], known: HashMap::from([(String::new(), 0)]) }
    }
    fn number(&mut self, text: &str) -> u64 {
        if let Some(&n) = self.known.get(text) {
            return n;
        }
        let n = self.list.len() as u64;
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), n);
        n
    }
}

/// Field numbers of the messages.
mod field {
    pub mod profile {
        pub const SAMPLE_TYPE: u64 = 1;
        pub const SAMPLE: u64 = 2;
        pub const MAPPING: u64 = 3;
        pub const LOCATION: u64 = 4;
        pub const FUNCTION: u64 = 5;
        pub const STRING_TABLE: u64 = 6;
        pub const TIME_NANOS: u64 = 9;
        pub const DURATION_NANOS: u64 = 10;
        pub const PERIOD_TYPE: u64 = 11;
        pub const PERIOD: u64 = 12;
        pub const DEFAULT_SAMPLE_TYPE: u64 = 14;
    }
    pub mod value_type {
        pub const TYPE: u64 = 1;
        pub const UNIT: u64 = 2;
    }
    pub mod sample {
        pub const LOCATION_ID: u64 = 1;
        pub const VALUE: u64 = 2;
        pub const LABEL: u64 = 3;
    }
    pub mod label {
        pub const KEY: u64 = 1;
        pub const STR: u64 = 2;
        pub const NUM: u64 = 3;
    }
    pub mod mapping {
        pub const ID: u64 = 1;
        pub const FILENAME: u64 = 5;
        pub const HAS_FUNCTIONS: u64 = 7;
        pub const HAS_FILENAMES: u64 = 8;
        pub const HAS_LINE_NUMBERS: u64 = 9;
    }
    pub mod location {
        pub const ID: u64 = 1;
        pub const MAPPING_ID: u64 = 2;
        pub const LINE: u64 = 4;
    }
    pub mod line {
        pub const FUNCTION_ID: u64 = 1;
        pub const LINE: u64 = 2;
    }
    pub mod function {
        pub const ID: u64 = 1;
        pub const NAME: u64 = 2;
        pub const SYSTEM_NAME: u64 = 3;
        pub const FILENAME: u64 = 4;
        pub const START_LINE: u64 = 5;
    }
}

/// The bytes of a profile. `program` is what was run.
pub fn encode(p: &Profile, program: &str) -> Vec<u8> {
    use field::profile as f;
    let (mut out, mut strings) = (Message::default(), Strings::new());
    let interval = nanoseconds(p.interval);
    let types = [("samples", "count"), ("cpu", "nanoseconds")];
    for (kind, unit) in types {
        value_type(&mut out, f::SAMPLE_TYPE, &mut strings, kind, unit);
    }
    samples(&mut out, p, &mut strings, interval);
    out.message(f::MAPPING, |m| {
        m.int(field::mapping::ID, 1);
        m.int(field::mapping::FILENAME, strings.number(program));
        for has in [field::mapping::HAS_FUNCTIONS, field::mapping::HAS_FILENAMES, field::mapping::HAS_LINE_NUMBERS] {
            m.int(has, 1);
        }
    });
    for (i, frame) in p.frames.iter().enumerate() {
        location(&mut out, i as u64 + 1, u64::from(frame.function) + 1, frame.line.into());
    }
    for (i, function) in p.functions.iter().enumerate() {
        let name = if function.file.is_empty() { function.name.clone() } else { function.label() };
        let (name, system) = (strings.number(&name), strings.number(&function.name));
        let file = strings.number(&function.file);
        function_message(&mut out, i as u64 + 1, [name, system, file, function.line.into()]);
    }
    // What has no frame of its own in the profile.
    for (i, doing) in WITHOUT_FRAME.iter().enumerate() {
        let (place, function) = without_frame(p, i);
        let name = strings.number(&format!("({})", doing.name()));
        location(&mut out, place, function, 0);
        function_message(&mut out, function, [name, name, 0, 0]);
    }
    out.int(f::TIME_NANOS, p.began.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanoseconds));
    out.int(f::DURATION_NANOS, nanoseconds(p.duration));
    value_type(&mut out, f::PERIOD_TYPE, &mut strings, "cpu", "nanoseconds");
    out.int(f::PERIOD, interval);
    out.int(f::DEFAULT_SAMPLE_TYPE, strings.number("cpu"));
    for text in &strings.list {
        out.bytes(f::STRING_TABLE, text.as_bytes());
    }
    out.0
}

/// What is shown as a function though it is none.
const WITHOUT_FRAME: [Doing; 2] = [Doing::Collecting, Doing::Compiling];

/// Numbers of the location and the function of one of these.
fn without_frame(p: &Profile, i: usize) -> (u64, u64) {
    ((p.frames.len() + i + 1) as u64, (p.functions.len() + i + 1) as u64)
}

fn samples(out: &mut Message, p: &Profile, strings: &mut Strings, interval: u64) {
    use field::sample as f;
    for s in p.samples() {
        let mut places: Vec<u64> = s.stack.iter().rev().map(|&frame| u64::from(frame) + 1).collect();
        if let Some(i) = WITHOUT_FRAME.iter().position(|d| *d == s.kind.doing) {
            places.insert(0, without_frame(p, i).0);
        }
        out.message(field::profile::SAMPLE, |m| {
            m.packed(f::LOCATION_ID, &places);
            m.packed(f::VALUE, &[s.count, s.count * interval]);
            let (key, state) = (strings.number("state"), strings.number(s.kind.doing.name()));
            m.message(f::LABEL, |l| {
                l.int(field::label::KEY, key);
                l.int(field::label::STR, state);
            });
            let trace = s.kind.trace.map(|t| p.traces[t as usize].label());
            if let Some(trace) = trace {
                let (key, trace) = (strings.number("trace"), strings.number(&trace));
                m.message(f::LABEL, |l| {
                    l.int(field::label::KEY, key);
                    l.int(field::label::STR, trace);
                });
            }
            if let Some(exit) = s.kind.exit {
                let key = strings.number("exit");
                m.message(f::LABEL, |l| {
                    l.int(field::label::KEY, key);
                    l.int(field::label::NUM, exit.into());
                });
            }
        });
    }
}

fn value_type(out: &mut Message, field: u64, strings: &mut Strings, kind: &str, unit: &str) {
    let (kind, unit) = (strings.number(kind), strings.number(unit));
    out.message(field, |m| {
        m.int(field::value_type::TYPE, kind);
        m.int(field::value_type::UNIT, unit);
    });
}

fn location(out: &mut Message, id: u64, function: u64, line: u64) {
    out.message(field::profile::LOCATION, |m| {
        m.int(field::location::ID, id);
        m.int(field::location::MAPPING_ID, 1);
        m.message(field::location::LINE, |l| {
            l.int(field::line::FUNCTION_ID, function);
            l.int(field::line::LINE, line);
        });
    });
}

fn function_message(out: &mut Message, id: u64, [name, system, file, line]: [u64; 4]) {
    use field::function as f;
    out.message(field::profile::FUNCTION, |m| {
        for (field, value) in [(f::ID, id), (f::NAME, name), (f::SYSTEM_NAME, system), (f::FILENAME, file), (f::START_LINE, line)]
        {
            m.int(field, value);
        }
    });
}

fn nanoseconds(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}
