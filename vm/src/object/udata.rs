//! Full userdata.
#![allow(unsafe_code, reason = "the payload of a userdata is borrowed by one closure at a time")]

use super::{Gc, GcHeader, Table};
use crate::value::Value;
use core::any::{Any, TypeId};
use core::cell::{Cell, UnsafeCell};

/// A full userdata: a Rust value with its own environment and metatable.
///
/// Header: `b0` is 1 once its finalizer has been scheduled, `b1` is 1 if the payload belongs to the host, `word` is the size of the block.
#[repr(C)]
pub struct Udata {
    /// Object header.
    pub hdr: GcHeader,
    /// Environment.
    pub env: Cell<Gc<Table>>,
    /// Metatable.
    pub meta: Cell<Option<Gc<Table>>>,
    /// A value that the payload needs. References inside the payload are not visited.
    pub anchor: Cell<Value>,
    /// Bytes that the payload owns, counted by the collector (see [`crate::Vm::set_udata_bytes`]).
    pub external: Cell<usize>,
    /// The type of the payload, so that it is known without a call.
    pub kind: TypeId,
    /// The payload, dropped when the object is freed.
    pub data: UnsafeCell<Option<Box<dyn Any>>>,
    /// Bytes for native code, aligned to 16; null if there are none.
    pub block: Cell<*mut u8>,
}

impl Udata {
    /// Size of the memory for a block.
    pub(crate) fn block_bytes(size: u32) -> usize {
        (size as usize).max(1)
    }
    /// Size of the block, or 0.
    pub fn block_size(&self) -> u32 {
        self.hdr.word.get()
    }
    /// The address of the block, by which native code and programs know the userdata. Without one it is that of its place, which is as good.
    pub fn address(&self) -> *mut u8 {
        let block = self.block.get();
        if block.is_null() { self.block.as_ptr().cast() } else { block }
    }
    /// Does the payload belong to the host, whose `Drop` may run any code?
    pub fn is_of_host(&self) -> bool {
        self.hdr.b1.get() != 0
    }
    /// Runs `f` on the payload, if it is a `T`. `f` must not reach the same userdata again.
    #[inline]
    pub fn with<T: 'static, R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.is::<T>() {
            return None;
        }
        // SAFETY: single-threaded, and by the contract above no other reference to the payload exists during `f`.
        let data = unsafe { &mut *self.data.get() };
        data.as_deref_mut().map(|d| {
            debug_assert!(d.is::<T>(), "the type of the payload is not the one that was noted");
            // SAFETY: the payload has the type that was noted when the userdata was made.
            f(unsafe { &mut *core::ptr::from_mut(d).cast::<T>() })
        })
    }
    /// Is the payload a `T`?
    pub fn is<T: 'static>(&self) -> bool {
        self.kind == TypeId::of::<T>()
    }
}
