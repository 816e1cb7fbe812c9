//! Copies of few words.
#![allow(unsafe_code, reason = "the words that are read and written are those that the caller has promised")]

/// Copies `n` words to lower addresses, or to memory that does not overlap, one by one, for the reason given at
/// [`crate::interp::frame::fill_nil`]. The loop compares addresses, since one that counts would be unrolled, and would need more registers than
/// a handler has without saving some.
///
/// # Safety
/// There are so many words to read and to write; `to` is not between `from` and its end.
#[inline(always)]
pub unsafe fn move_words<T: Copy>(mut from: *const T, mut to: *mut T, n: usize) {
    debug_assert!(to.cast_const() <= from || to.cast_const() >= from.wrapping_add(n));
    let end = from.wrapping_add(n);
    while from < end {
        // SAFETY: the caller's promise.
        unsafe {
            to.write_volatile(*from);
            from = from.add(1);
            to = to.add(1);
        }
    }
}
