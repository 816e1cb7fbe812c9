//! The command line: options, errors and exit status. The texts are LuaJIT's, but for the program's name.

mod command;

use command::{Done, PERILUNE, folder, run, run_in};
use std::path::PathBuf;
use std::process::Command;

const BANNER: &str = concat!(
    "Perilune ",
    env!("CARGO_PKG_VERSION"),
    " -- Copyright (C) 2026 The Perilune authors. LuaJIT 2.1 dialect of Lua 5.1\n"
);

/// A folder with files.
fn with(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = folder(&format!("cli-{name}"));
    for (file, text) in files {
        std::fs::write(folder.join(file), text).expect("a file is written");
    }
    folder
}

/// Runs the command without files.
fn perilune(args: &[&str]) -> Done {
    perilune_with(args, "")
}

fn perilune_with(args: &[&str], input: &str) -> Done {
    run_in(env!("CARGO_TARGET_TMPDIR").as_ref(), args, input)
}

/// Runs one script of this text with the arguments before it.
fn script(name: &str, options: &[&str], text: &str) -> Done {
    let folder = with(name, &[("t.lua", text)]);
    run_in(&folder, &[options, &["t.lua"]].concat(), "")
}

#[test]
fn execute() {
    assert_eq!(perilune(&["-e", "print(1)"]).ok(), "1\n");
    assert_eq!(perilune(&["-eprint(1)", "-e", "print(2)"]).ok(), "1\n2\n");
    assert_eq!(perilune(&["-e", "x = 1", "-e", "print(x, ...)"]).ok(), "1\n", "a chunk has no arguments");
    // Standard input is not touched, and there is no interactive mode.
    assert_eq!(perilune_with(&["-e", "print(io.read())"], "line\n").ok(), "line\n");
    assert_eq!(perilune_with(&["-e", "print(1)"], "print(2)").ok(), "1\n");
}

#[test]
fn execute_fails() {
    let e = perilune(&["-e", "error('a')", "-e", "print(1)"]);
    assert_eq!(e.output, "");
    let expected = "perilune: (command line):1: a\nstack traceback:\n\t[C]: in function 'error'\n\
                    \t(command line):1: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(e.failed(), expected);
    assert_eq!(perilune(&["-e", "x ="]).failed(), "perilune: (command line):1: unexpected symbol near '<eof>'\n");
}

#[test]
fn require() {
    let folder = with("require", &[("m.lua", "print('m', ...) return 5"), ("bad.lua", "local x = = 1")]);
    assert_eq!(run_in(&folder, &["-l", "m", "-lm", "-e", "print(m, package.loaded.m)"], "").ok(), "m\tm\nnil\t5\n");
    let expected = "perilune: error loading module 'bad' from file './bad.lua':\n\t./bad.lua:1: unexpected symbol near '='\n";
    assert!(run_in(&folder, &["-lbad"], "").failed().starts_with(expected));
    let missing = run_in(&folder, &["-lnone", "-e", "print(1)"], "");
    assert_eq!(missing.output, "");
    let expected = "perilune: module 'none' not found:\n\tno field package.preload['none']\n\tno file './none.lua'\n";
    assert!(missing.failed().starts_with(expected));
}

#[test]
fn version() {
    assert_eq!(perilune(&["-v"]).ok(), BANNER);
    assert_eq!(perilune_with(&["-v"], "print(1)").ok(), BANNER, "standard input is not run");
    assert_eq!(perilune(&["-v", "-e", "print(1)"]).ok(), format!("{BANNER}1\n"));
    assert_eq!(perilune(&["-e", "print(1)", "-v"]).ok(), format!("{BANNER}1\n"));
}

