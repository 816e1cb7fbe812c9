//! How far reading a file has come, for those who wait at a terminal.

use indicatif::{ProgressBar, ProgressBarIter, ProgressStyle};
use std::io::Read;

/// Smaller files are read before anybody waits.
const LARGE: u64 = 8 << 20;

/// A reader that shows a bar on standard error if that is a terminal, and takes it away when it is dropped. `size` is how many bytes
/// the file has, 0 if that is unknown.
pub fn progress<R: Read>(reader: R, size: u64) -> ProgressBarIter<R> {
    let bar = if size < LARGE { ProgressBar::hidden() } else { ProgressBar::new(size) };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3}% of {total_bytes}, {eta} left") {
        bar.set_style(style);
    }
    bar.wrap_read(reader)
}
