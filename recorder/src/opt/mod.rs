//! The optimiser.
//!
//! During emission ([`crate::build`]): FOLD, then by kind of instruction CSE, load forwarding or store elimination. On the finished
//! trace: LOOP ([`loops`]), DCE ([`dce`]), numbers in string buffers ([`buffers`]). All passes look backwards only, which is why copying a loop's iteration through
//! the same pipeline moves invariant code out of the loop.
//!
//! # What makes CSE and forwarding sound across the loop
//! In the copy, a reference to an instruction before LOOP means its value in the *previous* iteration (for the first iteration of
//! the body, that is the recorded one). Everything proved about such references from the instructions alone therefore holds in
//! every iteration, provided that each of them that changes is updated by a PHI; [`loops`] adds those at the end.

pub mod abc;
pub mod alias;
pub mod buffers;
pub mod cse;
pub mod dce;
pub mod fold;
pub mod loops;
pub mod mem;
pub mod narrow;
pub mod sink;
pub mod sums;
pub mod widen;

use crate::abort::Abort;
use crate::build::{Builder, Emit, Limits, Pass};
use crate::ir::verify::verify;
use crate::ir::{Effect, Ins, IrRef, Mode, Op, Snapshot, Trace, sload};

macro_rules! define_flags {
    ($(#[doc = $doc:literal] $name:ident, $text:literal;)*) => {
        /// Which passes run.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        pub struct OptFlags { $(#[doc = $doc] pub $name: bool,)* }

        impl OptFlags {
            /// Names of the passes with what they do, in the order of `jit.status`.
            pub const TABLE: &'static [(&'static str, &'static str)] = &[$(($text, $doc),)*];
            /// Names of the passes, in the order of `jit.status`.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];
            /// All passes.
            pub const ALL: OptFlags = OptFlags { $($name: true,)* };
            /// No pass.
            pub const NONE: OptFlags = OptFlags { $($name: false,)* };
            /// Switches one pass by its name; false when there is none of this name.
            pub fn set(&mut self, name: &str, on: bool) -> bool {
                match name {
                    $($text => self.$name = on,)*
                    _ => return false,
                }
                true
            }
            /// Names of the passes that are on.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                [$(if self.$name { Some($text) } else { None },)*].into_iter().flatten()
            }
        }
    };
}
define_flags! {
    /// Rewriting by operands.
    fold, "fold";
    /// Sharing of equal instructions.
    cse, "cse";
    /// Removal of unused instructions.
    dce, "dce";
    /// Forwarding of loads and stores.
    fwd, "fwd";
    /// Elimination of overwritten stores.
    dse, "dse";
    /// Narrowing of numbers to integers.
    narrow, "narrow";
    /// Loop optimisation.
    loop_, "loop";
    /// Elimination of array bounds checks.
    abc, "abc";
    /// Sinking of allocations.
    sink, "sink";
    /// Stores of slots on the way, for exits to be short.
    sync, "sync";
    /// Fusion of operands: of numbers into string buffers, and the backend's.
    fuse, "fuse";
}

impl Default for OptFlags {
    fn default() -> OptFlags {
        OptFlags::ALL
    }
}

impl OptFlags {
    /// The passes of a level: 0 none, 1 fold cse dce, 2 also narrow loop, 3 and above all.
    pub const fn level(n: u32) -> OptFlags {
        match n {
            0 => OptFlags::NONE,
            1 => OptFlags { fold: true, cse: true, dce: true, ..OptFlags::NONE },
            2 => OptFlags { fold: true, cse: true, dce: true, narrow: true, loop_: true, ..OptFlags::NONE },
            _ => OptFlags::ALL,
        }
    }
}

/// What emission does with an instruction.
pub(crate) fn pipeline(b: &mut Builder, ins: Ins) -> Emit {
    let mut ins = ins;
    if ins.op == Op::SLOAD && ins.b.0 & sload::TYPECHECK != 0 {
        ins = ins.guarded();
    }
    if b.flags.fold {
        ins = match fold::fold(b, ins)? {
            Ok(ins) => ins,
            Err(r) => return Ok(r),
        };
    }
    match ins.op {
        Op::ALOAD | Op::HLOAD => mem::table::load(b, ins),
        Op::ASTORE | Op::HSTORE => mem::table::store(b, ins),
        Op::HREF => mem::refs::href(b, ins),
        Op::HREFK => mem::refs::hrefk(b, ins),
        Op::ALEN => mem::table::len(b, ins),
        Op::FLOAD => mem::field::load(b, ins),
        Op::FSTORE => mem::field::store(b, ins),
        Op::UREFO | Op::UREFC => mem::upvalue::reference(b, ins),
        Op::ULOAD => mem::upvalue::load(b, ins),
        Op::USTORE => mem::upvalue::store(b, ins),
        Op::TBAR => mem::refs::table_barrier(b, ins),
        Op::OBAR => mem::refs::upvalue_barrier(b, ins),
        Op::SLOAD | Op::SREF => {
            let lim =
                [Op::RETF, Op::RESUME, Op::YIELD, Op::COEND].map(|op| b.newest(op)).into_iter().max().unwrap_or(IrRef::NONE);
            cse::reuse_or_append(b, ins, lim)
        }
        Op::LREF => mem::refs::shared_until(b, ins, |_, e| e.all),
        Op::VLOAD => mem::refs::scratch_load(b, ins),
        Op::XLOAD => mem::refs::raw_load(b, ins),
        Op::CALLL => mem::refs::reading_call(b, ins),
        Op::BUFHDR | Op::BUFPUT | Op::BUFNUM | Op::NOP | Op::BASE => b.append(ins),
        op => match op.effect() {
            Effect::Pure => cse::reuse_or_append(b, ins, IrRef::BASE),
            Effect::Load | Effect::Store | Effect::Alloc => b.append(ins),
        },
    }
}

