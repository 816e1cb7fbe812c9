//! Reading by formats: lines, numbers, everything, or a number of bytes.

use super::stream::{Bounds, Shared, Stream, lock};
use crate::Vm;
use crate::error::LuaResult;
use crate::interrupt::Flag;
use crate::value::Value;
use std::io;

/// The most bytes that one read may request.
const MAX_BYTES: f64 = 2_147_483_392.0;
/// Longest text of a number that is read.
const MAX_NUMBER: usize = 200;

/// One format.
#[derive(Copy, Clone)]
enum Format {
    Number,
    Line { keep: bool },
    All,
    Bytes(usize),
}

/// The format in a value; an error names argument `i`.
fn format_of(vm: &mut Vm, v: Value, i: usize) -> LuaResult<Format> {
    if let Some(s) = v.as_str() {
        let s = s.bytes();
        let letter = if s.first() == Some(&b'*') { s.get(1) } else { s.first() };
        return match letter {
            Some(b'n') => Ok(Format::Number),
            Some(b'l') => Ok(Format::Line { keep: false }),
            Some(b'L') => Ok(Format::Line { keep: true }),
            Some(b'a') => Ok(Format::All),
            _ => Err(vm.arg_error(i, "invalid format")),
        };
    }
    match v.as_number() {
        Some(n) if n > -1.0 && n <= MAX_BYTES => Ok(Format::Bytes(n as usize)),
        Some(_) => Err(vm.out_of_memory()),
        None => Err(vm.arg_error(i, "invalid option")),
    }
}

/// Reads according to the formats, of which the first is argument `first`, and pushes the results. The first read that fails gives nil and
/// is the last. A system error is returned for the caller to report.
pub fn read_values(vm: &mut Vm, stream: &Shared, formats: &[Value], first: usize) -> LuaResult<io::Result<u32>> {
    if formats.len() > 12 {
        vm.reserve(formats.len())?;
    }
    if formats.is_empty() {
        return Ok(read_one(vm, stream, Format::Line { keep: false })?.map(|_| 1));
    }
    let mut n = 0;
    for (i, v) in formats.iter().enumerate() {
        let format = format_of(vm, *v, first + i)?;
        n += 1;
        match read_one(vm, stream, format)? {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(n))
}

/// Reads and pushes one value: nil, and false, at the end of the file.
fn read_one(vm: &mut Vm, stream: &Shared, format: Format) -> LuaResult<io::Result<bool>> {
    vm.with_buffer(|vm, out| read_one_into(vm, stream, format, out))
}

fn read_one_into(vm: &mut Vm, stream: &Shared, format: Format, out: &mut Vec<u8>) -> LuaResult<io::Result<bool>> {
    let flag = std::sync::Arc::clone(&vm.interrupts.flag);
    let bounds = &Bounds { most: vm.longest_buffer(), stop: &flag };
    let found = {
        let mut s = lock(stream);
        match format {
            Format::Number => read_number(&mut s, out, bounds.stop),
            Format::Line { keep } => s.read_line(out, keep, bounds),
            Format::All => s.read_all(out, bounds).map(|()| true),
            Format::Bytes(0) => s.fill(bounds.stop).map(|ahead| !ahead.is_empty()),
            Format::Bytes(n) => s.read_bytes(out, n, bounds).map(|()| !out.is_empty()),
        }
    };
    if found.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::OutOfMemory) {
        return Err(vm.out_of_memory());
    }
    vm.check_alloc(out.len())?;
    let v = match (&found, format) {
        (Ok(true), Format::Number) => {
            let text = vm.new_str(out);
            crate::meta::str_to_number(text).unwrap_or(Value::NIL)
        }
        (Ok(true), _) => Value::str(vm.try_new_str(out)?),
        _ => Value::NIL,
    };
    Ok(found.map(|found| {
        vm.push(v);
        found && !v.is_nil()
    }))
}

/// Collects the text of a number, after white space.
struct NumberReader<'a> {
    s: &'a mut Stream,
    out: &'a mut Vec<u8>,
    stop: &'a Flag,
}

impl NumberReader<'_> {
    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.s.fill(self.stop)?.first().copied())
    }
    /// Takes the next character if it is one of these.
    fn accept(&mut self, test: impl Fn(u8) -> bool) -> io::Result<bool> {
        match self.peek()? {
            Some(c) if test(c) && self.out.len() < MAX_NUMBER => {
                self.out.push(c);
                self.s.consume(1);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
    fn digits(&mut self, hex: bool) -> io::Result<usize> {
        let mut n = 0;
        while self.accept(|c| if hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() })? {
            n += 1;
        }
        Ok(n)
    }
}

/// Reads the longest text that looks like a number. False if there is none.
fn read_number(s: &mut Stream, out: &mut Vec<u8>, stop: &Flag) -> io::Result<bool> {
    while let Some(c) = s.fill(stop)?.first() {
        if !matches!(c, b' ' | 9..=13) {
            break;
        }
        s.consume(1);
    }
    let mut r = NumberReader { s, out, stop };
    r.accept(|c| matches!(c, b'-' | b'+'))?;
    let mut count = 0;
    let mut hex = false;
    if r.accept(|c| c == b'0')? {
        if r.accept(|c| matches!(c, b'x' | b'X'))? {
            hex = true;
        } else {
            count = 1;
        }
    }
    count += r.digits(hex)?;
    if r.accept(|c| c == b'.')? {
        count += r.digits(hex)?;
    }
    let is_exponent = |c: u8| if hex { matches!(c, b'p' | b'P') } else { matches!(c, b'e' | b'E') };
    if count > 0 && r.accept(is_exponent)? {
        r.accept(|c| matches!(c, b'-' | b'+'))?;
        r.digits(false)?;
    }
    Ok(count > 0)
}