/// A message that names the culprit, the synopsis, and where to find more; on standard error, with status 1.
#[test]
fn wrong_options() {
    for (args, culprit) in [
        (&["-x"][..], "unrecognized option '-x'"),
        (&["-e"], "'-e' needs argument"),
        (&["-l"], "'-l' needs argument"),
        (&["-j"], "'-j' needs argument"),
        (&["-vv"], "unrecognized option '-vv'"),
        (&["-ix"], "unrecognized option '-ix'"),
        (&["--no"], "unrecognized option '--no'"),
        (&["--memory-limit", "much"], "malformed number of bytes 'much' for '--memory-limit'"),
        (&["run", "-x"], "unrecognized option '-x'"),
    ] {
        let done = perilune(args);
        assert_eq!(done.output, "", "{args:?}");
        let expected =
            format!("perilune: {culprit}\nusage: perilune [options]... [script [args]...].\nTry 'perilune --help' for more.\n");
        assert_eq!(done.failed(), expected, "{args:?}");
    }
}

/// On standard output, with status 0.
#[test]
fn help() {
    let help = perilune(&["--help"]).ok().replace(PERILUNE, "perilune");
    assert!(help.starts_with("usage: perilune [options]... [script [args]...].\nAvailable options are:\n  -e chunk "), "{help}");
    for word in
        ["  --memory-limit bytes[k|m|g]\n", "  trace       ", "  profile     ", "  heap        ", "  memprof     ", " ./script"]
    {
        assert!(help.contains(word), "{word:?} in {help}");
    }
    assert_eq!(perilune(&["-h"]).ok().replace(PERILUNE, "perilune"), help);
    assert_eq!(perilune(&["help"]).ok().replace(PERILUNE, "perilune"), help);
    assert_eq!(perilune(&["-e", "print(1)", "--help"]).ok().replace(PERILUNE, "perilune"), help, "nothing else is done");
    assert_eq!(perilune(&["--version"]).ok(), BANNER);
    let heap = perilune(&["heap", "--help"]).ok();
    assert!(heap.contains("\nUsage: perilune heap <COMMAND>\n"), "{heap}");
    let without = perilune(&["heap"]).failed();
    assert!(without.starts_with("perilune: 'heap' needs a command\nShow the graph of objects"), "{without}");
}

