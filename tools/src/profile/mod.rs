//! Profiles of time as files for those who look at them.

mod flame;

use flate2::{Compression, write::GzEncoder};
use perilune_observe::profile::model::View;
use perilune_observe::profile::{Profile, folded, pprof, speedscope};
use std::io::{self, Write};

/// What is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Format {
    /// A flame graph.
    Svg,
    /// Folded stacks, for flame graphs.
    Folded,
    /// A profile for pprof, compressed.
    Pprof,
    /// A file for speedscope.
    Speedscope,
}

impl Format {
    /// The name of the file where none is given.
    pub const fn file(self) -> &'static str {
        match self {
            Format::Svg => "profile.svg",
            Format::Folded => "profile.folded",
            Format::Pprof => "profile.pb.gz",
            Format::Speedscope => "profile.speedscope.json",
        }
    }
    /// Writes the profile of a program.
    pub fn write(self, p: &Profile, view: View, program: &str, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Format::Svg => flame::draw(p, view, program, out)?,
            Format::Folded => folded::write(p, view, out)?,
            Format::Speedscope => speedscope::write(p, view, program, out)?,
            Format::Pprof => {
                let mut zip = GzEncoder::new(&mut *out, Compression::default());
                zip.write_all(&pprof::encode(p, program))?;
                zip.finish()?;
            }
        }
        out.flush()
    }
}
