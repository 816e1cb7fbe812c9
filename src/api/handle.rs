//! Handles: rooted values that know their state.

use super::error::{Error, Result};
use super::lua::{CLOSED, Lua, WeakLua};
use super::state::{Locked, State};
use super::sync::Shared;
use perilune_vm::value::Value as Raw;
use std::fmt;
use std::ops::Deref;

/// A value that the collector keeps as long as the handle, or a clone of it, exists. It does not keep its state: when that is closed,
/// methods with a `Result` give [`Error::StateClosed`], and others panic with "Lua instance is destroyed", as all do in mlua. `Debug`
/// shows [`CLOSED_STATE`] then, and the handle is equal to its clones alone.
pub struct Handle {
    state: WeakLua,
    slot: u32,
}

/// What is shown of a handle whose state is closed.
pub(crate) const CLOSED_STATE: &str = "<closed state>";

/// A state, locked as long as this exists.
pub(crate) struct LockedLua {
    // Fields are dropped in this order: the lock is given up before the state may be closed.
    _lock: Locked,
    lua: Lua,
}

impl LockedLua {
    #[inline]
    pub fn new(lua: Lua) -> LockedLua {
        LockedLua { _lock: lua.0.lock(), lua }
    }
}

impl Deref for LockedLua {
    type Target = Lua;
    #[inline]
    fn deref(&self) -> &Lua {
        &self.lua
    }
}

/// Apart from the methods that are inlined into those of the API.
#[cold]
#[inline(never)]
fn closed(used: &'static str) -> Error {
    Error::StateClosed { used }
}

impl Handle {
    pub(crate) fn new(state: &Shared<State>, v: Raw) -> Handle {
        Handle { state: WeakLua::of(state), slot: state.add_root(v) }
    }
    /// The state, locked.
    ///
    /// # Errors
    /// It is closed; `used` is the method that was called.
    #[inline]
    pub(crate) fn open(&self, used: &'static str) -> Result<LockedLua> {
        self.alive(used).map(LockedLua::new)
    }
    /// The state, which stays open as long as the result exists.
    ///
    /// # Errors
    /// It is closed; `used` is the method that was called.
    #[inline]
    pub(crate) fn alive(&self, used: &'static str) -> Result<Lua> {
        self.state.try_upgrade().ok_or_else(|| closed(used))
    }
    /// The state, locked.
    ///
    /// # Panics
    /// It is closed.
    #[inline]
    pub(crate) fn lua(&self) -> LockedLua {
        LockedLua::new(self.state.upgrade())
    }
    /// The state, locked, if it is not closed.
    pub(crate) fn try_lua(&self) -> Option<LockedLua> {
        self.state.try_upgrade().map(LockedLua::new)
    }
    /// Locks the state, if it is not closed.
    #[cfg(feature = "send")]
    pub(crate) fn lock(&self) -> Option<Locked> {
        self.state.0.upgrade().map(|state| State::lock(&state))
    }
    /// Locks the state, if it is not closed.
    #[cfg(not(feature = "send"))]
    #[inline(always)]
    pub(crate) fn lock(&self) -> Option<Locked> {
        None
    }
    /// The value. It stays alive as long as the handle.
    ///
    /// # Panics
    /// The state is closed.
    #[inline]
    pub(crate) fn get(&self) -> Raw {
        self.try_get().expect(CLOSED)
    }
    /// The value, if the state is not closed.
    #[inline]
    pub(crate) fn try_get(&self) -> Option<Raw> {
        State::with_alive(&self.state, |state| state.roots.get(self.slot))
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
    pub(crate) fn get_in(&self, state: &Shared<State>) -> Result<Raw> {
        if self.state.is(state) {
            return Ok(self.get());
        }
        // To look at the value would take the lock of the other state, whose thread may wait for the lock of this one.
        let known = if cfg!(feature = "send") { None } else { self.try_get() };
        Err(Error::ForeignValue { what: known.map_or("value", |v| v.type_name()) })
    }
    /// Do both stand for the same object? If their state is closed, only a handle and its clones do.
    pub(crate) fn is_same(&self, other: &Handle) -> bool {
        if self.state != other.state {
            return false;
        }
        let _lock = self.lock();
        match (self.try_get(), other.try_get()) {
            (Some(a), Some(b)) => a.raw_equals(b),
            _ => self.slot == other.slot,
        }
    }
    /// Address of the object.
    pub(crate) fn address(&self) -> *const std::ffi::c_void {
        let _lock = self.lock();
        core::ptr::without_provenance(self.get().payload() as usize)
    }
}

impl Clone for Handle {
    #[inline]
    fn clone(&self) -> Handle {
        let _lock = self.lock();
        let _ = State::with_alive(&self.state, |state| state.roots.share(self.slot));
        Handle { state: self.state.clone(), slot: self.slot }
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        let _lock = self.lock();
        // When the state is closed, its roots are gone.
        let _ = State::with_alive(&self.state, |state| state.roots.release(self.slot));
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lua() {
            Some(lua) => write!(f, "Ref({:#x})", self.get_with(&lua).payload()),
            None => write!(f, "Ref({CLOSED_STATE})"),
        }
    }
}

/// Identity of the object.
impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.is_same(other)
    }
}
