//! Handles: rooted values that know their state.

use super::error::{Error, Result};
use super::lua::{CLOSED, Lua, WeakLua};
use super::state::State;
use perilune_vm::value::Value as Raw;
use std::fmt;
use std::rc::Rc;

/// A value that the collector keeps as long as the handle, or a clone of it, exists. It does not keep its state: using a handle whose
/// state is closed panics with "Lua instance is destroyed", as in mlua.
pub struct Handle {
    state: WeakLua,
    slot: u32,
}

impl Handle {
    pub(crate) fn new(state: &Rc<State>, v: Raw) -> Handle {
        Handle { state: WeakLua::of(state), slot: state.add_root(v) }
    }
    /// The state.
    pub(crate) fn lua(&self) -> Lua {
        self.state.upgrade()
    }
    /// The state, if it is not closed.
    #[cfg(feature = "async")]
    pub(crate) fn try_lua(&self) -> Option<Lua> {
        self.state.try_upgrade()
    }
    /// The value. It stays alive as long as the handle.
    #[inline]
    pub(crate) fn get(&self) -> Raw {
        State::with_alive(&self.state, |state| state.roots.get(self.slot)).expect(CLOSED)
    }
    /// The value, if the state is known already.
    #[inline]
    pub(crate) fn get_with(&self, lua: &Lua) -> Raw {
        debug_assert!(self.state.is(&lua.0));
        lua.0.roots.get(self.slot)
    }
    /// The value, for use in a state.
    ///
    /// # Errors
    /// The handle belongs to another state.
    pub(crate) fn get_in(&self, state: &Rc<State>) -> Result<Raw> {
        let v = self.get();
        if self.state.is(state) { Ok(v) } else { Err(Error::ForeignValue { what: v.type_name() }) }
    }
    /// Do both stand for the same object?
    pub(crate) fn is_same(&self, other: &Handle) -> bool {
        self.state == other.state && self.get().raw_equals(other.get())
    }
    /// Address of the object.
    pub(crate) fn address(&self) -> *const std::ffi::c_void {
        core::ptr::without_provenance(self.get().payload() as usize)
    }
}

impl Clone for Handle {
    fn clone(&self) -> Handle {
        let _ = State::with_alive(&self.state, |state| state.roots.share(self.slot));
        Handle { state: self.state.clone(), slot: self.slot }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // When the state is closed, its roots are gone.
        let _ = State::with_alive(&self.state, |state| state.roots.release(self.slot));
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state.try_upgrade() {
            Some(lua) => write!(f, "Ref({:#x})", lua.0.roots.get(self.slot).payload()),
            None => f.write_str("Ref(closed state)"),
        }
    }
}

/// Identity of the object.
impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.is_same(other)
    }
}
