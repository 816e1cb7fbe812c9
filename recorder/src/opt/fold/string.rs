//! FOLD: strings, which are immutable and interned.

use super::{Fold, Rule, again, holds, is, like};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Const, Ins, IrRef, Op, Ty, xload};
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;

const STR_LEN: IrRef = IrRef(Field::StrLen as u16);

/// FLOAD: the length of a string.
pub(super) fn field(b: &mut IrBuffer, ins: Ins) -> Rule {
    if ins.b != STR_LEN {
        return Ok(Fold::Keep);
    }
    if let Some(s) = b.as_gc(ins.a).and_then(|v| v.as_str()) {
        return is(b.kint(s.len() as i32));
    }
    match b.def(ins.a) {
        // #sub(s, ..) is known
        Some(Ins { op: Op::SNEW, b: len, .. }) => is(len),
        // #char(c) = 1
        Some(Ins { op: Op::TOSTR, b: IrRef(2), .. }) => is(b.kint(1)),
        _ => Ok(Fold::Keep),
    }
}

/// STRREF.
pub(super) fn reference(b: &mut IrBuffer, ins: Ins) -> Rule {
    // byte j of sub(s, i)  =>  byte i + j of s
    if let Some(Ins { op: Op::SNEW, a, .. }) = b.inner(ins.a)
        && let Some(Ins { op: Op::STRREF, a: s, b: i, .. }) = b.def(a)
    {
        let sum = b.emit(Op::ADD, Ty::Int, i, ins.b)?;
        return like(Op::STRREF, ins.ty, s, sum);
    }
    Ok(Fold::Keep)
}

/// SNEW.
pub(super) fn new(b: &mut IrBuffer, ins: Ins) -> Rule {
    let Some(Ins { op: Op::STRREF, a: s, b: start, .. }) = b.def(ins.a) else { return Ok(Fold::Keep) };
    if b.as_int(start) != Some(0) {
        return Ok(Fold::Keep);
    }
    // The whole of s is s.
    let whole = match b.as_gc(s).and_then(|v| v.as_str()) {
        Some(k) => b.as_int(ins.b) == Some(k.len() as i32),
        None => b.is_op(ins.b, Op::FLOAD).is_some_and(|len| len.a == s && len.b == STR_LEN),
    };
    if whole { is(s) } else { Ok(Fold::Keep) }
}

/// XLOAD of a byte of a constant string.
pub(super) fn byte(b: &mut IrBuffer, ins: Ins) -> Rule {
    if ins.ty != Ty::U8 || ins.b.0 & xload::READONLY == 0 {
        return Ok(Fold::Keep);
    }
    let Some(Ins { op: Op::STRREF, a: s, b: i, .. }) = b.def(ins.a) else { return Ok(Fold::Keep) };
    let byte = match (b.as_gc(s).and_then(|v| v.as_str()), b.as_int(i)) {
        (Some(s), Some(i)) if i >= 0 => s.bytes().get(i as usize).copied(),
        _ => None,
    };
    match byte {
        Some(c) => is(b.kint(i32::from(c))),
        None => Ok(Fold::Keep),
    }
}

/// STRTO.
pub(super) fn number(b: &mut IrBuffer, ins: Ins) -> Rule {
    if let Some(s) = b.as_gc(ins.a).and_then(|v| v.as_str()) {
        return match perilune_vm::meta::str_to_number(s).and_then(|v| v.as_number()) {
            Some(n) => is(b.knum(n)),
            None => holds(false),
        };
    }
    match b.def(ins.a) {
        // tonumber(tostring(int)) is the int
        Some(Ins { op: Op::TOSTR, a, b: IrRef(0), .. }) => like(Op::CONV, Ty::Num, a, IrRef(crate::ir::conv::NUM_INT)),
        _ => Ok(Fold::Keep),
    }
}

/// BUFPUT, BUFSTR.
pub(super) fn buffer(b: &mut IrBuffer, ins: Ins) -> Rule {
    if ins.op == Op::BUFPUT {
        let empty = b.as_gc(ins.b).and_then(|v| v.as_str()).is_some_and(|s| s.is_empty());
        // buf .. ""  =>  buf
        return if empty { is(ins.a) } else { Ok(Fold::Keep) };
    }
    let Some(Ins { op: Op::BUFPUT, a: rest, b: last, .. }) = b.def(ins.a) else { return Ok(Fold::Keep) };
    match b.def(rest) {
        // A buffer of one string is the string.
        Some(Ins { op: Op::BUFHDR, .. }) => is(last),
        // A buffer of two strings is their concatenation. (Numbers are better put into a buffer.)
        Some(Ins { op: Op::BUFPUT, a: head, b: first, .. })
            if b.is_op(head, Op::BUFHDR).is_some() && ![first, last].into_iter().any(|r| is_text_of_number(b, r)) =>
        {
            let args = b.emit(Op::CARG, Ty::Nil, first, last)?;
            again(Ins::call(Op::CALLA, Helper::StrConcat, args))
        }
        _ => Ok(Fold::Keep),
    }
}

/// Is it the string of a number? A buffer may take the number itself, see [`crate::opt::buffers`].
fn is_text_of_number(b: &IrBuffer, r: IrRef) -> bool {
    b.flags.fuse && b.is_op(r, Op::TOSTR).is_some_and(|i| i.b != IrRef(2))
}

/// CALLN of a function of strings.
pub(super) fn call(b: &mut IrBuffer, ins: Ins) -> Rule {
    if ins.b.0 != Helper::StrCmp as u16 {
        return Ok(Fold::Keep);
    }
    let Some(Ins { op: Op::CARG, a: x, b: y, .. }) = b.def(ins.a) else { return Ok(Fold::Keep) };
    if x == y {
        return is(b.kint(0));
    }
    match (b.trace.konst(x), b.trace.konst(y)) {
        (Some(Const::Gc(x)), Some(Const::Gc(y))) if let (Some(x), Some(y)) = (x.as_str(), y.as_str()) => {
            is(b.kint(x.bytes().cmp(y.bytes()) as i32))
        }
        _ => Ok(Fold::Keep),
    }
}