/// All parameters, optimisations and commands there are, with what they mean and their defaults.
#[test]
fn help_on_the_compiler() {
    let text = perilune(&["-Ohelp"]).ok();
    for line in ["  hotloop=1200        Iterations before", "  gcstress=0          Stress", "  loop        Loop optimisation.\n"]
    {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    for name in perilune(&["-e", "print(select(2, jit.status()))"]).ok().split_whitespace() {
        assert!(
            name.chars().any(|c| !c.is_ascii_lowercase()) || text.contains(&format!("\n  {name} ")) || name.len() > 6,
            "{name}"
        );
    }
    let text = perilune(&["-jhelp"]).ok();
    for line in [
        "  off         Switch it off.\n",
        "  v           A line for each trace",
        "  stats       ",
        "  dump        ",
        "  p           ",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    assert!(!text.contains("bcsave") && !text.contains("zone"), "these are not started by -j:\n{text}");
    assert_eq!(perilune(&["-jhelp", "-e", "print(1)"]).ok(), format!("{text}1\n"));
}

/// A subcommand is the first argument; any other way to name a file runs it.
#[test]
fn scripts_called_like_a_subcommand() {
    let folder = with("subcommand", &[("trace", "print('script', arg[0], ...)"), ("run", "print('run', ...)")]);
    let run = |args: &[&str]| run_in(&folder, args, "").ok();
    assert_eq!(run(&["./trace", "x"]), "script\t./trace\tx\n");
    assert_eq!(run(&["--", "trace", "x"]), "script\ttrace\tx\n");
    assert_eq!(run(&["run", "trace", "x"]), "script\ttrace\tx\n");
    assert_eq!(run(&["-joff", "trace"]), "script\ttrace\n");
    assert_eq!(run(&["run", "run", "x"]), "run\tx\n");
    assert_eq!(run(&["run", "-e", "print(1)", "--", "run"]), "1\nrun\n");
    let failed = run_in(&folder, &["trace"], "").failed();
    assert!(failed.starts_with("perilune: the following required arguments were not provided:"), "{failed}");
}

#[test]
fn completions_and_manual() {
    for (shell, start) in
        [("bash", "_perilune() {"), ("zsh", "#compdef perilune"), ("fish", "# Print an optspec"), ("elvish", "\nuse ")]
    {
        let text = perilune(&["completions", shell]).ok();
        assert!(text.starts_with(start) && text.contains("memory-limit") && text.contains("flamegraph"), "{shell}: {text}");
    }
    let man = perilune(&["man"]).ok();
    assert!(man.contains(".TH perilune 1") && man.contains("\\fB\\-j\\fR") && man.contains("perilune\\-trace(1)"), "{man}");
}

/// Output that cannot be written gives status 1, from each place that writes, at once or at the end.
#[test]
fn full_disk() {
    let write = |args: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let mut command = Command::new(PERILUNE);
        let done = command.args(args).stdout(full).stderr(std::process::Stdio::piped()).output().expect("the command starts");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).replace(PERILUNE, "perilune"))
    };
    let expected = (Some(1), "perilune: cannot write: No space left on device\n".to_owned());
    for args in [&["-e", "print(1)"][..], &["-e", "io.write('x')"], &["--help"], &["-v"], &["-Ohelp"], &["man"]] {
        assert_eq!(write(args), expected, "{args:?}");
    }
    assert_eq!(write(&["-e", "for i = 1, 1e5 do print(i) end"]), expected, "in the middle");
    let by_exit = |status: &str| write(&["-e", &format!("print(1) os.exit({status})")]);
    assert_eq!(by_exit("0"), (Some(1), "cannot write: No space left on device\n".to_owned()));
    assert_eq!(by_exit("3").0, Some(3));
    let told = write(&["-e", "local ok, e = io.stdout:write(('x'):rep(1e6)) io.stderr:write(tostring(ok), e)"]);
    assert_eq!(told, (Some(0), "nilNo space left on device".to_owned()), "it is the program's to say what that means");
}

#[test]
fn interactive() {
    let input =
        "print('in')\n=1+\n2\nx x\nlocal a = nil; a.b = 1\n=nil,2\n_PROMPT = '$ '\n_PROMPT2 = '$$ '\n=1+\n1\nprint = nil\n=4\n";
    let done = perilune_with(&["-i"], input);
    let (banner, rest) = done.output.split_once('\n').unwrap();
    assert_eq!(format!("{banner}\n"), BANNER);
    let (jit, rest) = rest.split_once('\n').unwrap();
    assert!(jit.starts_with("JIT: ON "), "{jit}");
    assert!(jit.ends_with(" fold cse dce fwd dse narrow loop abc sink sync fuse"), "{jit}");
    assert_eq!(rest, "> in\n> >> 3\n> > > nil\t2\n> $ $ $$ 2\n$ $ $ \n");
    let expected = "stdin:1: '=' expected near 'x'\n\
                    stdin:1: attempt to index local 'a' (a nil value)\nstack traceback:\n\tstdin:1: in main chunk\n\t[C]: at 0x?\n\
                    error calling 'print' (attempt to call a nil value)\n";
    assert_eq!(command::without_addresses(&done.errors), expected);
    assert_eq!(done.status, Some(0), "errors do not end it");
}

/// Every error has its traceback, not only the first.
#[test]
fn interactive_errors() {
    let done = perilune_with(&["-i"], "error('a')\nerror('b')\n");
    let traceback = "\nstack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(command::without_addresses(&done.errors), format!("stdin:1: a{traceback}stdin:1: b{traceback}"));
}

