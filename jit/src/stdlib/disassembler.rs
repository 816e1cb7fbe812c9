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
    use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};
    let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
    if instruction.is_invalid() {
        return unknown(code, 1);
    }
    let mut formatter = NasmFormatter::new();
    as_luajit(formatter.options_mut());
    let mut text = String::new();
    formatter.format(&instruction, &mut text);
    // The decoder knows each operand that is a distance from the next instruction, and gives 0 where there is none.
    let target = if instruction.is_ip_rel_memory_operand() {
        instruction.ip_rel_memory_address()
    } else {
        instruction.near_branch_target()
    };
    Line { length: instruction.len(), text, target: Some(target).filter(|t| *t != 0) }
}

/// The notation of LuaJIT's `jit.dis_x64`: `jz` and not `je`, `0x10` and not `10h`, sizes of operands where no register has one.
#[cfg(feature = "disasm")]
fn as_luajit(options: &mut iced_x86::FormatterOptions) {
    use iced_x86::{CC_ae, CC_e, CC_ne, CC_np, CC_p};
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    options.set_space_after_operand_separator(true);
    options.set_signed_immediate_operands(true);
    options.set_rip_relative_addresses(true);
    // The other conditions have LuaJIT's names anyway.
    options.set_cc_ae(CC_ae::nb);
    options.set_cc_e(CC_e::z);
    options.set_cc_ne(CC_ne::nz);
    options.set_cc_p(CC_p::pe);
    options.set_cc_np(CC_np::po);
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
        assert_eq!(x64_line(&[0x48, 0x8b, 0x47, 0x10, 0xc3], 0x1000), line("mov rax, [rdi+0x10]", 4, None));
        assert_eq!(x64_line(&[0x48, 0x8b, 0x47, 0xf8], 0x1000), line("mov rax, [rdi-0x8]", 4, None));
        assert_eq!(x64_line(&[0x83, 0x7a, 0x04, 0xf2], 0x1000), line("cmp dword [rdx+0x4], -0xe", 4, None));
        assert_eq!(x64_line(&[0xf2, 0x0f, 0x59, 0x05, 0x10, 0, 0, 0], 0x1000), line("mulsd xmm0, [rip+0x10]", 8, Some(0x1018)));
        assert_eq!(x64_line(&[0xe9, 0, 1, 0, 0], 0x1000), line("jmp 0x1105", 5, Some(0x1105)));
        assert_eq!(x64_line(&[0x74, 0xfe], 0x1000), line("jz 0x1000", 2, Some(0x1000)));
        for (opcode, name) in
            [(0x72, "jb"), (0x73, "jnb"), (0x75, "jnz"), (0x76, "jbe"), (0x77, "ja"), (0x7a, "jpe"), (0x7b, "jpo"), (0x7f, "jg")]
        {
            assert_eq!(x64_line(&[opcode, 0xfe], 0x1000), line(&format!("{name} 0x1000"), 2, Some(0x1000)));
        }
        assert_eq!(x64_line(&[0x0f], 0x1000), line(".byte 0f", 1, None));
    }

    #[test]
    fn arm64_instructions() {
        assert_eq!(arm64_line(&[0x20, 0, 0x40, 0xf9], 0x1000), line("ldr x0, [x1]", 4, None));
        assert_eq!(arm64_line(&[0x40, 0, 0, 0x54], 0x1000), line("b.eq 0x1008", 4, Some(0x1008)));
        assert_eq!(arm64_line(&[0xff, 0xff], 0x1000), line(".byte ff ff", 2, None));
    }
}
