//! The interpreter's handlers keep what they need in the registers that they have been given: none of the hot ones uses the native stack, by
//! which each execution would cost a few more instructions. `docs/testing.md`
//!
//! Only builds without debug assertions have such handlers, so this reads the command as `cargo build --release` makes it:
//! `cargo test --test handlers -- --ignored`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod command;

use perilune_vm::bc::Op;
use std::collections::BTreeMap;

/// Bytecodes whose handlers may use the native stack, by what they do: they call a function, or need more registers than there are.
const OTHERS: [(&str, &[Op]); 8] = [
    ("makes an object", &[Op::FNEW, Op::TNEW, Op::TDUP, Op::CAT]),
    ("calls a function for the result", &[Op::POW, Op::LEN, Op::TSETM, Op::UCLO]),
    ("divides, which takes two registers that are in use", &[Op::MODVN, Op::MODNV, Op::MODVV]),
    (
        "calls a builtin or compiled code",
        &[Op::FUNCC, Op::FUNCCW, Op::JFORI, Op::JFORL, Op::JITERL, Op::JLOOP, Op::JFUNCF, Op::JFUNCV, Op::STITCH, Op::FASTFN],
    ),
    ("moves any number of values", &[Op::VARG, Op::FUNCV, Op::IFUNCV, Op::ISNEXT, Op::ITERN, Op::RET, Op::RETM]),
    ("checks more of a table than there are registers for", &[Op::GSET, Op::TSETS]),
    ("changes the state of two coroutines", &[Op::RESUME, Op::WRAP, Op::YIELD]),
    ("only goes to another handler", &[Op::ISTYPE, Op::ISNUM, Op::KCDATA, Op::TGETR, Op::TSETR]),
];

/// The functions of an executable, by name: their code. Several have the same name if a generic function has several instances.
fn functions(elf: &[u8]) -> BTreeMap<String, Vec<&[u8]>> {
    let int = |at: usize, len: usize| elf[at..at + len].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
    let (sections, size, count) = (int(0x28, 8), int(0x3a, 2), int(0x3c, 2));
    let section = |i: usize| sections + i * size;
    let mut found = BTreeMap::<String, Vec<&[u8]>>::new();
    // Section headers: type at 4, address at 16, offset at 24, size at 32, linked section at 40. A table of symbols is type 2.
    for table in (0..count).map(section).filter(|at| int(at + 4, 4) == 2) {
        let names = int(section(int(table + 40, 4)) + 24, 8);
        // Symbols: name at 0, kind at 4, section at 6, address at 8, size at 16. A function is kind 2.
        for symbol in (0..int(table + 32, 8) / 24).map(|i| int(table + 24, 8) + 24 * i).filter(|at| elf[at + 4] & 15 == 2) {
            let (home, length) = (section(int(symbol + 6, 2)), int(symbol + 16, 8));
            if length == 0 {
                continue;
            }
            let at = int(home + 24, 8) + int(symbol + 8, 8) - int(home + 16, 8);
            let name = &elf[names + int(symbol, 4)..];
            let name = &name[..name.iter().position(|byte| *byte == 0).expect("an end")];
            found.entry(String::from_utf8_lossy(name).into_owned()).or_default().push(&elf[at..at + length]);
        }
    }
    found
}

/// What a handler does with the native stack: its instructions that do.
fn uses_of_stack(code: &[u8]) -> Vec<String> {
    let lines = perilune_jit::stdlib::lines(code, 0);
    lines
        .into_iter()
        .map(|line| line.text)
        .filter(|text| ["push", "pop", "call", "rsp"].iter().any(|word| text.contains(word)))
        .collect()
}

/// The driver of calls in tail position jumps to the next handler; that of the loop returns. Both jump to known handlers, some of them by an
/// address that lies beside the code.
fn is_in_tail(code: &[u8]) -> bool {
    let lines = perilune_jit::stdlib::lines(code, 0);
    lines.iter().any(|line| line.target.is_none() && line.text.starts_with("jmp") && !line.text.contains("rip"))
}

#[test]
#[ignore = "needs the release build"]
fn hot_handlers_save_no_registers() {
    let elf = std::fs::read(command::release_build()).expect("the executable is read");
    let functions = functions(&elf);
    let mut wrong = Vec::new();
    for op in Op::ALL.iter().filter(|op| !OTHERS.iter().any(|(_, ops)| ops.contains(op))) {
        // Names are mangled: each part has its length in front.
        let part = format!("{}{}17h", op.name().len(), op.name());
        let instances =
            functions.iter().filter(|(name, _)| name.contains("6interp") && name.contains(&part)).flat_map(|(_, code)| code);
        let mut seen = false;
        for code in instances.filter(|code| is_in_tail(code)) {
            seen = true;
            let uses = uses_of_stack(code);
            if !uses.is_empty() {
                wrong.push(format!("{}: {}", op.name(), uses.join("; ")));
            }
        }
        if !seen {
            wrong.push(format!("{}: no handler found", op.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
