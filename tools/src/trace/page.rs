//! The page of the explorer: HTML, style and script of the folder `page`, with the data.
//!
//! The data is JSON in `script` elements that a browser does not run. The code of traces, most of the data, is packed (deflate, base64), some
//! traces together, and unpacked when somebody looks at one of them. Of very many traces only the code of those that are used most is there.

use super::Document;
use base64::prelude::{BASE64_STANDARD, Engine};
use core::cmp::Reverse;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use perilune_observe::explorer::{Code, Report, Trace};
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

const HEAD: &str = include_str!("../../page/head.html");
const STYLE: &str = include_str!("../../page/style.css");
const BODY: &str = include_str!("../../page/body.html");
/// The parts of the script, in order: each may use what comes before.
const SCRIPTS: [&str; 8] = [
    include_str!("../../page/data.js"),
    include_str!("../../page/overview.js"),
    include_str!("../../page/source.js"),
    include_str!("../../page/graph.js"),
    include_str!("../../page/lists.js"),
    include_str!("../../page/search.js"),
    include_str!("../../page/trace.js"),
    include_str!("../../page/main.js"),
];

/// Writes the page.
pub fn write(mut document: Document, to: &mut dyn Write) -> io::Result<()> {
    let code = std::mem::take(&mut document.report.code);
    writeln!(to, "{HEAD}<style>\n{STYLE}</style>\n{BODY}")?;
    let (codes, code_left_out) = chosen(&document.report, &code)?;
    data(to, "data", &Page { pack: PACK, code_left_out, document: &document })?;
    for codes in codes.chunk_by(|a, b| pack_of(a.0) == pack_of(b.0)) {
        packed(to, pack_of(codes[0].0), codes)?;
    }
    writeln!(to, "<script>\n'use strict';")?;
    for script in SCRIPTS {
        writeln!(to, "{script}")?;
    }
    writeln!(to, "</script>\n</body>\n</html>")
}

/// Traces whose code is packed together: few enough to unpack at once, enough to have much in common.
const PACK: u32 = 32;

const fn pack_of(id: u32) -> u32 {
    (id - 1) / PACK
}

/// Bytes of code, as JSON, that a page has: packed they are about a seventh, so that the page stays below 5 MB. What is used most comes first.
const MOST_CODE: usize = 24 << 20;

/// The code of some traces as JSON, each with its id.
type Codes = Vec<(u32, Vec<u8>)>;

/// The code of the traces that are used most, by id; and of how many there was no room for.
fn chosen(report: &Report, code: &[Option<Code>]) -> io::Result<(Codes, usize)> {
    let samples: HashMap<u32, u64> = report.time.iter().flat_map(|t| &t.traces).map(|t| (t.trace, t.samples)).collect();
    let mut order: Vec<(&Trace, &Code)> = report.traces.iter().zip(code).filter_map(|(t, c)| Some((t, c.as_ref()?))).collect();
    let used = |t: &Trace| t.entries + t.left.iter().map(|x| u64::from(x.taken)).sum::<u64>();
    order.sort_by_key(|(t, _)| Reverse((samples.get(&t.id).copied().unwrap_or(0), used(t))));
    let (mut codes, mut size) = (Vec::new(), 0);
    for (t, c) in &order {
        let mut text = Vec::new();
        serde_json::to_writer(&mut text as &mut dyn Write, c)?;
        size += text.len();
        if size > MOST_CODE {
            break;
        }
        codes.push((t.id, text));
    }
    let left_out = order.len() - codes.len();
    codes.sort_by_key(|(id, _)| *id);
    Ok((codes, left_out))
}

/// What the script reads first.
#[derive(Serialize)]
struct Page<'a> {
    pack: u32,
    code_left_out: usize,
    #[serde(flatten)]
    document: &'a Document,
}

/// Writes the code of some traces by their ids.
fn packed(to: &mut dyn Write, pack: u32, codes: &[(u32, Vec<u8>)]) -> io::Result<()> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    for (i, (id, code)) in codes.iter().enumerate() {
        write!(deflate, "{}\"{id}\":", if i == 0 { '{' } else { ',' })?;
        deflate.write_all(code)?;
    }
    deflate.write_all(b"}")?;
    writeln!(to, "<script type=\"text/plain\" id=\"code-{pack}\">{}</script>", BASE64_STANDARD.encode(deflate.finish()?))
}

/// Writes data for the script.
fn data(to: &mut dyn Write, id: &str, value: &impl Serialize) -> io::Result<()> {
    write!(to, "<script type=\"application/json\" id=\"{id}\">")?;
    // As one type of writer for all data, so that there is one copy of the code that writes it.
    serde_json::to_writer(&mut Escaped(to) as &mut dyn Write, value)?;
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
