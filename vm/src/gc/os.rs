//! Memory for objects, at addresses that fit a value's payload.
//!
//! If the system keeps user addresses below 2^47, any allocator can be used. Linux on aarch64 goes up to 2^48, and its `malloc` uses the
//! upper half: there, pages are mapped at chosen addresses.
#![allow(unsafe_code, reason = "memory is given back to the system with the layout that it was taken with")]

use super::allocator::HostMemory;
use crate::interrupt::Poll;
use crate::value::PAYLOAD_MASK;
use std::alloc::Layout;

/// Allocates uninitialised memory below 2^47, from the host's allocator if there is one, if need be from the reserve, or aborts. The size is not 0.
pub(super) fn alloc_low(layout: Layout, host: &mut HostMemory) -> *mut u8 {
    low(layout, host.take_large(layout, PAYLOAD_MASK, || take(layout)))
}

/// The same for a segment of blocks.
pub(super) fn alloc_segment(layout: Layout, host: &mut HostMemory) -> *mut u8 {
    low(layout, host.take_segment(layout, PAYLOAD_MASK, || take(layout)))
}

fn take(layout: Layout) -> *mut u8 {
    let _errno = crate::errno::keep();
    imp::alloc(layout)
}

fn low(layout: Layout, p: *mut u8) -> *mut u8 {
    if p.is_null() {
        std::alloc::handle_alloc_error(layout);
    }
    let addr = p.expose_provenance();
    assert!((addr + layout.size()) as u64 <= PAYLOAD_MASK, "an address does not fit a value");
    p
}

/// Frees memory from [`alloc_low`] or [`alloc_segment`].
///
/// # Safety
/// `p` came from there with the same layout and is not used any more.
pub(super) unsafe fn free_low(p: *mut u8, layout: Layout, host: &mut HostMemory, poll: Poll<'_>) {
    // SAFETY: by the contract.
    unsafe {
        if !host.give(p) {
            imp::free(p, layout, poll);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "aarch64", not(miri))))]
mod imp {
    use std::alloc::Layout;

    use crate::gc::pages;
    use crate::interrupt::Poll;

    pub fn alloc(layout: Layout) -> *mut u8 {
        pages::take(layout)
    }
    /// # Safety
    /// As for `free_low`.
    pub unsafe fn free(p: *mut u8, layout: Layout, poll: Poll<'_>) {
        // SAFETY: by the contract.
        unsafe { pages::give(p, layout, poll) }
    }
}

#[cfg(all(target_os = "linux", target_arch = "aarch64", not(miri)))]
mod imp {
    use crate::gc::{pages, poison};
    use crate::interrupt::Poll;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::alloc::Layout;

    /// Alignment of mappings; at least the page size.
    const UNIT: usize = 1 << 16;
    /// The first address that is tried, and the one that is tried again after the last.
    const FIRST: usize = 1 << 36;
    const LAST: usize = 1 << 46;
    /// The most addresses that are tried.
    const TRIES: usize = 1 << 12;
    /// So many are tried before their distance doubles: what another one has taken may be large. AddressSanitizer keeps the first 32 TB from
    /// `FIRST` on.
    const TRIES_AT_A_DISTANCE: usize = 8;
    /// The greatest distance: 64 of them lead through the whole range.
    const FARTHEST: usize = 1 << 40;

    static NEXT: AtomicUsize = AtomicUsize::new(FIRST);

    fn rounded(layout: Layout) -> usize {
        layout.size().next_multiple_of(UNIT)
    }
    pub fn alloc(layout: Layout) -> *mut u8 {
        assert!(layout.align() <= UNIT);
        let size = rounded(layout);
        let (mut distance, mut tries) = (size, 0);
        for _ in 0..TRIES {
            let hint = NEXT.fetch_add(distance, Ordering::Relaxed);
            if hint + size > LAST {
                NEXT.store(FIRST, Ordering::Relaxed);
                (distance, tries) = (size, 0);
                continue;
            }
            tries += 1;
            if tries % TRIES_AT_A_DISTANCE == 0 {
                distance = (distance * 2).min(FARTHEST).max(size);
            }
            let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: a new anonymous mapping; the address is only a hint.
            let p = unsafe { libc::mmap(core::ptr::without_provenance_mut(hint), size, prot, flags, -1, 0) };
            if p == libc::MAP_FAILED {
                return core::ptr::null_mut();
            }
            if p as usize % UNIT == 0 && p as usize + size <= LAST * 2 - 1 {
                poison::mapped(p.cast(), size);
                return p.cast();
            }
            // SAFETY: mapped above.
            unsafe { libc::munmap(p, size) };
        }
        core::ptr::null_mut()
    }
    /// # Safety
    /// As for `free_low`.
    pub unsafe fn free(p: *mut u8, layout: Layout, poll: Poll<'_>) {
        poison::unmapped(p, rounded(layout));
        // SAFETY: by the contract; mapped with this size.
        unsafe { pages::unmap(p, rounded(layout), poll) };
    }
}
