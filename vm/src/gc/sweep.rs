//! Sweeping: dead objects of a block are put on its free list, living ones become white again.
//!
//! When a sweep begins, all free lists are dropped, and each block's list is built anew when the block is swept. A block is swept when the
//! allocator needs a cell of its class, or in a collection step, whichever comes first. A block found empty in a step can be used by any
//! class again.
#![allow(unsafe_code, reason = "the blocks of a class are owned by it; a cell is freed once, when no live object refers to it")]

use super::block::{Block, FreeCell};
use super::color::{COLORS, FIXED};
use super::heap::LargeObj;
use super::os::free_low;
use super::poison;
use super::size::{NUM_CLASSES, large_layout};
use super::watcher::Change;
use super::{Heap, Phase, pages};
use crate::interrupt::Poll;
use crate::object::{Gc, GcHeader, Kind, Proto, Table, Thread, Udata};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The work of sweeping a block, in bytes of marking.
const BLOCK_COST: usize = 16 << 10;
/// Large objects swept at a time.
const LARGE_BATCH: usize = 32;

/// Whitens an object if it is alive. The colours are those of living objects from now on, and of dead ones.
#[inline(always)]
fn survives(h: &GcHeader, (white, dead): (u8, u8)) -> bool {
    let marked = h.marked.get();
    if marked & (dead | FIXED) == dead {
        return false;
    }
    h.marked.set(marked & !COLORS | white);
    true
}

