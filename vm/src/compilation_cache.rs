//! The compilation cache: prototypes of short texts that were compiled more than once. A program that loads the same text again gets another
//! function of the same prototype, with the traces and the feedback that it has.
//!
//! As in the cache of V8 for `eval`, a text that is compiled for the first time leaves only its hash, so that what is loaded once is not
//! kept alive.

use crate::gc::Heap;
use crate::object::{Gc, Proto, Str};
use crate::value::Value;

/// Number of texts that are remembered. With [`LONGEST`] it bounds the memory of texts that are kept alive: a megabyte.
const ENTRIES: usize = 64;
/// Longer texts are not remembered, in bytes.
const LONGEST: usize = 16 << 10;
/// A prototype that no load has used for so many cycles of the collector is dropped. A small heap is collected after each few hundred
/// kilobytes, which a program may well allocate between two loads.
const CYCLES: u8 = 8;

/// A prototype that is kept, with the text that it was compiled from and the name of the chunk.
#[derive(Debug)]
struct Kept {
    source: Gc<Str>,
    name: Gc<Str>,
    proto: Gc<Proto>,
    /// Cycles of the collector since the last use.
    unused: u8,
}

/// What is known of the last text that belongs here.
#[derive(Debug, Default)]
struct Entry {
    hash: u64,
    kept: Option<Kept>,
}

/// The cache of a VM. The collector marks its prototypes at the atomic end of a cycle, after it has aged them.
#[derive(Debug, Default)]
pub struct CompilationCache {
    /// None until a text was compiled.
    entries: Vec<Entry>,
}

/// The hash of a text with the name of its chunk.
fn hash(heap: &Heap, source: &[u8], name: &[u8]) -> u64 {
    u64::from(heap.strings.hash(source)) << 32 | u64::from(heap.strings.hash(name))
}

impl CompilationCache {
    /// The entry of a hash.
    fn entry(&mut self, hash: u64) -> &mut Entry {
        if self.entries.is_empty() {
            self.entries.resize_with(ENTRIES, Entry::default);
        }
        &mut self.entries[(hash >> 32) as usize % ENTRIES]
    }
    /// The prototype of a text with this name, if it is kept.
    pub(crate) fn find(&mut self, heap: &Heap, source: &[u8], name: &[u8]) -> Option<Gc<Proto>> {
        if source.len() > LONGEST || self.entries.is_empty() {
            return None;
        }
        let hash = hash(heap, source, name);
        let entry = self.entry(hash);
        let kept = entry.kept.as_mut().filter(|k| entry.hash == hash && k.source.bytes() == source && k.name.bytes() == name)?;
        kept.unused = 0;
        Some(kept.proto)
    }
    /// A text was compiled: keeps the prototype if the same text was compiled before.
    pub(crate) fn compiled(&mut self, heap: &mut Heap, source: &[u8], name: &[u8], proto: Gc<Proto>) {
        if source.len() > LONGEST {
            return;
        }
        let hash = hash(heap, source, name);
        let entry = self.entry(hash);
        if entry.hash == hash {
            entry.kept = Some(Kept { source: heap.new_str(source), name: heap.new_str(name), proto, unused: 0 });
            proto.expect_many_closures();
        } else {
            *entry = Entry { hash, kept: None };
        }
    }
    /// Drops all: before a complete collection, so that it frees what nothing else refers to, and where a prototype's compilation is
    /// switched off or on, which concerns the functions that exist.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
    /// A cycle of the collector ends: drops what was not used for long.
    pub(crate) fn age(&mut self) {
        for entry in &mut self.entries {
            if let Some(kept) = &mut entry.kept {
                kept.unused += 1;
                if kept.unused > CYCLES {
                    *entry = Entry::default();
                }
            }
        }
    }
    /// Calls `f` for each object that is kept alive.
    pub fn for_each(&self, mut f: impl FnMut(Value)) {
        for kept in self.entries.iter().filter_map(|e| e.kept.as_ref()) {
            f(Value::str(kept.source));
            f(Value::str(kept.name));
            f(Value::proto(kept.proto));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CYCLES, LONGEST};
    use crate::Vm;
    use crate::object::{Gc, Proto};

    fn load(vm: &mut Vm, source: &str, name: &str) -> Gc<Proto> {
        vm.load_chunk(source.as_bytes(), name.as_bytes(), None).expect("a chunk").proto().expect("a Lua function")
    }
    fn kept(vm: &Vm) -> usize {
        let mut n = 0;
        vm.compilation_cache.for_each(|v| n += usize::from(v.as_proto().is_some()));
        n
    }

    #[test]
    fn a_text_is_kept_from_its_second_load_on() {
        let mut vm = Vm::new();
        let first = load(&mut vm, "return 1", "a");
        assert_eq!(kept(&vm), 0);
        let second = load(&mut vm, "return 1", "a");
        assert!(first != second && kept(&vm) == 1);
        assert!(load(&mut vm, "return 1", "a") == second);
        // With another name it is another chunk.
        assert!(load(&mut vm, "return 1", "b") != second);
        let long = format!("return 1{}", " ".repeat(LONGEST));
        (0..3).for_each(|_| _ = load(&mut vm, &long, "long"));
        assert!(kept(&vm) <= 1);
        assert!(vm.load_chunk(b"return 1", b"a", Some(b"b")).is_err(), "the mode is checked");
    }
    #[test]
    fn each_load_gives_a_function_of_its_own() {
        let mut vm = Vm::new();
        let mut load = || vm.load_chunk(b"return x", b"a", None).expect("a chunk");
        let functions: Vec<_> = (0..4).map(|_| load()).collect();
        assert!(functions[2].proto() == functions[3].proto() && functions[2] != functions[3]);
    }
    #[test]
    fn what_is_not_used_is_dropped() {
        let mut vm = Vm::new();
        (0..2).for_each(|_| _ = load(&mut vm, "return 1", "a"));
        assert_eq!(kept(&vm), 1);
        vm.full_gc();
        assert_eq!(kept(&vm), 0);
        (0..2).for_each(|_| _ = load(&mut vm, "return 1", "a"));
        (0..CYCLES).for_each(|_| vm.compilation_cache.age());
        assert_eq!(kept(&vm), 1);
        load(&mut vm, "return 1", "a");
        (0..CYCLES).for_each(|_| vm.compilation_cache.age());
        assert_eq!(kept(&vm), 1, "a use starts anew");
        vm.compilation_cache.age();
        assert_eq!(kept(&vm), 0);
    }
}
