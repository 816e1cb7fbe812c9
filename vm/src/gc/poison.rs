//! Poisoning of free cells for AddressSanitizer: a use of an object or of raw memory after it was freed is reported. And its search for leaks, which
//! looks for pointers in memory of the system's allocator only, is told of memory that the heap maps itself: what objects there own is no leak. Without
//! the feature `asan` nothing is poisoned or told.
//!
//! The heap itself reads and writes free cells only by the functions of [`super::block`].
#![allow(unsafe_code, reason = "the sanitizer is told of memory inside blocks of the heap only")]

/// The byte that freed memory is filled with in debug builds.
pub const FREED: u8 = 0xdb;
/// Is poisoning compiled in?
pub const ON: bool = cfg!(feature = "asan");

#[cfg(feature = "asan")]
mod imp {
    use core::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn __asan_poison_memory_region(start: *const c_void, size: usize);
        fn __asan_unpoison_memory_region(start: *const c_void, size: usize);
        fn __asan_address_is_poisoned(at: *const c_void) -> c_int;
        fn __lsan_register_root_region(start: *const c_void, size: usize);
        fn __lsan_unregister_root_region(start: *const c_void, size: usize);
    }

    pub fn forbid(start: *mut u8, size: usize) {
        // SAFETY: changes what the sanitizer reports, and nothing else.
        unsafe { __asan_poison_memory_region(start.cast(), size) }
    }
    pub fn allow(start: *mut u8, size: usize) {
        // SAFETY: as above.
        unsafe { __asan_unpoison_memory_region(start.cast(), size) }
    }
    pub fn is_forbidden(at: *mut u8) -> bool {
        // SAFETY: reads what the sanitizer knows of an address, whatever that is.
        unsafe { __asan_address_is_poisoned(at.cast()) != 0 }
    }
    pub fn mapped(start: *mut u8, size: usize) {
        // SAFETY: changes what the sanitizer reports; memory that is not mapped any more it leaves out.
        unsafe { __lsan_register_root_region(start.cast(), size) }
    }
    pub fn unmapped(start: *mut u8, size: usize) {
        // SAFETY: as above.
        unsafe { __lsan_unregister_root_region(start.cast(), size) }
    }
}

#[cfg(not(feature = "asan"))]
mod imp {
    #[inline(always)]
    pub fn forbid(_: *mut u8, _: usize) {}
    #[inline(always)]
    pub fn allow(_: *mut u8, _: usize) {}
    #[inline(always)]
    pub fn is_forbidden(_: *mut u8) -> bool {
        false
    }
    #[inline(always)]
    pub fn mapped(_: *mut u8, _: usize) {}
    #[inline(always)]
    pub fn unmapped(_: *mut u8, _: usize) {}
}

/// From now on accesses to the memory are reported.
#[inline(always)]
pub(super) fn forbid(start: *mut u8, size: usize) {
    imp::forbid(start, size);
}
/// From now on the memory may be accessed.
#[inline(always)]
pub(super) fn allow(start: *mut u8, size: usize) {
    imp::allow(start, size);
}
/// Is an access to the byte reported?
#[inline(always)]
pub(super) fn is_forbidden(at: *mut u8) -> bool {
    imp::is_forbidden(at)
}
/// Pointers in this memory, which was mapped, count for the search for leaks.
#[inline(always)]
pub(super) fn mapped(start: *mut u8, size: usize) {
    imp::mapped(start, size);
}
/// Pointers in this memory, for which [`mapped`] was called with the same size, no longer count.
#[inline(always)]
pub(super) fn unmapped(start: *mut u8, size: usize) {
    imp::unmapped(start, size);
}
