//! The buffer object: a queue of bytes.
#![allow(unsafe_code, reason = "bytes that programs have written belong to the buffer")]

use crate::Vm;
use crate::error::LuaResult;
use crate::gc::limit::CHECKED;
use crate::interrupt::Poll;
use crate::object::{Gc, Str, Table, Udata};
use crate::text::number::LONGEST;
use crate::text::{NumText, append, put_int};
use crate::value::Value;
use core::mem::MaybeUninit;

/// The largest size of a buffer.
pub const MAX_LEN: usize = 0x7fff_ff00;
/// The first allocation, in bytes.
const MIN_CAPACITY: usize = 32;

/// A list of values that are encoded as their positions in it.
#[derive(Copy, Clone, Debug)]
pub struct Dict {
    /// The list that was given.
    pub list: Gc<Table>,
    /// Position minus one by value.
    pub index: Gc<Table>,
}

/// Options of the encoding.
#[derive(Copy, Clone, Default, Debug)]
pub struct Dicts {
    /// Strings that are keys.
    pub strings: Option<Dict>,
    /// Metatables.
    pub metatables: Option<Dict>,
}

/// What a buffer reads from until something is written to it.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Source {
    /// A string.
    Str(Gc<Str>),
    /// So many bytes at an address, which the program answers for. They are read when they are needed.
    Memory(*const u8, usize),
}

impl Source {
    fn bytes(&self) -> &[u8] {
        match self {
            Source::Str(s) => s.bytes(),
            Source::Memory(_, 0) => &[],
            // SAFETY: the program says that so many bytes are at the address for as long as the buffer reads them; the buffer keeps the cdata.
            Source::Memory(from, len) => unsafe { core::slice::from_raw_parts(*from, *len) },
        }
    }
    fn len(&self) -> usize {
        match self {
            Source::Str(s) => s.len(),
            Source::Memory(_, len) => *len,
        }
    }
}

/// Payload of a buffer's userdata. Its anchor holds the tables of the dictionaries, and the source.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    /// Bytes before this have been consumed.
    read: usize,
    /// Up to here the memory of `bytes` is initialised, or up to its length.
    initialized: usize,
    /// What is read in place of own bytes, until something is written.
    source: Option<Source>,
    /// Options.
    pub dicts: Dicts,
}

impl Buffer {
    /// The bytes not consumed yet.
    pub fn data(&self) -> &[u8] {
        match &self.source {
            Some(s) => &s.bytes()[self.read..],
            None => &self.bytes[self.read..],
        }
    }
    /// Number of bytes not consumed yet.
    pub fn len(&self) -> usize {
        self.source.map_or(self.bytes.len(), |s| s.len()) - self.read
    }
    /// Consumes bytes, of which there must be enough.
    pub fn consume(&mut self, n: usize) {
        self.read += n;
        if self.source.is_none() && self.read == self.bytes.len() {
            self.reset();
        }
    }
    /// Empties the buffer, keeping its memory.
    pub fn reset(&mut self) {
        self.bytes.clear();
        self.read = 0;
        self.source = None;
    }
    /// New memory is not initialised.
    fn note_growth(&mut self, capacity: usize) {
        if self.bytes.capacity() != capacity {
            self.initialized = 0;
        }
    }
    /// Address of the first byte that is not consumed yet.
    pub fn start(&self) -> *const u8 {
        self.data().as_ptr()
    }
    /// The bytes after the data, for a program to write to; of a buffer that has its own memory. What it does not write is zero, or was in
    /// the buffer before.
    pub fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
        let (len, initialized) = (self.bytes.len(), self.initialized);
        self.initialized = self.bytes.capacity();
        let spare = self.bytes.spare_capacity_mut();
        let done = initialized.saturating_sub(len).min(spare.len());
        spare[done..].fill(MaybeUninit::new(0));
        spare
    }
    /// Takes bytes that were written after the data. False if there are not so many.
    pub fn commit(&mut self, n: usize) -> bool {
        if n == 0 {
            return true;
        }
        if self.source.is_some() || n > self.bytes.capacity() - self.bytes.len() {
            return false;
        }
        self.spare();
        // SAFETY: there is room for so many bytes, which are initialised.
        unsafe { self.bytes.set_len(self.bytes.len() + n) };
        true
    }
    /// Lets an encoder append; the buffer is cut back to its old length if that fails.
    pub fn append<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let (len, capacity) = (self.bytes.len(), self.bytes.capacity());
        let result = write(&mut self.bytes);
        self.note_growth(capacity);
        if result.is_err() {
            self.bytes.truncate(len);
        }
        result
    }
    /// Does it read from its own memory?
    pub fn has_own_memory(&self) -> bool {
        self.source.is_none()
    }
    /// Is the address in the buffer's own memory?
    fn owns(&self, at: *const u8) -> bool {
        let start = self.bytes.as_ptr().addr();
        (start..start + self.bytes.capacity()).contains(&at.addr())
    }
    /// Is there room for so many bytes in the buffer's own memory?
    fn fits(&self, bytes: usize) -> bool {
        self.source.is_none() && bytes <= self.bytes.capacity() - self.bytes.len()
    }
    /// Appends bytes if there is room for them in the buffer's own memory. Whether there was.
    fn put_in_place(&mut self, bytes: &[u8]) -> bool {
        let fits = self.fits(bytes.len());
        if fits {
            append(&mut self.bytes, bytes);
        }
        fits
    }
    /// The same for an integer in decimal.
    fn put_int_in_place(&mut self, i: i32) -> bool {
        let fits = self.fits(LONGEST);
        if fits {
            put_int(&mut self.bytes, i);
        }
        fits
    }
    /// Bytes to allocate before `n` more can be written.
    fn growth(&self, n: usize) -> Option<usize> {
        let (used, capacity) = if self.source.is_some() { (self.len(), 0) } else { (self.bytes.len(), self.bytes.capacity()) };
        let need = used.saturating_add(n);
        if need <= capacity { None } else { Some(need.max(2 * capacity).max(MIN_CAPACITY) - capacity) }
    }
    /// Makes room for `n` more bytes, in the buffer's own memory.
    fn reserve(&mut self, n: usize) {
        if let Some(s) = self.source.take() {
            let data = &s.bytes()[self.read..];
            let mut own = Vec::with_capacity((data.len() + n).max(MIN_CAPACITY));
            own.extend_from_slice(data);
            self.bytes = own;
            self.initialized = 0;
            self.read = 0;
            return;
        }
        if self.bytes.capacity() - self.bytes.len() < n && self.read >= self.bytes.len() - self.read {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        if let Some(more) = self.growth(n) {
            let (len, free) = (self.bytes.len(), self.bytes.capacity() - self.bytes.len());
            // What a program has written after the data, and not committed yet, moves with it.
            let kept = self.initialized.max(len);
            debug_assert!(kept <= self.bytes.capacity());
            // SAFETY: the memory is initialised up to there, and there is so much of it.
            unsafe { self.bytes.set_len(kept) };
            self.bytes.reserve_exact(len + free + more - kept);
            self.bytes.truncate(len);
        }
    }
}

