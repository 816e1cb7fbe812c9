//! The book in `docs/`: what it says about files, commands, the language and examples is checked here.

#[path = "../command/mod.rs"]
mod command;
mod commands;
mod examples;
mod exercises;
mod figures;
mod language;
mod links;
mod walk;
mod words;

use std::path::{Path, PathBuf};

/// The folder of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All Rust files below a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The files directly in `folder` that end in `.ending`, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder").path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == ending));
    found.sort();
    found
}

/// The pages of the book, and the documents beside it.
fn documents() -> Vec<PathBuf> {
    let mut all = files(&root().join("docs"), "md");
    all.extend(files(root(), "md"));
    assert!(all.len() > 20);
    all
}

/// The fenced code blocks of a page in `language`, each with the line that it begins at.
fn blocks(page: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some((i + 2, info == language, String::new())),
            (Some(_), Some(_)) => {
                let (start, is_wanted, text) = open.take().expect("an open block");
                if is_wanted {
                    found.push((start, text));
                }
            }
            (None, Some((_, _, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a code block does not end");
    found
}
