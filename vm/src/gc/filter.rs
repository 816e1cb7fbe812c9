//! Passes over lists of objects, some entries at a time.

/// Entries that are looked at in one step: each may cost a cache miss.
pub(super) const BATCH: usize = 512;
/// The work of looking at an object on a list, in bytes of marking. With much more, the passes over lists of all userdata would take so long
/// that the heap grew by as much as they hold.
pub(super) const WORK: usize = 8;

/// A pass over a list that drops some of its entries; what is appended meanwhile is visited as well.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Entries visited.
    read: usize,
    /// Entries kept, which are in front.
    kept: usize,
}

impl Filter {
    /// Visits some entries. True if that were the last ones.
    pub fn step<T: Copy>(&mut self, list: &mut Vec<T>, mut keep: impl FnMut(T) -> bool) -> bool {
        let end = list.len().min(self.read + BATCH);
        for i in self.read..end {
            let entry = list[i];
            if keep(entry) {
                list[self.kept] = entry;
                self.kept += 1;
            }
        }
        self.read = end;
        if end < list.len() {
            return false;
        }
        list.truncate(self.kept);
        *self = Filter::default();
        true
    }
}
