//! `perilune profile` from outside: each format, programs that end in each way, and what cannot be written.

use super::folder::Folder;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

impl Folder {
    /// Runs the command in the folder.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_perilune")).arg("profile").args(arguments).current_dir(self.path()).output().unwrap()
    }
    /// Runs it; its status, and what it prints on both.
    fn status(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let o = self.run(arguments);
        let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
        (o.status.code(), text(o.stdout), text(o.stderr))
    }
}

const BUSY: &str = "local function work(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
for i = 1, 100 do work(3e5) end
";

#[test]
fn each_format_goes_to_its_file() {
    let f = Folder::new("profile-formats");
    f.write("busy.lua", BUSY);
    for (option, file) in [
        ("", "profile.svg"),
        ("--folded", "profile.folded"),
        ("--pprof", "profile.pb.gz"),
        ("--speedscope", "profile.speedscope.json"),
    ] {
        let arguments: Vec<&str> = [option, "busy.lua"].into_iter().filter(|a| !a.is_empty()).collect();
        let (status, out, message) = f.status(&arguments);
        assert_eq!((status, &*out), (Some(0), ""), "{message}");
        assert!(message.contains(" samples (") && message.contains("compiled ") && message.contains(file), "{message}");
        let bytes = f.read(file);
        let mut plain = Vec::new();
        match file {
            "profile.pb.gz" => flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut plain).map(|_| ()).unwrap(),
            _ => plain = bytes,
        }
        let text = String::from_utf8_lossy(&plain);
        assert!(text.contains("work (busy.lua:1)"), "{file}: {text}");
        match file {
            "profile.svg" => assert!(text.starts_with("<?xml") && text.trim_end().ends_with("</svg>")),
            "profile.speedscope.json" => assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok()),
            _ => {}
        }
    }
}

#[test]
fn options_and_arguments_of_the_script() {
    let f = Folder::new("profile-options");
    f.write("args.lua", format!("print(jit.status(), arg[0], ...)\n{BUSY}"));
    let (status, out, message) = f.status(&["args.lua", "one", "-j", "off", "-o", "out", "--folded", "--hz", "500", "--", "-x"]);
    assert!(status == Some(0) && out.starts_with("false\t") && out.ends_with("args.lua\tone\t-x\n"), "{out}{message}");
    assert!(String::from_utf8(f.read("out")).unwrap().contains("(interpreted)"));
    let (_, out, _) = f.status(&["--trace", "--folded", "-Ohotloop=5", "-o", "-", "args.lua"]);
    assert!(
        out.lines()
            .any(|l| l.starts_with("trace ") && l.contains(" args.lua:2;main chunk (args.lua);work (args.lua:2);(compiled) ")),
        "{out}"
    );
    let (_, out, _) = f.status(&["--lines", "--folded", "-o", "-", "args.lua"]);
    assert!(out.contains("main chunk args.lua:3;work args.lua:2;(compiled) "), "{out}");
}

#[test]
fn the_report_is_complete_however_the_program_ends() {
    let f = Folder::new("profile-ends");
    for (name, end, status) in [
        ("error", "error('enough')", 1),
        ("exit", "os.exit(3)", 3),
        ("inside", "coroutine.wrap(function() os.exit(0, true) end)()", 0),
    ] {
        let (script, report) = (format!("{name}.lua"), format!("{name}.folded"));
        f.write(&script, format!("{BUSY}{end}"));
        let (found, _, message) = f.status(&["--folded", "-o", &report, &script]);
        assert_eq!(found, Some(status), "{message}");
        assert_eq!(message.contains("enough"), name == "error", "{message}");
        assert!(String::from_utf8(f.read(&report)).unwrap().contains(&format!("work ({script}:1)")));
    }
}

#[test]
fn ctrl_c_ends_the_program_and_not_the_profile() {
    let f = Folder::new("profile-interrupt");
    for (name, mode, forever) in [
        ("interpreted", "off", "while true do work(1000) end"),
        ("compiled", "on", "while true do end"),
        ("recursive", "on", "local function down(n) return down(n + work(1)) end down(1)"),
        ("protected", "on", "while true do pcall(work, 1000) end"),
        ("collecting", "on", "local t while true do t = {work(1), t and {} or 1} end"),
    ] {
        let (script, report) = (format!("{name}.lua"), format!("{name}.folded"));
        f.write(&script, format!("{BUSY}print 'ready' io.stdout:flush() io.write 'kept' {forever}"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_perilune"))
            .args(["profile", "-j", mode, "--folded", "-o", &report, &script])
            .current_dir(f.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        std::thread::sleep(Duration::from_millis(300));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        line.clear();
        out.read_to_string(&mut line).unwrap();
        let done = child.wait_with_output().unwrap();
        let message = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), &*line), (Some(130), "kept"), "{name}: {message}");
        assert!(message.contains(" samples (") && message.contains(&report), "{name}: {message}");
        assert!(String::from_utf8(f.read(&report)).unwrap().contains(&format!("work ({script}:1)")), "{name}");
    }
}

#[test]
fn errors_are_reported() {
    let f = Folder::new("profile-bad");
    f.write("busy.lua", BUSY);
    f.write("exit.lua", format!("{BUSY}os.exit(0)"));
    f.write("wrong.lua", "return return");
    f.write("short.lua", "return");
    for (arguments, words) in [
        (&["nothing.lua"][..], "nothing.lua: No such file"),
        (&["-o", "no/folder.svg", "busy.lua"], "no/folder.svg: No such file"),
        (&["--folded", "-o", "/dev/full", "busy.lua"], "/dev/full: No space left"),
        (&["-o", "/dev/full", "exit.lua"], "/dev/full: No space left"),
        (&["wrong.lua"], "wrong.lua:1:"),
        (&["short.lua"], "no samples to draw"),
        (&["-Onothing", "busy.lua"], "unknown or malformed optimization flag 'nothing'"),
    ] {
        let (status, _, message) = f.status(arguments);
        assert_eq!(status, Some(1), "{arguments:?}: {message}");
        assert!(message.contains("perilune: ") && message.contains(words), "{arguments:?}: {message}");
    }
    for arguments in [
        &["--folded", "--pprof", "busy.lua"][..],
        &["--interval", "0", "busy.lua"],
        &["--hz", "5", "--interval", "100", "busy.lua"],
        &[],
    ] {
        assert_eq!(f.run(arguments).status.code(), Some(1), "{arguments:?}");
    }
    assert!(!f.file("no").exists());
}
