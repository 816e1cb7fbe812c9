//! Interned strings and the table that interns them.
#![allow(
    unsafe_code,
    reason = "the bytes of a string follow its header, with a NUL after them; the chains of the intern table hold strings that are not freed"
)]

use super::{Gc, GcHeader, Kind};
use crate::Vm;
use crate::gc::Heap;
use crate::gc::color::{FIXED, WHITES};
use crate::gc::size::{class_of, class_size};
use crate::interrupt::{Interrupted, Poll};
use crate::text::PIECE;
use core::cell::Cell;
use core::hash::{BuildHasher, Hasher};
use core::mem::MaybeUninit;
use foldhash::fast::FixedState;

/// An interned, immutable byte string. The bytes follow the struct, and a NUL after them.
///
/// Header: `word` is the hash, `b0` is non-zero for reserved words of the lexer, `b1` has the flags of
/// `watchpoint`.
#[repr(C)]
pub struct Str {
    /// Object header; `word` is the hash: of the whole string, or of samples of a long one.
    pub hdr: GcHeader,
    /// Next string in the same intern chain.
    pub next: Cell<*mut Str>,
    /// Length in bytes.
    pub len: Cell<u32>,
    pub(crate) pad: u32,
}

/// Offset of the bytes from the start of the object.
pub const STR_DATA: usize = core::mem::size_of::<Str>();
const _: () = assert!(STR_DATA == 24);

impl Str {
    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a string object is allocated with `len` bytes after the struct.
        unsafe { core::slice::from_raw_parts(self.data(), self.len.get() as usize) }
    }
    #[inline(always)]
    fn data(&self) -> *const u8 {
        core::ptr::with_exposed_provenance(core::ptr::from_ref(self).expose_provenance() + STR_DATA)
    }
    /// The bytes, and the NUL after them.
    pub fn bytes_with_nul(&self) -> &[u8] {
        // SAFETY: a NUL follows the bytes.
        unsafe { core::slice::from_raw_parts(self.data(), self.len.get() as usize + 1) }
    }
    /// Appends the bytes, as `extend_from_slice` does. Those of a short string are copied in one piece with what is after them in its cell.
    #[inline(always)]
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let len = out.len() + self.len();
        if self.store_to(out.spare_capacity_mut()) {
            // SAFETY: so many bytes have been stored.
            unsafe { out.set_len(len) };
        } else {
            out.extend_from_slice(self.bytes());
        }
    }
    /// Stores the bytes, and where they are few some more of any value, at the start of `to`. False if there is no room for that.
    #[inline(always)]
    pub fn store_to(&self, to: &mut [MaybeUninit<u8>]) -> bool {
        match self.len() {
            ..8 => self.store_piece::<8>(to),
            8..=PIECE => self.store_piece::<PIECE>(to),
            len => match to.get_mut(..len) {
                Some(place) => {
                    place.write_copy_of_slice(self.bytes());
                    true
                }
                None => false,
            },
        }
    }
    #[inline(always)]
    fn store_piece<const N: usize>(&self, to: &mut [MaybeUninit<u8>]) -> bool {
        debug_assert!(class_size(class_of(STR_DATA + self.len() + 1)) >= STR_DATA + N && self.len() <= N);
        let Some(place) = to.first_chunk_mut::<N>() else { return false };
        // SAFETY: the cell of a string is of a multiple of 16 bytes, with so many after the header, which nobody changes meanwhile.
        *place = unsafe { *self.data().cast::<[MaybeUninit<u8>; N]>() };
        true
    }
    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.get() as usize
    }
    /// Is it the empty string?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len.get() == 0
    }
    /// The hash.
    #[inline]
    pub fn hash(&self) -> u32 {
        self.hdr.word.get()
    }
    /// The next string of its chain in the intern table.
    pub(super) fn next_in_chain(&self) -> Option<Gc<Str>> {
        let p = self.next.get();
        // SAFETY: strings on the chains are not freed: sweeping takes them off.
        if p.is_null() { None } else { Some(unsafe { Gc::from_ptr(p) }) }
    }
    /// The bytes as text, lossily.
    pub fn to_str_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

