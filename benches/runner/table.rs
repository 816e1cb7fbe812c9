//! The figures as a table with ratios and their geometric means, and as JSON.

use crate::{Cell, Config};
use std::fmt::Write as _;

/// A ratio column: its heading, and of which figure of which two configurations it is the quotient.
struct Ratio {
    heading: &'static str,
    over: &'static str,
    under: &'static str,
    of: fn(&Cell) -> Option<f64>,
}

const fn ratio(heading: &'static str, over: &'static str, under: &'static str, of: fn(&Cell) -> Option<f64>) -> Ratio {
    Ratio { heading, over, under, of }
}

const RATIOS: [Ratio; 5] = [
    ratio("jit/luajit", "jit", "luajit", Cell::median),
    ratio("joff/ljoff", "joff", "luajit-joff", Cell::median),
    ratio("jit/joff", "jit", "joff", Cell::median),
    ratio("rss/luajit", "jit", "luajit", peak),
    ratio("rss/ljoff", "joff", "luajit-joff", peak),
];

fn peak(cell: &Cell) -> Option<f64> {
    cell.median().map(|_| cell.rss_kb as f64)
}

impl Ratio {
    fn value(&self, configs: &[Config], cells: &[Cell]) -> Option<f64> {
        let figure = |label| {
            let column = configs.iter().position(|c| c.label == label)?;
            (self.of)(&cells[column])
        };
        Some(figure(self.over)? / figure(self.under)?.max(1e-6))
    }
}

pub fn heading(configs: &[Config]) -> String {
    let mut line = format!("{:<15}", "program");
    for name in configs.iter().map(|c| c.label).chain(RATIOS.iter().map(|r| r.heading)) {
        let _ = write!(line, " {name:>11}");
    }
    line
}

pub fn row(name: &str, configs: &[Config], cells: &[Cell]) -> String {
    let mut line = format!("{name:<15}");
    for cell in cells {
        let _ = match (cell.median(), &cell.trouble) {
            (Some(seconds), _) => write!(line, " {seconds:>11.3}"),
            (None, Some(why)) => write!(line, " {:>11}", why.word()),
            (None, None) => write!(line, " {:>11}", "-"),
        };
    }
    for ratio in &RATIOS {
        line += &ratio_text(ratio.value(configs, cells));
    }
    line
}

pub fn ratio_text(ratio: Option<f64>) -> String {
    ratio.map_or(format!(" {:>11}", "-"), |r| format!(" {r:>11.2}"))
}

/// The last line of the table: the geometric mean of each ratio over the programs that have it.
pub fn means(configs: &[Config], rows: &[(String, Vec<Cell>)]) -> String {
    let mut line = format!("{:<15}{}", "geometric mean", " ".repeat(12 * configs.len()));
    for ratio in &RATIOS {
        let logs: Vec<f64> = rows.iter().filter_map(|(_, cells)| ratio.value(configs, cells)).map(|r| r.max(1e-9).ln()).collect();
        let mean = (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp());
        line += &ratio_text(mean);
    }
    line
}

/// A JSON string: what is not plain ASCII becomes a question mark.
fn quoted(text: &str) -> String {
    let plain = text.replace(|c: char| !matches!(c, ' '..='~'), "?");
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

/// All figures as one JSON object.
pub fn json(configs: &[Config], rows: &[(String, Vec<Cell>)], startups: &[Option<f64>]) -> String {
    let optional = |v: Option<f64>| v.map_or("null".to_owned(), |v| format!("{v:.6}"));
    let pairs = |cells: Vec<String>| {
        let labelled: Vec<String> =
            configs.iter().zip(cells).map(|(config, value)| format!("\"{}\": {value}", config.label)).collect();
        format!("{{{}}}", labelled.join(", "))
    };
    let cell = |cell: &Cell| {
        let runs: Vec<String> = cell.seconds.iter().map(|s| format!("{s:.6}")).collect();
        let trouble = cell.trouble.as_ref().map_or("null".to_owned(), |why| quoted(&why.to_string()));
        let (median, rss, runs) = (optional(cell.median()), cell.rss_kb, runs.join(", "));
        format!("{{\"median\": {median}, \"runs\": [{runs}], \"rss_kb\": {rss}, \"trouble\": {trouble}}}")
    };
    let programs: Vec<String> =
        rows.iter().map(|(name, cells)| format!("    \"{name}\": {}", pairs(cells.iter().map(cell).collect()))).collect();
    let startups = pairs(startups.iter().map(|ms| optional(*ms)).collect());
    format!("{{\n  \"startup_ms\": {startups},\n  \"programs\": {{\n{}\n  }}\n}}\n", programs.join(",\n"))
}
