//! References that the interpreter makes for one use: `a[i]` in `a[i].x = y`. When they were used, nothing refers to them, and the next one is
//! made in the same cell.
#![allow(unsafe_code, reason = "the addresses that are read are places of what the program has pointers to")]

use super::ctype::{Info, POINTER_SIZE};
use super::inline_cache::FieldLoad;
use super::load::Load;
use crate::Vm;
use crate::bc::Ins;
use crate::bc::temporary::is_used_once;
use crate::error::LuaResult;
use crate::interp::frame::func_of;
use crate::object::{Cdata, Gc, Placement};
use crate::value::Value;
use std::cell::Cell;

/// Number of places that are remembered, a power of two.
const PLACES: usize = 64;

/// Two instructions, by address: one that makes a cdata, and one that indexes it. Is that its only use?
#[derive(Copy, Clone, Debug)]
struct Place {
    made: usize,
    used: usize,
    once: bool,
}

/// So many temporaries are remembered at a time: `a[i].x = b[i].y` has two.
const KEPT: usize = 4;

/// The temporaries that were made last, and some that are not used any more.
///
/// All is forgotten when a collection has marked what is alive ([`Temporaries::forget`]): none of the cells is freed before that, and none of
/// the instructions.
#[derive(Debug)]
pub struct Temporaries {
    /// Each is a cdata that the instruction at an address has made; its payload has 8 bytes.
    made: [Cell<Option<(Gc<Cdata>, usize)>>; KEPT],
    /// The index of the oldest of them.
    oldest: Cell<usize>,
    /// Each is a cdata with a payload of 8 bytes that nothing refers to.
    spare: [Cell<Option<Gc<Cdata>>>; KEPT],
    places: [Cell<Option<Place>>; PLACES],
}

impl Default for Temporaries {
    fn default() -> Temporaries {
        Temporaries {
            made: [const { Cell::new(None) }; KEPT],
            oldest: Cell::new(0),
            spare: [const { Cell::new(None) }; KEPT],
            places: [const { Cell::new(None) }; PLACES],
        }
    }
}

impl Temporaries {
    /// Another cell for each temporary from here on.
    pub fn forget(&self) {
        self.made.iter().for_each(|made| made.set(None));
        self.spare.iter().for_each(|spare| spare.set(None));
        self.places.iter().for_each(|place| place.set(None));
    }
    /// Remembers a temporary that was made before the instruction at an address.
    fn add(&self, c: Gc<Cdata>, after: usize) {
        let i = self.oldest.get();
        self.made[i].set(Some((c, after)));
        self.oldest.set((i + 1) % KEPT);
    }
    /// Forgets a temporary; the address behind the instruction that has made it.
    fn remove(&self, c: Gc<Cdata>) -> Option<usize> {
        let found = self.made.iter().find(|made| made.get().is_some_and(|(made, _)| made == c))?;
        found.take().map(|(_, after)| after)
    }
}

impl Vm {
    /// A debugger has read a slot, which may hold a temporary.
    pub fn temporaries_were_seen(&self) {
        if let Some(ffi) = &self.ffi {
            ffi.temporaries.forget();
        }
    }
    /// The value of a place, for the running instruction. If it is a cdata with a payload of 8 bytes, it may have the cell of a temporary.
    ///
    /// # Safety
    /// The place is at the address.
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
        let spare = self.ffi.as_ref().and_then(|ffi| ffi.temporaries.spare.iter().find_map(Cell::take));
        let c = match spare {
            Some(c) => c,
            None => self.heap.new_cdata(id, 8, Placement::Small),
        };
        c.hdr.word.set(id.0);
        // SAFETY: the payload has 8 bytes.
        unsafe { c.write(word) };
        if let Some(ffi) = &self.ffi {
            ffi.temporaries.add(c, self.pc as usize);
        }
        Ok(Value::cdata(c))
    }
    /// The running instruction has indexed a cdata. If that was its only use, its cell is used again.
    #[inline]
    pub(super) fn temporary_used(&self, c: Gc<Cdata>) {
        let Some(ffi) = &self.ffi else { return };
        let Some(made) = ffi.temporaries.remove(c) else { return };
        if c.hdr.b0.get() == 0
            && self.is_used_once(&ffi.temporaries, made, self.pc as usize)
            && let Some(free) = ffi.temporaries.spare.iter().find(|spare| spare.get().is_none())
        {
            free.set(Some(c));
        }
    }
    /// Is the running instruction the only one that uses what the one at `made` has made? Both addresses are those of the instructions after.
    fn is_used_once(&self, temporaries: &Temporaries, made: usize, used: usize) -> bool {
        let place = &temporaries.places[used / size_of::<Ins>() % PLACES];
        let once = match place.get() {
            Some(p) if (p.made, p.used) == (made, used) => p.once,
            _ => {
                let once = self.find_only_use(made, used);
                place.set(Some(Place { made, used, once }));
                once
            }
        };
        once && self.cur.open_upvals().next().is_none_or(|uv| uv.v.get() < self.base)
    }
    fn find_only_use(&self, made: usize, used: usize) -> bool {
        // SAFETY: the running frame.
        let Some(p) = unsafe { func_of(self.base) }.proto() else { return false };
        let code = p.code_ptr() as usize;
        // Nothing, if the address is not one of this function.
        let index = |after: usize| (after.wrapping_sub(code) / size_of::<Ins>()).checked_sub(1).filter(|&pc| pc < p.code_len());
        let (Some(made), Some(used)) = (index(made), index(used)) else { return false };
        is_used_once(&p, made, used)
    }
}
