//! Poisoning of free cells for AddressSanitizer: a use of an object or of raw memory after it was freed is reported. Memory that the heap maps itself is
//! registered as roots of the search for leaks, which otherwise sees that of the system's allocator only, and would report what objects own. Without the
//! feature `asan` these functions do nothing.
//!
//! The heap itself reads and writes free cells only by the functions of [`super::block`].
#![allow(unsafe_code, reason = "the sanitizer gets addresses of the heap's own memory only")]

/// The byte that freed memory is filled with in debug builds.
pub const FREED: u8 = 0xdb;
/// Is poisoning compiled in?
pub const ON: bool = cfg!(feature = "asan");

pub(super) use imp::{allow, forbid, is_forbidden, mapped, unmapped};

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

    /// From now on accesses to the memory are reported.
    pub fn forbid(start: *mut u8, size: usize) {
        // SAFETY: changes what the sanitizer reports, and nothing else.
        unsafe { __asan_poison_memory_region(start.cast(), size) }
    }
    /// From now on the memory may be accessed.
    pub fn allow(start: *mut u8, size: usize) {
        // SAFETY: as above.
        unsafe { __asan_unpoison_memory_region(start.cast(), size) }
    }
    /// Is an access to the byte reported?
    pub fn is_forbidden(at: *mut u8) -> bool {
        // SAFETY: reads what the sanitizer knows of an address, whatever that is.
        unsafe { __asan_address_is_poisoned(at.cast()) != 0 }
    }
    /// Pointers in this memory, which was mapped, count for the search for leaks.
    pub fn mapped(start: *mut u8, size: usize) {
        // SAFETY: changes what the sanitizer reports; memory that is not mapped any more it leaves out.
        unsafe { __lsan_register_root_region(start.cast(), size) }
    }
    /// Pointers in this memory, for which [`mapped`] was called with the same size, no longer count.
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
