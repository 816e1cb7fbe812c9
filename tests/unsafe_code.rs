//! Where unsafe code may be: crates deny it, modules that need it allow it with their invariant as the reason, and `docs/unsafe.md`
//! lists these modules. Safe functions dereference no raw pointers that they are given.

#[path = "sources/mod.rs"]
mod files;
#[path = "unsafe_code/pointers.rs"]
mod pointers;

use files::{read, root, sources};
use std::path::PathBuf;

/// Folders with the sources of the crates whose modules are listed.
const SOURCES: [&str; 7] = ["vm/src", "recorder/src", "backend/src", "jit/src", "observe/src", "capi/src", "src"];
/// Crate roots, each with the attribute that it has.
const ROOTS: [(&str, &str); 11] = [
    ("vm/src/lib.rs", "#![deny(unsafe_code)]"),
    ("recorder/src/lib.rs", "#![deny(unsafe_code)]"),
    ("backend/src/lib.rs", "#![deny(unsafe_code)]"),
    ("jit/src/lib.rs", "#![deny(unsafe_code)]"),
    ("observe/src/lib.rs", "#![deny(unsafe_code)]"),
    ("capi/src/lib.rs", "#![deny(unsafe_code)]"),
    ("capi/library/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("src/lib.rs", "#![deny(unsafe_code)]"),
    ("src/main.rs", "#![deny(unsafe_code)]"),
    ("tools/src/lib.rs", "#![forbid(unsafe_code)]"),
    ("derive/src/lib.rs", "#![forbid(unsafe_code)]"),
];
const DOCUMENT: &str = "docs/unsafe.md";

/// The reason of an inner attribute that allows unsafe code, if the text has one.
fn reason(text: &str) -> Option<String> {
    let inside = text.split("#![").skip(1).find_map(|a| {
        let list = a.strip_prefix("allow(").or(a.strip_prefix("expect("))?;
        list.trim_start().strip_prefix("unsafe_code,")
    })?;
    let reason = inside.trim_start().strip_prefix("reason = \"")?;
    Some(reason[..reason.find('"')?].to_owned())
}

/// The rows of the table that the document should have: module and invariant.
fn rows() -> Vec<(String, String)> {
    let mut files = Vec::new();
    SOURCES.iter().for_each(|s| sources(&root().join(s), &mut files));
    files.retain(|f| f.components().all(|c| !matches!(c.as_os_str().to_str(), Some("tests" | "tests.rs"))));
    files.sort();
    let row = |file: &PathBuf| {
        let name = file.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        Some((name, reason(&read(file))?))
    };
    files.iter().filter_map(row).collect()
}

#[test]
fn crates_deny_it() {
    for (file, attribute) in ROOTS {
        assert!(read(&root().join(file)).lines().any(|l| l == attribute), "{file} lacks {attribute}");
    }
}

/// `BLESS=1` writes the table.
#[test]
fn modules_with_unsafe_code_are_listed() {
    let rows = rows();
    assert!(rows.len() > 50, "{} modules allow unsafe code", rows.len());
    let file = root().join(DOCUMENT);
    let text = read(&file);
    let start = text.find("| Module |").expect("a table");
    let table: String = rows.iter().map(|(name, why)| format!("| `{name}` | {why} |\n")).collect();
    let expected = format!("{}| Module | Invariant |\n|---|---|\n{table}", &text[..start]);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &expected).expect("a writable file");
        return;
    }
    assert_eq!(text, expected, "{DOCUMENT} differs from the attributes in the code: BLESS=1 cargo test --test unsafe_code");
}

/// Safe functions that tell the address sanitizer about memory, and do not look at it.
const NO_ACCESS: [&str; 5] = [
    "vm/src/gc/poison.rs: forbid",
    "vm/src/gc/poison.rs: allow",
    "vm/src/gc/poison.rs: is_forbidden",
    "vm/src/gc/poison.rs: mapped",
    "vm/src/gc/poison.rs: unmapped",
];

#[test]
fn safe_functions_use_no_raw_pointers() {
    let mut files = Vec::new();
    SOURCES.iter().for_each(|s| sources(&root().join(s), &mut files));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        found.extend(pointers::functions(&read(&file)).into_iter().map(|function| format!("{name}: {function}")));
    }
    assert_eq!(found, NO_ACCESS, "make them `unsafe fn`, or give them a reference");
}

#[test]
fn uses_of_raw_pointers_are_found() {
    let text = "fn a(p: *const u8) -> u8 { unsafe { *p } } unsafe fn b(p: *mut u8) { unsafe { *p = 1 } } fn c(p: *mut u8) -> bool { p.is_null() }
                struct S; impl S { fn d(&self, p: *mut u8) { if !p.is_null() { unsafe { f(1, p) } } } fn e(&self, q: *mut u8) { unsafe { f(1, 2) } } }";
    assert_eq!(pointers::functions(text), ["a", "d"]);
}
