//! `docs/coverage.md` is what the table of builtins says, and what becomes of loops over operations of the FFI (`BLESS=1` writes it).

use perilune_vm::stdlib::{Builtin, OnTrace};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Does a builtin with this treatment belong to a section?
type Is = fn(OnTrace) -> bool;

fn page() -> String {
    let mut page = String::from(
        "# Builtins on traces\n\n\
         Made from the table of builtins (`vm/src/stdlib/list.rs`) by `BLESS=1 cargo test --test coverage`.\n\n\
         Every bytecode is recorded. `tests/lua/events/bytecodes.lua` has a loop for each bytecode,\n\
         `tests/lua/events/builtins.lua` one for each builtin.\n\n\
         Native functions that are not in the table are stitched around (those of `package` and of the `jit` library), or called (those\n\
         that a program which embeds Perilune has made).\n",
    );
    let (record, call): (Is, Is) = (|o| matches!(o, OnTrace::Record(_)), |o| o == OnTrace::Call);
    let (enter, stitch): (Is, Is) = (|o| o == OnTrace::Enter, |o| o == OnTrace::Stitch);
    let end: Is = |o| o == OnTrace::End;
    let kinds = [
        (record, "Compiled", "The recorder emits IR for them. With arguments of kinds that it does not know, they are called."),
        (call, "Called", "The trace stores its state, calls them, and continues."),
        (
            enter,
            "Entered",
            "The function that they call becomes part of the trace. Where that is not possible, they are stitched around.",
        ),
        (stitch, "Stitched around", "The trace ends before the call, and another one starts after it."),
        (end, "Ends", "The trace ends before the call, which does not return."),
    ];
    for (belongs, title, meaning) in kinds {
        let _ = write!(page, "\n## {title}\n\n{meaning}\n\n");
        for b in Builtin::ALL.iter().filter(|b| belongs(b.on_trace())) {
            let _ = writeln!(page, "- `{}`", b.name());
        }
    }
    page.push_str(&operations_of_the_ffi());
    page
}

/// What runs before the loops over operations of the FFI.
const DECLARATIONS: &str = r#"
local ffi, bit = require "ffi", require "bit"
ffi.cdef [[
  typedef struct { int x; double y; float f; bool b; int64_t w; uint8_t tag[4]; } item;
  typedef struct { uint32_t low:5, high:20; bool flag:1; } fields;
  typedef union { double d; uint64_t u; } both;
  typedef struct { int n; int data[?]; } sized;
  typedef enum { RED, GREEN } colour;
  int abs(int); double fabs(double); size_t strlen(const char *); int snprintf(char *, size_t, const char *, ...);
  bool isatty(int); void *memchr(const void *, int, size_t);
]]
local item, both = ffi.typeof "item", ffi.typeof "both"
local s, list, p = item(), ffi.new "item[4]", ffi.new "int[8]" + 0
local f, u, c, v = ffi.new "fields", both(), ffi.new("complex", 1, 2), ffi.new "int[8]"
local buf, wide, C, keep = ffi.new "char[64]", 5LL, ffi.C, {}
local vec
vec = ffi.metatype("struct { double a; }", {
  __add = function(a, b) return vec(a.a + b.a) end,
  __index = { get = function(a) return a.a end },
  __tostring = function(a) return "vec" end,
  __pairs = function(a) return function(a, k) if not k then return 1, a.a end end, a end,
  __newindex = function(a, k, v) a.a = v end,
  __lt = function(a, b) return a.a < b.a end,
  __le = function(a, b) return a.a <= b.a end,
})
local owner = ffi.metatype("struct { int x; }", { __gc = function() end })
local m, colour, sum = vec(1), ffi.new("colour", 1), 0
"#;

