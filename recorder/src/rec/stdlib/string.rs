//! The string library.

use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty, xload};
use crate::rec::{Rec, Recorder};
use perilune_vm::helper::Helper;
use perilune_vm::interrupt::LONG_STRING;
use perilune_vm::layout::Field;
use perilune_vm::object::{Gc, Str};
use perilune_vm::stdlib::Builtin;
use perilune_vm::text::find_plain;
use perilune_vm::text::search::is_plain;

/// Most bytes of one `string.byte`.
const MAX_BYTES: i32 = 8;
/// Most bytes of one `string.char`: as many as [`Helper::StrFromChars`] takes, whose arguments, with the VM, are as many as registers pass on x86-64.
const MAX_CHARS: usize = 16;

impl Recorder {
    pub(super) fn lib_string(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        if b == Builtin::StringChar {
            return self.string_char(args);
        }
        let (s, v) = args.get(0);
        let Some(str) = v.as_str() else { return Ok(None) };
        match b {
            Builtin::StringLen => one(self.field(s, Field::StrLen)?),
            Builtin::StringSub => self.string_sub(args, s, str),
            Builtin::StringByte => self.string_byte(args, s, str),
            Builtin::StringUpper => self.string_map(Helper::StrUpper, s),
            Builtin::StringLower => self.string_map(Helper::StrLower, s),
            Builtin::StringReverse => self.string_map(Helper::StrReverse, s),
            Builtin::StringRep if args.get(2).1.is_nil() => {
                let (r, v) = args.get(1);
                let n = self.to_int(r, v)?.0;
                self.gc_step()?;
                one(self.b.call(Helper::StrRep, &[s, n])?)
            }
            Builtin::StringFind => self.string_find(args, s, str),
            Builtin::StringFormat => self.string_format(args, s, str),
            _ => Ok(None),
        }
    }
    fn string_map(&mut self, helper: Helper, s: IrRef) -> Results {
        self.gc_step()?;
        one(self.b.call(helper, &[s])?)
    }
    fn string_char(&mut self, args: &Args<'_>) -> Results {
        if !(1..=MAX_CHARS).contains(&args.len()) {
            return Ok(None);
        }
        let mut codes = Vec::with_capacity(args.len());
        for &(r, v) in &args.list {
            let (r, i) = self.to_truncated(r, v)?;
            if !(0..=255).contains(&i) {
                return Ok(None);
            }
            let k = self.b.kint(255);
            self.b.emit(Op::ULE, Ty::Int, r, k)?;
            codes.push(r);
        }
        self.gc_step()?;
        if let [code] = codes[..] {
            return one(self.b.emit(Op::TOSTR, Ty::Str, code, IrRef(2))?);
        }
        let mut args = Vec::with_capacity(5);
        for i in 0..4 {
            let from = codes.len().min(4 * i);
            args.push(self.packed(&codes[from..codes.len().min(from + 4)])?);
        }
        args.push(self.b.kint(codes.len() as i32));
        one(self.b.call(Helper::StrFromChars, &args)?)
    }
    /// Up to four bytes as an int, the first one lowest.
    fn packed(&mut self, bytes: &[IrRef]) -> Rec<IrRef> {
        let mut all = self.b.kint(0);
        for (i, &byte) in bytes.iter().enumerate() {
            let distance = self.b.kint(8 * i as i32);
            let moved = self.b.emit(Op::BSHL, Ty::Int, byte, distance)?;
            all = self.b.emit(Op::BOR, Ty::Int, all, moved)?;
        }
        Ok(all)
    }

