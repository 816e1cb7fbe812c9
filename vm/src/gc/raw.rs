//! Raw memory that objects own: array and hash parts of tables, stacks. It has the same size classes as objects, and is freed explicitly.
//! Each block keeps its own free list, so that an empty block can move to another class. Memory larger than a cell comes from the system
//! allocator. All of it counts in [`Heap::total`].
#![allow(unsafe_code, reason = "raw memory is freed and resized with the size that it was allocated with")]

use super::Heap;
use super::block::{Block, FreeCell, UNLISTED};
use super::reserve::or_from_reserve;
use super::size::{NUM_CLASSES, RAW_MAX, class_of, class_size, large_layout, spaced};
use super::stagger::{self, STAGGERED, Stagger};
use super::watcher::Change;
use crate::interrupt::Poll;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};

/// One size class.
#[derive(Debug, Default)]
struct RawClass {
    /// The block that cells are taken from; null when none.
    current: *mut Block,
    /// Other blocks with free cells.
    partial: Vec<*mut Block>,
}

/// The raw pools.
#[derive(Debug)]
pub(super) struct RawPools {
    classes: [RawClass; NUM_CLASSES],
    /// Larger sizes take the slow path: [`RAW_MAX`], or 0 while the heap is watched.
    pub fast_max: usize,
    stagger: Stagger,
}

impl RawPools {
    pub(super) fn new() -> RawPools {
        RawPools { classes: core::array::from_fn(|_| RawClass::default()), fast_max: RAW_MAX, stagger: Stagger::default() }
    }
}

/// Bytes that raw memory of this size takes.
pub(crate) fn real_size(size: usize) -> usize {
    if size > RAW_MAX { size } else { class_size(class_of(size)) }
}

/// Layout of memory for an array that is too large for a cell.
fn layout_apart(size: usize) -> Layout {
    large_layout(spaced(size))
}

