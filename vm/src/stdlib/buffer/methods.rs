//! The methods of buffers.
#![allow(unsafe_code, reason = "the program answers for the bytes that its pointers point to")]

use super::object::{Buffer, MAX_LEN, Source, as_buffer, with};
use super::{decode as decoder, encode as encoder};
use crate::Vm;
use crate::error::LuaResult;
use crate::ffi::ctype::CTypeId;
use crate::meta::MM;
use crate::object::{Gc, Udata};
use crate::stdlib::strformat::put_piece;
use crate::text::NumText;
use crate::text::spec::{Conv, Piece, Pieces, Spec};
use crate::value::Value;

/// The error when a buffer is its own argument.
const INTO_ITSELF: &str = "cannot put buffer into itself";

/// The first argument as a buffer.
fn this(vm: &mut Vm) -> LuaResult<Gc<Udata>> {
    match as_buffer(vm.arg(0)) {
        Some(u) => Ok(u),
        None => Err(vm.arg_type_error(0, "buffer")),
    }
}

/// Returns the buffer, for the next call of a chain.
fn chain(vm: &mut Vm, u: Gc<Udata>) -> LuaResult<u32> {
    vm.ret1(Value::udata(u))
}

/// `buf:free()`
pub fn free(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    vm.buffer_free(u);
    chain(vm, u)
}

/// `buf:reset()`
pub fn reset(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    vm.buffer_reset(u);
    chain(vm, u)
}

/// `buf:skip(len)`
pub fn skip(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let n = vm.check_size(1)?;
    with(u, |b| b.consume(n.min(b.len())));
    chain(vm, u)
}

/// `buf:set(s)`, `buf:set(cdata, len)`
pub fn set(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let source = if vm.arg(1).is_cdata() {
        let from = vm.check_address(1, CTypeId::P_CVOID)?;
        Source::Memory(from, vm.check_size(2)?)
    } else {
        Source::Str(vm.check_exact_str(1)?)
    };
    vm.buffer_set(u, source, vm.arg(1));
    chain(vm, u)
}

/// `buf:put(...)`
pub fn put(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    for i in 1..vm.nargs() {
        if !put_text(vm, u, i)? {
            let v = vm.arg(i);
            let mm = vm.metamethod(v, MM::ToString);
            if !mm.is_nil() {
                let text = vm.call1(mm, &[v])?;
                vm.set_arg(i, text);
            }
            if mm.is_nil() || !put_text(vm, u, i)? {
                return Err(vm.arg_type_error(i, "string/number/__tostring"));
            }
        }
    }
    chain(vm, u)
}

