//! A writer to memory, for tests of what writes a stream.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};

/// What was written so far, and how much there is room for.
#[derive(Clone, Default)]
pub struct Written(Arc<Mutex<Vec<u8>>>, Option<usize>);

impl Written {
    /// One with room for so many bytes; then writes fail as on a full disk.
    #[allow(dead_code, reason = "not every test fills it")]
    pub fn with_room(bytes: usize) -> Written {
        Written(Arc::default(), Some(bytes))
    }
    /// What was written so far.
    pub fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().expect("no thread has panicked")
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut to = self.bytes();
        let room = self.1.map_or(bytes.len(), |end| end.saturating_sub(to.len()).min(bytes.len()));
        to.extend_from_slice(&bytes[..room]);
        if room == 0 && !bytes.is_empty() { Err(io::Error::from_raw_os_error(libc::ENOSPC)) } else { Ok(room) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
