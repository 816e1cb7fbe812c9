//! Many texts in one piece of memory.

/// Texts by number.
#[derive(Default, Debug)]
pub struct Texts {
    bytes: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Texts {
    /// Adds one; its number.
    pub fn push(&mut self, text: &str) -> usize {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        self.ends.len() - 1
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The text with a number; empty if there is none.
    pub fn get(&self, i: usize) -> &str {
        let start = i.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(self.bytes.len()));
        let end = self.ends.get(i).copied().unwrap_or(start);
        &self.bytes[start..end]
    }
}
