//! The scratch buffer, in which concatenation and the string library put texts together.
//!
//! A loop that appends to a long string (`s = s .. x`) would copy the string into the buffer each time, and from there into the next string.
//! So the buffer keeps what it holds, and the string made of it is remembered: if that is the first text of the next one, it is there already.

use super::{Scratch, Vm};
use crate::gc::limit::ASK;
use crate::gc::pages;
use crate::interrupt::{Interrupted, Poll};
use crate::object::string::LONG;
use crate::object::{Gc, Str};
use crate::text::PIECE;
use crate::text::parts::{append_in_parts, reserve_in_parts};

impl Vm {
    /// Compiled code begins a text in the scratch buffer.
    #[inline]
    pub(crate) fn begin_text(&mut self) {
        if self.heap.strings.in_buffer.is_some() {
            self.strings.scratch = Scratch::Begun;
        } else {
            self.strings.buffer.clear();
            self.strings.scratch = Scratch::Open;
        }
    }
    /// Appends a string to the scratch buffer of compiled code. Where that fails, the buffer is cut there, and its string is never made.
    #[inline]
    pub(crate) fn put_in_buffer(&mut self, s: Gc<Str>) {
        if self.strings.scratch == Scratch::Begun && self.continues(s) {
            return;
        }
        if self.has_room_in_buffer(s.len()) {
            if s.len() <= PIECE {
                return s.append_to(&mut self.strings.buffer);
            }
            let done = append_in_parts(&mut self.strings.buffer, s.bytes(), Poll::At(&self.interrupts.flag));
            if done.is_err() {
                self.strings.scratch = Scratch::Cut;
            }
        }
    }
    /// A text begins with `s`: are its bytes in the buffer already?
    #[cold]
    #[inline(never)]
    fn continues(&mut self, s: Gc<Str>) -> bool {
        let is_there = self.heap.strings.in_buffer == Some(s);
        if is_there {
            self.heap.strings.in_buffer = None;
            self.strings.scratch = Scratch::Open;
        }
        is_there
    }
    /// Makes room for `more` bytes in the scratch buffer of compiled code. Where that fails, the buffer is cut there, and its string is
    /// never made.
    #[inline]
    pub(crate) fn has_room_in_buffer(&mut self, more: usize) -> bool {
        let buffer = &self.strings.buffer;
        if buffer.capacity() - buffer.len() < more || self.strings.scratch != Scratch::Open {
            self.grow_buffer(more);
        }
        self.strings.scratch == Scratch::Open
    }
    #[cold]
    #[inline(never)]
    fn grow_buffer(&mut self, more: usize) {
        if self.strings.scratch == Scratch::Begun {
            self.heap.strings.in_buffer = None;
            self.strings.buffer.clear();
            self.strings.scratch = Scratch::Open;
        }
        if self.strings.scratch == Scratch::Cut || self.strings.buffer.capacity() - self.strings.buffer.len() >= more {
            return;
        }
        let fits = self.strings.buffer.len().saturating_add(more) <= self.longest_buffer();
        let poll = Poll::At(&self.interrupts.flag);
        if !fits || reserve_in_parts(&mut self.strings.buffer, more, poll) != Ok(true) {
            self.strings.scratch = Scratch::Cut;
        }
    }
    /// The string in the scratch buffer of compiled code; none as for [`Vm::new_long_str`].
    #[inline]
    pub(crate) fn str_of_buffer(&mut self) -> Option<Gc<Str>> {
        if !self.has_room_in_buffer(0) || !self.has_room_for_str(self.strings.buffer.len()) {
            return None;
        }
        let buf = core::mem::take(&mut self.strings.buffer);
        let s = self.heap.try_new_str(&buf, Poll::At(&self.interrupts.flag)).ok();
        self.keep_buffer(buf);
        self.made_of_buffer(s)
    }
    /// `a .. b`; none as for [`Vm::new_long_str`].
    #[inline]
    pub(crate) fn concat_two(&mut self, a: Gc<Str>, b: Gc<Str>) -> Option<Gc<Str>> {
        if a.len() > LONG {
            self.begin_text();
            self.put_in_buffer(a);
            self.put_in_buffer(b);
            return self.str_of_buffer();
        }
        self.new_long_str(a.len() + b.len(), |buf, poll| {
            append_in_parts(buf, a.bytes(), poll)?;
            append_in_parts(buf, b.bytes(), poll)
        })
    }
    /// The string of `size` bytes that `fill` appends to a buffer; none where there is no memory for it, or where an interrupt waits
    /// meanwhile. Neither collects nor raises an error, see [`Vm::has_room_for_str`].
    #[inline]
    pub(crate) fn new_long_str(
        &mut self,
        size: usize,
        fill: impl FnOnce(&mut Vec<u8>, Poll<'_>) -> Result<(), Interrupted>,
    ) -> Option<Gc<Str>> {
        if !self.has_room_for_str(size) {
            return None;
        }
        self.with_buffer(|vm, buf| {
            buf.try_reserve(size).ok()?;
            let poll = Poll::At(&vm.interrupts.flag);
            fill(buf, poll).and_then(|()| vm.heap.try_new_str(buf, poll)).ok()
        })
    }
    /// Calls a function with the scratch buffer, which is empty, and takes it back.
    #[inline(always)]
    pub(crate) fn with_buffer<R>(&mut self, f: impl FnOnce(&mut Vm, &mut Vec<u8>) -> R) -> R {
        self.heap.strings.in_buffer = None;
        self.strings.buffer.clear();
        self.with_contents(f)
    }
    #[inline(always)]
    fn with_contents<R>(&mut self, f: impl FnOnce(&mut Vm, &mut Vec<u8>) -> R) -> R {
        let mut buffer = core::mem::take(&mut self.strings.buffer);
        let r = f(self, &mut buffer);
        self.keep_buffer(buffer);
        r
    }
    /// Calls a function that makes a string of the scratch buffer, which has the bytes of `first` where that costs nothing, and is empty else.
    pub(crate) fn with_buffer_after<E>(
        &mut self,
        first: Option<Gc<Str>>,
        f: impl FnOnce(&mut Vm, &mut Vec<u8>) -> Result<Gc<Str>, E>,
    ) -> Result<Gc<Str>, E> {
        let is_there = self.heap.strings.in_buffer.take().is_some_and(|s| Some(s) == first);
        if !is_there {
            self.strings.buffer.clear();
        }
        let made = self.with_contents(f);
        self.made_of_buffer(made.as_ref().ok().copied());
        made
    }
    /// This string was made of what the buffer holds.
    #[inline]
    fn made_of_buffer(&mut self, s: Option<Gc<Str>>) -> Option<Gc<Str>> {
        self.heap.strings.in_buffer = s.filter(|s| s.len() > LONG && self.strings.buffer.len() == s.len());
        s
    }
    /// Takes the scratch buffer back; a large one is freed.
    #[inline]
    fn keep_buffer(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= ASK {
            self.strings.buffer = buffer;
        } else {
            pages::free_buffer(buffer, Poll::At(&self.interrupts.flag));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LONG;
    use crate::gc::tests::vm;

    #[test]
    fn a_text_that_continues_the_last_is_not_copied() {
        let mut vm = vm();
        let first = vm.new_str(&[b'a'; 2 * LONG]);
        let x = vm.new_str(b"x");
        let mut s = vm.concat_two(first, x).unwrap();
        for n in 2..5 {
            assert_eq!(vm.heap.strings.in_buffer, Some(s));
            vm.begin_text();
            vm.put_in_buffer(s);
            assert_eq!((vm.strings.buffer.len(), vm.heap.strings.in_buffer), (s.len(), None), "nothing was copied");
            vm.put_in_buffer(x);
            s = vm.str_of_buffer().unwrap();
            assert_eq!(s.bytes(), [vec![b'a'; 2 * LONG], vec![b'x'; n]].concat());
        }
        // Another text, an empty one, and one of numbers begin anew.
        assert_eq!(vm.concat_two(first, first).unwrap().bytes(), [b'a'; 4 * LONG]);
        vm.begin_text();
        assert!(vm.str_of_buffer().unwrap().is_empty());
        let s = vm.concat_two(first, x).unwrap();
        vm.begin_text();
        assert!(vm.has_room_in_buffer(1) && vm.strings.buffer.is_empty());
        // What others have put there does not count.
        vm.concat_two(first, x).unwrap();
        vm.with_buffer(|_, buf| buf.extend_from_slice(&[b'b'; 2 * LONG + 1]));
        assert_eq!(vm.concat_two(s, x).unwrap().bytes(), [s.bytes(), b"x"].concat());
    }
    #[test]
    fn a_string_that_is_freed_is_not_remembered() {
        let mut vm = vm();
        let (first, x) = (vm.new_str(&[b'a'; 2 * LONG]), vm.new_str(b"x"));
        vm.concat_two(first, x).unwrap();
        vm.full_gc();
        assert_eq!(vm.heap.strings.in_buffer, None);
    }
}
