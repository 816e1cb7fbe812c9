//! Values that handles of the embedding API hold, and those on their way between Rust and Lua. Every call between the two uses them several
//! times, so that access costs no test of a borrow.
#![allow(
    unsafe_code,
    reason = "a reference to the lists exists only within a function of this file, which calls no code of others meanwhile"
)]

use crate::value::Value;
use crate::words::move_words;
use std::cell::UnsafeCell;

/// A rooted value and the number of handles that share it.
#[derive(Copy, Clone, Debug)]
struct Slot {
    value: Value,
    /// Too large for a count that overflows, however many handles are forgotten.
    handles: u64,
}

/// The lists behind [`Roots`].
#[derive(Debug, Default)]
struct Lists {
    slots: Vec<Slot>,
    /// Numbers of the slots without handles.
    free: Vec<u32>,
    /// Arguments and results on their way between Rust and Lua, as a stack.
    passing: Vec<Value>,
    /// Values that are to be on their way later, as one list each.
    kept: Vec<Vec<Value>>,
    /// Numbers of the lists that are not in use, which are empty.
    free_kept: Vec<u32>,
}

impl Lists {
    /// Value number `i` of those in slots and on their way.
    fn value(&self, i: usize) -> Option<Value> {
        match self.slots.get(i) {
            Some(slot) => Some(slot.value),
            None => self.passing.get(i - self.slots.len()).copied(),
        }
    }
    /// A slot has no handle any more. Not inline, since each drop of a handle is.
    #[inline(never)]
    fn give_up(&mut self, slot: u32) {
        self.slots[slot as usize].value = Value::NIL;
        self.free.push(slot);
    }
}

/// The number of a new element of a list. A number that is cut off would be that of another element, with a value of another type.
///
/// # Panics
/// There are 2^32 elements already, which take 64 GB.
fn next_number(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32 values are rooted")
}

/// Values that handles keep alive. The collector marks them at the start of a cycle and again at its atomic end, so that no barrier is needed.
#[derive(Debug, Default)]
pub struct Roots(UnsafeCell<Lists>);

impl Roots {
    /// Calls a function with the lists.
    ///
    /// # Safety
    /// `f` reaches no `Roots` but by its argument.
    #[inline(always)]
    unsafe fn with<R>(&self, f: impl FnOnce(&mut Lists) -> R) -> R {
        // SAFETY: the type is not `Sync`, and by the contract there is no other reference while `f` runs.
        f(unsafe { &mut *self.0.get() })
    }
    /// Roots a value; the slot, with one handle.
    #[inline]
    pub fn add(&self, value: Value) -> u32 {
        let new = Slot { value, handles: 1 };
        // SAFETY: the closure only uses its argument.
        unsafe {
            self.with(|lists| {
                if let Some(slot) = lists.free.pop() {
                    lists.slots[slot as usize] = new;
                    return slot;
                }
                let slot = next_number(lists.slots.len());
                lists.slots.push(new);
                slot
            })
        }
    }
    /// The value of a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Value {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.slots[slot as usize].value) }
    }
    /// Adds a handle to a slot.
    #[inline]
    pub fn share(&self, slot: u32) {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.slots[slot as usize].handles += 1) }
    }
    /// Removes a handle from a slot.
    #[inline]
    pub fn release(&self, slot: u32) {
        // SAFETY: the closure only uses its argument.
        unsafe {
            self.with(|lists| {
                let s = &mut lists.slots[slot as usize];
                s.handles -= 1;
                if s.handles == 0 {
                    lists.give_up(slot);
                }
            })
        }
    }
    /// Calls `f` with each rooted value.
    pub fn for_each(&self, mut f: impl FnMut(Value)) {
        let mut i = 0;
        // SAFETY: the closure only uses its argument, and `f` is called outside of it.
        while let Some(value) = unsafe { self.with(|lists| lists.value(i)) } {
            f(value);
            i += 1;
        }
        let (mut list, mut i) = (0, 0);
        // SAFETY: as above.
        while let Some(kept) = unsafe { self.with(|lists| lists.kept.get(list).map(|kept| kept.get(i).copied())) } {
            match kept {
                Some(value) => {
                    f(value);
                    i += 1;
                }
                None => (list, i) = (list + 1, 0),
            }
        }
    }
    /// Number of slots in use.
    pub fn len(&self) -> usize {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.slots.len() - lists.free.len()) }
    }
    /// Is no value rooted?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Values on their way.
impl Roots {
    /// Number of values.
    #[inline]
    pub fn passing_len(&self) -> usize {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.passing.len()) }
    }
    /// Value number `i`.
    #[inline]
    pub fn passing(&self, i: usize) -> Value {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.passing[i]) }
    }
    /// Adds a value.
    #[inline]
    pub fn pass(&self, v: Value) {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.passing.push(v)) }
    }
    /// Removes the values from number `len` on.
    #[inline]
    pub fn truncate_passing(&self, len: usize) {
        // SAFETY: the closure only uses its argument.
        unsafe { self.with(|lists| lists.passing.truncate(len)) }
    }
    /// Puts values there, instead of those from number `from` on.
    #[inline]
    pub fn replace_passing(&self, from: usize, values: &[Value]) {
        // SAFETY: the closure only uses its argument and `values`, which is no part of the lists: those give no references. There is room for
        // all values after the first `from`, which exist.
        unsafe {
            self.with(|lists| {
                let passing = &mut lists.passing;
                passing.truncate(from);
                passing.reserve(values.len());
                move_words(values.as_ptr(), passing.as_mut_ptr().add(passing.len()), values.len());
                passing.set_len(passing.len() + values.len());
            })
        }
    }
    /// Removes the values from number `from` on, and keeps them, as a list.
    pub fn keep_passing(&self, from: usize) -> u32 {
        // SAFETY: the closure only uses its argument.
        unsafe {
            self.with(|lists| {
                let list = lists.free_kept.pop().unwrap_or_else(|| {
                    let list = next_number(lists.kept.len());
                    lists.kept.push(Vec::new());
                    list
                });
                lists.kept[list as usize].extend_from_slice(&lists.passing[from..]);
                lists.passing.truncate(from);
                list
            })
        }
    }
    /// Puts the values of a kept list on their way, and gives up the list.
    pub fn pass_kept(&self, list: u32) {
        // SAFETY: the closure only uses its argument.
        unsafe {
            self.with(|lists| {
                lists.passing.append(&mut lists.kept[list as usize]);
                lists.free_kept.push(list);
            })
        }
    }
    /// Copies `n` values from number `from` on.
    ///
    /// # Safety
    /// `to` has room for as many values.
    #[inline]
    pub(crate) unsafe fn copy_passing(&self, from: usize, to: *mut Value, n: usize) {
        // SAFETY: the closure only uses its argument and the room that the caller promises.
        unsafe { self.with(|lists| move_words(lists.passing[from..from + n].as_ptr(), to, n)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Roots, next_number};
    use crate::value::Value;

    #[test]
    fn more_handles_than_32_bits_count() {
        let mut roots = Roots::default();
        let slot = roots.add(Value::int(7));
        roots.0.get_mut().slots[slot as usize].handles = u64::from(u32::MAX);
        roots.share(slot);
        roots.release(slot);
        assert!(roots.get(slot).raw_equals(Value::int(7)) && roots.len() == 1);
        assert_ne!(roots.add(Value::int(8)), slot);
    }

    #[test]
    fn numbers_are_not_cut_off() {
        assert_eq!(next_number(u32::MAX as usize), u32::MAX);
        assert!(std::panic::catch_unwind(|| next_number(u32::MAX as usize + 1)).is_err());
    }
}
