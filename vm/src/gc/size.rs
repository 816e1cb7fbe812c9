//! Size classes of cells.

use core::alloc::Layout;

/// Number of size classes; class 0 is not used.
pub const NUM_CLASSES: usize = FINE_MAX / 16 + 1 + COARSE.len();
/// Up to here the classes are the multiples of 16: class `n` has cells of `16 * n` bytes.
pub const FINE_MAX: usize = 512;
/// The largest cell; larger objects are allocated apart.
pub const CELL_MAX: usize = COARSE[COARSE.len() - 1] as usize;
/// The largest cell that the raw pools use; beyond, the system allocator wastes less.
pub const RAW_MAX: usize = 2048;

/// The larger cells. From 2720 on, the sizes of which a block holds 24, 20, 16, 13, 11, 9, 8 ... 2.
const COARSE: [u16; 19] =
    [640, 768, 1024, 1280, 1536, 2048, 2720, 3264, 4080, 5024, 5952, 7264, 8176, 9344, 10912, 13088, 16368, 21824, 32736];
const SIZES: [u16; NUM_CLASSES] = sizes();

const fn sizes() -> [u16; NUM_CLASSES] {
    let mut s = [0; NUM_CLASSES];
    let mut c = 0;
    while c < NUM_CLASSES {
        s[c] = if c <= FINE_MAX / 16 { 16 * c as u16 } else { COARSE[c - FINE_MAX / 16 - 1] };
        c += 1;
    }
    s
}

/// The class of cells that hold `size` bytes, `0 < size <= CELL_MAX`.
#[inline(always)]
pub const fn class_of(size: usize) -> usize {
    if size <= FINE_MAX { (size + 15) >> 4 } else { coarse_class(size) }
}

#[inline(never)]
const fn coarse_class(size: usize) -> usize {
    let mut c = FINE_MAX / 16 + 1;
    while (SIZES[c] as usize) < size {
        c += 1;
    }
    c
}

/// Bytes per cell of a class.
#[inline(always)]
pub const fn class_size(class: usize) -> usize {
    SIZES[class] as usize
}

const _: () = {
    assert!(class_size(class_of(RAW_MAX)) == RAW_MAX);
    let mut size = 1;
    while size <= CELL_MAX {
        let c = class_of(size);
        assert!(class_size(c) >= size && class_size(c - 1) < size && class_size(c).is_multiple_of(16));
        size += if size < 2 * FINE_MAX { 1 } else { 7 };
    }
};

/// Layout of memory too large for a cell.
pub(super) fn large_layout(size: usize) -> Layout {
    match Layout::from_size_align(size, 16) {
        Ok(l) => l,
        Err(_) => panic!("size overflow"),
    }
}
