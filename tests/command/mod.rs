//! What tests of the command share: running it, with a time limit, and reading what it printed.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The command of this build.
pub const PERILUNE: &str = env!("CARGO_BIN_EXE_perilune");

/// The command as `cargo build --release` makes it, beside the one of this build.
pub fn release_build() -> PathBuf {
    let target = Path::new(PERILUNE).ancestors().nth(2).expect("a target folder");
    let path = target.join("release/perilune");
    assert!(path.exists(), "no {}: cargo build --release", path.display());
    path
}

/// Variables that the command reads: it does not see those of the shell that runs the tests.
pub const VARIABLES: [&str; 12] = [
    "LUA_PATH",
    "LUA_CPATH",
    "LUA_INIT",
    "LUAJIT_VERBOSEFILE",
    "LUAJIT_DUMPFILE",
    "LUAJIT_LISTFILE",
    "LUAJIT_PROFILEFILE",
    "PERILUNE_LOG",
    // The four by which `anstream` decides about colours, beside `TERM`.
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "NO_COLOR",
];

/// After this the command is killed.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What a command did.
#[derive(Debug)]
pub struct Done {
    /// Exit status; `None` if it was killed, by a signal or after the time limit.
    pub status: Option<i32>,
    /// Was it killed after the time limit?
    pub timed_out: bool,
    pub output: String,
    pub errors: String,
    /// The output as it was, be it text or not.
    pub bytes: Vec<u8>,
}

impl Done {
    /// What it printed, if all went well.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!((self.status, &*self.errors), (Some(0), ""), "after this output:\n{}", self.output);
        self.output
    }
    /// What it wrote to standard error, having failed.
    #[track_caller]
    pub fn failed(self) -> String {
        assert_eq!(self.status, Some(1), "{self:?}");
        without_addresses(&self.errors).replace(PERILUNE, "perilune")
    }
}

/// The text with `?` for addresses of functions.
pub fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "0x?";
        out += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out
}

/// A folder for the files of one test, empty.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder for temporary files");
    path
}

/// Runs the command in a folder, without variables that it reads.
pub fn run_in(folder: &Path, args: &[&str], input: &str) -> Done {
    let mut command = Command::new(PERILUNE);
    command.args(args).current_dir(folder);
    run(command, input)
}

/// Runs a command to its end.
pub fn run(command: Command, input: &str) -> Done {
    run_within(command, input, TIMEOUT)
}

/// Runs a command to its end, or kills it after a time.
pub fn run_within(mut command: Command, input: &str, most: Duration) -> Done {
    let own: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    for name in VARIABLES.iter().filter(|name| !own.iter().any(|o| o == **name)) {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("piped");
    // One that reads nothing may be gone already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let readers = [spawn_reader(child.stdout.take().expect("piped")), spawn_reader(child.stderr.take().expect("piped"))];
    let begun = Instant::now();
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status.code();
        }
        if begun.elapsed() > most {
            timed_out = true;
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    let [bytes, errors] = readers.map(|r| r.join().expect("the reader does not panic"));
    let [output, errors] = [&bytes, &errors].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Done { status, timed_out, output, errors, bytes }
}

fn spawn_reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}