impl Heap {
    /// Starts a sweep over the whole heap.
    pub(super) fn begin_sweep(&mut self) {
        self.cycle.phase = Phase::Sweep;
        self.strings.in_buffer = None;
        self.free = [core::ptr::null_mut(); NUM_CLASSES];
        self.drop_hidden();
        for c in &mut self.cells.classes {
            c.swept = 0;
            c.ready.clear();
        }
        self.cycle.sweep_class = 0;
        self.cycle.sweep_large = self.cells.large.len();
    }
    /// Sweeps one block or some large objects. `None` when the sweep is complete, else a measure of the work.
    pub(super) fn sweep_step(&mut self) -> Option<usize> {
        let before = self.total;
        let work = self.sweep_some();
        self.pacing.estimate = self.pacing.estimate.saturating_sub(before - self.total);
        work
    }
    fn sweep_some(&mut self) -> Option<usize> {
        while self.cycle.sweep_class < NUM_CLASSES {
            let class = self.cycle.sweep_class;
            let c = &self.cells.classes[class];
            if let Some(&b) = c.blocks.get(c.swept) {
                // SAFETY: a block of the class that is not swept yet.
                unsafe { self.sweep_and_file(class, b) };
                return Some(BLOCK_COST);
            }
            self.cycle.sweep_class += 1;
        }
        if self.cycle.sweep_large == 0 || self.cycle.sweep_large == usize::MAX {
            self.cycle.sweep_large = usize::MAX;
            return None;
        }
        let n = self.cycle.sweep_large.min(LARGE_BATCH);
        for _ in 0..n {
            self.cycle.sweep_large -= 1;
            let l = self.cells.large[self.cycle.sweep_large];
            // SAFETY: the list holds objects that are not freed yet.
            if unsafe { survives(&*l.ptr, (self.white(), self.other_white())) } {
                continue;
            }
            // The object that moves here from the end was swept or is new.
            self.cells.large.swap_remove(self.cycle.sweep_large);
            // SAFETY: the object is dead.
            unsafe { self.free_large(l) };
        }
        Some(n * 128)
    }
    /// Sweeps the next block and keeps its free cells in the block; frees the block if it is empty.
    ///
    /// # Safety
    /// `b` is the first block of the class that is not swept.
    unsafe fn sweep_and_file(&mut self, class: usize, b: *mut Block) {
        // SAFETY: by the contract.
        let live = unsafe { self.sweep_block(b) };
        let c = &mut self.cells.classes[class];
        if live == 0 {
            // The last block, which is not swept either, moves here.
            c.blocks.swap_remove(c.swept);
            if c.carving == b {
                c.carving = core::ptr::null_mut();
            }
            // SAFETY: a block of the class without live cells, just taken off its list.
            unsafe { self.cells.blocks.release(b) };
            return;
        }
        c.swept += 1;
        // SAFETY: as above.
        if unsafe { !(*b).free.is_null() } {
            c.ready.push(b);
        }
    }
    /// Sweeps the next block of a class and takes all its free cells.
    pub(super) fn sweep_for_cells(&mut self, class: usize) -> *mut FreeCell {
        let c = &mut self.cells.classes[class];
        let b = c.blocks[c.swept];
        c.swept += 1;
        let before = self.total;
        // SAFETY: a block of the class that was not swept yet.
        let list = unsafe {
            self.sweep_block(b);
            core::mem::replace(&mut (*b).free, core::ptr::null_mut())
        };
        self.pacing.estimate = self.pacing.estimate.saturating_sub(before - self.total);
        list
    }
    /// Frees the dead objects of a block, whitens the living, and builds the block's free list anew, in address order. Returns the number
    /// of living objects.
    ///
    /// # Safety
    /// `b` is an object block that has not been swept in this cycle: none of its cells is on a list in use.
    unsafe fn sweep_block(&mut self, b: *mut Block) -> u32 {
        let (mut live, mut died) = (0, 0);
        let mut strings = false;
        let watched = self.must_report();
        let colors = (self.white(), self.other_white());
        self.internal += 1;
        // SAFETY: by the contract.
        let size = unsafe { (*b).cell as usize };
        // SAFETY: carved cells, which lie in a row, have a header, of kind Free where there is no object; the dead are not referred to.
        unsafe {
            let mut tail = &raw mut (*b).free;
            let mut next = Block::cell(b, 0);
            for _ in 0..(*b).carved {
                let cell = next;
                next = cell.add(size);
                let h = cell.cast::<GcHeader>();
                if Block::is_free(cell) {
                    poison::allow(cell, size_of::<FreeCell>());
                } else {
                    let kind = (*h).kind.get();
                    strings |= kind == Kind::Str as u8;
                    if survives(&*h, colors) {
                        live += 1;
                        continue;
                    }
                    // Most dead objects own nothing.
                    if kind == Kind::Table as u8 && !(*h.cast::<Table>()).owns_parts() {
                        self.counts.tables -= 1;
                    } else if kind == Kind::Cdata as u8 {
                        self.counts.cdatas -= 1;
                    } else if kind != Kind::Func as u8 && kind != Kind::UpVal as u8 {
                        self.destroy(h, true);
                    }
                    if watched {
                        self.report(Change::Free { at: cell as usize, size });
                    }
                    if cfg!(debug_assertions) {
                        cell.write_bytes(poison::FREED, size);
                    }
                    died += 1;
                }
                let free = cell.cast::<FreeCell>();
                (&raw mut (*free).header).write(0);
                *tail = free;
                tail = &raw mut (*free).next;
            }
            *tail = core::ptr::null_mut();
            if poison::ON {
                let mut free = (*b).free;
                while !free.is_null() {
                    let next = (*free).next;
                    poison::forbid(free.cast(), size);
                    free = next;
                }
            }
        }
        self.internal -= 1;
        self.counts.swept_strings += u64::from(strings);
        self.gave_back(died * size);
        live
    }
    /// Frees the memory that a dead object owns.
    ///
    /// # Safety
    /// `h` is an object to which there are no references; its cell is freed next.
    unsafe fn destroy(&mut self, h: *mut GcHeader, unlink: bool) {
        // SAFETY: the kind says what the object is; what it owns came from this heap.
        unsafe {
            match (*h).kind() {
                Kind::Str => {
                    if unlink {
                        self.strings.remove(&*h.cast());
                    }
                }
                Kind::Table => {
                    self.counts.tables -= 1;
                    (*h.cast::<Table>()).free_parts(self);
                }
                Kind::Thread => {
                    let t = h.cast::<Thread>();
                    self.free_raw((*t).stack.get().cast(), (*t).size.get() as usize * 8);
                }
                Kind::Proto => {
                    let p = h.cast::<Proto>();
                    let size = (*p).owned_bytes();
                    self.report(Change::Free { at: (*p).code_ptr() as usize, size });
                    self.gave_back(size);
                    p.drop_in_place();
                }
                Kind::Udata => {
                    let u = h.cast::<Udata>();
                    self.counts.udatas -= 1;
                    self.external_changed(&(*u).external, 0);
                    let block = (*u).block.get();
                    if !block.is_null() {
                        self.free_raw(block, Udata::block_bytes((*u).block_size()));
                    }
                    if (*u).is_of_host() {
                        // Its `Drop` may run any code, which must not run in the middle of a sweep.
                        self.finalizers.payloads.extend((*u).data.get_mut().take());
                    }
                    u.drop_in_place();
                }
                Kind::Cdata => self.counts.cdatas -= 1,
                Kind::UpVal | Kind::Func | Kind::Free => {}
            }
        }
    }
    /// # Safety
    /// `l` is a dead object that was taken off the list.
    unsafe fn free_large(&mut self, l: LargeObj) {
        self.internal += 1;
        // SAFETY: by the contract; allocated with this layout.
        unsafe {
            self.counts.swept_strings += u64::from((*l.ptr).kind.get() == Kind::Str as u8);
            self.destroy(l.ptr, true);
            self.report(Change::Free { at: l.ptr as usize, size: l.size });
            free_low(l.ptr.cast(), large_layout(l.size), &mut self.cells.blocks.host, Poll::At(&self.interrupt));
        }
        self.internal -= 1;
        self.gave_back(l.size);
    }
    /// Frees the object that was allocated last, which is large.
    ///
    /// # Safety
    /// Nothing refers to it, and it owns no memory of its own.
    #[cold]
    pub(crate) unsafe fn give_up_large(&mut self, o: Gc<GcHeader>) {
        let l = self.cells.large.pop();
        debug_assert!(l.is_some_and(|l| l.ptr == o.as_ptr()));
        o.kind.set(Kind::Free as u8);
        if let Some(l) = l {
            // SAFETY: by the contract.
            unsafe { self.free_large(l) }
        }
    }
    /// Completes the sweep in progress.
    pub(super) fn sweep_all(&mut self) {
        while self.sweep_step().is_some() {}
    }
    /// Removes prototypes that are about to be freed from the list, and calls `f` for each.
    pub(super) fn remove_dead_protos(&mut self, mut f: impl FnMut(Gc<Proto>)) {
        self.lists.protos.retain(|p| {
            let alive = !p.hdr.is_white();
            if !alive {
                f(*p);
            }
            alive
        });
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        self.end_watch();
        let large = core::mem::take(&mut self.cells.large);
        let blocks: Vec<*mut Block> = self.cells.classes.iter().flat_map(|c| c.blocks.iter().copied()).collect();
        // SAFETY: the heap goes away with all objects; each is destroyed once, and blocks outlive what they hold. The empty node
        // and the link came from boxes.
        unsafe {
            drop(Box::from_raw(self.empty_node));
            drop(Box::from_raw(self.link.cast_mut()));
            for l in large {
                self.destroy(l.ptr, false);
                free_low(l.ptr.cast(), large_layout(l.size), &mut self.cells.blocks.host, Poll::Never);
            }
            for b in blocks {
                for i in 0..(*b).carved {
                    let cell = Block::cell(b, i);
                    if !Block::is_free(cell) {
                        self.destroy(cell.cast(), false);
                    }
                }
            }
        }
        pages::give_rest(Poll::Never);
        // A panic has been reported by its hook. It must not keep the others from being dropped, nor meet a second one.
        for payload in core::mem::take(&mut self.finalizers.payloads) {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        }
    }
}
