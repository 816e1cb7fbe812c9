//! Prototypes to bytes.
//!
//! The container is LuaJIT 2.1's, as its header `lj_bcdump.h` documents it: `ESC L J`, a version and flags; the chunk's name
//! unless stripped; then the prototypes, each with its size in front, children before parents; and a zero. Numbers are ULEB128
//! unless their size is fixed.

use super::{Ins, KCdata, KGc, KNum, KVal, ProtoData, TableTemplate, UvDesc, VarInfo};

/// The first bytes of a dump.
pub const MAGIC: [u8; 3] = *b"\x1bLJ";
/// Version of the format.
pub(crate) const VERSION: u8 = 2;

/// Flags of a dump.
pub(crate) mod flag {
    /// Without debug information.
    pub const STRIP: u32 = 0x02;
    /// Has constants that are cdata.
    pub const FFI: u32 = 0x04;
    /// Frames have two slots for the function and the link: the layout of 64-bit LuaJIT.
    pub const FR2: u32 = 0x08;
    /// Has bit operators.
    pub const BITOP: u32 = 0x10;
}

/// Flags of a prototype.
pub(super) mod proto_flag {
    /// Has child prototypes.
    pub const CHILD: u8 = 0x01;
    /// Takes `...`.
    pub const VARARG: u8 = 0x02;
    /// Has constants that are cdata, or its children have.
    pub const FFI: u8 = 0x04;
    /// Has bit operators, or its children have.
    pub const BITOP: u8 = 0x80;
}

/// Types of object constants. For a string: this, plus its length.
pub(super) mod kgc {
    /// The next child prototype.
    pub const CHILD: u32 = 0;
    /// A template table.
    pub const TAB: u32 = 1;
    /// An `int64_t`, in two halves.
    pub const I64: u32 = 2;
    /// A `uint64_t`, in two halves.
    pub const U64: u32 = 3;
    /// A `complex`, in four halves.
    pub const COMPLEX: u32 = 4;
    /// A string of length 0.
    pub const STR: u32 = 5;
}

/// Types of the values in template tables.
pub(super) mod ktab {
    /// nil
    pub const NIL: u32 = 0;
    /// false
    pub const FALSE: u32 = 1;
    /// true
    pub const TRUE: u32 = 2;
    /// An integer.
    pub const INT: u32 = 3;
    /// A double, in two halves.
    pub const NUM: u32 = 4;
    /// A string of length 0.
    pub const STR: u32 = 5;
}

/// Bits of the description of an upvalue.
pub(super) mod uv {
    /// A local of the enclosing function.
    pub const LOCAL: u16 = 0x8000;
    /// Never assigned.
    pub const IMMUTABLE: u16 = 0x4000;
}

/// Hidden variables: their names are stored as numbers, from 1 on.
pub(super) const HIDDEN_NAMES: [&[u8]; 6] =
    [b"(for index)", b"(for limit)", b"(for step)", b"(for generator)", b"(for state)", b"(for control)"];

/// Writes a prototype with its children; without debug information if `strip`.
pub fn write(proto: &ProtoData, strip: bool) -> Vec<u8> {
    let mut out = Writer { bytes: MAGIC.to_vec() };
    out.bytes.push(VERSION);
    out.uleb(
        flag::FR2
            | if strip { flag::STRIP } else { 0 }
            | if proto.has_cdata() { flag::FFI } else { 0 }
            | if proto.has_bitops() { flag::BITOP } else { 0 },
    );
    if !strip {
        out.sized(&proto.chunkname);
    }
    out.protos(proto, strip);
    out.bytes.push(0);
    out.bytes
}