impl Vm {
    /// A new buffer.
    pub(super) fn new_buffer(&mut self, dicts: Dicts, meta: Option<Gc<Table>>) -> Gc<Udata> {
        let u = self.new_udata(Box::new(Buffer { dicts, ..Buffer::default() }), meta);
        if dicts.strings.is_some() || dicts.metatables.is_some() {
            let anchor = self.new_table(6, 0);
            self.set_udata_anchor(u, Value::table(anchor));
            let parts = [dicts.strings, dicts.metatables].into_iter().flatten().flat_map(|d| [d.list, d.index]);
            for (i, t) in parts.enumerate() {
                self.table_set_int(anchor, i as i32 + 1, Value::table(t));
            }
        }
        u
    }
    /// Makes room for `n` more bytes.
    pub(super) fn buffer_reserve(&mut self, u: Gc<Udata>, n: usize) -> LuaResult<()> {
        let (len, growth) = with(u, |b| (b.len(), b.growth(n)));
        if len.saturating_add(n) > MAX_LEN {
            return Err(self.out_of_memory());
        }
        if let Some(more) = growth {
            // This may run finalizers, which may use the buffer: nothing that was read above is used below.
            self.check_alloc(more)?;
        }
        let had_source = with(u, |b| {
            let had = b.source.is_some();
            b.reserve(n);
            had
        });
        if had_source {
            self.anchor_source(u, Value::NIL);
        }
        self.count_buffer(u);
        Ok(())
    }
    /// Appends bytes that are not the buffer's own.
    pub(super) fn buffer_put(&mut self, u: Gc<Udata>, bytes: &[u8]) -> LuaResult<()> {
        if bytes.len() <= Poll::BYTES && with(u, |b| b.put_in_place(bytes)) {
            return Ok(());
        }
        self.buffer_reserve(u, bytes.len())?;
        with(u, |b| b.append(|out| self.put(out, bytes)))
    }
    /// Appends an integer in decimal.
    pub(super) fn buffer_put_int(&mut self, u: Gc<Udata>, i: i32) -> LuaResult<()> {
        if with(u, |b| b.put_int_in_place(i)) { Ok(()) } else { self.buffer_put(u, &NumText::int(i)) }
    }
    /// Makes room in a buffer for so many bytes more, if that needs neither much memory nor a collection. False if it does, or if the value is
    /// no buffer.
    #[inline(never)]
    pub(crate) fn make_room_in(&mut self, v: Value, bytes: i32) -> bool {
        let Some((u, bytes)) = as_buffer(v).zip(usize::try_from(bytes).ok().filter(|bytes| *bytes <= Poll::BYTES)) else {
            return false;
        };
        if with(u, |b| b.fits(bytes)) {
            return true;
        }
        let Some(more) = with(u, |b| b.growth(bytes)).filter(|_| can_put(v, bytes)) else { return false };
        let is_little = more < CHECKED && self.heap.total + more < self.heap.threshold;
        if is_little {
            with(u, |b| b.reserve(bytes));
            self.count_buffer(u);
        }
        is_little
    }
    /// Appends to a buffer, once there is room for so many bytes. 0 if making room is left to the interpreter.
    #[inline]
    pub(crate) fn put_with_room(&mut self, v: Value, room: i32, put: impl FnOnce(&mut Vec<u8>)) -> i32 {
        let Some(u) = as_buffer(v) else { return 0 };
        let fits = |b: &mut Buffer| usize::try_from(room).is_ok_and(|room| room <= Poll::BYTES && b.fits(room));
        let has_room = with(u, fits) || self.make_room_in(v, room);
        if has_room {
            with(u, |b| put(&mut b.bytes));
        }
        i32::from(has_room)
    }
    /// The first `n` bytes of a buffer, or all if there are fewer, as a string. None if there is no memory for it, or if the value is no buffer.
    pub(crate) fn text_in(&mut self, v: Value, n: i32) -> Option<Gc<Str>> {
        with(as_buffer(v)?, |b| {
            let bytes = &b.data()[..b.len().min(n.max(0) as usize)];
            let has_room = self.has_room_for_str(bytes.len());
            if has_room { self.heap.try_new_str(bytes, Poll::At(&self.interrupts.flag)).ok() } else { None }
        })
    }
    /// Frees the buffer's memory.
    pub(super) fn buffer_free(&mut self, u: Gc<Udata>) {
        with(u, |b| {
            b.reset();
            b.bytes = Vec::new();
            b.initialized = 0;
        });
        self.anchor_source(u, Value::NIL);
        self.count_buffer(u);
    }
    /// Frees the memory of a buffer that is not used any more. False if it is another userdata.
    pub(crate) fn finalize_buffer(&mut self, u: Gc<Udata>) -> bool {
        let is_buffer = u.is::<Buffer>();
        if is_buffer {
            self.buffer_free(u);
        }
        is_buffer
    }
    /// Empties the buffer.
    pub(crate) fn buffer_reset(&mut self, u: Gc<Udata>) {
        let had_source = with(u, |b| {
            let had = b.source.is_some();
            b.reset();
            had
        });
        if had_source {
            self.anchor_source(u, Value::NIL);
        }
    }
    /// Makes the buffer read from a string, or from what a cdata points to. `kept` is the string or the cdata.
    pub(crate) fn buffer_set(&mut self, u: Gc<Udata>, source: Source, kept: Value) {
        self.buffer_free(u);
        self.anchor_source(u, kept);
        with(u, |b| b.source = Some(source));
    }
    /// Reports to the collector how much memory the buffer has.
    pub(super) fn count_buffer(&mut self, u: Gc<Udata>) {
        let bytes = with(u, |b| b.bytes.capacity());
        if u.external.get() != bytes {
            self.set_udata_bytes(u, bytes);
        }
    }
    fn anchor_source(&mut self, u: Gc<Udata>, source: Value) {
        match u.anchor.get().as_table() {
            Some(t) => self.table_set_int(t, 5, source),
            None => self.set_udata_anchor(u, source),
        }
    }
}

