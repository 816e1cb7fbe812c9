//! Modules in C in the command: a module that is compiled with the headers of the C API, loaded in all ways.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with the compiled module, as `module.so` and under a name with a mark.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["module.so", "v1-module.so"] {
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-Wall", "-Werror", "-I"]).arg(root.join("capi/include"));
        let status = cc.arg(root.join("tests/capi/module.c")).arg("-o").arg(folder.join(file)).status();
        assert!(status.is_ok_and(|s| s.success()), "the module is not compiled");
    }
    folder
}

/// Runs a chunk in a folder; what it prints.
fn run_with(folder: &Path, options: &[&str], chunk: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
    command.args(options).args(["-e", chunk]).current_dir(folder).env_remove("LUA_CPATH").env_remove("LUA_PATH");
    let Output { status, stdout, stderr } = command.output().expect("the command runs");
    assert!(status.success(), "{chunk}: {status}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

/// Runs a chunk in a folder in each mode; what it prints in all of them.
fn run(folder: &Path, chunk: &str) -> String {
    let modes = [&["-joff"][..], &["-Ohotloop=1", "-Ohotexit=1"], &["-Ogcstress=1"]];
    let mut printed: Vec<String> = modes.iter().map(|options| run_with(folder, options, chunk)).collect();
    printed.dedup();
    assert_eq!(printed.len(), 1, "modes differ: {printed:?}");
    printed.remove(0)
}

#[test]
fn modules_are_required() {
    let folder = folder("required");
    let chunk = "local m = require('module') local n = 0 for i = 1, 200 do n = n + m.twice(i) end print(n, m.name, m == require('module'))";
    assert_eq!(run(&folder, chunk), "40200\tmodule\ttrue\n");
    assert_eq!(run(&folder, "print(require('module.part'))"), "a part\n");
    assert_eq!(run(&folder, "print(require('v1-module').twice(4))"), "8\n");
}

#[test]
fn functions_in_c_stay_in_traces() {
    let folder = folder("traces");
    let chunk = "local twice, n = require('module').twice, 0 for i = 1, 200 do n = n + twice(i) end
        local trace = require('jit.util').traceinfo(1) print(n, trace.linktype, trace.link)";
    assert_eq!(run_with(&folder, &["-Ohotloop=10", "-Obudget=0"], chunk), "40200\tloop\t1\n");
}

#[test]
fn errors_go_through_functions_in_c() {
    let folder = folder("errors");
    let chunk = "local m, n = require('module'), 0 for i = 1, 200 do if not pcall(m.fail) then n = n + 1 end end print(n)
        print(pcall(m.twice, {})) print(pcall(function() m.fail() end)) print(select(2, pcall(require, 'module.none')):match('no module.*'))";
    let expected = "200\nfalse\tbad argument #1 to '?' (number expected, got table)\nfalse\t(command line):2: failed in C\n\
                    no module 'module.none' in file './module.so'\n";
    assert_eq!(run(&folder, chunk), expected);
}

/// Compiles a shared object from a source text, with further arguments for the compiler.
fn shared_object(folder: &Path, file: &str, text: &str, arguments: &[&str]) {
    let source = folder.join(file).with_extension("c");
    std::fs::write(&source, text).expect("the source is written");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC"]).arg(&source).arg("-o").arg(folder.join(file)).args(arguments).current_dir(folder);
    assert!(cc.status().is_ok_and(|s| s.success()), "{file} is not compiled");
}

/// A module for another Lua calls functions that are not there: it is not loaded.
#[test]
fn modules_with_unknown_functions_are_refused() {
    let folder = folder("unknown");
    shared_object(&folder, "other.so", "int luaB_none(void *L); int luaopen_other(void *L) { return luaB_none(L); }", &[]);
    let chunk = "print(select(2, pcall(require, 'other'))) print(package.loadlib('./other.so', 'luaopen_other'))";
    let expected = "error loading module 'other' from file './other.so':\n\t./other.so: undefined symbol: luaB_none\n\
                    nil\t./other.so: undefined symbol: luaB_none\topen\n";
    assert_eq!(run(&folder, chunk), expected);
}

/// A module that is linked with the library of another Lua 5.1 loads that library, but calls the functions of this program.
#[test]
fn modules_linked_with_another_lua_call_this_one() {
    let folder = folder("linked");
    let functions = ["lua_pushinteger", "lua_pushvalue"];
    let bodies = functions.map(|name| format!("void {name}(void *L, long n) {{ __builtin_trap(); }}")).concat();
    shared_object(&folder, "liblua5.1.so", &bodies, &[]);
    let declared = functions.map(|name| format!("void {name}(void *L, long n);")).concat();
    let opener = "int luaopen_linked(void *L) { lua_pushinteger(L, 42); lua_pushvalue(L, -1); return 1; }";
    shared_object(&folder, "linked.so", &(declared + opener), &["-L.", "-llua5.1", "-Wl,-rpath,$ORIGIN"]);
    assert_eq!(run(&folder, "print(require('linked'))"), "42\n");
}

#[test]
fn libraries_are_loaded() {
    let folder = folder("loaded");
    let chunk = "print(package.loadlib('./module.so', 'luaopen_module_part')()) print(package.loadlib('./module.so', '*'))
        print(select('#', package.loadlib('./module.so', 'none')), (select(3, package.loadlib('./module.so', 'none'))))
        print((select(3, package.loadlib('./none.so', 'none'))))";
    assert_eq!(run(&folder, chunk), "a part\ntrue\n3\tinit\nopen\n");
}

/// A Rust program decides whether its scripts load modules in C. Errors of Rust functions go through functions in C.
#[test]
fn programs_in_rust_allow_modules() {
    let folder = folder("embedded");
    // SAFETY: the scripts are known.
    let lua = unsafe { perilune::Lua::unsafe_new() };
    lua.globals().set("folder", folder.to_str().expect("a path in UTF-8")).expect("a global");
    lua.load("package.cpath = folder .. '/?.so'").exec().expect("the path is set");
    let refused = lua.load("require('module')").exec().expect_err("no module is loaded");
    assert!(refused.to_string().contains("module"), "{refused}");
    // SAFETY: the module is known.
    unsafe { lua.allow_c_modules() };
    let fail =
        lua.create_function(|_, n: i32| -> perilune::Result<()> { Err(perilune::Error::runtime(format!("failed with {n}"))) });
    lua.globals().set("fail", fail.expect("a function")).expect("a global");
    let used = "local m = require('module') return m.twice(4), pcall(m.fail), tostring(select(2, pcall(m.call, fail, 7)))";
    let (eight, failed, message): (i32, bool, String) = lua.load(used).eval().expect("the module is used");
    assert!(eight == 8 && !failed && message.contains("failed with 7"), "{eight} {failed} {message}");
}

#[test]
fn functions_in_c_have_their_names_in_memory_profiles() {
    let folder = folder("names");
    let chunk = "local open, misc = package.loadlib('./module.so', 'luaopen_module'), require('misc')
        local file = os.tmpname()
        assert(misc.memprof.start(file)) assert(type(coroutine.wrap(open)()) == 'table') assert(misc.memprof.stop())
        local stream = io.open(file, 'rb'):read('*a') os.remove(file)
        print(stream:find('\\14luaopen_module', 1, true) ~= nil)";
    assert_eq!(run(&folder, chunk), "true\n");
}