#[test]
fn interactive_after_script() {
    let folder = with("interactive", &[("t.lua", "x = 5 print('script', ...)")]);
    let out = run_in(&folder, &["-joff", "-i", "t.lua", "a"], "=x").ok();
    let rest = out.strip_prefix(BANNER).unwrap();
    assert!(rest.starts_with("script\ta\nJIT: OFF "), "{rest}");
    assert!(rest.ends_with("\n> 5\n> \n"), "{rest}");
}

#[test]
fn environment() {
    let with_init = |init: &str, args: &[&str]| {
        let mut command = Command::new(PERILUNE);
        command.args(args).env("LUA_INIT", init).current_dir(with("environment", &[("init.lua", "print('file')")]));
        run(command, "")
    };
    assert_eq!(with_init("print('init', arg[0])", &["-e", "print(1)"]).ok(), "init\tnil\n1\n");
    assert_eq!(with_init("print('init')", &["-v"]).ok(), format!("init\n{BANNER}"));
    assert_eq!(with_init("@init.lua", &["-e", "print(1)"]).ok(), "file\n1\n");
    assert_eq!(with_init("print('init')", &["-E", "-e", "print(1)"]).ok(), "1\n");
    let wrong = with_init("error('init')", &["-e", "print(1)"]);
    assert_eq!(wrong.output, "");
    let expected = "perilune: LUA_INIT:1: init\nstack traceback:\n\t[C]: in function 'error'\n\
                    \tLUA_INIT:1: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(wrong.failed(), expected);
}

#[test]
fn paths() {
    let with_path = |path: &str, args: &[&str]| {
        let mut command = Command::new(PERILUNE);
        // Not by `run`, which takes these variables away.
        command.args(args).env("LUA_PATH", path).env("LUA_CPATH", path);
        let out = command.output().expect("the command starts");
        String::from_utf8(out.stdout).expect("a text")
    };
    let print = ["-e", "print(package.path) print(package.cpath)"];
    let default = with_path("", &["-E", "-e", "print(package.path) print(package.cpath)"]);
    let (path, cpath) = default.trim_end().split_once('\n').expect("two lines");
    assert!(path.starts_with("./?.lua;") && cpath.starts_with("./?.so;"), "{default}");
    assert_eq!(with_path("/q/?.x", &print), "/q/?.x\n/q/?.x\n");
    assert_eq!(with_path("", &print), "\n\n");
    assert_eq!(with_path("a;;b", &print), format!("a;{path};b\na;{cpath};b\n"));
    assert_eq!(with_path(";;", &print), format!(";{path};\n;{cpath};\n"));
    assert_eq!(with_path("x;;y;;", &print), format!("x;{path};y;{path};\nx;{cpath};y;{cpath};\n"));
}

/// Messages begin with the name that the command was called by.
#[test]
fn name_of_the_command() {
    let folder = folder("cli-name");
    let link = folder.join("moon");
    std::os::unix::fs::symlink(PERILUNE, &link).expect("a link");
    let link = link.to_str().expect("a path that is a text");
    let run_link = |args: &[&str]| {
        let mut command = Command::new(link);
        command.args(args);
        run(command, "").errors
    };
    assert_eq!(run_link(&["-e", "x x"]), format!("{link}: (command line):1: '=' expected near 'x'\n"));
    assert_eq!(
        run_link(&["-jnone"]),
        format!("{link}: unknown luaJIT command or jit.* modules not installed: '-jnone' (-jhelp lists what there is)\n")
    );
    assert!(run_link(&["-x"]).contains(&format!("\nusage: {link} [options]... [script [args]...].\n")));
    assert_eq!(run_link(&["-e", "print(arg[-2])"]), "");
}

