//! Tests of long jump lists, and of how tables are made.

use super::compile;
use crate::bc::{KGc, KVal, Op, ProtoData};
use crate::source::Source;
use std::time::{Duration, Instant};

/// The parser's message about a text, which must not take long: walking a list from its start for each jump took minutes.
fn message(text: &str) -> Option<String> {
    let begun = Instant::now();
    let result = compile(Source::whole(text.as_bytes()), b"=test");
    assert!(begun.elapsed() < Duration::from_secs(20), "{} bytes take {:?}", text.len(), begun.elapsed());
    result.err().map(|e| String::from_utf8_lossy(e.message().expect("a syntax error")).into_owned())
}

#[test]
fn long_chains_take_linear_time() {
    const N: usize = 300_000;
    let chains = [
        ["if a then f() ", &"elseif a then f() ".repeat(N), "end"].concat(),
        ["while true do ", &"if a then break end ".repeat(N), "end"].concat(),
        ["for i = 1, 2 do ", &"if a then continue end ".repeat(N), "end"].concat(),
        ["local x = a", &" or a".repeat(N)].concat(),
        ["local x = a", &" and a".repeat(N)].concat(),
        ["do ", &"if a then goto done end ".repeat(N / 10), "end ::done::"].concat(),
    ];
    for text in chains {
        assert!(message(&text).is_some(), "a function has so much code: {}", &text[..30]);
    }
}

#[test]
fn chains_that_fit() {
    const N: usize = 5_000;
    for text in
        [["if a then f() ", &"elseif a then f() ".repeat(N), "end"].concat(), ["local x = a", &" or a".repeat(N)].concat()]
    {
        assert_eq!(message(&text), None, "{}", &text[..30]);
    }
}

/// How the first table of a function is made: the names in its template, or the size of its hash part.
fn first_table(p: &ProtoData) -> Result<Vec<String>, usize> {
    let made = p.bc.iter().find(|i| matches!(i.op(), Op::TNEW | Op::TDUP)).expect("it makes a table");
    if made.op() == Op::TNEW {
        return Err(made.d() >> 11);
    }
    let KGc::Table(t) = &p.kgc[made.d()] else { panic!("TDUP of something else") };
    let name = |(key, value): &(KVal, KVal)| {
        let KVal::Str(name) = key else { panic!("another key") };
        assert_eq!(*value, KVal::Nil);
        String::from_utf8_lossy(name).into_owned()
    };
    Ok(t.hash.iter().map(name).collect())
}
/// The same for a function of this body, and for a chunk of it.
fn tables(body: &str) -> [Result<Vec<String>, usize>; 2] {
    let compiled = |text: &str| compile(Source::whole(text.as_bytes()), b"=test").expect("it is a chunk");
    let chunk = compiled(&format!("local setmetatable = setmetatable; return function(v) {body} end"));
    let child = chunk.kgc.iter().find_map(|k| if let KGc::Proto(p) = k { Some(p) } else { None }).expect("a function");
    [first_table(child), first_table(&compiled(body))]
}

#[test]
fn a_new_table_has_the_fields_that_its_block_assigns() {
    let has = |body: &str, names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let bits = crate::object::hbits_for(names.len() as u32) as usize;
        let in_function = if names.is_empty() { Err(0) } else { Ok(names) };
        assert_eq!(tables(body), [in_function, Err(bits)], "{body}");
    };
    has("local t = {} t.x = 1 t.y, t.z = v, v function t.f() end function t:m() end", &["x", "z", "y", "f", "m"]);
    has("local t = setmetatable({}, v) t.x = 1 t.y = 2 return t", &["x", "y"]);
    has("local t = {} t.x = t.x or 1 t.x = 2", &["x"]);
    // Keys that are no names, blocks inside, other values, other tables.
    has("local t = {} t[1] = 1 t[v] = 2 if v then t.x = 1 end for i = 1, 2 do t.y = i end t.z.x = 3", &[]);
    has("local t = {} t.x = 1 t = v t.y = 2", &["x"]);
    has("local t = {} do local t = v t.y = 2 end t.x = 1", &["x"]);
    has("local t = {} local u = v u.x = 1 local function f() t.y = 1 end", &[]);
    has("local t = v({}, v) t.x = 1", &[]);
    has("local t = {{}} t.x = 1", &[]);
    has("local t = {} + v t.x = 1", &[]);
    has("local t = v and {} or {} t.x = 1", &[]);
    has("local t, u = {} t.x = 1", &[]);
    has("local t = setmetatable({}, v).w t.x = 1", &[]);
    has("local t = setmetatable({}, v)(v) t.x = 1", &[]);
    has("local t = setmetatable({}, v):m() t.x = 1", &[]);
    has("local t = setmetatable({}, v(v).w) t.x = 1", &["x"]);
}
