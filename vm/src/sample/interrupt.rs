//! Ctrl-C while samples are taken. It is delivered to the consumer where a sample would be, and the consumer may end the process with what
//! it has. A second Ctrl-C ends the process at once, as does one on a thread that is not sampled.
#![allow(unsafe_code, reason = "the signal handler does only what is safe in one, with a VM that is alive while it is sampled")]

use super::timer::sampled;
use crate::Vm;
use crate::clock::processor_time;
use crate::interrupt::SignalHandler;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Processor time of the thread when it was pressed, in nanoseconds; 0 if it was not.
static PRESSED: AtomicU64 = AtomicU64::new(0);
/// Nanoseconds after which the interrupt should have been delivered.
const PATIENCE: u64 = 300_000_000;

/// Handles Ctrl-C until it is dropped.
pub(super) struct Interrupt {
    _handler: SignalHandler,
}

extern "C" fn on_interrupt(signal: libc::c_int) {
    let _errno = crate::errno::keep();
    let vm = sampled();
    // SAFETY: what a handler may do; a VM that is sampled on this thread is alive.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        if vm.is_null() {
            libc::raise(signal);
        } else {
            PRESSED.store(processor_time().max(1), SeqCst);
            Vm::deliver_soon(vm);
        }
    }
}

impl Interrupt {
    pub fn listen() -> Interrupt {
        PRESSED.store(0, SeqCst);
        // SAFETY: the handler only uses what is safe in one.
        Interrupt { _handler: unsafe { SignalHandler::install(libc::SIGINT, on_interrupt, libc::SA_RESTART) } }
    }
    /// Was it pressed since the last call?
    pub fn was_pressed() -> bool {
        PRESSED.swap(0, SeqCst) != 0
    }
    /// Was it pressed so long ago that it should have been delivered?
    pub fn is_overdue() -> bool {
        let pressed = PRESSED.load(SeqCst);
        pressed != 0 && processor_time() > pressed + PATIENCE
    }
}