/// `-j` with modules along `package.path`.
#[test]
fn modules_of_jit() {
    let folder = folder("cli-jit");
    std::fs::create_dir(folder.join("jit")).expect("a folder");
    for (name, text) in [
        ("args", "return { start = function(...) print(select('#', ...), ...) end }"),
        ("nostart", "return {}"),
        ("fails", "error('inside')"),
        ("wrong", "x x"),
    ] {
        std::fs::write(folder.join("jit").join(name).with_extension("lua"), text).expect("a file is written");
    }
    let jit = |option: &str| run_in(&folder, &[option], "");
    assert_eq!(jit("-jargs").ok(), "0\n");
    assert_eq!(jit("-jargs=").ok(), "0\n");
    assert_eq!(jit("-jargs=1,,x,").ok(), "4\t1\tnil\tx\tnil\n");
    assert_eq!(
        jit("-jnostart").failed(),
        "perilune: unknown luaJIT command or jit.* modules not installed: '-jnostart' (-jhelp lists what there is)\n"
    );
    assert_eq!(jit("-jfails").failed(), "perilune: ./jit/fails.lua:1: inside\n");
    let wrong =
        "perilune: error loading module 'jit.wrong' from file './jit/wrong.lua':\n\t./jit/wrong.lua:1: '=' expected near 'x'\n";
    assert_eq!(jit("-jwrong").failed(), wrong);
}

/// Chunks of many lines, and what is not the end of one.
#[test]
fn interactive_chunks() {
    let shown = |input: &str| {
        let done = perilune_with(&["-i"], input);
        let prompts = done.output.splitn(3, '\n').nth(2).expect("a banner").to_owned();
        (prompts, command::without_addresses(&done.errors))
    };
    let ok = |input: &str, output: &str| assert_eq!(shown(input), (output.to_owned(), String::new()), "{input}");
    ok("for i = 1, 2 do\nprint(i)\nend\n", "> >> >> 1\n2\n> \n");
    ok("x = [[\nabc\n]]\n=x\n", "> >> >> > abc\n\n> \n");
    ok("f(\n", "> >> \n");
    ok("x = 1 +\n\n2\n=x\n", "> >> >> > 3\n> \n");
    ok("local a = 1\n=a\n", "> > nil\n> \n");
    ok("=1\n= 1,2\n=\n", "> 1\n> 1\t2\n> > \n");
    ok("return 1,nil,3\nreturn\nreturn nil\n", "> 1\tnil\t3\n> > nil\n> \n");
    ok("=io.read()\nhello\n=5\n", "> hello\n> 5\n> \n");
    ok("_PROMPT = 5\n=1\n_PROMPT = {}\n=2\n", "> 51\n5> 2\n> \n");
    ok("=1", "> 1\n> \n");
    ok("1 + 1\n'a', 2\n", "> 2\n> a\t2\n> \n");
    ok("1 +\n2\n", "> >> 3\n> \n");
    let (output, errors) = shown("error()\nerror({})\nerror(\"'<eof>'\", 0)\n=1\n");
    assert_eq!(output, "> > > > 1\n> \n");
    let traceback = "stack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(errors, format!("(error object is not a string)\n'<eof>'\n{traceback}"));
}

#[test]
fn arguments() {
    let folder = with("arguments", &[("t.lua", "print(arg[-1], arg[0], arg[1], arg[3], ...)")]);
    assert_eq!(run_in(&folder, &["-joff", "t.lua", "x", "y"], "").ok(), "-joff\tt.lua\tx\tnil\tx\ty\n");
    assert_eq!(run_in(&folder, &["--", "t.lua", "-v"], "").ok(), "--\tt.lua\t-v\tnil\t-v\n");
    assert_eq!(run_in(&folder, &["-e", "arg = {9, 8, nil, 7}", "t.lua", "x"], "").ok(), "nil\tnil\t9\tnil\t9\t8\n");
    assert_eq!(run_in(&folder, &["-e", "arg = nil", "-e", "print(arg)"], "").ok(), "nil\n");
    assert_eq!(run_in(&folder, &["-e", "print(arg[0], arg[-1], #arg)"], "").ok(), "nil\tprint(arg[0], arg[-1], #arg)\t0\n");
}

