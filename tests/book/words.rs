//! Words that the glossary says are not used do not come back as names in the code.

use crate::{read, root, sources};

/// The words in backquotes of the first column of the table under the heading.
fn banned(page: &str) -> Vec<String> {
    let section = page.split("\n## ").find(|s| s.starts_with("Words that are not used")).expect("the section");
    let rows = section.lines().filter(|l| l.starts_with("| `"));
    rows.flat_map(|l| l.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

/// The words that an identifier is made of, in lower case: of `ExitTable` and `exit_table` the same.
fn words(identifier: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in identifier.chars() {
        if c == '_' || c.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().expect("a word").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|w| !w.is_empty());
    words
}

/// The code of a line: what is in front of a comment, without strings.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn they_do_not_come_back() {
    let banned = banned(&read(&root().join("docs/glossary.md")));
    assert!(banned.len() >= 5, "{banned:?}");
    let mut files = Vec::new();
    for folder in ["vm", "recorder", "backend", "jit", "observe", "tools", "src"] {
        sources(&root().join(folder), &mut files);
    }
    assert!(files.len() > 300);
    let mut found = Vec::new();
    for file in files {
        for (i, line) in read(&file).lines().enumerate() {
            let code = code(line);
            for identifier in code.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                if words(identifier).iter().any(|w| banned.contains(w)) {
                    found.push(format!("{}:{}: {identifier}", file.display(), i + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn identifiers_are_taken_apart() {
    assert_eq!(words("begin_detour").join(" "), "begin detour");
    assert_eq!(words("ExitTable2").join(" "), "exit table2");
    assert_eq!(words("MAX_SLOTS").join(" "), "max slots");
    assert_eq!(code("let x = \"a detour\"; // aside"), "let x =  ; ");
}
