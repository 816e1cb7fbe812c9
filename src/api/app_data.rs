//! Application data: one value of each type, kept with a state and borrowed as from a `RefCell`.
#![allow(unsafe_code, reason = "the map of values changes only while no borrow of a value exists, which are counted")]

use super::lua::Lua;
use super::state::Locked;
use super::sync::MaybeSend;
use std::any::{Any, TypeId};
use std::cell::{BorrowError, BorrowMutError, Cell, Ref, RefCell, RefMut, UnsafeCell};
use std::collections::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A value of any type.
type Slot = Box<RefCell<Box<dyn Any>>>;

/// The application data of a state.
#[derive(Default)]
pub struct AppData {
    values: UnsafeCell<HashMap<TypeId, Slot>>,
    /// Borrows in existence: the map does not change while there is one.
    borrows: Cell<usize>,
}

impl AppData {
    /// The slot of a type.
    fn slot<T: 'static>(&self) -> Option<&RefCell<Box<dyn Any>>> {
        // SAFETY: slots are boxed, and are removed or replaced only while no borrow exists; those that call this count as borrows before
        // anything else runs.
        unsafe { (*self.values.get()).get(&TypeId::of::<T>()).map(|slot| &**slot) }
    }
    /// Sets the value of a type. `Err` gives it back: something is borrowed.
    fn try_set<T: 'static>(&self, value: T) -> Result<Option<T>, T> {
        if self.borrows.get() > 0 {
            return Err(value);
        }
        let new: Slot = Box::new(RefCell::new(Box::new(value)));
        // SAFETY: nothing is borrowed, and no code of the host runs meanwhile.
        let old = unsafe { (*self.values.get()).insert(TypeId::of::<T>(), new) };
        Ok(old.and_then(unpack))
    }
    /// Takes the value of a type.
    fn remove<T: 'static>(&self) -> Option<T> {
        assert!(self.borrows.get() == 0, "cannot remove borrowed app data");
        // SAFETY: as in `try_set`.
        let old = unsafe { (*self.values.get()).remove(&TypeId::of::<T>()) };
        old.and_then(unpack)
    }
}

/// The value in a slot that was removed.
#[expect(clippy::boxed_local, reason = "a slot is a box: its value is taken out of it")]
fn unpack<T: 'static>(slot: Slot) -> Option<T> {
    slot.into_inner().downcast().ok().map(|value| *value)
}

/// Counts a borrow as long as it lives.
struct Count<'a>(&'a Cell<usize>);

impl<'a> Count<'a> {
    fn new(borrows: &'a Cell<usize>) -> Count<'a> {
        borrows.set(borrows.get() + 1);
        Count(borrows)
    }
}
impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Application data, borrowed: see [`Lua::app_data_ref`].
///
/// ```
/// let lua = perilune::Lua::new();
/// lua.set_app_data(String::from("moon"));
/// let name = lua.app_data_ref::<String>().unwrap();
/// assert_eq!(name.len(), 4);
/// // While something is borrowed, nothing can be replaced.
/// assert!(lua.try_set_app_data(1).is_err());
/// ```
pub struct AppDataRef<'a, T: ?Sized> {
    // Fields are dropped in this order: the borrow ends before it is no longer counted, under the lock.
    data: Ref<'a, T>,
    _count: Count<'a>,
    _lock: Locked,
}

/// Application data, borrowed mutably: see [`Lua::app_data_mut`].
///
/// ```
/// let lua = perilune::Lua::new();
/// lua.set_app_data(vec![1]);
/// let mut numbers = lua.app_data_mut::<Vec<i32>>().unwrap();
/// numbers.push(2);
/// assert_eq!(*numbers, [1, 2]);
/// ```
pub struct AppDataRefMut<'a, T: ?Sized> {
    data: RefMut<'a, T>,
    _count: Count<'a>,
    _lock: Locked,
}

impl<T: ?Sized> DerefMut for AppDataRefMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.data
    }
}