#[test]
fn standard_input() {
    assert_eq!(perilune_with(&[], "print('in', ...)").ok(), "in\n");
    assert_eq!(perilune_with(&["-", "a", "b"], "print('in', ...)").ok(), "in\ta\tb\n");
    assert_eq!(perilune_with(&["-"], "#!/bin/sh\nprint(1)").ok(), "1\n");
    let e = perilune_with(&["-"], "\nerror('e')").failed();
    let expected =
        "perilune: stdin:2: e\nstack traceback:\n\t[C]: in function 'error'\n\tstdin:2: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(e, expected);
    // After `--` it is a file.
    assert_eq!(perilune_with(&["--", "-"], "print(1)").failed(), "perilune: cannot open -: No such file or directory\n");
}

#[test]
fn compiler_switches() {
    let status = |options: &[&str]| {
        let out = perilune(&[options, &["-e", "print(jit.status())"]].concat()).ok();
        let words: Vec<&str> = out.split_whitespace().collect();
        let flags = words.iter().skip(1).filter(|w| w.chars().all(|c| c.is_ascii_lowercase()));
        format!("{} {}", words[0], flags.copied().collect::<Vec<_>>().join(" ")).trim_end().to_owned()
    };
    const ALL: &str = "fold cse dce fwd dse narrow loop abc sink sync fuse";
    assert_eq!(status(&[]), format!("true {ALL}"));
    assert_eq!(status(&["-joff"]), format!("false {ALL}"));
    assert_eq!(status(&["-joff", "-jon"]), format!("true {ALL}"));
    assert_eq!(status(&["-j", "off"]), format!("false {ALL}"));
    assert_eq!(status(&["-O0"]), "true");
    assert_eq!(status(&["-O1"]), "true fold cse dce");
    assert_eq!(status(&["-O2"]), "true fold cse dce narrow loop");
    assert_eq!(status(&["-O3"]), format!("true {ALL}"));
    assert_eq!(status(&["-O1", "-O"]), format!("true {ALL}"));
    assert_eq!(status(&["-O0", "-Ofold,+cse,loop"]), "true fold cse loop");
    assert_eq!(status(&["-O-fold,nocse,no-dce,hotloop=3"]), "true fwd dse narrow loop abc sink sync fuse");
}

#[test]
fn wrong_switches() {
    let flag = |o: &str, text: &str| {
        assert_eq!(perilune(&[o]).failed(), format!("perilune: unknown or malformed optimization flag '{text}'\n"));
    };
    flag("-Ofoo", "foo");
    flag("-Ohotloop=x", "hotloop=x");
    flag("-Ohotloop=-1", "hotloop=-1");
    flag("-Ohotloop", "hotloop");
    flag("-Ofold,10", "10");
    assert_eq!(
        perilune(&["-jfoo"]).failed(),
        "perilune: unknown luaJIT command or jit.* modules not installed: '-jfoo' (-jhelp lists what there is)\n"
    );
    assert_eq!(perilune(&["-jon=x"]).failed(), "perilune: '-jon=x': bad argument #1 to '?' (function expected, got string)\n");
}

