//! Methods of `string.buffer`.

use super::format::{Part, parts};
use super::{Args, Results, one};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::rec::{Rec, Recorder};
use core::ops::Range;
use perilune_vm::Value;
use perilune_vm::ffi::ctype::CTypeId;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::stdlib::Builtin;
use perilune_vm::stdlib::buffer::{MAX_LEN, can_put, is_buffer};
use perilune_vm::stdlib::strformat::pack_part;
use perilune_vm::text::number::LONGEST;
use perilune_vm::text::spec::Conv;

/// What is put into a buffer.
enum Text {
    /// A string, or a number.
    Value(IrRef),
    /// The bytes of another buffer.
    Buffer(IrRef),
    /// A part of the format.
    OfFormat(IrRef, Range<usize>),
}

impl Recorder {
    pub(super) fn lib_buffer(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        let (buffer, v) = args.get(0);
        if !is_buffer(v) {
            return Ok(None);
        }
        // What it is never changes. Of what follows, no guard comes after an effect.
        self.buffer_does(Helper::IsBuffer, &[buffer])?;
        match b {
            Builtin::BufferMethodPut => {
                let mut texts = Vec::with_capacity(args.len());
                for &(r, v) in &args.list[1..] {
                    texts.push(if is_buffer(v) { self.other_buffer(buffer, r)? } else { Text::Value(r) });
                }
                self.buffer_put(args, &texts)
            }
            Builtin::BufferMethodPutf => self.buffer_putf(args),
            Builtin::BufferMethodLen => one(self.b.call(Helper::BufferLen, &[buffer])?),
            Builtin::BufferMethodTostring => {
                let all = self.b.kint(MAX_LEN as i32);
                one(self.buffer_text(buffer, all)?)
            }
            Builtin::BufferMethodGet if args.len() <= 2 => {
                let all = (self.b.kint(MAX_LEN as i32), Value::int(MAX_LEN as i32));
                let n = if args.get(1).1.is_nil() { all } else { args.get(1) };
                match self.buffer_size(n)? {
                    Some((n, _)) => {
                        let text = self.buffer_text(buffer, n)?;
                        self.buffer_change(Helper::BufferSkip, &[buffer, n])?;
                        one(text)
                    }
                    None => Ok(None),
                }
            }
            Builtin::BufferMethodPutcdata if args.get(1).1.is_cdata() => self.buffer_putcdata(args),
            // Pointers need the FFI.
            Builtin::BufferMethodReserve | Builtin::BufferMethodRef if args.vm.ffi.is_none() => Ok(None),
            Builtin::BufferMethodReserve => self.buffer_reserve(args),
            Builtin::BufferMethodCommit => match self.buffer_size(args.get(1))? {
                Some((n, _)) => {
                    self.buffer_does(Helper::BufferCommit, &[buffer, n])?;
                    self.snaps.needed = true;
                    one(buffer)
                }
                None => Ok(None),
            },
            Builtin::BufferMethodRef => {
                self.gc_step()?;
                let (start, len) = (self.b.call(Helper::BufferStart, &[buffer])?, self.b.call(Helper::BufferLen, &[buffer])?);
                self.buffer_bytes(start, len)
            }
            Builtin::BufferMethodReset => self.buffer_change(Helper::BufferReset, &[buffer]),
            Builtin::BufferMethodSkip => match self.buffer_size(args.get(1))? {
                Some((n, _)) => self.buffer_change(Helper::BufferSkip, &[buffer, n]),
                None => Ok(None),
            },
            Builtin::BufferMethodSet if args.get(1).1.is_str() => self.buffer_change(Helper::BufferSet, &[buffer, args.get(1).0]),
            _ => Ok(None),
        }
    }
    /// A buffer that is put into another one.
    fn other_buffer(&mut self, buffer: IrRef, other: IrRef) -> Rec<Text> {
        self.buffer_does(Helper::IsBuffer, &[other])?;
        if other == buffer {
            return Err(Abort::BadType);
        }
        self.b.compare(Op::NE, other, buffer)?;
        Ok(Text::Buffer(other))
    }
    /// A number of bytes, guarded to be in range, and what it is now.
    fn buffer_size(&mut self, (r, v): (IrRef, Value)) -> Rec<Option<(IrRef, usize)>> {
        if !v.is_number() {
            return Ok(None);
        }
        let ((n, now), most) = (self.to_int(r, v)?, self.b.kint(MAX_LEN as i32));
        let Some(now) = usize::try_from(now).ok().filter(|now| *now <= MAX_LEN) else { return Ok(None) };
        // Negative numbers are too large when they have no sign.
        self.b.emit(Op::ULE, Ty::Int, n, most)?;
        Ok(Some((n, now)))
    }
    /// What a helper does, guarded to be done; if it is not, nothing has changed.
    fn buffer_does(&mut self, helper: Helper, args: &[IrRef]) -> Rec<()> {
        let (done, no) = (self.b.call(helper, args)?, self.b.kint(0));
        self.b.emit(Op::NE, Ty::Int, done, no)?;
        Ok(())
    }
    /// A method that changes the buffer, and returns it.
    fn buffer_change(&mut self, helper: Helper, args: &[IrRef]) -> Results {
        self.b.call(helper, args)?;
        self.snaps.needed = true;
        one(args[0])
    }
    /// The first `n` bytes as a string.
    fn buffer_text(&mut self, buffer: IrRef, n: IrRef) -> Rec<IrRef> {
        self.gc_step()?;
        self.b.call(Helper::BufferText, &[buffer, n])
    }
    /// A pointer to bytes, and their number.
    fn buffer_bytes(&mut self, address: IrRef, len: IrRef) -> Results {
        let pointer = self.new_box(CTypeId::P_UINT8, address)?;
        Ok(Some(vec![pointer, len]))
    }
    /// `buf:putcdata(cdata, len)`
    fn buffer_putcdata(&mut self, args: &Args<'_>) -> Results {
        let (buffer, v) = args.get(0);
        let Some((n, _)) = self.buffer_size(args.get(2))?.filter(|n| can_put(v, n.1)) else { return Ok(None) };
        let from = self.address_argument(args.vm, CTypeId::P_CVOID, args.get(1))?;
        self.buffer_does(Helper::BufferPutBytes, &[buffer, from, n])?;
        self.raw_memory_changed()?;
        one(buffer)
    }
    /// `buf:reserve(size)`
    fn buffer_reserve(&mut self, args: &Args<'_>) -> Results {
        let (buffer, v) = args.get(0);
        let Some((n, _)) = self.buffer_size(args.get(1))?.filter(|n| can_put(v, n.1)) else { return Ok(None) };
        self.gc_step()?;
        let least = self.b.kint(1);
        let n = self.b.emit(Op::MAX, Ty::Int, n, least)?;
        let (spare, null) = (self.b.call(Helper::BufferReserve, &[buffer, n])?, self.b.knull(Ty::P64));
        self.b.emit(Op::NE, Ty::P64, spare, null)?;
        let len = self.b.call(Helper::BufferSpareLen, &[buffer])?;
        self.raw_memory_changed()?;
        self.buffer_bytes(spare, len)
    }
    /// `buf:putf(format, ...)`: puts the parts of the format and the values, or makes the text as `string.format` does, and puts that.
    fn buffer_putf(&mut self, args: &Args<'_>) -> Results {
        let (r, v) = args.get(1);
        let Some(format) = v.as_str() else { return Ok(None) };
        let of_format = Args { list: args.list[1..].to_vec(), want: 2, ..*args };
        let Some(parts) = parts(&of_format, format, |name| self.b.kgc(name)) else { return Ok(None) };
        if !parts.iter().all(|part| part.value.is_none_or(|(spec, r)| spec.is_plain() && self.is_put_as_it_is(spec.conv, r))) {
            return match self.string_format(&of_format, r, format)?.as_deref() {
                Some(&[text]) => self.buffer_put(args, &[Text::Value(text)]),
                _ => Ok(None),
            };
        }
        if !r.is_const() && !self.feedback.is_one_of_few_texts(format) {
            return Ok(None);
        }
        let format = self.guard_is(r, Value::str(format))?;
        let mut texts = Vec::with_capacity(2 * parts.len());
        for Part { text, value } in parts {
            if !text.is_empty() {
                texts.push(Text::OfFormat(format, text));
            }
            texts.extend(value.map(|(_, r)| Text::Value(r)));
        }
        self.buffer_put(args, &texts)
    }
    /// Does the specification give the same text as putting the value?
    fn is_put_as_it_is(&self, conv: Conv, r: IrRef) -> bool {
        match self.ty(r) {
            Ty::Str | Ty::Num => conv == Conv::Str,
            Ty::Int => matches!(conv, Conv::Str | Conv::Int),
            _ => false,
        }
    }
    /// Puts strings and numbers, where the buffer has room for all of them, or may grow without a collection. They are about as long as the
    /// arguments, for what is checked now.
    fn buffer_put(&mut self, args: &Args<'_>, texts: &[Text]) -> Results {
        let bytes: usize = args.list[1..].iter().map(|(_, v)| v.as_str().map_or(LONGEST, |s| s.len())).sum();
        let (buffer, v) = args.get(0);
        let is_text = |t: &Text| {
            matches!(t, Text::OfFormat(..) | Text::Buffer(_))
                || matches!(t, Text::Value(r) if matches!(self.ty(*r), Ty::Str | Ty::Int | Ty::Num))
        };
        if !can_put(v, bytes) || !texts.iter().all(is_text) {
            return Ok(None);
        }
        let mut size = self.b.kint(0);
        for text in texts {
            let len = match text {
                Text::Value(r) if self.ty(*r) == Ty::Str => self.field(*r, Field::StrLen)?,
                Text::Value(_) => self.b.kint(LONGEST as i32),
                Text::Buffer(other) => self.b.call(Helper::BufferLen, &[*other])?,
                Text::OfFormat(_, part) => self.b.kint(part.len() as i32),
            };
            size = self.b.emit(Op::ADD, Ty::Int, size, len)?;
        }
        for (i, text) in texts.iter().enumerate() {
            // The first one makes room for all.
            let room = if i == 0 { size } else { self.b.kint(0) };
            let (helper, args) = match text {
                Text::Value(r) => match self.ty(*r) {
                    Ty::Str => (Helper::BufferPut, vec![buffer, *r, room]),
                    Ty::Int => (Helper::BufferPutInt, vec![buffer, *r, room]),
                    _ => (Helper::BufferPutNum, vec![buffer, *r, room]),
                },
                Text::Buffer(other) => (Helper::BufferPutBuffer, vec![buffer, *other, room]),
                Text::OfFormat(format, part) => {
                    let part = self.b.kint(pack_part(part.clone()).unwrap_or(0));
                    (Helper::BufferPutPart, vec![buffer, *format, part, room])
                }
            };
            if i == 0 {
                self.buffer_does(helper, &args)?;
            } else {
                self.b.call(helper, &args)?;
            }
        }
        self.raw_memory_changed()?;
        one(buffer)
    }
}
