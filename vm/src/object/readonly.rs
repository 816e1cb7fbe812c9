//! Read-only tables: libraries that programs of a sandbox share.
//!
//! No store may pay for them where there are none, so the fast ways of the interpreter do not look whether a table is read-only. They are not
//! taken for such tables instead: these have no array part, and their string keys are flagged as if they had watchpoints
//! ([`super::watchpoint`]), so that a store to an existing field is looked at; one that inserts always is. Compiled code guards each store to
//! a table that is no constant as soon as a read-only table exists. All traces are thrown away when a table becomes read-only, or writable.

use super::watchpoint::WATCHED;
use super::{Gc, Table, hbits_for};
use crate::Vm;
use crate::error::LuaResult;
use crate::hooks::Mode;

/// Flag of read-only tables, beside [`WATCHED`].
pub const READONLY: u8 = 1;

impl Table {
    /// Is it read-only?
    #[inline(always)]
    pub fn is_readonly(&self) -> bool {
        self.hdr.b1.get() & READONLY != 0
    }
}

impl Vm {
    /// Makes a table read-only, or writable again. Elements of an array are kept like other keys from then on.
    pub fn set_readonly(&mut self, t: Gc<Table>, readonly: bool) {
        if t.is_readonly() == readonly {
            return;
        }
        if self.interp.mode == Mode::Record {
            self.abort_recording();
        }
        let flags = t.hdr.b1.get();
        t.hdr.b1.set(if readonly { flags | WATCHED | READONLY } else { flags & !READONLY });
        if readonly {
            self.realm.has_readonly = true;
            let elements = t.array_part().iter().filter(|v| !v.get().is_nil()).count();
            let fields = t.nodes().iter().filter(|n| !n.val.get().is_nil()).count();
            self.table_resize(t, 0, hbits_for((elements + fields) as u32));
            for key in t.nodes().iter().filter_map(|n| n.key.get().as_str()) {
                key.hdr.b1.set(key.hdr.b1.get() | WATCHED);
            }
        }
        // Compiled code that has called the builtin which does this must not go on either.
        self.compiled.invalidations = self.compiled.invalidations.wrapping_add(1);
        self.constant_changed();
    }
    /// To be called before a table is stored to, unless it is known to be writable.
    ///
    /// # Errors
    /// It is read-only.
    #[inline]
    pub fn check_writable(&mut self, t: Gc<Table>) -> LuaResult<()> {
        if t.is_readonly() { Err(self.operation_error("attempt to modify a readonly table")) } else { Ok(()) }
    }
}
