//! The fields that make up the number profile (`jit/src/feedback/number_profile.rs`), counted by the prototypes that have found them, so
//! that a field is forgotten with the last of these.

use std::collections::{BTreeMap, BTreeSet};

/// A field of a class: the addresses of the class and of the name. When a class is freed, another one may get its address: its integers are
/// then converted needlessly.
pub type Field = (usize, usize);

/// More fields are not remembered, because one function may load from more and more classes. So many take about
/// 40 KB.
const MAX: usize = 1000;

/// The fields that have held both integers and other numbers, each with the number of prototypes that have found it.
#[derive(Default, Debug)]
pub struct NumberProfile(BTreeMap<Field, u32>);

impl NumberProfile {
    /// Is there no such field?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Is a field one of them?
    pub fn contains(&self, field: Field) -> bool {
        self.0.contains_key(&field)
    }
    /// Adds fields that loads of one prototype have found to hold both; `known` are the fields that the prototype has found before.
    pub fn add(&mut self, known: &mut BTreeSet<Field>, found: impl IntoIterator<Item = Field>) {
        for field in found {
            if known.insert(field) {
                *self.0.entry(field).or_default() += 1;
            }
        }
    }
    /// A prototype that has found these fields is freed.
    pub fn remove(&mut self, found: &BTreeSet<Field>) {
        for field in found {
            if let Some(n) = self.0.get_mut(field) {
                *n -= 1;
                if *n == 0 {
                    self.0.remove(field);
                }
            }
        }
    }
    /// Are there so many fields that they must be forgotten?
    pub fn is_full(&self) -> bool {
        self.0.len() >= MAX
    }
    /// Forgets all fields.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
