//! A host in C, compiled against the headers, with the shared and the static library; and the symbols of the shared one.
//!
//! `BLESS=1` writes what the host prints to `host.txt`. With `LIBLUAJIT` set to a directory that has LuaJIT's `libluajit-5.1.so.2`, the host
//! is run with that, too, and must print the same.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a state runs first: nothing, no compiler, a compiler for whatever runs twice, the same with a step of the collector at every safepoint.
/// A heap of these hosts is collected whole in some dozen such steps.
const MODES: [&str; 4] =
    ["", "jit.off()", "jit.opt.start('hotloop=1', 'hotexit=1')", "jit.opt.start('hotloop=1', 'hotexit=1', 'gcstress=10000')"];
/// The last of these with a collection at every safepoint.
const FULL_COLLECTIONS: &str = "jit.opt.start('hotloop=1', 'hotexit=1', 'gcstress=1')";

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with the libraries that were built for this test.
fn libraries() -> PathBuf {
    let exe = std::env::current_exe().expect("this program has a path");
    exe.parent().expect("a folder").to_owned()
}

/// A folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    text
}

/// A compiler for the machine that the library is for: what a variable of the environment says, or that of the system.
fn compiler(variable: &str, usual: &str) -> Command {
    Command::new(std::env::var_os(variable).unwrap_or_else(|| usual.into()))
}
fn cc() -> Command {
    compiler("CC", "cc")
}

/// A program that was compiled. `RUNNER` is the command that emulates its machine.
fn program(path: &Path) -> Command {
    let runner = std::env::var("RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(path) };
    let mut command = Command::new(emulator);
    command.args(words).arg(path);
    command
}

/// Compiles the host.
fn compile(to: &Path, arguments: &[&str]) {
    let mut cc = cc();
    cc.args(["-O1", "-Wall", "-Werror", "-I"]).arg(here().join("../include"));
    cc.args(["host.c", "rest.c", "show.c"].map(|source| here().join("tests").join(source)));
    run(cc.arg("-o").arg(to).args(arguments));
}

/// The names in a list of symbols of `nm`, sorted.
fn symbols(arguments: &[&str], file: &Path) -> Vec<String> {
    let listing = run(Command::new("nm").args(arguments).arg(file));
    let mut names: Vec<String> = listing.lines().filter_map(|l| l.split_whitespace().last().map(str::to_owned)).collect();
    names.sort_unstable();
    names
}

/// A folder with the shared library under the name that programs look for.
fn shared_library(name: &str) -> PathBuf {
    let folder = folder(name);
    let library = std::fs::canonicalize(libraries().join("libperilune_library.so")).expect("the shared library");
    for link in ["libluajit-5.1.so.2", "libluajit-5.1.so"] {
        let link = folder.join(link);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&library, link).expect("a link");
    }
    folder
}

/// Runs a host in all modes: it prints what is expected, with LuaJIT's library, too.
fn check(host: &Path, library: &Path, golden: &str) {
    check_with(host, library, golden, true);
}

/// The same for a host that may use what only Perilune's library has.
fn check_with(host: &Path, library: &Path, golden: &str, is_luajits: bool) {
    let with = |library: &Path, mode: &str| run(program(host).arg(mode).env("LD_LIBRARY_PATH", library));
    let golden = here().join("tests").join(golden);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&golden, with(library, MODES[0])).expect("the expected output is written");
    }
    let expected = std::fs::read_to_string(&golden).expect("the expected output");
    for mode in MODES {
        assert_eq!(with(library, mode), expected, "{mode}");
    }
    if let Some(theirs) = std::env::var_os("LIBLUAJIT").filter(|_| is_luajits) {
        assert_eq!(with(Path::new(&theirs), MODES[0]), expected, "LuaJIT prints something else");
    }
}

#[test]
fn host_prints_what_luajit_prints() {
    let folder = shared_library("host");
    let host = folder.join("host");
    compile(&host, &["-L", folder.to_str().expect("a path in UTF-8"), "-lluajit-5.1"]);
    check(&host, &folder, "host.txt");
}

