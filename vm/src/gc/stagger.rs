//! Large raw memory at staggered page offsets: Bonwick's cache colouring (*The Slab Allocator*, 1994), for arrays.
//!
//! The system's allocator places arrays of one size, most of all powers of two, at the same offset in a page or 16 bytes from it. Then
//! elements of one index are in the same set of the cache, more of them than it has ways, and a load waits for a store to another array
//! whose address differs in higher bits only. A program that runs along several arrays took up to 1.4 times as long, depending on where the
//! heap began.
#![allow(unsafe_code, reason = "in front of staggered memory lies the address that the system gave")]

use super::pages;
use crate::interrupt::Poll;
use std::alloc::Layout;

/// Memory of at least this size is staggered; that costs at most an eighth of it.
pub(super) const STAGGERED: usize = 32 << 10;
/// The bits of an address below this decide the set of the cache, and whether a load takes two addresses for the same.
const PAGE: usize = 4096;
/// The offset from one allocation to the next: an odd number of cache lines, so that all lines of a page are used, and near the golden
/// section of a page, so that few allocations are far apart.
const STRIDE: usize = 39 * 64;
/// Bytes in front of the memory that hold the address of the system's allocation.
const HEADER: usize = 16;

/// The offset in a page of the next allocation.
#[derive(Debug, Default)]
pub(super) struct Stagger(usize);

fn layout(size: usize) -> Layout {
    super::size::large_layout(size.saturating_add(HEADER + PAGE))
}
/// The first address at or after `base`, with room for the header, that has this offset in a page.
fn place(base: *mut u8, offset: usize) -> *mut u8 {
    let first = base.wrapping_add(HEADER);
    first.wrapping_add(offset.wrapping_sub(first.addr()) % PAGE)
}

impl Stagger {
    /// Memory of `size` bytes, at least [`STAGGERED`], or null.
    pub fn alloc(&mut self, size: usize) -> *mut u8 {
        let base = pages::take(layout(size));
        if base.is_null() {
            return base;
        }
        self.0 = (self.0 + STRIDE) % PAGE;
        let p = place(base, self.0);
        // SAFETY: the layout has room for the header in front of `p`, wherever in a page that is.
        unsafe { header(p).write(base) };
        p
    }
}

fn header(p: *mut u8) -> *mut *mut u8 {
    debug_assert!(p.addr().is_multiple_of(HEADER));
    p.wrapping_sub(HEADER).cast()
}

/// Frees memory from [`Stagger::alloc`].
///
/// # Safety
/// `p` came from there, or from [`resize`], with this size, and is not used any more.
pub(super) unsafe fn free(p: *mut u8, size: usize, poll: Poll<'_>) {
    // SAFETY: by the contract; the header is as it was written.
    unsafe { pages::give(header(p).read(), layout(size), poll) }
}

/// Changes the size of memory from [`Stagger::alloc`], both at least [`STAGGERED`]. Returns null, and changes nothing, if there is no
/// memory.
///
/// # Safety
/// As for [`free`].
pub(super) unsafe fn resize(p: *mut u8, old: usize, new: usize, poll: Poll<'_>) -> *mut u8 {
    // SAFETY: by the contract. The contents are within both sizes, before and after they are moved.
    unsafe {
        let base = header(p).read();
        let before = p.addr() - base.addr();
        let base = pages::resize(base, layout(old), layout(new).size(), poll);
        if base.is_null() {
            return base;
        }
        let q = place(base, p.addr() % PAGE);
        let from = base.add(before);
        if q != from {
            q.copy_from(from, old.min(new));
        }
        header(q).write(base);
        q
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE, STAGGERED, STRIDE};
    use crate::gc::Heap;
    use std::collections::HashSet;

    #[test]
    fn arrays_of_one_size_begin_in_different_lines() {
        let mut heap = Heap::new();
        let all: Vec<*mut u8> = (0..64).map(|_| heap.alloc_raw(STAGGERED)).collect();
        let lines: HashSet<usize> = all.iter().map(|p| p.addr() % PAGE / 64).collect();
        assert_eq!(lines.len(), 64);
        assert!(all.windows(2).all(|w| w[1].addr().wrapping_sub(w[0].addr()) % PAGE == STRIDE));
        for p in all {
            // SAFETY: allocated above with this size.
            unsafe { heap.free_raw(p, STAGGERED) };
        }
    }
    #[test]
    fn contents_survive_every_change_of_size_and_the_offset_where_both_are_large() {
        let mut heap = Heap::new();
        let mut size = STAGGERED;
        let mut p = heap.alloc_raw(size);
        let mut between = Vec::new();
        let halves: &[usize] = if cfg!(miri) { &[6, 2, 4, 1, 2] } else { &[6, 2, 80, 4, 1, 14, 1, 200, 2] };
        for &half in halves {
            let (at, new) = (p.addr() % PAGE, STAGGERED * half / 2 + 24 * half);
            // SAFETY: `p` has this size throughout.
            unsafe {
                for i in 0..size {
                    p.add(i).write((i * 31 / 8) as u8);
                }
                between.push(heap.alloc_raw(STAGGERED));
                p = heap.realloc_raw(p, size, new);
                assert!(p.addr() % PAGE == at || size.min(new) < STAGGERED);
                assert!((0..size.min(new)).all(|i| p.add(i).read() == (i * 31 / 8) as u8));
            }
            size = new;
        }
        // SAFETY: as above.
        unsafe {
            heap.free_raw(p, size);
            between.into_iter().for_each(|p| heap.free_raw(p, STAGGERED));
        }
        assert_eq!(heap.total, Heap::new().total);
    }
}
