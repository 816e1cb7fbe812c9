//! The layers: what each crate of the workspace may depend on, who may name the code generator, and circles of files in a crate.

#[path = "layering/modules.rs"]
mod modules;
#[path = "sources/mod.rs"]
mod sources;

use sources::{read, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates by folder, each with the crates of the project that it depends on.
const ARROWS: [(&str, &[&str]); 12] = [
    ("vm", &[]),
    ("recorder", &["perilune-vm"]),
    ("backend", &["perilune-recorder", "perilune-vm"]),
    ("jit", &["perilune-backend", "perilune-recorder", "perilune-vm"]),
    ("observe", &["perilune-jit", "perilune-recorder", "perilune-vm"]),
    ("derive", &[]),
    ("capi", &["perilune-jit", "perilune-vm"]),
    ("capi/library", &["perilune-capi"]),
    (".", &["perilune-capi", "perilune-derive", "perilune-jit", "perilune-observe", "perilune-tools", "perilune-vm"]),
    ("tools", &["perilune-observe"]),
    ("tests/fuzz", &["perilune", "perilune-recorder", "perilune-tools", "perilune-vm"]),
    ("tests/generated", &["perilune", "perilune-jit", "perilune-recorder", "perilune-vm"]),
];

/// The names under `[dependencies]` and its like (for a target, to build), by manifest; dependencies of tests as well if `dev`.
fn dependencies(manifest: &str, dev: bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            // `[dependencies.name]` names one in the header.
            let mut parts = section.rsplit('.');
            let (last, before) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let kind = |name: &str| name == "dependencies" || name == "build-dependencies" || dev && name == "dev-dependencies";
            inside = kind(last) && !section.starts_with("workspace");
            if kind(before) && !section.starts_with("workspace") {
                names.insert(last.to_owned());
            }
        } else if inside
            && let Some((name, _)) = line.split_once('=')
            && !line.starts_with('#')
        {
            let name = name.trim().split('.').next().unwrap_or_default();
            names.insert(name.trim_matches('"').to_owned());
        }
    }
    names
}

fn manifests() -> BTreeMap<&'static str, String> {
    let read = |folder: &str| read(&root().join(folder).join("Cargo.toml"));
    ARROWS.iter().map(|(folder, _)| (*folder, read(folder))).collect()
}

#[test]
fn reads_manifests() {
    let text = "[package]\nname = \"x\"\n[dependencies]\na = \"1\"\nb.workspace = true\n# c = 1\n[dependencies.d]\nversion = \"1\"\n\
                [target.'cfg(unix)'.dependencies]\ne = { path = \"e\" }\n[dev-dependencies]\nf = \"1\"\n[lints]\nworkspace = true\n";
    let names = |dev| dependencies(text, dev).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(names(false), "a b d e");
    assert_eq!(names(true), "a b d e f");
}

#[test]
fn all_crates_are_known() {
    let root = manifests()["."].clone();
    let members = root.lines().find_map(|l| l.strip_prefix("members = ")).expect("members of the workspace");
    let members: BTreeSet<&str> = members.split('"').skip(1).step_by(2).collect();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(folder, _)| *folder).filter(|f| *f != ".").collect();
    assert_eq!(members, known);
}

#[test]
fn arrows_point_one_way() {
    let manifests = manifests();
    for (folder, allowed) in ARROWS {
        // Dependencies of tests count: a test that needs a higher layer belongs there. The tests of `perilune` name it for its features.
        let found = dependencies(&manifests[folder], true);
        let others = |n: &&str| n.starts_with("perilune") && (folder, *n) != (".", "perilune");
        let found: Vec<&str> = found.iter().map(String::as_str).filter(others).collect();
        assert_eq!(found, allowed, "dependencies of {folder}");
    }
}

#[test]
fn one_crate_knows_the_code_generator() {
    for (folder, manifest) in manifests() {
        let found = dependencies(&manifest, true);
        let knows = found.iter().any(|n| n.contains("cranelift"));
        assert_eq!(knows, folder == "backend", "{folder}");
    }
}

/// A crate whose library has no unit tests is not compiled for them, and one that has some is.
#[test]
fn unit_tests_are_run() {
    for (folder, manifest) in manifests() {
        let mut files = Vec::new();
        sources(&root().join(folder).join("src"), &mut files);
        let has_some = files.iter().any(|f| read(f).contains("#[test]"));
        let lib = manifest.split_once("\n[lib]").map_or("", |(_, rest)| rest.split("\n[").next().unwrap_or_default());
        assert_eq!(has_some, !lib.contains("\ntest = false"), "unit tests in {folder}, and `test = false` in its manifest");
    }
}

