//! The interactive mode at a terminal: editing, the history, Ctrl-C and Ctrl-D.

mod command;

use command::PERILUNE;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The command with a terminal of its own.
struct Terminal {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    child: Child,
    seen: String,
}

impl Terminal {
    fn start(args: &[&str]) -> Terminal {
        let (mut master, mut slave) = (-1, -1);
        // SAFETY: the results go to two variables; no name, attributes and size are given.
        let r = unsafe {
            libc::openpty(&mut master, &mut slave, core::ptr::null_mut(), core::ptr::null_mut(), core::ptr::null_mut())
        };
        assert_eq!(r, 0, "there is a terminal to be had");
        // SAFETY: both were just opened, and nobody else closes them.
        let (master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let end = || Stdio::from(slave.try_clone().expect("a duplicate"));
        let mut command = Command::new(PERILUNE);
        command.args(args).env("TERM", "xterm").env_remove("LUA_INIT").stdin(end()).stdout(end()).stderr(end());
        // SAFETY: only system calls between fork and exec. The terminal becomes the one that Ctrl-C comes from.
        unsafe {
            std::os::unix::process::CommandExt::pre_exec(&mut command, || {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = command.spawn().expect("the command starts");
        let keyboard = master.try_clone().expect("a duplicate");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut master = master;
            let mut part = [0; 4096];
            while let Ok(n @ 1..) = master.read(&mut part) {
                if sender.send(part[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { keyboard, screen, child, seen: String::new() }
    }
    /// Waits for a text to appear, and forgets all up to its end.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            assert!(begun.elapsed() < TIMEOUT, "no {text:?} in {:?}", self.seen);
            if let Ok(part) = self.screen.recv_timeout(Duration::from_millis(100)) {
                self.seen += &String::from_utf8_lossy(&part);
            }
        }
    }
    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal is open");
    }
    /// Types a line at a prompt, and waits for a line of the answer and the next prompt: before that, keys are lost.
    #[track_caller]
    fn ask(&mut self, line: &str, answer: &str) {
        self.type_keys(line);
        self.type_keys("\r");
        self.wait_for(&format!("\n{answer}\r\n"));
        self.wait_for("> ");
    }
    #[track_caller]
    fn ends(mut self) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        panic!("it does not end");
    }
}

const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

#[test]
fn editing_and_history() {
    let mut t = Terminal::start(&[]);
    t.wait_for("JIT: ON");
    t.wait_for("> ");
    t.ask("=40 + 2", "42");
    t.ask("print(6 * 9)", "54");
    t.ask(UP, "54");
    // The line before, with its end changed.
    t.ask(&format!("{UP}{UP}\x7f8"), "48");
    // What took many lines comes back as one entry.
    t.type_keys("for i = 7, 7 do\r");
    t.wait_for(">> ");
    t.type_keys("print(i * 3)\r");
    t.wait_for(">> ");
    t.ask("end", "21");
    t.ask(UP, "21");
    t.type_keys(CTRL_D);
    assert_eq!(t.ends(), Some(0));
}

#[test]
fn interrupts() {
    let mut t = Terminal::start(&["-joff", "-i"]);
    t.wait_for("> ");
    // At the prompt it drops the line, and the lines before it.
    t.type_keys("x = {\r");
    t.wait_for(">> ");
    t.type_keys("1,");
    t.wait_for("1,");
    t.type_keys(CTRL_C);
    t.wait_for("> ");
    t.ask("=7 * 8", "56");
    // While something is interpreted it is an error.
    t.type_keys("print('running') local s = '' while true do s = tostring(#s) end\r");
    t.wait_for("\nrunning\r\n");
    t.type_keys(CTRL_C);
    t.wait_for("interrupted!");
    t.wait_for("> ");
    t.ask("=8 * 8", "64");
    t.type_keys("os.exit(3)\r");
    assert_eq!(t.ends(), Some(3));
}
