//! `docs/coverage.md` is what the table of builtins says (`BLESS=1` writes it).

use perilune_vm::stdlib::{Builtin, OnTrace};
use std::fmt::Write as _;
use std::path::Path;

/// Does a builtin with this treatment belong to a section?
type Is = fn(OnTrace) -> bool;

fn page() -> String {
    let mut page = String::from(
        "# Builtins on traces\n\n\
         Made from the table of builtins (`vm/src/stdlib/list.rs`) by `BLESS=1 cargo test --test coverage`.\n\n\
         Every bytecode is recorded. `tests/lua/events/bytecodes.lua` has a loop for each bytecode,\n\
         `tests/lua/events/builtins.lua` one for each builtin.\n\n\
         Native functions that are not in the table are stitched around (those of `package` and of the `jit` library), or called (those\n\
         that a program which embeds Perilune has made).\n",
    );
    let (record, call): (Is, Is) = (|o| matches!(o, OnTrace::Record(_)), |o| o == OnTrace::Call);
    let (enter, stitch): (Is, Is) = (|o| o == OnTrace::Enter, |o| o == OnTrace::Stitch);
    let end: Is = |o| o == OnTrace::End;
    let kinds = [
        (record, "Compiled", "The recorder emits IR for them. With arguments of kinds that it does not know, they are called."),
        (call, "Called", "The trace stores its state, calls them, and continues."),
        (
            enter,
            "Entered",
            "The function that they call becomes part of the trace. Where that is not possible, they are stitched around.",
        ),
        (stitch, "Stitched around", "The trace ends before the call, and another one starts after it."),
        (end, "Ends", "The trace ends before the call, which does not return."),
    ];
    for (belongs, title, meaning) in kinds {
        let _ = write!(page, "\n## {title}\n\n{meaning}\n\n");
        for b in Builtin::ALL.iter().filter(|b| belongs(b.on_trace())) {
            let _ = writeln!(page, "- `{}`", b.name());
        }
    }
    page
}

#[test]
fn the_page_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/coverage.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page()).expect("the page is written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the page"), page());
}
