//! Random structs and unions, laid out.

use super::types::{DECLARATIONS, HEADERS, Type};
use super::{compile, folder, rounds, run};
use fastrand::Rng;
use std::fmt::Write;

/// A member.
enum Member {
    Plain(Type),
    /// Type and width; without a name if it has none.
    Bits(&'static str, u32, bool),
    /// A struct or union without a name.
    Anonymous(bool, Vec<Member>),
}

const BIT_TYPES: [(&str, u32); 8] = [
    ("int", 32),
    ("unsigned", 32),
    ("int8_t", 8),
    ("uint8_t", 8),
    ("int16_t", 16),
    ("uint16_t", 16),
    ("bool", 1),
    ("uint32_t", 32),
];

fn member(rng: &mut Rng, earlier: &[Type], depth: u32, packed: bool) -> Member {
    // Packed bit-fields across units are not laid out by LuaJIT either.
    match rng.u8(..10) {
        0 | 1 if !packed => {
            let (name, bits) = BIT_TYPES[rng.usize(..BIT_TYPES.len())];
            let named = rng.u8(..6) != 0;
            let width = if !named && rng.bool() { 0 } else { rng.u32(1..=bits) };
            Member::Bits(name, width, named)
        }
        2 if depth < 2 => {
            Member::Anonymous(rng.bool(), (0..rng.usize(1..4)).map(|_| member(rng, earlier, depth + 1, packed)).collect())
        }
        3 if !earlier.is_empty() => Member::Plain(earlier[rng.usize(..earlier.len())].clone()),
        4 => Member::Plain(Type::Array(Box::new(Type::scalar(rng, |_| true)), rng.usize(1..5))),
        _ => Member::Plain(Type::scalar(rng, |_| true)),
    }
}

/// Writes the members; names of those that are plain, and of bit-fields.
fn write_members(
    rng: &mut Rng,
    members: &[Member],
    n: &mut usize,
    out: &mut String,
    plain: &mut Vec<String>,
    bits: &mut Vec<String>,
) {
    for member in members {
        let name = format!("m{n}");
        *n += 1;
        match member {
            Member::Plain(t) => {
                let aligned =
                    if rng.u8(..12) == 0 { format!(" __attribute__((aligned({})))", 1 << rng.u32(..6)) } else { String::new() };
                _ = write!(out, "{}{aligned}; ", t.member(&name));
                plain.push(name);
            }
            Member::Bits(t, width, true) => {
                _ = write!(out, "{t} {name} : {width}; ");
                bits.push(name);
            }
            Member::Bits(t, width, false) => _ = write!(out, "{t} : {width}; "),
            Member::Anonymous(is_union, members) => {
                out.push_str(if *is_union { "union { " } else { "struct { " });
                write_members(rng, members, n, out, plain, bits);
                out.push_str("}; ");
            }
        }
    }
}

/// A table of C types has 65,536 entries: each round is a program of its own.
#[test]
fn structs_are_laid_out_as_in_c() {
    (0..rounds()).for_each(round);
}

fn round(n: usize) {
    let folder = folder(&format!("layouts-{n}"));
    let mut rng = Rng::with_seed(n as u64);
    let (mut shared, mut c, mut lua) = (String::new(), String::new(), String::new());
    let mut types: Vec<Type> = Vec::new();
    for i in 0..500 {
        let name = format!("L{i}");
        let packed = rng.u8(..5) == 0;
        let earlier = types[types.len().saturating_sub(20)..].to_vec();
        let members: Vec<Member> = (0..rng.usize(1..8)).map(|_| member(&mut rng, &earlier, 0, packed)).collect();
        let (mut fields, mut plain, mut bits) = (String::new(), Vec::new(), Vec::new());
        write_members(&mut rng, &members, &mut 0, &mut fields, &mut plain, &mut bits);
        let is_union = rng.u8(..6) == 0;
        let attribute = if packed { " __attribute__((packed))" } else { "" };
        _ = writeln!(shared, "typedef {} {{ {fields}}}{attribute} {name};", if is_union { "union" } else { "struct" });
        _ = writeln!(c, "put(\"{name}\", sizeof({name}), _Alignof({name}));");
        _ = writeln!(lua, "put('{name}', ffi.sizeof('{name}'), ffi.alignof('{name}'))");
        for m in plain {
            _ = writeln!(c, "put(\"{name}.{m}\", offsetof({name}, {m}), 0);");
            _ = writeln!(lua, "put('{name}.{m}', ffi.offsetof('{name}', '{m}'), 0)");
        }
        for m in bits {
            _ = writeln!(c, "{{ {name} v; memset(&v, 0, sizeof v); v.{m} = -1; bytes(\"{name}.{m}\", &v, sizeof v); }}");
            _ = writeln!(lua, "do local v = ffi.new('{name}') v.{m} = ones(v.{m}) bytes('{name}.{m}', v) end");
        }
        if rng.bool() {
            types.push(Type::Aggregate(name, Vec::new()));
        }
    }
    let c = format!(
        "{HEADERS}#include <stdio.h>\n{DECLARATIONS}{shared}\nstatic char text[1 << 24]; static size_t at;\n\
         static void put(const char *n, size_t a, size_t b) {{ at += sprintf(text + at, \"%s %zu %zu\\n\", n, a, b); }}\n\
         static void bytes(const char *n, const void *p, size_t size) {{ at += sprintf(text + at, \"%s\", n);\n\
           for (size_t i = 0; i < size; i++) at += sprintf(text + at, \" %02x\", ((const unsigned char *)p)[i]);\n\
           at += sprintf(text + at, \"\\n\"); }}\n\
         const char *describe(void) {{\nat = 0;\n{c}return text;\n}}\n"
    );
    // One function with all statements is too long for LuaJIT's parser.
    let chunks: Vec<String> =
        lua.lines().collect::<Vec<_>>().chunks(1000).map(|lines| format!("(function() {} end)()", lines.join("\n"))).collect();
    let script = format!(
        "local ffi = require('ffi')\nlocal library = ...\nffi.cdef[[{DECLARATIONS}{shared}const char *describe(void);]]\n\
         local lines = {{}}\nlocal function put(n, a, b) lines[#lines + 1] = ('%s %d %d'):format(n, a, b) end\n\
         local function ones(v) if type(v) == 'boolean' then return true end return -1 end\n\
         local function bytes(n, v) lines[#lines + 1] = n .. ffi.string(ffi.cast('char *', v), ffi.sizeof(v)):gsub('.', function(c) return (' %02x'):format(c:byte()) end) end\n\
         {}\nlocal text = ffi.string(ffi.load(library or './libmain.so').describe())\n\
         local i, wrong = 0, {{}}\n\
         for line in text:gmatch('[^\\n]+') do i = i + 1 if lines[i] ~= line then wrong[#wrong + 1] = line .. ' not ' .. tostring(lines[i]) end end\n\
         if not library then print(i, table.concat(wrong, '\\n')) end\nreturn table.concat(wrong, '\\n')",
        chunks.join(";\n")
    );
    let library = compile(&folder, &c);
    assert_eq!(run(&folder, &script, &library), "");
}
