//! The figures that README and introduction repeat are those of the page about performance.

use crate::{read, root};

/// Of each table of the page: programs, ratio to LuaJIT, ratio to the newer LuaJIT, as geometric means.
fn means(page: &str) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    let mut rows = 0;
    for line in page.lines() {
        if line.starts_with("| **geometric mean**") {
            let bold: Vec<&str> = line.split("**").skip(3).step_by(2).collect();
            // The table of programs that allocate has other columns.
            if let [luajit, _, _, newer] = bold[..] {
                found.push((rows, luajit.to_owned(), newer.to_owned()));
            }
        }
        rows = if line.starts_with("|---") { 0 } else { rows + 1 };
    }
    found
}

#[test]
fn means_are_those_of_the_tables() {
    let means = means(&read(&root().join("docs/performance.md")));
    assert_eq!(means.len(), 2, "{means:?}");
    let readme = read(&root().join("README.md"));
    let introduction = read(&root().join("docs/introduction.md"));
    for (programs, luajit, newer) in means {
        let row = readme.lines().find(|l| l.starts_with(&format!("| {programs} "))).expect("a row of the README");
        assert!(row.ends_with(&format!("| {luajit} | {newer} |")), "{row}");
        assert!(introduction.contains(&luajit), "the introduction does not say {luajit}");
    }
}