/// Compiles a host of one file, for the library in `folder`.
fn compile_file(name: &str, host: &Path, folder: &Path) {
    let mut cc = cc();
    cc.args(["-O1", "-Wall", "-Werror", "-I"])
        .arg(here().join("../include"))
        .args([name, "show"].map(|file| here().join("tests").join(file).with_extension("c")));
    run(cc.arg("-o").arg(host).arg("-L").arg(folder).args(["-lluajit-5.1", "-lpthread"]));
}

/// Compiles a host of one file, and checks what it prints.
fn check_file(name: &str, is_luajits: bool) -> PathBuf {
    let folder = shared_library(name);
    let host = folder.join("host");
    compile_file(name, &host, &folder);
    check_with(&host, &folder, &format!("{name}.txt"), is_luajits);
    folder
}

/// AddressSanitizer finds nothing in the host, nor in modules whose frames errors leave.
#[test]
fn address_sanitizer_finds_nothing() {
    let folder = shared_library("sanitized");
    let sanitize = ["-g", "-fsanitize=address"];
    let probe =
        cc().args(sanitize).args(["-x", "c", "-", "-shared", "-o", "/dev/null"]).stdin(std::process::Stdio::null()).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("the compiler has no AddressSanitizer");
        return;
    }
    let library = folder.to_str().expect("a path in UTF-8");
    let host = folder.join("host");
    compile(&host, &["-g", "-fsanitize=address", "-L", library, "-lluajit-5.1"]);
    let expected = std::fs::read_to_string(here().join("tests/host.txt")).expect("the expected output");
    let capi = here().join("../../tests/capi");
    let (module, runner) = (folder.join("module.so"), folder.join("run"));
    let include = here().join("../include");
    let cc = |sources: &[PathBuf], to: &Path, arguments: &[&str]| {
        run(cc().args(sanitize).args(["-O1", "-I"]).arg(&include).args(sources).arg("-o").arg(to).args(arguments));
    };
    cc(&[capi.join("module.c")], &module, &["-shared", "-fPIC"]);
    cc(&[capi.join("speed.c")], &folder.join("speed.so"), &["-shared", "-fPIC"]);
    cc(&[capi.join("run.c")], &runner, &["-rdynamic", "-L", library, "-lluajit-5.1"]);
    let use_modules = "local m, s, n = require('module'), require('speed'), 0 \
        for i = 1, 500 do if not pcall(m.fail) then n = n + m.twice(i) end end \
        print(n, s.pcall(s.fail, 500), s.pcall(error, 500), s.unbox(s.box(3)), s.table(100))";
    let program = |path: &Path| {
        let mut command = program(path);
        // It looks for leaks by means that an emulator does not have.
        if std::env::var_os("RUNNER").is_some() {
            command.env("ASAN_OPTIONS", "detect_leaks=0");
        }
        command
    };
    // A collection at every safepoint takes too long here.
    for mode in &MODES[..3] {
        let mut command = program(&host);
        assert_eq!(run(command.arg(mode).env("LD_LIBRARY_PATH", &folder)), expected, "{mode}");
        let mut command = program(&runner);
        command
            .args(["-e", use_modules])
            .env("LUA_FIRST", mode)
            .env("LUA_CPATH", folder.join("?.so"))
            .env("LD_LIBRARY_PATH", &folder);
        assert_eq!(run(&mut command), "250500\t500\t500\t3\t9900\n", "{mode}");
    }
}

/// States in two threads, and on small stacks; errors do not use memory up.
#[test]
fn states_run_in_threads() {
    check_file("threads", true);
}

