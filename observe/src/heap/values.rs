//! Numbers and booleans in a snapshot: each value is one node without a size, so that the developer tools show it where objects refer to it.

use perilune_vm::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Different values that become nodes; others are not shown.
const MAX_VALUES: usize = 100_000;
/// Elements of an array part that are shown if they are numbers or booleans: a large array of numbers would be most of the file.
pub const SHOWN_ELEMENTS: u32 = 100;

/// The values that have a node, in the order in which they were found.
#[derive(Default)]
pub struct Values {
    known: RefCell<HashMap<u64, u32>>,
    in_order: RefCell<Vec<Value>>,
    /// Are all known that are to have a node?
    complete: Cell<bool>,
}

impl Values {
    /// The number of a value, which is new if it was not met before.
    pub fn number(&self, v: Value) -> Option<u32> {
        // An integer and the double that is equal to it are one value to the program.
        let key = v.as_number().map_or(v.bits(), f64::to_bits);
        if let Some(&n) = self.known.borrow().get(&key) {
            return Some(n);
        }
        let mut in_order = self.in_order.borrow_mut();
        if self.complete.get() || in_order.len() >= MAX_VALUES {
            return None;
        }
        let n = in_order.len() as u32;
        in_order.push(v);
        self.known.borrow_mut().insert(key, n);
        Some(n)
    }
    /// All references have been seen: there are no further values.
    pub fn complete(&self) {
        self.complete.set(true);
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.in_order.borrow().len()
    }
    /// What a value is shown as.
    pub fn text(&self, n: usize) -> String {
        let mut text = Vec::new();
        if let Some(v) = self.in_order.borrow().get(n) {
            perilune_vm::stdlib::put_value(&mut text, *v);
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}
