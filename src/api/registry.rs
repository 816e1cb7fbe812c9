//! The registry: values that Rust keeps without a handle, by keys that may go to other threads, or by names.

use super::convert::{FromLua, IntoLua};
use super::error::{Error, Result};
use super::lua::Lua;
use super::passing::{Frame, pass};
use super::value::Value;
use perilune_vm::host::Roots;
use perilune_vm::value::Value as Raw;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Slots of dropped keys, to be released by the state's own thread.
#[derive(Debug, Default)]
pub struct Released {
    slots: Mutex<Vec<u32>>,
    any: AtomicBool,
}

/// The slot of a key whose value is nil.
const NIL: u32 = u32::MAX;

impl Released {
    /// A key for a root slot.
    pub fn key(this: &Arc<Released>, slot: u32) -> RegistryKey {
        RegistryKey { slot, state: Arc::clone(this) }
    }
    /// A key for nil, which takes no slot.
    pub fn nil_key(this: &Arc<Released>) -> RegistryKey {
        Released::key(this, NIL)
    }
    /// Releases the values of dropped keys.
    #[inline]
    pub fn release(&self, roots: &Roots) {
        if self.any.load(Ordering::Relaxed) {
            self.release_all(roots);
        }
    }
    #[cold]
    fn release_all(&self, roots: &Roots) {
        self.any.store(false, Ordering::Relaxed);
        for slot in core::mem::take(&mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner)) {
            roots.release(slot);
        }
    }
    /// The value of a key; `None` if another state made it.
    pub fn value(self: &Arc<Released>, key: &RegistryKey, roots: &Roots) -> Option<Raw> {
        Arc::ptr_eq(self, &key.state).then(|| if key.slot == NIL { Raw::NIL } else { roots.get(key.slot) })
    }
}

/// A value in the registry of a state. It is kept until the key is dropped, which can happen on any thread.
///
/// ```
/// let lua = perilune::Lua::new();
/// let key = lua.create_registry_value("kept")?;
/// assert_eq!(lua.registry_value::<String>(&key)?, "kept");
/// assert!(perilune::Lua::new().registry_value::<String>(&key).is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct RegistryKey {
    slot: u32,
    state: Arc<Released>,
}

impl Drop for RegistryKey {
    fn drop(&mut self) {
        if self.slot == NIL {
            return;
        }
        self.state.slots.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
        self.state.any.store(true, Ordering::Relaxed);
    }
}
impl fmt::Debug for RegistryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RegistryKey({})", self.slot)
    }
}
impl Hash for RegistryKey {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.slot.hash(h);
    }
}
impl PartialEq for RegistryKey {
    fn eq(&self, other: &RegistryKey) -> bool {
        self.slot == other.slot && Arc::ptr_eq(&self.state, &other.state)
    }
}
impl Eq for RegistryKey {}

/// Values by name. Lua code does not reach them.
#[derive(Default)]
pub struct Names(RefCell<HashMap<String, RegistryKey>>);

