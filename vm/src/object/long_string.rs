//! Long strings are hashed, compared and copied in parts, and given up between two of them if an interrupt waits ([`Poll`]).
#![allow(unsafe_code, reason = "a string is filled after its memory was allocated with its length")]

use super::Gc;
use super::string::{LONG, STR_DATA, Str, StrTable, fold};
use crate::gc::Heap;
use crate::gc::size::CELL_MAX;
use crate::interrupt::{Interrupted, Poll};
use core::hash::{BuildHasher, Hasher};

/// Longer strings are made in parts. Each is an object apart, which can be freed at once.
const SHORT: usize = if Poll::BYTES > CELL_MAX { Poll::BYTES } else { CELL_MAX };

/// So many pieces of a long string are samples, of [`SAMPLE`] bytes each, and so much of its beginning and of its end.
const SAMPLES: usize = 16;
const SAMPLE: usize = 64;
const ENDS: usize = 512;
const _: () = assert!(LONG > 2 * ENDS + SAMPLES * SAMPLE);
/// After so many pairs of different strings with the same samples, new long strings are hashed as a whole.
const ALIKE: usize = 16;

impl StrTable {
    /// The hash of the samples of a long string.
    fn hash_of_samples(&self, bytes: &[u8]) -> u32 {
        let mut h = self.hasher.build_hasher();
        let (between, end) = bytes[ENDS..].split_at(bytes.len() - 2 * ENDS);
        h.write(&bytes[..ENDS]);
        h.write(end);
        between.chunks_exact(between.len() / SAMPLES).take(SAMPLES).for_each(|c| h.write(&c[..SAMPLE]));
        h.write_usize(bytes.len());
        fold(h.finish())
    }
    /// Can a string have this hash? A long one has the hash of its samples, or that of all its bytes.
    pub(crate) fn is_hash(&self, bytes: &[u8], hash: u32) -> bool {
        self.hash(bytes) == hash || bytes.len() > LONG && self.hash_of_samples(bytes) == hash
    }
    /// Looks a long string up: an interned one, or the hash that it is to have.
    ///
    /// All bytes would be read for their hash, which takes as long as to copy them. Where an adversary, or chance, makes strings that differ
    /// between samples, their bytes would be compared with those of every other one instead, so that no more than [`ALIKE`] such pairs
    /// are made. (LuaJIT does the same for each chain.)
    fn find_long(&mut self, bytes: &[u8], poll: Poll<'_>) -> Result<Result<Gc<Str>, u32>, Interrupted> {
        let hash = self.hash_of_samples(bytes);
        let found = self.find_in_parts(bytes, hash, poll)?;
        if found.is_some() || self.alike < ALIKE {
            return Ok(found.ok_or(hash));
        }
        let hash = self.hash_in_parts(bytes, poll)?;
        Ok(self.find_in_parts(bytes, hash, poll)?.ok_or(hash))
    }
    /// An interned string of these bytes and this hash.
    fn find_in_parts(&mut self, bytes: &[u8], hash: u32, poll: Poll<'_>) -> Result<Option<Gc<Str>>, Interrupted> {
        let mut next = self.first_in_chain(hash);
        while let Some(s) = next {
            if s.hash() == hash && s.len() == bytes.len() {
                if same_in_parts(bytes, s.bytes(), poll)? {
                    return Ok(Some(s));
                }
                self.alike += 1;
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
    /// [`Heap::new_str`] for strings longer than [`LONG`].
    #[inline(never)]
    pub(super) fn find_or_make_long(&mut self, bytes: &[u8]) -> Gc<Str> {
        match self.strings.find_long(bytes, Poll::Never) {
            Ok(Ok(s)) => self.found_str(s),
            Ok(Err(hash)) => self.make_str(bytes, hash),
            Err(Interrupted) => unreachable!("it looks for no interrupts"),
        }
    }
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
        let hash = match self.strings.find_long(bytes, poll)? {
            Ok(s) => return Ok(self.found_str(s)),
            Err(hash) => hash,
        };
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
    use super::{ALIKE, LONG, SHORT};
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
    fn strings_that_differ_between_samples_are_told_apart_and_soon_hashed_as_a_whole() {
        let mut vm = vm();
        let with = |i: usize, byte: u8| {
            let mut bytes = vec![b'a'; 2 * LONG];
            bytes[LONG - 100 + i] = byte;
            bytes
        };
        // Most of these bytes are in no sample.
        let texts: Vec<Vec<u8>> = (0..40).map(|i| with(i, b'b')).collect();
        let made: Vec<_> = texts.iter().map(|t| vm.new_str(t)).collect();
        assert!(made.iter().zip(&texts).all(|(s, t)| s.bytes() == t));
        assert!(texts.iter().zip(&made).all(|(t, s)| vm.new_str(t) == *s));
        assert!(vm.heap.strings.alike >= ALIKE);
        let whole = vm.heap.strings.hash(&with(7, b'c'));
        assert_eq!(vm.new_str(&with(7, b'c')).hash(), whole);
        vm.verify_heap();
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
