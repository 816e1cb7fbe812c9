//! `string.format`: a buffer, to which each part of the format is appended with its value. A part is a specification and the text before it.

use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::{Rec, Recorder};
use core::ops::Range;
use perilune_vm::Value;
use perilune_vm::object::{Gc, Str};
use perilune_vm::stdlib::strformat::{can_put, pack_part};
use perilune_vm::text::spec::{Conv, Piece, Pieces, Spec};

/// A part of a format: text, and a specification with its value.
pub(super) struct Part {
    pub(super) text: Range<usize>,
    pub(super) value: Option<(Spec, IrRef)>,
}

impl Recorder {
    /// Formats strings, numbers, nil and booleans. What needs a metamethod, has an error, or is a pointer is left to a call of the builtin.
    pub(super) fn string_format(&mut self, args: &Args<'_>, format: IrRef, str: Gc<Str>) -> Results {
        let Some(parts) = parts(args, str, |name| self.b.kgc(name)) else { return Ok(None) };
        if !format.is_const() && !self.feedback.is_one_of_few_texts(str) {
            return Ok(None);
        }
        let format = self.guard_is(format, Value::str(str))?;
        self.gc_step()?;
        match &parts[..] {
            [Part { text, value: None }] if text.len() == str.len() => return one(format),
            [Part { text, value: Some((spec, r)) }] if text.is_empty() && spec.is_plain() => {
                // The text of the value, which other instructions may have made.
                match (spec.conv, self.ty(*r)) {
                    (Conv::Str, Ty::Str) => return one(*r),
                    (Conv::Str, Ty::Num) => return one(self.b.emit(Op::TOSTR, Ty::Str, *r, IrRef(1))?),
                    (Conv::Str | Conv::Int, Ty::Int) => return one(self.b.emit(Op::TOSTR, Ty::Str, *r, IrRef(0))?),
                    _ => {}
                }
            }
            _ => {}
        }
        let null = self.b.knull(Ty::P64);
        let head = self.b.emit(Op::BUFHDR, Ty::P64, null, IrRef(0))?;
        let mut buf = head;
        for part in parts {
            buf = self.put_part(buf, format, part)?;
        }
        one(self.b.emit(Op::BUFSTR, Ty::Str, buf, head)?)
    }
    fn put_part(&mut self, buf: IrRef, format: IrRef, part: Part) -> Rec<IrRef> {
        let text = self.b.kint(pack_part(part.text).unwrap_or(0));
        let (spec, value) = part.value.map_or((0, format), |(spec, r)| (spec.pack(), r));
        let spec = self.b.kint(spec);
        let mut args = format;
        for arg in [text, spec, value] {
            args = self.b.emit(Op::CARG, Ty::Nil, args, arg)?;
        }
        self.b.emit(Op::BUFFMT, Ty::P64, buf, args)
    }
}

/// The parts of a format; `name` makes a reference to the name of nil or a boolean.
pub(super) fn parts(args: &Args<'_>, str: Gc<Str>, mut name: impl FnMut(Value) -> IrRef) -> Option<Vec<Part>> {
    pack_part(0..str.len())?;
    let mut pieces = Pieces::new(str.bytes());
    // The text that is not in a part yet.
    let (mut parts, mut text, mut used) = (Vec::new(), 0..0, 0);
    while let Some(piece) = pieces.next() {
        let end = str.len() - pieces.rest().len();
        let spec = match piece {
            Piece::Literal(literal) => {
                let more = end - literal.len()..end;
                // Of `%%` only the second is text.
                if text.is_empty() {
                    text = more;
                } else if text.end == more.start {
                    text.end = end;
                } else {
                    parts.push(Part { text: core::mem::replace(&mut text, more), value: None });
                }
                continue;
            }
            Piece::Bad(_) => return None,
            Piece::Spec(spec) => spec,
        };
        used += 1;
        let (mut value, mut v) = args.list.get(used).copied()?;
        if matches!(spec.conv, Conv::Str | Conv::Quoted) && !v.is_str() {
            if args.vm.metatable_of(v).is_some() {
                return None;
            }
            if !v.is_number() && spec.conv == Conv::Str {
                v = Value::str((*args.vm.realm.pri_names.get(v.type_index())?)?);
                value = name(v);
            }
        }
        if !can_put(&spec, v) {
            return None;
        }
        parts.push(Part { text: core::mem::replace(&mut text, 0..0), value: Some((spec, value)) });
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part { text, value: None });
    }
    Some(parts)
}