/// A loop of 3,000 rounds is compiled under each watcher, and a smaller one is explained.
#[test]
fn small_programs_are_watched() {
    let watched = |option: &str, rounds: u32| {
        let done = perilune(&[option, "-e", &format!("local x = 0 for i = 1, {rounds} do x = x + i end")]);
        assert_eq!(done.status, Some(0), "{done:?}");
        done.output + &done.errors
    };
    for (option, shows) in [("-jv", "[TRACE   1"), ("-jdump=t", "TRACE 1 stop -> loop"), ("-jstats", "loop  (command line):1")] {
        let text = watched(option, 3000);
        assert!(text.contains(shows) && !text.contains("nothing was compiled"), "{option}: {text}");
        let text = watched(option, 30);
        assert!(text.contains("nothing was compiled: no loop") && text.contains("-Ohotloop=2"), "{option}: {text}");
    }
    let off = perilune(&["-joff", "-jv", "-e", "for i = 1, 3000 do end"]);
    assert!(off.errors.contains("the compiler is off"), "{off:?}");
    let literal = perilune(&["-Ohotloop=20", "-jv", "-e", "for i = 1, 30 do end"]);
    assert!(literal.errors.contains("[TRACE   1"), "a threshold that is set is taken literally: {literal:?}");
    let count = "local n = 0 jit.attach(function() n = n + 1 end, 'EVENT') for i = 1, 3000 do end print(n, jit.util)
        print(require('jit.util').counters(true).closed)";
    let attached = |event: &str| perilune(&["-e", &count.replace("EVENT", event)]).ok();
    assert_eq!(attached("trace"), "2\tnil\n1\n");
    assert_eq!(attached("watch"), "0\tnil\n1\n");
    assert_eq!(attached("none"), "0\tnil\n0\n", "this program is not compiled when it is not watched");
}

#[test]
fn verbose() {
    // Such a short loop is only compiled where the budget for compiling is off.
    let looped = perilune(&["-Obudget=0", "-jv", "-e", "for i = 1, 200 do local x = i end"]);
    assert_eq!((looped.status, &*looped.errors), (Some(0), "[TRACE   1 (command line):1 loop]\n"));
    let folder = with("verbose", &[("t.lua", "local x = 0\nfor i = 1, 200 do x = x + i end")]);
    assert_eq!(run_in(&folder, &["-Obudget=0", "-jv=out.txt", "t.lua"], "").ok(), "");
    let out = std::fs::read_to_string(folder.join("out.txt")).unwrap();
    assert_eq!(out, "[TRACE   1 t.lua:2 loop]\n");
    // Samples end, which throws traces away, while the file is still open.
    assert_eq!(run_in(&folder, &["-Obudget=0", "-jp=f,p.txt", "-jv=out.txt", "t.lua"], "").ok(), "");
    let out = std::fs::read_to_string(folder.join("out.txt")).unwrap();
    assert_eq!(out, "[TRACE   1 t.lua:2 loop]\n[TRACE flush]\n");
}

#[test]
fn missing_file() {
    assert_eq!(perilune(&["nofile.lua"]).failed(), "perilune: cannot open nofile.lua: No such file or directory\n");
}

#[test]
fn syntax_error() {
    assert_eq!(script("syntax", &[], "local x = = 1").failed(), "perilune: t.lua:1: unexpected symbol near '='\n");
    assert_eq!(script("syntax", &[], "\nfor").failed(), "perilune: t.lua:2: '<name>' expected near '<eof>'\n");
}

#[test]
fn binary_chunks() {
    for text in ["\x1bLJ\x02garbage", "\x1bLua", "\x1b"] {
        assert_eq!(script("binary", &[], text).failed(), "perilune: t.lua: cannot load incompatible bytecode\n");
    }
}

#[test]
fn runtime_error() {
    let text = "local t = {}\nlocal function f() return t.x.y end\nlocal function g() local r = f() return r end\ng()";
    let expected = "perilune: t.lua:2: attempt to index field 'x' (a nil value)\nstack traceback:\n\
                    \tt.lua:2: in function 'f'\n\tt.lua:3: in function 'g'\n\tt.lua:4: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(script("runtime", &[], text).failed(), expected);
    let no_position = "perilune: msg\nstack traceback:\n\t[C]: in function 'error'\n\tt.lua:1: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(script("runtime", &[], "error('msg', 0)").failed(), no_position);
}

