//! Large memory, mapped from the system: it goes back to the system as soon as it is freed.
//!
//! The system's allocator would map it, too, but only until some of it has been freed: the GNU C library takes that for a sign that such memory
//! is wanted again, and from then on keeps it in one piece with everything else, of which only the end goes back. A program that once had
//! gigabytes would keep most of them. Only a few pieces are kept here, for programs that make and free one after the other.
//!
//! Pieces too small to be mapped are kept in the same way. The system's allocator gives the end of its memory back whenever more than
//! 128 KB are free there. A program that makes strings of some 100 KB, one from the other, got new pages for nearly every string, and
//! took three times as long.
//!
//! That takes 0.04 to 0.08 ms for each megabyte, and is done in parts. When an interrupt waits between two of them, the rest goes back later:
//! with the next memory that is freed, with a collection, or at the end of the state.
#![allow(unsafe_code, reason = "memory is unmapped with the size that it was mapped with")]

use super::poison;
use crate::interrupt::Poll;
use crate::text::parts::REMAPPED;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of at least this size is mapped. In a program that has only smaller pieces, what the allocator keeps is little.
pub(super) const MAPPED: usize = 1 << 20;
/// Memory of at least this size, a quarter of what the system's allocator leaves free at its end, is kept when it is freed.
const LARGE: usize = 32 << 10;

/// Is it a piece that the system's allocator gives, and that is kept when it is freed? Blocks, which are aligned, are another matter.
fn is_piece(layout: Layout) -> bool {
    imp::MAPS && (LARGE..MAPPED).contains(&layout.size()) && layout.align() <= 16
}
/// What is asked of the system's allocator: pieces that may be kept have one of eight sizes between two powers of two, so that a piece
/// that is a little longer than the one before fits its place.
fn rounded(layout: Layout) -> Layout {
    if !is_piece(layout) {
        return layout;
    }
    let step = 1 << (layout.size().ilog2() - 3);
    piece_layout(layout.size().next_multiple_of(step))
}
/// The layout of a piece that may be kept.
fn piece_layout(size: usize) -> Layout {
    super::size::large_layout(size)
}

/// Uninitialised memory, or null if there is none. The size is not 0.
pub(super) fn take(layout: Layout) -> *mut u8 {
    if imp::MAPS && layout.size() >= MAPPED {
        let p = imp::map(layout);
        if !p.is_null() {
            poison::mapped(p, layout.size());
        }
        return p;
    }
    if is_piece(layout)
        && let Some(p) = imp::take_kept(rounded(layout).size())
    {
        poison::allow(p, rounded(layout).size());
        return p;
    }
    // SAFETY: the size is not 0.
    let take = || unsafe { alloc(rounded(layout)) };
    let p = take();
    if p.is_null() && imp::give_all() { take() } else { p }
}

/// Frees memory from [`take`].
///
/// # Safety
/// `p` came from [`take`] or [`resize`] with the same layout and is not used any more.
pub(super) unsafe fn give(p: *mut u8, layout: Layout, poll: Poll<'_>) {
    if imp::MAPS && layout.size() >= MAPPED {
        poison::unmapped(p, layout.size());
        // SAFETY: by the contract, it was mapped with this size.
        return unsafe { imp::unmap(p, layout.size(), poll) };
    }
    if is_piece(layout) {
        poison::forbid(p, rounded(layout).size());
        // SAFETY: by the contract; the system's allocator gave it with this layout.
        return unsafe { imp::keep_piece(p, rounded(layout).size(), poll) };
    }
    // SAFETY: by the contract.
    unsafe { dealloc(p, layout) }
}

/// Frees a mapping.
///
/// # Safety
/// It has this size, and is not used any more.
#[cfg(all(target_os = "linux", target_arch = "aarch64", not(miri)))]
pub(super) unsafe fn unmap(p: *mut u8, size: usize, poll: Poll<'_>) {
    // SAFETY: by the contract.
    unsafe { imp::unmap(p, size, poll) }
}

