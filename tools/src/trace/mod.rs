//! The trace explorer: its data as JSON, and its page.

mod compare;
mod page;

pub use compare::{Before, Compared, Figures, Line};

use perilune_observe::explorer::Report;
use serde::Serialize;
use std::io::{self, Write};

/// How the script ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum Ending {
    /// By itself.
    Done,
    /// By an error.
    Error {
        /// Its message.
        message: String,
    },
    /// By `os.exit`.
    Exit {
        /// The status.
        status: i32,
    },
}

/// The script that was run.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// Its file.
    pub script: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Options of the compiler.
    pub options: Vec<String>,
    /// How it ended.
    pub end: Ending,
}

/// What is written as JSON.
#[derive(Debug, Serialize)]
pub struct Document {
    format: &'static str,
    program: Program,
    #[serde(flatten)]
    report: Report,
    /// Beside an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<Compared>,
}

/// The format of the data.
const FORMAT: &str = "perilune-traces";

impl Document {
    /// What the explorer has seen of a program.
    pub fn new(program: Program, report: Report) -> Document {
        Document { format: FORMAT, program, report, compared: None }
    }
    /// Compares it with an earlier run, whose data [`Document::write_json`] has written.
    ///
    /// # Errors
    /// The data of this run cannot be made.
    pub fn compare_with(&mut self, before: Before) -> io::Result<()> {
        // The code is most of the data, and is not compared.
        let code = core::mem::take(&mut self.report.code);
        self.compared = Some(compare::compare(before, &self.report)?);
        self.report.code = code;
        Ok(())
    }
    /// Writes it as JSON (docs/explorer.md).
    pub fn write_json(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *to, self)?;
        to.write_all(b"\n")
    }
    /// Writes it as a page for a browser.
    pub fn write_page(self, to: &mut dyn Write) -> io::Result<()> {
        page::write(self, to)
    }
}
