//! Bytes to prototypes: the reader of dumps that [`super::dump`] (or LuaJIT) wrote.
//!
//! Every length, count and index is checked against the bytes that are there before anything is allocated for it. `verify` checks the
//! instructions afterwards.

use super::dump::{HIDDEN_NAMES, MAGIC, VERSION, flag, kgc, ktab, line_size, proto_flag, uv};
use super::{Ins, KCdata, KGc, KNum, KVal, Op, ProtoData, TableTemplate, UvDesc, VarInfo};
use crate::source::Source;
use std::rc::Rc;

/// Deepest nesting of prototypes: that of the parser.
const MAX_DEPTH: u32 = 200;

/// Why bytes are not a chunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum UndumpError {
    /// Of another format, version or platform.
    Incompatible,
    /// The header is right, but the rest is not well-formed.
    Malformed,
}

impl UndumpError {
    /// The message, in LuaJIT's words.
    pub const fn message(self) -> &'static str {
        match self {
            UndumpError::Incompatible => "cannot load incompatible bytecode",
            UndumpError::Malformed => "cannot load malformed bytecode",
        }
    }
}

type Res<T> = Result<T, UndumpError>;
const BAD: UndumpError = UndumpError::Malformed;

/// The longest encoding of a number, in bytes.
const NUMBER: usize = 5;

/// Reads a chunk and verifies it. A stripped chunk gets the name `name`. Like LuaJIT, it asks for the next piece of a chunk only when all
/// bytes of the one before are used.
///
/// # Errors
/// The bytes are not a chunk that can be run safely. If the reader function fails, the chunk seems to end there.
pub fn read(source: &mut Source, name: &[u8]) -> Res<ProtoData> {
    source.want(MAGIC.len() + 1 + 2 * NUMBER);
    let header = take(source, MAGIC.len() + 1).map_err(|_| UndumpError::Incompatible)?;
    if header[..3] != MAGIC || header[3] != VERSION {
        return Err(UndumpError::Incompatible);
    }
    let flags = number(source).map_err(|_| UndumpError::Incompatible)?;
    if flags & !(flag::STRIP | flag::FFI | flag::BITOP) != flag::FR2 {
        return Err(UndumpError::Incompatible);
    }
    let strip = flags & flag::STRIP != 0;
    let chunkname: Rc<[u8]> = if !strip {
        let len = number(source)?;
        Rc::from(take(source, len as usize)?)
    } else if name.first() == Some(&MAGIC[0]) {
        // If the chunk was loaded from a string, its name would be the dump itself.
        Rc::from(&b"=?"[..])
    } else {
        Rc::from(name)
    };
    // Finished prototypes with their depths, for their parents to take.
    let mut done = Vec::new();
    loop {
        if source.rest().first() != Some(&0) {
            source.want(NUMBER);
        }
        let size = number(source)?;
        if size == 0 {
            break;
        }
        let mut one = Reader { bytes: take(source, size as usize)? };
        let proto = one.proto(&mut done, strip, &chunkname)?;
        if !one.bytes.is_empty() {
            return Err(BAD);
        }
        done.push(proto);
    }
    let (proto, _) = done.pop().ok_or(BAD)?;
    if !done.is_empty() || !source.rest().is_empty() {
        return Err(BAD);
    }
    super::verify::verify(&proto)?;
    Ok(proto)
}

/// The next bytes of a chunk.
fn take<'s>(source: &'s mut Source, n: usize) -> Res<&'s [u8]> {
    source.drop_used(source.pos, &mut []);
    if !source.want(n) {
        return Err(BAD);
    }
    let start = source.pos;
    source.pos += n;
    Ok(&source.bytes()[start..source.pos])
}

/// A number from the current piece of a chunk.
fn number(source: &mut Source) -> Res<u32> {
    let mut r = Reader { bytes: source.rest() };
    let n = r.uleb()?;
    let left = r.bytes.len();
    source.pos = source.bytes().len() - left;
    Ok(n)
}

/// The remaining bytes.
struct Reader<'a> {
    bytes: &'a [u8],
}

