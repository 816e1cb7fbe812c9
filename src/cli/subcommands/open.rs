//! Showing a file that was written, by the program that the desktop has for it.

use perilune_tools::failure::{Failure, Outcome};
use std::path::Path;
use std::process::{Command, Stdio};

/// The command that the system has for that.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Shows a file. It is not waited for.
pub fn show(file: &Path) -> Outcome {
    let mut command = Command::new(OPENER);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(e) => Err(Failure::Other(format!("cannot show {}: {OPENER}: {e}", file.display()))),
    }
}
