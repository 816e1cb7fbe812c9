//! Watching the heap: a [`Watcher`] is called for every allocation, change of size and free, with the code that was running.
//!
//! This costs nothing while there is no watcher. A watcher makes the fast paths of the allocator fail: the free lists that they look at are
//! empty (the real ones are `Watch::hidden`), and all sizes are too large for the fast path of the raw pools. Changes are reported with the
//! sizes that [`Heap::total`] counts, so that the sum of all changes is the change of the total.
//!
//! Memory that an object owns and that is not a cell is reported under an address of its own: the code of a prototype for all its boxes,
//! the field `external` of a userdata for the memory of its payload.
//!
//! Compiled code stores the number of a [`Site`] to `CompiledState::site` before it calls a helper that may allocate. Only code that was
//! compiled while a watcher was attached does so, so traces should be flushed when one is attached or detached.
#![allow(
    unsafe_code,
    reason = "the VM outlives its heap and does not move; compiled code is entered with no Rust reference to the VM in use"
)]

pub use super::watcher::{Change, Origin, Site, Watcher};

use super::Heap;
use super::block::FreeCell;
use super::raw::RawPools;
use super::size::{NUM_CLASSES, RAW_MAX};
use super::watcher::Watch;
use crate::Vm;
use crate::ids::TraceId;
use crate::interp::frames::Level;
use crate::object::{Gc, Proto, Udata};
use core::cell::Cell;

impl RawPools {
    fn watch(&mut self, on: bool) {
        self.fast_max = if on { 0 } else { RAW_MAX };
    }
}

impl Heap {
    /// The hidden free list of a class, taken.
    pub(super) fn take_hidden(&mut self, class: usize) -> *mut FreeCell {
        match &mut self.watch {
            Some(w) => core::mem::replace(&mut w.hidden[class], core::ptr::null_mut()),
            None => core::ptr::null_mut(),
        }
    }
    pub(super) fn hide(&mut self, class: usize, list: *mut FreeCell) {
        if let Some(w) = &mut self.watch {
            w.hidden[class] = list;
        }
    }
    pub(super) fn hidden(&self, class: usize) -> *mut FreeCell {
        self.watch.as_ref().map_or(core::ptr::null_mut(), |w| w.hidden[class])
    }
    /// A sweep begins: all free lists will be built anew.
    pub(super) fn drop_hidden(&mut self) {
        if let Some(w) = &mut self.watch {
            w.hidden = [core::ptr::null_mut(); NUM_CLASSES];
        }
    }
    /// Calls the watcher, if there is one.
    #[inline]
    pub(super) fn report(&mut self, change: Change) {
        if self.must_report() {
            self.notify_watcher(self.place(), change);
        }
    }
    /// The code that is running.
    pub(super) fn place(&self) -> Origin {
        match &self.watch {
            Some(w) if self.internal == 0 => w.place(),
            _ => Origin::Internal,
        }
    }
    #[cold]
    pub(super) fn notify_watcher(&mut self, place: Origin, change: Change) {
        let Some(w) = &mut self.watch else { return };
        w.on = w.on && w.watcher.change(place, change);
        if !w.on {
            self.stop_reporting();
        }
    }
    /// Makes the fast paths work again.
    fn stop_reporting(&mut self) {
        self.cells.raw.watch(false);
        let Some(w) = &mut self.watch else { return };
        for (free, hidden) in self.free.iter_mut().zip(&mut w.hidden) {
            if free.is_null() {
                *free = core::mem::replace(hidden, core::ptr::null_mut());
            }
        }
    }
    /// Must changes be reported?
    #[inline]
    pub(super) fn must_report(&self) -> bool {
        self.watch.as_ref().is_some_and(|w| w.on)
    }
    /// Reports a new prototype: its name, then the memory that it owns.
    #[inline]
    pub(super) fn report_proto(&mut self, p: Gc<Proto>) {
        if let Some(w) = self.watch.as_mut().filter(|w| w.on) {
            w.watcher.proto(p);
            self.report(Change::Alloc { at: p.code_ptr() as usize, size: p.owned_bytes() });
        }
    }
    /// The memory that the payload of a userdata owns has changed.
    pub(crate) fn external_changed(&mut self, external: &Cell<usize>, bytes: usize) {
        let old = external.replace(bytes);
        self.gave_back(old);
        self.total += bytes;
        let at = core::ptr::from_ref(external) as usize;
        match (old, bytes) {
            (0, 0) => {}
            (0, size) => self.report(Change::Alloc { at, size }),
            (size, 0) => self.report(Change::Free { at, size }),
            (old, new) => self.report(Change::Realloc { from: at, old, to: at, new }),
        }
    }
    /// Sets whether the VM works for itself, so that changes are not counted as the program's; returns the old setting.
    pub fn set_internal(&mut self, on: bool) -> bool {
        core::mem::replace(&mut self.internal, u32::from(on)) != 0
    }
    /// Is there a watcher?
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }
    /// The heap is dropped, or the process ends: the watcher is called for the last time.
    pub(crate) fn end_watch(&mut self) {
        self.cells.raw.watch(false);
        if let Some(mut w) = self.watch.take() {
            w.watcher.end();
        }
    }
}

const _: () = assert!(core::mem::offset_of!(Udata, external) != 0, "another address than the userdata's own");

