//! The way of a hot loop in `docs/architecture.md`: each file exists, and its head comment names the next.

use crate::{read, root};

/// The files of the list under the heading, in order: those that a numbered line links to.
fn walk(page: &str) -> Vec<String> {
    let section = page.split("\n## ").find(|s| s.starts_with("The way of a hot loop")).expect("the section");
    let numbered = section.lines().filter(|l| l.split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok()));
    numbered
        .map(|l| {
            let (_, link) = l.split_once("](../").unwrap_or_else(|| panic!("no link: {l}"));
            link.split(')').next().expect("a link ends").to_owned()
        })
        .collect()
}

/// The comment at the head of a file.
fn head(source: &str) -> String {
    source.lines().take_while(|l| l.starts_with("//!")).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_file_names_the_next() {
    let files = walk(&read(&root().join("docs/architecture.md")));
    assert_eq!(files.len(), 12, "{files:?}");
    for pair in files.windows(2) {
        let head = head(&read(&root().join(&pair[0])));
        assert!(head.contains(&format!("`{}`", pair[1])), "the head of {} does not name {}", pair[0], pair[1]);
    }
    assert!(root().join(&files[11]).exists(), "{}", files[11]);
}
