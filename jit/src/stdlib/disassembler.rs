//! Machine code as text: the functions in Rust that `jit.dis_x64` and `jit.dis_arm64` call.

use perilune_vm::object::{Gc, NativeFn, Table};
use perilune_vm::{LuaResult, Value, Vm};

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bytes.
    pub length: usize,
    /// The text, as an assembler would read it.
    pub text: String,
    /// The address that it jumps or refers to, if it has one.
    pub target: Option<u64>,
}

/// The instructions in code of this processor that lies at `address`.
pub fn lines(code: &[u8], address: usize) -> Vec<Line> {
    let decode = if cfg!(target_arch = "aarch64") { arm64_line } else { x64_line };
    let (mut lines, mut at) = (Vec::new(), 0);
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let line = decode(rest, (address + at) as u64);
        at += line.length.max(1);
        lines.push(line);
    }
    lines
}

/// For the module `jit.dis_x64`: the decoder, by name of the architecture.
pub fn x64(vm: &mut Vm) -> Gc<Table> {
    library(vm, |vm| decode(vm, x64_line))
}
/// The same for aarch64.
pub fn arm64(vm: &mut Vm) -> Gc<Table> {
    library(vm, |vm| decode(vm, arm64_line))
}

fn library(vm: &mut Vm, decode: NativeFn) -> Gc<Table> {
    let t = vm.new_table(0, 1);
    super::shared::fill(vm, t, &[("decode", decode)]);
    t
}

/// `decode(code, offset, address)`: decodes the instruction at an offset of a string that lies at an address. Returns its length, its text,
/// and the address that it refers to, or nil. Bytes that are no instruction are shown as bytes.
fn decode(vm: &mut Vm, line: fn(&[u8], u64) -> Line) -> LuaResult<u32> {
    let code = vm.check_str(0)?;
    let offset = vm.check_int(1)?;
    let address = vm.check_num(2)? as u64;
    let rest = usize::try_from(offset).ok().and_then(|from| code.bytes().get(from..)).filter(|rest| !rest.is_empty());
    let Some(rest) = rest else { return Ok(0) };
    let line = line(rest, address);
    vm.push(Value::int(line.length as i32));
    let text = vm.new_str(line.text.as_bytes());
    vm.push(Value::str(text));
    vm.push(line.target.map_or(Value::NIL, |t| Value::number(t as f64)));
    Ok(3)
}

#[cfg(feature = "disasm")]
fn x64_line(code: &[u8], address: u64) -> Line {
    use yaxpeax_arch::{Decoder, LengthedInstruction, U8Reader};
    match yaxpeax_x86::amd64::InstDecoder::default().decode(&mut U8Reader::new(code)) {
        Ok(i) => {
            let length = i.len().to_const() as usize;
            with_target(length, i.to_string(), address.wrapping_add(length as u64))
        }
        Err(_) => unknown(code, 1),
    }
}

#[cfg(feature = "disasm")]
fn arm64_line(code: &[u8], address: u64) -> Line {
    use yaxpeax_arch::{Decoder, U8Reader};
    match yaxpeax_arm::armv8::a64::InstDecoder::default().decode(&mut U8Reader::new(code)) {
        Ok(i) => with_target(4, i.to_string(), address),
        Err(_) => unknown(code, 4),
    }
}

/// Without the feature `disasm`, a line is sixteen bytes.
#[cfg(not(feature = "disasm"))]
fn x64_line(code: &[u8], _: u64) -> Line {
    unknown(code, 16)
}

/// Without the feature `disasm`, an instruction is its bytes.
#[cfg(not(feature = "disasm"))]
fn arm64_line(code: &[u8], _: u64) -> Line {
    unknown(code, 4)
}

/// Bytes that are no instruction.
fn unknown(code: &[u8], length: usize) -> Line {
    let bytes = &code[..length.min(code.len())];
    let text = bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
    Line { length: bytes.len(), text: format!(".byte {text}"), target: None }
}

/// Replaces a distance from `base`, written as `$+0x10`, by the address.
#[cfg(feature = "disasm")]
fn with_target(length: usize, text: String, base: u64) -> Line {
    let distance = text.split_once('$').and_then(|(before, rest)| {
        let backwards = rest.starts_with('-');
        let digits = rest.get(1..)?.strip_prefix("0x")?;
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let n = u64::from_str_radix(&digits[..end], 16).ok()?;
        let target = if backwards { base.wrapping_sub(n) } else { base.wrapping_add(n) };
        Some((format!("{before}0x{target:x}{}", &digits[end..]), target))
    });
    match distance {
        Some((text, target)) => Line { length, text, target: Some(target) },
        None => Line { length, text, target: None },
    }
}

#[cfg(all(test, feature = "disasm"))]
mod tests {
    use super::*;

    fn line(text: &str, length: usize, target: Option<u64>) -> Line {
        Line { length, text: text.to_owned(), target }
    }

    #[test]
    fn x64_instructions() {
        assert_eq!(x64_line(&[0x48, 0x8b, 0x47, 0x10, 0xc3], 0x1000), line("mov rax, qword [rdi + 0x10]", 4, None));
        assert_eq!(x64_line(&[0xe9, 0, 1, 0, 0], 0x1000), line("jmp 0x1105", 5, Some(0x1105)));
        assert_eq!(x64_line(&[0x74, 0xfe], 0x1000), line("jz 0x1000", 2, Some(0x1000)));
        assert_eq!(x64_line(&[0x0f], 0x1000), line(".byte 0f", 1, None));
    }

    #[test]
    fn arm64_instructions() {
        assert_eq!(arm64_line(&[0x20, 0, 0x40, 0xf9], 0x1000), line("ldr x0, [x1]", 4, None));
        assert_eq!(arm64_line(&[0x40, 0, 0, 0x54], 0x1000), line("b.eq 0x1008", 4, Some(0x1008)));
        assert_eq!(arm64_line(&[0xff, 0xff], 0x1000), line(".byte ff ff", 2, None));
    }
}
