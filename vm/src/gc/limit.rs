//! The end of memory: the limit that the host has set, and what the system gives ([`super::reserve`]). Allocation itself never
//! fails: memory is looked at in safepoints, and before allocations whose size the program controls.
#![allow(unsafe_code, reason = "the list of large objects holds objects that are not freed")]

use super::allocator::HostAllocator;
use super::{Heap, reserve};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::interrupt::{Cause, Interrupted, Poll};
use crate::object::{Gc, Str, Table};
use crate::text::append;
use crate::text::parts::{REMAPPED, append_in_parts, reserve_in_parts};
use crate::value::Value;

/// Larger single allocations are refused even without a limit.
const MAX_ALLOC: usize = 0x7fff_ff00;
/// Strings of this size are checked before they are made.
pub(crate) const CHECKED: usize = 1 << 16;
/// No string is longer: "string length overflow".
pub(crate) const LONGEST_STRING: usize = i32::MAX as usize - 256;
/// Before larger ones the system is asked.
pub(crate) const ASK: usize = 1 << 20;
/// Kept back besides what the largest table needs.
const BASE: usize = 8 << 20;
/// Bytes that the parser may keep for a byte of source text.
const SOURCE: usize = 24;
/// Bytes that the parser keeps for a byte of source text of the densest kind: a constructor of short strings. What is compiled is made of
/// them, and both are there for a moment.
const PARSED: usize = 8;
/// This part of the limit must be free after a collection that the limit has caused. A program whose live objects almost reach the limit would
/// otherwise collect for every few bytes. So it collects at most this often while it allocates as much as the limit, which makes an
/// allocation some hundred times as expensive, not a hundred thousand times.
const SPARE: usize = 64;

/// What a part of a table needs to grow. A substring of a string needs as much as that at most.
fn growth(bytes: usize, in_place: bool) -> usize {
    if in_place && bytes >= REMAPPED { bytes } else { 2 * bytes }
}

impl Heap {
    /// What should be kept back.
    fn reserve(&self) -> usize {
        // A quarter: so much may the collector need to note what it has reached.
        self.limit.growth + self.total / 4 + BASE
    }
    /// The system was asked for memory, to be outgrown perhaps by twice as much.
    #[cold]
    pub(super) fn system_gave(&mut self, bytes: usize, in_place: bool) {
        self.keep_for_copy(growth(bytes, in_place));
    }
    /// The system was asked for memory; compiled code may ask for `growth` bytes in one piece without a check, because of it.
    pub(super) fn keep_for_copy(&mut self, growth: usize) {
        self.limit.grown = self.limit.grown.max(growth);
        self.limit.growth = self.limit.growth.max(growth);
        reserve::keep(self.reserve());
        if self.cells.blocks.host.take_refusal() {
            // What is in use is already too much.
            self.limit.refused = Some(self.total - 1);
            self.update_threshold();
        }
        if reserve::is_short() || self.cells.blocks.host.is_over() {
            self.threshold = 0;
        }
    }
    /// What a large table that was met while marking needs to grow.
    #[cold]
    pub(super) fn growth_of(t: &Table) -> usize {
        growth(t.asize() as usize * 8, true).max(growth(t.num_nodes() as usize * 24, false))
    }
    /// The largest object that is alive, of those too large for a cell, when all that is alive has been marked.
    pub(super) fn largest_alive(&self) -> usize {
        // SAFETY: the list holds objects that are not freed yet.
        let alive = self.cells.large.iter().filter(|l| unsafe { !(*l.ptr).is_white() });
        alive.map(|l| l.size).max().unwrap_or(0)
    }
    /// The state ends: what the host's allocator has refused is no reason for finalizers to fail that need no more.
    pub(crate) fn forgive_refusals(&mut self) {
        self.limit.refused = None;
        self.cells.blocks.host.forgive();
        self.update_threshold();
    }
    /// Could `bytes` be allocated in one piece?
    fn has_room(&self, bytes: usize) -> bool {
        self.cells.blocks.host.would_give(bytes) && (bytes < ASK || reserve::has_room(bytes))
    }
    /// Is the heap at its limit, or memory short?
    pub fn is_full(&self) -> bool {
        self.limit.least().is_some_and(|limit| self.total > limit) || reserve::is_short() || self.cells.blocks.host.is_over()
    }
}

