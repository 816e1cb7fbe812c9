//! The page about the language: each of its programs prints what stands beside it, interpreted and compiled at once.

use crate::command::run_in;
use crate::{blocks, read, root};

/// What follows `-->` in each line, joined; what follows `--> error:` is a part of the message that ends the program.
fn expected(program: &str) -> (String, Option<String>) {
    let mut output = String::new();
    for line in program.lines() {
        let Some((_, text)) = line.split_once("--> ") else { continue };
        match text.strip_prefix("error: ") {
            Some(message) => return (output, Some(message.to_owned())),
            None => output += &format!("{text}\n"),
        }
    }
    (output, None)
}

#[test]
fn programs_print_what_the_page_says() {
    let page = read(&root().join("docs/language.md"));
    let programs = blocks(&page, "lua");
    assert!(programs.len() > 10, "{} programs", programs.len());
    for (line, program) in programs {
        let (output, error) = expected(&program);
        assert!(error.is_some() || !output.is_empty(), "line {line}: nothing is expected");
        for mode in [&["-joff"][..], &["-Ohotloop=1", "-Ohotexit=1"]] {
            let done = run_in(root(), &[mode, &["-"]].concat(), &program);
            assert_eq!(done.output.replace('\t', "  "), output, "line {line} with {mode:?}: {}", done.errors);
            match &error {
                Some(message) => assert!(done.errors.contains(message), "line {line}: {}", done.errors),
                None => assert_eq!((done.status, &*done.errors), (Some(0), ""), "line {line}"),
            }
        }
    }
}
