//! Commands that a program starts, and the wait for their end.

use crate::Vm;
use crate::error::LuaResult;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How long a wait that can be interrupted sleeps at first. A command that does nothing takes about a millisecond.
const FIRST: Duration = Duration::from_micros(100);
/// How long it sleeps at most: an interrupt ends a program within 10 milliseconds.
const LONGEST: Duration = Duration::from_millis(4);

/// A shell that runs a command.
pub(super) fn shell(command: &[u8]) -> Command {
    let mut c = Command::new("sh");
    c.arg("-c").arg(OsStr::from_bytes(command));
    c
}

/// Waits for the end of a process. In a state with a time limit or an interrupt handle, an interrupt ends the process as well.
///
/// # Errors
/// The interrupt's.
pub(super) fn wait(vm: &mut Vm, child: &mut Child) -> LuaResult<io::Result<ExitStatus>> {
    if vm.is_interruptible() {
        let mut sleep = FIRST;
        while matches!(child.try_wait(), Ok(None)) {
            if vm.interrupt_waits().is_some() {
                // It may have ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                vm.check_interrupt()?;
            }
            std::thread::sleep(sleep);
            sleep = (2 * sleep).min(LONGEST);
        }
    }
    Ok(child.wait())
}
