//! Runs programs with LuaJIT: a batch in one process, each in an environment of its own.

use crate::run;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program, and what Perilune showed.
pub struct Task {
    /// Its text.
    pub body: String,
    /// Without the traceback.
    pub expected: Vec<u8>,
}

/// Runs batches.
pub struct LuaJit {
    command: String,
    /// For the driver and the programs.
    file: PathBuf,
}

/// For one program of a batch, at most.
const PATIENCE: Duration = Duration::from_secs(20);

impl LuaJit {
    /// `file` is overwritten.
    pub fn new(command: String, file: PathBuf) -> LuaJit {
        LuaJit { command, file }
    }
    /// What each program showed; none for those that it was not able to run.
    pub fn run_all<'a>(&self, tasks: impl Iterator<Item = &'a Task>) -> Vec<Option<Vec<u8>>> {
        let bodies: Vec<&str> = tasks.map(|t| &*t.body).collect();
        let mut out = vec![None; bodies.len()];
        let mut from = 0;
        // Where a program ends LuaJIT itself, those after it are run by another process.
        while from < bodies.len() {
            let shown = self.run_some(&bodies[from..]).unwrap_or_default();
            let done = shown.len();
            for (place, shown) in out[from..].iter_mut().zip(shown) {
                *place = Some(shown).filter(|text| text != b"too long");
            }
            from += done + 1;
        }
        out
    }
    fn run_some(&self, bodies: &[&str]) -> std::io::Result<Vec<Vec<u8>>> {
        std::fs::write(&self.file, driver(bodies))?;
        let output = self.file.with_extension("shown");
        let mut child = Command::new(&self.command)
            .arg("-joff")
            .arg(&self.file)
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&output)?)
            .stderr(Stdio::null())
            .spawn()?;
        let begun = Instant::now();
        while child.try_wait()?.is_none() {
            if begun.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(parts(&std::fs::read(&output)?))
    }
}

/// A program of Lua that runs all and writes what each showed after its length.
fn driver(bodies: &[&str]) -> Vec<u8> {
    let mut out = include_str!("driver.lua").replace("-- SHOW", include_str!("standalone.lua")).into_bytes();
    out.extend_from_slice(b"local prelude = ");
    out.extend_from_slice(quoted(&run::prelude()).as_bytes());
    out.push(b'\n');
    for body in bodies {
        out.extend_from_slice(format!("run(prelude, {})\n", quoted(&run::chunk(body))).as_bytes());
    }
    out
}

/// A long string: level 9 closes nothing that programs contain.
fn quoted(text: &str) -> String {
    format!("[=========[\n{text}]=========]")
}

/// What `run` of the driver has written.
fn parts(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    while let Some(end) = bytes.iter().position(|b| *b == b'\n') {
        let length = std::str::from_utf8(&bytes[..end]).ok().and_then(|t| t.parse::<usize>().ok());
        let Some(part) = length.and_then(|n| bytes.get(end + 1..end + 1 + n)) else { break };
        out.push(part.to_vec());
        bytes = &bytes[end + 1 + part.len()..];
    }
    out
}
