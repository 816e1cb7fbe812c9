//! What a userdata holds: a value and the state of its borrows.
#![allow(unsafe_code, reason = "the flags of the cell count borrows: a reference is only made where they allow it")]

use crate::api::error::{Error, Result};
use crate::api::sync::{Counter, Shared as Counted};
use perilune_vm::object::{Gc, Udata};
use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::rc::Rc;

/// The state of the borrows of one value.
#[derive(Default)]
pub struct BorrowFlag {
    /// The number of readers; -1 for a writer.
    borrows: Counter,
    /// How many of the borrows end with a call that runs. The value is not destroyed under such a call.
    by_calls: Counter,
}

/// How a value is borrowed.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Mode {
    /// To read: any number at a time.
    Shared,
    /// To write: alone.
    Exclusive,
}

impl BorrowFlag {
    #[inline]
    fn acquire(&self, mode: Mode) -> Result<()> {
        let acquired = self.borrows.update(|n| match (mode, n) {
            (Mode::Shared, 0..isize::MAX) => Some(n + 1),
            (Mode::Exclusive, 0) => Some(-1),
            _ => None,
        });
        match mode {
            _ if acquired => Ok(()),
            Mode::Shared => Err(Error::UserDataBorrowError),
            Mode::Exclusive => Err(Error::UserDataBorrowMutError),
        }
    }
    #[inline]
    fn release(&self, mode: Mode) {
        self.borrows.update(|n| Some(if mode == Mode::Shared { n - 1 } else { 0 }));
    }
    /// Is the value borrowed?
    pub fn is_borrowed(&self) -> bool {
        self.borrows.get() != 0
    }
    /// Borrows for the time of a call.
    #[inline]
    pub fn during_call(&self, mode: Mode) -> Result<DuringCall<'_>> {
        self.acquire(mode)?;
        self.by_calls.update(|n| Some(n + 1));
        Ok(DuringCall(self, mode))
    }
}

/// A borrow that ends with the call that made it.
pub struct DuringCall<'a>(&'a BorrowFlag, Mode);

impl Drop for DuringCall<'_> {
    fn drop(&mut self) {
        self.0.by_calls.update(|n| Some(n - 1));
        self.0.release(self.1);
    }
}

/// A value with the state of its borrows. The userdata and each [`super::UserDataRef`] share it.
pub struct Shared<T> {
    /// The state of the borrows.
    pub flag: BorrowFlag,
    value: UnsafeCell<T>,
}

impl<T> Shared<T> {
    /// The value, to be reached while it is borrowed.
    pub fn as_ptr(&self) -> *mut T {
        self.value.get()
    }
    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
    /// Reads during a call.
    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> Result<R> {
        let _borrow = self.flag.during_call(Mode::Shared)?;
        // SAFETY: borrowed to read until the end of this function.
        Ok(f(unsafe { &*self.value.get() }))
    }
    /// Writes during a call.
    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R> {
        let _borrow = self.flag.during_call(Mode::Exclusive)?;
        // SAFETY: borrowed to write until the end of this function.
        Ok(f(unsafe { &mut *self.value.get() }))
    }
}

/// A [`Shared`] of any type.
pub trait AnyShared: Any {
    /// The state of the borrows.
    fn flag(&self) -> &BorrowFlag;
    /// The type of the value.
    fn value_type(&self) -> TypeId;
}
impl<T: 'static> AnyShared for Shared<T> {
    fn flag(&self) -> &BorrowFlag {
        &self.flag
    }
    fn value_type(&self) -> TypeId {
        TypeId::of::<T>()
    }
}

/// A borrow without a lifetime: it keeps the value, also when the userdata is destroyed.
pub struct Borrow {
    value: Counted<dyn AnyShared>,
    mode: Mode,
}

impl Borrow {
    /// Borrows.
    pub fn new(value: Counted<dyn AnyShared>, mode: Mode) -> Result<Borrow> {
        value.flag().acquire(mode)?;
        Ok(Borrow { value, mode })
    }
}
impl Drop for Borrow {
    fn drop(&mut self) {
        self.value.flag().release(self.mode);
    }
}