    /// A start position as offset, guarded against positions of another sign or beyond the end, which mean something else.
    fn start(&mut self, pos: (IrRef, i32), len: (IrRef, i32)) -> Rec<(IrRef, i32)> {
        let (r, i) = pos;
        let zero = self.b.kint(0);
        if i > 0 {
            self.b.emit(Op::GT, Ty::Int, r, zero)?;
            let one = self.b.kint(-1);
            return Ok((self.b.emit(Op::ADD, Ty::Int, r, one)?, i - 1));
        }
        if i == 0 {
            self.b.emit(Op::EQ, Ty::Int, r, zero)?;
            return Ok((zero, 0));
        }
        self.b.emit(Op::LT, Ty::Int, r, zero)?;
        let from = self.b.emit(Op::ADD, Ty::Int, len.0, r)?;
        if len.1 + i < 0 {
            self.b.emit(Op::LT, Ty::Int, from, zero)?;
            return Ok((zero, 0));
        }
        self.b.emit(Op::GE, Ty::Int, from, zero)?;
        Ok((from, len.1 + i))
    }
    /// An end position as offset after the last byte.
    fn end(&mut self, pos: (IrRef, i32), len: (IrRef, i32)) -> Rec<(IrRef, i32)> {
        let (r, i) = pos;
        let zero = self.b.kint(0);
        if i < 0 {
            self.b.emit(Op::LT, Ty::Int, r, zero)?;
            let one = self.b.kint(1);
            // In this order nothing overflows.
            let end = self.b.emit(Op::ADD, Ty::Int, len.0, r)?;
            let end = self.b.emit(Op::ADD, Ty::Int, end, one)?;
            if len.1 + i + 1 < 0 {
                self.b.emit(Op::LT, Ty::Int, end, zero)?;
                return Ok((zero, 0));
            }
            self.b.emit(Op::GE, Ty::Int, end, zero)?;
            return Ok((end, len.1 + i + 1));
        }
        self.b.emit(Op::GE, Ty::Int, r, zero)?;
        if i > len.1 {
            self.b.emit(Op::GT, Ty::Int, r, len.0)?;
            return Ok(len);
        }
        self.b.emit(Op::LE, Ty::Int, r, len.0)?;
        Ok((r, i))
    }

    fn string_sub(&mut self, args: &Args<'_>, s: IrRef, str: Gc<Str>) -> Results {
        let (r, v) = args.get(1);
        let i = self.to_int(r, v)?;
        let j = match args.get(2) {
            (_, v) if v.is_nil() => (self.b.kint(-1), -1),
            (r, v) => self.to_int(r, v)?,
        };
        let len = (self.field(s, Field::StrLen)?, str.len() as i32);
        let (from, to) = (self.start(i, len)?, self.end(j, len)?);
        if from.1 >= to.1 {
            self.b.emit(Op::GE, Ty::Int, from.0, to.0)?;
            let empty = self.empty_string(args);
            return match empty {
                Some(r) => one(r),
                None => Ok(None),
            };
        }
        self.b.emit(Op::LT, Ty::Int, from.0, to.0)?;
        let n = self.b.emit(Op::SUB, Ty::Int, to.0, from.0)?;
        if args.vm.is_interruptible() {
            if to.1 - from.1 > LONG_STRING as i32 {
                return Ok(None);
            }
            let most = self.b.kint(LONG_STRING as i32);
            self.b.emit(Op::LE, Ty::Int, n, most)?;
        }
        self.gc_step()?;
        let p = self.b.emit(Op::STRREF, Ty::P64, s, from.0)?;
        one(self.b.emit(Op::SNEW, Ty::Str, p, n)?)
    }
    /// The empty string, made at run time: it need not exist when the trace is recorded.
    fn empty_string(&mut self, args: &Args<'_>) -> Option<IrRef> {
        let (s, _) = args.get(0);
        let zero = self.b.kint(0);
        let p = self.b.emit(Op::STRREF, Ty::P64, s, zero).ok()?;
        self.b.emit(Op::SNEW, Ty::Str, p, zero).ok()
    }