#[test]
fn error_objects() {
    assert_eq!(script("objects", &[], "error({})").failed(), "perilune: (error object is not a string)\n");
    assert_eq!(script("objects", &[], "error(print)").failed(), "perilune: (error object is not a string)\n");
    assert_eq!(script("objects", &[], "error()").failed(), "", "nil prints nothing");
    let text = "error(setmetatable({}, {__tostring = function() return 'mine' end}))";
    let expected = "perilune: mine\nstack traceback:\n\t[C]: in function 'error'\n\tt.lua:1: in main chunk\n\t[C]: at 0x?\n";
    assert_eq!(script("objects", &[], text).failed(), expected);
}

/// In every mode, with the head and the end of the traceback.
#[test]
fn endless_recursion() {
    for options in [&["-joff"][..], &[], &["-Ohotloop=1", "-Ohotexit=1"]] {
        for text in ["local function f() return 1 + f() end f()", "local function f(n) return (f(n + 1)) end f(1)"] {
            let e = script("recursion", options, text).failed();
            assert!(e.starts_with("perilune: t.lua:1: stack overflow\nstack traceback:\n\tt.lua:1: in function 'f'\n"), "{e}");
            assert!(e.contains("\n\t...\n"), "{e}");
            assert!(e.ends_with("\tt.lua:1: in function 'f'\n\tt.lua:1: in main chunk\n\t[C]: at 0x?\n"), "{e}");
        }
    }
}

/// LuaJIT shows eleven functions, and the last ten with the host's.
#[test]
fn traceback_of_endless_recursion() {
    let e = script("recursion", &["-joff"], "local function f() return 1 + f() end f()").failed();
    let f = "\tt.lua:1: in function 'f'\n";
    let expected = format!(
        "perilune: t.lua:1: stack overflow\nstack traceback:\n{}\t...\n{}\tt.lua:1: in main chunk\n\t[C]: at 0x?\n",
        f.repeat(11),
        f.repeat(8)
    );
    assert_eq!(e, expected);
}

#[test]
fn memory_limit() {
    for options in [&["-joff"][..], &[], &["-Ohotloop=1", "-Ohotexit=1"]] {
        let options = [options, &["--memory-limit", "32m"]].concat();
        let e = script("memory", &options, "local s = 'x' while true do s = s .. s end").failed();
        assert_eq!(e, "perilune: not enough memory\n");
        let e = script("memory", &options, "local t = {} for i = 1, 1e9 do t[i] = tostring(i) end").failed();
        assert_eq!(e, "perilune: not enough memory\n");
        let caught = "print(pcall(string.rep, 'x', 1e9)) print(#string.rep('x', 1e6))";
        assert_eq!(script("memory", &options, caught).ok(), "false\tnot enough memory\n1000000\n");
    }
}

/// A loop that does nothing but let one table grow.
#[test]
fn memory_limit_of_a_table() {
    for options in [&["-joff"][..], &[], &["-Ohotloop=1", "-Ohotexit=1"]] {
        let options = [options, &["--memory-limit", "32m"]].concat();
        let e = script("growing", &options, "local t = {} for i = 1, 3e7 do t[i] = i end").failed();
        assert_eq!(e, "perilune: not enough memory\n");
    }
}

#[test]
fn exit_status() {
    assert_eq!(perilune(&["-e", "os.exit(7)"]).status, Some(7));
    assert_eq!(perilune(&["-e", "os.exit()"]).status, Some(0));
    assert_eq!(perilune(&["-e", "io.write('x') os.exit(3)"]).output, "x", "what was written is not lost");
}

/// A topic that does not exist is named, and the program runs all the same.
#[test]
fn topics_of_the_log() {
    let mut command = Command::new(PERILUNE);
    command
        .args(["-Ohotloop=2", "-e", "local x = 0 for i = 1, 100 do x = x + i end print(x)"])
        .env("PERILUNE_LOG", "traces,exit");
    let done = run(command, "");
    assert_eq!(done.output, "5050\n");
    let expected = "PERILUNE_LOG has no topic 'traces': there are trace, ir, clif, asm, aborted, exit, time\n";
    assert!(done.errors.starts_with(expected), "{}", done.errors);
}
