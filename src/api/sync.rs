//! What the feature `send` changes: with it a state and its handles go from thread to thread, and a lock around the state lets one thread at a
//! time use it. Without it a state belongs to its thread, and none of this costs anything.
//!
//! The rule that makes this sound: whatever belongs to a state is reached through [`State`](super::state::State), which dereferences to its
//! parts only for the thread that holds the lock, and panics for any other. A public function takes the lock once, before it uses the state,
//! and keeps it until it returns: no value is on its way, without a root, while another thread may run the collector. Functions that Lua code
//! calls run while the thread that called Lua holds the lock. What outlives the lock (handles, borrows of userdata) has only atomic counts.
#![allow(unsafe_code, reason = "the depth of a lock is used only by the thread that holds it; addresses may go to any thread")]

/// The counted pointer to a state, and to values of userdata that are borrowed.
#[cfg(not(feature = "send"))]
pub(crate) use std::rc::{Rc as Shared, Weak as WeakShared};
#[cfg(feature = "send")]
pub(crate) use std::sync::{Arc as Shared, Weak as WeakShared};

macro_rules! maybe {
    ($($(#[$doc:meta])* $name:ident $bound:ident;)*) => {$(
        $(#[$doc])*
        #[cfg(feature = "send")]
        pub trait $name: $bound {}
        #[cfg(feature = "send")]
        impl<T: $bound + ?Sized> $name for T {}
        $(#[$doc])*
        #[cfg(not(feature = "send"))]
        pub trait $name {}
        #[cfg(not(feature = "send"))]
        impl<T: ?Sized> $name for T {}
    )*};
}
maybe! {
    /// [`Send`] with the feature `send`; without it, any type has this bound.
    ///
    /// ```
    /// fn spawn(task: impl FnOnce() + perilune::MaybeSend + 'static) {
    ///     task();
    /// }
    /// spawn(|| {});
    /// ```
    MaybeSend Send;
    /// [`Sync`] with the feature `send`; without it, any type has this bound.
    ///
    /// ```
    /// fn share<T: perilune::MaybeSync>(value: &T) -> &T {
    ///     value
    /// }
    /// assert_eq!(*share(&1), 1);
    /// ```
    MaybeSync Sync;
}

#[cfg(feature = "send")]
// SAFETY: it is an address, which nothing here dereferences.
unsafe impl Send for super::value::LightUserData {}
#[cfg(feature = "send")]
// SAFETY: as above.
unsafe impl Sync for super::value::LightUserData {}

/// A number that changes in steps.
#[cfg(not(feature = "send"))]
#[derive(Default)]
pub(crate) struct Counter(std::cell::Cell<isize>);
#[cfg(feature = "send")]
#[derive(Default)]
pub(crate) struct Counter(std::sync::atomic::AtomicIsize);

#[cfg(not(feature = "send"))]
impl Counter {
    #[inline(always)]
    pub fn get(&self) -> isize {
        self.0.get()
    }
    /// Makes it what `change` gives, unless that is nothing. True if it has changed.
    #[inline(always)]
    pub fn update(&self, change: impl Fn(isize) -> Option<isize>) -> bool {
        let new = change(self.0.get());
        new.inspect(|n| self.0.set(*n)).is_some()
    }
}

#[cfg(feature = "send")]
impl Counter {
    pub fn get(&self) -> isize {
        self.0.load(std::sync::atomic::Ordering::Acquire)
    }
    /// Makes it what `change` gives, unless that is nothing. True if it has changed.
    pub fn update(&self, change: impl Fn(isize) -> Option<isize>) -> bool {
        use std::sync::atomic::Ordering::{AcqRel, Acquire};
        self.0.fetch_update(AcqRel, Acquire, change).is_ok()
    }
}

/// The lock around a state. The thread that holds it may take it again.
#[cfg(feature = "send")]
#[derive(Default)]
pub(crate) struct Lock {
    mutex: parking_lot::ReentrantMutex<()>,
    /// How often it is held.
    depth: std::cell::Cell<usize>,
}

#[cfg(feature = "send")]
// SAFETY: `depth` is read and written only by the thread that holds the mutex.
unsafe impl Sync for Lock {}

#[cfg(feature = "send")]
impl Lock {
    /// Takes it, once no other thread holds it. True if this thread did not hold it before.
    pub fn acquire(&self) -> bool {
        core::mem::forget(self.mutex.lock());
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        depth == 0
    }
    /// Will [`Lock::release`] give it up?
    pub fn is_last(&self) -> bool {
        self.depth.get() == 1
    }
    /// Gives it up, if this thread does not hold it otherwise.
    ///
    /// # Safety
    /// It belongs to an [`Lock::acquire`] of this thread.
    pub unsafe fn release(&self) {
        self.depth.set(self.depth.get() - 1);
        // SAFETY: the guard of this lock was forgotten.
        unsafe { self.mutex.force_unlock() };
    }
    /// Does this thread hold it?
    #[inline]
    pub fn is_held(&self) -> bool {
        self.mutex.is_owned_by_current_thread()
    }
}

/// The lock of a state: there is none.
#[cfg(not(feature = "send"))]
#[derive(Default)]
pub(crate) struct Lock(());

#[cfg(not(feature = "send"))]
impl Lock {
    #[inline(always)]
    pub fn is_held(&self) -> bool {
        true
    }
}