    /// `string.find` of a text: either the program says that it is one, or it is always the same, without characters that mean something.
    fn string_find(&mut self, args: &Args<'_>, s: IrRef, str: Gc<Str>) -> Results {
        let ((text, v), plain) = (args.get(1), args.get(3).1.truthy());
        let Some(needle) = v.as_str().filter(|t| plain || is_plain(t.bytes())) else { return Ok(None) };
        let init = match args.get(2) {
            (_, v) if v.is_nil() => (self.b.kint(1), 1),
            (r, v) => self.to_int(r, v)?,
        };
        if args.vm.is_interruptible() && str.len() > LONG_STRING {
            return Ok(None);
        }
        if !plain {
            if !text.is_const() && !self.feedback.is_one_of_few_texts(needle) {
                return Ok(None);
            }
            self.guard_is(text, v)?;
        }
        let len = (self.field(s, Field::StrLen)?, str.len() as i32);
        if args.vm.is_interruptible() {
            let most = self.b.kint(LONG_STRING as i32);
            self.b.emit(Op::LE, Ty::Int, len.0, most)?;
        }
        let (mut from, at) = self.start(init, len)?;
        if at > len.1 {
            self.b.emit(Op::GT, Ty::Int, from, len.0)?;
            from = len.0;
        } else {
            self.b.emit(Op::LE, Ty::Int, from, len.0)?;
        }
        let (found, zero) = (self.b.call(Helper::StrFind, &[s, text, from])?, self.b.kint(0));
        if find_plain(&str.bytes()[at.min(len.1) as usize..], needle.bytes()).is_none() {
            self.b.emit(Op::LT, Ty::Int, found, zero)?;
            return one(IrRef::NIL);
        }
        self.b.emit(Op::GE, Ty::Int, found, zero)?;
        let (next, size) = (self.b.kint(1), self.field(text, Field::StrLen)?);
        let first = self.b.emit(Op::ADD, Ty::Int, found, next)?;
        Ok(Some(vec![first, self.b.emit(Op::ADD, Ty::Int, found, size)?]))
    }

    fn string_byte(&mut self, args: &Args<'_>, s: IrRef, str: Gc<Str>) -> Results {
        let i = match args.get(1) {
            (_, v) if v.is_nil() => (self.b.kint(1), 1),
            (r, v) => self.to_int(r, v)?,
        };
        let j = match args.get(2) {
            (_, v) if v.is_nil() => i,
            (r, v) => self.to_int(r, v)?,
        };
        let len = (self.field(s, Field::StrLen)?, str.len() as i32);
        if i.0 == j.0 && i.1 > 0 {
            // One byte: inside the string or not.
            let (from, at) = self.start(i, len)?;
            if at >= len.1 {
                self.b.emit(Op::GE, Ty::Int, from, len.0)?;
                return Ok(Some(Vec::new()));
            }
            self.b.emit(Op::LT, Ty::Int, from, len.0)?;
            return one(self.byte_at(s, from, 0)?);
        }
        let (from, to) = (self.start(i, len)?, self.end(j, len)?);
        let n = to.1 - from.1;
        if n <= 0 {
            self.b.emit(Op::GE, Ty::Int, from.0, to.0)?;
            return Ok(Some(Vec::new()));
        }
        if n > MAX_BYTES {
            return Ok(None);
        }
        let count = self.b.emit(Op::SUB, Ty::Int, to.0, from.0)?;
        self.guard_int(count, n)?;
        let mut all = Vec::new();
        for k in 0..n {
            all.push(self.byte_at(s, from.0, k)?);
        }
        Ok(Some(all))
    }
    fn byte_at(&mut self, s: IrRef, from: IrRef, k: i32) -> Rec<IrRef> {
        let at = if k == 0 {
            from
        } else {
            let k = self.b.kint(k);
            self.b.emit(Op::ADD, Ty::Int, from, k)?
        };
        let p = self.b.emit(Op::STRREF, Ty::P64, s, at)?;
        self.b.emit(Op::XLOAD, Ty::U8, p, IrRef(xload::READONLY))
    }
}
