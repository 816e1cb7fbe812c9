//! pprof's `profile.proto` (<https://github.com/google/pprof/blob/main/proto/profile.proto>), not compressed.
//!
//! A sample has a number and nanoseconds, and labels: `state` (what the VM was doing), `trace` and `exit`. The collector and the
//! compiler are functions as well, innermost in the stacks that they worked for.

use super::model::{Doing, Profile, Sample};
use micropb::{PbEncoder, Tag, WIRE_TYPE_LEN, WIRE_TYPE_VARINT};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// A message in protobuf's wire format, of the fields that were added. Numbers that are 0 are left out, as readers expect them to be.
struct Message(PbEncoder<Vec<u8>>);

impl Message {
    fn new() -> Message {
        Message(PbEncoder::new(Vec::new()))
    }
    fn number(mut self, field: u32, n: i64) -> Message {
        if n != 0 {
            let Ok(()) = self.0.encode_tag(Tag::from_parts(field, WIRE_TYPE_VARINT));
            let Ok(()) = self.0.encode_int64(n);
        }
        self
    }
    /// One field with all of the numbers.
    fn numbers(mut self, field: u32, numbers: &[i64]) -> Message {
        if !numbers.is_empty() {
            let mut packed = PbEncoder::new(Vec::new());
            for &n in numbers {
                let Ok(()) = packed.encode_int64(n);
            }
            self.bytes(field, &packed.into_writer());
        }
        self
    }
    /// A field for each of the texts.
    fn texts(mut self, field: u32, texts: &[String]) -> Message {
        texts.iter().for_each(|text| self.bytes(field, text.as_bytes()));
        self
    }
    fn message(self, field: u32, message: Message) -> Message {
        self.messages(field, [message])
    }
    /// A field for each of the messages.
    fn messages(mut self, field: u32, messages: impl IntoIterator<Item = Message>) -> Message {
        messages.into_iter().for_each(|message| self.bytes(field, &message.into_bytes()));
        self
    }
    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        let Ok(()) = self.0.encode_tag(Tag::from_parts(field, WIRE_TYPE_LEN));
        let Ok(()) = self.0.encode_bytes(bytes);
    }
    fn into_bytes(self) -> Vec<u8> {
        self.0.into_writer()
    }
}

/// The messages of `profile.proto`, each with the fields that are written here. Texts are positions in the table of strings.
mod proto {
    use super::Message;

    /// What the numbers of a sample are, or the distance of two.
    #[derive(Copy, Clone)]
    pub struct ValueType {
        pub kind: i64,
        pub unit: i64,
    }
    impl ValueType {
        pub fn message(self) -> Message {
            Message::new().number(1, self.kind).number(2, self.unit)
        }
    }

    /// A stack, given by its locations with the innermost first, the numbers of each kind, and labels.
    pub fn sample(locations: &[i64], values: &[i64], labels: Vec<Message>) -> Message {
        Message::new().numbers(1, locations).numbers(2, values).messages(3, labels)
    }

    /// A label whose value is a text.
    pub fn text_label(key: i64, text: i64) -> Message {
        Message::new().number(1, key).number(2, text)
    }

    /// A label whose value is a number.
    pub fn number_label(key: i64, n: i64) -> Message {
        Message::new().number(1, key).number(3, n)
    }

    /// A program, which has names of functions, names of files, and lines.
    pub fn mapping(id: i64, filename: i64) -> Message {
        Message::new().number(1, id).number(5, filename).number(7, 1).number(8, 1).number(9, 1)
    }

    /// A line of a function.
    pub fn location(id: i64, mapping_id: i64, function_id: i64, line: i64) -> Message {
        Message::new().number(1, id).number(2, mapping_id).message(4, Message::new().number(1, function_id).number(2, line))
    }