impl Lua {
    /// Keeps a value, for a key that may go to other threads.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let key = lua.create_registry_value(lua.create_table_from([("x", 1)])?)?;
    /// // Keys go to other threads, values do not.
    /// let key = std::thread::spawn(move || key).join().unwrap();
    /// assert_eq!(lua.registry_value::<perilune::Table>(&key)?.get::<i32>("x")?, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value cannot be converted.
    pub fn create_registry_value(&self, v: impl IntoLua) -> Result<RegistryKey> {
        let _lock = self.0.lock();
        let frame = Frame::new(self);
        v.pass(self)?;
        let (v, released) = (frame.raw(0), &self.0.released);
        let key = if v.is_nil() { Released::nil_key(released) } else { Released::key(released, self.0.add_root(v)) };
        self.0.step()?;
        Ok(key)
    }
    /// The value of a key.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let (lua, other) = (Lua::new(), Lua::new());
    /// let key = lua.create_registry_value(42)?;
    /// assert_eq!(lua.registry_value::<i32>(&key)?, 42);
    /// assert!(matches!(other.registry_value::<i32>(&key), Err(Error::MismatchedRegistryKey)));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another state made the key, or the value is not a `T`.
    pub fn registry_value<T: FromLua>(&self, key: &RegistryKey) -> Result<T> {
        let _lock = self.0.lock();
        let v = self.0.released.value(key, &self.0.roots).ok_or(Error::MismatchedRegistryKey)?;
        let frame = Frame::new(self);
        pass(self, v);
        T::take(frame.passed(self), 0, None)
    }
    /// Drops a key and its value.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let key = lua.create_registry_value("kept")?;
    /// lua.remove_registry_value(key)?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another state made the key.
    pub fn remove_registry_value(&self, key: RegistryKey) -> Result<()> {
        if self.owns_registry_value(&key) { Ok(()) } else { Err(Error::MismatchedRegistryKey) }
    }
    /// Gives a key another value.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut key = lua.create_registry_value("old")?;
    /// lua.replace_registry_value(&mut key, "new")?;
    /// assert_eq!(lua.registry_value::<String>(&key)?, "new");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Another state made the key, or the value cannot be converted.
    pub fn replace_registry_value(&self, key: &mut RegistryKey, v: impl IntoLua) -> Result<()> {
        let _lock = self.0.lock();
        if !self.owns_registry_value(key) {
            return Err(Error::MismatchedRegistryKey);
        }
        *key = self.create_registry_value(v)?;
        Ok(())
    }
    /// Has this state made the key?
    ///
    /// ```
    /// use perilune::Lua;
    ///
    /// let (lua, other) = (Lua::new(), Lua::new());
    /// let key = lua.create_registry_value(1)?;
    /// assert!(lua.owns_registry_value(&key) && !other.owns_registry_value(&key));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn owns_registry_value(&self, key: &RegistryKey) -> bool {
        let _lock = self.0.lock();
        Arc::ptr_eq(&self.0.released, &key.state)
    }
    /// Lets go of the values of dropped keys. That happens by itself, too, when other values are made.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let key = lua.create_registry_value(lua.create_string("x".repeat(1_000_000))?)?;
    /// drop(key);
    /// lua.expire_registry_values();
    /// lua.gc_collect()?;
    /// assert!(lua.used_memory() < 1_000_000);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn expire_registry_values(&self) {
        let _lock = self.0.lock();
        self.0.released.release(&self.0.roots);
    }
    /// Keeps a value under a name, instead of the one before.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_named_registry_value("limit", 10)?;
    /// assert_eq!(lua.named_registry_value::<i32>("limit")?, 10);
    /// lua.unset_named_registry_value("limit")?;
    /// assert_eq!(lua.named_registry_value::<Option<i32>>("limit")?, None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value cannot be converted.
    pub fn set_named_registry_value(&self, name: &str, v: impl IntoLua) -> Result<()> {
        let _lock = self.0.lock();
        let key = self.create_registry_value(v)?;
        self.0.names.0.borrow_mut().insert(name.to_owned(), key);
        Ok(())
    }
    /// The value under a name; nil if there is none.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_named_registry_value("limit", 10)?;
    /// assert_eq!(lua.named_registry_value::<i32>("limit")?, 10);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// It is not a `T`.
    pub fn named_registry_value<T: FromLua>(&self, name: &str) -> Result<T> {
        let _lock = self.0.lock();
        let v = self.0.names.0.borrow().get(name).and_then(|key| self.0.released.value(key, &self.0.roots));
        T::from_lua(Value::from_raw(self, v.unwrap_or(Raw::NIL)), self)
    }
    /// Removes the value under a name.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_named_registry_value("limit", 10)?;
    /// lua.unset_named_registry_value("limit")?;
    /// assert!(lua.named_registry_value::<i32>("limit").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn unset_named_registry_value(&self, name: &str) -> Result<()> {
        let _lock = self.0.lock();
        self.0.names.0.borrow_mut().remove(name);
        Ok(())
    }
}