impl core::fmt::Debug for Str {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", self.to_str_lossy())
    }
}

/// The intern table: chains of strings by hash. When it has as many strings as chains, the number of chains is doubled, and some chains are
/// split whenever a string is looked up from then on, so that no string takes long to be made.
#[derive(Debug)]
pub struct StrTable {
    /// Chain heads; a power of two of them.
    buckets: Box<[*mut Str]>,
    /// While chains are being split: the heads of before. A chain not split yet is here.
    old: Box<[*mut Str]>,
    /// So many chains of `old` have been split.
    split: usize,
    count: usize,
    pub(super) hasher: FixedState,
    /// The existing strings of one byte, since programs that read texts byte by byte make them over and over.
    bytes: [*mut Str; 256],
    /// How often two different long strings had the same hash of samples ([`super::long_string`]).
    pub(super) alike: usize,
    /// The long string whose bytes the scratch buffer holds ([`crate::state::Scratch`]), until strings are freed.
    pub(crate) in_buffer: Option<Gc<Str>>,
}

/// A hash of 32 bits.
#[inline(always)]
pub(super) fn fold(h: u64) -> u32 {
    (h ^ (h >> 32)) as u32
}

const MIN_BUCKETS: usize = 256;
/// Chains split when a string is looked up. One would be enough to be done when the next doubling is due.
const SPLIT: usize = 4;
/// Strings up to this length are hashed and compared without a call.
const SHORT: usize = 16;
/// Longer strings, which take more than a page, are looked up by samples first ([`super::long_string`]).
pub(crate) const LONG: usize = 4096;

