//! Starts workers and reads their answers; what a worker dies of, or hangs in, is attributed to a seed and a mode.

use crate::worker::{Doing, Status, Time};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How workers are started.
#[derive(Clone, Debug)]
pub struct Setup {
    /// This program.
    pub command: PathBuf,
    /// A folder for files of workers.
    pub folder: PathBuf,
    /// Names of modes, all if there are none.
    pub modes: Vec<String>,
    /// The command of LuaJIT.
    pub luajit: Option<String>,
    /// A run that takes longer hangs.
    pub patience: Duration,
    /// A fault to plant, for tests: its kind and the seed.
    pub fault: Option<(String, u64)>,
}

/// How a worker ended that should not have.
#[derive(Clone, Debug)]
pub struct Death {
    /// What it was doing.
    pub doing: Doing,
    /// The signal, or that it hangs; and the last line on its standard error.
    pub how: String,
    /// Was it killed, since it went on for too long?
    pub hung: bool,
}

/// What a worker answers to `check`.
pub enum Answer {
    /// Both modes show the same.
    Same,
    /// They do not: what they show.
    Differs(String, String),
}

/// What comes from a worker: a line, or bytes that a line has announced.
enum Piece {
    Line(String),
    Bytes(Vec<u8>),
}

/// A process that runs programs.
pub struct Worker {
    child: Child,
    input: ChildStdin,
    pieces: Receiver<Piece>,
    status: Status,
    errors: PathBuf,
    patience: Duration,
}

impl Worker {
    /// Starts one; `name` is that of its files.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(setup: &Setup, name: &str) -> std::io::Result<Worker> {
        let file = setup.folder.join(name);
        let (status, errors) = (file.with_extension("status"), file.with_extension("errors"));
        // What another worker left there is not this one's doing.
        let _ = std::fs::remove_file(&status);
        let mut command = Command::new(&setup.command);
        command.arg("--worker").arg(&status);
        if !setup.modes.is_empty() {
            command.arg("--modes").arg(setup.modes.join(","));
        }
        if let Some(luajit) = &setup.luajit {
            command.arg("--luajit").arg(luajit);
        }
        if let Some((kind, seed)) = &setup.fault {
            command.arg("--fault").arg(format!("{kind}:{seed}"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(std::fs::File::create(&errors)?);
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("a worker without pipes"));
        };
        let (send, pieces) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|n| n > 0) {
                let lengths: Vec<usize> = line.split_whitespace().skip(1).filter_map(|w| w.parse().ok()).collect();
                // A difference of a program that the parent has sent is followed by both outputs.
                let parts = if line.ends_with("outputs\n") { lengths } else { Vec::new() };
                let mut sent = send.send(Piece::Line(std::mem::take(&mut line)));
                for n in parts {
                    let mut bytes = vec![0; n];
                    if output.read_exact(&mut bytes).is_err() {
                        return;
                    }
                    sent = sent.and_then(|()| send.send(Piece::Bytes(bytes)));
                }
                if sent.is_err() {
                    return;
                }
            }
        });
        Ok(Worker { child, input, pieces, status: Status::open(&status)?, errors, patience: setup.patience })
    }

    /// Runs the programs of some seeds; `found` is called with the seed and the mode of each difference, `took` with the time of all
    /// runs in a mode. How many runs that were.
    ///
    /// # Errors
    /// The worker's death.
    pub fn run(
        &mut self,
        first: u64,
        count: u64,
        mut found: impl FnMut(u64, usize),
        mut took: impl FnMut(usize, Time),
    ) -> Result<u64, Death> {
        self.send(format!("run {first} {count}\n").as_bytes());
        loop {
            let Piece::Line(line) = self.next()? else { continue };
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |i: usize| words.get(i).and_then(|w| w.parse::<u64>().ok()).unwrap_or(0);
            match words.first() {
                Some(&"differs") => found(number(1), number(2) as usize),
                Some(&"time") => {
                    let [all, longest] = [3, 4].map(|i| Duration::from_micros(number(i)));
                    took(number(1) as usize, Time { runs: number(2), all, longest, seed: number(5) });
                }
                Some(&"done") => return Ok(number(1)),
                _ => {}
            }
        }
    }

    /// Runs a program in the reference and in another mode.
    ///
    /// # Errors
    /// The worker's death.
    pub fn check(&mut self, body: &str, mode: usize, seed: u64) -> Result<Answer, Death> {
        self.send(format!("check {mode} {seed} {}\n{body}", body.len()).as_bytes());
        let mut outputs = Vec::new();
        loop {
            match self.next()? {
                Piece::Line(line) if line == "same\n" => return Ok(Answer::Same),
                Piece::Line(_) => {}
                Piece::Bytes(bytes) => outputs.push(String::from_utf8_lossy(&bytes).into_owned()),
            }
            if outputs.len() == 2
                && let (Some(b), Some(a)) = (outputs.pop(), outputs.pop())
            {
                return Ok(Answer::Differs(a, b));
            }
        }
    }

    fn send(&mut self, command: &[u8]) {
        // If it is dead, that is seen when its answer is read.
        let _ = self.input.write_all(command).and_then(|()| self.input.flush());
    }

    /// The next piece of its answer.
    fn next(&mut self) -> Result<Piece, Death> {
        // Time is what this thread has waited: on a machine that was suspended, clocks go on.
        const TICK: Duration = Duration::from_millis(100);
        let (mut last, mut waited) = (self.status.read(), Duration::ZERO);
        loop {
            match self.pieces.recv_timeout(TICK) {
                Ok(piece) => return Ok(piece),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died(false)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            waited += TICK;
            let now = self.status.read();
            if now != last {
                (last, waited) = (now, Duration::ZERO);
            } else if waited > self.patience {
                // Should it have ended this moment, there is nothing to kill.
                let _ = self.child.kill();
                return Err(self.died(true));
            }
        }
    }

    fn died(&mut self, hung: bool) -> Death {
        let how = match self.child.wait() {
            _ if hung => "hangs".into(),
            Ok(status) => ended(status),
            Err(e) => e.to_string(),
        };
        let errors = std::fs::read(&self.errors).unwrap_or_default();
        let errors = String::from_utf8_lossy(&errors);
        let last = errors.lines().filter(|l| !l.is_empty() && !l.starts_with("ERROR in finalizer")).take(3);
        let last: Vec<&str> = last.collect();
        Death { doing: self.status.read(), how: [how, last.join(" / ")].join(" ").trim().to_owned(), hung }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("ends by signal {signal}"),
        (_, Some(code)) => format!("ends with status {code}"),
        _ => "ends".into(),
    }
}

/// A folder of this process for files of workers.
///
/// # Errors
/// Those of the system.
pub fn scratch_folder() -> std::io::Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("perilune-generated-{}", std::process::id()));
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// Removes it.
pub fn remove_scratch(folder: &Path) {
    // What is left is left to the system.
    let _ = std::fs::remove_dir_all(folder);
}