/// The sizes at the start of a prototype.
struct Sizes {
    kgc: usize,
    knum: usize,
    bc: usize,
    debug: usize,
    first_line: u32,
    lines: u32,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Res<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(n).ok_or(BAD)?;
        self.bytes = rest;
        Ok(taken)
    }
    fn byte(&mut self) -> Res<u8> {
        Ok(self.take(1)?[0])
    }
    fn uleb_wide(&mut self, bits: u32) -> Res<u64> {
        let mut v = 0;
        let mut shift = 0;
        loop {
            let b = self.byte()?;
            v |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return if v >> bits == 0 { Ok(v) } else { Err(BAD) };
            }
            shift += 7;
            if shift > bits {
                return Err(BAD);
            }
        }
    }
    fn uleb(&mut self) -> Res<u32> {
        Ok(self.uleb_wide(32)? as u32)
    }
    /// The number of items, each of which takes at least `size` of the remaining bytes.
    fn count(&mut self, size: usize) -> Res<usize> {
        let n = self.uleb()? as usize;
        if n > self.bytes.len() / size { Err(BAD) } else { Ok(n) }
    }
    fn sizes(&mut self, strip: bool) -> Res<Sizes> {
        let (kgc, knum, bc) = (self.count(1)?, self.count(1)?, self.count(4)?);
        let debug = if strip { 0 } else { self.count(1)? };
        let (first_line, lines) = if debug > 0 { (self.uleb()?, self.uleb()?) } else { (0, 0) };
        Ok(Sizes { kgc, knum, bc, debug, first_line, lines })
    }
    /// A prototype, whose children are taken from the end of `done`; and its depth.
    fn proto(&mut self, done: &mut Vec<(ProtoData, u32)>, strip: bool, chunkname: &Rc<[u8]>) -> Res<(ProtoData, u32)> {
        let head = self.take(4)?;
        let (flags, num_params, framesize, num_uv) = (head[0], head[1], head[2], head[3]);
        if flags & !(proto_flag::CHILD | proto_flag::VARARG | proto_flag::FFI | proto_flag::BITOP) != 0 {
            return Err(BAD);
        }
        let is_vararg = flags & proto_flag::VARARG != 0;
        let sizes = self.sizes(strip)?;
        let words = self.take(sizes.bc.checked_mul(4).ok_or(BAD)?)?;
        let mut bc = vec![Ins::ad(if is_vararg { Op::FUNCV } else { Op::FUNCF }, framesize, 0)];
        bc.extend(words.as_chunks::<4>().0.iter().map(|w| Ins(u32::from_le_bytes(*w))));
        let uvs = self.take(usize::from(num_uv) * 2)?;
        let upvalues = uvs.as_chunks::<2>().0.iter().map(|w| upvalue(u16::from_le_bytes(*w))).collect::<Res<Vec<_>>>()?;
        let mut depth = 1;
        let mut kgc = Vec::new();
        for _ in 0..sizes.kgc {
            kgc.push(self.object(done, &mut depth)?);
        }
        kgc.reverse();
        if depth > MAX_DEPTH || kgc.iter().any(|k| matches!(k, KGc::Proto(_))) != (flags & proto_flag::CHILD != 0) {
            return Err(BAD);
        }
        drop_unheld_keys(&mut kgc);
        let knum = (0..sizes.knum).map(|_| self.number()).collect::<Res<Vec<_>>>()?;
        let mut p = ProtoData {
            bc,
            kgc,
            knum,
            upvalues,
            num_params,
            framesize,
            is_vararg,
            has_children: flags & proto_flag::CHILD != 0,
            first_line: sizes.first_line,
            last_line: sizes.first_line.checked_add(sizes.lines).ok_or(BAD)?,
            lines: Vec::new(),
            chunkname: chunkname.clone(),
            uv_names: Vec::new(),
            vars: Vec::new(),
        };
        if sizes.debug > 0 {
            let mut debug = Reader { bytes: self.take(sizes.debug)? };
            debug.debug_info(&mut p, sizes.lines)?;
        }
        Ok((p, depth))
    }
    fn object(&mut self, done: &mut Vec<(ProtoData, u32)>, depth: &mut u32) -> Res<KGc> {
        Ok(match self.uleb()? {
            kgc::CHILD => {
                let (child, d) = done.pop().ok_or(BAD)?;
                *depth = (*depth).max(d + 1);
                KGc::Proto(Box::new(child))
            }
            kgc::TAB => KGc::Table(self.template()?),
            kgc::I64 => KGc::Cdata(KCdata::Int64(self.double_word()? as i64)),
            kgc::U64 => KGc::Cdata(KCdata::Uint64(self.double_word()?)),
            kgc::COMPLEX => {
                let (re, im) = (f64::from_bits(self.double_word()?), f64::from_bits(self.double_word()?));
                KGc::Cdata(KCdata::Complex(re, im))
            }
            n if n >= kgc::STR => KGc::Str(Box::from(self.take((n - kgc::STR) as usize)?)),
            _ => return Err(BAD),
        })
    }
    /// 64 bits in two halves.
    fn double_word(&mut self) -> Res<u64> {
        let low = u64::from(self.uleb()?);
        Ok(u64::from(self.uleb()?) << 32 | low)
    }
    fn template(&mut self) -> Res<TableTemplate> {
        let (array, hash) = (self.count(1)?, self.count(2)?);
        let mut t = TableTemplate::default();
        for _ in 0..array {
            t.array.push(self.value()?);
        }
        for _ in 0..hash {
            let (k, v) = (self.value()?, self.value()?);
            if k == KVal::Nil || matches!(k, KVal::Num(n) if n.is_nan()) {
                return Err(BAD);
            }
            // Keys have no negative zero.
            let k = if matches!(k, KVal::Num(0.0)) { KVal::Int(0) } else { k };
            t.hash.push((k, v));
        }
        Ok(t)
    }
    fn value(&mut self) -> Res<KVal> {
        Ok(match self.uleb()? {
            ktab::NIL => KVal::Nil,
            ktab::FALSE => KVal::Bool(false),
            ktab::TRUE => KVal::Bool(true),
            ktab::INT => KVal::Int(self.uleb()? as i32),
            ktab::NUM => match canonical(self.double_word()?) {
                KNum::Int(i) => KVal::Int(i),
                KNum::Num(n) => KVal::Num(n),
            },
            n => KVal::Str(self.take((n - ktab::STR) as usize)?.into()),
        })
    }
    fn number(&mut self) -> Res<KNum> {
        let low = self.uleb_wide(33)?;
        if low & 1 == 0 {
            return Ok(KNum::Int((low >> 1) as i32));
        }
        Ok(canonical(u64::from(self.uleb()?) << 32 | low >> 1))
    }
    fn debug_info(&mut self, p: &mut ProtoData, lines: u32) -> Res<()> {
        let size = line_size(lines);
        let table = self.take((p.bc.len() - 1).checked_mul(size).ok_or(BAD)?)?;
        p.lines.push(p.first_line);
        for entry in table.chunks_exact(size) {
            let delta = entry.iter().rev().fold(0, |v, b| v << 8 | u32::from(*b));
            p.lines.push(p.first_line.checked_add(delta).ok_or(BAD)?);
        }
        for _ in 0..p.upvalues.len() {
            p.uv_names.push(self.name()?);
        }
        let mut last: u32 = 0;
        loop {
            let name = match self.bytes.first() {
                None => return Err(BAD),
                Some(0) => break,
                Some(&tag) if usize::from(tag) <= HIDDEN_NAMES.len() => {
                    self.byte()?;
                    Box::from(HIDDEN_NAMES[usize::from(tag) - 1])
                }
                Some(_) => self.name()?,
            };
            let start_pc = last.checked_add(self.uleb()?).ok_or(BAD)?;
            let end_pc = start_pc.checked_add(self.uleb()?).ok_or(BAD)?;
            p.vars.push(VarInfo { name, start_pc, end_pc });
            last = start_pc;
        }
        self.byte()?;
        if self.bytes.is_empty() { Ok(()) } else { Err(BAD) }
    }
    /// A name that ends with a zero.
    fn name(&mut self) -> Res<Box<[u8]>> {
        let len = self.bytes.iter().position(|b| *b == 0).ok_or(BAD)?;
        let name = self.take(len)?;
        self.byte()?;
        Ok(Box::from(name))
    }
}

