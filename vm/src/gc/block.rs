//! Blocks: 64 KB of cells of one size, aligned to their size so that a cell's address gives its block. They are cut from segments of memory
//! from the system allocator, and move between the size classes as they become empty.
#![allow(unsafe_code, reason = "a block is aligned to its size, and its cells lie between its header and its end")]

use super::allocator::{HostAllocator, HostMemory};
use super::os::{alloc_segment, free_low};
use super::poison;
use super::size::class_size;
use crate::interrupt::Poll;
use crate::object::{GcHeader, Kind};
use std::alloc::Layout;

/// Bytes of a block; also its alignment.
pub const BLOCK_SIZE: usize = 1 << 16;
/// Bytes before the first cell, at least.
const HEADER: usize = 64;
/// Bytes of a line of the cache.
const LINE: usize = 64;
/// Blocks per segment, at most.
const SEGMENT_BLOCKS: usize = if cfg!(miri) { 2 } else { 16 };
/// Blocks of the first segments from an allocator of the host, which may have a limit; as many as fill it with a quarter of what the heap has
/// from then on. A block more is needed in each, since such an allocator does not align.
const FEW_BLOCKS: usize = if cfg!(miri) { 1 } else { 3 };
/// Segments that are returned to the system at a time: the system takes some 50 us for a megabyte.
const TRIMMED: usize = 4;
/// About this many bytes of cells are put on a free list at a time, so that a new block does not touch all its pages at once.
const CARVE: usize = 4096;

/// A free cell: an object header of kind `Free` (all zero), then the link.
#[derive(Debug)]
#[repr(C)]
pub struct FreeCell {
    /// At the offset of an object's header; zero.
    pub header: u64,
    /// Next free cell of the list.
    pub next: *mut FreeCell,
}

impl FreeCell {
    /// Takes the first cell, of `size` bytes, off its list, and returns the rest of the list.
    ///
    /// # Safety
    /// `cell` is the first of a list of free cells of that size.
    #[inline(always)]
    pub(super) unsafe fn take(cell: *mut FreeCell, size: usize) -> *mut FreeCell {
        poison::allow(cell.cast(), size);
        // SAFETY: free cells carry the link.
        unsafe { (*cell).next }
    }
    /// Puts a cell of `size` bytes in front of a list.
    ///
    /// # Safety
    /// `cell` is a cell of that size to which there are no references.
    #[inline(always)]
    pub(super) unsafe fn put(cell: *mut FreeCell, next: *mut FreeCell, size: usize) {
        poison::allow(cell.cast(), size_of::<FreeCell>());
        // SAFETY: by the contract.
        unsafe { cell.write(FreeCell { header: 0, next }) };
        poison::forbid(cell.cast(), size);
    }
}

/// The head of a block.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Block {
    /// Free cells of this block that are not on the class's own list.
    pub free: *mut FreeCell,
    /// Bytes per cell.
    pub cell: u32,
    /// Size class.
    pub class: u32,
    /// Number of cells that fit.
    pub capacity: u32,
    /// Bytes from the start of the block to the first cell: they differ by cache lines from block to block, as far as the cells leave room
    /// (Bonwick, *The Slab Allocator*, 1994: cache colouring).
    first: u32,
    /// Number of cells, from the start, that were ever allocated or put on a free list.
    pub carved: u32,
    /// Raw pools: cells in use.
    pub live: u32,
    /// Raw pools: index in the class's list of blocks with free cells, or [`UNLISTED`].
    pub listed: u32,
    /// Index of the segment.
    segment: u32,
}

const _: () = assert!(size_of::<Block>() <= HEADER);

/// Not on a list.
pub(super) const UNLISTED: u32 = u32::MAX;

