//! Methods of `string.buffer`.

use super::format::{Part, parts};
use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::{Rec, Recorder};
use core::ops::Range;
use perilune_vm::Value;
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
        let (checked, no) = (self.b.call(Helper::IsBuffer, &[buffer])?, self.b.kint(0));
        self.b.emit(Op::NE, Ty::Int, checked, no)?;
        match b {
            Builtin::BufferMethodPut => {
                let texts: Vec<_> = args.list[1..].iter().map(|&(r, _)| Text::Value(r)).collect();
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
                    Some(n) => {
                        let text = self.buffer_text(buffer, n)?;
                        self.buffer_change(Helper::BufferSkip, &[buffer, n])?;
                        one(text)
                    }
                    None => Ok(None),
                }
            }
            Builtin::BufferMethodReset => self.buffer_change(Helper::BufferReset, &[buffer]),
            Builtin::BufferMethodSkip => match self.buffer_size(args.get(1))? {
                Some(n) => self.buffer_change(Helper::BufferSkip, &[buffer, n]),
                None => Ok(None),
            },
            Builtin::BufferMethodSet if args.get(1).1.is_str() => self.buffer_change(Helper::BufferSet, &[buffer, args.get(1).0]),
            _ => Ok(None),
        }
    }
    /// A number of bytes, guarded not to be negative.
    fn buffer_size(&mut self, (r, v): (IrRef, Value)) -> Rec<Option<IrRef>> {
        if !v.is_number() {
            return Ok(None);
        }
        let ((n, now), zero) = (self.to_int(r, v)?, self.b.kint(0));
        if now < 0 {
            return Ok(None);
        }
        self.b.emit(Op::GE, Ty::Int, n, zero)?;
        Ok(Some(n))
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
            matches!(t, Text::OfFormat(..)) || matches!(t, Text::Value(r) if matches!(self.ty(*r), Ty::Str | Ty::Int | Ty::Num))
        };
        if !can_put(v, bytes) || !texts.iter().all(is_text) {
            return Ok(None);
        }
        let mut size = self.b.kint(0);
        for text in texts {
            let len = match text {
                Text::Value(r) if self.ty(*r) == Ty::Str => self.field(*r, Field::StrLen)?,
                Text::Value(_) => self.b.kint(LONGEST as i32),
                Text::OfFormat(_, part) => self.b.kint(part.len() as i32),
            };
            size = self.b.emit(Op::ADD, Ty::Int, size, len)?;
        }
        let (fits, no) = (self.b.call(Helper::BufferMakeRoom, &[buffer, size])?, self.b.kint(0));
        self.b.emit(Op::NE, Ty::Int, fits, no)?;
        for text in texts {
            match text {
                Text::Value(r) => {
                    let helper = match self.ty(*r) {
                        Ty::Str => Helper::BufferPut,
                        Ty::Int => Helper::BufferPutInt,
                        _ => Helper::BufferPutNum,
                    };
                    self.b.call(helper, &[buffer, *r])?;
                }
                Text::OfFormat(format, part) => {
                    let part = self.b.kint(pack_part(part.clone()).unwrap_or(0));
                    self.b.call(Helper::BufferPutPart, &[buffer, *format, part])?;
                }
            }
        }
        self.raw_memory_changed()?;
        one(buffer)
    }
}
