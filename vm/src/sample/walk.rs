//! Stacks that the signal handler walks when a sample is taken in compiled code, which is not left for the sample.
//!
//! Compiled code does not store which frames it has inlined, but the position of the sample tells that. The base of the frame that it
//! counts slots from is at `CompiledState::frame_base`, and the frames of its callers are as the interpreter, or an exit, has left them.
#![allow(
    unsafe_code,
    reason = "frames of a sampled stack are read where the stack has not moved; samples are read while the handler is told not to write"
)]

use crate::Vm;
use crate::interp::frames::Level;
use crate::object::{Gc, Thread, ThreadStatus};
use crate::sample::{Callee, Part, StackFrame};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, compiler_fence};

/// The most frames of a sample; those further out are omitted.
const MOST: usize = 250;
/// The most pending samples, and the most frames of all of them.
const SAMPLES: usize = 256;
const FRAMES: usize = 8192;

/// The stack of a sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The functions, the innermost first. The running coroutine's come before those of the one that resumed it, and so on.
    pub frames: Vec<StackFrame>,
    /// Number of frames of the running coroutine.
    pub own: usize,
    /// Are these all frames?
    pub whole: bool,
}

impl Stack {
    /// The current stack.
    pub fn of(vm: &Vm) -> Stack {
        let mut frames = Vec::with_capacity(32);
        let (own, whole) = walk(vm.cur, Level::innermost(vm, vm.cur), |f| frames.push(f));
        Stack { frames, own, whole }
    }
    /// The frames below the builtin with this id, which ran at the sample; the stack was taken at the next instruction. Where the builtin
    /// has called a function meanwhile, it is still on the stack, below that function, which is at its first instruction.
    pub fn below_builtin(&self, id: u32) -> &[StackFrame] {
        let is_it = |f: &StackFrame| matches!(f.callee, Callee::Builtin(f) if f.ffid() == id);
        match self.frames.as_slice() {
            // Its header comes first.
            [called, builtin, rest @ ..] if called.pc.is_some_and(|pc| pc <= 1) && is_it(builtin) => rest,
            all => all,
        }
    }
}

/// Calls `take` with the frames, at most [`MOST`]. Returns how many were those of the running coroutine, and whether these are all. Nothing
/// is allocated.
fn walk(running: Gc<Thread>, innermost: Option<Level>, mut take: impl FnMut(StackFrame)) -> (usize, bool) {
    let (mut taken, mut own) = (0, None);
    let mut level = innermost;
    let mut thread = running;
    loop {
        while let Some(l) = level {
            if !l.is_host() {
                if taken == MOST {
                    return (own.unwrap_or(taken), false);
                }
                take(StackFrame { callee: Callee::of(l.func), pc: l.pc });
                taken += 1;
            }
            level = l.below();
        }
        own.get_or_insert(taken);
        let Some(outer) = thread.resumer.get() else { return (own.unwrap_or(taken), true) };
        thread = outer;
        let fresh = outer.status.get() == ThreadStatus::Fresh;
        // SAFETY: a coroutine that has run keeps the base of its innermost frame.
        level = if fresh { None } else { unsafe { Level::make(outer, outer.base.get(), outer.pc.get(), outer.top.get()) } };
    }
}

/// A sample whose stack was walked.
#[derive(Copy, Clone)]
struct WalkedSample {
    part: Part,
    /// Index of the first frame, and number of frames.
    frames: (usize, usize),
    own: usize,
    whole: bool,
}

/// Pending samples with their stacks. The signal handler adds to them, on the same thread.
pub(super) struct Walked {
    samples: Box<[UnsafeCell<MaybeUninit<WalkedSample>>]>,
    frames: Box<[UnsafeCell<MaybeUninit<StackFrame>>]>,
    /// Number of samples in use.
    taken: AtomicUsize,
    used: AtomicUsize,
    /// Are they being read?
    closed: AtomicBool,
}

impl Walked {
    pub fn new() -> Walked {
        Walked {
            samples: (0..SAMPLES).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
            frames: (0..FRAMES).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
            taken: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        }
    }
    /// Adds a sample with the stack of a coroutine whose innermost frame is given. Returns `None` if there is no room now; otherwise,
    /// whether half of the room is used.
    pub fn add(&self, part: Part, running: Gc<Thread>, innermost: Option<Level>) -> Option<bool> {
        let (n, first) = (self.taken.load(Relaxed), self.used.load(Relaxed));
        if self.closed.load(Relaxed) || n == SAMPLES || FRAMES - first < MOST {
            return None;
        }
        let mut end = first;
        let (own, whole) = walk(running, innermost, |f| {
            // SAFETY: what is not in use yet is only written, and only here.
            unsafe { (*self.frames[end].get()).write(f) };
            end += 1;
        });
        // SAFETY: as above.
        unsafe { (*self.samples[n].get()).write(WalkedSample { part, frames: (first, end - first), own, whole }) };
        compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self.used.store(end, Relaxed);
        self.taken.store(n + 1, Relaxed);
        Some(2 * (n + 1) >= SAMPLES || 2 * end >= FRAMES)
    }
    /// Calls `f` with the pending samples, and forgets them.
    pub fn take(&self, mut f: impl FnMut(Part, Stack)) {
        self.closed.store(true, Relaxed);
        compiler_fence(core::sync::atomic::Ordering::SeqCst);
        for i in 0..self.taken.load(Relaxed) {
            // SAFETY: the samples in use were written, with their frames; nothing is written while these are closed.
            let sample = unsafe { (*self.samples[i].get()).assume_init() };
            let (first, n) = sample.frames;
            // SAFETY: as above.
            let frames = self.frames[first..first + n].iter().map(|f| unsafe { (*f.get()).assume_init() }).collect();
            f(sample.part, Stack { frames, own: sample.own, whole: sample.whole });
        }
        self.taken.store(0, Relaxed);
        self.used.store(0, Relaxed);
        compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self.closed.store(false, Relaxed);
    }
    /// Are there no pending samples?
    pub fn is_empty(&self) -> bool {
        self.taken.load(Relaxed) == 0
    }
}

impl Vm {
    /// The frame that compiled code counts slots from, as a level without an instruction; `None` if that is not known.
    ///
    /// # Safety
    /// Compiled code runs, on this thread, or a helper that it has called; a signal handler may call this then.
    pub(super) unsafe fn level_of_code(vm: *mut Vm) -> Option<Level> {
        // SAFETY: plain words of the VM, written whole.
        unsafe {
            let cur = (&raw const (*vm).cur).read_volatile();
            let base = (&raw const (*vm).compiled.frame_base).read_volatile();
            let slots = (base as usize).checked_sub(cur.stack.get() as usize)? / size_of::<crate::value::Value>();
            if slots < 2 || slots >= cur.size.get() as usize {
                return None;
            }
            Level::make(cur, base, core::ptr::null(), base)
        }
    }
}
