//! Registry keys: values that Rust keeps without a handle, for structures that go to other threads.

use perilune_vm::host::Roots;
use perilune_vm::value::Value as Raw;
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

impl Released {
    /// A key for a root slot.
    pub fn key(this: &Arc<Released>, slot: u32) -> RegistryKey {
        RegistryKey { slot, state: Arc::clone(this) }
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
        Arc::ptr_eq(self, &key.state).then(|| roots.get(key.slot))
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
