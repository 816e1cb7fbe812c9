//! The file format of speedscope (<https://www.speedscope.app/file-format-schema.json>): a table of frames, and a profile of the
//! kind `sampled` with a list of stacks and one of weights, in milliseconds of processor time.

use super::model::{Profile, ShownStacks, View};
use crate::json;
use std::io::{self, Write};

/// Writes a profile. `name` is what it is called.
pub fn write(profile: &Profile, view: View, name: &str, to: &mut dyn Write) -> io::Result<()> {
    let ShownStacks { frames, stacks, .. } = profile.shown(view);
    let weight = profile.interval.as_secs_f64() * 1000.0;
    write!(to, "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":")?;
    json::string(to, name.as_bytes())?;
    write!(to, ",\"exporter\":\"perilune {}\",\"shared\":{{\"frames\":[", env!("CARGO_PKG_VERSION"))?;
    for (i, f) in frames.iter().enumerate() {
        to.write_all(if i == 0 { b"\n{\"name\":" } else { b",\n{\"name\":" })?;
        json::string(to, f.label.as_bytes())?;
        if let Some((file, line)) = &f.at {
            to.write_all(b",\"file\":")?;
            json::string(to, file.as_bytes())?;
            if *line != 0 {
                write!(to, ",\"line\":{line}")?;
            }
        }
        to.write_all(b"}")?;
    }
    let total = stacks.iter().map(|s| s.1 as f64 * weight).sum::<f64>();
    write!(to, "]}},\n\"profiles\":[{{\"type\":\"sampled\",\"name\":")?;
    json::string(to, name.as_bytes())?;
    write!(to, ",\"unit\":\"milliseconds\",\"startValue\":0,\"endValue\":{total},\n\"samples\":[")?;
    list(to, &stacks, |to, s| {
        to.write_all(b"[")?;
        list(to, &s.0, |to, f| write!(to, "{f}"))?;
        to.write_all(b"]")
    })?;
    to.write_all(b"],\n\"weights\":[")?;
    list(to, &stacks, |to, s| write!(to, "{}", s.1 as f64 * weight))?;
    to.write_all(b"]}]}\n")
}

/// Items with commas between them.
fn list<T>(to: &mut dyn Write, items: &[T], mut f: impl FnMut(&mut dyn Write, &T) -> io::Result<()>) -> io::Result<()> {
    for (i, item) in items.iter().enumerate() {
        if i != 0 {
            to.write_all(b",")?;
        }
        f(to, item)?;
    }
    Ok(())
}
