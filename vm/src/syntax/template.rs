//! Template tables under construction, which TDUP copies.

use crate::bc::{KVal, TableTemplate};
use crate::object::hbits_for;
use crate::object::table_resize::Bins;
use crate::value::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A key in a form that can be ordered.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum HashKey {
    Bool(bool),
    Int(i32),
    Num(u64),
    Str(Rc<[u8]>),
}

/// A template. It grows like a table into which the entries are stored one after the other, because the border that `#` finds depends on
/// the size of the array part.
#[derive(Default)]
pub(super) struct Template {
    array: Vec<KVal>,
    /// Entries of the hash part, in order; those of number keys may be nil.
    hash: Vec<(KVal, KVal)>,
    /// Positions of the entries by key, if there are more than [`FEW`].
    index: BTreeMap<HashKey, usize>,
    /// Room in the hash part.
    nodes: usize,
}

/// Entries that are compared one by one with a key. Most tables have no more.
const FEW: usize = 8;

impl HashKey {
    fn of(key: &KVal) -> Option<HashKey> {
        Some(match key {
            KVal::Nil => return None,
            KVal::Bool(b) => HashKey::Bool(*b),
            KVal::Int(i) => HashKey::Int(*i),
            KVal::Num(x) => HashKey::Num(x.to_bits()),
            KVal::Str(s) => HashKey::Str(s.clone()),
        })
    }
}

impl Template {
    /// A template with room for keys `0 .. asize` and for `entries` others.
    pub(super) fn new(asize: u32, entries: u32) -> Template {
        let mut t = Template::default();
        t.resize(asize as usize, entries);
        t
    }
    /// Sets an entry.
    #[inline(never)]
    pub(super) fn set(&mut self, key: KVal, value: KVal) {
        if let KVal::Int(i) = key
            && let Some(slot) = usize::try_from(i).ok().and_then(|i| self.array.get_mut(i))
        {
            *slot = value;
            return;
        }
        if key == KVal::Nil {
            return;
        }
        if let Some(at) = self.find(&key) {
            self.hash[at].1 = value;
        } else if self.hash.len() < self.nodes {
            self.hash.push((key, value));
            self.add_to_index();
        } else {
            self.rehash_for(&key);
            self.set(key, value);
        }
    }
    /// The position of an entry of the hash part.
    fn find(&self, key: &KVal) -> Option<usize> {
        match self.hash.len() {
            0..=FEW => self.hash.iter().position(|e| e.0 == *key),
            _ => self.index.get(&HashKey::of(key)?).copied(),
        }
    }
    /// Adds the last entry to the index, or all entries when there are too many to compare them one by one.
    fn add_to_index(&mut self) {
        let from = match self.hash.len() - 1 {
            0..FEW => return,
            FEW => 0,
            last => last,
        };
        let keys = self.hash.iter().enumerate().skip(from);
        self.index.extend(keys.filter_map(|(at, e)| Some((HashKey::of(&e.0)?, at))));
    }
    /// Makes room for one more key.
    fn rehash_for(&mut self, key: &KVal) {
        let mut bins = Bins::default();
        let mut ints = 0;
        let mut total = 1;
        for (i, v) in self.array.iter().enumerate() {
            if *v != KVal::Nil {
                ints += count(&mut bins, &KVal::Int(i as i32));
                total += 1;
            }
        }
        for (k, _) in self.hash.iter().filter(|e| is_live(e)) {
            ints += count(&mut bins, k);
            total += 1;
        }
        ints += count(&mut bins, key);
        let (asize, held) = bins.best(ints);
        self.resize(asize as usize, total - held);
    }
    /// Changes the sizes of both parts and moves each entry to its part.
    fn resize(&mut self, asize: usize, entries: u32) {
        let kept = asize.min(self.array.len());
        let tail = self.array.split_off(kept);
        self.array.resize(asize, KVal::Nil);
        self.nodes = match hbits_for(entries) {
            0 => 0,
            bits => 1 << bits,
        };
        self.index.clear();
        let tail = (kept as i32..).map(KVal::Int).zip(tail).filter(|(_, v)| *v != KVal::Nil);
        let old = core::mem::take(&mut self.hash);
        for (k, v) in tail.chain(old.into_iter().filter(is_live)) {
            self.set(k, v);
        }
    }
    /// The finished template, whose array part has at least `asize` slots.
    pub(super) fn finish(mut self, asize: u32) -> TableTemplate {
        if self.array.len() < asize as usize {
            self.resize(asize as usize, self.nodes as u32);
        }
        TableTemplate { array: self.array, hash: self.hash.into_iter().filter(is_live).collect() }
    }
}

/// Does the entry count? A name without a value does, because another instruction is about to store to it.
fn is_live((key, value): &(KVal, KVal)) -> bool {
    *value != KVal::Nil || matches!(key, KVal::Str(_))
}

fn count(bins: &mut Bins, key: &KVal) -> u32 {
    match key {
        KVal::Int(i) => bins.count(Value::int(*i)),
        _ => 0,
    }
}
