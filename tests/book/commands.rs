//! Outputs of the command that pages show in full, and that do not depend on the machine: `BLESS=1` writes them anew.

use crate::command::run_in;
use crate::{documents, read, root};

/// Commands whose output stands in a page, after the line with the command.
const SHOWN: [&[&str]; 3] = [&["--help"], &["-Ohelp"], &["-jhelp"]];

/// The page with each shown output as it is now, and how many there are. An output is the indented lines after `$ perilune ARGUMENTS`.
fn renewed(page: &str) -> (String, usize) {
    let mut out = String::new();
    let mut count = 0;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let Some(arguments) = line.strip_prefix("    $ perilune ") else { continue };
        let Some(arguments) = SHOWN.iter().find(|a| a.join(" ") == arguments) else { continue };
        count += 1;
        while lines.next_if(|l| l.starts_with("    ")).is_some() {}
        let printed = run_in(root(), arguments, "").ok().replace(crate::command::PERILUNE, "perilune");
        for line in printed.lines() {
            out += &format!("    {line}\n");
        }
    }
    (out, count)
}

#[test]
fn outputs_are_what_the_command_prints() {
    let mut count = 0;
    for path in documents() {
        let page = read(&path);
        let (new, shown) = renewed(&page);
        count += shown;
        if std::env::var_os("BLESS").is_some() && new != page {
            std::fs::write(&path, &new).expect("the page is written");
        }
        assert_eq!(read(&path), new, "{}", path.display());
    }
    assert_eq!(count, SHOWN.len(), "each output stands in one page");
}
