//! Sandboxes: read-only tables, bytecode that is refused, and an interface that does not depend on what programs can change.

use perilune::{Error, Function, Lua, ObjectLike, Table, Value};

const MODIFY: &str = "attempt to modify a readonly table";

/// States in which everything is interpreted, or compiled at once.
fn states() -> [(&'static str, Lua); 2] {
    let (interpreted, compiled) = (Lua::new(), Lua::new());
    interpreted.set_jit(false);
    ["hotloop=1", "hotexit=1"].iter().for_each(|o| compiled.jit_option(o).expect("an option"));
    [("interpreted", interpreted), ("compiled", compiled)]
}

/// Ways to store to a table, which hot loops take first with a table that is writable.
const STORES: [&str; 19] = [
    "t.x = i",
    "t.new = i",
    "t['y' .. i] = i",
    "t[1] = i",
    "t[2] = nil",
    "t[i] = i",
    "t[100 + i] = i",
    "t[true] = i",
    "t[1.5] = i",
    "t[key] = i",
    "rawset(t, 'x', i)",
    "rawset(t, i, i)",
    "table.insert(t, i)",
    "table.insert(t, 1, i)",
    "table.remove(t)",
    "table.sort(t)",
    "setmetatable(t, nil)",
    "table.move({1, 2}, 1, 2, 1, t)",
    "local a, b = 1, 2 t.z, t.x = a, b",
];

#[test]
fn no_store_changes_a_readonly_table() {
    for (mode, lua) in states() {
        for store in STORES {
            let make =
                "local key = {} local function make() return {10, 20, 30, x = 1, y1 = 2, [true] = 3, [1.5] = 4, [key] = 5} end";
            let program = format!(
                "{make} local function store(t, i) {store} end local function run(t, n) for i = 1, n do store(t, i) end end return make, run"
            );
            let (make, run): (Function, Function) = lua.load(&program).eval().expect(store);
            let contents = lua.load("local n, s = 0, 0 for k, v in pairs(...) do n = n + 1 s = s + v end return n, s, #(...)");
            let contents = contents.into_function().expect("a function");
            for n in [1, 100] {
                run.call::<()>((make.call::<Table>(()).expect("a table"), n)).expect(store);
                let t: Table = make.call(()).expect("a table");
                let before: (i32, i32, i32) = contents.call(&t).expect("contents");
                t.set_readonly(true);
                for _ in 0..3 {
                    let e = run.call::<()>((&t, n)).expect_err(store);
                    assert!(e.message().ends_with(MODIFY), "{store}, {mode}: {e}");
                }
                assert_eq!(contents.call::<(i32, i32, i32)>(&t).expect("contents"), before, "{store}, {mode}");
                // A table that is writable still works in the same code, as does this one once it is writable again.
                run.call::<()>((make.call::<Table>(()).expect("a table"), n)).expect(store);
                t.set_readonly(false);
                run.call::<()>((&t, n)).expect(store);
                // One that was read-only before the code is compiled comes to code that was compiled with others.
                let t: Table = make.call(()).expect("a table");
                t.set_readonly(true);
                let before: (i32, i32, i32) = contents.call(&t).expect("contents");
                for _ in 0..20 {
                    run.call::<()>((make.call::<Table>(()).expect("a table"), n)).expect(store);
                }
                let e = run.call::<()>((&t, n)).expect_err(store);
                assert!(e.message().ends_with(MODIFY), "{store}, {mode}: {e}");
                assert_eq!(contents.call::<(i32, i32, i32)>(&t).expect("contents"), before, "{store}, {mode}");
            }
        }
    }
}

/// The table becomes read-only in a call of a function of Rust, in a compiled loop that stores to it.
#[test]
fn a_table_becomes_readonly_in_a_loop() {
    for (mode, lua) in states() {
        let freeze = lua
            .create_function(|_, (t, i): (Table, i32)| {
                if i == 150 {
                    t.set_readonly(true);
                }
                Ok(())
            })
            .expect("a function");
        for store in ["t.x = i", "t[1] = i", "t[i] = i", "t[key] = i"] {
            let program = format!(
                "local freeze = ... local key, n = {{}}, 0 local t = {{1, x = 1, [key] = 1}}
                local ok, e = pcall(function() for i = 1, 300 do {store} n = i freeze(t, i) end end) return ok, e, n"
            );
            let (ok, e, n): (bool, String, i32) = lua.load(&program).call(&freeze).expect(store);
            assert!(!ok && e.ends_with(MODIFY) && n == 150, "{store}, {mode}: {ok} {e} {n}");
        }
    }
}

#[test]
fn readonly_tables_are_read_as_others() {
    for (mode, lua) in states() {
        let t: Table = lua.load("local t = {n = 5} for i = 1, 50 do t[i] = i end return t").eval().expect("a table");
        t.set_readonly(true);
        let program = "local t, s = ..., 0 for round = 1, 50 do for i = 1, #t do s = s + t[i] end for i, v in ipairs(t) do s = s + v end
            for k, v in pairs(t) do s = s + v end s = s + t.n + (t.none or 0) + select('#', unpack(t)) end return s + #table.concat(t, ' ')";
        assert_eq!(lua.load(program).call::<i32>(&t).expect("a sum"), 50 * (3 * 1275 + 5 + 5 + 50) + 140, "{mode}");
    }
}

#[test]
fn the_host_respects_them_as_well() {
    let lua = Lua::new();
    let t = lua.create_sequence_from([1, 2]).expect("a table");
    t.set_readonly(true);
    let results = [
        t.set(1, 5),
        t.raw_set("x", 5),
        t.raw_seti(1, 5),
        t.push(5),
        t.raw_push(5),
        t.raw_insert(1, 5),
        t.raw_remove(1),
        t.pop::<i32>().map(|_| ()),
        t.raw_pop::<i32>().map(|_| ()),
        t.clear(),
        t.set_metatable(None),
    ];
    for (i, result) in results.into_iter().enumerate() {
        assert!(matches!(&result, Err(Error::RuntimeError(text)) if text.contains(MODIFY)), "{i}: {result:?}");
    }
    assert_eq!(t, [1, 2]);
}

#[test]
fn programs_of_a_sandbox_do_not_change_what_they_share() {
    for (mode, lua) in states() {
        lua.globals().set("shared", 1).expect("a global");
        lua.sandbox(true).expect("a sandbox");
        for (program, fails) in [
            ("own = 1 assert(own == 1 and _G.own == 1)", false),
            ("shared = 2 assert(shared == 2)", false),
            ("_G.print = nil assert(not rawget(_G, 'print') and print)", false),
            ("string.upper = nil", true),
            ("string.new = 1", true),
            ("getmetatable('').__index = nil", true),
            ("getmetatable('').__index.upper = nil", true),
            ("math.pi = 3", true),
            ("table.insert(table, 1)", true),
            ("for i = 1, 100 do rawset(math, i, i) end", true),
            ("setmetatable(string, {})", true),
            ("getmetatable(_G).__index = {}", true),
            ("getmetatable(_G).__index.print = nil", true),
            ("module('string')", true),
            ("getmetatable(io.stdout).__index = {}", true),
            ("getmetatable(io.stdout).__index.write = print", true),
            ("assert(not load(string.dump(function() end)))", false),
            ("assert(not load(string.dump(function() end), '', 'b'))", false),
            ("assert(not load(coroutine.wrap(function() coroutine.yield(string.dump(function() end)) end)))", false),
            ("assert(load('return 1')() == 1)", false),
        ] {
            let result = lua.load(program).exec();
            assert_eq!(result.is_err(), fails, "{program}, {mode}: {result:?}");
        }
        lua.sandbox(false).expect("no sandbox");
        let after = "return own == nil and shared == 1 and print ~= nil and getmetatable(_G) == nil and load(string.dump(function() end)) ~= nil";
        assert!(lua.load(after).eval::<bool>().expect("a result"), "{mode}");
        lua.load("string.new = 1 string.new = nil").exec().expect("libraries are writable again");
    }
}

/// The interface works from inside the VM: it does not call what a program has put in the place of a library.
#[test]
fn programs_cannot_get_in_the_way_of_the_interface() {
    let lua = Lua::new();
    let t = lua.create_table().expect("a table");
    let meta = lua.create_table().expect("a table");
    lua.load(
        "local function evil() error('evil') end
        getmetatable('').__index = evil
        for _, library in ipairs{'string', 'table', 'math', 'coroutine', 'os', 'io', 'jit', 'package', 'bit'} do
            for name in pairs(_G[library] or {}) do _G[library][name] = evil end
            _G[library] = evil
        end
        local set, globals = setmetatable, _G
        for name in pairs(globals) do globals[name] = evil end
        set(globals, {__index = evil, __newindex = evil, __metatable = 'evil'})",
    )
    .exec()
    .expect("a program that replaces everything");
    t.set("x", 1).expect("set");
    t.push("a").expect("push");
    t.raw_insert(1, "b").expect("insert");
    meta.set("__index", lua.create_function(|_, (_, k): (Table, String)| Ok(k)).expect("a function")).expect("set");
    t.set_metatable(Some(meta)).expect("a metatable");
    assert_eq!(t.get::<String>("y").expect("get"), "y");
    assert_eq!(t.len().expect("len"), 2);
    assert_eq!(t.pairs::<Value, Value>().count(), 3);
    assert_eq!(Value::Integer(5).to_string().expect("a string"), "5");
    assert_eq!(lua.create_string("s").expect("a string").to_str().expect("text"), "s");
    assert_eq!(lua.coerce_string(Value::Integer(5)).expect("a string").expect("a string").to_str().expect("text"), "5");
    assert_eq!(lua.load("return 1 + 1").eval::<i32>().expect("a chunk"), 2);
    let f = lua.create_function(|_, n: i32| Ok(n + 1)).expect("a function");
    assert_eq!(f.bind(41).expect("bound").call::<i32>(()).expect("a call"), 42);
    let co = lua.create_thread(f).expect("a coroutine");
    assert_eq!(co.resume::<i32>(1).expect("resumed"), 2);
    lua.set_named_registry_value("n", &t).expect("the registry");
    assert_eq!(lua.named_registry_value::<Table>("n").expect("the registry"), t);
    let e = lua.load("local x = nil; return x.y").set_name("=chunk").exec().expect_err("an error");
    assert!(e.to_string().contains("attempt to index local 'x'") && e.traceback().is_some(), "{e}");
    let object = lua.create_any_userdata(7).expect("userdata");
    assert!(object.to_string().is_ok());
    lua.register_module("m", 1).expect("a module");
    lua.set_jit(false);
    lua.set_jit(true);
    lua.jit_option("hotloop=10").expect("an option");
    lua.gc_collect().expect("a collection");
    lua.sandbox(true).expect("a sandbox");
    lua.sandbox(false).expect("no sandbox");
    lua.set_globals(lua.create_table().expect("a table")).expect("new globals");
    assert!(lua.load("return print == nil").eval::<bool>().expect("a chunk"));
}
