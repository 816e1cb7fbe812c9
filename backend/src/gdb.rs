//! gdb's interface to code that is made at run time: an ELF file in memory for each piece of code, with its name, its lines and how to find its
//! caller. gdb has a breakpoint in `__jit_debug_register_code` and follows the list at `__jit_debug_descriptor` (its manual, "JIT Compilation
//! Interface").
#![allow(unsafe_code, reason = "gdb reads a list at a symbol that it knows by name; it is changed with a lock held")]

use crate::perf::Symbol;
use core::ptr::null_mut;
use gimli::constants as dw;
use gimli::write::{
    Address, AttributeValue, CallFrameInstruction, CommonInformationEntry, DebugFrame, DwarfUnit, EndianVec,
    FrameDescriptionEntry, FrameTable, LineProgram, LineString, Sections,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian, Register};
use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use std::sync::{Mutex, PoisonError};

/// The bit of this interface, beside those of `perf`.
pub const GDB: u32 = 4;

/// An entry of the list: a file in memory that describes one piece of code.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    size: u64,
}

/// The list, and what has just happened to it.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

/// Values of [`Descriptor::action`].
const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

// Weak, since a program may have another compiler with this interface in it (LLVM's), and they share the list; hidden, since a library does not
// export them. gdb finds them in the table of symbols.
core::arch::global_asm!(
    ".pushsection .text.__jit_debug_register_code,\"ax\",%progbits",
    ".weak __jit_debug_register_code",
    ".hidden __jit_debug_register_code",
    ".type __jit_debug_register_code,%function",
    "__jit_debug_register_code:",
    "ret",
    ".size __jit_debug_register_code, . - __jit_debug_register_code",
    ".popsection",
    ".pushsection .data.__jit_debug_descriptor,\"aw\",%progbits",
    ".balign 8",
    ".weak __jit_debug_descriptor",
    ".hidden __jit_debug_descriptor",
    ".type __jit_debug_descriptor,%object",
    "__jit_debug_descriptor:",
    // The version, the action, and two addresses.
    ".long 1, 0",
    ".quad 0, 0",
    ".size __jit_debug_descriptor, . - __jit_debug_descriptor",
    ".popsection",
);

// SAFETY: both are defined above with these types.
unsafe extern "C" {
    /// The list, by the name that gdb knows it by.
    static mut __jit_debug_descriptor: Descriptor;
    /// gdb stops here and reads the list.
    fn __jit_debug_register_code();
}

static LOCK: Mutex<()> = Mutex::new(());

/// A piece of code that gdb knows; it forgets it when this is dropped.
#[derive(Debug)]
pub struct Registration {
    entry: *mut Entry,
    /// What the entry refers to.
    _file: Vec<u8>,
}

/// Tells gdb of a piece of code. `None` if it cannot be described.
pub fn register(symbol: &Symbol<'_>) -> Option<Registration> {
    let file = file(symbol)?;
    let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the lock is held. Entries are boxes of live registrations.
    let entry = unsafe {
        let list = &raw mut __jit_debug_descriptor;
        let first = (*list).first;
        let entry =
            Box::into_raw(Box::new(Entry { next: first, previous: null_mut(), file: file.as_ptr(), size: file.len() as u64 }));
        if !first.is_null() {
            (*first).previous = entry;
        }
        (*list).first = entry;
        announce(list, REGISTER, entry);
        entry
    };
    Some(Registration { entry, _file: file })
}

/// # Safety
/// The lock is held.
unsafe fn announce(list: *mut Descriptor, action: u32, entry: *mut Entry) {
    // SAFETY: the caller holds the lock; the function does nothing.
    unsafe {
        (*list).relevant = entry;
        (*list).action = action;
        __jit_debug_register_code();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is held. The entry was made by `register`, and its neighbours are those of live registrations.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            let (next, previous) = ((*self.entry).next, (*self.entry).previous);
            match previous.is_null() {
                true => (*list).first = next,
                false => (*previous).next = next,
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
            announce(list, UNREGISTER, self.entry);
            drop(Box::from_raw(self.entry));
        }
    }
}

