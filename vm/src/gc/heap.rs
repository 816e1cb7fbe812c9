//! The heap's state.
#![allow(unsafe_code, reason = "carved cells of object blocks have a header")]

use super::Marker;
use super::allocator::HostAllocator;
use super::block::{Block, Blocks, FreeCell};
use super::filter::Filter;
use super::pause::Pauses;
use super::raw::RawPools;
use super::size::{CELL_MAX, NUM_CLASSES};
use super::watcher::Watch;
use crate::interrupt::Flag;
use crate::object::{
    Cdata, Func, Gc, GcHeader, Kind, Node, Object, Proto, Shapes, Str, StrTable, Table, Thread, ThreadLink, Udata, Watchpoints,
};
use crate::value::Value;
use core::cell::Cell;
use core::convert::Infallible;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The phase of the collector's cycle.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Between two cycles.
    Pause,
    /// Marking.
    Propagate,
    /// All gray objects done: the atomic phase is due.
    Atomic,
    /// Taking what is dead off lists.
    Settle,
    /// Freeing what is dead.
    Sweep,
    /// Calling finalizers.
    Finalize,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = Phase::Finalize as usize + 1;

    /// Do stores into black objects need a barrier?
    pub(super) fn is_marking(self) -> bool {
        matches!(self, Phase::Propagate | Phase::Atomic)
    }
}

/// Blocks of one size class of objects.
#[derive(Debug, Default)]
pub(super) struct ObjClass {
    /// All blocks.
    pub blocks: Vec<*mut Block>,
    /// Blocks up to here are swept.
    pub swept: usize,
    /// Swept blocks with free cells that are not on [`Heap::free`].
    pub ready: Vec<*mut Block>,
    /// The block new cells are carved from; null when none.
    pub carving: *mut Block,
}

/// An object too large for a cell.
#[derive(Copy, Clone, Debug)]
pub(super) struct LargeObj {
    pub ptr: *mut GcHeader,
    pub size: usize,
}

/// Counts of events on a heap.
#[derive(Copy, Clone, Default, Debug)]
pub struct HeapCounts {
    /// Requests of strings that existed.
    pub str_hits: u64,
    /// Strings that were created.
    pub str_misses: u64,
    /// Tables that exist.
    pub tables: usize,
    /// Userdata that exist.
    pub udatas: usize,
    /// Cdata that exist.
    pub cdatas: usize,
    /// Bytes freed so far. Together with [`Heap::total`] it gives the bytes allocated.
    pub freed: usize,
    /// Steps of the collector in each phase.
    pub steps: [u64; Phase::COUNT],
    /// Swept blocks and large objects that were strings or contained strings.
    pub swept_strings: u64,
}

/// Strings that the collector itself needs.
#[derive(Copy, Clone, Debug)]
pub struct Names {
    /// `__mode`
    pub mode: Gc<Str>,
    /// "not enough memory"
    pub no_memory: Gc<Str>,
}

/// The heap. The first fields are touched by compiled code.
#[derive(Debug)]
#[repr(C)]
pub struct Heap {
    /// Bytes allocated, rounded to size classes.
    pub total: usize,
    /// A collection step is due once `total` has reached this.
    pub threshold: usize,
    /// Colour byte of new objects.
    pub current_white: u64,
    /// The shared node of all empty hash parts; never written.
    pub empty_node: *mut Node,
    /// Free cells by size class (`class_of`).
    pub free: [*mut FreeCell; NUM_CLASSES],
    /// Counts since the heap was made.
    pub(crate) counts: HeapCounts,

    // Compiled code touches nothing from here on.
    /// The memory of objects and of what they own.
    pub(super) cells: CellMemory,
    /// The intern table.
    pub(crate) strings: StrTable,
    pub(super) names: Names,
    /// The shapes of tables.
    pub(crate) shapes: Shapes,
    /// Fields that compiled code takes for constants.
    pub(crate) watchpoints: Watchpoints,
    pub(super) cycle: Cycle,
    pub(super) lists: ObjectLists,
    pub(crate) finalizers: Finalizers,
    pub(super) pacing: Pacing,
    pub(super) limit: MemoryLimit,
    /// The stops of the program for the collector.
    pub(super) pauses: Pauses,
    /// The watcher of all changes, see [`super::watch`].
    pub(super) watch: Option<Box<Watch>>,
    /// Nesting of work that the VM does for itself: allocations meanwhile are not counted as the program's.
    pub(super) internal: u32,
    /// An interrupt of the program waits here: work that takes long ends.
    pub(crate) interrupt: Arc<Flag>,
    /// What leads from coroutines to their VM.
    pub link: *const ThreadLink,
}