/// Runs the passes on a finished trace. `looping` says that it closes a loop: then the last snapshot is the state at the end of
/// the iteration, in the frame of the trace's start. On [`Abort::TypeInstability`] and [`Abort::GuardAlwaysFails`] the trace is
/// as it was, and another iteration may be recorded behind it.
pub fn finish(b: &mut Builder, looping: bool) -> Result<(), Abort> {
    debug_verify(b, "recording");
    let history = b.history.take().map(|mut h| {
        h.recorded = b.trace.clone();
        h
    });
    let done = run_passes(b, looping);
    b.history = history;
    done
}

fn run_passes(b: &mut Builder, looping: bool) -> Result<(), Abort> {
    b.passes.clear();
    let emitted = b.trace.executed();
    b.passes.push(Pass { name: "emit", before: b.asked, after: emitted });
    if looping && b.flags.loop_ {
        // Whoever records another iteration may know references that no snapshot names: nothing is removed before this.
        pass(b, "loop", loops::run)?;
        debug_verify(b, "loop");
    } else {
        pass(b, "dce", always(dce::run))?;
        pass(b, "sink", always(sink::run))?;
    }
    pass(b, "dce", always(dce::run))?;
    debug_verify(b, "dce");
    if buffers::has_work(b) {
        pass(b, "fuse", always(buffers::run))?;
        debug_verify(b, "fuse");
    }
    Ok(())
}

/// A pass that does not fail.
fn always(run: fn(&mut Builder)) -> impl FnOnce(&mut Builder) -> Result<(), Abort> {
    move |b| {
        run(b);
        Ok(())
    }
}

/// Runs a pass, and notes what it did.
fn pass(b: &mut Builder, name: &'static str, run: impl FnOnce(&mut Builder) -> Result<(), Abort>) -> Result<(), Abort> {
    let before = b.trace.executed();
    run(b)?;
    let after = b.trace.executed();
    b.passes.push(Pass { name, before, after });
    Ok(())
}

/// A malformed trace is a bug of the pass that just ran.
fn debug_verify(b: &Builder, pass: &str) {
    if cfg!(debug_assertions)
        && let Err(e) = verify(&b.trace)
    {
        panic!("after {pass}: {e}\n{}", b.trace);
    }
}

/// Emits the instructions and snapshots of a trace once more, as if it were being recorded.
pub fn reemit(trace: &Trace, flags: OptFlags, limits: Limits) -> Result<Builder, Abort> {
    let mut b = Builder::new(flags, limits);
    for &k in &trace.consts[3..] {
        b.konst(k);
    }
    b.trace.link = trace.link;
    b.trace.parent = trace.parent;
    b.trace.top_slot = trace.top_slot;
    b.trace.checked_slot = trace.checked_slot;
    let mut subst = vec![IrRef::BASE];
    let mut snaps = trace.snaps.iter().peekable();
    let copy_snap = |b: &mut Builder, subst: &[IrRef], snap: &Snapshot| {
        let mut slots = snap.slots.clone();
        for s in &mut slots {
            if !s.value.is_const() {
                s.value = subst[s.value.ins_index()];
            }
        }
        b.snapshot(snap.pc, snap.base_slot, snap.nslots, slots, snap.multres)
    };
    for (i, ins) in trace.ins.iter().enumerate().skip(1) {
        while let Some(snap) = snaps.next_if(|s| s.at.ins_index() <= i) {
            copy_snap(&mut b, &subst, snap)?;
        }
        let operand = |mode: Mode, r: IrRef| if mode == Mode::Ref && !r.is_const() { subst[r.ins_index()] } else { r };
        let new = Ins { a: operand(ins.op.mode_a(), ins.a), b: operand(ins.op.mode_b(), ins.b), ..*ins };
        let r = match ins.op {
            Op::NOP => IrRef::NONE,
            Op::LOOP | Op::PHI => b.append(new)?,
            _ => b.emit_ins(Ins { flags: ins.flags & Ins::GUARD, ..new })?,
        };
        subst.push(r);
    }
    for snap in snaps {
        copy_snap(&mut b, &subst, snap)?;
    }
    Ok(b)
}

/// The guard that is emitted would always fail.
pub(crate) const FAILS: Result<IrRef, Abort> = Err(Abort::GuardAlwaysFails);
