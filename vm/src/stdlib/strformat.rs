//! `string.format`.

use super::buffer::{is_buffer, with_bytes};
use super::tostring::{address, put_value};
use crate::Vm;
use crate::error::LuaResult;
use crate::interrupt::Poll;
use crate::meta::MM;
use crate::object::{Gc, Str};
use crate::state::Scratch;
use crate::text::float::put_float;
use crate::text::format::{put_address, put_char, put_escaped, put_integer, put_quoted, put_str};
use crate::text::number::{NumText, to_i32, to_i64, to_u64, written_as_int};
use crate::text::spec::{Conv, Piece, Pieces, Spec};
use crate::text::{append, find_byte, put_int};
use crate::value::Value;

/// `string.format(format, ...)`
pub fn format(vm: &mut Vm) -> LuaResult<u32> {
    let format = vm.check_str(0)?;
    vm.with_buffer(|vm, out| {
        let (mut arg, rest) = put_plain(vm, out, format.bytes())?;
        for piece in Pieces::new(rest) {
            put_piece(vm, out, piece, &mut arg)?;
        }
        vm.check_alloc(out.len())?;
        vm.ret_str(out)
    })
}

/// Appends text, and strings and integers as `%s` and `%d` have them, which is all that most formats consist of. Returns the argument used
/// last, and the rest of the format, which begins with something else.
#[inline]
fn put_plain<'a>(vm: &mut Vm, out: &mut Vec<u8>, mut format: &'a [u8]) -> LuaResult<(usize, &'a [u8])> {
    let mut arg = 0;
    loop {
        if format.first() != Some(&b'%') {
            let text = find_byte(format, b'%').unwrap_or(format.len());
            vm.put_short(out, &format[..text])?;
            format = &format[text..];
        }
        let [_, letter @ (b's' | b'd'), rest @ ..] = format else { return Ok((arg, format)) };
        let v = vm.arg(arg + 1);
        if v.is_int() {
            put_int(out, v.as_int_unchecked());
        } else if *letter == b's'
            && let Some(s) = v.as_str()
        {
            vm.put_short(out, s.bytes())?;
        } else {
            return Ok((arg, format));
        }
        (arg, format) = (arg + 1, rest);
    }
}

/// Appends a piece of a format; `arg` is the argument used last.
#[inline]
pub(super) fn put_piece(vm: &mut Vm, out: &mut Vec<u8>, piece: Piece, arg: &mut usize) -> LuaResult<()> {
    match piece {
        Piece::Literal(text) => {
            vm.room(out, text.len())?;
            out.extend_from_slice(text);
        }
        Piece::Bad(text) => {
            let message = [b"invalid option '", text, b"' to 'format'"].concat();
            return Err(vm.rt_error_bytes(&message));
        }
        Piece::Spec(spec) => {
            *arg += 1;
            if *arg >= vm.nargs() {
                return Err(vm.arg_error(*arg, "value expected"));
            }
            put_arg(vm, out, &spec, *arg)?;
        }
    }
    Ok(())
}

/// Appends one argument.
fn put_arg(vm: &mut Vm, out: &mut Vec<u8>, spec: &Spec, i: usize) -> LuaResult<()> {
    match spec.conv {
        Conv::Int | Conv::Uint | Conv::Hex | Conv::Oct if vm.arg(i).is_cdata() => {
            let Some(bits) = vm.arg(i).as_cdata().and_then(|c| c.int64()) else { return Err(vm.arg_type_error(i, "number")) };
            put_integer(out, spec, bits);
        }
        Conv::Int | Conv::Uint | Conv::Hex | Conv::Oct | Conv::Exp | Conv::Fixed | Conv::General | Conv::HexFloat => {
            let v = vm.check_number(i)?;
            put_number(out, spec, v);
        }
        Conv::Char => {
            let c = vm.check_int(i)?;
            put_char(out, spec, c as u8);
        }
        Conv::Ptr => put_address(out, address(vm.arg(i))),
        Conv::Str | Conv::Quoted => {
            let v = displayed(vm, i)?;
            if let Some(s) = v.as_str() {
                let longest = if spec.conv == Conv::Quoted { 4 } else { 1 };
                vm.room(out, longest * s.len())?;
                put_text(vm, out, spec, s.bytes())?;
            } else if let Some(done) = with_bytes(v, |bytes| put_text(vm, out, spec, bytes)) {
                done?;
            } else {
                let mut text = Vec::new();
                put_value(&mut text, v);
                put_text(vm, out, spec, &text)?;
            }
        }
    }
    Ok(())
}