impl StrTable {
    pub(crate) fn new(seed: u64) -> StrTable {
        StrTable {
            buckets: vec![core::ptr::null_mut(); MIN_BUCKETS].into_boxed_slice(),
            old: Box::default(),
            split: 0,
            count: 0,
            hasher: FixedState::with_seed(seed),
            bytes: [core::ptr::null_mut(); 256],
            alike: 0,
            in_buffer: None,
        }
    }
    /// Number of strings.
    pub fn count(&self) -> usize {
        self.count
    }
    /// The hash of all bytes of a string.
    #[inline(always)]
    pub fn hash(&self, bytes: &[u8]) -> u32 {
        if bytes.len() > Poll::BYTES {
            return self.hash_long(bytes);
        }
        let mut h = self.hasher.build_hasher();
        h.write(bytes);
        fold(h.finish())
    }
    #[cold]
    #[inline(never)]
    fn hash_long(&self, bytes: &[u8]) -> u32 {
        match self.hash_in_parts(bytes, Poll::Never) {
            Ok(hash) => hash,
            Err(Interrupted) => unreachable!("it looks for no interrupts"),
        }
    }
    /// The same, in parts if the string is long.
    pub(super) fn hash_in_parts(&self, bytes: &[u8], poll: Poll<'_>) -> Result<u32, Interrupted> {
        let mut h = self.hasher.build_hasher();
        for part in bytes.chunks(Poll::BYTES) {
            h.write(part);
            poll.look()?;
        }
        Ok(fold(h.finish()))
    }
    /// The first string of the chain for a hash.
    pub(super) fn first_in_chain(&mut self, hash: u32) -> Option<Gc<Str>> {
        let p = *self.bucket(hash);
        // SAFETY: strings on the chains are not freed: sweeping takes them off.
        if p.is_null() { None } else { Some(unsafe { Gc::from_ptr(p) }) }
    }
    /// Are there chains still to be split?
    #[inline(always)]
    pub(crate) fn is_splitting(&self) -> bool {
        !self.old.is_empty()
    }
    #[inline(always)]
    fn bucket(&mut self, hash: u32) -> &mut *mut Str {
        if self.is_splitting() {
            return self.bucket_meanwhile(hash);
        }
        let mask = self.buckets.len() - 1;
        &mut self.buckets[hash as usize & mask]
    }
    #[cold]
    #[inline(never)]
    fn bucket_meanwhile(&mut self, hash: u32) -> &mut *mut Str {
        let old = hash as usize & (self.old.len() - 1);
        let mask = self.buckets.len() - 1;
        if old >= self.split { &mut self.old[old] } else { &mut self.buckets[hash as usize & mask] }
    }
    #[inline(always)]
    fn find(&mut self, bytes: &[u8], hash: u32) -> Option<Gc<Str>> {
        let mut p = *self.bucket(hash);
        while !p.is_null() {
            // SAFETY: strings on the chains are not freed: sweeping takes them off.
            let s = unsafe { Gc::from_ptr(p) };
            if s.hash() == hash && crate::text::same(bytes, s.bytes()) {
                return Some(s);
            }
            p = s.next.get();
        }
        None
    }
    /// The string of one byte, if there is one.
    #[inline]
    fn find_byte(&self, byte: u8) -> Option<Gc<Str>> {
        let p = self.bytes[usize::from(byte)];
        // SAFETY: the table holds strings that are not freed.
        if p.is_null() { None } else { Some(unsafe { Gc::from_ptr(p) }) }
    }
    /// Adds a string that was looked up and not found.
    #[inline]
    pub(super) fn insert(&mut self, s: Gc<Str>, hash: u32) {
        if self.count >= self.buckets.len() {
            self.grow();
        }
        self.count += 1;
        if let [byte] = s.bytes() {
            self.bytes[usize::from(*byte)] = s.as_ptr();
        }
        let head = self.bucket(hash);
        s.next.set(*head);
        *head = s.as_ptr();
    }
    /// Doubles the number of chains. All of before have been split by then: a chain was added to at most once for each lookup.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        debug_assert!(!self.is_splitting(), "chains are left from the doubling before");
        let new = vec![core::ptr::null_mut(); self.buckets.len() * 2].into_boxed_slice();
        self.old = core::mem::replace(&mut self.buckets, new);
        self.split = 0;
    }
    /// Splits the next chains.
    #[cold]
    #[inline(never)]
    pub(super) fn split_some(&mut self) {
        for _ in 0..SPLIT {
            let mut p = core::mem::replace(&mut self.old[self.split], core::ptr::null_mut());
            self.split += 1;
            while !p.is_null() {
                // SAFETY: as in `find`.
                let s = unsafe { &*p };
                let next = s.next.get();
                let head = self.bucket(s.hash());
                s.next.set(*head);
                *head = p;
                p = next;
            }
        }
        if self.split == self.old.len() {
            self.old = Box::default();
        }
    }
    /// Removes a string from its chain.
    pub(crate) fn remove(&mut self, s: &Str) {
        self.count -= 1;
        if let [byte] = s.bytes() {
            self.bytes[usize::from(*byte)] = core::ptr::null_mut();
        }
        let head = self.bucket(s.hash());
        if core::ptr::eq(*head, s) {
            *head = s.next.get();
            return;
        }
        let mut p = *head;
        while !p.is_null() {
            // SAFETY: as in `find`.
            let link = unsafe { &(*p).next };
            p = link.get();
            if core::ptr::eq(p, s) {
                link.set(s.next.get());
                return;
            }
        }
        debug_assert!(false, "a string is not interned");
    }
    /// Calls `f` for each interned string with the index of its chain.
    pub(crate) fn for_each(&self, mut f: impl FnMut(usize, &Str)) {
        let chains = self.buckets.iter().enumerate().chain(self.old.iter().enumerate());
        for (i, head) in chains {
            let mut p = *head;
            while !p.is_null() {
                // SAFETY: as in `find`.
                let s = unsafe { &*p };
                f(i, s);
                p = s.next.get();
            }
        }
    }
    /// The chain that a hash belongs to.
    pub(crate) fn chain_of(&self, hash: u32) -> usize {
        let old = hash as usize & self.old.len().wrapping_sub(1);
        if old >= self.split && old < self.old.len() { old } else { hash as usize & (self.buckets.len() - 1) }
    }
}

