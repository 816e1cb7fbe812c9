//! The collectable objects and the pointer to them.
//!
//! Every object starts with a [`GcHeader`] and lives in a cell of the [heap](crate::gc). [`Gc`] is the pointer: it is `Copy` and
//! dereferences safely under one contract, the *safepoint rule*: objects are freed only by a collection step, steps run only at safepoints
//! ([`crate::Vm::safepoint`]), and all objects that must live across a safepoint are reachable from a root (a Lua stack, the registry, a
//! rooted handle, a trace's constants). Allocation never collects.
#![allow(
    unsafe_code,
    reason = "a Gc points to an object that is alive while it is dereferenced: whatever the program can reach, and between safepoints everything"
)]

mod bc_pos;
mod cdata;
mod function;
mod long_string;
mod new;
mod new_cdata;
mod new_proto;
mod proto;
mod readonly;
mod shape;
mod stitch_stub;
pub(crate) mod string;
pub mod table;
pub(crate) mod table_resize;
pub(crate) mod table_write;
mod thread;
mod udata;
mod unload;
mod upvalue;
mod watchpoint;

#[cfg(test)]
mod tests;

pub use bc_pos::{BcAddr, BcPos, InsPtr};
pub use cdata::{Cdata, Placement, cdata_flag};
pub use function::{Func, NativeFn, UpVal};
pub(crate) use proto::hot_counter;
pub use proto::{Proto, ProtoFlags};
pub use readonly::READONLY;
pub use shape::ShapeId;
pub(crate) use shape::{ShapeSet, Shapes};
pub use stitch_stub::StitchStub;
pub(crate) use stitch_stub::StitchStubs;
pub use string::{STR_DATA, Str, StrTable};
pub use table::{Node, Table};
pub use table_resize::hbits_for;
pub use thread::{Thread, ThreadLink, ThreadStatus};
pub use udata::Udata;
pub(crate) use watchpoint::Watchpoints;
pub use watchpoint::{ChangedFields, WATCHED, WatchedField};

use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

macro_rules! kinds {
    ($($kind:ident $name:literal $byte:literal,)*) => {
        /// The kind of an object; 0 marks a free cell.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Kind {
            /// A free cell of a heap block.
            Free = 0,
            $(#[doc = concat!("[`", stringify!($kind), "`]")] $kind = $byte,)*
        }

        impl Kind {
            /// The kinds of objects.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// The kind that a byte stands for.
            #[inline]
            const fn from_byte(byte: u8) -> Kind {
                match byte { $($byte => Kind::$kind,)* _ => Kind::Free }
            }
            /// The name that tools use.
            pub const fn name(self) -> &'static str {
                match self {
                    Kind::Free => "free",
                    $(Kind::$kind => $name,)*
                }
            }
        }

        /// An object by its kind.
        #[derive(Copy, Clone, Debug)]
        pub enum Object {
            $(#[doc = $name] $kind(Gc<$kind>),)*
        }

        impl Object {
            #[inline(always)]
            fn of(o: Gc<GcHeader>) -> Option<Object> {
                match o.kind() {
                    Kind::Free => None,
                    // The allocation of an object writes its kind once: it is an object of that type.
                    $(Kind::$kind => Some(Object::$kind(Gc(o.0.cast(), PhantomData))),)*
                }
            }
        }
    };
}

kinds! {
    Str "string" 1,
    UpVal "upvalue" 2,
    Thread "thread" 3,
    Proto "proto" 4,
    Func "function" 5,
    Table "table" 6,
    Udata "userdata" 7,
    Cdata "cdata" 8,
}

/// The first 8 bytes of every object.
#[derive(Debug)]
#[repr(C)]
pub struct GcHeader {
    /// The [`Kind`] as a byte.
    pub kind: Cell<u8>,
    /// Colour and fixed bits, see [`crate::gc::color`].
    pub marked: Cell<u8>,
    /// First byte of the object's own: `nomm` of a table, upvalue count of a function, "closed" of an upvalue.
    pub b0: Cell<u8>,
    /// Second byte of the object's own.
    pub b1: Cell<u8>,
    /// Word of the object's own: hash of a string, array size of a table, builtin id of a native function, type of a cdata.
    pub word: Cell<u32>,
}

impl GcHeader {
    /// A header of the given kind with everything else zero.
    pub const fn new(kind: Kind) -> GcHeader {
        GcHeader { kind: Cell::new(kind as u8), marked: Cell::new(0), b0: Cell::new(0), b1: Cell::new(0), word: Cell::new(0) }
    }
    /// The kind of the object.
    #[inline]
    pub fn kind(&self) -> Kind {
        Kind::from_byte(self.kind.get())
    }
}

/// Pointer to a live object (see the module's safepoint rule). Compares by identity.
#[repr(transparent)]
pub struct Gc<T>(NonNull<T>, PhantomData<*mut T>);

impl<T> Copy for Gc<T> {}
impl<T> Clone for Gc<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> PartialEq for Gc<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Gc<T> {}
impl<T> core::hash::Hash for Gc<T> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> core::fmt::Debug for Gc<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Gc(0x{:x})", self.addr())
    }
}

impl<T> Gc<T> {
    /// From the address in a value's payload.
    ///
    /// # Safety
    /// The address is that of an object of type `T`, which is alive while the pointer is dereferenced (safepoint rule).
    #[inline(always)]
    pub unsafe fn from_addr(addr: u64) -> Gc<T> {
        debug_assert!(addr != 0 && addr & 7 == 0);
        let p = core::ptr::with_exposed_provenance_mut::<T>(addr as usize);
        // SAFETY: objects are not at address 0.
        Gc(unsafe { NonNull::new_unchecked(p) }, PhantomData)
    }
    /// From a pointer to an object.
    ///
    /// # Safety
    /// As for [`Gc::from_addr`].
    #[inline(always)]
    pub unsafe fn from_ptr(p: *mut T) -> Gc<T> {
        // SAFETY: the contract of this function.
        unsafe { Gc::from_addr(p.expose_provenance() as u64) }
    }
    /// The address, as in a value's payload.
    #[inline(always)]
    pub fn addr(self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }
    /// The raw pointer.
    #[inline(always)]
    pub fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }
    /// The object's header.
    #[inline(always)]
    pub fn header(self) -> Gc<GcHeader> {
        Gc(self.0.cast(), PhantomData)
    }
}

impl Gc<GcHeader> {
    /// The object with the type that its kind says; `None` for a free cell.
    #[inline(always)]
    pub fn typed(self) -> Option<Object> {
        Object::of(self)
    }
}

impl<T> Deref for Gc<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: by the safepoint rule the object is alive while this copy of the pointer is in use, and all mutable
        // state of objects is in cells.
        unsafe { self.0.as_ref() }
    }
}
