//! Values, conversions, tables, functions, chunks, and which libraries a state has.

use perilune::{Chunk, ChunkMode, Either, Error, Function, Lua, LuaOptions, ObjectLike, Result, StdLib, Table, Value, Variadic};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::{CString, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The message of the conversion error that evaluating a script to a `T` gives.
#[track_caller]
fn refused<T: perilune::FromLua>(script: &str) -> String {
    match Lua::new().load(script).eval::<T>().map(|_| ()) {
        Err(e @ Error::FromLuaConversionError { .. }) => e.to_string(),
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn numbers_are_cut_off_and_stay_in_range() -> Result<()> {
    let lua = Lua::new();
    assert_eq!(lua.load("3.9").eval::<i32>()?, 3);
    assert_eq!(lua.load("-0.9").eval::<u8>()?, 0);
    assert_eq!(lua.load("-3.9").eval::<i128>()?, -3);
    assert_eq!(lua.load("2^100").eval::<u128>()?, 1 << 100);
    assert_eq!(lua.load("'0x10'").eval::<u8>()?, 16);
    for (script, message) in [
        ("256", "error converting Lua integer to u8 (out of range)"),
        ("-1", "error converting Lua integer to u8 (out of range)"),
        ("0/0", "error converting Lua number to u8 (out of range)"),
        ("1/0", "error converting Lua number to u8 (out of range)"),
        ("{}", "error converting Lua table to u8 (expected number or string coercible to number)"),
        ("'x'", "error converting Lua string to u8 (expected number or string coercible to number)"),
    ] {
        assert_eq!(refused::<u8>(script), message);
    }
    assert!(refused::<u128>("2^128").ends_with("(out of range)"));
    assert!(refused::<i128>("2^127").ends_with("(out of range)"));
    assert_eq!(lua.load("-2^127").eval::<i128>()?, i128::MIN);
    Ok(())
}

#[test]
fn texts_and_paths() -> Result<()> {
    let lua = Lua::new();
    let globals = lua.globals();
    globals.set("path", PathBuf::from("/a/\u{fc}"))?;
    globals.set("c", c"moon")?;
    assert_eq!(globals.get::<OsString>("path")?, "/a/\u{fc}");
    assert_eq!(globals.get::<CString>("c")?, CString::from(c"moon"));
    assert_eq!(lua.load("1.5").eval::<Box<str>>()?, "1.5".into());
    assert_eq!(
        refused::<CString>("'a\\0b'"),
        "error converting Lua string to CString (nul byte found in provided data at position: 1)"
    );
    assert_eq!(refused::<String>("{}"), "error converting Lua table to String (expected string or number)");
    assert!(refused::<String>("'\\255'").starts_with("error converting Lua string to &str (invalid utf-8"));
    Ok(())
}

#[test]
fn collections() -> Result<()> {
    let lua = Lua::new();
    let map: BTreeMap<String, Vec<u8>> = lua.load("{ a = { 1, 2 }, b = {} }").eval()?;
    assert_eq!(map, BTreeMap::from([("a".to_owned(), vec![1, 2]), ("b".to_owned(), vec![])]));
    let set: BTreeSet<i32> = lua.convert(HashSet::from([1, 3, 5]))?;
    assert_eq!(set, BTreeSet::from([1, 3, 5]));
    assert_eq!(refused::<[i32; 3]>("{ 1, 2 }"), "error converting Lua table to [i32; 3] (expected table of length 3, got 2)");
    assert_eq!(refused::<Vec<Option<i32>>>("1"), "error converting Lua integer to Vec<Option<i32>> (expected table)");
    assert_eq!(refused::<Either<u8, Table>>("'x'"), "error converting Lua string to Either<u8, Table>");
    Ok(())
}

#[test]
fn bad_arguments_say_which() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_function(|_, (_, _): (i32, Table)| Ok(()))?;
    let e = f.call::<()>((1, 2)).unwrap_err();
    assert_eq!(e.message(), "bad argument #2: error converting Lua integer to table");
    Ok(())
}

#[test]
fn values_of_another_state_are_refused() -> Result<()> {
    let (lua, other) = (Lua::new(), Lua::new());
    let foreign = other.create_table()?;
    assert!(matches!(lua.globals().set("t", &foreign), Err(Error::ForeignValue { what: "table" })));
    assert!(matches!(lua.create_table()?.equals(&foreign), Err(Error::ForeignValue { .. })));
    assert!(matches!(lua.create_table()?.raw_insert(1, &foreign), Err(Error::ForeignValue { .. })));
    let f = lua.load("return x").into_function()?;
    assert!(matches!(f.set_environment(foreign.clone()), Err(Error::ForeignValue { .. })));
    assert!(matches!(lua.load("return x").set_environment(foreign).exec(), Err(Error::ForeignValue { .. })));
    Ok(())
}

#[test]
fn scripts_cannot_change_what_the_api_relies_on() -> Result<()> {
    let lua = Lua::new();
    lua.load("setmetatable, rawset, rawget, next, pairs, load, setfenv, string.dump, table.insert = nil").exec()?;
    let (t, meta) = (lua.create_table()?, lua.create_table()?);
    meta.set("__index", lua.create_function(|_, (_, k): (Table, String)| Ok(k.len()))?)?;
    t.set_metatable(Some(meta))?;
    assert_eq!(t.get::<usize>("four")?, 4);
    t.raw_insert(1, 5)?;
    assert_eq!(t.pairs::<i32, i32>().collect::<Result<Vec<_>>>()?, [(1, 5)]);
    let f = lua.load("local a, b = ... return a + b + c").into_function()?;
    f.set_environment(lua.create_table_from([("c", 100)])?)?;
    assert_eq!(f.bind(20)?.call::<i32>(3)?, 123);
    Ok(())
}

#[test]
fn many_values_are_bound() -> Result<()> {
    let lua = Lua::new();
    let all: Function = lua.load("function(...) return select('#', ...), (select(1, ...)), (select(-1, ...)) end").eval()?;
    let bound = all.bind(Variadic::from_iter(1..=254))?;
    assert_eq!(bound.call::<(i32, i32, i32)>(7)?, (255, 1, 7));
    assert!(matches!(all.bind(Variadic::from_iter(1..=255)), Err(Error::BindError)));
    // The loop is compiled, the bound function with it.
    let add: Function = lua.load("function(a, b) return a + b end").eval()?;
    let sum: Function = lua.load("function(f) local s = 0 for i = 1, 1000 do s = s + f(i) end return s end").eval()?;
    assert_eq!(sum.call::<i64>(add.bind(1)?)?, 501_500);
    Ok(())
}

#[test]
fn a_clone_of_a_compiled_function_has_its_own_upvalues() -> Result<()> {
    let lua = Lua::new();
    let count: Function = lua.load("local n = 0 return function(k) for _ = 1, k do n = n + 1 end return n end").eval()?;
    assert_eq!(count.call::<i32>(1000)?, 1000);
    let other = count.deep_clone()?;
    assert_eq!((other.call::<i32>(500)?, count.call::<i32>(1)?, other.call::<i32>(0)?), (1500, 1001, 1500));
    Ok(())
}

#[test]
fn chunks_are_named_after_the_place_of_the_call() -> Result<()> {
    let lua = Lua::new();
    let chunk = lua.load("error('no')");
    assert_eq!(chunk.name(), format!("@{}:{}", file!(), line!() - 1));
    let e = chunk.exec().unwrap_err();
    assert!(e.message().ends_with("no") && e.message().contains("values.rs"), "{e}");
    lua.globals().set("f", Chunk::wrap("return ..."))?;
    assert_eq!(lua.load("f(1, 2)").eval::<(i32, i32)>()?, (1, 2));
    Ok(())
}

#[test]
fn a_chunk_is_what_was_said() -> Result<()> {
    let lua = Lua::new();
    let binary = lua.load("return 1").into_function()?.dump(true);
    assert_eq!(lua.load(&binary).mode(), ChunkMode::Binary);
    assert_eq!(lua.load(&binary).eval::<i32>()?, 1);
    let e = lua.load(&binary).set_mode(ChunkMode::Text).exec().unwrap_err();
    assert_eq!(e.message(), "attempt to load a binary chunk, not a text one");
    assert!(lua.load("return 1").set_mode(ChunkMode::Binary).exec().is_err());
    Ok(())
}

#[test]
fn libraries_are_those_of_the_set() -> Result<()> {
    let has = |lua: &Lua| -> Result<Vec<String>> {
        let names = ["bit", "coroutine", "debug", "io", "jit", "math", "os", "package", "string", "table"];
        let found = names.iter().filter(|n| lua.globals().contains_key(**n).is_ok_and(|yes| yes));
        Ok(found.map(|n| (*n).to_owned()).collect())
    };
    let none = Lua::new_with(StdLib::NONE, LuaOptions::new())?;
    assert_eq!(has(&none)?, ["coroutine"]);
    assert!(none.load("('x'):rep(2)").eval::<Value>().is_err(), "strings have no methods");
    none.load_std_libs(StdLib::STRING | StdLib::BIT)?;
    assert_eq!(has(&none)?, ["bit", "coroutine", "string"]);
    assert_eq!(none.load("('x'):rep(2)").eval::<String>()?, "xx");
    for unsafe_library in [StdLib::DEBUG, StdLib::FFI, StdLib::ALL] {
        assert!(matches!(none.load_std_libs(unsafe_library), Err(Error::SafetyError(_))));
        assert!(matches!(Lua::new_with(unsafe_library, LuaOptions::new()), Err(Error::SafetyError(_))));
    }
    let safe = Lua::new();
    assert_eq!(has(&safe)?.len(), 9);
    assert!(safe.load("require 'debug'").exec().is_err() && safe.load("require 'ffi'").exec().is_err());
    // Loops are compiled without the library of the compiler as well.
    let quiet = Lua::new_with(StdLib::NONE, LuaOptions::new())?;
    assert_eq!(quiet.load("local s = 0 for i = 1, 1e5 do s = s + i end return s").eval::<u64>()?, 5_000_050_000);
    Ok(())
}

#[test]
fn panics_pass_where_they_are_not_caught() -> Result<()> {
    for catch in [true, false] {
        let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().catch_rust_panics(catch))?;
        lua.globals().set("f", lua.create_function(|_, ()| -> Result<()> { panic!("moon") })?)?;
        let script = "local ok, e = pcall(f) ok, e = xpcall(f, function(e) return e end) return 'caught'";
        let outcome = catch_unwind(AssertUnwindSafe(|| lua.load(script).eval::<String>()));
        assert_eq!(outcome.is_ok(), catch);
        // Errors are caught all the same, and the state can be used.
        assert!(!lua.load("return (pcall(error, 'x'))").eval::<bool>()?);
    }
    Ok(())
}

#[test]
fn fields_and_methods_of_objects() -> Result<()> {
    let lua = Lua::new();
    let t: Table = lua.load("setmetatable({ f = 5 }, { __call = function(_, ...) return select('#', ...) end })").eval()?;
    assert_eq!(t.call::<i32>((1, 2, 3))?, 3);
    assert_eq!(t.call_method::<()>("f", ()).unwrap_err().message(), "attempt to call a integer value (function 'f')");
    assert!(lua.create_table()?.call::<()>(()).is_err());
    assert!(t.get_path::<Value>("a..b").is_err());
    Ok(())
}

#[test]
fn debug_output() -> Result<()> {
    let lua = Lua::new();
    let t: Table = lua.load("local t = { 1, b = { 'x' }, [2.5] = true } t.self = t return t").eval()?;
    let shown = format!("{t:#?}").replace(&format!("{:?}", t.to_pointer()), "ADDRESS");
    assert_eq!(shown, "{\n  [1] = 1,\n  [2.5] = true,\n  b = {\n    \"x\",\n  },\n  self = table: ADDRESS,\n}");
    assert_eq!(format!("{:?}", Value::Integer(1)), "Integer(1)");
    // What is nested deeper than the native stack reaches is not shown.
    let nested: Table = lua.load("local t = {} for i = 1, 50000 do t = { t } end return t").eval()?;
    let shown = format!("{nested:#?}");
    assert!(shown.contains("{\n    {\n") && shown.contains("table: 0x"));
    Ok(())
}