/// Changes the size of memory from [`take`], with the alignment of a page at most. Returns null, and changes nothing, if there is no memory.
///
/// # Safety
/// As for [`give`]; the new size is not 0.
pub(super) unsafe fn resize(p: *mut u8, old: Layout, new: usize, poll: Poll<'_>) -> *mut u8 {
    let was_mapped = imp::MAPS && old.size() >= MAPPED;
    let is_mapped = imp::MAPS && new >= MAPPED;
    // SAFETY: by the contract; both are the same kind of memory, or another one that both sizes fit.
    unsafe {
        match (was_mapped, is_mapped) {
            (false, false) => {
                let Ok(new) = Layout::from_size_align(new, old.align()) else { return core::ptr::null_mut() };
                realloc(p, rounded(old), rounded(new).size())
            }
            (true, true) if new <= old.size() => {
                // Before another thread may have the end.
                poison::unmapped(p, old.size());
                poison::mapped(p, new);
                imp::shrink(p, old.size(), new, poll);
                p
            }
            (true, true) if imp::RESIZES => {
                let q = imp::remap(p, old.size(), new);
                if !q.is_null() {
                    poison::unmapped(p, old.size());
                    poison::mapped(q, new);
                }
                q
            }
            _ => {
                let Ok(layout) = Layout::from_size_align(new, old.align()) else { return core::ptr::null_mut() };
                let q = take(layout);
                if !q.is_null() {
                    q.copy_from_nonoverlapping(p, old.size().min(new));
                    give(p, old, poll);
                }
                q
            }
        }
    }
}

/// Bytes that go back between two looks at an interrupt: in 2 to 3 ms.
const PART: usize = 32 << 20;

/// Long buffers that an interrupt has kept from being freed.
static BUFFERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn locked<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees a buffer.
pub(crate) fn free_buffer(mut buffer: Vec<u8>, poll: Poll<'_>) {
    buffer.clear();
    while buffer.capacity() >= REMAPPED {
        if poll.look().is_err() {
            return locked(&BUFFERS).push(buffer);
        }
        // The GNU C library gives the end of a long piece back in place; another allocator may move what is left.
        buffer.shrink_to(if cfg!(target_env = "gnu") { buffer.capacity() - PART } else { 0 });
    }
}

/// Gives back what interrupts have kept from going back to the system.
pub(super) fn give_rest(poll: Poll<'_>) {
    let buffers = core::mem::take(&mut *locked(&BUFFERS));
    buffers.into_iter().for_each(|buffer| free_buffer(buffer, poll));
    imp::give_rest(poll);
}

#[cfg(all(unix, not(miri)))]
mod imp {
    use super::{PART, Poll, locked, poison};
    use std::alloc::{Layout, dealloc};
    use std::sync::{Mutex, MutexGuard};

    pub const MAPS: bool = true;
    pub const RESIZES: bool = cfg!(target_os = "linux");
    /// A multiple of all sizes that pages have.
    const UNIT: usize = 1 << 16;

    /// The most bytes that are kept. A new page costs about as much as to copy it, so that reuse pays; but what is kept is missing elsewhere.
    const KEPT: usize = 8 << 20;
    /// What was freed, the last of it at the end: for memory of the same size.
    static FREED: Mutex<Vec<Freed>> = Mutex::new(Vec::new());

    /// Memory that nothing uses.
    struct Freed {
        address: usize,
        size: usize,
        /// Is it a mapping? Else it is from the system's allocator.
        is_mapped: bool,
    }
    impl Freed {
        fn pointer(&self) -> *mut u8 {
            core::ptr::with_exposed_provenance_mut(self.address)
        }
        fn give_back(self) {
            if self.is_mapped {
                // SAFETY: a mapping that was freed, or a part of one, which is on the list no more.
                unsafe { libc::munmap(self.pointer().cast(), self.size) };
                return;
            }
            poison::allow(self.pointer(), self.size);
            // SAFETY: from the system's allocator with this layout (`keep_piece`), and on the list no more.
            unsafe { dealloc(self.pointer(), super::piece_layout(self.size)) };
        }
    }