impl Block {
    /// The block of a cell.
    #[inline(always)]
    pub fn of(cell: *mut u8) -> *mut Block {
        cell.map_addr(|a| a & !(BLOCK_SIZE - 1)).cast()
    }
    /// Address of cell `i` of a block.
    ///
    /// # Safety
    /// `b` is a block and `i` less than its capacity.
    #[inline(always)]
    pub unsafe fn cell(b: *mut Block, i: u32) -> *mut u8 {
        // SAFETY: `capacity` cells fit after the header.
        unsafe { b.cast::<u8>().add((*b).first as usize + i as usize * (*b).cell as usize) }
    }
    /// Is there no object in a cell?
    ///
    /// # Safety
    /// `cell` is a carved cell of an object block.
    #[inline(always)]
    pub unsafe fn is_free(cell: *mut u8) -> bool {
        // SAFETY: carved cells have a header, of kind Free where there is no object.
        poison::is_forbidden(cell) || unsafe { (*cell.cast::<GcHeader>()).kind.get() == Kind::Free as u8 }
    }
    /// Puts the next unused cells on the list `head`, lowest address first.
    ///
    /// # Safety
    /// `b` is a block that the caller owns.
    pub unsafe fn carve(b: *mut Block, mut head: *mut FreeCell) -> *mut FreeCell {
        // SAFETY: cells `carved .. capacity` are inside the block and nobody refers to them.
        unsafe {
            let n = ((CARVE as u32).div_ceil((*b).cell)).min((*b).capacity - (*b).carved);
            let start = (*b).carved;
            for i in (start..start + n).rev() {
                let c = Block::cell(b, i).cast::<FreeCell>();
                FreeCell::put(c, head, (*b).cell as usize);
                head = c;
            }
            (*b).carved = start + n;
        }
        head
    }
}

#[derive(Debug)]
struct Segment {
    /// First block, or null for an unused entry.
    base: *mut u8,
    /// Number of blocks.
    blocks: usize,
    /// Blocks in use.
    used: usize,
    /// The others, a list by their `free`.
    free: *mut Block,
    /// Is it in [`Blocks::with_free`]?
    listed: bool,
}

/// The source of blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    segments: Vec<Segment>,
    /// The segments that may have free blocks.
    with_free: Vec<usize>,
    /// Number of free blocks.
    spare: usize,
    /// Was a segment added since the last call of [`Blocks::take_added`]?
    added: bool,
    /// Where segments, and all other memory of the heap, come from if the host says so.
    pub host: HostMemory,
}