impl Heap {
    /// "not enough memory"
    pub fn no_memory(&self) -> Gc<Str> {
        self.names.no_memory
    }
}

impl Vm {
    /// Limits the heap to `bytes`; `None` takes the limit away.
    pub fn set_memory_limit(&mut self, bytes: Option<usize>) {
        self.heap.limit.bytes = bytes;
        self.heap.update_threshold();
    }
    /// The limit of the heap.
    pub fn memory_limit(&self) -> Option<usize> {
        self.heap.limit.bytes
    }
    /// Takes memory from another allocator from now on. Memory that came from one before is given back to this one.
    ///
    /// # Safety
    /// The function may be called on this thread with its data as long as the state lives. It returns null, or memory of the size that is
    /// asked for, aligned to 8, that nobody else uses; and frees what it, or the allocator before it, has given.
    pub unsafe fn set_allocator(&mut self, allocator: HostAllocator) {
        self.heap.cells.blocks.host.allocator = Some(allocator);
    }
    /// To be called before an allocation of `bytes` that may be large. May be a safepoint, which collects.
    #[inline]
    pub fn check_alloc(&mut self, bytes: usize) -> LuaResult<()> {
        // Below the collector's threshold, memory is neither short nor at its limit (`update_threshold`).
        if bytes < CHECKED && self.heap.total + bytes < self.heap.threshold { Ok(()) } else { self.check_room(bytes) }
    }
    #[cold]
    #[inline(never)]
    fn check_room(&mut self, bytes: usize) -> LuaResult<()> {
        if bytes > MAX_ALLOC {
            return Err(self.out_of_memory());
        }
        self.enforce_limit(bytes)?;
        if bytes < CHECKED { Ok(()) } else { self.ask_for(bytes) }
    }
    /// Is there room to compile so much source text? May collect.
    pub fn has_room_for_source(&mut self, bytes: usize) -> bool {
        self.enforce_limit(bytes.saturating_mul(PARSED)).is_ok()
            && (bytes < CHECKED || self.ask_for(bytes.saturating_mul(SOURCE)).is_ok())
    }
    #[cold]
    #[inline(never)]
    fn ask_for(&mut self, bytes: usize) -> LuaResult<()> {
        if self.heap.has_room(bytes) {
            return Ok(());
        }
        self.collect_all()?;
        if self.heap.has_room(bytes) { Ok(()) } else { Err(self.out_of_memory()) }
    }
    /// Makes room for `more` bytes in a buffer. Collects nothing.
    #[inline]
    pub fn room(&mut self, out: &mut Vec<u8>, more: usize) -> LuaResult<()> {
        if out.capacity() - out.len() >= more { Ok(()) } else { self.more_room(out, more) }
    }
    #[cold]
    #[inline(never)]
    fn more_room(&mut self, out: &mut Vec<u8>, more: usize) -> LuaResult<()> {
        let fits = out.len().saturating_add(more) <= self.longest_buffer();
        match fits.then(|| reserve_in_parts(out, more, Poll::At(&self.interrupts.flag))) {
            Some(Ok(true)) => Ok(()),
            Some(Err(Interrupted)) => Err(self.interrupted()),
            Some(Ok(false)) | None => Err(self.out_of_memory()),
        }
    }
    /// Appends a text to a buffer, which grows within its limit. An interrupt ends that where the text is long.
    #[inline(always)]
    pub fn put(&mut self, out: &mut Vec<u8>, text: &[u8]) -> LuaResult<()> {
        self.room(out, text.len())?;
        if text.len() > Poll::BYTES {
            return self.put_long(out, text);
        }
        out.extend_from_slice(text);
        Ok(())
    }
    /// As [`Vm::put`], where most texts are short.
    #[inline(always)]
    pub fn put_short(&mut self, out: &mut Vec<u8>, text: &[u8]) -> LuaResult<()> {
        self.room(out, text.len())?;
        if text.len() > Poll::BYTES {
            return self.put_long(out, text);
        }
        append(out, text);
        Ok(())
    }
    #[cold]
    #[inline(never)]
    fn put_long(&mut self, out: &mut Vec<u8>, text: &[u8]) -> LuaResult<()> {
        append_in_parts(out, text, Poll::At(&self.interrupts.flag)).map_err(|Interrupted| self.interrupted())
    }
    /// No buffer may be longer.
    pub fn longest_buffer(&self) -> usize {
        self.heap.limit.least().map_or(MAX_ALLOC, |limit| limit.min(MAX_ALLOC))
    }
    /// A new string, which may be long: there may be no memory for it, and an interrupt ends what makes it.
    pub fn checked_str(&mut self, bytes: &[u8]) -> LuaResult<Gc<Str>> {
        self.check_alloc(bytes.len())?;
        self.try_new_str(bytes)
    }
    /// A new string, for which there is memory. An interrupt ends what makes a long one.
    pub fn try_new_str(&mut self, bytes: &[u8]) -> LuaResult<Gc<Str>> {
        let s = self.heap.try_new_str(bytes, Poll::At(&self.interrupts.flag));
        s.map_err(|Interrupted| self.interrupted())
    }
    /// Is there room for a string of `bytes`? Neither collects nor raises an error, as compiled code can do neither: where this says
    /// no, the trace is left and the interpreter does both.
    #[inline]
    pub(crate) fn has_room_for_str(&self, bytes: usize) -> bool {
        bytes < CHECKED || self.has_room_for_long_str(bytes)
    }
    #[cold]
    #[inline(never)]
    fn has_room_for_long_str(&self, bytes: usize) -> bool {
        let within = |limit| self.heap.total.saturating_add(bytes) <= limit;
        let allowed = bytes <= LONGEST_STRING && self.heap.limit.least().is_none_or(within);
        allowed && !reserve::is_short() && self.heap.has_room(bytes)
    }
    /// Fails if `extra` bytes do not fit below the limit even after a full collection, or that leaves too little, or memory stays short.
    #[inline]
    pub(super) fn enforce_limit(&mut self, extra: usize) -> LuaResult<()> {
        if reserve::is_short() {
            self.recover()?;
        }
        if self.heap.cells.blocks.host.is_over() {
            self.settle_with_host()?;
        }
        match self.heap.limit.least() {
            Some(limit) if self.heap.total.saturating_add(extra) > limit => self.collect_for(extra),
            _ => Ok(()),
        }
    }
    /// A complete collection. Fails if an interrupt ended it: then it is unknown how much memory the program needs.
    fn collect_all(&mut self) -> LuaResult<()> {
        self.full_gc();
        if self.interrupt_waits().is_some_and(Cause::lasts) { Err(self.interrupted()) } else { Ok(()) }
    }
    /// Memory is short: collects, and keeps back as much as before.
    #[cold]
    #[inline(never)]
    fn recover(&mut self) -> LuaResult<()> {
        self.collect_all()?;
        self.heap.limit.recovered = self.heap.total;
        let renewed = reserve::renew(self.heap.reserve());
        self.heap.update_threshold();
        if renewed { Ok(()) } else { Err(self.out_of_memory()) }
    }
    #[cold]
    #[inline(never)]
    fn collect_for(&mut self, extra: usize) -> LuaResult<()> {
        self.collect_all()?;
        self.heap.limit.recovered = self.heap.total;
        if self.heap.limit.refused.is_some() && self.heap.cells.blocks.would_give_segment() {
            self.heap.limit.refused = None;
            self.heap.update_threshold();
        }
        let fits = |limit| self.heap.total.saturating_add(extra.max(limit / SPARE)) <= limit;
        if self.heap.limit.least().is_none_or(fits) { Ok(()) } else { Err(self.out_of_memory()) }
    }
    /// The host's allocator has refused large pieces: collects, and asks whether it has room for those that are left.
    #[cold]
    #[inline(never)]
    fn settle_with_host(&mut self) -> LuaResult<()> {
        self.collect_all()?;
        self.heap.limit.recovered = self.heap.total;
        let has_room = self.heap.cells.blocks.host.settle();
        self.heap.update_threshold();
        if has_room { Ok(()) } else { Err(self.out_of_memory()) }
    }
    /// "not enough memory"
    #[cold]
    pub(crate) fn out_of_memory(&mut self) -> LuaError {
        let e = self.throw(Value::str(self.heap.names.no_memory));
        // There is no room for handlers.
        self.errors.handled = true;
        e
    }
}