    fn freed() -> MutexGuard<'static, Vec<Freed>> {
        locked(&FREED)
    }
    /// Gives the oldest memory back until at most so many bytes are kept, or an interrupt waits. False if nothing went back.
    fn keep(most: usize, poll: Poll<'_>) -> bool {
        let mut gone = false;
        while poll.look().is_ok()
            && let Some(part) = part_above(most)
        {
            part.give_back();
            gone = true;
        }
        gone
    }
    /// Takes the end of the oldest mapping, or the oldest piece, off the list, if more than so many bytes are kept. Other threads wait no
    /// longer than that takes.
    fn part_above(most: usize) -> Option<Freed> {
        let mut freed = freed();
        let kept: usize = freed.iter().map(|f| f.size).sum();
        let oldest = freed.first_mut().filter(|_| kept > most)?;
        if !oldest.is_mapped || oldest.size <= PART {
            return Some(freed.remove(0));
        }
        oldest.size -= PART;
        Some(Freed { address: oldest.address + oldest.size, size: PART, is_mapped: true })
    }
    pub fn give_rest(poll: Poll<'_>) {
        keep(KEPT, poll);
    }
    /// Bytes that are kept.
    #[cfg(test)]
    pub fn kept() -> usize {
        freed().iter().map(|f| f.size).sum()
    }
    fn reused(size: usize, align: usize, is_mapped: bool) -> Option<*mut u8> {
        let mut freed = freed();
        let fits = |f: &Freed| f.size == size && f.is_mapped == is_mapped && f.address.is_multiple_of(align);
        let i = freed.iter().rposition(fits)?;
        Some(freed.remove(i).pointer())
    }
    /// Gives everything that is kept back. False if that is nothing.
    #[cold]
    pub fn give_all() -> bool {
        keep(0, Poll::Never)
    }
    /// A kept piece of this size.
    pub fn take_kept(size: usize) -> Option<*mut u8> {
        reused(size, 1, false)
    }
    /// Keeps a piece of this size that was freed.
    ///
    /// # Safety
    /// The system's allocator gave it with the layout [`super::piece_layout`], and it is not used any more.
    pub unsafe fn keep_piece(p: *mut u8, size: usize, poll: Poll<'_>) {
        freed().push(Freed { address: p.expose_provenance(), size, is_mapped: false });
        keep(KEPT, poll);
    }

    fn map_any(size: usize) -> *mut u8 {
        let p = map_new(size);
        if p.is_null() && give_all() { map_new(size) } else { p }
    }
    fn map_new(size: usize) -> *mut u8 {
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: a new anonymous mapping.
        let p = unsafe { libc::mmap(core::ptr::null_mut(), size, prot, flags, -1, 0) };
        if p == libc::MAP_FAILED { core::ptr::null_mut() } else { p.cast() }
    }
    pub fn map(layout: Layout) -> *mut u8 {
        let Some(size) = layout.size().checked_next_multiple_of(UNIT) else { return core::ptr::null_mut() };
        if let Some(p) = reused(size, layout.align(), true) {
            return p;
        }
        let align = layout.align().max(UNIT);
        // Mappings lie side by side, so that the place after one that is aligned usually is aligned as well.
        let p = map_any(size);
        if p.is_null() || p.addr().is_multiple_of(layout.align()) {
            return p;
        }
        // SAFETY: mapped above.
        unsafe { libc::munmap(p.cast(), size) };
        let p = map_any(size + align);
        if p.is_null() {
            return p;
        }
        let before = p.addr().next_multiple_of(align) - p.addr();
        // SAFETY: both ends of the mapping, in multiples of a page: the address is one, and `align` and `size` are.
        unsafe {
            if before != 0 {
                libc::munmap(p.cast(), before);
            }
            libc::munmap(p.add(before + size).cast(), align - before);
            p.add(before)
        }
    }
    /// # Safety
    /// `p` was mapped with this size and is not used any more.
    pub unsafe fn unmap(p: *mut u8, size: usize, poll: Poll<'_>) {
        let size = size.next_multiple_of(UNIT);
        freed().push(Freed { address: p.expose_provenance(), size, is_mapped: true });
        keep(KEPT, poll);
    }
    /// Gives the end of a mapping back.
    ///
    /// # Safety
    /// `p` was mapped with the size `old`, and what lies behind `new` is not used any more.
    pub unsafe fn shrink(p: *mut u8, old: usize, new: usize, poll: Poll<'_>) {
        let (old, new) = (old.next_multiple_of(UNIT), new.next_multiple_of(UNIT));
        if new != old {
            // SAFETY: by the contract, and the system unmaps any part of a mapping.
            unsafe { unmap(p.add(new), old - new, poll) }
        }
    }
    /// # Safety
    /// As for [`unmap`].
    #[cfg(target_os = "linux")]
    pub unsafe fn remap(p: *mut u8, old: usize, new: usize) -> *mut u8 {
        let Some(size) = new.checked_next_multiple_of(UNIT) else { return core::ptr::null_mut() };
        // SAFETY: by the contract; the pages move if need be.
        let q = unsafe { libc::mremap(p.cast(), old.next_multiple_of(UNIT), size, libc::MREMAP_MAYMOVE) };
        if q == libc::MAP_FAILED { core::ptr::null_mut() } else { q.cast() }
    }
    #[cfg(not(target_os = "linux"))]
    pub unsafe fn remap(_: *mut u8, _: usize, _: usize) -> *mut u8 {
        core::ptr::null_mut()
    }
}