impl Watch {
    /// The code that is running.
    fn place(&self) -> Origin {
        let vm = core::ptr::with_exposed_provenance::<Vm>(self.vm);
        // SAFETY: the VM outlives its heap, does not move, and its fields beside the heap are plain words that are only read here.
        let (cur, base, pc, top, site, on_trace) = unsafe {
            (
                (*vm).cur,
                (*vm).base,
                (*vm).pc,
                (*vm).top,
                (*vm).compiled.site,
                (*vm).compiled.trace_depth == (*vm).interp.native_depth,
            )
        };
        if on_trace {
            // Compiled code runs, not what the stack says.
            // SAFETY: as above.
            return unsafe { (*vm).site_of(site) }.map_or(Origin::Internal, Origin::Trace);
        }
        // SAFETY: base and top of the running function.
        let Some(level) = (unsafe { Level::make(cur, base, pc, top) }) else { return Origin::Internal };
        let Some(code) = level.func.code_address() else { return lua(&level).unwrap_or(Origin::Internal) };
        match level.below() {
            Some(caller) => lua(&caller).unwrap_or(Origin::Native(code)),
            None if level.is_host() => Origin::Internal,
            None => Origin::Native(code),
        }
    }
}

fn lua(level: &Level) -> Option<Origin> {
    Some(Origin::Lua(level.func.proto()?, level.line()?))
}

impl Vm {
    /// Attaches a watcher, which is called for all changes of the heap from now on; returns it if there is one already.
    pub fn watch(&mut self, watcher: Box<dyn Watcher>) -> Result<(), Box<dyn Watcher>> {
        if self.heap.watch.is_some() {
            return Err(watcher);
        }
        let vm = core::ptr::from_mut(self).expose_provenance();
        let hidden = core::mem::replace(&mut self.heap.free, [core::ptr::null_mut(); NUM_CLASSES]);
        self.heap.watch = Some(Box::new(Watch { watcher, on: true, vm, hidden }));
        self.heap.cells.raw.watch(true);
        self.renew_enter();
        Ok(())
    }
    /// Detaches the watcher and returns it, even if it has stopped.
    pub fn take_watcher(&mut self) -> Option<Box<dyn Watcher>> {
        self.heap.stop_reporting();
        let w = self.heap.watch.take()?;
        self.renew_enter();
        Some(w.watcher)
    }
    /// Runs `f` on the watcher, if there is one.
    pub fn with_watcher<R>(&mut self, f: impl FnOnce(&mut dyn Watcher) -> R) -> Option<R> {
        self.heap.watch.as_mut().map(|w| f(&mut *w.watcher))
    }
    /// Reports a new trace to the watcher, if there is one.
    pub fn report_trace(&mut self, id: TraceId, proto: Gc<Proto>, line: u32) {
        if let Some(w) = self.heap.watch.as_mut().filter(|w| w.on) {
            w.watcher.trace(id, proto, line);
        }
    }
    /// Sets the function that enters compiled code.
    pub fn set_enter(&mut self, enter: crate::hooks::EnterFn) {
        self.compiled.plain_enter = enter;
        self.compiled.enter = if self.wants_sites() || self.compiled.needs.notes_entry { enter_watched } else { enter };
    }
    /// A watcher or a consumer of samples was attached or detached.
    pub(crate) fn renew_enter(&mut self) {
        if self.compiled.enter as usize == self.compiled.plain_enter as usize {
            self.compiled.site = 0;
            self.compiled.trace_depth = NOT_ON_TRACE;
        }
        if !self.wants_sites() {
            self.compiled.sites = Vec::new();
        }
        self.set_enter(self.compiled.plain_enter);
    }
    /// Must compiled code store its site, for a watcher of the heap or a consumer of samples?
    pub fn wants_sites(&self) -> bool {
        self.heap.is_watched() || self.compiled.needs.notes_helpers
    }
    /// Adds a position of code that is being compiled; its number, for `CompiledState::site`.
    pub fn add_site(&mut self, site: Site) -> Option<u32> {
        self.compiled.sites.push(site);
        u32::try_from(self.compiled.sites.len()).ok()
    }
    /// The position with a number.
    pub fn site_of(&self, number: u32) -> Option<Site> {
        self.compiled.sites.get((number as usize).checked_sub(1)?).copied()
    }
}

/// `CompiledState::trace_depth` while no compiled code runs.
const NOT_ON_TRACE: u32 = u32::MAX;

/// Enters compiled code while the heap is watched or samples are taken. Afterwards the site is again that of the compiled code, if any,
/// that called the builtin which led here.
///
/// # Safety
/// As for [`crate::hooks::EnterFn`].
unsafe extern "C" fn enter_watched(vm: *mut Vm, base: *mut crate::Value, trace: u32) -> u64 {
    // SAFETY: by the contract; plain words, and no reference to the VM is in use.
    unsafe {
        let outer = ((*vm).compiled.site, (*vm).compiled.trace_depth, (*vm).compiled.frame_base, (*vm).compiled.stack_moves);
        (*vm).compiled.site = 0;
        (&raw mut (*vm).compiled.frame_base).write_volatile(base);
        // A sample may be taken as soon as the depth is set.
        (&raw mut (*vm).compiled.trace_depth).write_volatile((*vm).interp.native_depth);
        let exit = ((*vm).compiled.plain_enter)(vm, base, trace);
        (&raw mut (*vm).compiled.trace_depth).write_volatile(NOT_ON_TRACE);
        (&raw mut (*vm).compiled.site).write_volatile(outer.0);
        let moved = (*vm).compiled.stack_moves != outer.3;
        (&raw mut (*vm).compiled.frame_base).write_volatile(if moved { core::ptr::null_mut() } else { outer.2 });
        (&raw mut (*vm).compiled.trace_depth).write_volatile(outer.1);
        exit
    }
}