/// Hosts print the same with a collection at every safepoint.
#[test]
#[ignore = "takes a minute: see host_prints_what_luajit_prints"]
fn hosts_bear_full_collections() {
    let folder = shared_library("collected");
    let [host, threads] = ["host", "threads"].map(|name| folder.join(name));
    compile(&host, &["-L", folder.to_str().expect("a path in UTF-8"), "-lluajit-5.1"]);
    compile_file("threads", &threads, &folder);
    for (host, golden) in [(&host, "host.txt"), (&threads, "threads.txt")] {
        let expected = std::fs::read_to_string(here().join("tests").join(golden)).expect("the expected output");
        assert_eq!(run(program(host).arg(FULL_COLLECTIONS).env("LD_LIBRARY_PATH", &folder)), expected);
    }
}

/// 10^7 errors through frames of C.
#[test]
#[ignore = "takes minutes: see states_run_in_threads"]
fn errors_without_end() {
    let folder = check_file("threads", true);
    let expected = std::fs::read_to_string(here().join("tests/threads.txt")).expect("the expected output");
    let mut host = program(&folder.join("host"));
    assert_eq!(run(host.args([MODES[0], "10000000"]).env("LD_LIBRARY_PATH", &folder)), expected);
}

/// Files of the `io` library are `FILE *` for code in C, and both read and write them in order.
#[test]
fn files_are_those_of_c() {
    check_file("files", true);
}

/// Memory comes from the allocator of the host, goes back to it, and ends where it says.
#[test]
fn memory_comes_from_the_allocator() {
    check_file("allocator", true);
}

/// Hooks are set by signal handlers and other threads as well, and are no level of their own.
#[test]
fn hooks_are_set_at_any_time() {
    check_file("hooks", true);
}

/// Calls nest as deep as the native stack allows, stacks give their memory back, and compiled code sees what functions in C change.
#[test]
fn limits_are_luajits_or_further() {
    check_file("limits", true);
}

#[test]
fn openrestys_additions_work() {
    check_file("openresty", false);
}

/// Exceptions of C++ go through Lua, and errors of Lua run destructors.
#[test]
fn exceptions_are_those_of_luajit() {
    let folder = shared_library("cpp");
    let host = folder.join("host");
    let mut compiler = compiler("CXX", "c++");
    compiler.args(["-O1", "-Wall", "-Werror", "-I"]).arg(here().join("../include")).arg(here().join("tests/cpp.cpp"));
    run(compiler.arg("-o").arg(&host).arg("-L").arg(&folder).arg("-lluajit-5.1"));
    check(&host, &folder, "cpp.txt");
}

#[test]
fn static_library_is_complete() {
    let host = folder("static").join("host");
    let library = libraries().join("libperilune_library.a");
    compile(&host, &[library.to_str().expect("a path in UTF-8"), "-lm", "-lpthread", "-ldl"]);
    let expected = std::fs::read_to_string(here().join("tests/host.txt")).expect("the expected output");
    assert_eq!(run(program(&host).arg(MODES[0])), expected);
}

/// The symbols are those of LuaJIT 2.1, but for the one that has its version in the name, and those that OpenResty has added.
#[test]
fn symbols_are_those_of_luajit() {
    let found = symbols(&["-D", "--defined-only"], &libraries().join("libperilune_library.so"));
    let expected = std::fs::read_to_string(here().join("tests/symbols.txt")).expect("the list of symbols");
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
    assert_eq!(found.len(), 147 + 5);
}

/// The host calls every function.
#[test]
fn host_calls_every_function() {
    let folder = shared_library("calls");
    let host = folder.join("host");
    compile(&host, &["-L", folder.to_str().expect("a path in UTF-8"), "-lluajit-5.1"]);
    let mut called = symbols(&["-u"], &host);
    let other = folder.join("openresty.o");
    run(cc().args(["-c", "-I"]).arg(here().join("../include")).arg(here().join("tests/openresty.c")).arg("-o").arg(&other));
    called.extend(symbols(&["-u"], &other));
    let expected = std::fs::read_to_string(here().join("tests/symbols.txt")).expect("the list of symbols");
    let missing: Vec<&str> = expected.lines().filter(|name| !called.iter().any(|c| c == name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
