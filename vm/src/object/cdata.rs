//! C data.
#![allow(unsafe_code, reason = "the payload of a cdata is inside its cell, at an offset that its type determines")]

use super::{Gc, GcHeader};
use crate::ffi::ctype::CTypeId;
use crate::gc::size::CELL_MAX;

/// C data: a value of a C type, in the cell itself.
///
/// Header: `word` is the number of the type; `b0` has the flags below, `b1` is 1 while its finalizer is due. The payload follows the header at [`Placement::offset`].
#[repr(C)]
pub struct Cdata {
    /// Object header.
    pub hdr: GcHeader,
    /// The payload; or, if it is further on, its size, and its offset in the upper half.
    pub(super) word: core::cell::Cell<u64>,
}

/// Flags of a cdata.
pub mod cdata_flag {
    /// It has a finalizer: an entry in the table of finalizers.
    pub const FINALIZER: u8 = 1;
    /// The payload's size and offset are stored after the header.
    pub const SIZED: u8 = 2;
    /// It is in one slot alone, and nothing refers to it when it has been indexed there. Its payload has 8 bytes.
    pub const TEMPORARY: u8 = 4;
}

/// Where the payload of a cdata is. It depends on the type alone.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Directly after the header.
    Small,
    /// 16 bytes after the start of the cell, aligned to 16. Size and offset are stored.
    Sized,
    /// At the first address after the header and the stored size and offset that is a multiple of this, which is above 16.
    Aligned(u32),
}

/// Values that are larger have a stored size: the size of their cell may not be known otherwise.
const LARGE: u32 = CELL_MAX as u32 / 2;

impl Placement {
    /// The placement of values of a type: with this size (none if it varies), and an alignment of `1 << align_log`.
    pub const fn of(size: Option<u32>, align_log: u32) -> Placement {
        let large = match size {
            Some(size) => size > LARGE,
            None => true,
        };
        match align_log {
            0..=3 if !large => Placement::Small,
            0..=4 => Placement::Sized,
            _ => Placement::Aligned(1 << align_log),
        }
    }
    /// The offset of the payload; none if it differs from object to object.
    pub const fn offset(self) -> Option<usize> {
        match self {
            Placement::Small => Some(8),
            Placement::Sized => Some(16),
            Placement::Aligned(_) => None,
        }
    }
    /// Bytes of a cell.
    pub(super) fn cell_size(self, size: u32) -> usize {
        match self {
            Placement::Small => 8 + (size as usize).max(8),
            Placement::Sized => 16 + size as usize,
            Placement::Aligned(align) => 16 + align as usize + size as usize,
        }
    }
}

impl Cdata {
    /// The number of its type.
    #[inline(always)]
    pub fn ctype(&self) -> CTypeId {
        CTypeId(self.hdr.word.get())
    }
    /// Does it have all of these flags?
    pub fn has(&self, flag: u8) -> bool {
        self.hdr.b0.get() & flag == flag
    }
    /// Sets or clears flags.
    pub fn set_flag(&self, flag: u8, on: bool) {
        let b = self.hdr.b0.get();
        self.hdr.b0.set(if on { b | flag } else { b & !flag });
    }
    /// It is indexed. Was it a temporary? Then it is none from here on.
    #[inline(always)]
    pub fn take_temporary(&self) -> bool {
        let temporary = self.has(cdata_flag::TEMPORARY);
        if temporary {
            self.set_flag(cdata_flag::TEMPORARY, false);
        }
        temporary
    }
    /// The size that is stored, if one is.
    pub fn stored_size(&self) -> Option<u32> {
        self.has(cdata_flag::SIZED).then(|| self.word.get() as u32)
    }
    /// Bytes of the cell of a cdata that is too large for the classes of cells; less than the true size for all others.
    pub(crate) fn stored_cell_size(&self) -> usize {
        self.stored_size().map_or(0, |size| (self.word.get() >> 32) as usize + size as usize)
    }
}

impl Gc<Cdata> {
    /// Address of the payload.
    #[inline(always)]
    pub fn payload(self) -> *mut u8 {
        let offset = if self.has(cdata_flag::SIZED) { (self.word.get() >> 32) as usize } else { 8 };
        self.as_ptr().cast::<u8>().wrapping_add(offset)
    }
    /// The bits of an `int64_t` or `uint64_t`; none for values of other types.
    pub fn int64(self) -> Option<u64> {
        // SAFETY: values of these two types have 8 bytes.
        matches!(self.ctype(), CTypeId::INT64 | CTypeId::UINT64).then(|| unsafe { self.read() })
    }
    /// The first bytes of the payload, which has so many.
    pub fn bytes(self, size: usize) -> Vec<u8> {
        // SAFETY: the payload has so many bytes, which are all initialised.
        unsafe { core::slice::from_raw_parts(self.payload(), size) }.to_vec()
    }
    /// Reads a value from the start of the payload.
    ///
    /// # Safety
    /// The payload has at least the size of a `T`, of which all bits are valid.
    #[inline(always)]
    pub unsafe fn read<T: Copy>(self) -> T {
        // SAFETY: by the contract; the payload may be aligned less than a `T`.
        unsafe { self.payload().cast::<T>().read_unaligned() }
    }
    /// Writes a value to the start of the payload.
    ///
    /// # Safety
    /// The payload has at least the size of a `T`.
    #[inline(always)]
    pub unsafe fn write<T: Copy>(self, value: T) {
        // SAFETY: by the contract; the payload may be aligned less than a `T`.
        unsafe { self.payload().cast::<T>().write_unaligned(value) }
    }
}
