//! Ctrl-C in compiled code that takes no exit, where it cannot be delivered: the signal handler makes the thread continue in a function
//! that ends the process.
#![allow(
    unsafe_code,
    reason = "the context of a signal handler is changed only where compiled code was interrupted, which never goes on then"
)]

use super::interrupt::Interrupt;
use crate::Vm;

/// Ends the process where `context` would go on, which is in compiled code.
///
/// # Safety
/// A signal handler is running that was given `context`, the thread is that of the VM, and compiled code was interrupted.
pub(super) unsafe fn divert(context: *mut libc::ucontext_t, vm: *mut Vm) {
    let go_on: unsafe extern "C" fn(*mut Vm) -> ! = end;
    // SAFETY: the context is the handler's. What is called gets its argument and a stack below all that the code has there, aligned
    // as at the beginning of any function; that it does not return is why the registers of the code need not be kept.
    unsafe {
        let machine = &mut (*context).uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        {
            const RED_ZONE: i64 = 128;
            let stack = &mut machine.gregs[libc::REG_RSP as usize];
            *stack = ((*stack - RED_ZONE) & !15) - 8;
            machine.gregs[libc::REG_RDI as usize] = vm as i64;
            machine.gregs[libc::REG_RIP as usize] = go_on as usize as i64;
        }
        #[cfg(target_arch = "aarch64")]
        {
            machine.sp &= !15;
            machine.regs[0] = vm as u64;
            machine.pc = go_on as usize as u64;
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = (machine, vm, go_on);
    }
}

/// Calls the consumer because Ctrl-C was pressed, as the last action of the process.
///
/// # Safety
/// The VM is alive and this is its thread. Objects may be incomplete: only the consumer, and the end of the process, may be called.
unsafe extern "C" fn end(vm: *mut Vm) -> ! {
    // SAFETY: the caller's promise; nobody else goes on.
    let vm = unsafe { &mut *vm };
    Interrupt::was_pressed();
    if let Some(consumer) = vm.sampling_consumer() {
        consumer.interrupted(vm);
    }
    std::process::exit(super::INTERRUPTED)
}
