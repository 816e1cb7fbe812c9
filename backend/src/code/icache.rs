//! Making written code visible to instruction fetch.
#![allow(unsafe_code, reason = "cache maintenance of mapped memory does not change data")]

/// x86 keeps instruction fetch coherent with stores.
#[cfg(not(target_arch = "aarch64"))]
pub(super) fn flush(_start: usize, _len: usize) {}

/// Cleans the data cache of the written range and invalidates the instruction cache.
#[cfg(target_arch = "aarch64")]
pub(super) fn flush(start: usize, len: usize) {
    use core::arch::asm;
    let ctr: usize;
    // SAFETY: reads an identification register that user mode may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack, preserves_flags)) };
    let (iline, dline) = (4 << (ctr & 15), 4 << (ctr >> 16 & 15));
    let lines = |step: usize| (start / step * step..start + len).step_by(step);
    for p in lines(dline) {
        // SAFETY: cleaning a cache line of mapped memory has no architectural effect on data.
        unsafe { asm!("dc cvau, {}", in(reg) p, options(nostack, preserves_flags)) };
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for p in lines(iline) {
        // SAFETY: invalidating an instruction cache line has no architectural effect on data.
        unsafe { asm!("ic ivau, {}", in(reg) p, options(nostack, preserves_flags)) };
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}
