//! The allocation of cells for objects.
#![allow(unsafe_code, reason = "free lists hold free cells of their class")]

use super::Heap;
use super::block::{Block, FreeCell};
use super::heap::LargeObj;
use super::size::{CELL_MAX, class_of, class_size, large_layout};
use super::watcher::Change;

impl Heap {
    /// An uninitialised cell for an object of `size` bytes (not 0), aligned to 16. The caller initialises it, header included,
    /// before anything else happens to the heap.
    #[inline(always)]
    pub(crate) fn alloc_cell(&mut self, size: usize) -> *mut u8 {
        if size > CELL_MAX {
            return self.alloc_large(size);
        }
        let class = class_of(size);
        let cell = self.free[class];
        self.total += class_size(class);
        if cell.is_null() {
            return self.refill(class).cast();
        }
        // SAFETY: cells on the free list are free and carry the link.
        self.free[class] = unsafe { FreeCell::take(cell, class_size(class)) };
        cell.cast()
    }
    /// Refills the free list of a class and takes a cell from it: from swept blocks, then by sweeping further blocks, then from
    /// cells never used.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, class: usize) -> *mut FreeCell {
        // While the heap is watched, the lists that the fast path looks at are empty.
        let mut list = self.take_hidden(class);
        if !list.is_null() {
            // SAFETY: the free cells of the class that were hidden.
            return unsafe { self.hand_out(class, list) };
        }
        if let Some(b) = self.cells.classes[class].ready.pop() {
            // SAFETY: blocks of the class are owned by it.
            list = unsafe { core::mem::replace(&mut (*b).free, core::ptr::null_mut()) };
        }
        while list.is_null() && self.cells.classes[class].swept < self.cells.classes[class].blocks.len() {
            list = self.sweep_for_cells(class);
        }
        if list.is_null() {
            let c = &mut self.cells.classes[class];
            // SAFETY: as above; all blocks of the class are swept here, so cells carved now are not swept again this cycle.
            unsafe {
                if c.carving.is_null() || (*c.carving).carved == (*c.carving).capacity {
                    c.carving = self.cells.blocks.take(class);
                    c.blocks.push(c.carving);
                    c.swept += 1;
                }
                list = Block::carve(c.carving, list);
            }
            self.watch_blocks();
        }
        // SAFETY: swept or carved just now, of this class.
        unsafe { self.hand_out(class, list) }
    }
    /// Takes the first cell of a list, and keeps the rest as the free cells of the class.
    ///
    /// # Safety
    /// `list` is a list of free cells of the class, and not empty.
    #[inline]
    unsafe fn hand_out(&mut self, class: usize, list: *mut FreeCell) -> *mut FreeCell {
        // SAFETY: the contract of this function.
        let rest = unsafe { FreeCell::take(list, class_size(class)) };
        if self.must_report() {
            self.hide(class, rest);
            self.report(Change::Alloc { at: list as usize, size: class_size(class) });
        } else {
            self.free[class] = rest;
        }
        list
    }
    /// Reports blocks that may have been taken from the system.
    pub(super) fn watch_blocks(&mut self) {
        if self.cells.blocks.take_added() {
            self.system_gave(0, false);
        }
    }
    #[cold]
    #[inline(never)]
    fn alloc_large(&mut self, size: usize) -> *mut u8 {
        let p = super::os::alloc_low(large_layout(size), &mut self.cells.blocks.host);
        self.total += size;
        // New objects are added after those that the sweep, which goes down from the end, has still to visit.
        self.cells.large.push(LargeObj { ptr: p.cast(), size });
        self.keep_for_copy(size);
        self.report(Change::Alloc { at: p as usize, size });
        p
    }
}