/// Everything comes from the system's allocator.
#[cfg(not(all(unix, not(miri))))]
mod imp {
    use super::Poll;
    use std::alloc::Layout;

    pub const MAPS: bool = false;
    pub const RESIZES: bool = false;

    pub fn map(_: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    pub fn give_all() -> bool {
        false
    }
    pub fn take_kept(_: usize) -> Option<*mut u8> {
        None
    }
    /// # Safety
    /// Never called.
    pub unsafe fn keep_piece(_: *mut u8, _: usize, _: Poll<'_>) {}
    /// # Safety
    /// Never called.
    pub unsafe fn unmap(_: *mut u8, _: usize, _: Poll<'_>) {}
    /// # Safety
    /// Never called.
    pub unsafe fn shrink(_: *mut u8, _: usize, _: usize, _: Poll<'_>) {}
    pub fn give_rest(_: Poll<'_>) {}
    /// # Safety
    /// Never called.
    pub unsafe fn remap(_: *mut u8, _: usize, _: usize) -> *mut u8 {
        core::ptr::null_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::{BUFFERS, MAPPED, PART, Poll, free_buffer, give, give_rest, locked, resize, take};
    use crate::interrupt::{Cause, Flag};
    use core::cell::Cell;
    use std::alloc::Layout;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    #[test]
    fn memory_is_aligned() {
        let layouts: Vec<Layout> = (12..=18).map(|bits| layout(MAPPED + (1 << bits) + 16, 1 << bits)).collect();
        let all: Vec<*mut u8> = layouts.iter().map(|layout| take(*layout)).collect();
        for (p, layout) in all.iter().zip(&layouts) {
            assert!(!p.is_null() && p.addr().is_multiple_of(layout.align()));
            // SAFETY: both ends of the memory just taken.
            unsafe {
                p.write(1);
                p.add(layout.size() - 1).write(2);
            }
        }
        for (p, layout) in all.into_iter().zip(layouts) {
            // SAFETY: taken above with this layout.
            unsafe { give(p, layout, Poll::Never) };
        }
    }
    #[test]
    fn contents_survive_every_change_of_size() {
        let mut size = MAPPED / 2;
        let mut p = take(layout(size, 16));
        for new in [MAPPED - 16, MAPPED, MAPPED * 3 + 48, MAPPED * 40, MAPPED + 16, MAPPED / 4, MAPPED * 2, MAPPED - 32] {
            // SAFETY: `p` has this size throughout.
            unsafe {
                (0..size).step_by(997).for_each(|i| p.add(i).write((i / 997) as u8));
                p = resize(p, layout(size, 16), new, Poll::Never);
                assert!((0..size.min(new)).step_by(997).all(|i| p.add(i).read() == (i / 997) as u8));
            }
            size = new;
        }
        // SAFETY: as above.
        unsafe { give(p, layout(size, 16), Poll::Never) };
    }
    /// For the tests that look at what is kept.
    #[cfg(all(unix, not(miri)))]
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    /// Is little kept, but for what other tests are giving back?
    #[cfg(all(unix, not(miri)))]
    fn little_is_kept() -> bool {
        (0..1000).any(|_| {
            std::thread::yield_now();
            super::imp::kept() <= 8 << 20
        })
    }
    #[cfg(all(unix, not(miri)))]
    #[test]
    fn little_is_kept_for_memory_of_the_same_size() {
        let _alone = ALONE.lock();
        // A size that nothing else here has.
        let odd = layout(MAPPED + (23 << 16), 16);
        // Other tests give back memory at the same time.
        let is_reused = (0..100).any(|_| {
            let [p, q] = [(); 2].map(|()| {
                let p = take(odd);
                // SAFETY: taken with this layout.
                unsafe { give(p, odd, Poll::Never) };
                p
            });
            p == q
        });
        assert!(is_reused);
        let large = layout(64 << 20, 16);
        // SAFETY: as above.
        unsafe { give(take(large), large, Poll::Never) };
        assert!(little_is_kept());
    }
    #[cfg(all(unix, not(miri)))]
    #[test]
    fn a_freed_piece_is_the_next_of_about_its_size() {
        let _alone = ALONE.lock();
        // Other tests take and free pieces at the same time.
        let is_reused = (0..100).any(|_| {
            let [p, q, r] = [90_200, 98_300, 98_305].map(|size| {
                let p = take(layout(size, 16));
                // SAFETY: taken with this layout.
                unsafe { give(p, layout(size, 16), Poll::Never) };
                p
            });
            p == q && q != r
        });
        assert!(is_reused);
    }
    #[cfg(all(unix, not(miri)))]
    #[test]
    fn an_interrupt_does_not_wait_for_memory_that_goes_back() {
        let _alone = ALONE.lock();
        let (size, flag) = (4 * PART, Flag::new());
        flag.set(Cause::Host);
        // Other tests give back what is left at the same time.
        let waits = (0..100).any(|_| {
            // SAFETY: taken with this layout.
            unsafe { give(take(layout(size, 16)), layout(size, 16), Poll::At(&flag)) };
            free_buffer(Vec::with_capacity(size), Poll::At(&flag));
            super::imp::kept() >= size && locked(&BUFFERS).iter().any(|b| b.capacity() >= size)
        });
        assert!(waits);
        give_rest(Poll::Never);
        assert!(little_is_kept() && locked(&BUFFERS).is_empty());
        // In the middle of each, too.
        let part_goes = (0..100).any(|_| {
            let left = Cell::new(2);
            // SAFETY: as above.
            unsafe { give(take(layout(size, 16)), layout(size, 16), Poll::After(&left)) };
            super::imp::kept() >= 2 * PART
        });
        assert!(part_goes);
        give_rest(Poll::Never);
    }
    #[cfg(not(miri))]
    #[test]
    fn what_is_too_large_is_refused() {
        let mut small = take(layout(MAPPED, 16));
        // SAFETY: refused, so that it stays as it is.
        unsafe {
            assert!(resize(small, layout(MAPPED, 16), isize::MAX as usize - 15, Poll::Never).is_null());
            small.write(7);
            small = resize(small, layout(MAPPED, 16), 2 * MAPPED, Poll::Never);
            assert_eq!(small.read(), 7);
            give(small, layout(2 * MAPPED, 16), Poll::Never);
        }
        assert!(take(layout(isize::MAX as usize - 15, 16)).is_null());
    }
}
