//! Samples in compiled code, noted by the signal handler itself.
//!
//! Compiled code that is sampled by address has no guards: the handler notes where the processor is, or, while a helper runs, the
//! site that the code has left ([`crate::Vm::site`]), and the frames from `vm.sampled_base` down, where the code leaves the base that
//! it counts slots from. Below that base nothing changes while compiled code runs. What is above it, only the trace knows.
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
/// Words in front of the frames of a sample: hash, count, what runs, where.
const HEAD: usize = 4;
const ENTRY: usize = HEAD + 2 * MAX_FRAMES;

/// Marks, beside the activity, that frames were left off.
const CUT: u64 = 1 << 8;
/// Marks, beside the activity, that the place is a site.
const SITE: u64 = 1 << 9;

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
    /// The frames in memory, the innermost first: that which the trace counts slots from, and those below. Frames of the
    /// coroutines that wait for this one follow. The function of the first may be another one by now, by a tail call.
    pub frames: Vec<CapturedFrame>,
    /// Were frames left off?
    pub cut: bool,
}

/// A frame of a [`Captured`] sample.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CapturedFrame {
    /// The function. Alive until the consumer has been told, see [`super::Consumer::settle`].
    pub func: Gc<Func>,
    /// Behind its current instruction; null where none is known.
    pub pc: *const Ins,
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
        let (frames, cut) = walk(thread, base, &mut new[HEAD..]);
        let len = HEAD + 2 * frames;
        (new[1], new[2], new[3]) = (u64::from(count) << 32 | frames as u64, u64::from(activity) | flag | cut, place);
        new[0] = new[2..len].iter().fold(0, |h: u64, w| (h.rotate_left(5) ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.count_or_add(len, count);
        true
    }
    /// Counts the sample behind those in use if there is an equal one, and takes it in use otherwise.
    fn count_or_add(&mut self, len: usize, count: u32) {
        let (old, new) = self.words.split_at_mut(self.used);
        let mut at = (new[0] >> 40) as usize % TABLE;
        while let Some(found) = (self.table[at] as usize).checked_sub(1) {
            if old[found] == new[0] && old.get(found + 2..found + len) == Some(&new[2..len]) {
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
    let place = if words[2] & SITE != 0 { CodePlace::Site(words[3] as u32) } else { CodePlace::Address(words[3] as usize) };
    let frames = words[HEAD..].as_chunks::<2>().0.iter();
    Captured {
        count: (words[1] >> 32) as u32,
        activity: words[2] as u8,
        place,
        // `walk` has found a function there, and the collector has freed none since.
        frames: frames
            .map(|f| CapturedFrame { func: Gc::from_addr(f[0]), pc: core::ptr::with_exposed_provenance(f[1] as usize) })
            .collect(),
        cut: words[2] & CUT != 0,
    }
}

/// Writes the frames, function and address behind the instruction, from `base` (that is `vm.sampled_base`) down; their number, and
/// [`CUT`] if there are more than fit.
///
/// The same walk as [`crate::interp::frames::Level`]'s, but of addresses only: it runs in a signal handler.
fn walk(mut thread: Gc<Thread>, mut base: *mut Value, to: &mut [u64]) -> (usize, u64) {
    let mut pc = 0_u64;
    let first = thread.stack.get() as usize;
    if !(first + 16..first + 8 * thread.size.get() as usize).contains(&(base as usize)) {
        return (0, 0);
    }
    let mut n = 0;
    loop {
        // SAFETY: `base` is the base of a frame on the stack of `thread`, which compiled code does not change from `vm.sampled_base`
        // down while it runs; links lead from there to frames below, the lowest of which ends the walk.
        let link = unsafe {
            let v: Value = *base.sub(2);
            let host = link_of(base) == frame::link(0, frame::C).0;
            if let Some(f) = v.as_func().filter(|_| !host) {
                let Some(slot) = to.get_mut(2 * n..2 * n + 2) else { return (n, CUT) };
                slot.copy_from_slice(&[f.as_ptr().expose_provenance() as u64, pc]);
                n += 1;
            }
            let lowest = thread.stack.get() as usize + 16;
            while base as usize > lowest && kind(link_of(base)) == frame::VARG {
                base = below(base);
            }
            if base as usize <= lowest { frame::COR } else { link_of(base) }
        };
        if kind(link) == frame::COR || link == frame::link(0, frame::C).0 {
            let Some(resumer) = thread.resumer.get() else { return (n, 0) };
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
