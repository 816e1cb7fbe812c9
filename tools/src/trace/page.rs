//! The page of the explorer: HTML, style and script of the folder `page`, with the data.
//!
//! The data is JSON in `script` elements that a browser does not run: one for everything but code, and one for the code of each
//! trace, to be parsed when somebody looks at it.

use super::Document;
use serde::Serialize;
use std::io::{self, Write};

const HEAD: &str = include_str!("../../page/head.html");
const STYLE: &str = include_str!("../../page/style.css");
const BODY: &str = include_str!("../../page/body.html");
/// The parts of the script, in order: each may use what comes before.
const SCRIPTS: [&str; 6] = [
    include_str!("../../page/data.js"),
    include_str!("../../page/source.js"),
    include_str!("../../page/graph.js"),
    include_str!("../../page/lists.js"),
    include_str!("../../page/trace.js"),
    include_str!("../../page/main.js"),
];

/// Writes the page.
pub fn write(mut document: Document, to: &mut dyn Write) -> io::Result<()> {
    let code = std::mem::take(&mut document.report.code);
    writeln!(to, "{HEAD}<style>\n{STYLE}</style>\n{BODY}")?;
    data(to, "data", &document)?;
    for (trace, code) in document.report.traces.iter().zip(&code) {
        if let Some(code) = code {
            data(to, &format!("code-{}", trace.id), code)?;
        }
    }
    writeln!(to, "<script>\n'use strict';")?;
    for script in SCRIPTS {
        writeln!(to, "{script}")?;
    }
    writeln!(to, "</script>\n</body>\n</html>")
}

/// Writes data for the script.
fn data(to: &mut dyn Write, id: &str, value: &impl Serialize) -> io::Result<()> {
    write!(to, "<script type=\"application/json\" id=\"{id}\">")?;
    serde_json::to_writer(Escaped(to), value)?;
    writeln!(to, "</script>")
}

/// Writes JSON so that it ends no element and begins no comment: `<` is only found in strings, where it may be written otherwise.
struct Escaped<'a>(&'a mut dyn Write);

impl Write for Escaped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (i, part) in bytes.split(|b| *b == b'<').enumerate() {
            if i != 0 {
                self.0.write_all(b"\\u003c")?;
            }
            self.0.write_all(part)?;
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_ends_no_element() {
        let mut out = Vec::new();
        data(&mut out, "x", &"</script><!-- <script>\u{2028}").unwrap();
        let text = String::from_utf8(out).unwrap();
        let json = text.strip_prefix("<script type=\"application/json\" id=\"x\">").unwrap().strip_suffix("</script>\n").unwrap();
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), "</script><!-- <script>\u{2028}");
    }
}
