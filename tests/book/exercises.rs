//! The worked examples of `docs/how-to.md`: patches that apply to the tree as it is. Built and tested with all of them applied:
//!
//! ```text
//! cargo test --test book -- --ignored exercises
//! ```

use crate::{files, read, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each exercise, with how many files it may touch.
const EXERCISES: [(&str, usize); 5] =
    [("bytecode", 5), ("fold-rule", 2), ("ir-instruction", 7), ("library-function", 3), ("math-sign", 4)];

fn patches() -> Vec<PathBuf> {
    files(&root().join("docs/exercises"), "patch")
}

fn apply(folder: &Path, arguments: &[&str], patches: &[PathBuf]) {
    let mut git = Command::new("git");
    // A copy lies inside of the repository, where git would ignore files that are not below the repository's own folders.
    git.env("GIT_CEILING_DIRECTORIES", folder.parent().expect("a folder around it"));
    let out = git.arg("apply").args(arguments).args(patches).current_dir(folder).output().expect("git starts");
    assert!(out.status.success(), "{patches:?}: {}", String::from_utf8_lossy(&out.stderr));
}

fn touched(patch: &str) -> BTreeSet<&str> {
    patch.lines().filter_map(|l| l.strip_prefix("+++ b/")).collect()
}

#[test]
fn each_is_explained() {
    let page = read(&root().join("docs/how-to.md"));
    let names: Vec<String> = patches().iter().map(|p| p.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(names, EXERCISES.map(|e| e.0));
    for (name, most) in EXERCISES {
        assert!(page.contains(&format!("exercises/{name}.patch")), "{name}");
        let patch = read(&root().join(format!("docs/exercises/{name}.patch")));
        let touched = touched(&patch);
        assert!((1..=most).contains(&touched.len()), "{name} touches {touched:?}");
        for file in touched {
            assert!(page.contains(&format!("`{file}`")), "the page does not say that {name} touches {file}");
        }
    }
}

#[test]
fn each_applies() {
    for patch in patches() {
        apply(root(), &["--check"], &[patch]);
    }
}

/// Copies a folder, but for what was built and the history.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a new folder");
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().expect("a name");
        if name == "target" || name == ".git" {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).expect("a copy");
        }
    }
}

#[test]
#[ignore = "builds the workspace anew: some minutes"]
fn all_of_them_work() {
    let tree = crate::command::folder("exercises");
    copy(root(), &tree);
    for patch in patches() {
        apply(&tree, &[], &[patch]);
    }
    let test = |bless: bool, arguments: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--quiet", "--offline"]).args(arguments).current_dir(&tree).env_remove("BLESS");
        // What was built without the patches is used again.
        cargo.env("CARGO_TARGET_DIR", root().join("target/exercises"));
        if bless {
            cargo.env("BLESS", "1");
        }
        let out = cargo.output().expect("cargo starts");
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{arguments:?}: {text}\n{}", String::from_utf8_lossy(&out.stderr));
    };
    // What the how-to says is blessed.
    for blessed in [&["--test", "coverage"][..], &["--test", "programs"], &["-p", "perilune-recorder", "--test", "filetests"]] {
        test(true, blessed);
    }
    let listed = read(&tree.join("tests/lua/lang/library_contents.out"));
    assert!(listed.contains(" sign ") && listed.contains(" startswith "), "{listed}");
    let rule = read(&tree.join("tests/ir/fold/bits-twice.ir"));
    assert!(rule.contains("; instructions: 6 -> 4"), "{rule}");
    let and_not = read(&tree.join("tests/ir/fold/bits-and-not.ir"));
    assert!(and_not.contains("int BANDN  0001  0002"), "{and_not}");
    test(false, &["--test", "events", "--test", "bytecode"]);
    test(false, &["-p", "perilune-recorder", "-p", "perilune-backend"]);
}
