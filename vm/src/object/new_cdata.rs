//! New cdata.
#![allow(unsafe_code, reason = "a new cell has room for the header and the payload")]

use super::cdata::cdata_flag;
use super::{Cdata, Gc, Kind, Placement};
use crate::ffi::ctype::CTypeId;
use crate::gc::Heap;

impl Heap {
    /// A cdata of a type with this placement. The payload of `size` bytes is zero.
    pub fn new_cdata(&mut self, id: CTypeId, size: u32, placement: Placement) -> Gc<Cdata> {
        let bytes = placement.cell_size(size);
        let flags = if placement == Placement::Small { 0 } else { cdata_flag::SIZED };
        let hdr = self.header(Kind::Cdata, flags, 0, id.0);
        let cell = self.alloc_cell(bytes);
        let offset = match placement {
            Placement::Small => 8,
            Placement::Sized => 16,
            Placement::Aligned(align) => (cell as usize + 16).next_multiple_of(align as usize) - cell as usize,
        };
        let c = cell.cast::<Cdata>();
        // SAFETY: a new cell of this size, which holds the payload at the offset.
        let c = unsafe {
            c.write(Cdata { hdr, word: core::cell::Cell::new((offset as u64) << 32 | u64::from(size)) });
            cell.add(offset).write_bytes(0, bytes - offset);
            Gc::from_ptr(c)
        };
        self.counts.cdatas += 1;
        c
    }
    /// A boxed `int64_t` or `uint64_t`.
    pub fn new_int64(&mut self, id: CTypeId, value: u64) -> Gc<Cdata> {
        let c = self.new_cdata(id, 8, Placement::Small);
        // SAFETY: the payload has 8 bytes.
        unsafe { c.write(value) };
        c
    }
    /// A boxed `complex`.
    pub fn new_complex(&mut self, re: f64, im: f64) -> Gc<Cdata> {
        let c = self.new_cdata(CTypeId::COMPLEX_DOUBLE, 16, Placement::Small);
        // SAFETY: the payload has 16 bytes.
        unsafe { c.write([re, im]) };
        c
    }
}
