//! Pages, links between them, and the files of the repository that they name.

use crate::{documents, files, pages, read, root, sources};
use std::collections::BTreeSet;

/// Folders at the top of the repository whose files documents name.
const FOLDERS: [&str; 11] =
    ["vm", "recorder", "backend", "jit", "observe", "tools", "src", "tests", "benches", "examples", "docs"];

/// The targets of the Markdown links of a text, those in code left out.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        in_block ^= line.starts_with("```");
        if in_block || line.starts_with("    ") {
            continue;
        }
        // Every other part is inside of backquotes.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for part in prose.split("](").skip(1) {
            found.push(part.split(')').next().unwrap_or_default().to_owned());
        }
    }
    found
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn has_anchor(page: &str, name: &str) -> bool {
    page.lines().filter(|l| l.starts_with('#')).any(|l| anchor(l.trim_start_matches('#')) == name)
}

#[test]
fn each_page_is_in_the_summary() {
    let listed: BTreeSet<String> = targets(&read(&root().join("docs/SUMMARY.md"))).into_iter().collect();
    let docs = root().join("docs");
    let pages = pages().into_iter().map(|p| p.strip_prefix(&docs).unwrap().to_string_lossy().into_owned());
    let pages = pages.filter(|p| p != "SUMMARY.md").collect();
    assert_eq!(listed, pages);
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    let mut broken = Vec::new();
    for path in documents() {
        let text = read(&path);
        for target in targets(&text) {
            if target.starts_with("https://") {
                continue;
            }
            count += 1;
            let (file, name) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let is_good = to.exists() && (name.is_empty() || has_anchor(&read(&to), name));
            if !is_good {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(count > 100, "{count} links");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The alternatives of `a/{b,c}.rs`.
fn alternatives(path: &str) -> Vec<String> {
    match (path.find('{'), path.find('}')) {
        (Some(open), Some(close)) if open < close => {
            path[open + 1..close].split(',').map(|part| format!("{}{}{}", &path[..open], part, &path[close + 1..])).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// Is it, in backquotes, the path of a file or folder of the repository? Not a path with a part in capitals, which stands for something.
fn is_path(code: &str) -> bool {
    let is_known = FOLDERS.iter().any(|f| code.strip_prefix(f).is_some_and(|rest| rest.starts_with('/')));
    let is_plain = code.chars().all(|c| c.is_ascii_alphanumeric() || "/._-{},*".contains(c));
    let is_placeholder = code.split(['/', '.']).any(|part| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase()));
    is_known && is_plain && !is_placeholder
}

/// The files that the exercises of the book add.
fn added() -> BTreeSet<String> {
    let patches = files(&root().join("docs/exercises"), "patch");
    let texts: Vec<String> = patches.iter().map(|p| read(p)).collect();
    let added = texts.iter().flat_map(|t| t.split("--- /dev/null\n+++ b/").skip(1));
    added.map(|t| t.lines().next().unwrap_or_default().to_owned()).collect()
}

fn exists(path: &str) -> bool {
    let path = root().join(path);
    match path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_prefix("*.")) {
        Some(ending) => path.parent().is_some_and(|folder| folder.is_dir() && !files(folder, ending).is_empty()),
        None => path.exists(),
    }
}

#[test]
fn files_that_pages_name_exist() {
    let added = added();
    assert!(!added.is_empty());
    let mut count = 0;
    let mut missing = Vec::new();
    for document in documents() {
        let text = read(&document);
        for code in text.lines().filter(|l| !l.starts_with("    ")).flat_map(|l| l.split('`').skip(1).step_by(2)) {
            if is_path(code) {
                count += 1;
                missing.extend(
                    alternatives(code).into_iter().filter(|p| !exists(p) && !added.contains(p)).map(|p| (document.clone(), p)),
                );
            }
        }
    }
    assert!(count > 100, "{count} paths");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The pages that comments of the code refer to are there.
#[test]
fn pages_that_comments_name_exist() {
    let mut all = Vec::new();
    for folder in FOLDERS.iter().filter(|f| **f != "docs") {
        sources(&root().join(folder), &mut all);
    }
    let mut missing = Vec::new();
    let mut count = 0;
    for path in all.iter().filter(|p| !p.starts_with(root().join("tests/book"))) {
        for part in read(path).split("docs/").skip(1) {
            let name = part.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next().unwrap_or_default();
            if let Some(end) = name.find(".md") {
                count += 1;
                let page = format!("docs/{}.md", &name[..end]);
                if !root().join(&page).exists() {
                    missing.push((path.clone(), page));
                }
            }
        }
    }
    assert!(count > 10, "{count} pages");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn paths_are_distinguished_from_code() {
    assert!(is_path("vm/src/bc/ops.rs") && is_path("tests/lua/events") && is_path("examples/lua/*.lua"));
    assert!(!is_path("math.sign") && !is_path("vm/src/FILE.rs") && !is_path("jit.util") && !is_path("src"));
    assert_eq!(alternatives("a/{b,c}.rs"), ["a/b.rs", "a/c.rs"]);
    assert!(exists("vm/src/*.rs") && !exists("vm/src/*.lua") && !exists("vm/src/none.rs"));
    assert_eq!(targets("see [a](b.md#c) and `[x](y)`\n    [d](e)\n"), ["b.md#c"]);
    assert!(has_anchor("# A title\n## What it costs\n", "what-it-costs"));
}
