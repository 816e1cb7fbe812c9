//! How the value of a userdata is reached: directly, or through the smart pointer or lock that the userdata holds.
//!
//! A userdata that holds an `Rc<RefCell<T>>` is used by Lua code and by [`AnyUserData::borrow`](super::AnyUserData::borrow) as if it held
//! a `T`. The lock of the wrapper decides then, besides the borrow flag of the userdata, which borrows are possible.
#![allow(unsafe_code, reason = "a reference through a lock is kept together with the guard of the lock")]

use super::borrow::{UserDataRef, UserDataRefMut};
use super::cell::{AnyShared, Borrow, Content, Mode, Shared};
use crate::api::error::{Error, Result};
use crate::api::sync::Shared as Counted;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

/// Runs `$body` with the shared value, if it holds a `$wrapper`.
macro_rules! held {
    ($any:ident as $wrapper:ty, $v:ident => $body:expr) => {
        if let Some($v) = $any.downcast_ref::<Shared<$wrapper>>() {
            return $body;
        }
    };
}

/// Calls `f` with the value.
pub fn read<T: 'static, R>(content: &Content, f: impl FnOnce(&T) -> R) -> Result<R> {
    let refused = || Error::UserDataBorrowError;
    match content {
        Content::Owned(value) => {
            let any: &dyn Any = &**value;
            held!(any as T, v => v.read(f));
            held!(any as Rc<T>, v => v.read(|v| f(v)));
            held!(any as Arc<T>, v => v.read(|v| f(v)));
            held!(any as Rc<RefCell<T>>, v => v.read(|v| v.try_borrow().map(|v| f(&v)).map_err(|_| refused()))?);
            held!(any as Arc<Mutex<T>>, v => v.read(|v| v.try_lock().map(|v| f(&v)).map_err(|_| refused()))?);
            held!(any as Arc<RwLock<T>>, v => v.read(|v| v.try_read().map(|v| f(&v)).map_err(|_| refused()))?);
            #[cfg(feature = "userdata-wrappers")]
            held!(any as Arc<parking_lot::Mutex<T>>, v => v.read(|v| v.try_lock().map(|v| f(&v)).ok_or_else(refused))?);
            #[cfg(feature = "userdata-wrappers")]
            held!(any as Arc<parking_lot::RwLock<T>>, v => v.read(|v| v.try_read().map(|v| f(&v)).ok_or_else(refused))?);
        }
        Content::Scoped(v) if v.type_id == Some(TypeId::of::<T>()) => {
            let _borrow = v.flag.during_call(Mode::Shared)?;
            // SAFETY: a `T` that outlives the scope, borrowed to read; the scope does not end before the calls made in it.
            return Ok(f(unsafe { &*v.value.cast::<T>() }));
        }
        Content::Scoped(_) => {}
        Content::Nothing => return Err(Error::UserDataDestructed),
    }
    Err(Error::UserDataTypeMismatch)
}

/// Calls `f` with the value, to be changed.
pub fn write<T: 'static, R>(content: &Content, f: impl FnOnce(&mut T) -> R) -> Result<R> {
    let refused = || Error::UserDataBorrowMutError;
    match content {
        Content::Owned(value) => {
            let any: &dyn Any = &**value;
            held!(any as T, v => v.write(f));
            held!(any as Rc<T>, v => v.write(|v| Rc::get_mut(v).map(f).ok_or_else(refused))?);
            held!(any as Arc<T>, v => v.write(|v| Arc::get_mut(v).map(f).ok_or_else(refused))?);
            held!(any as Rc<RefCell<T>>, v => v.read(|v| v.try_borrow_mut().map(|mut v| f(&mut v)).map_err(|_| refused()))?);
            held!(any as Arc<Mutex<T>>, v => v.read(|v| v.try_lock().map(|mut v| f(&mut v)).map_err(|_| refused()))?);
            held!(any as Arc<RwLock<T>>, v => v.read(|v| v.try_write().map(|mut v| f(&mut v)).map_err(|_| refused()))?);
            #[cfg(feature = "userdata-wrappers")]
            held!(any as Arc<parking_lot::Mutex<T>>, v => v.read(|v| v.try_lock().map(|mut v| f(&mut v)).ok_or_else(refused))?);
            #[cfg(feature = "userdata-wrappers")]
            held!(any as Arc<parking_lot::RwLock<T>>, v => v.read(|v| v.try_write().map(|mut v| f(&mut v)).ok_or_else(refused))?);
        }
        Content::Scoped(v) if v.type_id == Some(TypeId::of::<T>()) => {
            if !v.writable {
                return Err(refused());
            }
            let _borrow = v.flag.during_call(Mode::Exclusive)?;
            // SAFETY: as in `read`, and made of a `&mut T`.
            return Ok(f(unsafe { &mut *v.value.cast::<T>() }));
        }
        Content::Scoped(_) => {}
        Content::Nothing => return Err(Error::UserDataDestructed),
    }
    Err(Error::UserDataTypeMismatch)
}