    pub struct Function {
        pub id: i64,
        pub name: i64,
        pub system_name: i64,
        pub filename: i64,
        pub start_line: i64,
    }
    impl Function {
        pub fn message(self) -> Message {
            let names = Message::new().number(1, self.id).number(2, self.name).number(3, self.system_name);
            names.number(4, self.filename).number(5, self.start_line)
        }
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
    let samples_count = strings.value_type("samples", "count");
    let cpu_nanoseconds = strings.value_type("cpu", "nanoseconds");
    let program = strings.at(program);
    let samples: Vec<Message> = p.samples().iter().map(|s| sample(p, s, &mut strings)).collect();
    let began = p.began.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanoseconds);
    let (locations, functions) = (locations(p), functions(p, &mut strings));
    Message::new()
        .messages(1, [samples_count.message(), cpu_nanoseconds.message()])
        .messages(2, samples)
        .message(3, proto::mapping(1, program))
        .messages(4, locations)
        .messages(5, functions)
        .texts(6, &strings.list)
        .number(9, began)
        .number(10, nanoseconds(p.duration))
        .message(11, cpu_nanoseconds.message())
        .number(12, nanoseconds(p.interval))
        .number(14, cpu_nanoseconds.kind)
        .into_bytes()
}

/// Those of the frames, and then those of [`WITHOUT_FRAME`].
fn locations(p: &Profile) -> Vec<Message> {
    let frames = (1..).zip(&p.frames).map(|(id, frame)| proto::location(id, 1, i64::from(frame.function) + 1, frame.line.into()));
    let without = (0..WITHOUT_FRAME.len()).map(|i| {
        let (id, function) = without_frame(p, i);
        proto::location(id, 1, function, 0)
    });
    frames.chain(without).collect()
}

/// Those of the program, and then those of [`WITHOUT_FRAME`].
fn functions(p: &Profile, strings: &mut Strings) -> Vec<Message> {
    let mut out = Vec::new();
    for (id, f) in (1..).zip(&p.functions) {
        let name = if f.file.is_empty() { f.name.clone() } else { f.label() };
        let (name, system_name, filename) = (strings.at(&name), strings.at(&f.name), strings.at(&f.file));
        out.push(proto::Function { id, name, system_name, filename, start_line: f.line.into() }.message());
    }
    for (i, doing) in WITHOUT_FRAME.iter().enumerate() {
        let name = strings.at(&format!("({})", doing.name()));
        out.push(proto::Function { id: without_frame(p, i).1, name, system_name: name, filename: 0, start_line: 0 }.message());
    }
    out
}

/// The states of the VM that are shown as functions, because no frame of the profile stands for them.
const WITHOUT_FRAME: [Doing; 3] = [Doing::Collecting, Doing::Compiling, Doing::Leaving];

/// The numbers of the location and the function of one of these.
fn without_frame(p: &Profile, i: usize) -> (i64, i64) {
    ((p.frames.len() + i + 1) as i64, (p.functions.len() + i + 1) as i64)
}

fn sample(p: &Profile, s: &Sample, strings: &mut Strings) -> Message {
    let frames = s.stack.iter().rev().map(|&frame| i64::from(frame) + 1);
    let innermost = WITHOUT_FRAME.iter().position(|d| *d == s.kind.doing).map(|i| without_frame(p, i).0);
    let mut labels = vec![proto::text_label(strings.at("state"), strings.at(s.kind.doing.name()))];
    if let Some(trace) = s.kind.trace {
        let trace = p.traces[trace as usize].label();
        labels.push(proto::text_label(strings.at("trace"), strings.at(&trace)));
    }
    if let Some(exit) = s.kind.exit {
        labels.push(proto::number_label(strings.at("exit"), exit.into()));
    }
    let locations: Vec<i64> = innermost.into_iter().chain(frames).collect();
    let count = s.count as i64;
    proto::sample(&locations, &[count, count * nanoseconds(p.interval)], labels)
}

fn nanoseconds(d: Duration) -> i64 {
    i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)
}