impl Heap {
    /// Uninitialised memory of `size` bytes (not 0), aligned to 16.
    #[inline]
    pub fn alloc_raw(&mut self, size: usize) -> *mut u8 {
        if size > self.cells.raw.fast_max {
            return self.alloc_raw_apart(size);
        }
        self.alloc_raw_cell(size)
    }
    #[cold]
    #[inline(never)]
    fn alloc_raw_apart(&mut self, size: usize) -> *mut u8 {
        let (p, size) =
            if size > RAW_MAX { (self.alloc_raw_large(size), size) } else { (self.alloc_raw_cell(size), real_size(size)) };
        if self.cells.raw.fast_max == 0 {
            self.report(Change::Alloc { at: p as usize, size });
        }
        p
    }
    #[inline(always)]
    fn alloc_raw_cell(&mut self, size: usize) -> *mut u8 {
        let class = class_of(size);
        let b = self.cells.raw.classes[class].current;
        self.total += class_size(class);
        // SAFETY: `current` is null or a block of this class, owned by the pools; a cell on its list is free.
        unsafe {
            if !b.is_null() && !(*b).free.is_null() {
                let cell = (*b).free;
                (*b).free = FreeCell::take(cell, class_size(class));
                (*b).live += 1;
                return cell.cast();
            }
        }
        self.alloc_raw_slow(class)
    }
    #[cold]
    #[inline(never)]
    fn alloc_raw_slow(&mut self, class: usize) -> *mut u8 {
        let c = &mut self.cells.raw.classes[class];
        // SAFETY: all blocks of the class are owned by the pools.
        unsafe {
            let full = c.current.is_null() || (*c.current).carved == (*c.current).capacity;
            if full {
                c.current = match c.partial.pop() {
                    Some(b) => {
                        (*b).listed = UNLISTED;
                        b
                    }
                    None => self.cells.blocks.take(class),
                };
            }
            let b = c.current;
            if (*b).free.is_null() {
                (*b).free = Block::carve(b, core::ptr::null_mut());
            }
            let cell = (*b).free;
            (*b).free = FreeCell::take(cell, class_size(class));
            (*b).live += 1;
            self.watch_blocks();
            cell.cast()
        }
    }
    fn alloc_raw_large(&mut self, size: usize) -> *mut u8 {
        let layout = layout_apart(size);
        let stagger = &mut self.cells.raw.stagger;
        let p = self.cells.blocks.host.take_large(layout, u64::MAX, || {
            if size >= STAGGERED {
                return stagger.alloc(size);
            }
            // SAFETY: the size is not 0.
            unsafe { alloc(layout) }
        });
        if p.is_null() {
            handle_alloc_error(layout);
        }
        self.total += size;
        self.system_gave(size, false);
        p
    }
    /// Frees memory from [`Heap::alloc_raw`].
    ///
    /// # Safety
    /// `p` came from `alloc_raw` (or `realloc_raw`) of this heap with the same `size` and is not used any more.
    #[inline]
    pub unsafe fn free_raw(&mut self, p: *mut u8, size: usize) {
        // SAFETY: by the contract.
        unsafe { if size > self.cells.raw.fast_max { self.free_raw_apart(p, size) } else { self.free_raw_cell(p, size) } }
    }
    /// # Safety
    /// As for [`Heap::free_raw`].
    #[cold]
    #[inline(never)]
    unsafe fn free_raw_apart(&mut self, p: *mut u8, size: usize) {
        if self.cells.raw.fast_max == 0 {
            self.report(Change::Free { at: p as usize, size: real_size(size) });
        }
        if size <= RAW_MAX {
            // SAFETY: by the contract.
            return unsafe { self.free_raw_cell(p, size) };
        }
        self.gave_back(size);
        // SAFETY: allocated with this size, and accordingly.
        unsafe {
            if self.cells.blocks.host.give(p) {
                // It was the host's.
            } else if size >= STAGGERED {
                stagger::free(p, size, Poll::At(&self.interrupt));
            } else {
                dealloc(p, layout_apart(size));
            }
        }
    }
    /// # Safety
    /// As for [`Heap::free_raw`]; the size is that of a cell.
    #[inline(always)]
    unsafe fn free_raw_cell(&mut self, p: *mut u8, size: usize) {
        let class = class_of(size);
        self.gave_back(class_size(class));
        if cfg!(debug_assertions) {
            // SAFETY: the cell has this size and is not used any more.
            unsafe { p.write_bytes(super::poison::FREED, class_size(class)) };
        }
        let b = Block::of(p);
        let cell = p.cast::<FreeCell>();
        // SAFETY: the cell belongs to block `b` of the pools and is not used any more.
        unsafe {
            debug_assert_eq!((*b).class as usize, class);
            FreeCell::put(cell, (*b).free, class_size(class));
            (*b).free = cell;
            (*b).live -= 1;
            if ((*b).listed == UNLISTED || (*b).live == 0) && self.cells.raw.classes[class].current != b {
                self.raw_block_freed(b);
            }
        }
    }
    /// A cell of a block other than the current one was freed: lists the block, or frees it when it has become empty.
    ///
    /// # Safety
    /// It is a block of these pools.
    #[cold]
    #[inline(never)]
    unsafe fn raw_block_freed(&mut self, b: *mut Block) {
        // SAFETY: by the contract.
        unsafe {
            let c = &mut self.cells.raw.classes[(*b).class as usize];
            if (*b).live == 0 {
                let i = (*b).listed;
                if i != UNLISTED {
                    c.partial.swap_remove(i as usize);
                    if let Some(&moved) = c.partial.get(i as usize) {
                        (*moved).listed = i;
                    }
                }
                self.cells.blocks.release(b);
            } else {
                (*b).listed = c.partial.len() as u32;
                c.partial.push(b);
            }
        }
    }
    /// Changes the size of memory from [`Heap::alloc_raw`]; the contents up to the smaller size are kept.
    ///
    /// # Safety
    /// As for [`Heap::free_raw`]; `old` may be 0 with any pointer. `new` is not 0.
    pub unsafe fn realloc_raw(&mut self, p: *mut u8, old: usize, new: usize) -> *mut u8 {
        if old == 0 || self.cells.raw.fast_max != 0 {
            // SAFETY: by the contract.
            return unsafe { self.resize_raw(p, old, new) };
        }
        // This is one change for a watcher, however it is done. The running stack may be about to move, so the place is determined before.
        let place = self.place();
        self.cells.raw.fast_max = RAW_MAX;
        // SAFETY: by the contract.
        let q = unsafe { self.resize_raw(p, old, new) };
        self.cells.raw.fast_max = 0;
        let change = Change::Realloc { from: p as usize, old: real_size(old), to: q as usize, new: real_size(new) };
        self.notify_watcher(place, change);
        q
    }
    /// # Safety
    /// As for [`Heap::realloc_raw`].
    unsafe fn resize_raw(&mut self, p: *mut u8, old: usize, new: usize) -> *mut u8 {
        if old > RAW_MAX && new > RAW_MAX {
            // SAFETY: by the contract.
            let q = unsafe { self.resize_large(p, old, new) };
            if !q.is_null() {
                self.gave_back(old);
                self.total += new;
                self.system_gave(new, !self.cells.blocks.host.is_used());
                return q;
            }
        }
        let q = self.alloc_raw(new);
        if old != 0 {
            // SAFETY: two different allocations of at least this many bytes; the old one is the caller's to give up.
            unsafe {
                q.copy_from_nonoverlapping(p, old.min(new));
                self.free_raw(p, old);
            }
        }
        q
    }
    /// Changes the size of memory too large for a cell. Null, and nothing has changed, if it has to be copied by way of another piece.
    ///
    /// # Safety
    /// As for [`Heap::realloc_raw`].
    unsafe fn resize_large(&mut self, p: *mut u8, old: usize, new: usize) -> *mut u8 {
        let host = &mut self.cells.blocks.host;
        if host.is_used() {
            // SAFETY: allocated with this layout, if it is the host's.
            return unsafe { host.resize(p, layout_apart(old), spaced(new)) };
        }
        let staggered = old >= STAGGERED;
        if staggered != (new >= STAGGERED) {
            return core::ptr::null_mut();
        }
        let poll = Poll::At(&self.interrupt);
        // SAFETY: allocated with this size, and accordingly; the new size fits a layout (checked by `layout_apart`).
        let q = or_from_reserve(|| unsafe {
            if staggered { stagger::resize(p, old, new, poll) } else { realloc(p, layout_apart(old), layout_apart(new).size()) }
        });
        if q.is_null() {
            handle_alloc_error(layout_apart(new));
        }
        q
    }
}