/// Bytes per entry of the line table of a function of so many lines.
pub(super) fn line_size(lines: u32) -> usize {
    match lines {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn uleb(&mut self, v: u32) {
        self.uleb_wide(u64::from(v));
    }
    fn uleb_wide(&mut self, mut v: u64) {
        while v >= 0x80 {
            self.bytes.push(v as u8 | 0x80);
            v >>= 7;
        }
        self.bytes.push(v as u8);
    }
    fn sized(&mut self, s: &[u8]) {
        self.uleb(s.len() as u32);
        self.bytes.extend_from_slice(s);
    }
    /// The children of a prototype in the order of their constants, and itself.
    fn protos(&mut self, proto: &ProtoData, strip: bool) {
        for k in &proto.kgc {
            if let KGc::Proto(child) = k {
                self.protos(child, strip);
            }
        }
        let mut one = Writer { bytes: Vec::new() };
        one.proto(proto, strip);
        self.sized(&one.bytes);
    }
    fn proto(&mut self, p: &ProtoData, strip: bool) {
        let mut debug = Writer { bytes: Vec::new() };
        if !strip && !p.lines.is_empty() {
            debug.debug_info(p);
        }
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(p.has_children, proto_flag::CHILD)
            | flag(p.is_vararg, proto_flag::VARARG)
            | flag(p.has_cdata(), proto_flag::FFI)
            | flag(p.has_bitops(), proto_flag::BITOP);
        self.bytes.extend_from_slice(&[flags, p.num_params, p.framesize, p.upvalues.len() as u8]);
        self.uleb(p.kgc.len() as u32);
        self.uleb(p.knum.len() as u32);
        self.uleb(p.bc.len() as u32 - 1);
        if !strip {
            self.uleb(debug.bytes.len() as u32);
            if !debug.bytes.is_empty() {
                self.uleb(p.first_line);
                self.uleb(p.last_line.saturating_sub(p.first_line));
            }
        }
        for &Ins(word) in &p.bc[1..] {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        for d in &p.upvalues {
            self.upvalue(*d);
        }
        for k in p.kgc.iter().rev() {
            match k {
                KGc::Str(s) => self.string(kgc::STR, s),
                KGc::Proto(_) => self.uleb(kgc::CHILD),
                KGc::Table(t) => {
                    self.uleb(kgc::TAB);
                    self.template(t);
                }
                KGc::Cdata(k) => {
                    self.uleb(match k {
                        KCdata::Int64(_) => kgc::I64,
                        KCdata::Uint64(_) => kgc::U64,
                        KCdata::Complex(..) => kgc::COMPLEX,
                    });
                    for word in k.words() {
                        self.uleb(word);
                    }
                }
            }
        }
        for k in &p.knum {
            self.number(*k);
        }
        self.bytes.extend_from_slice(&debug.bytes);
    }
    fn upvalue(&mut self, d: UvDesc) {
        let bits = if d.local { uv::LOCAL } else { 0 } | if d.immutable { uv::IMMUTABLE } else { 0 };
        self.bytes.extend_from_slice(&(bits | u16::from(d.index)).to_le_bytes());
    }
    fn string(&mut self, base: u32, s: &[u8]) {
        self.uleb_wide(u64::from(base) + s.len() as u64);
        self.bytes.extend_from_slice(s);
    }
    fn template(&mut self, t: &TableTemplate) {
        let used = t.array.iter().rposition(|v| *v != KVal::Nil).map_or(0, |last| last + 1);
        self.uleb(used as u32);
        self.uleb(t.hash.len() as u32);
        for v in &t.array[..used] {
            self.value(v);
        }
        for (k, v) in &t.hash {
            self.value(k);
            self.value(v);
        }
    }
    fn value(&mut self, v: &KVal) {
        match v {
            KVal::Nil => self.uleb(ktab::NIL),
            KVal::Bool(b) => self.uleb(if *b { ktab::TRUE } else { ktab::FALSE }),
            KVal::Int(i) => {
                self.uleb(ktab::INT);
                self.uleb(*i as u32);
            }
            KVal::Num(n) => {
                self.uleb(ktab::NUM);
                self.uleb(n.to_bits() as u32);
                self.uleb((n.to_bits() >> 32) as u32);
            }
            KVal::Str(s) => self.string(ktab::STR, s),
        }
    }
    /// A number constant: the lowest bit says whether it is a double, of which the upper half follows.
    fn number(&mut self, k: KNum) {
        match k {
            KNum::Int(i) => self.uleb_wide(u64::from(i as u32) << 1),
            KNum::Num(n) => {
                let bits = n.to_bits();
                self.uleb_wide((bits & 0xffff_ffff) << 1 | 1);
                self.uleb((bits >> 32) as u32);
            }
        }
    }
    /// Lines relative to the first, names of the upvalues, and variables.
    fn debug_info(&mut self, p: &ProtoData) {
        let count = p.last_line.saturating_sub(p.first_line);
        let size = line_size(count);
        for line in &p.lines[1..] {
            let delta = line.saturating_sub(p.first_line).min(count);
            self.bytes.extend_from_slice(&delta.to_le_bytes()[..size]);
        }
        for i in 0..p.upvalues.len() {
            self.name(p.uv_names.get(i).map_or(&[], |n| n));
        }
        let mut last = 0;
        for VarInfo { name, start_pc, end_pc } in &p.vars {
            match HIDDEN_NAMES.iter().position(|n| **n == **name) {
                Some(i) => self.bytes.push(i as u8 + 1),
                None => self.name(name),
            }
            self.uleb(start_pc.saturating_sub(last));
            self.uleb(end_pc.saturating_sub(*start_pc));
            last = *start_pc;
        }
        self.bytes.push(0);
    }
    fn name(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
    }
}
