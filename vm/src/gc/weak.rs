//! Weak tables: tables whose metatable has `__mode`. They stay gray, are traversed again in the atomic phase, and are cleared at its end.
//! Strings count as values and are never removed.

use super::mark::WeakMode;
use super::{Heap, Marker};
use crate::interrupt::{Interrupted, Poll};
use crate::meta::MM;
use crate::object::{Gc, Table};
use crate::value::Value;
use core::cell::Cell;

/// Bit of the negative metamethod cache for `__mode`.
pub(super) const NO_MODE: u8 = 1 << MM::Mode as u8;

impl Marker {
    /// The mode that a metatable asks for, if any.
    #[inline(always)]
    pub(super) fn weak_mode(&self, meta: Gc<Table>) -> Option<WeakMode> {
        if meta.hdr.b0.get() & NO_MODE != 0 { None } else { self.find_weak_mode(meta) }
    }
    #[cold]
    #[inline(never)]
    fn find_weak_mode(&self, meta: Gc<Table>) -> Option<WeakMode> {
        let mode = meta.get_str(self.mode_name?);
        if mode.is_nil() {
            meta.hdr.b0.set(meta.hdr.b0.get() | NO_MODE);
        }
        let mode = mode.as_str()?;
        let mode = WeakMode { keys: mode.bytes().contains(&b'k'), values: mode.bytes().contains(&b'v') };
        if mode.keys || mode.values { Some(mode) } else { None }
    }
    /// Marks the strong references of a weak table, and notes the table for clearing.
    #[cold]
    #[inline(never)]
    pub(super) fn traverse_weak(&mut self, t: Gc<Table>, mode: WeakMode) {
        self.weak.push((t, mode));
        if let Some(m) = t.meta.get() {
            self.mark(m);
        }
        self.visit_slots(t.array_part(), mode);
        for n in t.nodes() {
            Table::visit_node(n, !mode.keys, !mode.values, self);
        }
    }
    /// Marks the strong references in slots of the array part of a table that is weak in this way.
    pub(super) fn visit_slots(&mut self, slots: &[Cell<Value>], mode: WeakMode) {
        for slot in slots {
            if !mode.values || slot.get().is_str() {
                self.mark_value(slot.get());
            }
        }
    }
    /// Which references of a table are weak.
    pub(super) fn weak_mode_of(&self, t: &Table) -> WeakMode {
        t.meta.get().and_then(|m| self.weak_mode(m)).unwrap_or(WeakMode { keys: false, values: false })
    }
    /// Removes the entries of weak tables that refer to objects about to be freed. A finalized userdata stays as a key until
    /// the cycle that frees it, but not as a value. Where it is interrupted, some of the entries are still there, and nothing may be freed.
    pub(super) fn clear_weak(&mut self, poll: Poll<'_>) -> Result<(), Interrupted> {
        poll.look()?;
        for (t, _) in core::mem::take(&mut self.weak) {
            for part in t.array_part().chunks(Poll::ENTRIES) {
                for slot in part {
                    if is_cleared(slot.get(), true) {
                        slot.set(Value::NIL);
                    }
                }
                poll.look()?;
            }
            for part in t.nodes().chunks(Poll::ENTRIES) {
                for n in part {
                    if !n.val.get().is_nil() && (is_cleared(n.key.get(), false) || is_cleared(n.val.get(), true)) {
                        n.val.set(Value::NIL);
                    }
                }
                poll.look()?;
            }
        }
        Ok(())
    }
}

impl Heap {
    /// Which references of a table are weak, if it is a weak table.
    pub fn weak_mode(&self, t: &Table) -> Option<WeakMode> {
        self.cycle.marker.weak_mode(t.meta.get()?)
    }
}

/// Must an entry with this value (or key) be removed from a weak table? All strongly held objects are marked.
fn is_cleared(v: Value, as_value: bool) -> bool {
    match v.as_gc() {
        Some(o) => {
            o.is_white()
                || as_value && v.as_udata().is_some_and(|u| u.hdr.b0.get() != 0)
                // A cdata whose finalizer is due is there for the finalizer only.
                || v.as_cdata().is_some_and(|c| c.hdr.b1.get() != 0)
        }
        None => false,
    }
}
