//! An allocator of ranges: which parts of the arena are in use.

use std::collections::BTreeMap;

/// A space of numbers, of which ranges are taken and given back.
#[derive(Clone, Debug)]
pub struct Ranges {
    size: usize,
    used: usize,
    /// Free ranges, start and length; no two of them touch.
    free: BTreeMap<usize, usize>,
}

impl Ranges {
    /// A space of the numbers below `size`, all free.
    pub fn new(size: usize) -> Ranges {
        Ranges { size, used: 0, free: BTreeMap::from([(0, size)]) }
    }
    /// The start of the lowest free range of `len` numbers.
    pub fn find(&self, len: usize) -> Option<usize> {
        self.free.iter().find(|r| *r.1 >= len).map(|r| *r.0)
    }
    /// Takes a part of a range that [`Ranges::find`] found.
    pub fn reserve(&mut self, start: usize, len: usize) {
        if len == 0 {
            return;
        }
        let Some((&first, &have)) = self.free.range(..=start).next_back() else {
            return debug_assert!(false, "a range that is taken");
        };
        debug_assert!(first + have >= start + len);
        self.free.remove(&first);
        for (from, to) in [(first, start), (start + len, first + have)] {
            if from < to {
                self.free.insert(from, to - from);
            }
        }
        self.used += len;
    }
    /// Gives a range back that was taken.
    pub fn release(&mut self, start: usize, len: usize) {
        if len == 0 {
            return;
        }
        self.used -= len;
        let (mut start, mut len) = (start, len);
        if let Some(behind) = self.free.remove(&(start + len)) {
            len += behind;
        }
        if let Some((&before, &n)) = self.free.range(..start).next_back()
            && before + n == start
        {
            (start, len) = (before, n + len);
        }
        self.free.insert(start, len);
    }
    /// Gives everything back.
    pub fn clear(&mut self) {
        *self = Ranges::new(self.size);
    }
    /// How many numbers are taken.
    pub fn used(&self) -> usize {
        self.used
    }
    /// How many numbers there are.
    pub fn size(&self) -> usize {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    fn take(r: &mut Ranges, len: usize) -> Option<usize> {
        let at = r.find(len)?;
        r.reserve(at, len);
        Some(at)
    }

    #[test]
    fn released_ranges_are_joined_and_reserved_again() {
        let mut r = Ranges::new(100);
        assert_eq!([30, 30, 30].map(|n| take(&mut r, n)), [Some(0), Some(30), Some(60)]);
        assert_eq!((take(&mut r, 20), r.used()), (None, 90));
        r.release(0, 30);
        r.release(60, 30);
        assert_eq!(take(&mut r, 40), Some(60));
        assert_eq!(take(&mut r, 20), Some(0));
        r.release(60, 40);
        r.release(30, 30);
        assert_eq!((take(&mut r, 80), r.used()), (Some(20), 100));
        r.release(20, 80);
        r.reserve(50, 10);
        assert_eq!([40, 30].map(|n| take(&mut r, n)), [Some(60), Some(20)]);
        r.clear();
        assert_eq!((take(&mut r, 100), r.used()), (Some(0), 100));
    }
}
