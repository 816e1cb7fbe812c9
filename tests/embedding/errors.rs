//! Each way to use the interface wrongly, and each limit, has an error of its own, which says what and where.

use perilune::{AnyUserData, Error, Function, Lua, LuaString, Table, Thread, Value};
use std::time::Duration;

#[test]
fn values_of_other_types() {
    let lua = Lua::new();
    let values = "return nil, true, 1.5, 'text', {}, print, coroutine.create(print), io.stdout";
    let values: perilune::MultiValue = lua.load(values).eval().expect("values");
    macro_rules! check {
        ($($t:ty: $($fits:literal)|*;)*) => {$(
            for v in &values {
                let result = lua.convert::<$t>(v.clone());
                let name = v.type_name();
                if [$($fits),*].contains(&name) {
                    assert!(result.is_ok(), "{name} is a {}", stringify!($t));
                    continue;
                }
                match result {
                    Err(Error::FromLuaConversionError { from, to, .. }) => assert_eq!((from, to.is_empty()), (name, false)),
                    Err(other) => panic!("{name} as {}: {other}", stringify!($t)),
                    Ok(_) => panic!("{name} is no {}", stringify!($t)),
                }
            }
        )*};
    }
    check! {
        Table: "table";
        Function: "function";
        Thread: "thread";
        AnyUserData: "userdata";
        LuaString: "string" | "number";
        f64: "number";
        Vec<u8>: "table";
    }
    // The argument of a function is named with it.
    let f = lua.create_function(|_, (_, _): (i32, Table)| Ok(())).expect("a function");
    lua.globals().set("f", f).expect("a global");
    let e = lua.load("local t = {}\nf(1, t)\nf(1, 2)").set_name("=chunk").exec().expect_err("a wrong argument");
    let text = e.to_string();
    assert!(text.contains("bad argument #2") && text.contains("chunk:3:"), "{text}");
}

