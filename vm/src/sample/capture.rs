//! Samples in compiled code, noted by the signal handler itself.
//!
//! Compiled code that is sampled by address has no guards: the handler notes where the processor is, or, while a helper runs, the
//! site that the code has left ([`crate::Vm::site`]), and the frames from `vm.sampled_base` down, where the code leaves the base that
//! it counts slots from, when it starts and before it stores to frames below. Below that base nothing changes while compiled code
//! runs. What is above it, only the trace knows.
//!
//! Equal samples are counted, so that a loop does not fill the memory there is for them however long it runs.

use crate::bc::Ins;
use crate::interp::frame::{self, below, kind, link_of};
use crate::object::{Func, Gc, Thread};
use crate::value::Value;
use core::sync::atomic::{Ordering::SeqCst, compiler_fence};

/// Frames of a sample; those further out are left off.
pub const MAX_FRAMES: usize = 250;

/// Words for samples: 4 MB, of which the system only provides what is used.
const WORDS: usize = 1 << 19;
/// Places of the table by which equal samples are found.
const TABLE: usize = 1 << 13;
/// Words in front of the frames of a sample: hash, count and number of frames, coroutine, what runs, where.
const HEAD: usize = 5;
/// Those from here on, and the frames, make a sample equal to another.
const SAME: usize = 3;
const ENTRY: usize = HEAD + 2 * MAX_FRAMES;

/// Marks, beside the activity, that frames were left off.
const CUT: u64 = 1 << 8;
/// Marks, beside the activity, that the place is a site.
const SITE: u64 = 1 << 9;
/// Above these bits beside the activity: frames that are those of the running coroutine.
const OWN: u32 = 16;

/// Where in compiled code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CodePlace {
    /// The address of a machine instruction.
    Address(usize),
    /// A helper or a builtin runs, called where the code left this number ([`crate::gc::watch::Site`]); 0 if none is known.
    Site(u32),
}

/// A sample that was taken in compiled code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Intervals that have passed.
    pub count: u32,
    /// What the VM was doing: a letter of [`super::Activity`].
    pub activity: u8,
    /// Where.
    pub place: CodePlace,
    /// The coroutine that ran (of equal samples, the first). Alive until the consumer has been told.
    pub thread: Gc<Thread>,
    /// How many of the frames are its own.
    pub own: usize,
    /// The frames in memory, the innermost first: that which the trace counted slots from when it left word of it, and those below.
    /// The trace may have left some of them since. Frames of the coroutines that wait for this one follow. The function of the
    /// first may be another one by now, by a tail call.
    pub frames: Vec<CapturedFrame>,
    /// Were frames left off?
    pub cut: bool,
}

/// Above these bits of a function's address: slots that its frame is below the first one.
const BELOW: u32 = 48;

/// A frame of a [`Captured`] sample.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CapturedFrame {
    /// The function. Alive until the consumer has been told, see [`super::Consumer::settle`].
    pub func: Gc<Func>,
    /// Behind its current instruction; null where none is known.
    pub pc: *const Ins,
    /// How many slots it is below the first one; at most `u16::MAX`, which stands for more as well.
    pub below: u16,
}

/// Samples that the consumer has not been told of.
#[derive(Debug)]
pub(super) struct Capture {
    words: Box<[u64]>,
    /// Words in use.
    used: usize,
    /// By hash: index of the sample in `words`, plus one.
    table: Box<[u32]>,
    /// Samples.
    entries: usize,
    /// Are samples being read? None may be noted then.
    reading: bool,
}

