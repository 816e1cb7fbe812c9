//! Long strings are hashed, compared and copied in parts, and given up between two of them if an interrupt waits ([`Poll`]).
#![allow(unsafe_code, reason = "a string is filled after its memory was allocated with its length")]

use super::Gc;
use super::string::{STR_DATA, Str, StrTable};
use crate::gc::Heap;
use crate::gc::size::CELL_MAX;
use crate::interrupt::{Interrupted, Poll};

/// Longer strings are made in parts. Each is an object apart, which can be freed at once.
const SHORT: usize = if Poll::BYTES > CELL_MAX { Poll::BYTES } else { CELL_MAX };

impl StrTable {
    /// An interned string of these bytes and this hash.
    fn find_in_parts(&mut self, bytes: &[u8], hash: u32, poll: Poll<'_>) -> Result<Option<Gc<Str>>, Interrupted> {
        let mut next = self.first_in_chain(hash);
        while let Some(s) = next {
            if s.hash() == hash && s.len() == bytes.len() && same_in_parts(bytes, s.bytes(), poll)? {
                return Ok(Some(s));
            }
            next = s.next_in_chain();
        }
        Ok(None)
    }
}

fn same_in_parts(a: &[u8], b: &[u8], poll: Poll<'_>) -> Result<bool, Interrupted> {
    for (a, b) in a.chunks(Poll::BYTES).zip(b.chunks(Poll::BYTES)) {
        if a != b {
            return Ok(false);
        }
        poll.look()?;
    }
    Ok(true)
}

impl Heap {
    /// The string of these bytes; where an interrupt waits while a long one is made, nothing is made.
    #[inline]
    pub(crate) fn try_new_str(&mut self, bytes: &[u8], poll: Poll<'_>) -> Result<Gc<Str>, Interrupted> {
        if bytes.len() <= SHORT { Ok(self.new_str(bytes)) } else { self.new_str_in_parts(bytes, poll) }
    }
    #[cold]
    #[inline(never)]
    fn new_str_in_parts(&mut self, bytes: &[u8], poll: Poll<'_>) -> Result<Gc<Str>, Interrupted> {
        if self.strings.is_splitting() {
            self.strings.split_some();
        }
        let hash = self.strings.hash_in_parts(bytes, poll)?;
        if let Some(s) = self.strings.find_in_parts(bytes, hash, poll)? {
            return Ok(self.found_str(s));
        }
        let s = self.begin_str(bytes.len(), hash);
        for (i, part) in bytes.chunks(Poll::BYTES).enumerate() {
            // SAFETY: the string has memory for all bytes, which nobody else uses yet.
            unsafe {
                let data = s.as_ptr().cast::<u8>().add(STR_DATA + i * Poll::BYTES);
                data.copy_from_nonoverlapping(part.as_ptr(), part.len());
            }
            if poll.look().is_err() {
                // SAFETY: the object that was allocated last, which nothing refers to.
                unsafe { self.give_up_large(s.header()) };
                return Err(Interrupted);
            }
        }
        self.strings.insert(s, hash);
        Ok(s)
    }
}

#[cfg(test)]
mod tests {
    use super::SHORT;
    use crate::gc::tests::vm;
    use crate::interrupt::{Cause, Flag, Interrupted, Poll};

    #[test]
    fn long_strings_are_interned_however_they_are_made() {
        let mut vm = vm();
        let bytes: Vec<u8> = (0..3 * SHORT + 5).map(|i| (i % 251) as u8).collect();
        let s = vm.new_str(&bytes);
        assert!(s.bytes() == bytes && s.bytes_with_nul().last() == Some(&0));
        let flag = Flag::new();
        let (count, total) = (vm.heap.strings.count(), vm.heap.total);
        assert_eq!(vm.heap.try_new_str(&bytes, Poll::At(&flag)), Ok(s));
        let other = vm.heap.try_new_str(&bytes[1..], Poll::At(&flag)).unwrap();
        assert!(other.bytes() == &bytes[1..] && other.bytes_with_nul().last() == Some(&0));
        assert_eq!(vm.new_str(&bytes[1..]), other);
        assert_eq!(vm.heap.strings.count(), count + 1);
        assert!(vm.heap.total > total);
    }
    #[test]
    fn an_interrupted_string_leaves_nothing() {
        let mut vm = vm();
        let bytes: Vec<u8> = (0..3 * SHORT + 5).map(|i| (i % 251) as u8).collect();
        let flag = Flag::new();
        flag.set(Cause::Host);
        let before = (vm.heap.strings.count(), vm.heap.total);
        assert_eq!(vm.heap.try_new_str(&bytes, Poll::At(&flag)), Err(Interrupted));
        // In the middle of the copy as well.
        let hash = vm.heap.strings.hash(&bytes);
        let s = vm.heap.begin_str(bytes.len(), hash);
        // SAFETY: the object that was allocated last, which nothing refers to.
        unsafe { vm.heap.give_up_large(s.header()) };
        assert_eq!((vm.heap.strings.count(), vm.heap.total), before);
        vm.full_gc();
        vm.verify_heap();
        assert!(vm.new_str(&bytes).bytes() == bytes);
    }
}