/// A value that lives as long as a [`Scope`](crate::Scope), which takes it out of the userdata when it ends.
pub struct Scoped {
    /// The state of the borrows.
    pub flag: BorrowFlag,
    /// The value.
    pub value: *mut (),
    /// Can it be written?
    pub writable: bool,
    /// Its type; `None` if it is not `'static`.
    pub type_id: Option<TypeId>,
}

/// What a userdata holds.
#[derive(Clone)]
pub enum Content {
    /// A value of its own.
    Owned(Counted<dyn AnyShared>),
    /// A value of a scope.
    Scoped(Rc<Scoped>),
    /// The value was taken or destroyed.
    Nothing,
}

/// Calls a function with the value, which can be serialized.
#[cfg(feature = "serde")]
pub type Serialize = fn(&Content, &mut dyn FnMut(&dyn erased_serde::Serialize)) -> Result<()>;

/// The payload of the VM's userdata.
pub struct Payload {
    content: Content,
    /// How the value is serialized, if it can be.
    #[cfg(feature = "serde")]
    pub serialize: Option<Serialize>,
}

impl Payload {
    /// A payload for the VM.
    pub fn new(content: Content) -> Payload {
        Payload {
            content,
            #[cfg(feature = "serde")]
            serialize: None,
        }
    }
    /// The value of the userdata's own, if it is a `T`.
    #[inline]
    pub fn shared<T: 'static>(&self) -> Option<&Shared<T>> {
        match &self.content {
            Content::Owned(value) => (&**value as &dyn Any).downcast_ref(),
            _ => None,
        }
    }
}

/// A counted value as what it is, if it holds a `T`.
pub fn downcast<T: 'static>(value: Counted<dyn AnyShared>) -> Option<Counted<Shared<T>>> {
    if !(&*value as &dyn Any).is::<Shared<T>>() {
        return None;
    }
    // SAFETY: it was made of a pointer to a `Shared<T>`, which has lost its type only.
    Some(unsafe { Counted::from_raw(Counted::into_raw(value).cast()) })
}

impl Content {
    /// A value of the userdata's own.
    pub fn owned<T: 'static>(value: T) -> Content {
        Content::Owned(Counted::new(Shared { flag: BorrowFlag::default(), value: UnsafeCell::new(value) }))
    }
    /// What a userdata holds.
    ///
    /// # Errors
    /// The userdata was not made by the API, or its value is gone.
    pub fn of(u: Option<Gc<Udata>>) -> Result<Content> {
        match u.and_then(|u| u.with(|p: &mut Payload| p.content.clone())) {
            None => Err(Error::UserDataTypeMismatch),
            Some(Content::Nothing) => Err(Error::UserDataDestructed),
            Some(content) => Ok(content),
        }
    }
    /// Takes the content out of a userdata, which holds nothing then.
    pub fn take_of(u: Option<Gc<Udata>>) -> Content {
        let taken = u.and_then(|u| u.with(|p: &mut Payload| core::mem::replace(&mut p.content, Content::Nothing)));
        taken.unwrap_or(Content::Nothing)
    }
    /// The type of the value, if it is `'static`.
    pub fn type_id(&self) -> Option<TypeId> {
        match self {
            Content::Owned(value) => Some(value.value_type()),
            Content::Scoped(value) => value.type_id,
            Content::Nothing => None,
        }
    }
    /// Does this hold a `T`?
    pub fn is<T: 'static>(&self) -> bool {
        match self {
            Content::Owned(value) => (&**value as &dyn Any).is::<Shared<T>>(),
            Content::Scoped(value) => value.type_id == Some(TypeId::of::<T>()),
            Content::Nothing => false,
        }
    }
    /// May the value be destroyed? Not while a call uses it; a borrow without a lifetime keeps it.
    pub fn can_be_destroyed(&self) -> bool {
        match self {
            Content::Owned(value) => value.flag().by_calls.get() == 0,
            Content::Scoped(_) | Content::Nothing => false,
        }
    }
}
