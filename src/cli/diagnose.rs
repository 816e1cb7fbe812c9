//! Syntax errors for people at a terminal: after LuaJIT's message the line of the source, with a mark below the token.

use super::style::{self, Styles};
use perilune_vm::load::LoadError;
use perilune_vm::syntax::Diagnostic;
use std::io::IsTerminal;

/// Columns of a line that are shown.
const COLUMNS: usize = 160;

/// The message, and at a terminal the line with a mark below what is wrong.
pub fn with_source(source: &[u8], e: &LoadError) -> Vec<u8> {
    let mut message = e.message().to_vec();
    if let LoadError::Syntax(d) = e
        && std::io::stderr().is_terminal()
    {
        message.extend_from_slice(excerpt(source, d, style::stderr()).unwrap_or_default().as_bytes());
    }
    message
}

/// The line that a diagnostic is about, with a mark below its token if it has one.
fn excerpt(source: &[u8], d: &Diagnostic, styles: Styles) -> Option<String> {
    let at = match &d.token {
        // The end of the text is marked after its last word, not on an empty line below.
        Some(token) if token.is_empty() => Some(source[..token.start].trim_ascii_end().len()),
        token => token.as_ref().map(|t| t.start),
    };
    let start = match at {
        Some(at) => source[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1),
        None => line_start(source, d.line)?,
    };
    let number = 1 + source[..start].iter().filter(|b| **b == b'\n').count();
    let line = source[start..].split(|b| *b == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > COLUMNS {
        return None;
    }
    let Styles { gutter, mark, .. } = styles;
    let number = number.to_string();
    let mut out = format!("\n {gutter}{number} |{gutter:#} {}", String::from_utf8_lossy(line));
    if let (Some(at), Some(token)) = (at, &d.token) {
        let from = (at - start).min(line.len());
        let to = (from + token.len()).min(line.len());
        // Tabs stay, so that what is below has the same width.
        let before = String::from_utf8_lossy(&line[..from]);
        let blank: String = before.chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
        let marks = "^".repeat(String::from_utf8_lossy(&line[from..to]).chars().count().max(1));
        out += &format!("\n {gutter}{:1$} |{gutter:#} {blank}{mark}{marks}{mark:#}", "", number.len());
    }
    Some(out)
}

/// Where a line begins.
fn line_start(source: &[u8], number: u32) -> Option<usize> {
    let ends = source.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
    core::iter::once(0).chain(ends).nth(number.checked_sub(1)? as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, styles: Styles) -> String {
        let mut vm = perilune_vm::Vm::new();
        let e = vm.load_source(source.as_bytes(), b"@t.lua", None).expect_err("an error");
        let LoadError::Syntax(d) = e else { panic!("{e:?}") };
        excerpt(source.as_bytes(), &d, styles).unwrap_or_default()
    }

    #[track_caller]
    fn shows(source: &str, expected: &str) {
        assert_eq!(shown(source, Styles::PLAIN), expected);
    }

    #[test]
    fn marks() {
        shows("x x", "\n 1 | x x\n   |   ^");
        shows("local a = 1\nfoo foo foobar", "\n 2 | foo foo foobar\n   |     ^^^");
        shows("x = x x = = 1", "\n 1 | x = x x = = 1\n   |           ^");
        shows("\tif true the\n", "\n 1 | \tif true the\n   | \t        ^^^");
        shows("f(", "\n 1 | f(\n   |   ^");
        shows("f(\r\n\n", "\n 1 | f(\n   |   ^");
        shows("return 'é' é", "\n 1 | return 'é' é\n   |            ^");
        shows(&format!("x x{}", " ".repeat(200)), "");
    }

    #[test]
    fn tokens_of_all_kinds_are_marked() {
        shows("\nx = 1 'text' y", "\n 2 | x = 1 'text' y\n   |       ^^^^^^");
        shows("x = 'a\\q'", "\n 1 | x = 'a\\q'\n   |     ^^^");
        shows("x = 'open\ny = 1", "\n 1 | x = 'open\n   |     ^^^^^");
        shows("x = 12ab", "\n 1 | x = 12ab\n   |     ^^^^");
        shows("x = 1 [[two\nlines]] y", "\n 1 | x = 1 [[two\n   |       ^^^^^");
        shows("#!shebang\nx x", "\n 2 | x x\n   |   ^");
        // Without a token the line is shown.
        shows("do\n  goto nowhere\nend", "\n 2 |   goto nowhere");
    }

    #[test]
    fn marks_have_colours() {
        let colourful = shown("x x", Styles::COLOURFUL);
        assert!(colourful.contains("\u{1b}[1m\u{1b}[31m^\u{1b}[0m"), "{colourful:?}");
    }
}