impl Capture {
    pub fn new() -> Capture {
        Capture {
            words: vec![0; WORDS].into_boxed_slice(),
            used: 0,
            table: vec![0; TABLE].into_boxed_slice(),
            entries: 0,
            reading: false,
        }
    }
    /// Should the samples be read soon?
    pub fn is_filling(&self) -> bool {
        self.used > WORDS / 2 || self.entries > TABLE / 4
    }
    /// Notes a sample; false if that cannot be done. For the signal handler: allocates nothing.
    pub fn note(&mut self, (thread, base): (Gc<Thread>, *mut Value), place: CodePlace, activity: u8, count: u32) -> bool {
        if self.reading || self.used + ENTRY > WORDS || self.entries > TABLE / 2 {
            return false;
        }
        let (place, flag) = match place {
            CodePlace::Address(a) => (a as u64, 0),
            CodePlace::Site(n) => (n.into(), SITE),
        };
        let new = &mut self.words[self.used..self.used + ENTRY];
        let Walked { frames, own, cut } = walk(thread, base, &mut new[HEAD..]);
        let len = HEAD + 2 * frames;
        let what = u64::from(activity) | flag | if cut { CUT } else { 0 } | (own as u64) << OWN;
        (new[1], new[2]) = (u64::from(count) << 32 | frames as u64, thread.as_ptr().expose_provenance() as u64);
        (new[3], new[4]) = (what, place);
        new[0] = new[SAME..len].iter().fold(0, |h: u64, w| (h.rotate_left(5) ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.count_or_add(len, count);
        true
    }
    /// Counts the sample behind those in use if there is an equal one, and takes it in use otherwise.
    fn count_or_add(&mut self, len: usize, count: u32) {
        let (old, new) = self.words.split_at_mut(self.used);
        let mut at = (new[0] >> 40) as usize % TABLE;
        while let Some(found) = (self.table[at] as usize).checked_sub(1) {
            if old[found] == new[0] && old.get(found + SAME..found + len) == Some(&new[SAME..len]) {
                old[found + 1] = old[found + 1].saturating_add(u64::from(count) << 32);
                return;
            }
            at = (at + 1) % TABLE;
        }
        self.table[at] = self.used as u32 + 1;
        self.entries += 1;
        self.used += len;
    }
    /// Makes samples wait to be noted, or not: while they are taken.
    ///
    /// # Safety
    /// `capture` is alive.
    pub unsafe fn set_reading(capture: *mut Capture, on: bool) {
        compiler_fence(SeqCst);
        // SAFETY: the caller's promise. Volatile: the handler looks at it between any two instructions.
        unsafe { (&raw mut (*capture).reading).write_volatile(on) };
        compiler_fence(SeqCst);
    }
    /// Takes the samples, between two [`Capture::set_reading`].
    #[inline(never)]
    pub fn take(&mut self) -> Vec<Captured> {
        let mut samples = Vec::with_capacity(self.entries);
        let mut at = 0;
        while at < self.used {
            let frames = self.words[at + 1] as u32 as usize;
            samples.push(captured(&self.words[at..at + HEAD + 2 * frames]));
            at += HEAD + 2 * frames;
        }
        if self.used != 0 {
            (self.used, self.entries) = (0, 0);
            self.table.fill(0);
        }
        samples
    }
}

fn captured(words: &[u64]) -> Captured {
    let (what, place) = (words[3], words[4]);
    let place = if what & SITE != 0 { CodePlace::Site(place as u32) } else { CodePlace::Address(place as usize) };
    let frames = words[HEAD..].as_chunks::<2>().0.iter();
    Captured {
        count: (words[1] >> 32) as u32,
        activity: what as u8,
        place,
        thread: Gc::from_addr(words[2]),
        own: (what >> OWN) as usize,
        // `walk` has found a function there, and the collector has freed none since.
        frames: frames
            .map(|f| CapturedFrame {
                func: Gc::from_addr(f[0] & ((1 << BELOW) - 1)),
                pc: core::ptr::with_exposed_provenance(f[1] as usize),
                below: (f[0] >> BELOW) as u16,
            })
            .collect(),
        cut: what & CUT != 0,
    }
}

/// What was found of a stack.
struct Walked {
    frames: usize,
    /// Those of the coroutine that ran.
    own: usize,
    /// Are there more?
    cut: bool,
}

/// Writes the frames, function and address behind the instruction, from `base` (that is `vm.sampled_base`) down.
///
/// The same walk as [`crate::interp::frames::Level`]'s, but of addresses only: it runs in a signal handler.
fn walk(mut thread: Gc<Thread>, mut base: *mut Value, to: &mut [u64]) -> Walked {
    let mut pc = 0_u64;
    let first = thread.stack.get() as usize;
    if !(first + 16..first + 8 * thread.size.get() as usize).contains(&(base as usize)) {
        return Walked { frames: 0, own: 0, cut: false };
    }
    let (mut n, mut own) = (0, None);
    let start = base as usize;
    loop {
        // SAFETY: `base` is the base of a frame on the stack of `thread`, which compiled code does not change from `vm.sampled_base`
        // down while it runs; links lead from there to frames below, the lowest of which ends the walk.
        let link = unsafe {
            let v: Value = *base.sub(2);
            let host = link_of(base) == frame::link(0, frame::C).0;
            if let Some(f) = v.as_func().filter(|_| !host) {
                let Some(slot) = to.get_mut(2 * n..2 * n + 2) else {
                    return Walked { frames: n, own: own.unwrap_or(n), cut: true };
                };
                let below = if own.is_some() { usize::MAX } else { start.wrapping_sub(base as usize) / 8 };
                let below = u64::from(u16::try_from(below).unwrap_or(u16::MAX));
                slot.copy_from_slice(&[f.as_ptr().expose_provenance() as u64 | below << BELOW, pc]);
                n += 1;
            }
            let lowest = thread.stack.get() as usize + 16;
            while base as usize > lowest && kind(link_of(base)) == frame::VARG {
                base = below(base);
            }
            if base as usize <= lowest { frame::COR } else { link_of(base) }
        };
        if kind(link) == frame::COR || link == frame::link(0, frame::C).0 {
            let own = *own.get_or_insert(n);
            let Some(resumer) = thread.resumer.get() else { return Walked { frames: n, own, cut: false } };
            (thread, base, pc) = (resumer, resumer.base.get(), resumer.pc.get() as u64);
            continue;
        }
        // SAFETY: as above; these words are part of frames of their kind.
        unsafe {
            pc = match kind(link) {
                frame::LUA => link,
                frame::CONT | frame::C => (*base.sub(3)).0,
                _ => 0,
            };
            base = below(base);
        }
    }
}
