//! Memory profiles: reading them, and reports of them.

mod flame;
pub mod profile;
pub mod report;

pub use flame::draw;

use crate::failure::{Outcome, about};
use crate::progress::progress;
use perilune_observe::stream::input::Malformed;
use perilune_observe::stream::read::Stream;
use profile::Profile;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a file: what `misc.memprof` or Tarantool has written.
pub fn read(file: &Path) -> Outcome<Profile> {
    let input = File::open(file).map_err(|e| about(file, e))?;
    let size = input.metadata().map_or(0, |m| m.len());
    parse(progress(input, size)).map_err(|e| about(file, e))
}

/// Adds up the events of a memory profile.
pub fn parse(from: impl Read) -> Result<Profile, Malformed> {
    let mut stream = Stream::open(from)?;
    let mut profile = Profile::default();
    while let Some(event) = stream.next()? {
        profile.add(event);
    }
    Ok(profile)
}