/// A section of the file.
struct Section {
    name: &'static str,
    data: Vec<u8>,
}

/// The ELF file: a section for the code, without contents, at its address, and sections with what DWARF says of it.
fn file(symbol: &Symbol<'_>) -> Option<Vec<u8>> {
    let mut sections = debug_sections(symbol)?;
    sections.push(Section { name: ".debug_frame", data: frames(symbol).ok()? });
    let mut bytes = Vec::new();
    let mut w = Writer::new(object::Endianness::Little, true, &mut bytes);
    w.reserve_file_header();
    w.reserve_null_section_index();
    let text_name = w.add_section_name(b".text");
    let text = w.reserve_section_index();
    let mut placed: Vec<(StringId, usize)> = Vec::new();
    for s in &sections {
        let name = w.add_section_name(s.name.as_bytes());
        w.reserve_section_index();
        placed.push((name, w.reserve(s.data.len(), 1)));
    }
    let name = w.add_string(symbol.name.as_bytes());
    w.reserve_null_symbol_index();
    w.reserve_symbol_index(Some(text));
    w.reserve_symtab_section_index();
    w.reserve_strtab_section_index();
    w.reserve_shstrtab_section_index();
    w.reserve_symtab();
    w.reserve_strtab();
    w.reserve_shstrtab();
    w.reserve_section_headers();
    let machine = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };
    let header = FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_REL,
        e_machine: machine,
        e_entry: 0,
        e_flags: 0,
    };
    w.write_file_header(&header).ok()?;
    sections.iter().for_each(|s| w.write(&s.data));
    let size = symbol.code.len() as u64;
    w.write_null_symbol();
    w.write_symbol(&Sym {
        name: Some(name),
        section: Some(text),
        st_info: elf::STB_GLOBAL << 4 | elf::STT_FUNC,
        st_other: elf::STV_DEFAULT,
        st_shndx: 0,
        st_value: 0,
        st_size: size,
    });
    w.write_strtab();
    w.write_shstrtab();
    w.write_null_section_header();
    let plain = SectionHeader {
        name: Some(text_name),
        sh_type: elf::SHT_NOBITS,
        sh_flags: u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR),
        sh_addr: symbol.address as u64,
        sh_offset: 0,
        sh_size: size,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 1,
        sh_entsize: 0,
    };
    w.write_section_header(&plain);
    for (s, (name, offset)) in sections.iter().zip(placed) {
        let (sh_offset, sh_size) = (offset as u64, s.data.len() as u64);
        let sh_type = elf::SHT_PROGBITS;
        w.write_section_header(&SectionHeader {
            name: Some(name),
            sh_type,
            sh_flags: 0,
            sh_addr: 0,
            sh_offset,
            sh_size,
            ..plain
        });
    }
    // No symbol is local but the null symbol.
    w.write_symtab_section_header(1);
    w.write_strtab_section_header();
    w.write_shstrtab_section_header();
    Some(bytes)
}

/// Text that DWARF can hold: not empty, without NUL.
fn text(s: &str) -> Vec<u8> {
    let s: Vec<u8> = s.bytes().filter(|b| *b != 0).collect();
    if s.is_empty() { b"?".to_vec() } else { s }
}

