//! What to compile: a tree of traces.

use crate::exit_abi::ExitArg;
use perilune_recorder::ir::{SnapId, Trace};
use perilune_vm::hooks::Unboxed;
use perilune_vm::interrupt::Flag;
use perilune_vm::{ExitId, TraceId, Value};

/// A trace and the side traces compiled into the same function.
#[derive(Clone)]
pub struct TraceTree<'a> {
    /// The trace, optimised.
    pub trace: &'a Trace,
    /// Its id: a link to it from within the tree is a jump.
    pub id: TraceId,
    /// The id of its first exit.
    pub exit_base: ExitId,
    /// By instruction: the number to store to `CompiledState::site` before it calls a helper that allocates; empty if no profiler needs
    /// sites.
    pub sites: &'a [u32],
    /// The code stores its site before it calls any helper, not only before those that allocate.
    pub notes_helpers: bool,
    /// Stacks are walked while it runs: it stores the base of its frame (`CompiledState::frame_base`) when it starts and when the base
    /// changes.
    pub walked: bool,
    /// Side traces by the exit they start from. Other exits leave through the exit table.
    pub sides: Vec<(SnapId, TraceTree<'a>)>,
}

impl<'a> TraceTree<'a> {
    /// A trace without side traces.
    pub fn single(trace: &'a Trace, id: TraceId, exit_base: ExitId) -> TraceTree<'a> {
        TraceTree { trace, id, exit_base, sites: &[], notes_helpers: false, walked: false, sides: Vec::new() }
    }
}

/// What to compile.
#[derive(Clone)]
pub struct CompileRequest<'a> {
    /// The traces.
    pub tree: TraceTree<'a>,
    /// Slots between the base of a frame and its caller's, from the frame's return address (for RETF).
    pub frame_delta: fn(pc: u64) -> u32,
    /// Exits leave the slots that [`crate::unboxed::unboxed`] lists unboxed, to the runtime or to side traces.
    pub unboxed_exits: bool,
    /// The slots that the exit leading to the root trace of the tree has left unboxed.
    pub unboxed: &'a [Unboxed],
    /// The arguments that this exit passes in registers ([`crate::exit_abi::exit_args`]).
    pub exit_args: &'a [ExitArg],
    /// The hash of a key that is an object.
    pub key_hash: fn(Value) -> u32,
    /// It is a side trace whose runs are counted down (`CompiledState::side_countdown`): it leaves through its first exit when none is left.
    pub counts_runs: bool,
    /// Links from side traces to the root trace of the tree leave on request.
    pub interruptible: bool,
    /// Guards that fail store which one it was and for what value (`CompiledState::failed_guard`).
    pub notes_guards: bool,
    /// Keep the texts and the address map.
    pub listing: bool,
    /// Fill [`crate::CodeMap::parts`].
    pub parts: bool,
    /// Give up with [`crate::BackendError::Interrupted`] as soon as an interrupt waits here.
    pub interrupt: Option<&'a Flag>,
}

impl<'a> CompileRequest<'a> {
    /// Plain code for a tree: boxed exits, nothing passed by a parent, no listing. All keys have the hash 0.
    pub fn new(tree: TraceTree<'a>, frame_delta: fn(pc: u64) -> u32) -> CompileRequest<'a> {
        CompileRequest {
            tree,
            frame_delta,
            unboxed_exits: false,
            unboxed: &[],
            exit_args: &[],
            key_hash: |_| 0,
            counts_runs: false,
            interruptible: false,
            notes_guards: false,
            listing: false,
            parts: false,
            interrupt: None,
        }
    }
}
