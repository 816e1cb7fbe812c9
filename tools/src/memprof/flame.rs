//! A flame graph of bytes: files, and in them the lines.

use super::profile::Profile;
use inferno::flamegraph::{self, Options, TextTruncateDirection};

/// The drawing: of all bytes allocated, or of those that were not freed.
pub fn draw(p: &Profile, leak_only: bool) -> Result<Vec<u8>, String> {
    let held: Vec<(&str, u128)> = if leak_only {
        p.held().into_iter().map(|(name, h)| (name, h.bytes.unsigned_abs())).collect()
    } else {
        let grown = p.reallocs.iter().map(|(place, e)| (p.name(*place), e.allocated.saturating_sub(e.freed)));
        p.allocs.iter().map(|(place, e)| (p.name(*place), e.allocated)).chain(grown).map(|(name, n)| (name, n.into())).collect()
    };
    let lines: Vec<String> = held.iter().filter(|h| h.1 != 0).map(|(name, n)| format!("{} {n}", frames(name))).collect();
    let mut options = Options::default();
    options.title = if leak_only { "Memory not freed" } else { "Memory allocated" }.to_owned();
    options.count_name = "bytes".to_owned();
    options.text_truncate_direction = TextTruncateDirection::Right;
    let mut svg = Vec::new();
    if lines.is_empty() {
        return Err("nothing to draw".to_owned());
    }
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg).map_err(|e| e.to_string())?;
    Ok(svg)
}

/// The file and the line as frames.
fn frames(name: &str) -> String {
    let clean = name.replace([';', '\n'], " ");
    let file = clean.rsplit_once(':').map(|(file, _)| file.trim_start_matches(['@', '=']).to_owned());
    match file {
        Some(file) => format!("{file};{clean}"),
        None => clean,
    }
}
