//! What the crates depend on: each is explained in `docs/dependencies.md`, and under a licence that `deny.toml` allows.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("a readable file")
}

/// What cargo knows of all packages.
fn packages() -> Vec<Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    let out = command.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let out = out.expect("cargo starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let data: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    data["packages"].as_array().expect("packages").clone()
}

/// The strings in the list `name = [...]` of a TOML file.
fn list(text: &str, name: &str) -> Vec<String> {
    let start = text.find(&format!("{name} = [")).expect("the list is there");
    let end = text[start..].find(']').expect("the list ends") + start;
    text[start..end].split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Does an expression of licences hold with those that are allowed? `AND` binds more tightly than `OR`; `/` is an old form of `OR`.
fn holds(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    expression
        .split(" OR ")
        .any(|all| all.split(" AND ").all(|one| allowed.iter().any(|a| a == one.trim().trim_matches(['(', ')']))))
}

#[test]
fn licences_are_allowed() {
    let text = read("deny.toml");
    let allowed = list(&text, "allow");
    assert!(allowed.len() > 5 && holds("MIT/Apache-2.0", &allowed) && !holds("GPL-3.0-only", &allowed));
    let exceptions = list(&text, "exceptions");
    let packages = packages();
    assert!(packages.len() > 50);
    for p in &packages {
        let (name, licence) = (p["name"].as_str().expect("a name"), p["license"].as_str().unwrap_or_default());
        // An alternative in parentheses with something to it: both parts are in the list.
        let known = holds(licence, &allowed) || licence == "(MIT OR Apache-2.0) AND Unicode-3.0";
        let excepted = exceptions.first().is_some_and(|e| e == name) && exceptions[1..].iter().any(|e| e == licence);
        assert!(known || excepted, "{name}: {licence}");
        let source = p["source"].as_str();
        assert!(source.is_none_or(|s| s.starts_with("registry+")), "{name}: {source:?}");
    }
}

#[test]
fn each_is_explained() {
    let text = read("docs/dependencies.md");
    let mut direct = BTreeSet::new();
    for p in packages().iter().filter(|p| p["source"].is_null()) {
        for d in p["dependencies"].as_array().expect("dependencies") {
            direct.insert(d["name"].as_str().expect("a name").to_owned());
        }
    }
    let unexplained: Vec<&String> =
        direct.iter().filter(|n| !n.starts_with("perilune") && !text.contains(&format!("`{n}`"))).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    assert!(direct.contains("clap") && direct.contains("libc"));
}

/// A library that asks for one version only keeps others from being used in the same program.
#[test]
fn versions_are_not_pinned() {
    for p in packages().iter().filter(|p| p["source"].is_null()) {
        for d in p["dependencies"].as_array().expect("dependencies") {
            let version = d["req"].as_str().expect("a version");
            assert!(!version.starts_with('='), "{} of {}: {version}", d["name"], p["name"]);
        }
    }
}
