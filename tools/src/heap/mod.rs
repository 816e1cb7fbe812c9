//! Dumps and snapshots of the heap: reading them, what they have, what has grown, what keeps an object alive.

pub mod diff;
mod dump;
pub mod graph;
mod snapshot;
mod source;
pub mod summary;
pub mod text;
pub mod why;

use crate::failure::{Outcome, about};
use crate::progress::progress;
use graph::Graph;
use source::Source;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What is wrong with a file.
pub struct Wrong {
    message: String,
    spot: Spot,
}

/// Where something is wrong.
enum Spot {
    /// The message says so, or it is nowhere.
    Said,
    /// At an item of a list of numbers, in a field of the file; 0 is the field itself.
    Item(&'static str, usize),
    /// Where an object is mentioned for the last time.
    Mention(String),
}

impl Wrong {
    fn new(message: String) -> Wrong {
        Wrong { message, spot: Spot::Said }
    }
    /// The message with the offset. What is only found to be wrong later is looked for again, in a file that can be read twice.
    fn say(self, file: &Path, twice: bool) -> String {
        let again = || File::open(file).ok().filter(|_| twice);
        let offset = match &self.spot {
            Spot::Said => None,
            Spot::Item(field, item) => again().and_then(|text| source::offset_of(text, field, *item)),
            Spot::Mention(address) => again().and_then(|text| source::last_mention(text, address)),
        };
        offset.map_or(self.message.clone(), |at| format!("{} at offset {at}", self.message))
    }
}

impl core::fmt::Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Reads a file: a dump (JSON, as `misc.heapdump` writes it) or a snapshot (`misc.heapsnapshot`, Chrome).
pub fn read(file: &Path) -> Outcome<Graph> {
    let from = File::open(file).map_err(|e| about(file, e))?;
    let about_it = from.metadata();
    let (size, regular) = about_it.map_or((0, false), |m| (m.len(), m.is_file()));
    parse(progress(from, size), size).map_err(|wrong| about(file, wrong.say(file, regular)))
}

/// Reads a dump or a snapshot of about `size` bytes, as a stream. What comes first tells which of both it is; where it is neither,
/// the error says so.
pub fn parse(from: impl Read, size: u64) -> Result<Graph, Wrong> {
    let mut source = Source::new(from);
    let start = source.look().map_err(|e| Wrong::new(format!("{e} at offset 0")))?;
    if snapshot::looks_like(start) { snapshot::read(&mut source, size) } else { dump::read(&mut source) }
}
