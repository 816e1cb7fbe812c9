//! How far reading a file has come, for those who wait at a terminal.

use std::io::{self, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

/// Time between two reports, and before the first.
const EVERY: Duration = Duration::from_millis(500);

/// A reader that reports on standard error.
pub struct Progress<R> {
    reader: R,
    done: u64,
    all: u64,
    next: Option<Instant>,
    shown: bool,
}

impl<R: Read> Progress<R> {
    /// Reports on `reader`, which has `all` bytes.
    pub fn new(reader: R, all: u64) -> Progress<R> {
        let next = io::stderr().is_terminal().then(|| Instant::now() + EVERY);
        Progress { reader, done: 0, all, next, shown: false }
    }
}

impl<R: Read> Read for Progress<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(to)?;
        self.done += n as u64;
        if let Some(next) = self.next
            && Instant::now() >= next
        {
            eprint!("\r{:3}%", (self.done * 100).checked_div(self.all).unwrap_or(100).min(100));
            let _ = io::stderr().flush();
            self.next = Some(Instant::now() + EVERY);
            self.shown = true;
        }
        Ok(n)
    }
}

impl<R> Drop for Progress<R> {
    fn drop(&mut self) {
        if self.shown {
            eprint!("\r    \r");
        }
    }
}
