//! Stacks of coroutines. Stores into them have no barrier, so what a coroutine has done since its stack was marked must be looked at again.
//!
//! A coroutine that does not run has a stack that stays as it is. When it is marked, it gets a note ([`Thread::stack_was_marked`]) that is
//! gone once it has run. So the stacks of those that have the note need not be visited again. Variables on such a stack may still change,
//! by closures that share them: the open upvalues, which are visited in the atomic phase.
#![allow(
    unsafe_code,
    reason = "above its top, a stack holds nothing that anybody needs; upvalues on the list of a thread are not freed"
)]

use super::filter::{BATCH, WORK};
use super::visit::Visitor;
use super::{Heap, Marker};
use crate::object::{Gc, Thread};
use crate::value::Value;

/// The coroutines whose stacks were visited in this cycle.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// Those that ran, or waited for one that ran. They are visited again.
    pub running: Vec<Gc<Thread>>,
    /// The others.
    idle: Vec<Gc<Thread>>,
    /// How many of [`Stacks::idle`] have been looked at again.
    checked: usize,
}

impl Stacks {
    pub fn clear(&mut self) {
        self.running.clear();
        self.idle.clear();
        self.checked = 0;
    }
    /// Has it been checked which of the idle coroutines have run?
    pub fn is_checked(&self) -> bool {
        self.checked == self.idle.len()
    }
    /// The program has run since the check.
    pub fn check_again(&mut self) {
        self.checked = 0;
    }
    /// Those that have not run since their stacks were marked.
    pub fn marked(&self) -> impl Iterator<Item = Gc<Thread>> {
        self.idle.iter().copied().filter(|t| t.is_stack_marked())
    }
}

impl Marker {
    /// Traverses a coroutine that was reached.
    #[cold]
    #[inline(never)]
    pub(super) fn traverse_thread(&mut self, t: Gc<Thread>) -> usize {
        if !self.atomic {
            let list = if t.is_idle() { &mut self.stacks.idle } else { &mut self.stacks.running };
            list.push(t);
        }
        self.visit_stack(t)
    }
    /// Visits a stack. The coroutine stays gray.
    fn visit_stack(&mut self, t: Gc<Thread>) -> usize {
        t.visit(self);
        let idle = t.is_idle();
        if idle {
            t.stack_was_marked();
        }
        if idle || self.atomic {
            // SAFETY: the top of that stack.
            unsafe { clear_unused_stack(&t, self.stack_top(&t)) };
        }
        128 + t.size.get() as usize * 8
    }
    /// Visits the stacks again of some coroutines that have run since; returns a measure of the work.
    pub(super) fn check_stacks(&mut self) -> usize {
        let from = self.stacks.checked;
        let end = self.stacks.idle.len().min(from + BATCH);
        self.stacks.checked = end;
        let mut done = (end - from) * WORK;
        for i in from..end {
            let t = self.stacks.idle[i];
            if !t.is_stack_marked() {
                done += self.visit_stack(t);
                if !t.is_idle() && !self.atomic {
                    self.stacks.running.push(t);
                }
            }
        }
        done
    }
}

/// Clears the slots of a stack above `top`, so that no slot ever refers to a freed object.
///
/// # Safety
/// `top` is on that stack.
unsafe fn clear_unused_stack(t: &Thread, top: *mut Value) {
    let mut p = top;
    // SAFETY: `top` and the end delimit a part of the stack's memory, which nobody else looks at during a step.
    unsafe {
        let end = t.stack.get().add(t.size.get() as usize);
        while p < end {
            *p = Value::NIL;
            p = p.add(1);
        }
    }
}

impl Heap {
    /// Notes that a coroutine has open upvalues.
    #[inline]
    pub(crate) fn note_open_upvals(&mut self, t: Gc<Thread>) {
        if t.hdr.b0.replace(1) == 0 {
            self.lists.with_upvals.push(t);
        }
    }
    /// The slots of coroutines that are unreachable, or whose stacks were marked, may have changed through open upvalues.
    pub(super) fn remark_open_upvals(&mut self) {
        for t in &self.lists.with_upvals {
            if !t.hdr.is_white() && !t.is_stack_marked() {
                continue;
            }
            for uv in t.open_upvals() {
                if !uv.hdr.is_white() {
                    self.cycle.marker.mark_value(uv.get());
                }
            }
        }
    }
    /// Closes open upvalues of a dead coroutine that are still referred to, and removes dead upvalues from the list of a living one. False
    /// if the coroutine is dead or has no open upvalues left.
    pub(super) fn settle_upvals(&self, t: Gc<Thread>) -> bool {
        let alive = !self.is_dead(&t.hdr);
        let mut link = &t.open;
        loop {
            let p = link.get();
            if p.is_null() {
                break;
            }
            // SAFETY: upvalues on the list are not freed yet: dead ones leave it here.
            let uv = unsafe { &*p };
            if self.is_dead(&uv.hdr) {
                link.set(uv.next.get());
            } else if alive {
                link = &uv.next;
            } else {
                link.set(uv.next.get());
                uv.close();
            }
        }
        let stays = alive && !t.open.get().is_null();
        t.hdr.b0.set(u8::from(stays));
        stays
    }
}
