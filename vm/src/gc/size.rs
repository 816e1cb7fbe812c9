//! Size classes of cells.

/// Number of size classes; class 0 is not used.
pub const NUM_CLASSES: usize = 39;
/// Up to here the classes are the multiples of 16: class `n` has cells of `16 * n` bytes.
pub const FINE_MAX: usize = 512;
/// The largest cell; what is larger is allocated apart.
pub const CELL_MAX: usize = SIZES[NUM_CLASSES - 1] as usize;

const SIZES: [u16; NUM_CLASSES] = sizes();

const fn sizes() -> [u16; NUM_CLASSES] {
    let coarse = [640, 768, 1024, 1280, 1536, 2048];
    let mut s = [0; NUM_CLASSES];
    let mut c = 0;
    while c < NUM_CLASSES {
        s[c] = if c <= FINE_MAX / 16 { 16 * c as u16 } else { coarse[c - FINE_MAX / 16 - 1] };
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
    while SIZES[c] as usize != CELL_MAX && (SIZES[c] as usize) < size {
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
    let mut size = 1;
    while size <= CELL_MAX {
        let c = class_of(size);
        assert!(class_size(c) >= size && class_size(c - 1) < size);
        size += 1;
    }
};
