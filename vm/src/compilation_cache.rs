//! The compilation cache: prototypes of short texts that were compiled more than once. A program that loads the same text again gets another
//! function of the same prototype, with the traces and the feedback that it has.
//!
//! As in the cache of V8 for `eval`, a text that is compiled for the first time leaves only its hash, so that what is loaded once is not
//! kept alive.

/// Number of texts that are remembered. With [`LONGEST`] it bounds the memory of texts that are kept alive: a megabyte.
const ENTRIES: usize = 64;
/// Longer texts are not remembered, in bytes.
pub(crate) const LONGEST: usize = 16 << 10;
/// A prototype that no load has used for so many cycles of the collector is dropped. A small heap is collected after each few hundred
/// kilobytes, which a program may well allocate between two loads.
pub(crate) const CYCLES: u8 = 8;

/// A prototype that is kept, with the text that it was compiled from and the name of the chunk.
#[derive(Copy, Clone, Debug)]
pub struct Kept<Text, Proto> {
    /// The text.
    pub source: Text,
    /// The name of the chunk.
    pub name: Text,
    /// The prototype of its function.
    pub proto: Proto,
}

/// What is known of the last text that belongs here.
#[derive(Debug)]
struct Entry<Text, Proto> {
    hash: u64,
    kept: Option<Kept<Text, Proto>>,
    /// Cycles of the collector since the last use.
    unused: u8,
}

/// The cache of a VM. The collector marks what it keeps at the atomic end of a cycle, after it has aged it.
#[derive(Debug)]
pub struct CompilationCache<Text, Proto> {
    /// None until a text was compiled.
    entries: Vec<Entry<Text, Proto>>,
}

impl<Text, Proto> Default for CompilationCache<Text, Proto> {
    fn default() -> CompilationCache<Text, Proto> {
        CompilationCache { entries: Vec::new() }
    }
}

impl<Text: Copy, Proto: Copy> CompilationCache<Text, Proto> {
    /// The entry of a hash.
    fn entry(&mut self, hash: u64) -> &mut Entry<Text, Proto> {
        if self.entries.is_empty() {
            self.entries.resize_with(ENTRIES, || Entry { hash: 0, kept: None, unused: 0 });
        }
        &mut self.entries[(hash >> 32) as usize % ENTRIES]
    }
    /// What is kept for a text with this hash, if it is the text that `is_same` wants.
    pub(crate) fn find(&mut self, hash: u64, is_same: impl FnOnce(&Kept<Text, Proto>) -> bool) -> Option<Proto> {
        let entry = self.entry(hash);
        let kept = entry.kept.filter(|kept| entry.hash == hash && is_same(kept))?;
        entry.unused = 0;
        Some(kept.proto)
    }
    /// A text with this hash was compiled: keeps what `keep` gives if such a text was compiled before.
    pub(crate) fn compiled(&mut self, hash: u64, keep: impl FnOnce() -> Kept<Text, Proto>) {
        let entry = self.entry(hash);
        let kept = (entry.hash == hash).then(keep);
        *entry = Entry { hash, kept, unused: 0 };
    }
    /// Drops all: before a complete collection, so that it frees what nothing else refers to, and where a prototype's compilation is
    /// switched off or on, which concerns the functions that exist.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
    /// A cycle of the collector ends: drops what was not used for long.
    pub(crate) fn age(&mut self) {
        for entry in self.entries.iter_mut().filter(|e| e.kept.is_some()) {
            entry.unused += 1;
            if entry.unused > CYCLES {
                *entry = Entry { hash: 0, kept: None, unused: 0 };
            }
        }
    }
    /// All that is kept alive.
    pub fn kept(&self) -> impl Iterator<Item = &Kept<Text, Proto>> {
        self.entries.iter().filter_map(|e| e.kept.as_ref())
    }
}