impl Blocks {
    fn layout(blocks: usize) -> Layout {
        match Layout::from_size_align(blocks * BLOCK_SIZE, BLOCK_SIZE) {
            Ok(l) => l,
            Err(_) => unreachable!("segments are small"),
        }
    }
    /// All blocks.
    fn total(&self) -> usize {
        self.segments.iter().filter(|s| !s.base.is_null()).map(|s| s.blocks).sum()
    }
    /// Blocks of the next segment.
    fn next_segment(&self) -> usize {
        if self.host.allocator.is_none() { SEGMENT_BLOCKS } else { (self.total() / 4).clamp(FEW_BLOCKS, SEGMENT_BLOCKS) }
    }
    /// Would the host's allocator give another segment?
    pub fn would_give_segment(&self) -> bool {
        self.host.would_give(Self::layout(self.next_segment() + 1).size())
    }
    /// No blocks yet, and where they will come from.
    pub fn with_allocator(allocator: Option<HostAllocator>) -> Blocks {
        let mut blocks = Blocks::default();
        blocks.host.allocator = allocator;
        blocks
    }
    /// A block for a size class, with no cell carved.
    pub fn take(&mut self, class: usize) -> *mut Block {
        let (b, segment) = loop {
            let Some(&i) = self.with_free.last() else {
                self.add_segment();
                continue;
            };
            let s = &mut self.segments[i];
            if s.free.is_null() {
                s.listed = false;
                self.with_free.pop();
                continue;
            }
            let b = s.free;
            // SAFETY: free blocks are owned by their segment, and carry the link.
            s.free = unsafe { (&raw const (*b).free).read().cast() };
            s.used += 1;
            break (b, i as u32);
        };
        self.spare -= 1;
        let cell = class_size(class) as u32;
        let capacity = (BLOCK_SIZE - HEADER) as u32 / cell;
        let colours = ((BLOCK_SIZE - HEADER) as u32 - capacity * cell) as usize / LINE + 1;
        let first = HEADER + b.addr() / BLOCK_SIZE % colours * LINE;
        // SAFETY: the block was free.
        unsafe {
            b.write(Block {
                free: core::ptr::null_mut(),
                cell,
                class: class as u32,
                capacity,
                first: first as u32,
                carved: 0,
                live: 0,
                listed: UNLISTED,
                segment,
            });
            poison::forbid(b.cast::<u8>().add(HEADER), BLOCK_SIZE - HEADER);
        }
        b
    }
    /// Number of segments.
    #[cfg(test)]
    pub fn segments(&self) -> usize {
        self.segments.iter().filter(|s| !s.base.is_null()).count()
    }
    /// Was a segment added since the last call?
    pub fn take_added(&mut self) -> bool {
        core::mem::take(&mut self.added)
    }
    /// Frees a block.
    ///
    /// # Safety
    /// The caller owned the block, and none of its cells is in use or on a list.
    pub unsafe fn release(&mut self, b: *mut Block) {
        // SAFETY: an owned block has a valid head.
        let i = unsafe { (*b).segment } as usize;
        self.segments[i].used -= 1;
        // SAFETY: by the contract, it is a block of that segment which nobody uses.
        unsafe { self.put(i, b) };
    }
    /// Puts a free block on the list of its segment.
    ///
    /// # Safety
    /// `b` is a block of segment `i`, and nobody uses it.
    unsafe fn put(&mut self, i: usize, b: *mut Block) {
        let s = &mut self.segments[i];
        // SAFETY: by the contract.
        unsafe { (&raw mut (*b).free).write(s.free.cast()) };
        s.free = b;
        self.spare += 1;
        if !core::mem::replace(&mut s.listed, true) {
            self.with_free.push(i);
        }
    }
    #[cold]
    fn add_segment(&mut self) {
        let blocks = self.next_segment();
        let base = alloc_segment(Self::layout(blocks), &mut self.host);
        self.added = true;
        let i = self.segments.iter().position(|s| s.base.is_null()).unwrap_or(self.segments.len());
        let s = Segment { base, blocks, used: 0, free: core::ptr::null_mut(), listed: false };
        match self.segments.get_mut(i) {
            // It may be on the list from before.
            Some(entry) => *entry = Segment { listed: entry.listed, ..s },
            None => self.segments.push(s),
        }
        for n in (0..blocks).rev() {
            // SAFETY: inside the new segment, of which nobody knows yet.
            unsafe { self.put(i, base.add(n * BLOCK_SIZE).cast()) };
        }
    }
    /// Returns segments without used blocks to the system, but keeps some blocks in reserve. False if there may be more, as a few are returned at
    /// a time.
    pub fn trim(&mut self) -> bool {
        let keep = (self.total() - self.spare) / 4 + self.next_segment();
        let mut few = TRIMMED;
        for s in &mut self.segments {
            if s.base.is_null() || s.used != 0 {
                continue;
            }
            if self.spare < keep + s.blocks {
                break;
            }
            if few == 0 {
                return false;
            }
            few -= 1;
            self.spare -= s.blocks;
            // SAFETY: allocated in `add_segment` with this layout, and none of its blocks is known to anyone but this list.
            unsafe { free_low(s.base, Self::layout(s.blocks), &mut self.host, Poll::Never) }
            s.base = core::ptr::null_mut();
            s.free = core::ptr::null_mut();
        }
        true
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for s in &self.segments {
            if !s.base.is_null() {
                // SAFETY: allocated in `add_segment` with this layout; the owner of the cells is being dropped.
                unsafe { free_low(s.base, Self::layout(s.blocks), &mut self.host, Poll::Never) }
            }
        }
    }
}
