//! Texts that are kept once each, by number, all in one piece of memory: a hundred thousand of them are freed at once.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Different texts, numbered from 0 in the order in which they came.
#[derive(Default)]
pub struct Interner {
    all: String,
    /// Where each ends.
    ends: Vec<usize>,
    /// Numbers by hash. Of several texts with one hash, each has the next hash that was free when it came.
    by_hash: HashMap<u64, u32, RandomState>,
    state: RandomState,
}

impl Interner {
    /// The number of a text, or the hash for it.
    fn find(&self, text: &str) -> Result<u32, u64> {
        let mut hash = self.state.hash_one(text);
        while let Some(&n) = self.by_hash.get(&hash) {
            if self.get(n) == text {
                return Ok(n);
            }
            hash = hash.wrapping_add(1);
        }
        Err(hash)
    }
    /// The number of a text, if it has come.
    pub fn number(&self, text: &str) -> Option<u32> {
        self.find(text).ok()
    }
    /// The number of a text, which is new if it has not come yet.
    pub fn intern(&mut self, text: &str) -> u32 {
        self.find(text).unwrap_or_else(|hash| {
            let n = self.len();
            self.all.push_str(text);
            self.ends.push(self.all.len());
            self.by_hash.insert(hash, n);
            n
        })
    }
    /// The text with a number.
    pub fn get(&self, n: u32) -> &str {
        let n = n as usize;
        let from = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[from..self.ends[n]]
    }
    /// How many texts there are.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }
    /// All texts, by number.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|n| self.get(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let mut texts = Interner::default();
        assert_eq!(texts.number(""), None);
        for round in 0..2 {
            for (n, text) in ["", "a", "ab", "b", "ü"].into_iter().enumerate() {
                assert_eq!(texts.intern(text), n as u32, "{round}");
            }
        }
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "a", "ab", "b", "ü"]);
        assert_eq!((texts.number("b"), texts.number("aba")), (Some(3), None));
    }
}
