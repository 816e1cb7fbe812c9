//! Reserved memory: running out of memory is an error of the program, and does not end the process.
//!
//! A part of the address space is mapped and never touched: the reserve. When the system refuses memory, the reserve is unmapped and the
//! request is tried again. From then on memory is *short*: the next safepoint collects, and fails with "not enough memory" if the reserve
//! cannot be mapped again ([`crate::Vm::check_alloc`], `limit`). A request for one large piece is checked beforehand, or is no larger than
//! the reserve, which is at least what the largest table needs to grow.
//!
//! The process has one reserve. A program with several states reserves what the last one that asked needs.
#![allow(unsafe_code, reason = "memory that is kept for emergencies was mapped with the size that it is given back with")]

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use memmap2::{MmapMut, MmapOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::{Mutex, PoisonError};

/// Sizes are multiples of this.
const UNIT: usize = 1 << 20;

/// The mapping.
static REGION: Mutex<Option<MmapMut>> = Mutex::new(None);
/// The size of the mapping, to be read without the lock.
static SIZE: AtomicUsize = AtomicUsize::new(0);
static SHORT: AtomicBool = AtomicBool::new(false);

/// Has the reserve been used?
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Reserves at least `bytes`, unless memory is short; memory is short if that fails.
#[inline]
pub fn keep(bytes: usize) {
    if bytes > SIZE.load(Ordering::Relaxed) && !is_short() {
        let _ = renew(bytes);
    }
}

/// Reserves about `bytes`; memory is short if that fails.
#[cold]
pub fn renew(bytes: usize) -> bool {
    if cfg!(miri) {
        return true;
    }
    let bytes = bytes.next_multiple_of(UNIT);
    let mut region = REGION.lock().unwrap_or_else(PoisonError::into_inner);
    if region.as_ref().map_or(0, |r| r.len()) != bytes {
        // The old mapping is removed first, since both together may not fit.
        *region = None;
        *region = Some(bytes).filter(|n| *n != 0).and_then(map);
        SIZE.store(region.as_ref().map_or(0, |r| r.len()), Ordering::Relaxed);
    }
    let kept = SIZE.load(Ordering::Relaxed) == bytes;
    SHORT.store(!kept, Ordering::Relaxed);
    kept
}

/// The system has refused memory: unmaps the reserve. Returns false if there is none.
#[cold]
fn give_up() -> bool {
    let Ok(mut region) = REGION.try_lock() else { return false };
    let had = region.take().is_some();
    SIZE.store(0, Ordering::Relaxed);
    SHORT.store(true, Ordering::Relaxed);
    had
}

/// Could `bytes` be allocated in one piece now, without the reserve?
#[cold]
pub fn has_room(bytes: usize) -> bool {
    cfg!(miri) || map(bytes).is_some()
}

/// The result of `alloc`, which is tried again without the reserve if it fails.
#[inline]
pub fn or_from_reserve(mut alloc: impl FnMut() -> *mut u8) -> *mut u8 {
    let p = alloc();
    if p.is_null() && give_up() { alloc() } else { p }
}

/// Maps memory that the system does not provide until it is touched.
fn map(bytes: usize) -> Option<MmapMut> {
    MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok()
}

/// The system's allocator with the reserve. For `#[global_allocator]`: small pieces of memory that are not on the heap of a state come from
/// it.
#[derive(Copy, Clone, Debug)]
pub struct Allocator;

// SAFETY: all calls go to the system allocator; a refused request is made once more.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        or_from_reserve(|| unsafe { System.alloc(layout) })
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises.
        or_from_reserve(|| unsafe { System.alloc_zeroed(layout) })
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises; after a refusal the old memory is as it was.
        or_from_reserve(|| unsafe { System.realloc(p, layout, size) })
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(p, layout) }
    }
}