/// The memory of objects and of what they own.
#[derive(Debug)]
pub(super) struct CellMemory {
    /// Objects by size class.
    pub classes: [ObjClass; NUM_CLASSES],
    /// What objects own: arrays, nodes, stacks.
    pub raw: RawPools,
    /// Blocks for both.
    pub blocks: Blocks,
    /// Objects too large for a cell.
    pub large: Vec<LargeObj>,
}

/// Where a collection cycle is.
#[derive(Debug)]
pub(super) struct Cycle {
    pub phase: Phase,
    pub marker: Marker,
    /// Progress of the list that is being filtered.
    pub filter: Filter,
    /// Has the list of coroutines with open upvalues been filtered?
    pub upvals_settled: bool,
    /// Class being swept in steps.
    pub sweep_class: usize,
    /// Large objects that are still to be swept, from the end; `usize::MAX` when none are being swept.
    pub sweep_large: usize,
}

/// Lists of objects of some kinds, in the order of their creation.
#[derive(Debug, Default)]
pub(super) struct ObjectLists {
    /// Coroutines that have had open upvalues since the last cycle.
    pub with_upvals: Vec<Gc<Thread>>,
    /// Userdata.
    pub udatas: Vec<Gc<Udata>>,
    /// Prototypes.
    pub protos: Vec<Gc<Proto>>,
}

/// An object whose finalizer is due.
#[derive(Copy, Clone, Debug)]
pub(super) enum Due {
    /// A userdata, whose metatable has the finalizer.
    Udata(Gc<Udata>),
    /// A cdata and its finalizer.
    Cdata(Gc<Cdata>, Value),
}

/// Finalizers that are due.
#[derive(Debug, Default)]
pub(crate) struct Finalizers {
    /// Userdata that were white when they were searched for in this cycle; those without a finalizer with their metatables.
    pub(super) unreached: Vec<(Gc<Udata>, Option<Gc<Table>>)>,
    /// How many userdata of [`ObjectLists::udatas`] have been searched.
    pub(super) searched: usize,
    /// Objects whose finalizer is due, in the order of the calls.
    pub(super) due: VecDeque<Due>,
    /// How many of them are called in a step, at least.
    pub(super) pace: usize,
    /// About as many bytes, without what userdata own elsewhere, are alive for them alone, and are freed by the next cycle.
    pub(super) retained: usize,
    /// The finalizers of cdata by their addresses, with numbers in the order in which they were set.
    pub(super) of_cdata: HashMap<Gc<Cdata>, (u64, Value)>,
    /// Finalizers of cdata set so far.
    pub(super) set: u64,
    /// Is a finalizer running?
    pub running: bool,
    /// Payloads of the host whose userdata have been swept, still to be dropped.
    pub payloads: VecDeque<Box<dyn core::any::Any>>,
    /// Error values that are kept while a finalizer runs.
    pub(super) pending_errors: Vec<Value>,
}

/// When the collector works, and how much.
#[derive(Debug)]
pub(super) struct Pacing {
    /// Live bytes after the last cycle.
    pub estimate: usize,
    /// Bytes of work that the collector has fallen behind.
    pub debt: usize,
    /// The value of [`Heap::total`] at which the next step is due, if no limit and no switch says otherwise.
    pub goal: usize,
    /// Percentage of the live memory at which the next cycle starts (`setpause`).
    pub pause: u32,
    /// Percentage of the allocation rate at which a cycle works (`setstepmul`).
    pub stepmul: u32,
    /// Was the collector stopped by the program?
    pub stopped: bool,
    /// See [`Vm::gc_set_stress`](crate::Vm::gc_set_stress).
    pub stress: u32,
    /// How often a step that was due has been postponed, because compiled code ran.
    pub postponed: u32,
}

/// The memory limit, and what keeps the program below it.
#[derive(Debug, Default)]
pub(super) struct MemoryLimit {
    /// The limit, if there is one.
    pub bytes: Option<usize>,
    /// What was in use when the host's allocator refused blocks, if it has not given any since.
    pub refused: Option<usize>,
    /// Bytes in use when memory was last collected because it was short.
    pub recovered: usize,
    /// Bytes that the largest table needs to grow.
    pub growth: usize,
    /// The same of the tables that have grown in this cycle.
    pub grown: usize,
}