#[test]
fn values_of_other_states() {
    let (one, two) = (Lua::new(), Lua::new());
    let t = two.create_table().expect("a table");
    let foreign = [
        Value::Table(t.clone()),
        Value::Function(two.load("return 1").into_function().expect("a function")),
        Value::String(two.create_string("s").expect("a string")),
        Value::Thread(two.create_thread(two.load("return 1").into_function().expect("a function")).expect("a coroutine")),
        Value::UserData(two.create_any_userdata(1).expect("userdata")),
    ];
    let mine = one.create_table().expect("a table");
    let f: Function = one.load("return ...").into_function().expect("a function");
    for v in foreign {
        let name = v.type_name();
        for result in [
            mine.set("x", v.clone()),
            mine.raw_set(v.clone(), 1),
            mine.push(v.clone()),
            f.call::<()>(v.clone()),
            one.globals().set(v.clone(), 1),
        ] {
            match result {
                Err(Error::ForeignValue { what }) => assert_eq!(what, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    assert!(matches!(mine.set_metatable(Some(t.clone())), Err(Error::ForeignValue { .. })));
    assert!(matches!(one.set_globals(t), Err(Error::ForeignValue { .. })));
    let key = two.create_registry_value(1).expect("a key");
    assert!(matches!(one.registry_value::<i32>(&key), Err(Error::MismatchedRegistryKey)));
}

#[test]
fn limits_that_are_reached() {
    let lua = Lua::new();
    let text = "local t = {}\nfor i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end";
    let located = |e: &Error| e.traceback().is_some_and(|t| t.contains("chunk:"));
    let run = |text: &str| lua.load(text).set_name("=chunk").exec().expect_err(text);
    let before = lua.set_memory_limit(lua.used_memory() + (4 << 20)).expect("a limit");
    let e = run(text);
    // There is no memory for a traceback.
    assert!(matches!(e, Error::MemoryError(_)), "{e}");
    lua.set_memory_limit(before).expect("no limit");
    lua.set_fuel(Some(1000));
    let e = run("while true do end");
    assert!(matches!(e, Error::OutOfFuel(_)) && located(&e), "{e}");
    lua.set_fuel(None);
    lua.set_time_limit(Some(Duration::from_millis(5))).expect("a timer");
    let e = run("while true do end");
    assert!(matches!(e, Error::TimeLimitExceeded(_)) && located(&e), "{e}");
    lua.clear_interrupt();
    lua.interrupt_handle().interrupt();
    let e = run("while true do end");
    assert!(matches!(e, Error::Interrupted(_)), "{e}");
    lua.clear_interrupt();
    let e = run("local function f() return 1 + f() end f()");
    assert!(e.message().ends_with("stack overflow") && e.message().starts_with("chunk:1:") && located(&e), "{e}");
}

/// A stack that overflows is an error of its own, also when it comes out of a coroutine; the same text raised by the program is not, once the
/// error is another.
#[test]
fn overflows_of_stacks_have_a_type() {
    let lua = Lua::new();
    let recursion = "local function f(n) return 1 + f(n + 1) end ";
    for program in [
        "f(1)",
        "coroutine.wrap(f)(1)",
        "return (string.gsub('x', 'x', function() f(1) end))",
        "error((select(2, pcall(f, 1))), 0)",
    ] {
        for jit in [false, true] {
            lua.set_jit(jit);
            let e = lua.load(format!("{recursion}{program}")).exec().expect_err(program);
            assert!(matches!(e, Error::StackOverflow(_)), "{program}: {e}");
            assert!(e.message().ends_with("stack overflow") && e.traceback().is_some(), "{program}: {e}");
        }
    }
    let nested = "local function g(s) return (s:gsub('x', g)) end g 'x'";
    assert!(matches!(lua.load(nested).exec(), Err(Error::StackOverflow(text)) if text.contains("C stack overflow")));
    assert!(matches!(lua.load("error 'stack overflow'").exec(), Err(Error::RuntimeError(_))));
}

/// Finalizers that fail in each way, for the test below.
#[test]
#[ignore = "`errors_of_finalizers_are_reported` runs it in a process of its own"]
fn finalizers_that_fail() {
    let lua = Lua::new();
    let raise = |v: Value| lua.load("local v = ... return function() error(v, 0) end").call::<Function>(v).expect("a function");
    let finalized: Function = lua
        .load("return function(f) local p = newproxy(true) getmetatable(p).__gc = f p = nil collectgarbage() end")
        .eval()
        .expect("a function");
    let error = lua.create_function(|_, _: Value| Err::<(), _>(Error::runtime("the text of an error")));
    let panic = lua.create_function(|_, _: Value| -> perilune::Result<()> { panic!("the text of a panic") });
    let described: Value =
        lua.load("setmetatable({}, { __tostring = function() return 'the text of a table' end })").eval().unwrap();
    let failing: Value = lua.load("setmetatable({}, { __tostring = error })").eval().unwrap();
    let text = Value::String(lua.create_string("only a text").unwrap());
    for f in [error.unwrap(), panic.unwrap()] {
        finalized.call::<()>(f).unwrap();
    }
    for v in [described, failing, text, Value::Number(42.5), Value::Boolean(true), Value::Nil] {
        finalized.call::<()>(raise(v)).unwrap();
    }
}

/// As LuaJIT reports them, and with the text of errors of Rust.
#[test]
#[cfg(not(miri))]
fn errors_of_finalizers_are_reported() {
    let mut command = std::process::Command::new(std::env::current_exe().expect("a path"));
    command.args(["--ignored", "--exact", "--nocapture", "errors::finalizers_that_fail"]);
    let done = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{text}");
    let reported: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("ERROR in finalizer: ")).collect();
    let expected = ["the text of an error", "the text of a panic", "the text of a table", "?", "only a text", "42.5", "?", "?"];
    assert_eq!(reported.len(), expected.len(), "{text}");
    for (reported, expected) in reported.iter().zip(expected) {
        assert!(reported.ends_with(expected), "{text}");
    }
}
