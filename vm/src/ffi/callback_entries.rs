//! The callback entries of the process ([`crate::abi`]), and those that a VM has taken.

use super::classify::CallPlan;
use crate::abi::CALLBACK_ENTRIES;
use crate::object::ThreadLink;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::rc::Rc;

/// The owner of each callback entry, or null. An entry that was given back keeps its owner, marked by [`FREED`], which raises the error when it
/// is called all the same.
static OWNERS: [AtomicPtr<ThreadLink>; CALLBACK_ENTRIES] = [const { AtomicPtr::new(core::ptr::null_mut()) }; CALLBACK_ENTRIES];

/// The bit that marks an entry as free: links are aligned.
const FREED: usize = 1;

/// A callback of a VM.
#[derive(Debug)]
pub(super) struct Callback {
    /// The Lua function, among the roots.
    pub function: u32,
    /// How it takes its arguments.
    pub plan: Rc<CallPlan>,
}

/// The callbacks of a VM, by their entries.
#[derive(Debug, Default)]
pub struct Callbacks {
    pub(super) taken: Vec<Option<Callback>>,
    /// No entry below is free, unless another VM has given it back.
    first_free: usize,
    /// Address of the VM's link; 0 if it has never taken an entry.
    owner: usize,
}

impl Drop for Callbacks {
    fn drop(&mut self) {
        if self.owner == 0 {
            return;
        }
        for owner in &OWNERS {
            let link = owner.load(Ordering::Acquire);
            if link.addr() & !FREED == self.owner {
                // Another VM may have taken it now.
                let _ = owner.compare_exchange(link, core::ptr::null_mut(), Ordering::AcqRel, Ordering::Relaxed);
            }
        }
    }
}

impl Callbacks {
    /// Takes a free entry.
    pub(super) fn take(&mut self, link: *mut ThreadLink) -> Option<usize> {
        self.owner = link.addr();
        let mut order = (self.first_free..CALLBACK_ENTRIES).chain(0..self.first_free);
        let entry = order.find(|entry| {
            let owner = OWNERS[*entry].load(Ordering::Acquire);
            let is_free = owner.is_null() || owner.addr() & FREED != 0;
            is_free && OWNERS[*entry].compare_exchange(owner, link, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })?;
        self.first_free = entry + 1;
        Some(entry)
    }
    /// Gives an entry back.
    pub(super) fn give_back(&mut self, entry: usize) {
        OWNERS[entry].fetch_or(FREED, Ordering::AcqRel);
        self.first_free = self.first_free.min(entry);
    }
}

/// The owner of an entry, also if the entry was given back; null if it has never had one.
pub(super) fn owner(entry: usize) -> *mut ThreadLink {
    OWNERS[entry].load(Ordering::Acquire).map_addr(|address| address & !FREED)
}