/// In comments it may be named.
#[test]
fn one_crate_names_the_code_generator() {
    let mut files = Vec::new();
    for folder in ["vm", "recorder", "jit", "observe", "tools", "src", "tests", "benches"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 100);
    let this = root().join(file!());
    for file in files.iter().filter(|f| **f != this) {
        let text = std::fs::read_to_string(file).expect("a readable file");
        for (i, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            assert!(!code.to_ascii_lowercase().contains("cranelift"), "{}:{}", file.display(), i + 1);
        }
    }
}

/// A circle of files that reaches beyond one folder, or is large.
struct Circle {
    /// The file that is the root of the crate.
    root: &'static str,
    /// A file of the circle.
    file: &'static str,
    /// How many files there are, and may be.
    most: usize,
    /// Why they depend on each other.
    #[allow(dead_code, reason = "for readers")]
    reason: &'static str,
}

const CIRCLES: [Circle; 6] = [
    Circle {
        root: "recorder/src/lib.rs",
        file: "opt/fold/mod.rs",
        most: 10,
        reason: "the rules of FOLD: one file for each family of instructions, under one contract",
    },
    Circle {
        root: "vm/src/lib.rs",
        file: "state/mod.rs",
        most: 31,
        reason: "the state of the VM: values point to objects, functions of libraries, a compiler and the host are called with the VM, which \
                 has the heap of the objects",
    },
    Circle {
        root: "vm/src/lib.rs",
        file: "interp/call.rs",
        most: 16,
        reason: "the interpreter: its handlers go on to one another, from calls to metamethods and back, and from loops to compiled code",
    },
    Circle {
        root: "jit/src/lib.rs",
        file: "engine.rs",
        most: 12,
        reason: "the state of the compiler: its parts are given the whole of it to work on",
    },
    Circle {
        root: "capi/src/lib.rs",
        file: "state.rs",
        most: 2,
        reason: "a state as C sees it, and the allocator that it may have",
    },
    Circle {
        root: "src/lib.rs",
        file: "api/lua.rs",
        most: 40,
        reason: "the embedding API: handles, conversions and the state make each other",
    },
];
const ROOTS: [&str; 9] = [
    "capi/src/lib.rs",
    "vm/src/lib.rs",
    "recorder/src/lib.rs",
    "backend/src/lib.rs",
    "jit/src/lib.rs",
    "observe/src/lib.rs",
    "tools/src/lib.rs",
    "src/lib.rs",
    "src/main.rs",
];
/// A folder is a concept: its files may refer to each other, if they are so few.
const MOST_IN_A_FOLDER: usize = 8;

#[test]
fn circles_of_files_are_concepts() {
    let mut known = BTreeSet::new();
    for crate_root in ROOTS {
        let graph = modules::read(&root().join(crate_root));
        for circle in graph.circles() {
            let files: Vec<&str> = circle.iter().map(|f| graph.files[*f].as_str()).collect();
            let folder = files[0].rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
            if files.len() <= MOST_IN_A_FOLDER && folder.is_some_and(|folder| files.iter().all(|f| f.starts_with(&folder))) {
                continue;
            }
            let entry = CIRCLES.iter().find(|c| c.root == crate_root && files.contains(&c.file) && files.len() <= c.most);
            let Some(entry) = entry else { panic!("{crate_root}: {} files are a circle:{}", files.len(), graph.show(&circle)) };
            assert_eq!(
                files.len(),
                entry.most,
                "{crate_root}: the circle of {} has become smaller: say so in the list",
                entry.file
            );
            known.insert(entry.file);
        }
    }
    for Circle { root, file, .. } in &CIRCLES {
        assert!(known.contains(file), "{file} of {root} is in no circle any more: take it off the list");
    }
}

/// Circles through `use`, re-exports, `super` and inline modules are found; calls of methods and tests make none.
#[test]
fn circles_are_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("circles");
    let write = |file: &str, text: &str| {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    write("lib.rs", "mod a; mod b; mod c; pub mod d; pub use d::inner::Deep;");
    write("a.rs", "use crate::b; pub struct A; fn f() { b::g(); }");
    write("b.rs", "pub fn g() -> crate::Deep { crate::Deep(super::c::K) }");
    write("c.rs", "pub const K: u8 = 0; #[cfg(test)] mod tests { use crate::a::A; }");
    write("d/mod.rs", "pub mod inner; mod method;");
    write("d/inner.rs", "pub struct Deep(pub u8); impl Deep { fn a(&self) -> crate::a::A { crate::a::A } }");
    write("d/method.rs", "use super::inner::Deep; impl Deep { fn m(&self) { vec![self.a()]; } }");
    let graph = modules::read(&folder.join("lib.rs"));
    let circles = graph.circles();
    let names: Vec<Vec<&str>> = circles.iter().map(|c| c.iter().map(|f| graph.files[*f].as_str()).collect()).collect();
    assert_eq!(names, [["a.rs", "b.rs", "d/inner.rs"]]);
}
