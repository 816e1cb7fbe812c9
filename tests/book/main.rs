//! The book in `docs/`: what it says about files, commands, the language and examples is checked here.

mod api;
#[path = "../command/mod.rs"]
mod command;
mod commands;
mod examples;
mod exercises;
mod figures;
mod language;
mod links;
mod shown;
#[path = "../sources/mod.rs"]
mod sources;
mod walk;
mod words;

use sources::{read, root, sources};
use std::path::{Path, PathBuf};

/// The files directly in `folder` that end in `.ending`, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder").path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == ending));
    found.sort();
    found
}

/// The pages of the book.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    [files(&docs, "md"), files(&docs.join("embedding"), "md")].concat()
}

/// The pages of the book, and the documents beside it.
fn documents() -> Vec<PathBuf> {
    let mut all = pages();
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