macro_rules! borrow {
    ($name:ident) => {
        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;
            fn deref(&self) -> &T {
                &self.data
            }
        }
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
borrow! { AppDataRef }
borrow! { AppDataRefMut }

/// What a slot of the type `T` holds.
const RIGHT_TYPE: &str = "the slot of a type holds a value of it";

impl Lua {
    /// Keeps a value with the state, one of each type; the one before.
    ///
    /// ```
    /// use perilune::Lua;
    ///
    /// struct Visits(u32);
    ///
    /// let lua = Lua::new();
    /// lua.set_app_data(Visits(0));
    /// let visit = lua.create_function(|lua, ()| {
    ///     let mut visits = lua.app_data_mut::<Visits>().unwrap();
    ///     visits.0 += 1;
    ///     Ok(())
    /// })?;
    /// visit.call::<()>(())?;
    /// assert_eq!(lua.app_data_ref::<Visits>().unwrap().0, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Panics
    /// Some application data is borrowed.
    pub fn set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Option<T> {
        self.try_set_app_data(data).map_err(|_| "cannot replace borrowed app data").expect("no borrow")
    }
    /// [`Lua::set_app_data`] that does not panic.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.try_set_app_data("first"), Ok(None));
    /// assert_eq!(lua.try_set_app_data("second"), Ok(Some("first")));
    /// ```
    ///
    /// # Errors
    /// Some application data is borrowed: the value comes back.
    pub fn try_set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Result<Option<T>, T> {
        let _lock = self.0.lock();
        self.0.app_data.try_set(data)
    }
    /// Borrows the value of a type, if there is one.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_app_data(7_u8);
    /// assert_eq!(*lua.app_data_ref::<u8>().unwrap(), 7);
    /// assert!(lua.app_data_ref::<u16>().is_none());
    /// ```
    ///
    /// # Panics
    /// It is borrowed mutably.
    #[track_caller]
    pub fn app_data_ref<T: 'static>(&self) -> Option<AppDataRef<'_, T>> {
        self.try_app_data_ref().expect("already mutably borrowed")
    }
    /// [`Lua::app_data_ref`] that does not panic.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_app_data(7_u8);
    /// let _changing = lua.app_data_mut::<u8>().unwrap();
    /// assert!(lua.try_app_data_ref::<u8>().is_err());
    /// ```
    ///
    /// # Errors
    /// The value is borrowed mutably.
    pub fn try_app_data_ref<T: 'static>(&self) -> Result<Option<AppDataRef<'_, T>>, BorrowError> {
        let lock = self.0.lock();
        let all = &self.0.app_data;
        let Some(slot) = all.slot::<T>() else { return Ok(None) };
        let data = Ref::map(slot.try_borrow()?, |value| value.downcast_ref().expect(RIGHT_TYPE));
        Ok(Some(AppDataRef { data, _count: Count::new(&all.borrows), _lock: lock }))
    }
    /// Borrows the value of a type mutably, if there is one.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_app_data(7_u8);
    /// *lua.app_data_mut::<u8>().unwrap() += 1;
    /// assert_eq!(*lua.app_data_ref::<u8>().unwrap(), 8);
    /// ```
    ///
    /// # Panics
    /// It is borrowed.
    #[track_caller]
    pub fn app_data_mut<T: 'static>(&self) -> Option<AppDataRefMut<'_, T>> {
        self.try_app_data_mut().expect("already borrowed")
    }
    /// [`Lua::app_data_mut`] that does not panic.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_app_data(7_u8);
    /// let _reading = lua.app_data_ref::<u8>().unwrap();
    /// assert!(lua.try_app_data_mut::<u8>().is_err());
    /// ```
    ///
    /// # Errors
    /// The value is borrowed.
    pub fn try_app_data_mut<T: 'static>(&self) -> Result<Option<AppDataRefMut<'_, T>>, BorrowMutError> {
        let lock = self.0.lock();
        let all = &self.0.app_data;
        let Some(slot) = all.slot::<T>() else { return Ok(None) };
        let data = RefMut::map(slot.try_borrow_mut()?, |value| value.downcast_mut().expect(RIGHT_TYPE));
        Ok(Some(AppDataRefMut { data, _count: Count::new(&all.borrows), _lock: lock }))
    }
    /// Takes the value of a type.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_app_data("moon");
    /// assert_eq!(lua.remove_app_data::<&str>(), Some("moon"));
    /// assert_eq!(lua.remove_app_data::<&str>(), None);
    /// ```
    ///
    /// # Panics
    /// Some application data is borrowed.
    #[track_caller]
    pub fn remove_app_data<T: 'static>(&self) -> Option<T> {
        let _lock = self.0.lock();
        self.0.app_data.remove()
    }
}
