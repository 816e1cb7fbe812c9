//! Loading references and pointers that are used once.
#![allow(unsafe_code, reason = "the addresses that are read are places of what the program has pointers to")]

use super::ctype::{Info, POINTER_SIZE};
use super::inline_cache::FieldLoad;
use super::load::Load;
use crate::Vm;
use crate::bc::Ins;
use crate::bc::temporary::is_used_once;
use crate::error::LuaResult;
use crate::interp::frame::func_of;
use crate::object::{Cdata, Gc, Placement, cdata_flag};
use crate::value::Value;

impl Vm {
    /// A debugger has read a slot, which may hold a temporary.
    pub fn slot_was_seen(&mut self, v: Value) {
        if let (Some(c), Some(ffi)) = (v.as_cdata(), &mut self.ffi) {
            c.set_flag(cdata_flag::TEMPORARY, false);
            ffi.temporaries.forget();
        }
    }
    /// The value of a place, for the running instruction. If it is a cdata with a payload of 8 bytes, it may be a temporary.
    ///
    /// # Safety
    /// The place is at the address.
    #[inline(never)]
    pub(super) unsafe fn load_temporary(&mut self, load: FieldLoad, at: *mut u8) -> LuaResult<Value> {
        let (id, word) = match load {
            FieldLoad::Value(Load::Reference(id)) => {
                (self.intern_type(Info::reference(id), POINTER_SIZE)?, at.expose_provenance() as u64)
            }
            // SAFETY: by the contract.
            FieldLoad::Value(Load::Copy { id, size: 8 }) => (id, unsafe { at.cast::<u64>().read_unaligned() }),
            // SAFETY: by the contract.
            _ => return unsafe { self.load_field(load, at) },
        };
        let temporary = self.is_used_once();
        let c = match self.ffi.as_mut().and_then(|ffi| ffi.temporaries.take()) {
            Some(c) => c,
            None => self.heap.new_cdata(id, 8, Placement::Small),
        };
        c.hdr.word.set(id.0);
        // SAFETY: the payload has 8 bytes.
        unsafe { c.write(word) };
        if temporary {
            c.set_flag(cdata_flag::TEMPORARY, true);
        }
        Ok(Value::cdata(c))
    }
    /// A temporary was indexed: its cell is used again.
    pub(super) fn temporary_used(&mut self, c: Gc<Cdata>) {
        debug_assert!(c.hdr.b0.get() == 0);
        if let Some(ffi) = &mut self.ffi {
            ffi.temporaries.put(c);
        }
    }
    /// Is what the running instruction makes used once?
    fn is_used_once(&mut self) -> bool {
        let Some(ffi) = &mut self.ffi else { return false };
        // SAFETY: the running frame.
        let p = unsafe { func_of(self.base) }.proto();
        let next = self.pc as usize;
        let index = |code: *const Ins| (next.wrapping_sub(code as usize) / size_of::<Ins>()).wrapping_sub(1);
        let once = ffi.temporaries.is_used_once(self.pc, || p.is_some_and(|p| is_used_once(&p, index(p.code_ptr()))));
        // In stripped code closures may refer to the slot.
        once && self.cur.open_upvals().next().is_none_or(|uv| uv.v.get() < self.base)
    }
}