impl Heap {
    /// The string of these bytes.
    #[inline]
    pub fn new_str(&mut self, bytes: &[u8]) -> Gc<Str> {
        if let [byte] = bytes
            && let Some(s) = self.known_byte(*byte)
        {
            return s;
        }
        // What calls functions is apart, so that this saves no registers for it.
        if bytes.len() > SHORT || self.strings.is_splitting() {
            return self.new_str_by_calls(bytes);
        }
        self.find_or_make(bytes)
    }
    /// The string of one byte, if there is one.
    #[inline(always)]
    pub(crate) fn known_byte(&mut self, byte: u8) -> Option<Gc<Str>> {
        let s = self.strings.find_byte(byte)?;
        Some(self.found_str(s))
    }
    /// [`Heap::new_str`] for longer strings, and while chains are being split.
    #[inline(never)]
    fn new_str_by_calls(&mut self, bytes: &[u8]) -> Gc<Str> {
        if self.strings.is_splitting() {
            self.strings.split_some();
        }
        if bytes.len() > LONG { self.find_or_make_long(bytes) } else { self.find_or_make(bytes) }
    }
    #[inline(always)]
    fn find_or_make(&mut self, bytes: &[u8]) -> Gc<Str> {
        let hash = self.strings.hash(bytes);
        match self.strings.find(bytes, hash) {
            Some(s) => self.found_str(s),
            None => self.make_str(bytes, hash),
        }
    }
    /// Returns an existing interned string.
    #[inline(always)]
    pub(super) fn found_str(&mut self, s: Gc<Str>) -> Gc<Str> {
        self.counts.str_hits += 1;
        if self.is_dead(&s.hdr) {
            // It is dead but not swept yet: it becomes alive again.
            s.hdr.marked.set(s.hdr.marked.get() ^ WHITES);
        }
        s
    }
    #[inline(never)]
    pub(super) fn make_str(&mut self, bytes: &[u8], hash: u32) -> Gc<Str> {
        let s = self.begin_str(bytes.len(), hash);
        // SAFETY: the string has memory for so many bytes.
        unsafe { s.as_ptr().cast::<u8>().add(STR_DATA).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.strings.insert(s, hash);
        s
    }
    /// A new string whose bytes are not initialised, but for the NUL after them. It is in no chain.
    #[inline(always)]
    pub(super) fn begin_str(&mut self, len: usize, hash: u32) -> Gc<Str> {
        assert!(len < u32::MAX as usize, "string too long");
        self.counts.str_misses += 1;
        let hdr = self.header(Kind::Str, 0, 0, hash);
        let p = self.alloc_cell(STR_DATA + len + 1);
        let s = p.cast::<Str>();
        // SAFETY: the cell has room for the struct, the bytes and the NUL.
        unsafe {
            s.write(Str { hdr, next: Cell::new(core::ptr::null_mut()), len: Cell::new(len as u32), pad: 0 });
            p.add(STR_DATA + len).write(0);
            Gc::from_ptr(s)
        }
    }
    /// The string of these bytes, which is never freed.
    pub fn new_fixed_str(&mut self, bytes: &[u8]) -> Gc<Str> {
        let s = self.new_str(bytes);
        s.hdr.marked.set(s.hdr.marked.get() | FIXED);
        s
    }
}

impl Vm {
    /// The string of these bytes.
    #[inline]
    pub fn new_str(&mut self, bytes: &[u8]) -> Gc<Str> {
        self.heap.new_str(bytes)
    }
    /// The string of these bytes, which is never freed.
    pub fn new_fixed_str(&mut self, bytes: &[u8]) -> Gc<Str> {
        self.heap.new_fixed_str(bytes)
    }
}
