//! A flame graph of time.

use inferno::flamegraph::{self, Options, TextTruncateDirection};
use perilune_observe::profile::model::View;
use perilune_observe::profile::{Profile, folded};
use std::io::{self, Write};

/// Draws it.
pub fn draw(p: &Profile, view: View, program: &str, out: &mut dyn Write) -> io::Result<()> {
    let lines = folded::lines(p, view);
    if lines.is_empty() {
        return Err(io::Error::other("no samples to draw: the script has ended too soon"));
    }
    let mut options = Options::default();
    options.title = format!("Time of {program}");
    options.subtitle = Some(format!("one sample for each {} of processor time", interval(p.interval)));
    options.count_name = "samples".to_owned();
    // A name says most at its beginning.
    options.text_truncate_direction = TextTruncateDirection::Right;
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out).map_err(io::Error::other)
}

fn interval(d: std::time::Duration) -> String {
    format!("{d:?}")
}
