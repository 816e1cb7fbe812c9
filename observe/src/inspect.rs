//! Looking at a running state without changing it: objects by kind, the compiler's state, the frames.
//!
//! All of this only reads, needs no `unsafe` from the embedder, and may be called from a hook or a Rust function that Lua called.

use perilune_jit::Jit;
use perilune_vm::Vm;
use perilune_vm::interp::frames::Level;
use perilune_vm::object::{BcPos, Kind};

/// The objects on the heap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeapSnapshot {
    /// How many there are, those that are dead and not freed yet left out.
    pub total_objects: usize,
    /// Bytes they take, exactly: cells and what they own.
    pub total_bytes: usize,
    /// By kind, most frequent first; those by the same count by name. Kinds without objects are left out.
    pub buckets: Vec<HeapBucket>,
}

/// The objects of one kind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeapBucket {
    /// Name of the kind.
    pub type_name: &'static str,
    /// How many.
    pub count: usize,
    /// Bytes.
    pub bytes: usize,
}

/// Counts the objects of a heap. Takes time for each object; allocates only the result.
pub fn heap_walk(vm: &Vm) -> HeapSnapshot {
    let mut buckets: Vec<HeapBucket> = Kind::ALL.iter().map(|k| HeapBucket { type_name: k.name(), count: 0, bytes: 0 }).collect();
    vm.heap.for_each_object(|o| {
        // Kinds are numbered from 1 in this order: asserted below.
        let bucket = &mut buckets[o.kind() as usize - 1];
        bucket.count += 1;
        bucket.bytes += vm.heap.object_size(o);
    });
    buckets.retain(|b| b.count != 0);
    buckets.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.type_name.cmp(b.type_name)));
    HeapSnapshot {
        total_objects: buckets.iter().map(|b| b.count).sum(),
        total_bytes: buckets.iter().map(|b| b.bytes).sum(),
        buckets,
    }
}

const _: () = {
    let mut i = 0;
    while i < Kind::ALL.len() {
        assert!(Kind::ALL[i] as usize == i + 1);
        i += 1;
    }
};

/// The state of the compiler.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JitStateSnapshot {
    /// Is there a compiler?
    pub enabled: bool,
    /// Is it on, as `jit.status()` says?
    pub trace_enabled: bool,
    /// Where the recording under way started: chunk name and line.
    pub active_trace_head: Option<(String, u32)>,
    /// Index of the instruction there.
    pub active_trace_head_pc: Option<usize>,
    /// Instructions of IR that the recording under way has.
    pub active_trace_len: Option<usize>,
    /// Recordings that became a trace.
    pub trace_closed_count: u64,
    /// Recordings given up.
    pub trace_aborted_count: u64,
    /// Times that compiled code was entered.
    pub trace_dispatched_count: u64,
    /// Traces turned into machine code.
    pub trace_compiled_count: u64,
    /// Side exits taken to the interpreter.
    pub trace_deopt_count: u64,
}

/// The state of the compiler now.
pub fn jit_state_snapshot(vm: &Vm) -> JitStateSnapshot {
    let Some(jit) = Jit::of(vm) else { return JitStateSnapshot::default() };
    let counts = jit.counts();
    let recording = jit.recording_view();
    let head = recording.and_then(|r| r.head);
    JitStateSnapshot {
        enabled: true,
        trace_enabled: jit.is_on(),
        active_trace_head: head.map(|pos| (pos.proto.chunkname.to_str_lossy().into_owned(), pos.proto.line(pos.pc()))),
        active_trace_head_pc: head.map(BcPos::pc),
        active_trace_len: recording.map(|r| r.length),
        trace_closed_count: counts.closed,
        trace_aborted_count: counts.aborted,
        trace_dispatched_count: counts.entered,
        trace_compiled_count: counts.compiled,
        trace_deopt_count: counts.deopt,
    }
}

/// A running Lua function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FrameInfo {
    /// Name of its chunk, with the leading `@` or `=`.
    pub source: String,
    /// The line it is at; 0 if that was stripped.
    pub line: u32,
    /// The line it is defined at; 0 for a main chunk.
    pub line_defined: u32,
}

/// The Lua functions that are running, deepest last; those of the coroutines that wait for the running one come first. Builtins and
/// the VM's own frames are left out.
pub fn frames_for_profile(vm: &Vm) -> Vec<FrameInfo> {
    let mut frames = Vec::new();
    let mut thread = Some(vm.cur);
    while let Some(t) = thread {
        let mut level = Level::innermost(vm, t);
        while let Some(l) = level {
            if let Some(p) = l.func.proto() {
                frames.push(FrameInfo {
                    source: p.chunkname.to_str_lossy().into_owned(),
                    line: l.line().unwrap_or(0),
                    line_defined: p.first_line,
                });
            }
            level = l.below();
        }
        thread = t.resumer.get();
    }
    frames.reverse();
    frames
}