/// Appends an argument that is a string, a number or a buffer; false if it is something else.
fn put_text(vm: &mut Vm, u: Gc<Udata>, i: usize) -> LuaResult<bool> {
    let v = vm.arg(i);
    if let Some(s) = v.as_str() {
        vm.buffer_put(u, s.bytes())?;
    } else if v.is_int() {
        vm.buffer_put_int(u, v.as_int_unchecked())?;
    } else if v.is_num() {
        vm.buffer_put(u, &NumText::num(v.as_num_unchecked()))?;
    } else if let Some(other) = as_buffer(v) {
        if other == u {
            return Err(vm.arg_error(i, INTO_ITSELF));
        }
        vm.buffer_reserve(u, with(other, |o| o.len()))?;
        let done = with(u, |b| with(other, |o| b.append(|out| vm.put(out, o.data()))));
        // Reserving may have run finalizers, and the other buffer may have grown since.
        vm.count_buffer(u);
        done?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// `buf:putf(format, ...)`
pub fn putf(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let format = vm.check_str(1)?;
    let (mut arg, mut out) = (1, Vec::new());
    for piece in Pieces::new(format.bytes()) {
        if put_as_it_is(vm, u, piece, &mut arg)? {
            continue;
        }
        if let Piece::Spec(Spec { conv: Conv::Str | Conv::Quoted, .. }) = piece
            && vm.arg(arg + 1) == Value::udata(u)
        {
            // LuaJIT's count is one too high here.
            return Err(vm.arg_error(arg + 2, INTO_ITSELF));
        }
        out.clear();
        put_piece(vm, &mut out, piece, &mut arg)?;
        vm.buffer_put(u, &out)?;
    }
    chain(vm, u)
}

/// Appends a piece of a format that takes no formatting: a literal, an integer as `%d`, a string or a number as `%s`. `arg` is the argument used last.
/// False if it is none of these.
fn put_as_it_is(vm: &mut Vm, u: Gc<Udata>, piece: Piece<'_>, arg: &mut usize) -> LuaResult<bool> {
    let spec = match piece {
        Piece::Literal(text) => {
            vm.buffer_put(u, text)?;
            return Ok(true);
        }
        Piece::Spec(spec) if spec.is_plain() && *arg + 1 < vm.nargs() => spec,
        Piece::Spec(_) | Piece::Bad(_) => return Ok(false),
    };
    let v = vm.arg(*arg + 1);
    let is_text = match spec.conv {
        Conv::Int => v.is_int(),
        Conv::Str => v.is_str() || v.is_number(),
        _ => false,
    };
    if is_text {
        *arg += 1;
        put_text(vm, u, *arg)?;
    }
    Ok(is_text)
}

/// `buf:get([len [, ...]])`
pub fn get(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let n = vm.nargs().max(2);
    vm.reserve(n)?;
    for i in 1..n {
        let size = if vm.arg(i).is_nil() { MAX_LEN } else { vm.check_size(i)? };
        let len = with(u, |b| size.min(b.len()));
        vm.check_alloc(len)?;
        // The conversion may have changed its size.
        let s = with(u, |b| vm.try_new_str(&b.data()[..len.min(b.len())]))?;
        with(u, |b| b.consume(s.len()));
        match i < vm.nargs() {
            true => vm.set_arg(i, Value::str(s)),
            false => vm.push(Value::str(s)),
        }
    }
    Ok(n as u32 - 1)
}

/// `buf:encode(v)`
pub fn encode(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let v = vm.check_any(1)?;
    // From here on it has its own memory to write to.
    vm.buffer_reserve(u, 1)?;
    let result = with(u, |b| {
        let dicts = b.dicts;
        b.append(|out| encoder::encode(vm, out, dicts, v))
    });
    vm.count_buffer(u);
    result?;
    chain(vm, u)
}

/// `buf:decode()`
pub fn decode(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    vm.check_alloc(with(u, |b| b.len()))?;
    let (v, size) = with(u, |b| decoder::decode(vm, b.data(), b.dicts))?;
    with(u, |b| b.consume(size));
    vm.ret1(v)
}

/// `buf:putcdata(cdata, len)`
pub fn putcdata(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    if !vm.arg(1).is_cdata() {
        return Err(vm.arg_type_error(1, "cdata"));
    }
    let from = vm.check_address(1, CTypeId::P_CVOID)?;
    let len = vm.check_size(2)?;
    // The bytes may be the buffer's own, which move when it grows.
    // SAFETY: the program says that so many bytes are at the address.
    let bytes = if len == 0 { Vec::new() } else { unsafe { core::slice::from_raw_parts(from, len) }.to_vec() };
    vm.buffer_put(u, &bytes)?;
    chain(vm, u)
}

/// Returns a pointer to bytes, and their number.
fn return_bytes(vm: &mut Vm, address: *const u8, len: usize) -> LuaResult<u32> {
    if vm.open_ffi().is_none() {
        return Err(vm.rt_error("pointers need the FFI, which is not open"));
    }
    let c = vm.new_pointer(CTypeId::P_UINT8, address.expose_provenance() as u64);
    vm.push(Value::cdata(c));
    vm.push(Value::integer(len as i64));
    Ok(2)
}

/// `buf:reserve(size)`
pub fn reserve(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let size = vm.check_size(1)?;
    vm.buffer_reserve(u, size.max(1))?;
    let (address, len) = with(u, |b| {
        let spare = b.spare();
        (spare.as_ptr().cast::<u8>(), spare.len())
    });
    return_bytes(vm, address, len)
}

/// `buf:commit(used)`
pub fn commit(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let used = vm.check_size(1)?;
    if !with(u, |b| b.commit(used)) {
        return Err(vm.arg_error(1, "number out of range"));
    }
    chain(vm, u)
}

/// `buf:ref()`
pub fn ref_(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let (address, len) = with(u, |b| (b.start(), b.len()));
    return_bytes(vm, address, len)
}

/// The finalizer.
pub fn gc(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    vm.buffer_free(u);
    Ok(0)
}

/// `buf:tostring()`, `tostring(buf)`
pub fn tostring(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    vm.check_alloc(with(u, |b| b.len()))?;
    let s = with(u, |b| vm.try_new_str(b.data()))?;
    vm.ret1(Value::str(s))
}

/// `#buf`
pub fn len(vm: &mut Vm) -> LuaResult<u32> {
    let u = this(vm)?;
    let n = with(u, |b: &mut Buffer| b.len());
    vm.ret1(Value::integer(n as i64))
}