/// The sections that say which function and which lines the code is.
fn debug_sections(symbol: &Symbol<'_>) -> Option<Vec<Section>> {
    // The version that every gdb reads.
    let encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };
    let begin = Address::Constant(symbol.address as u64);
    let size = symbol.code.len() as u64;
    let folder = std::env::current_dir().map_or_else(|_| ".".into(), |d| d.to_string_lossy().into_owned());
    let first = symbol.parts.first().map_or("?", |p| &p.file);
    let (folder, first) = (text(&folder), text(first));
    let mut lines = LineProgram::new(
        encoding,
        LineEncoding::default(),
        LineString::String(folder.clone()),
        None,
        LineString::String(first.clone()),
        None,
    );
    let here = lines.default_directory();
    lines.begin_sequence(Some(begin));
    for part in &symbol.parts {
        let file = lines.add_file(LineString::String(text(&part.file)), here, None);
        let row = lines.row();
        (row.address_offset, row.file, row.line) = (part.offset as u64, file, u64::from(part.line));
        lines.generate_row();
    }
    lines.end_sequence(size);
    let mut dwarf = DwarfUnit::new(encoding);
    dwarf.unit.line_program = lines;
    let root = dwarf.unit.root();
    let function = dwarf.unit.add(root, dw::DW_TAG_subprogram);
    for (id, name) in [(root, &first), (function, &text(&symbol.name))] {
        let entry = dwarf.unit.get_mut(id);
        entry.set(dw::DW_AT_name, AttributeValue::String(name.clone()));
        entry.set(dw::DW_AT_low_pc, AttributeValue::Address(begin));
        entry.set(dw::DW_AT_high_pc, AttributeValue::Udata(size));
    }
    let root = dwarf.unit.get_mut(root);
    root.set(dw::DW_AT_comp_dir, AttributeValue::String(folder));
    root.set(dw::DW_AT_stmt_list, AttributeValue::LineProgramRef);
    let mut written = Sections::new(EndianVec::new(LittleEndian));
    dwarf.write(&mut written).ok()?;
    let mut sections = Vec::new();
    written
        .for_each(|id, data| {
            if !data.slice().is_empty() {
                sections.push(Section { name: id.name(), data: data.slice().to_vec() });
            }
            Ok::<(), gimli::write::Error>(())
        })
        .ok()?;
    Some(sections)
}

/// How the caller is found: all our code keeps a frame pointer ([`crate::isa`]).
fn frames(symbol: &Symbol<'_>) -> gimli::write::Result<Vec<u8>> {
    // The numbers of DWARF for the frame pointer and for where the return address is.
    let (frame_pointer, return_address) = if cfg!(target_arch = "aarch64") { (29, 30) } else { (6, 16) };
    let (frame_pointer, return_address) = (Register(frame_pointer), Register(return_address));
    let encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };
    let mut cie = CommonInformationEntry::new(encoding, 1, -8, return_address);
    cie.add_instruction(CallFrameInstruction::Cfa(frame_pointer, 16));
    cie.add_instruction(CallFrameInstruction::Offset(frame_pointer, -16));
    cie.add_instruction(CallFrameInstruction::Offset(return_address, -8));
    let mut table = FrameTable::default();
    let cie = table.add_cie(cie);
    table.add_fde(cie, FrameDescriptionEntry::new(Address::Constant(symbol.address as u64), symbol.code.len() as u32));
    let mut section = DebugFrame(EndianVec::new(LittleEndian));
    table.write_debug_frame(&mut section)?;
    Ok(section.0.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::Part;

    /// Addresses of the code that gdb knows, as it finds them: in the header of the first section, which is after the null section.
    fn known() -> Vec<u64> {
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let mut found = Vec::new();
        // SAFETY: the lock is held; files live as long as their entries.
        unsafe {
            let list = &raw const __jit_debug_descriptor;
            let mut entry = (*list).first;
            while !entry.is_null() {
                let file = core::slice::from_raw_parts((*entry).file, (*entry).size as usize);
                assert_eq!(file[..4], *b"\x7fELF");
                let sections = word(file, 40) as usize;
                found.push(word(file, sections + 64 + 16));
                entry = (*entry).next;
            }
        }
        found
    }

    #[test]
    fn code_is_known_until_it_goes() {
        let parts = vec![Part { offset: 4, file: "x.lua".into(), line: 3, name: String::new() }];
        let symbol = |address| Symbol { address, code: &[0; 48], name: "trace 1".into(), parts: parts.clone() };
        let [one, two, three] = [0x1000, 0x2000, 0x3000].map(|at| register(&symbol(at)).unwrap());
        assert_eq!(known(), [0x3000, 0x2000, 0x1000]);
        drop(two);
        assert_eq!(known(), [0x3000, 0x1000]);
        drop(three);
        assert_eq!(known(), [0x1000]);
        drop(one);
        assert!(known().is_empty());
    }
}
