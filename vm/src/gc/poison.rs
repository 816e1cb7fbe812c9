//! Poisoning of free cells for AddressSanitizer: a use of an object or of raw memory after it was freed is reported. Without the feature
//! `asan` nothing is poisoned.
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
