//! Memory from an allocator of the host, where it has given one: blocks of cells, large objects and large raw memory come from it.
//!
//! Allocation never fails here, but an allocator may refuse memory. Then the system gives it instead, and the heap is full ([`super::limit`]):
//! the next safepoint collects, and fails with "not enough memory" if that does not free enough. Large pieces must be freed, or the allocator
//! must have room for them by then. Blocks cannot be freed as long as one object in them lives: what was in use when the allocator refused
//! one becomes the limit of the heap, until the allocator gives blocks again.
#![allow(unsafe_code, reason = "memory is given back to the allocator that it came from, with its size")]

use std::alloc::Layout;
use std::collections::HashMap;
use std::ffi::c_void;

/// `lua_Alloc`: gets its data, memory or null, the size of that, and the size that is wanted, or 0 to free it.
pub type Alloc = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void;

/// What an allocator aligns to at least: LuaJIT's own objects need no more.
const ALIGNED: usize = 8;

/// An allocator of the host.
#[derive(Copy, Clone, Debug)]
pub struct HostAllocator {
    /// The function.
    pub function: Alloc,
    /// Its first argument.
    pub data: *mut c_void,
}

impl HostAllocator {
    /// # Safety
    /// `old` is null with size 0, or memory from this allocator with this size. It is not used any more if the new size is 0.
    unsafe fn call(self, old: *mut u8, size: usize, new: usize) -> *mut u8 {
        let _errno = crate::errno::keep();
        // SAFETY: the host has promised that the function may be called so (`Vm::set_allocator`), and the caller promises the rest.
        unsafe { (self.function)(self.data, old.cast(), size, new).cast() }
    }
}

/// What the allocator gave for a piece of memory, which is aligned in it.
#[derive(Debug)]
struct Piece {
    base: *mut u8,
    size: usize,
}

/// The allocator of a heap, and what came from it.
#[derive(Debug, Default)]
pub(super) struct HostMemory {
    /// The allocator, if there is one.
    pub allocator: Option<HostAllocator>,
    /// What is in use, by its address.
    pieces: HashMap<usize, Piece>,
    /// Large pieces that the system has given after the allocator had refused them: their sizes by their addresses.
    lent: HashMap<usize, usize>,
    /// Has a large piece been lent since the last call of [`HostMemory::settle`]?
    is_over: bool,
    /// Was a segment of blocks refused since the last call of [`HostMemory::take_refusal`]?
    refused_blocks: bool,
}

impl HostMemory {
    /// A large piece of memory, below `end` if the allocator gives it.
    #[inline]
    pub fn take_large(&mut self, layout: Layout, end: u64, system: impl FnMut() -> *mut u8) -> *mut u8 {
        let (p, refused) = self.take(layout, end, system);
        if refused && !p.is_null() {
            self.lent.insert(p.addr(), layout.size());
            self.is_over = true;
        }
        p
    }
    /// A segment of blocks, below `end` if the allocator gives it.
    #[inline]
    pub fn take_segment(&mut self, layout: Layout, end: u64, system: impl FnMut() -> *mut u8) -> *mut u8 {
        let (p, refused) = self.take(layout, end, system);
        self.refused_blocks |= refused;
        p
    }
    /// Memory from the allocator, or from the system if there is no allocator, or it refuses. Has it refused?
    #[inline]
    fn take(&mut self, layout: Layout, end: u64, system: impl FnMut() -> *mut u8) -> (*mut u8, bool) {
        let (p, refused) = match self.allocator {
            Some(allocator) => self.ask(allocator, layout, end),
            None => (core::ptr::null_mut(), false),
        };
        if p.is_null() { (super::reserve::or_from_reserve(system), refused) } else { (p, false) }
    }
    #[cold]
    #[inline(never)]
    fn ask(&mut self, allocator: HostAllocator, layout: Layout, end: u64) -> (*mut u8, bool) {
        let size = layout.size().saturating_add(layout.align() - ALIGNED);
        // SAFETY: new memory.
        let base = unsafe { allocator.call(core::ptr::null_mut(), 0, size) };
        if base.is_null() {
            return (base, true);
        }
        let address = base.expose_provenance().next_multiple_of(layout.align());
        if (address + layout.size()) as u64 > end {
            // SAFETY: from the allocator just now.
            unsafe { allocator.call(base, size, 0) };
            return (core::ptr::null_mut(), false);
        }
        self.pieces.insert(address, Piece { base, size });
        (base.with_addr(address), false)
    }
    /// Changes the size of a piece that came from the allocator; the contents up to the smaller size are kept. Null, and nothing has changed, if
    /// it came from the system, or the allocator refuses.
    ///
    /// # Safety
    /// The piece is in use with this layout, and is not used at its old address any more if the result is not null.
    pub unsafe fn resize(&mut self, p: *mut u8, old: Layout, new: usize) -> *mut u8 {
        let (Some(allocator), Some(piece)) = (self.allocator, self.pieces.get(&p.addr())) else { return core::ptr::null_mut() };
        let size = new.saturating_add(old.align() - ALIGNED);
        let before = p.addr() - piece.base.addr();
        // SAFETY: it came from the allocator, or from the one before it (see `give`).
        let base = unsafe { allocator.call(piece.base, piece.size, size) };
        if base.is_null() {
            return base;
        }
        let q = base.map_addr(|address| address.next_multiple_of(old.align()));
        if q.addr() - base.addr() != before {
            // SAFETY: the contents are within both sizes, before and after they are moved.
            unsafe { q.copy_from(base.add(before), old.size().min(new)) };
        }
        self.pieces.remove(&p.addr());
        self.pieces.insert(q.expose_provenance(), Piece { base, size });
        q
    }
    /// Gives memory back to the allocator. False if it did not come from there, but from the system.
    ///
    /// # Safety
    /// The memory is not used any more.
    pub unsafe fn give(&mut self, p: *mut u8) -> bool {
        if !self.lent.is_empty() {
            self.lent.remove(&p.addr());
        }
        if self.pieces.is_empty() {
            return false;
        }
        let Some(piece) = self.pieces.remove(&p.addr()) else { return false };
        if let Some(allocator) = self.allocator {
            // SAFETY: it came from the allocator, or from the one before it, whose memory this one takes (`Vm::set_allocator`).
            unsafe { allocator.call(piece.base, piece.size, 0) };
        }
        true
    }
    /// Does, or did, memory come from an allocator?
    pub fn is_used(&self) -> bool {
        self.allocator.is_some() || !self.pieces.is_empty()
    }
    /// Would the allocator give so many bytes? True if there is none.
    pub fn would_give(&self, bytes: usize) -> bool {
        let Some(allocator) = self.allocator else { return true };
        // SAFETY: new memory, which is given back at once.
        unsafe {
            let p = allocator.call(core::ptr::null_mut(), 0, bytes);
            if !p.is_null() {
                allocator.call(p, bytes, 0);
            }
            !p.is_null()
        }
    }
    /// Does the heap have large pieces that the allocator has refused?
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_over
    }
    /// What could be freed has been freed: are large pieces left that the allocator has no room for? If it has by now, they may stay.
    pub fn settle(&mut self) -> bool {
        let has_room = self.lent.is_empty() || self.would_give(self.lent.values().sum());
        if has_room {
            self.forgive();
        }
        self.is_over = !has_room;
        has_room
    }
    /// Large pieces that the allocator has refused may stay.
    pub fn forgive(&mut self) {
        self.lent.clear();
        self.is_over = false;
    }
    /// Was a segment of blocks refused since the last call?
    pub fn take_refusal(&mut self) -> bool {
        core::mem::take(&mut self.refused_blocks)
    }
}
