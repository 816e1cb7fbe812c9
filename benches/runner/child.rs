//! One run of a child process: its output, the processor time it used and its peak memory.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How one run of a child ended.
pub enum Outcome {
    Done { usage: libc::rusage, output: Vec<u8> },
    Failed(String),
    TimedOut,
}

/// Seconds of processor time.
pub fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

/// Runs `command` to its end or until `timeout`. It reads nothing, unless the caller gave it something.
pub fn run(command: &mut Command, timeout: Duration) -> Outcome {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return Outcome::Failed(format!("cannot start {}: {error}", command.get_program().to_string_lossy()));
        }
    };
    let output = collect(child.stdout.take());
    let errors = collect(child.stderr.take());
    let (status, usage, in_time) = wait(&mut child, timeout);
    let [output, errors] = [output, errors].map(|thread| thread.join().unwrap_or_default());
    if !in_time {
        return Outcome::TimedOut;
    }
    if status != 0 {
        let text = String::from_utf8_lossy(&errors);
        return Outcome::Failed(format!("status {status:#x}: {}", text.lines().next().unwrap_or("")));
    }
    Outcome::Done { usage, output }
}

/// Reads a pipe to its end on a thread of its own, so that the child never blocks on it.
fn collect(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is still worth comparing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for the child; kills it when the time is over. Returns the raw status, the usage, and whether it ended by
/// itself.
fn wait(child: &mut Child, timeout: Duration) -> (i32, libc::rusage, bool) {
    let start = Instant::now();
    let mut in_time = true;
    loop {
        let flags = if in_time { libc::WNOHANG } else { 0 };
        if let Some((status, usage)) = reap(child.id(), flags) {
            return (status, usage, in_time);
        }
        let spent = start.elapsed();
        if spent > timeout {
            in_time = false;
            // It may have ended just now: then the next wait reaps it as well.
            let _ = child.kill();
        } else {
            std::thread::sleep(Duration::from_micros(if spent.as_millis() < 20 { 100 } else { 2000 }));
        }
    }
}

/// One `wait4` on the child: its status and usage if it has ended.
fn reap(pid: u32, flags: i32) -> Option<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: `rusage` is a C struct of integers, for which all bytes zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals of the types that wait4 writes.
    let pid = unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, flags, &raw mut usage) };
    (pid > 0).then_some((status, usage))
}
