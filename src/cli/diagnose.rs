//! Where in the source a syntax error is: for people at a terminal, behind the message, which is LuaJIT's.

use perilune_vm::Vm;
use std::io::IsTerminal;

/// Longer sources are not read again for the column.
const LONGEST: usize = 1 << 18;
/// Columns of a line that are shown.
const COLUMNS: usize = 160;

/// The message, and at a terminal the line with a mark below what is wrong.
pub fn with_source(vm: &mut Vm, source: &[u8], name: &[u8], message: &[u8]) -> Vec<u8> {
    if !std::io::stderr().is_terminal() {
        return message.to_vec();
    }
    let shown = excerpt(vm, source, name, message).unwrap_or_default();
    [message, &*shown].concat()
}

/// The line that a message is about, with a mark.
fn excerpt(vm: &mut Vm, source: &[u8], name: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let number = line_number(message)?;
    let start = line_start(source, number)?;
    let line = source[start..].split(|b| *b == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > COLUMNS {
        return None;
    }
    let (from, to) = culprit(vm, source, name, message, start, line.len());
    let number = number.to_string();
    // Tabs stay, so that what is below has the same width.
    let blank: String = String::from_utf8_lossy(&line[..from]).chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
    let width = String::from_utf8_lossy(&line[from..to]).chars().count().max(1);
    let mut out = format!("\n {number} | ").into_bytes();
    out.extend_from_slice(line);
    out.extend_from_slice(format!("\n {:1$} | ", "", number.len()).as_bytes());
    out.extend_from_slice(blank.as_bytes());
    out.extend_from_slice("^".repeat(width).as_bytes());
    Some(out)
}

/// The number in `name:number: text`.
fn line_number(message: &[u8]) -> Option<usize> {
    let parts: Vec<&[u8]> = message.split(|b| *b == b':').collect();
    let digits = parts
        .windows(2)
        .skip(1)
        .find(|w| !w[0].is_empty() && w[0].iter().all(u8::is_ascii_digit) && w[1].first() == Some(&b' '))?;
    core::str::from_utf8(digits[0]).ok()?.parse().ok()
}

/// Where a line begins.
fn line_start(source: &[u8], number: usize) -> Option<usize> {
    let ends = source.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
    core::iter::once(0).chain(ends).nth(number.checked_sub(1)?)
}

/// From where to where in its line (`length` bytes from `start` on) the word is that the message is about. It ends where the source, cut
/// off there, has the same error for the first time.
fn culprit(vm: &mut Vm, source: &[u8], name: &[u8], message: &[u8], start: usize, length: usize) -> (usize, usize) {
    let near = message.strip_suffix(b"'").and_then(|m| Some(&m[m.windows(6).rposition(|w| w == b"near '")? + 6..]));
    let Some(near) = near.filter(|near| *near != b"<eof>" && source.len() <= LONGEST) else { return (length, length) };
    for to in near.len()..=length {
        let cut = &source[..start + to];
        if cut.ends_with(near) && vm.load_chunk(cut, name, None).is_err_and(|e| e.bytes() == message) {
            return (to - near.len(), to);
        }
    }
    (length, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(source: &str, expected: &str) {
        // SAFETY: only a chunk is loaded.
        let mut vm = unsafe { perilune::new_vm(true) };
        let e = vm.load_chunk(source.as_bytes(), b"@t.lua", None).expect_err("an error");
        let message = e.bytes().to_vec();
        let shown = excerpt(&mut vm, source.as_bytes(), b"@t.lua", &message).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&shown), expected, "{}", String::from_utf8_lossy(&message));
    }

    #[test]
    fn marks() {
        shows("x x", "\n 1 | x x\n   |   ^");
        shows("local a = 1\nfoo foo foobar", "\n 2 | foo foo foobar\n   |     ^^^");
        shows("x = x x = = 1", "\n 1 | x = x x = = 1\n   |           ^");
        shows("\tif true the\n", "\n 1 | \tif true the\n   | \t        ^^^");
        shows("f(", "\n 1 | f(\n   |   ^");
        shows("return 'é' é", "\n 1 | return 'é' é\n   |            ^");
        shows(&format!("x x{}", " ".repeat(200)), "");
    }
}
