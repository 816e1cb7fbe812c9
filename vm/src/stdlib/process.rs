//! Commands that a program starts, and the wait for their end.

use crate::Vm;
use crate::error::LuaResult;
use crate::interrupt::Flag;
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
    if !vm.is_interruptible() {
        return Ok(child.wait());
    }
    let ended = wait_or_kill(child, &vm.interrupts.flag);
    if ended.is_none() {
        vm.check_interrupt()?;
    }
    Ok(ended.unwrap_or_else(|| child.wait()))
}

/// Waits for the end of a process, which is killed if an interrupt waits; `None` then.
pub(super) fn wait_or_kill(child: &mut Child, interrupt: &Flag) -> Option<io::Result<ExitStatus>> {
    let mut sleep = FIRST;
    loop {
        match child.try_wait() {
            Ok(None) if interrupt.get().is_some() => {
                // It may have ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            Ok(None) => std::thread::sleep(sleep),
            Ok(Some(status)) => return Some(Ok(status)),
            Err(e) => return Some(Err(e)),
        }
        sleep = (2 * sleep).min(LONGEST);
    }
}