/// Runs `f` on a userdata's buffer; `f` must not reach the userdata.
#[inline]
pub fn with<R>(u: Gc<Udata>, f: impl FnOnce(&mut Buffer) -> R) -> R {
    match u.with::<Buffer, R>(f) {
        Some(r) => r,
        None => unreachable!("the type was checked"),
    }
}

/// The value as a buffer.
pub fn as_buffer(v: Value) -> Option<Gc<Udata>> {
    v.as_udata().filter(|u| u.is::<Buffer>())
}

/// May compiled code put so many bytes into the value? It must be a buffer that reads from its own memory.
pub fn can_put(v: Value, bytes: usize) -> bool {
    bytes <= Poll::BYTES && as_buffer(v).is_some_and(|u| with(u, |b| b.has_own_memory()))
}

/// Do bytes at an address stay there when so many are appended to a buffer? They may be its own.
pub fn stay_in_place(v: Value, from: *const u8, bytes: i32) -> bool {
    let stay = |b: &mut Buffer| !b.owns(from) || usize::try_from(bytes).is_ok_and(|bytes| b.fits(bytes));
    as_buffer(v).is_some_and(|u| with(u, stay))
}

/// Is the value a buffer?
pub fn is_buffer(v: Value) -> bool {
    as_buffer(v).is_some()
}

/// Runs `f` on the bytes of a value, if it is a buffer.
pub fn with_bytes<R>(v: Value, f: impl FnOnce(&[u8]) -> R) -> Option<R> {
    as_buffer(v).map(|u| with(u, |b| f(b.data())))
}
