//! References to values of userdata.
#![allow(unsafe_code, reason = "a reference into a userdata lives as long as its borrow, which the flags of the cell count")]

use super::AnyUserData;
use super::cell::Borrow;
use crate::api::convert::FromLua;
use crate::api::error::{Error, Result};
use crate::api::multi::bad_argument;
use crate::api::passing::{Passed, Place};
use crate::api::type_name::short_type_name;
use crate::api::{Lua, Value};
use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A value of a userdata, borrowed to read. As a parameter it takes a userdata of this type.
///
/// It keeps the value, not the userdata: the userdata may be destroyed or collected meanwhile.
///
/// ```
/// use perilune::{Lua, UserDataRef};
///
/// let lua = Lua::new();
/// let len = lua.create_function(|_, s: UserDataRef<Vec<u8>>| Ok(s.len()))?;
/// let bytes = lua.create_any_userdata(vec![1u8, 2, 3])?;
/// assert_eq!(len.call::<usize>(bytes)?, 3);
/// assert!(len.call::<usize>("text").is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct UserDataRef<T: 'static> {
    value: *const T,
    /// Dropped before the borrow: a guard of the wrapper that the userdata holds.
    _guard: Option<Box<dyn Any>>,
    _borrow: Borrow,
}

/// A value of a userdata, borrowed to write. As a parameter it takes a userdata of this type.
///
/// ```
/// use perilune::{Lua, UserDataRefMut};
///
/// let lua = Lua::new();
/// let push = lua.create_function(|_, (mut v, n): (UserDataRefMut<Vec<u8>>, u8)| {
///     v.push(n);
///     Ok(())
/// })?;
/// let bytes = lua.create_any_userdata(vec![1u8])?;
/// push.call::<()>((&bytes, 7))?;
/// assert_eq!(*bytes.borrow::<Vec<u8>>()?, [1, 7]);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct UserDataRefMut<T: 'static> {
    value: *mut T,
    _guard: Option<Box<dyn Any>>,
    _borrow: Borrow,
}

/// A value taken out of a userdata, which is destroyed. As a parameter it takes a userdata of this type.
///
/// ```
/// use perilune::{Lua, UserDataOwned};
///
/// let lua = Lua::new();
/// let finish = lua.create_function(|_, v: UserDataOwned<Vec<u8>>| Ok(v.0.len()))?;
/// let bytes = lua.create_any_userdata(vec![1u8])?;
/// assert_eq!(finish.call::<usize>(&bytes)?, 1);
/// assert!(matches!(bytes.borrow::<Vec<u8>>(), Err(perilune::Error::UserDataDestructed)));
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct UserDataOwned<T>(pub T);

impl<T> UserDataRef<T> {
    /// # Safety
    /// The borrow, and the guard if there is one, keep the value where it is and refuse writers.
    pub(super) unsafe fn new(value: *const T, guard: Option<Box<dyn Any>>, borrow: Borrow) -> UserDataRef<T> {
        UserDataRef { value, _guard: guard, _borrow: borrow }
    }
}
impl<T> UserDataRefMut<T> {
    /// # Safety
    /// The borrow, and the guard if there is one, keep the value where it is and refuse all others.
    pub(super) unsafe fn new(value: *mut T, guard: Option<Box<dyn Any>>, borrow: Borrow) -> UserDataRefMut<T> {
        UserDataRefMut { value, _guard: guard, _borrow: borrow }
    }
}

#[cfg(feature = "send")]
// SAFETY: it is a `&T` with a borrow, whose counts are atomic, and maybe with the guard of a lock, which may be given up on another thread
// (feature `send_guard` of `parking_lot`).
unsafe impl<T: Send + Sync> Send for UserDataRef<T> {}
#[cfg(feature = "send")]
// SAFETY: it gives out `&T` only.
unsafe impl<T: Send + Sync> Sync for UserDataRef<T> {}
#[cfg(feature = "send")]
// SAFETY: as above, with a `&mut T`.
unsafe impl<T: Send> Send for UserDataRefMut<T> {}
#[cfg(feature = "send")]
// SAFETY: a reference to it gives out `&T` only.
unsafe impl<T: Sync> Sync for UserDataRefMut<T> {}

impl<T> Deref for UserDataRef<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the borrow, and the guard if there is one, keep the value and refuse writers.
        unsafe { &*self.value }
    }
}
impl<T> Deref for UserDataRefMut<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the borrow, or the guard, keeps the value and refuses all others.
        unsafe { &*self.value }
    }
}
impl<T> DerefMut for UserDataRefMut<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.value }
    }
}
impl<T> Deref for UserDataOwned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}
impl<T> DerefMut for UserDataOwned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

macro_rules! shown_as_value {
    ($($t:ident)*) => {$(
        impl<T: fmt::Debug> fmt::Debug for $t<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
        impl<T: fmt::Display> fmt::Display for $t<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}
shown_as_value! { UserDataRef UserDataRefMut UserDataOwned }

/// The userdata that a value is.
pub(super) fn userdata_of<T>(v: Value) -> Result<AnyUserData> {
    match v {
        Value::UserData(u) => Ok(u),
        _ => {
            // Lua has one type of numbers.
            let from = if matches!(v, Value::Integer(_)) { "number" } else { v.what() };
            let expected = format!("expected userdata of type '{}'", short_type_name::<T>());
            Err(Error::conversion_because(from, "userdata", expected))
        }
    }
}

impl<T: 'static> FromLua for UserDataRef<T> {
    fn from_lua(v: Value, _: &Lua) -> Result<UserDataRef<T>> {
        userdata_of::<T>(v)?.borrow()
    }
}
impl<T: 'static> FromLua for UserDataRefMut<T> {
    fn from_lua(v: Value, _: &Lua) -> Result<UserDataRefMut<T>> {
        userdata_of::<T>(v)?.borrow_mut()
    }
}
impl<T: 'static> FromLua for UserDataOwned<T> {
    fn from_lua(v: Value, _: &Lua) -> Result<UserDataOwned<T>> {
        userdata_of::<T>(v)?.take().map(UserDataOwned)
    }
    const EMPTIES: bool = true;
    fn check(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<()> {
        let checked = userdata_of::<T>(values.value(i)).and_then(|u| u.check_take::<T>());
        checked.map_err(|e| match place {
            None => e,
            Some((n, to)) => bad_argument(n, to, e),
        })
    }
}
