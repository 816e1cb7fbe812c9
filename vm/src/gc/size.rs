//! Size classes of cells.
//!
//! Objects and arrays of one size, such as the rows of a matrix, lie one after another. Where their distance is a power of two, elements of
//! one index are in few sets of the cache, and a load waits for a store whose address differs in higher bits only: a loop along a column
//! of rows 1024 bytes apart took nine times as long. So the larger classes are a quarter of a cache line more than a multiple of lines, and the
//! largest, of which a block holds few, leave room for different places of the first cell (`Block::first`).

use core::alloc::Layout;

/// Number of size classes; class 0 is not used.
pub const NUM_CLASSES: usize = FINE_MAX / 16 + 1 + COARSE.len();
/// Up to here the classes are the multiples of 16: class `n` has cells of `16 * n` bytes.
pub const FINE_MAX: usize = 496;
/// The largest cell; larger objects are allocated apart.
pub const CELL_MAX: usize = COARSE[COARSE.len() - 1] as usize;
/// The largest cell that the raw pools use; beyond, the system allocator wastes less.
pub const RAW_MAX: usize = 2064;

/// The larger cells. From 2688 on, about the sizes of which a block holds 24, 20, 16, 13, 11, 9, 8 ... 2 beside a kilobyte.
#[rustfmt::skip]
const COARSE: [u16; 30] = [
    528, 592, 656, 720, 784, 848, 912, 976, 1040, 1168, 1296, 1424, 1552, 1680, 1808, 1936, 2064,
    2688, 3216, 4032, 4960, 5856, 7152, 8048, 9200, 10736, 12896, 16112, 21504, 32256,
];
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
        // Cells of which a block holds more than three are not a multiple of four cache lines apart.
        assert!(size <= FINE_MAX || class_size(c) > COARSE[COARSE.len() - 3] as usize || !class_size(c).is_multiple_of(256));
        size += if size < 2 * FINE_MAX { 1 } else { 7 };
    }
};

/// The bytes to ask the system for, to hold an array of `size` bytes: not so many that its allocator, which adds a word and rounds up to 16,
/// places arrays of this size a power of two apart.
pub(super) const fn spaced(size: usize) -> usize {
    const LINE: usize = 64;
    let distance = size.saturating_add(size_of::<usize>()).next_multiple_of(16);
    if distance.is_multiple_of(8 * LINE) { size + LINE } else { size }
}

/// Layout of memory too large for a cell.
pub(super) fn large_layout(size: usize) -> Layout {
    match Layout::from_size_align(size, 16) {
        Ok(l) => l,
        Err(_) => panic!("size overflow"),
    }
}
