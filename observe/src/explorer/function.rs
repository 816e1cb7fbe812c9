//! The functions of a program with their bytecode, and the texts they come from.

use super::report::{Bytecode, File, Function, LeftOut, Place};
use perilune_jit::stdlib::location;
use perilune_recorder::ir::print::quoted;
use perilune_vm::bc::{Ins, Op, TSETM_BIAS};
use perilune_vm::object::{Gc, Proto};
use perilune_vm::text::number::NumText;
use perilune_vm::value::Value;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Functions that are listed although no trace is made from them.
const MANY: usize = 20_000;
/// Bytes of a text; the rest is cut off.
const LONG: usize = 8 << 20;
/// Bytes of all texts; further ones are left out.
const TEXTS: usize = 64 << 20;
/// Characters of a chunk's name.
const NAME: usize = 60;

/// What is known of functions.
#[derive(Clone, Default)]
pub struct Functions {
    /// The texts.
    pub files: Vec<File>,
    /// The functions.
    pub list: Vec<Function>,
    by_chunk: HashMap<Vec<u8>, usize>,
    /// Bytes of the texts.
    size: usize,
    /// Those that are alive.
    by_address: HashMap<*const Proto, usize>,
}

impl Functions {
    /// Notes a new function, if there is room.
    pub fn note(&mut self, proto: Gc<Proto>, left_out: &mut LeftOut) {
        if self.list.len() < MANY {
            self.index(proto);
        } else {
            left_out.functions += 1;
        }
    }
    /// A function is freed: its address may become another's.
    pub fn forget(&mut self, proto: Gc<Proto>) {
        self.by_address.remove(&proto.as_ptr().cast_const());
    }
    /// The index of a function.
    pub fn index(&mut self, proto: Gc<Proto>) -> usize {
        let address = proto.as_ptr().cast_const();
        if let Some(i) = self.by_address.get(&address) {
            return *i;
        }
        let file = self.file(proto.chunkname.bytes());
        let bytecode = (0..proto.code_len()).map(|pc| instruction(proto, pc)).collect();
        self.list.push(Function {
            file,
            first_line: proto.first_line,
            last_line: proto.last_line,
            bytecode,
            hints: super::hint::hints(proto),
        });
        self.by_address.insert(address, self.list.len() - 1);
        self.list.len() - 1
    }
    /// An instruction of a function.
    pub fn place(&mut self, proto: Gc<Proto>, pc: usize) -> Place {
        Place { function: self.index(proto), pc, line: line(proto, pc) }
    }
    /// The index of a text, by the name of its chunk.
    pub fn file(&mut self, chunk: &[u8]) -> usize {
        if let Some(i) = self.by_chunk.get(chunk) {
            return *i;
        }
        let mut file = file(chunk);
        self.size += file.text.as_ref().map_or(0, String::len);
        if self.size > TEXTS && file.text.take().is_some() {
            file.note = Some("there was no room for it".into());
        }
        self.files.push(file);
        self.by_chunk.insert(chunk.to_vec(), self.files.len() - 1);
        self.files.len() - 1
    }
}

/// The line of an instruction; that of the function for its header.
fn line(proto: Gc<Proto>, pc: usize) -> u32 {
    if pc == 0 { proto.first_line } else { proto.line(pc) }
}

/// The text of a chunk, by its name.
fn file(chunk: &[u8]) -> File {
    let whole = String::from_utf8_lossy(chunk);
    let short = |text: &str| match text.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    };
    let (name, text) = match chunk {
        [b'@', path @ ..] => (whole[1..].to_owned(), read(path)),
        [b'=', ..] => (whole[1..].to_owned(), Err("the program gave it a name, and its text is not known".into())),
        _ => (format!("[string {}]", quoted(short(whole.lines().next().unwrap_or_default()).as_bytes())), Ok(cut(chunk))),
    };
    let (text, note) = match text {
        Ok(text) => (Some(text), None),
        Err(note) => (None, Some(note)),
    };
    File { name, chunk: short(&whole), text, note, lines: Vec::new() }
}

fn read(path: &[u8]) -> Result<String, String> {
    let bytes = std::fs::read(OsStr::from_bytes(path)).map_err(|e| e.to_string())?;
    if bytes.starts_with(b"\x1bLJ") { Err("it is bytecode".into()) } else { Ok(cut(&bytes)) }
}

fn cut(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(LONG)]).into_owned()
}

/// Kinds of operands, as the modes of [`Op`] number them.
mod kind {
    pub const NONE: u16 = 0;
    pub const UPVALUE: u16 = 5;
    pub const SIGNED: u16 = 7;
    pub const PRIMITIVE: u16 = 8;
    pub const NUMBER: u16 = 9;
    pub const STRING: u16 = 10;
    pub const FUNCTION: u16 = 12;
    pub const JUMP: u16 = 13;
}

/// An instruction in words, as `-bl` lists it.
fn instruction(proto: Gc<Proto>, pc: usize) -> Bytecode {
    let ins = proto.ins(pc).unwrap_or(Ins(0));
    let op = ins.op();
    let modes = Op::MODES[op as usize];
    let (a, b, d) = (modes & 7, modes >> 3 & 15, modes >> 7 & 15);
    let mut text = format!("{:<6} ", op.name());
    if a == kind::NONE {
        text += "   ";
    } else {
        text += &format!("{:>3}", ins.a());
    }
    let value = if b == kind::NONE { ins.d() } else { ins.c() };
    if d == kind::JUMP {
        text += &format!(" => {:04}", pc as i64 + 1 + i64::from(ins.j()));
    } else if b != kind::NONE {
        text += &format!(" {:>3} {:>3}", ins.b(), value);
    } else if d == kind::SIGNED {
        text += &format!(" {:>3}", value as u16 as i16);
    } else if d != kind::NONE {
        text += &format!(" {value:>3}");
    }
    let mut notes = Vec::new();
    if a == kind::UPVALUE {
        notes.extend(upvalue(proto, ins.a()));
    }
    notes.extend(operand(proto, op, d, value));
    if !notes.is_empty() {
        text += &format!("  ; {}", notes.join(" ; "));
    }
    Bytecode { line: line(proto, pc), text: text.trim_end().to_owned() }
}

fn upvalue(proto: Gc<Proto>, i: usize) -> Option<String> {
    proto.uv_names.get(i).map(|name| String::from_utf8_lossy(name).into_owned())
}

/// What an operand stands for.
fn operand(proto: Gc<Proto>, op: Op, kind: u16, value: usize) -> Option<String> {
    const STRING: usize = 40;
    match kind {
        kind::UPVALUE => upvalue(proto, value),
        kind::PRIMITIVE => Some(["nil", "false", "true"].get(value)?.to_string()),
        kind::NUMBER => Some(number(proto.knum(value)?, op)),
        kind::STRING => {
            let s = proto.kgc(value)?.as_str()?;
            let bytes = s.bytes();
            Some(if bytes.len() > STRING { quoted(&bytes[..STRING]) + "~" } else { quoted(bytes) })
        }
        kind::FUNCTION => {
            let p = proto.kgc(value)?.as_proto()?;
            Some(String::from_utf8_lossy(&location(p, p.first_line)).into_owned())
        }
        _ => None,
    }
}

fn number(k: Value, op: Op) -> String {
    let n = k.as_number().unwrap_or(0.0) - if op == Op::TSETM { TSETM_BIAS } else { 0.0 };
    String::from_utf8_lossy(&NumText::num(n)).into_owned()
}
