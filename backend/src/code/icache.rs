//! Making written code visible to instruction fetch.
#![allow(unsafe_code, reason = "cache maintenance of mapped memory does not change data")]

/// x86 keeps instruction fetch coherent with stores.
#[cfg(not(target_arch = "aarch64"))]
pub(super) fn flush(_written: usize, _run: usize, _len: usize) {}

/// Cleans the data cache of the written range and invalidates the instruction cache of the range where it runs.
#[cfg(target_arch = "aarch64")]
pub(super) fn flush(written: usize, run: usize, len: usize) {
    use core::arch::asm;
    let ctr: usize;
    // SAFETY: reads an identification register that user mode may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack, preserves_flags)) };
    let (iline, dline) = (4 << (ctr & 15), 4 << (ctr >> 16 & 15));
    let lines = |start: usize, step: usize| (start / step * step..start + len).step_by(step);
    for p in lines(written, dline) {
        // SAFETY: cleaning a cache line of mapped memory has no architectural effect on data.
        unsafe { asm!("dc cvau, {}", in(reg) p, options(nostack, preserves_flags)) };
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for p in lines(run, iline) {
        // SAFETY: invalidating an instruction cache line has no architectural effect on data.
        unsafe { asm!("ic ivau, {}", in(reg) p, options(nostack, preserves_flags)) };
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}
