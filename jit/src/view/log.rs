//! The log for developers of the compiler, on standard error: `PERILUNE_LOG` is a list of topics, separated by commas.

use std::sync::OnceLock;

/// A topic.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Topic {
    /// Starts, stops, aborts and flushes.
    Trace = 1,
    /// IR of finished traces.
    Ir = 2,
    /// Cranelift IR.
    Clif = 4,
    /// Machine code.
    Asm = 8,
    /// IR of aborted traces.
    Aborted = 16,
    /// Exits.
    Exit = 32,
    /// Time that each trace took.
    Time = 64,
}

const TOPICS: [(&str, Topic); 7] = [
    ("trace", Topic::Trace),
    ("ir", Topic::Ir),
    ("clif", Topic::Clif),
    ("asm", Topic::Asm),
    ("aborted", Topic::Aborted),
    ("exit", Topic::Exit),
    ("time", Topic::Time),
];

/// Is the topic in the list?
pub fn on(topic: Topic) -> bool {
    static TOPICS_ON: OnceLock<u32> = OnceLock::new();
    let on = TOPICS_ON.get_or_init(|| {
        let text = std::env::var("PERILUNE_LOG").unwrap_or_default();
        let find = |name: &str| {
            let topic = TOPICS.iter().find(|t| t.0 == name);
            if topic.is_none() {
                eprintln!("PERILUNE_LOG has no topic '{name}': there are {}", TOPICS.map(|t| t.0).join(", "));
            }
            topic.map_or(0, |t| t.1 as u32)
        };
        text.split(',').filter(|name| !name.is_empty()).map(find).fold(0, |on, topic| on | topic)
    });
    on & topic as u32 != 0
}