/// Operations of the FFI, with the body of a loop.
const OPERATIONS: &[(&str, &str)] = &[
    ("read and write a field that is a number", "s.x = s.x + 1 s.y = s.y + s.x s.f = s.f + 1"),
    ("a field that is a `bool`", "s.b = i > 0 sum = s.b and sum + 1 or sum"),
    ("a field of 64 bits", "s.w = s.w + i"),
    ("an element of an array, or behind a pointer", "v[i % 8] = p[1] + i"),
    ("an element of an array in a struct", "s.tag[i % 4] = i"),
    ("a field of an element", "list[i % 4].x = i"),
    ("a member of a union", "u.d = i sum = sum + tonumber(bit.band(u.u, 1ULL))"),
    ("a bitfield of up to 31 bits", "f.low = i sum = sum + f.low + f.high"),
    ("a bitfield that is a `bool`", "f.flag = true"),
    ("a part of a complex number", "sum = sum + c.re"),
    ("a struct assigned to an element", "list[i % 4] = s"),
    ("a union assigned to another", "u = both(u)"),
    ("arithmetic and comparison of 64-bit integers", "wide = wide * 3 + i if wide < 7LL then sum = sum + 1 end"),
    ("division and remainder of 64-bit integers", "wide = (wide + i) / 3 % 1000"),
    ("power of 64-bit integers", "wide = wide ^ 2"),
    ("operations on 64 bits", "wide = bit.bxor(bit.lshift(wide, 3), wide)"),
    ("arithmetic and comparison of pointers", "if p + i ~= p then sum = sum + ((p + i) - p) end"),
    ("a pointer compared with `nil`", "if p ~= nil then sum = sum + 1 end"),
    ("a metamethod of a type", "m = m + vec(1)"),
    ("a comparison by a metamethod of a type", "if m < vec(i) or vec(i) <= m then sum = sum + 1 end"),
    ("`__newindex` of a type", "m.key = i"),
    ("a method of a type", "sum = sum + m:get()"),
    ("`tonumber` of a 64-bit integer", "sum = sum + tonumber(wide)"),
    ("`tostring` by a metamethod of a type", "sum = sum + #tostring(m)"),
    ("a loop by `__pairs` of a type", "for k, x in pairs(m) do sum = sum + x end"),
    ("`tostring` of a 64-bit integer", "keep[1] = tostring(wide)"),
    ("a new scalar", "keep[1] = ffi.new('int64_t', i)"),
    ("a new struct, with values", "keep[1] = item(i, 2)"),
    ("a new struct, as a copy", "keep[1] = item(s)"),
    ("a new struct, from a table", "keep[1] = item { x = i }"),
    ("a new struct, with the finalizer of its type", "keep[1] = owner(i)"),
    ("a new array, with values", "keep[1] = ffi.new('int[4]', i, 2)"),
    ("a new array of variable length", "keep[1] = ffi.new('int[?]', i)"),
    ("a new array of variable length, with values", "keep[1] = ffi.new('int[?]', 3, i)"),
    ("a new struct of variable length", "keep[1] = ffi.new('sized', i)"),
    ("`ffi.cast` of a number or a pointer", "sum = sum + tonumber(ffi.cast('uint8_t', i)) keep[1] = ffi.cast('void *', p)"),
    ("`ffi.typeof`, `ffi.istype`, `ffi.sizeof`, `ffi.offsetof`", "if ffi.istype(item, s) then sum = sum + ffi.sizeof(item) end"),
    ("`ffi.string`", "keep[1] = ffi.string(buf, 3)"),
    ("`ffi.copy`, `ffi.fill`", "ffi.fill(buf, 8, i) ffi.copy(buf, 'text')"),
    ("`ffi.gc`", "ffi.gc(s, nil)"),
    ("`ffi.errno`", "sum = sum + ffi.errno()"),
    ("a function with scalars and pointers", "sum = sum + C.abs(-i) + C.fabs(-0.5) + tonumber(C.strlen(buf))"),
    ("a function with a pointer as the result", "keep[1] = C.memchr(buf, 0, 9)"),
    ("a function with a `bool` as the result", "sum = C.isatty(0) and sum or sum + 1"),
    ("a function with variable arguments", "C.snprintf(buf, 9, 'x')"),
    ("a constant of an enumeration", "sum = sum + tonumber(ffi.cast('int', C.GREEN))"),
    ("an enumeration compared with a name", "if colour == 'GREEN' then sum = sum + 1 end"),
];

/// What a loop over an operation becomes: the IR says whether its trace calls builtins.
fn on_traces(body: &str) -> &'static str {
    let program = format!("{DECLARATIONS}for i = 1, 300 do {body} end");
    let output =
        Command::new(env!("CARGO_BIN_EXE_perilune")).args(["-jdump=i", "-e", &program]).output().expect("the command runs");
    let shown = [output.stdout, output.stderr].concat();
    let shown = String::from_utf8_lossy(&shown);
    assert!(output.status.success(), "{body}:\n{shown}");
    match (shown.contains("stop -> loop"), shown.contains("NATIVE")) {
        (true, false) => "compiled",
        (true, true) => "called",
        (false, _) => "given up",
    }
}

fn operations_of_the_ffi() -> String {
    let mut text = String::from(
        "\n## Operations of the FFI\n\n\
         Found by a loop over each: compiled, called (a builtin of the FFI does it, which the trace calls), or given up (there is no trace).\n\n\
         | operation | example | |\n|---|---|---|\n",
    );
    for (operation, body) in OPERATIONS {
        let _ = writeln!(text, "| {operation} | `{}` | {} |", body.replace('|', "\\|"), on_traces(body));
    }
    text
}

#[test]
fn the_page_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/coverage.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page()).expect("the page is written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the page"), page());
}
