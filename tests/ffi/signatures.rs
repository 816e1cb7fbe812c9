//! Functions with random signatures, called and called back.

use super::types::{DECLARATIONS, HEADERS, Kind, Type};
use super::{compile, folder, rounds, run};
use fastrand::Rng;
use std::fmt::Write;

/// What is written for all signatures: declarations that both languages have, C, Lua.
#[derive(Default)]
struct Sources {
    shared: String,
    c: String,
    lua: String,
}

const BEGIN_C: &str =
    "static uint64_t add(uint64_t h, int64_t v) { return (h ^ (uint64_t)v) * 0x100000001b3ull + 1; }\nuint64_t hash;\n";
const BEGIN_LUA: &str = "local ffi = require('ffi')\nlocal library = ...\n";

/// A random struct or union whose members are scalars, arrays, and earlier aggregates.
fn aggregate(rng: &mut Rng, i: usize, earlier: &[Type], out: &mut Sources) -> Type {
    // Kinds of members: any, or those of homogeneous aggregates.
    let only = [None, None, Some(Kind::Float), Some(Kind::Double), Some(Kind::Signed(8))][rng.usize(..5)];
    let member = |rng: &mut Rng| {
        let element = if !earlier.is_empty() && rng.u8(..6) == 0 {
            earlier[rng.usize(..earlier.len())].clone()
        } else {
            Type::scalar(rng, |kind| only.is_none_or(|only| only == kind))
        };
        if rng.u8(..5) == 0 { Type::Array(Box::new(element), rng.usize(1..4)) } else { element }
    };
    let is_union = rng.u8(..8) == 0;
    let count = if is_union { rng.usize(1..4) } else { rng.usize(1..6) };
    let members: Vec<Type> = (0..count).map(|_| member(rng)).collect();
    let name = format!("T{i}");
    let fields: String = members.iter().enumerate().map(|(i, m)| format!("{}; ", m.member(&format!("m{i}")))).collect();
    _ = writeln!(out.shared, "typedef {} {{ {fields}}} {name};", if is_union { "union" } else { "struct" });
    // Only the first member of a union has a value.
    let members = if is_union { members.into_iter().take(1).collect() } else { members };
    Type::Aggregate(name, members)
}

/// A function `f` with the hash of its arguments, which returns a value; what both should be; and one that calls back.
fn signature(rng: &mut Rng, i: usize, aggregates: &[Type], out: &mut Sources) {
    let any = |rng: &mut Rng| {
        if rng.u8(..3) == 0 { aggregates[rng.usize(..aggregates.len())].clone() } else { Type::scalar(rng, |_| true) }
    };
    let parameters: Vec<Type> = (0..rng.usize(..12)).map(|_| any(rng)).collect();
    let result = any(rng);
    let declared: Vec<String> = parameters.iter().enumerate().map(|(i, t)| t.member(&format!("a{i}"))).collect();
    let declared = if declared.is_empty() { "void".into() } else { declared.join(", ") };
    let mut hashes = String::new();
    parameters.iter().enumerate().for_each(|(i, t)| t.hash(&format!("a{i}"), &mut hashes));
    let values: Vec<_> = parameters.iter().map(|t| t.value(rng)).collect();
    let returned = result.value(rng);
    let name = result.name();
    let list = |of: fn(&super::types::Text) -> &str| values.iter().map(of).collect::<Vec<_>>().join(", ");
    let (in_c, in_lua) = (list(|t| &t.c), list(|t| &t.lua));
    _ = writeln!(out.shared, "{name} f{i}({declared}); uint64_t expected{i}(void); uint64_t result{i}({name} *p);");
    _ = writeln!(out.c, "{name} f{i}({declared}) {{ uint64_t h = {i}; {hashes}hash = h; return {}; }}", returned.c);
    _ = writeln!(out.c, "uint64_t expected{i}(void) {{ f{i}({in_c}); return hash; }}");
    let mut hash_result = String::new();
    result.hash("v", &mut hash_result);
    _ = writeln!(
        out.c,
        "static uint64_t of{i}({name} v) {{ uint64_t h = 0; {hash_result}return h; }}\n\
         uint64_t result{i}({name} *p) {{ return of{i}(*p) == of{i}({}); }}",
        returned.c
    );
    _ = writeln!(
        out.lua,
        "test('f{i}', function() local r = C.f{i}({in_lua})\n\
           assert(C.hash == C.expected{i}(), 'arguments')\n\
           local p = ffi.new('{name}[1]') p[0] = r assert(C.result{i}(p) == 1ULL, 'result') end)"
    );
    call_back(rng, i, out);
    variadic(rng, i, out);
}

/// Only scalars can be passed to callbacks.
fn is_simple(kind: Kind) -> bool {
    !matches!(kind, Kind::ComplexFloat | Kind::ComplexDouble)
}