/// A seed of string hashes.
pub(crate) fn random_seed() -> u64 {
    use core::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

/// Compiled code may postpone so many steps that it cannot run: most traces are left by themselves before.
pub(super) const POSTPONED: u32 = 8;
/// Bytes at which the first cycle of a new heap starts; no cycle starts below it.
pub(super) const MIN_GOAL: usize = 256 << 10;

impl MemoryLimit {
    /// The limit of the host, or that of its allocator.
    #[inline]
    pub fn least(&self) -> Option<usize> {
        match (self.bytes, self.refused) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

impl Heap {
    /// An empty heap with a given seed of the string hashes.
    pub fn with_seed(seed: u64) -> Heap {
        Heap::with(seed, None)
    }
    /// An empty heap whose string hashes are seeded at random.
    pub fn new() -> Heap {
        Heap::with(random_seed(), None)
    }
    /// An empty heap with a given seed of the string hashes, whose memory comes from an allocator if there is one.
    pub(crate) fn with(seed: u64, allocator: Option<HostAllocator>) -> Heap {
        let empty_node = Box::into_raw(Box::new(Node::empty()));
        let _ = empty_node.expose_provenance();
        // SAFETY: it is replaced below before anybody follows it.
        let dangling = unsafe { Gc::from_addr(8) };
        let mut heap = Heap {
            total: 0,
            threshold: MIN_GOAL,
            current_white: u64::from(super::color::WHITE0),
            empty_node,
            free: [core::ptr::null_mut(); NUM_CLASSES],
            cells: CellMemory {
                classes: core::array::from_fn(|_| ObjClass::default()),
                raw: RawPools::new(),
                blocks: Blocks::with_allocator(allocator),
                large: Vec::new(),
            },
            strings: StrTable::new(seed),
            shapes: Shapes::new(),
            watchpoints: Watchpoints::default(),
            names: Names { mode: dangling, no_memory: dangling },
            cycle: Cycle {
                phase: Phase::Pause,
                marker: Marker::default(),
                filter: Filter::default(),
                upvals_settled: false,
                sweep_class: NUM_CLASSES,
                sweep_large: usize::MAX,
            },
            lists: ObjectLists::default(),
            finalizers: Finalizers::default(),
            pacing: Pacing {
                estimate: 0,
                debt: 0,
                goal: MIN_GOAL,
                pause: 200,
                stepmul: 200,
                stopped: false,
                stress: 0,
                postponed: 0,
            },
            limit: MemoryLimit::default(),
            counts: HeapCounts::default(),
            pauses: Pauses::default(),
            watch: None,
            internal: 0,
            interrupt: Arc::default(),
            link: Box::into_raw(Box::new(ThreadLink::new())),
        };
        heap.names = Names { mode: heap.new_fixed_str(b"__mode"), no_memory: heap.new_fixed_str(b"not enough memory") };
        heap.cycle.marker.mode_name = Some(heap.names.mode);
        heap
    }
    /// Colour byte of new objects.
    #[inline(always)]
    pub fn white(&self) -> u8 {
        self.current_white as u8
    }
    /// The colour of dead objects.
    #[inline(always)]
    pub fn other_white(&self) -> u8 {
        self.white() ^ super::color::WHITES
    }
    /// Is the object dead, though not swept yet?
    #[inline(always)]
    pub fn is_dead(&self, o: &GcHeader) -> bool {
        o.marked.get() & (self.other_white() | super::color::FIXED) == self.other_white()
    }
    /// In debug builds: panics if a value is a freed or dead object. Such a value was not reachable from a root at a safepoint.
    #[inline(always)]
    pub fn check_live(&self, v: Value) {
        if cfg!(debug_assertions)
            && let Some(o) = v.as_gc()
        {
            assert!(o.kind() != Kind::Free && !self.is_dead(&o), "a {} that was not rooted is used", v.type_name());
        }
    }
    /// Is a collection step due?
    #[inline(always)]
    pub fn gc_due(&self) -> bool {
        self.total >= self.threshold
    }
    /// Compiled code was left: must the collector work now? The exit may have allocated, and compiled code may be entered again before the
    /// interpreter allocates. Or the collector is in a phase that compiled code cannot run, and was put off.
    pub fn collects_after_exit(&self) -> bool {
        let full = self.is_full();
        let waits = matches!(self.cycle.phase, Phase::Atomic | Phase::Finalize) && (self.pacing.postponed != 0 || self.gc_due());
        let due = waits || !full && self.gc_due();
        // If nothing was allocated since memory was last short, there is nothing to free: an error that is thrown from frame to frame
        // allocates nothing.
        let short = full && self.total > self.limit.recovered;
        due || short || self.pacing.stress == 1 && self.gc_due()
    }
    /// Is [`Heap::collects_after_exit`] certainly false? So it is as long as less than the threshold is in use, which is below every limit,
    /// and memory is not short.
    #[inline(always)]
    pub fn rests_after_exit(&self) -> bool {
        let below = !self.gc_due() && self.pacing.postponed == 0;
        let rests = below && !super::reserve::is_short() && !self.cells.blocks.host.is_over();
        debug_assert!(!rests || !self.collects_after_exit());
        rests
    }
    /// Has a step been postponed so often that compiled code must be left?
    #[inline]
    pub fn must_leave_code(&self) -> bool {
        self.pacing.postponed == POSTPONED
    }
    /// Is a finalizer running?
    pub fn is_finalizing(&self) -> bool {
        self.finalizers.running
    }
    /// The phase of the collector's cycle.
    pub fn phase(&self) -> Phase {
        self.cycle.phase
    }
    /// A header for a new object.
    #[inline(always)]
    pub(crate) fn header(&self, kind: Kind, b0: u8, b1: u8, word: u32) -> GcHeader {
        GcHeader {
            kind: Cell::new(kind as u8),
            marked: Cell::new(self.white()),
            b0: Cell::new(b0),
            b1: Cell::new(b1),
            word: Cell::new(word),
        }
    }
    pub(crate) fn note_udata(&mut self, u: Gc<Udata>) {
        self.lists.udatas.push(u);
    }
    /// Registers a new prototype, which owns memory besides its cell.
    pub(crate) fn note_proto(&mut self, p: Gc<Proto>) {
        self.lists.protos.push(p);
        self.total += p.owned_bytes();
        self.report_proto(p);
    }
    /// Counts bytes that are freed.
    #[inline(always)]
    pub(super) fn gave_back(&mut self, bytes: usize) {
        self.total -= bytes;
        self.counts.freed += bytes;
    }
    /// The stops of the program for the collector so far.
    pub fn pauses(&self) -> &Pauses {
        &self.pauses
    }
    /// Counts of events so far.
    pub fn counts(&self) -> HeapCounts {
        self.counts
    }
    /// Number of strings.
    pub fn num_strings(&self) -> usize {
        self.strings.count()
    }
    /// Bytes of an object, with those of the memory that it owns. For the payload of a userdata: the bytes that the host has told.
    pub fn object_size(&self, o: Gc<GcHeader>) -> usize {
        let cell = match o.typed() {
            Some(Object::Str(s)) => crate::object::STR_DATA + s.len() + 1,
            Some(Object::Func(f)) => size_of::<Func>() + f.num_upvalues() * 8,
            Some(Object::Cdata(c)) => c.stored_cell_size(),
            _ => 0,
        };
        if cell > CELL_MAX {
            return cell;
        }
        // SAFETY: objects that are not large are in a cell of a block.
        let cell = unsafe { (*Block::of(o.as_ptr().cast())).cell as usize };
        let owned = match o.typed() {
            Some(Object::Table(t)) => t.owned_bytes(),
            Some(Object::Thread(t)) => super::raw::real_size(t.size.get() as usize * 8),
            Some(Object::Proto(p)) => p.owned_bytes(),
            Some(Object::Udata(u)) if u.block.get().is_null() => u.external.get(),
            Some(Object::Udata(u)) => u.external.get() + super::raw::real_size(Udata::block_bytes(u.block_size())),
            _ => 0,
        };
        cell + owned
    }
    /// Calls `f` for each object that is not dead.
    pub fn for_each_object(&self, mut f: impl FnMut(Gc<GcHeader>)) {
        let Ok(()) = self.try_for_each_object(|o| {
            f(o);
            Ok::<_, Infallible>(())
        });
    }
    /// Calls `f` for each object that is not dead, until it fails.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn try_for_each_object<E>(&self, mut f: impl FnMut(Gc<GcHeader>) -> Result<(), E>) -> Result<(), E> {
        for c in &self.cells.classes {
            for &b in &c.blocks {
                // SAFETY: carved cells of object blocks have a header, of kind Free where there is no object.
                unsafe {
                    for i in 0..(*b).carved {
                        let cell = Block::cell(b, i);
                        let h = cell.cast::<GcHeader>();
                        if !Block::is_free(cell) && !self.is_dead(&*h) {
                            f(Gc::from_ptr(h))?;
                        }
                    }
                }
            }
        }
        for l in &self.cells.large {
            // SAFETY: the list holds objects that are not freed yet.
            unsafe {
                if !self.is_dead(&*l.ptr) {
                    f(Gc::from_ptr(l.ptr))?;
                }
            }
        }
        Ok(())
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}
