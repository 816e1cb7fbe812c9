//! Memory kept back, so that the end of memory is an error of the program and not the end of the process.
//!
//! A part of the address space is mapped and never touched. When the system refuses memory, that part is given up and the request
//! tried again. From then on memory is *short*: the next safepoint collects, and fails with "not enough memory" if the part cannot
//! be mapped again ([`crate::Vm::check_alloc`], `limit`). What is asked for in one piece is checked beforehand, or is no larger
//! than what the heap has kept back for its largest table.
//!
//! The reserve is the process's. A program with several states keeps what the last one that asked needs.
#![allow(unsafe_code, reason = "memory that is kept for emergencies was mapped with the size that it is given back with")]

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use memmap2::{MmapMut, MmapOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::{Mutex, PoisonError};

/// Sizes are multiples of this.
const UNIT: usize = 1 << 20;

/// What is mapped.
static REGION: Mutex<Option<MmapMut>> = Mutex::new(None);
/// Its size, to look at.
static SIZE: AtomicUsize = AtomicUsize::new(0);
static SHORT: AtomicBool = AtomicBool::new(false);

/// Was the reserve needed?
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Keeps at least `bytes` back, unless memory is short; if that much is not to be had, it is.
#[inline]
pub fn keep(bytes: usize) {
    if bytes > SIZE.load(Ordering::Relaxed) && !is_short() {
        let _ = renew(bytes);
    }
}

/// Keeps about `bytes` back; memory is short if they are not to be had.
#[cold]
pub fn renew(bytes: usize) -> bool {
    if cfg!(miri) {
        return true;
    }
    let bytes = bytes.next_multiple_of(UNIT);
    let mut region = REGION.lock().unwrap_or_else(PoisonError::into_inner);
    if region.as_ref().map_or(0, |r| r.len()) != bytes {
        // The old one goes first: both need not fit.
        *region = None;
        *region = Some(bytes).filter(|n| *n != 0).and_then(map);
        SIZE.store(region.as_ref().map_or(0, |r| r.len()), Ordering::Relaxed);
    }
    let kept = SIZE.load(Ordering::Relaxed) == bytes;
    SHORT.store(!kept, Ordering::Relaxed);
    kept
}

/// The system has refused memory: lets the reserve go. False if there is none.
#[cold]
fn give_up() -> bool {
    let Ok(mut region) = REGION.try_lock() else { return false };
    let had = region.take().is_some();
    SIZE.store(0, Ordering::Relaxed);
    SHORT.store(true, Ordering::Relaxed);
    had
}

/// Would `bytes` in one piece be had now, the reserve left alone?
#[cold]
pub fn has_room(bytes: usize) -> bool {
    cfg!(miri) || map(bytes).is_some()
}

/// What `alloc` gives, if need be from the reserve.
#[inline]
pub fn or_from_reserve(mut alloc: impl FnMut() -> *mut u8) -> *mut u8 {
    let p = alloc();
    if p.is_null() && give_up() { alloc() } else { p }
}

/// Maps memory that counts for nothing until it is touched.
fn map(bytes: usize) -> Option<MmapMut> {
    MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok()
}

/// The system's allocator, with the reserve behind it. For `#[global_allocator]`: the small pieces of memory that are not on the
/// heap of a state come from there.
#[derive(Copy, Clone, Debug)]
pub struct Allocator;

// SAFETY: all is the system allocator's; a request that it refused is made once more.
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