fn call_back(rng: &mut Rng, i: usize, out: &mut Sources) {
    let parameters: Vec<Type> = (0..rng.usize(..12)).map(|_| Type::scalar(rng, is_simple)).collect();
    let result = Type::scalar(rng, is_simple);
    let types: Vec<String> = parameters.iter().map(Type::name).collect();
    let types = if types.is_empty() { "void".into() } else { types.join(", ") };
    let values: Vec<_> = parameters.iter().map(|t| t.value(rng)).collect();
    let returned = result.value(rng);
    let name = result.name();
    let in_c: Vec<&str> = values.iter().map(|v| &*v.c).collect();
    _ = writeln!(out.shared, "typedef {name} (*cb{i})({types}); int call{i}(cb{i} f);");
    _ = writeln!(out.c, "int call{i}(cb{i} f) {{ {name} v = f({}); return v == {}; }}", in_c.join(", "), returned.c);
    let names: Vec<String> = (0..parameters.len()).map(|i| format!("a{i}")).collect();
    let mut checks = String::new();
    for ((name, v), t) in names.iter().zip(&values).zip(&parameters) {
        let lua = if matches!(t, Type::Scalar(_, Kind::Enum)) { format!("ffi.new('enum e', {})", v.lua) } else { v.lua.clone() };
        _ = write!(checks, "assert({name} == {lua}, '{name}') ");
    }
    _ = writeln!(
        out.lua,
        "test('call{i}', function() local f = ffi.cast('cb{i}', function({}) {checks}return {} end)\n\
           local r = C.call{i}(f) f:free() assert(r == 1, 'result') end)",
        names.join(", "),
        returned.lua
    );
}

/// Numbers are doubles unless they are cdata.
fn variadic(rng: &mut Rng, i: usize, out: &mut Sources) {
    let fits = |kind| matches!(kind, Kind::Signed(32 | 64) | Kind::Unsigned(64) | Kind::Double | Kind::Pointer);
    let arguments: Vec<Type> = (0..rng.usize(1..14)).map(|_| Type::scalar(rng, fits)).collect();
    let values: Vec<_> = arguments.iter().map(|t| t.value(rng)).collect();
    let (mut read, mut expected) = (String::new(), String::new());
    let mut in_lua = String::new();
    for (t, v) in arguments.iter().zip(&values) {
        t.hash(&format!("va_arg(list, {})", t.name()), &mut read);
        t.hash(&format!("({})({})", t.name(), v.c), &mut expected);
        let boxed = matches!(t, Type::Scalar(_, Kind::Signed(32)));
        if boxed { _ = write!(in_lua, ", ffi.new('{}', {})", t.name(), v.lua) } else { _ = write!(in_lua, ", {}", v.lua) }
    }
    _ = writeln!(out.shared, "uint64_t va{i}(int first, ...); uint64_t vaexpected{i}(void);");
    _ = writeln!(
        out.c,
        "uint64_t va{i}(int first, ...) {{ uint64_t h = first; va_list list; va_start(list, first); {read}va_end(list); return h; }}\n\
         uint64_t vaexpected{i}(void) {{ uint64_t h = {i}; {expected}return h; }}"
    );
    _ = writeln!(out.lua, "test('va{i}', function() assert(C.va{i}({i}{in_lua}) == C.vaexpected{i}()) end)");
}

#[test]
fn functions_are_called_and_call_back() {
    (0..rounds()).for_each(round);
}

fn round(n: usize) {
    let folder = folder(&format!("signatures-{n}"));
    let mut rng = Rng::with_seed(n as u64);
    let mut out = Sources::default();
    let (types, signatures) = (40, 100);
    let mut aggregates: Vec<Type> = Vec::new();
    for i in 0..types {
        let new = aggregate(&mut rng, i, &aggregates[aggregates.len().saturating_sub(20)..], &mut out);
        aggregates.push(new);
    }
    (0..signatures).for_each(|i| signature(&mut rng, i, &aggregates, &mut out));
    let c = format!("{HEADERS}{DECLARATIONS}{}{BEGIN_C}{}", out.shared, out.c);
    let lua = format!(
        "{BEGIN_LUA}ffi.cdef[[{DECLARATIONS}{}uint64_t hash;]]\nlocal C = ffi.load(library or './libmain.so')\nlocal passed, failed = 0, {{}}\n\
         local function test(name, f)\n for i = 1, 3 do\n local ok, e = pcall(f)\n if ok then passed = passed + 1\n\
         else failed[#failed + 1] = name .. ': ' .. tostring(e) end\n end\nend\n\
         {}\nif not library then print(passed, table.concat(failed, '\\n')) end\nreturn passed .. ' ' .. table.concat(failed, '\\n')",
        out.shared, out.lua
    );
    let library = compile(&folder, &c);
    assert_eq!(run(&folder, &lua, &library), format!("{} ", signatures * 9));
}
