//! Bytecode on the command line: `-b`, `-bl`, `-jbc`, and running what was saved.

mod command;

use command::{Done, folder, run_in};
use std::path::{Path, PathBuf};

const PROGRAM: &str = "local t, n = {a = 1}, ...\nlocal function f(x)\n  t.a = x\n  return function() return t.a + 0.5 end\nend\n\
                       for i = 1, 3 do f(\"a\\n\\1\") end\nprint(\"m\", n, f(2)())\nreturn t\n";

/// What is listed for [`PROGRAM`]: the same lines as LuaJIT's.
const LISTING: &str = "\
-- BYTECODE -- m.lua:4-4
0001    UGET     0   0      ; t
0002    TGETS    0   0   0  ; \"a\"
0003    ADDVN    0   0   0  ; 0.5
0004    RET1     0   2

-- BYTECODE -- m.lua:2-5
0001    UGET     1   0      ; t
0002    TSETS    0   1   0  ; \"a\"
0003    FNEW     1   1      ; m.lua:4
0004    UCLO     0 => 0005
0005 => RET1     1   2

-- BYTECODE -- m.lua:0-9
0001    TDUP     0   0
0002    VARG     1   2   0
0003    FNEW     2   1      ; m.lua:2
0004    KSHORT   3   1
0005    KSHORT   4   3
0006    KSHORT   5   1
0007    FORI     3 => 0012
0008 => MOV      7   2
0009    KSTR     9   2      ; \"a\\n\\001\"
0010    CALL     7   1   2
0011    FORL     3 => 0008
0012 => GGET     3   3      ; \"print\"
0013    KSTR     5   4      ; \"m\"
0014    MOV      6   1
0015    MOV      7   2
0016    KSHORT   9   2
0017    CALL     7   2   2
0018    CALL     7   0   1
0019    CALLM    3   1   2
0020    UCLO     0 => 0021
0021 => RET1     0   2

";

fn with(name: &str) -> PathBuf {
    let folder = folder(&format!("bytecode-{name}"));
    std::fs::write(folder.join("m.lua"), PROGRAM).expect("a file is written");
    folder
}

fn run(folder: &Path, args: &[&str]) -> Done {
    run_in(folder, args, "")
}

fn file(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).expect("a file was written")
}

#[test]
fn listing() {
    let folder = with("listing");
    assert_eq!(run(&folder, &["-bl", "m.lua"]).ok(), LISTING);
    assert_eq!(run(&folder, &["-b", "-l", "m.lua", "out.txt"]).ok(), "");
    assert_eq!(file(&folder, "out.txt"), LISTING.as_bytes());
    let e = run(&folder, &["-jbc", "m.lua", "x"]);
    assert_eq!((e.status, e.output.as_str(), e.errors.as_str()), (Some(0), "m\tx\t2.5\n", LISTING));
    assert_eq!(run(&folder, &["-jbc=-", "m.lua"]).ok(), format!("{LISTING}m\tnil\t2.5\n"));
    let short = "-- BYTECODE -- \"x=y\":0-1\n0001    GGET     0   0      ; \"y\"\n0002    GSET     0   1      ; \"x\"\n0003    RET0     0   1\n\n";
    assert_eq!(run(&folder, &["-ble", "x=y"]).ok(), short);
}

/// Bytecode that was saved, in the three places where a program may come from.
#[test]
fn runs() {
    let folder = with("runs");
    for options in ["-b", "-bg", "-bs", "-bd"] {
        assert_eq!(run(&folder, &[options, "m.lua", "m.raw"]).ok(), "");
        let saved = file(&folder, "m.raw");
        assert!(saved.starts_with(b"\x1bLJ\x02"));
        assert_eq!(run(&folder, &["m.raw", "x"]).ok(), "m\tx\t2.5\n", "{options}");
        let code = "package.path = './?.raw' local t = require 'm' print(t.a)";
        assert_eq!(run(&folder, &["-e", code]).ok(), "m\tm\t2.5\n2\n");
        let code = "local f = io.open('m.raw', 'rb'):read('*a') print(load(f, 'x', 't')) print(load(f, 'x', 'b')('y').a)";
        assert_eq!(run(&folder, &["-e", code]).ok(), "nil\tattempt to load chunk with wrong mode\nm\ty\t2.5\n2\n");
    }
    // Lists what was saved with its debug information.
    run(&folder, &["-bg", "m.lua", "m.raw"]).ok();
    assert_eq!(run(&folder, &["-bl", "m.raw"]).ok(), LISTING);
}

