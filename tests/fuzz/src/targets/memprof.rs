//! The reader of memory profiles: any bytes are an error or a report.

use perilune_tools::memprof::{parse, report};

/// Runs the target.
pub fn run(data: &[u8]) {
    let Ok(profile) = parse(data) else { return };
    let mut out = Vec::new();
    for leak_only in [false, true] {
        report::text(&profile, leak_only, leak_only, &mut out).expect("memory takes it");
        report::json(&profile, leak_only, &mut out).expect("memory takes it");
    }
}
