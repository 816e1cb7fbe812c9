//! The command at a terminal: editing, the history, Ctrl-C and Ctrl-D of the interactive mode; colours; progress.

mod command;

use command::PERILUNE;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
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
        Terminal::with_state(args, &command::folder(&format!("terminal-{}", std::process::id())))
    }
    /// The same, with the folder that the history is kept in.
    fn with_state(args: &[&str], state: &Path) -> Terminal {
        Terminal::in_environment(args, state, &[("NO_COLOR", "1")])
    }
    /// The same, with other variables of the environment, and with colours unless these say otherwise.
    fn in_environment(args: &[&str], state: &Path, variables: &[(&str, &str)]) -> Terminal {
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
        command::VARIABLES.iter().for_each(|name| _ = command.env_remove(name));
        command
            .args(args)
            .env("TERM", "xterm")
            .env("XDG_STATE_HOME", state)
            .envs(variables.iter().copied())
            .stdin(end())
            .stdout(end())
            .stderr(end());
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
    /// Types a line at a prompt, and waits for a line of the answer and the next prompt.
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

/// One Ctrl-C ends a compiled loop, and the session goes on.
#[test]
fn interrupts_compiled_loops() {
    let mut t = Terminal::start(&["-Obudget=0"]);
    t.wait_for("> ");
    t.type_keys("x = 7 print('running') while true do end\r");
    t.wait_for("\nrunning\r\n");
    std::thread::sleep(Duration::from_millis(300));
    t.type_keys(CTRL_C);
    t.wait_for("stdin:1: interrupted!\r\nstack traceback:\r\n");
    t.wait_for("> ");
    t.ask("x * 6", "42");
    t.type_keys(CTRL_D);
    assert_eq!(t.ends(), Some(0));
}

#[test]
fn expressions_and_tables_are_shown() {
    let mut t = Terminal::start(&[]);
    t.wait_for(".exit ends.");
    t.wait_for("> ");
    t.ask("1 + 1", "2");
    t.ask("'a', nil, 3", "a\tnil\t3");
    t.ask("{1, 'two', x = {y = {z = {}}}, ['a b'] = true}", "{ 1, \"two\", [\"a b\"] = true, x = { y = { z = {} } } }");
    t.ask("{{{{1}}}}", "{ { { {...} } } }");
    t.ask("(function() local t = {} t.t = t return t end)()", "{ t = {<itself>} }");
    t.ask("setmetatable({}, {__tostring = function() return 'mine' end})", "mine");
    t.type_keys("(function() local t = {} for i = 1, 100 do t[i] = i * 1e6 end return t end)()\r");
    t.wait_for("\n{\r\n  1000000,\r\n");
    t.wait_for("\n  40000000,\r\n  ...,\r\n}\r\n");
    t.wait_for("> ");
    // An expression that goes on.
    t.type_keys("1 +\r");
    t.wait_for(">> ");
    t.ask("2", "3");
    t.type_keys(".help\r");
    t.wait_for("Tab completes");
    t.wait_for("> ");
    t.type_keys("exit\r");
    assert_eq!(t.ends(), Some(0));
}

#[test]
fn completion() {
    let mut t = Terminal::start(&[]);
    t.wait_for("> ");
    t.ask("deposits = {deposit = function() return 'paid' end} print(1)", "1");
    t.ask("account = setmetatable({balance = 12}, {__index = deposits}) print(1)", "1");
    t.ask("acc\t.bal\t + 1", "13");
    t.ask("account:dep\t()", "paid");
    t.ask("string.for\t('%03d', 7)", "007");
    t.ask("('x'):rep(3)", "xxx");
    // Several: a list.
    t.type_keys("table.\t\t");
    t.wait_for("concat");
    t.wait_for("insert");
    t.type_keys(CTRL_C);
    t.wait_for("[?2004l");
    t.wait_for("> ");
    t.type_keys(CTRL_D);
    assert_eq!(t.ends(), Some(0));
}

/// What is typed ahead, or pasted by a terminal that does not say so.
#[test]
fn typing_ahead() {
    let mut t = Terminal::start(&[]);
    t.wait_for("> ");
    t.type_keys("=1\r=2\rfor i = 3, 4 do\rprint(i)\rend\r=5\r");
    for answer in ["1", "2", "3\r\n4", "5"] {
        t.wait_for(&format!("\n{answer}\r\n"));
    }
    t.wait_for("> ");
    // Pasted by one that does: the lines are one chunk.
    t.type_keys("\x1b[200~local a = 6\nprint(a * 7)\x1b[201~\r");
    t.wait_for("\n42\r\n");
    // Between two lines the terminal takes it for itself.
    t.wait_for("> ");
    t.type_keys(CTRL_D);
    assert_eq!(t.ends(), Some(0));
}

#[test]
fn the_history_is_kept() {
    let state = command::folder("terminal-history");
    let session = |options: &[&str], first: &str, answer: &str| {
        let mut t = Terminal::with_state(options, &state);
        t.wait_for("> ");
        t.ask(first, answer);
        t.type_keys(CTRL_D);
        assert_eq!(t.ends(), Some(0));
    };
    session(&[], "print(6 * 7)", "42");
    session(&[], UP, "42");
    let kept = std::fs::read_to_string(state.join("perilune/history")).expect("a history");
    assert!(kept.contains("print(6 * 7)"), "{kept}");
    session(&["-E"], "print(6 * 9)", "54");
    session(&[], UP, "42");
}

#[test]
fn syntax_errors_show_the_line() {
    let mut t = Terminal::start(&[]);
    t.wait_for("> ");
    t.type_keys("local x = 1 y y\r");
    t.wait_for("stdin:1: '=' expected near 'y'\r\n 1 | local x = 1 y y\r\n   |               ^\r\n");
    t.wait_for("> ");
    t.type_keys(CTRL_D);
    assert_eq!(t.ends(), Some(0));
}

#[test]
fn input_has_colours() {
    let mut t = Terminal::in_environment(&[], &command::folder("terminal-colours"), &[]);
    t.wait_for("> ");
    t.type_keys("local s, n = 'it', 12 -- why");
    for (colour, text) in [("35", "local"), ("32", "'it'"), ("36", "12"), ("90", "-- why")] {
        t.wait_for(&format!("\x1b[{colour}m{text}\x1b[0m"));
    }
    t.type_keys(CTRL_C);
    t.wait_for("[?2004l");
    t.wait_for("> ");
    // The bracket that belongs to the last one, and none once the line is run.
    t.type_keys("print(#{8, 9})");
    t.wait_for("\x1b[1m\x1b[33m(\x1b[0m#{");
    t.type_keys("\r");
    t.wait_for("print(#{");
    t.wait_for("\n2\r\n");
    t.wait_for("> ");
    // A string that goes on from the line before.
    t.type_keys("print(#[[end\r");
    t.wait_for(">> ");
    t.type_keys("end]])");
    t.wait_for("\x1b[32mend]]\x1b[0m");
    t.type_keys("\r");
    t.wait_for("\n7\r\n");
    t.wait_for("> ");
    t.type_keys(CTRL_D);
    assert_eq!(t.ends(), Some(0));
}

#[test]
fn errors_have_colours() {
    let state = command::folder("terminal-errors");
    let run = |variables: &[(&str, &str)], program: &str, expected: &str| {
        let mut t = Terminal::in_environment(&["-e", program], &state, variables);
        t.wait_for(expected);
        assert_eq!(t.ends(), Some(1));
    };
    run(&[], "y y", "near 'y'\r\n \x1b[34m1 |\x1b[0m y y\r\n \x1b[34m  |\x1b[0m   \x1b[1m\x1b[31m^\x1b[0m\r\n");
    run(&[("NO_COLOR", "1")], "y y", "near 'y'\r\n 1 | y y\r\n   |   ^\r\n");
    run(&[("TERM", "dumb")], "y y", "near 'y'\r\n 1 | y y\r\n   |   ^\r\n");
    run(&[], "error('no', 0)", "no\r\n\x1b[2mstack traceback:");
    run(&[("NO_COLOR", "1")], "error('no', 0)", "no\r\nstack traceback:");
}

#[test]
fn help_has_colours() {
    let state = command::folder("terminal-help");
    for (variables, expected) in [(&[][..], "\x1b[1m\x1b[4mUsage:\x1b[0m"), (&[("NO_COLOR", "1")], "\nUsage: ")] {
        let mut t = Terminal::in_environment(&["heap", "--help"], &state, variables);
        t.wait_for(expected);
        assert_eq!(t.ends(), Some(0));
    }
}

#[test]
fn reading_a_large_file_shows_how_far_it_is() {
    let state = command::folder("terminal-progress");
    let file = state.join("dump.json");
    let text = r#"{"objects":{"0x10":{"type":"table","cat":0,"size":32}},"roots":{"mainthread":"0x10","registry":"0x10"},"#;
    let rest = r#""stats":{"size":32,"categories":{}}}"#;
    std::fs::write(&file, [text, &" ".repeat(20 << 20), rest].concat()).expect("it is written");
    let file = file.to_str().expect("a name");
    let mut t = Terminal::with_state(&["heap", "summary", file], &state);
    t.wait_for("% of 20.00 MiB");
    t.wait_for("table");
    assert_eq!(t.ends(), Some(0));
    // Nothing of it where nobody waits.
    let out = Command::new(PERILUNE).args(["heap", "summary", file]).output().expect("it runs");
    assert!(out.status.success() && out.stderr.is_empty());
}
