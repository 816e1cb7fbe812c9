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
    index: BTreeMap<HashKey, usize>,
    /// Room in the hash part.
    nodes: usize,
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
        let hash_key = match &key {
            KVal::Nil => return,
            KVal::Bool(b) => HashKey::Bool(*b),
            KVal::Int(i) => HashKey::Int(*i),
            KVal::Num(x) => HashKey::Num(x.to_bits()),
            KVal::Str(s) => HashKey::Str(s.clone()),
        };
        if let Some(&at) = self.index.get(&hash_key) {
            self.hash[at].1 = value;
        } else if self.hash.len() < self.nodes {
            self.index.insert(hash_key, self.hash.len());
            self.hash.push((key, value));
        } else {
            self.rehash_for(&key);
            self.set(key, value);
        }
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