/// Appends a number by any specification but that of an address.
fn put_number(out: &mut Vec<u8>, spec: &Spec, v: Value) {
    let (int, num) = (v.as_int(), || v.as_number().unwrap_or(f64::NAN));
    match spec.conv {
        Conv::Int => put_integer(out, spec, int.map_or_else(|| to_i64(num()), i64::from) as u64),
        Conv::Uint | Conv::Hex | Conv::Oct => put_integer(out, spec, int.map_or_else(|| to_u64(num()), |k| i64::from(k) as u64)),
        Conv::Char => put_char(out, spec, int.unwrap_or_else(|| to_i32(num())) as u8),
        Conv::Str | Conv::Quoted => put_short_text(out, spec, &int.map_or_else(|| NumText::num(num()), NumText::int)),
        Conv::Exp | Conv::Fixed | Conv::General | Conv::HexFloat | Conv::Ptr => put_float(out, spec, num()),
    }
}

/// Appends a text as `%s` or `%q` has it: a long one in parts, see [`Poll`].
#[inline]
fn put_text(vm: &mut Vm, out: &mut Vec<u8>, spec: &Spec, s: &[u8]) -> LuaResult<()> {
    if s.len() > Poll::BYTES {
        return put_long_text(vm, out, spec, s);
    }
    put_short_text(out, spec, s);
    Ok(())
}
#[inline]
fn put_short_text(out: &mut Vec<u8>, spec: &Spec, s: &[u8]) {
    if spec.conv == Conv::Quoted { put_quoted(out, s) } else { put_str(out, spec, s) }
}
#[cold]
#[inline(never)]
fn put_long_text(vm: &mut Vm, out: &mut Vec<u8>, spec: &Spec, s: &[u8]) -> LuaResult<()> {
    if spec.conv == Conv::Quoted {
        out.push(b'"');
        for from in (0..s.len()).step_by(Poll::BYTES) {
            put_escaped(out, s, from..s.len().min(from + Poll::BYTES));
            vm.check_interrupt()?;
        }
        out.push(b'"');
    } else if spec.prec.is_none() {
        // It is longer than any width.
        vm.put(out, s)?;
    } else {
        put_str(out, spec, s);
    }
    Ok(())
}

/// The argument, or the result of its `__tostring`.
#[inline]
fn displayed(vm: &mut Vm, i: usize) -> LuaResult<Value> {
    let v = vm.arg(i);
    if v.is_str() || is_buffer(v) {
        return Ok(v);
    }
    let mm = vm.metamethod(v, MM::ToString);
    if mm.is_nil() { Ok(v) } else { vm.call1(mm, &[v]) }
}

/// A part of a format as one word: its first byte, and the byte after the last. None for long formats.
pub fn pack_part(part: core::ops::Range<usize>) -> Option<i32> {
    let (start, end) = (i16::try_from(part.start).ok()?, i16::try_from(part.end).ok()?);
    Some(i32::from(start) | i32::from(end) << 16)
}

/// The part of a text that [`pack_part`] has packed.
pub(crate) fn part_of(text: &Str, part: i32) -> &[u8] {
    &text.bytes()[(part & 0xffff) as usize..(part >> 16) as usize]
}

/// More bytes than the longest text of a number: a sign, the 309 digits of the largest double, a point and 99 decimals.
const LONGEST: usize = 512;

/// Appends to the scratch buffer of compiled code: a text, which is a part of a format, and a value by a specification ([`Spec::pack`]; none if
/// it is 0). Other values than those that [`can_put`] are not passed. A long string cuts the buffer, unless it is put as it is.
#[inline]
pub(crate) fn put_part(vm: &mut Vm, format: Gc<Str>, part: i32, spec: i32, v: Value) {
    let text = part_of(&format, part);
    if !vm.has_room_in_buffer(text.len() + LONGEST) {
        return;
    }
    let out = &mut vm.strings.buffer;
    append(out, text);
    let plain = spec == PLAIN_INT || spec == PLAIN_STR;
    if plain && let Some(i) = v.as_int().or_else(|| v.as_number().and_then(written_as_int)) {
        put_int(out, i);
    } else if let Some(s) = v.as_str().filter(|_| spec == PLAIN_STR) {
        vm.put_in_buffer(s);
    } else if let Some(spec) = Spec::unpack(spec) {
        put_by(vm, &spec, v);
    }
}
const PLAIN_INT: i32 = Spec::new(Conv::Int).pack();
const PLAIN_STR: i32 = Spec::new(Conv::Str).pack();

fn put_by(vm: &mut Vm, spec: &Spec, v: Value) {
    let Some(s) = v.as_str() else { return put_number(&mut vm.strings.buffer, spec, v) };
    if s.len() > Poll::BYTES || !vm.has_room_in_buffer(4 * s.len() + LONGEST) {
        vm.strings.scratch = Scratch::Cut;
        return;
    }
    put_short_text(&mut vm.strings.buffer, spec, s.bytes());
}

/// Does compiled code format a value by a specification as the interpreter does?
pub fn can_put(spec: &Spec, v: Value) -> bool {
    match spec.conv {
        Conv::Int
        | Conv::Uint
        | Conv::Hex
        | Conv::Oct
        | Conv::Exp
        | Conv::Fixed
        | Conv::General
        | Conv::HexFloat
        | Conv::Char => v.is_number(),
        Conv::Str | Conv::Quoted => v.is_str() || v.is_number(),
        Conv::Ptr => false,
    }
}
