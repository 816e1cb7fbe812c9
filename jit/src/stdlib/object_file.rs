//! Bytecode in object files: the functions in Rust that `jit.bcsave` calls.

use object::write::{Object, SectionId, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, FileFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope, elf};
use perilune_vm::object::{Gc, Table};
use perilune_vm::{LuaResult, Value, Vm};

/// An architecture by LuaJIT's name.
struct Arch {
    name: &'static str,
    arch: Architecture,
    endian: Endianness,
    /// Processor-specific flags of an ELF file.
    flags: u32,
}

const fn arch(name: &'static str, arch: Architecture, endian: Endianness, flags: u32) -> Arch {
    Arch { name, arch, endian, flags }
}

const MIPS32: u32 = elf::EF_MIPS_ARCH_32 | elf::EF_MIPS_ABI_O32 | elf::EF_MIPS_CPIC | elf::EF_MIPS_PIC;
const MIPS64: u32 = elf::EF_MIPS_ARCH_64R2 | elf::EF_MIPS_CPIC | elf::EF_MIPS_PIC | elf::EF_MIPS_NOREORDER;
const MIPS64R6: u32 =
    elf::EF_MIPS_ARCH_64R6 | elf::EF_MIPS_NAN2008 | elf::EF_MIPS_CPIC | elf::EF_MIPS_PIC | elf::EF_MIPS_NOREORDER;

const ARCHS: [Arch; 12] = [
    arch("x86", Architecture::I386, Endianness::Little, 0),
    arch("x64", Architecture::X86_64, Endianness::Little, 0),
    arch("arm", Architecture::Arm, Endianness::Little, 0),
    arch("arm64", Architecture::Aarch64, Endianness::Little, 0),
    arch("arm64be", Architecture::Aarch64, Endianness::Big, 0),
    arch("ppc", Architecture::PowerPc, Endianness::Big, 0),
    arch("mips", Architecture::Mips, Endianness::Big, MIPS32),
    arch("mipsel", Architecture::Mips, Endianness::Little, MIPS32),
    arch("mips64", Architecture::Mips64, Endianness::Big, MIPS64),
    arch("mips64el", Architecture::Mips64, Endianness::Little, MIPS64),
    arch("mips64r6", Architecture::Mips64, Endianness::Big, MIPS64R6),
    arch("mips64r6el", Architecture::Mips64, Endianness::Little, MIPS64R6),
];

/// The functions for the module.
pub fn library(vm: &mut Vm) -> Gc<Table> {
    let t = vm.new_table(0, 2);
    let names = vm.subtable(t, b"architectures");
    for a in &ARCHS {
        vm.set_field(names, a.name.as_bytes(), Value::TRUE);
    }
    super::shared::fill(vm, t, &[("make", make)]);
    t
}

/// `make(arch, os, symbol, bytes)`: the object file, or nil and a message.
fn make(vm: &mut Vm) -> LuaResult<u32> {
    let [arch, os, symbol, bytes] = [vm.check_str(0)?, vm.check_str(1)?, vm.check_str(2)?, vm.check_str(3)?];
    let made = match ARCHS.iter().find(|a| a.name.as_bytes() == arch.bytes()) {
        Some(arch) => file(arch, os.bytes(), symbol.bytes(), bytes.bytes()),
        None => Err("unknown architecture".to_owned()),
    };
    match made {
        Ok(file) => vm.ret_str(&file),
        Err(message) => {
            vm.push(Value::NIL);
            let message = vm.new_str(message.as_bytes());
            vm.push(Value::str(message));
            Ok(2)
        }
    }
}

/// An object file with the bytes under the symbol, as read-only data.
fn file(arch: &Arch, os: &[u8], symbol: &[u8], bytes: &[u8]) -> Result<Vec<u8>, String> {
    let format = match os {
        b"windows" => BinaryFormat::Coff,
        b"osx" => BinaryFormat::MachO,
        _ => BinaryFormat::Elf,
    };
    let supported = match format {
        BinaryFormat::Coff => matches!(arch.name, "x86" | "x64" | "arm" | "arm64"),
        BinaryFormat::MachO => matches!(arch.name, "x64" | "arm64"),
        _ => true,
    };
    if !supported {
        return Err(format!("unsupported architecture for {}", if format == BinaryFormat::Coff { "Windows" } else { "OSX" }));
    }
    let mut object = Object::new(format, arch.arch, arch.endian);
    match format {
        BinaryFormat::Coff => export(&mut object, symbol),
        BinaryFormat::Elf => {
            object.flags = FileFlags::Elf { os_abi: os_abi(os), abi_version: 0, e_flags: arch.flags };
            object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        }
        _ => {}
    }
    let section = object.section_id(StandardSection::ReadOnlyData);
    define(&mut object, section, symbol, bytes);
    object.write().map_err(|e| e.to_string())
}

fn os_abi(os: &[u8]) -> u8 {
    match os {
        b"freebsd" => elf::ELFOSABI_FREEBSD,
        b"netbsd" => elf::ELFOSABI_NETBSD,
        b"openbsd" => elf::ELFOSABI_OPENBSD,
        b"solaris" => elf::ELFOSABI_SOLARIS,
        _ => elf::ELFOSABI_NONE,
    }
}

/// Tells a linker for Windows to export the symbol.
fn export(object: &mut Object, symbol: &[u8]) {
    let section = object.add_section(Vec::new(), b".drectve".to_vec(), SectionKind::Linker);
    object.append_section_data(section, &[b" /EXPORT:", symbol, b",DATA "].concat(), 1);
}

fn define(object: &mut Object, section: SectionId, name: &[u8], bytes: &[u8]) {
    let symbol = object.add_symbol(Symbol {
        name: name.to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Data,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    });
    object.add_symbol_data(symbol, section, bytes, 1);
}