/// The value of a userdata whose content was found to be a `Shared<W>`, for as long as `borrow` lives.
///
/// # Safety
/// What is made of the reference must not outlive `borrow`.
unsafe fn kept<W: 'static>(v: &Shared<W>, borrow: &Borrow) -> &'static W {
    let _ = borrow;
    // SAFETY: the borrow keeps the value from being moved, dropped or written; the caller keeps the borrow.
    unsafe { &*v.as_ptr() }
}

/// Borrows to read without a lifetime.
pub fn borrow<T: 'static>(content: &Content) -> Result<UserDataRef<T>> {
    let value = owned(content)?;
    let any: &dyn Any = &**value;
    let shared = || Borrow::new(Counted::clone(value), Mode::Shared);
    /// The lock's guard gives the address; it is dropped before the borrow.
    macro_rules! locked {
        ($wrapper:ty, $v:ident => $lock:expr) => {
            held!(any as $wrapper, v => {
                let borrow = shared()?;
                // SAFETY: the guard goes into the same `UserDataRef`, which drops it first.
                let $v = unsafe { kept(v, &borrow) };
                let guard = $lock.ok_or(Error::UserDataBorrowError)?;
                let at: *const T = &*guard;
                // SAFETY: the guard is that of the value.
                Ok(unsafe { UserDataRef::new(at, Some(Box::new(guard)), borrow) })
            });
        };
    }
    held!(any as T, v => {
        let borrow = shared()?;
        // SAFETY: the borrow is that of the value.
        Ok(unsafe { UserDataRef::new(v.as_ptr(), None, borrow) })
    });
    held!(any as Rc<T>, v => {
        let borrow = shared()?;
        // SAFETY: the address goes into the `UserDataRef`.
        let at = Rc::as_ptr(unsafe { kept(v, &borrow) });
        // SAFETY: the borrow keeps the pointer to the value, which nobody can write to.
        Ok(unsafe { UserDataRef::new(at, None, borrow) })
    });
    held!(any as Arc<T>, v => {
        let borrow = shared()?;
        // SAFETY: as above.
        let at = Arc::as_ptr(unsafe { kept(v, &borrow) });
        // SAFETY: the borrow keeps the pointer to the value, which nobody can write to.
        Ok(unsafe { UserDataRef::new(at, None, borrow) })
    });
    locked!(Rc<RefCell<T>>, v => v.try_borrow().ok());
    #[cfg(feature = "userdata-wrappers")]
    locked!(Arc<parking_lot::Mutex<T>>, v => v.try_lock());
    #[cfg(feature = "userdata-wrappers")]
    locked!(Arc<parking_lot::RwLock<T>>, v => v.try_read());
    Err(Error::UserDataTypeMismatch)
}

/// Borrows to write without a lifetime.
pub fn borrow_mut<T: 'static>(content: &Content) -> Result<UserDataRefMut<T>> {
    let value = owned(content)?;
    let any: &dyn Any = &**value;
    macro_rules! locked {
        ($wrapper:ty, $v:ident => $lock:expr) => {
            held!(any as $wrapper, v => {
                let borrow = Borrow::new(Counted::clone(value), Mode::Shared)?;
                // SAFETY: the guard goes into the same `UserDataRefMut`, which drops it first.
                let $v = unsafe { kept(v, &borrow) };
                let mut guard = $lock.ok_or(Error::UserDataBorrowMutError)?;
                let at: *mut T = &mut *guard;
                // SAFETY: the guard is that of the value.
                Ok(unsafe { UserDataRefMut::new(at, Some(Box::new(guard)), borrow) })
            });
        };
    }
    held!(any as T, v => {
        let borrow = Borrow::new(Counted::clone(value), Mode::Exclusive)?;
        // SAFETY: the borrow is that of the value.
        Ok(unsafe { UserDataRefMut::new(v.as_ptr(), None, borrow) })
    });
    held!(any as Rc<T>, _v => Err(Error::UserDataBorrowMutError));
    held!(any as Arc<T>, _v => Err(Error::UserDataBorrowMutError));
    locked!(Rc<RefCell<T>>, v => v.try_borrow_mut().ok());
    #[cfg(feature = "userdata-wrappers")]
    locked!(Arc<parking_lot::Mutex<T>>, v => v.try_lock());
    #[cfg(feature = "userdata-wrappers")]
    locked!(Arc<parking_lot::RwLock<T>>, v => v.try_write());
    Err(Error::UserDataTypeMismatch)
}

/// The content, if the userdata owns it.
fn owned(content: &Content) -> Result<&Counted<dyn AnyShared>> {
    match content {
        Content::Owned(value) => Ok(value),
        Content::Scoped(_) => Err(Error::UserDataTypeMismatch),
        Content::Nothing => Err(Error::UserDataDestructed),
    }
}