#[test]
fn standard_input() {
    let folder = with("stdin");
    std::fs::create_dir_all(&folder).expect("a folder");
    assert_eq!(run_in(&folder, &["-b", "-", "m.raw"], "print('in', ...)").ok(), "");
    assert_eq!(run(&folder, &["m.raw", "x"]).ok(), "in\tx\n");
    assert_eq!(run_in(&folder, &["-bt", "h", "-", "-"], "").ok().lines().next(), Some("#define luaJIT_BC___SIZE 18"));
}

#[test]
fn c_files() {
    let folder = with("c");
    run(&folder, &["-b", "m.lua", "m.raw"]).ok();
    let bytes = file(&folder, "m.raw");
    let numbers = |text: &str| -> Vec<u8> {
        let body = &text[text.find("{\n").expect("a body") + 2..text.find("\n};").expect("an end")];
        assert!(body.lines().all(|l| l.len() <= 78));
        body.split(',').map(|n| n.trim().parse().expect("a byte")).collect()
    };
    assert_eq!(run(&folder, &["-b", "m.lua", "m.h"]).ok(), "");
    let header = String::from_utf8(file(&folder, "m.h")).unwrap();
    let start = format!("#define luaJIT_BC_m_SIZE {}\nstatic const unsigned char luaJIT_BC_m[] = {{\n", bytes.len());
    assert!(header.starts_with(&start), "{header}");
    assert_eq!(numbers(&header), bytes);
    for output in ["m.c", "m.cc"] {
        assert_eq!(run(&folder, &["-bn", "a.b-c", "m.lua", output]).ok(), "");
        let text = String::from_utf8(file(&folder, output)).unwrap();
        assert!(text.contains("const unsigned char luaJIT_BC_a_b_c[] = {\n"), "{text}");
        assert_eq!(numbers(&text), bytes);
    }
}

#[test]
fn object_files() {
    let folder = with("objects");
    run(&folder, &["-b", "m.lua", "m.raw"]).ok();
    let bytes = file(&folder, "m.raw");
    let contains = |file: &[u8], part: &[u8]| file.windows(part.len()).any(|w| w == part);
    let all: &[(&[&str], &[u8])] = &[
        (&["-a", "x64", "-o", "linux"], b"\x7fELF\x02\x01\x01\0"),
        (&["-a", "arm", "-o", "linux"], b"\x7fELF\x01\x01\x01\0"),
        (&["-a", "ppc", "-o", "linux"], b"\x7fELF\x01\x02\x01\0"),
        (&["-a", "mips64r6el", "-o", "openbsd"], b"\x7fELF\x02\x01\x01\x0c"),
        (&["-a", "x64", "-o", "Windows"], b"\x64\x86"),
        (&["-a", "ARM64", "-o", "osx"], b"\xcf\xfa\xed\xfe\x0c\0\0\x01"),
    ];
    for (options, magic) in all {
        assert_eq!(run(&folder, &[&["-b"], *options, &["m.lua", "m.o"]].concat()).ok(), "");
        let object = file(&folder, "m.o");
        assert!(object.starts_with(magic), "{options:?}");
        assert!(contains(&object, b"luaJIT_BC_m\0") && contains(&object, &bytes), "{options:?}");
    }
    let e = run(&folder, &["-b", "-a", "ppc", "-o", "osx", "m.lua", "m.o"]).failed();
    assert_eq!(e, "perilune: unsupported architecture for OSX\n");
}