fn upvalue(bits: u16) -> Res<UvDesc> {
    if bits & !(uv::LOCAL | uv::IMMUTABLE | 0xff) != 0 {
        return Err(BAD);
    }
    Ok(UvDesc { local: bits & uv::LOCAL != 0, immutable: bits & uv::IMMUTABLE != 0, index: bits as u8 })
}

/// A double in the parser's form: an integer if it is one, and not a NaN whose bits would be another kind of value.
fn canonical(bits: u64) -> KNum {
    let n = f64::from_bits(bits);
    let i = n as i32;
    if f64::from(i).to_bits() == bits {
        KNum::Int(i)
    } else if n.is_nan() {
        KNum::Num(f64::NAN)
    } else {
        KNum::Num(n)
    }
}

/// Keys without a value only reserve their nodes, and do not keep a string alive: drops those whose string is not also a constant.
fn drop_unheld_keys(kgc: &mut [KGc]) {
    let reserved = |k: &KGc| matches!(k, KGc::Table(t) if t.hash.iter().any(|(_, v)| *v == KVal::Nil));
    if !kgc.iter().any(reserved) {
        return;
    }
    let held: std::collections::HashSet<Box<[u8]>> =
        kgc.iter().filter_map(|k| if let KGc::Str(s) = k { Some(s.clone()) } else { None }).collect();
    for k in kgc {
        if let KGc::Table(t) = k {
            t.hash.retain(|(k, v)| *v != KVal::Nil || !matches!(k, KVal::Str(s) if !held.contains(&s[..])));
        }
    }
}