#[test]
fn wrong() {
    let folder = with("wrong");
    let fails = |args: &[&str], text: &str| assert_eq!(run(&folder, args).failed(), format!("perilune: {text}\n"), "{args:?}");
    fails(&["-b", "none.lua", "x"], "cannot open none.lua: No such file or directory");
    fails(&["-bl", "none.lua"], "cannot open none.lua: No such file or directory");
    fails(&["-be", "x x", "x"], "[string \"x x\"]:1: '=' expected near 'x'");
    fails(&["-b", "m.lua", "none/x"], "none/x: No such file or directory");
    fails(&["-bt", "zip", "m.lua", "x"], "unknown file type 'zip'");
    fails(&["-ba", "z80", "m.lua", "x"], "unknown architecture 'z80'");
    fails(&["-bo", "dos", "m.lua", "x"], "unknown OS name 'dos'");
    fails(&["-bn", "a b", "m.lua", "x"], "bad module name");
    fails(&["-bW", "m.lua", "x"], "cannot generate 32 bit bytecode");
    let both = "-b needs an input and an output";
    let list = "-bl needs an input, and no more than an output";
    for (args, text) in [
        (&["-b"][..], both),
        (&["-b", "m.lua"], both),
        (&["-bl"], list),
        (&["-bl", "a", "b", "c"], list),
        (&["-bx", "m.lua", "x"], "unrecognized option '-x' of -b"),
        (&["-bt"], "'-t' needs argument"),
        (&["-btg", "m.lua"], "'-t' needs argument"),
        (&["-b", "a", "-e", "b"], "'-e' after the input 'a'"),
    ] {
        let usage = run(&folder, args).failed();
        assert!(
            usage.starts_with(&format!("perilune: {text}\nSave bytecode: perilune -b[options] input output\n")),
            "{args:?}: {usage}"
        );
    }
}

/// Files on `package.path` are preferred to what is in the binary.
#[test]
fn own_modules_come_last() {
    let folder = with("modules");
    std::fs::create_dir_all(folder.join("jit")).expect("a folder");
    std::fs::write(folder.join("jit/bc.lua"), "return { dump = function() print('mine') end }").expect("a file is written");
    assert_eq!(run(&folder, &["-bl", "m.lua"]).ok(), "mine\n");
    let code =
        "package.path = '' print(require('jit.bc').dump ~= nil, require('jit.v').start ~= nil, pcall(require, 'jit.none'))";
    let expected = "true\ttrue\tfalse\tmodule 'jit.none' not found:\n\tno field package.preload['jit.none']";
    assert!(run(&folder, &["-e", code]).ok().starts_with(expected));
}

#[test]
fn library() {
    let folder = with("library");
    let code = "local bc = require 'jit.bc' local f = loadstring('local x = ... while x do x = x - 1 end', '=f')\n\
                io.write(bc.line(f, 1), bc.line(f, 3, '->'), tostring((bc.line(f, 100))), '\\n')\n\
                local t = {} for pc in pairs(bc.targets(f)) do t[#t + 1] = pc end table.sort(t) print(unpack(t))\n\
                bc.dump(f, { write = function(_, s) io.write('|', s) end, flush = function() print('done') end })";
    let done = run(&folder, &["-e", code]).ok();
    let expected = "0001    VARG     0   2   0\n0003 -> JMP      1 => 0007\nnil\n2\t7\n\
                    |-- BYTECODE -- f:0-1\n|0001    VARG     0   2   0\n|0002 => ISF          0\n|0003    JMP      1 => 0007\n\
                    |0004    LOOP     1 => 0007\n|0005    SUBVN    0   0   0  ; 1\n|0006    JMP      1 => 0002\n\
                    |0007 => RET0     0   1\n|\ndone\n";
    assert_eq!(done, expected);
}
