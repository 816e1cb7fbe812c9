//! Functions of Rust that compiled code calls: they are called inside of the trace, and whatever they do, the program goes on as if it were
//! interpreted.

use perilune::{
    AnyUserData, Error, Function, Lua, MetaMethod, MultiValue, Result, Table, Thread, UserData, UserDataFields, UserDataMethods,
    Value, Variadic,
};
use std::cell::Cell;
use std::rc::Rc;

/// A userdata with everything that a program can use.
struct Counter(f64);

impl UserData for Counter {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("n", |_, this| Ok(this.0));
        fields.add_field_method_set("n", |_, this, n: f64| {
            this.0 = n;
            Ok(())
        });
    }
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |_, this, ()| Ok(this.0));
        methods.add_method_mut("add", |_, this, n: f64| {
            this.0 += n;
            Ok(this.0)
        });
        methods.add_meta_method(MetaMethod::Add, |_, this, n: f64| Ok(this.0 + n));
        methods.add_meta_method(MetaMethod::Lt, |_, this, other: AnyUserData| Ok(this.0 < other.borrow::<Counter>()?.0));
        methods.add_meta_method(MetaMethod::Le, |_, this, other: AnyUserData| Ok(this.0 <= other.borrow::<Counter>()?.0));
        methods.add_meta_method(MetaMethod::Eq, |_, this, other: AnyUserData| Ok(this.0 == other.borrow::<Counter>()?.0));
        methods.add_meta_method(MetaMethod::Call, |_, this, n: f64| Ok(this.0 * n));
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("counter {}", this.0)));
    }
}

/// Userdata without fields that are functions: all its methods are found in a table.
struct Plain;

impl UserData for Plain {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("twice", |_, _, n: f64| Ok(2.0 * n));
    }
}

fn globals(lua: &Lua) -> Result<()> {
    let g = lua.globals();
    g.set("mul", lua.create_function(|_, (a, b): (f64, f64)| Ok(a * b + 1.0))?)?;
    g.set("size", lua.create_function(|_, s: perilune::LuaString| Ok(s.as_bytes().len()))?)?;
    g.set("field", lua.create_function(|_, (t, k): (Table, String)| t.raw_get::<Value>(k))?)?;
    g.set("store", lua.create_function(|_, (t, v): (Table, Value)| t.raw_set("x", v))?)?;
    g.set("several", lua.create_function(|_, n: f64| Ok((n, n + 1.0, "text")))?)?;
    g.set("wrapped", Function::wrap(|n: f64| Ok::<_, Error>(n + 1.0)))?;
    g.set("next_below", lua.create_function(|_, (limit, i): (i64, i64)| Ok((i < limit).then_some(i + 1)))?)?;
    g.set("counter", lua.create_userdata(Counter(1.0))?)?;
    g.set("same", lua.create_userdata(Counter(1.0))?)?;
    g.set("more", lua.create_userdata(Counter(2.0))?)?;
    g.set("plain", lua.create_userdata(Plain)?)
}

/// Bodies of loops with a call in each round.
const CALLS: [&str; 19] = [
    "s = mul(s % 7, i)",
    "s = s + size('text')",
    "t.x = i s = s + field(t, 'x')",
    "store(t, i) s = s + t.x",
    "local a, b, c = several(i) s = s + a + b + #c",
    "s = s + select('#', several(i))",
    "s = wrapped(s)",
    "local ok, v = pcall(mul, i, 2) s = s + v",
    "s = s + counter.n",
    "counter.n = i s = s + counter:get()",
    "s = s + counter:add(i)",
    "s = s + plain:twice(i)",
    "s = s + (counter + i)",
    "s = s + counter(i)",
    "if counter < more then s = s + 1 else s = s + 2 end",
    "if counter > more then s = s + 1 end",
    "if not (counter <= more) then s = s + 1 end s = s + 1",
    "s = s + (counter == same and 1 or 2)",
    "if counter ~= more then s = s + 1 end",
];

/// Rounds of a loop that compiled code runs from beginning to end.
const ROUNDS: u64 = 10_000;

#[cfg(feature = "observe")]
#[test]
fn calls_stay_inside_of_the_trace() {
    for body in CALLS {
        let lua = Lua::new();
        globals(&lua).expect("globals");
        lua.jit_option("hotloop=5").expect("an option");
        let code = format!(
            "local mul, size = mul, size return function(n) local s, t = 0, {{x = 0}} for i = 1, n do {body} end return s end"
        );
        let f: Function = lua.load(&code).eval().expect(body);
        for _ in 0..5 {
            f.call::<f64>(100).expect(body);
        }
        let before = lua.jit_state_snapshot();
        f.call::<f64>(ROUNDS).expect(body);
        let after = lua.jit_state_snapshot();
        let entered = after.trace_dispatched_count - before.trace_dispatched_count;
        let left = after.trace_deopt_count - before.trace_deopt_count;
        assert!(
            (1..ROUNDS / 100).contains(&entered) && left < ROUNDS / 100,
            "{body}: entered {entered} times, left {left} times"
        );
        assert_eq!(after.trace_aborted_count, before.trace_aborted_count, "{body}");
    }
}

#[test]
fn compiled_calls_give_what_interpreted_ones_give() {
    for body in CALLS {
        let code = format!("local s, t = 0, {{x = 0}} for i = 1, 300 do {body} end return s");
        let results = modes().map(|(mode, lua)| {
            globals(&lua).expect("globals");
            (mode, lua.load(&code).eval::<f64>().expect(body))
        });
        for (mode, result) in results {
            assert_eq!(result, results[0].1, "{body}, {mode}");
        }
    }
}

/// A panic in a function that compiled code calls comes out where Lua was called from, and the state goes on to work.
#[test]
fn a_panic_passes_through_compiled_code() {
    for (mode, lua) in modes() {
        let panics = lua.create_function(|_, i: i64| {
            assert_ne!(i, 250, "at last");
            Ok(i)
        });
        lua.globals().set("f", panics.expect("a function")).expect("a global");
        let program = "n = 0 for i = 1, 300 do n = n + f(i) end";
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lua.load(program).exec())).expect_err(mode);
        let text = panic.downcast_ref::<String>().expect("a text");
        assert!(text.contains("at last"), "{mode}: {text}");
        assert_eq!(lua.globals().get::<i64>("n").expect("a number"), 249 * 250 / 2, "{mode}");
        let caught = "local ok, e = pcall(function() for i = 1, 300 do n = n + f(i) end end) return ok, n";
        assert_eq!(lua.load(caught).eval::<(bool, i64)>().expect(mode), (false, 249 * 250), "{mode}");
    }
}

/// Everything interpreted; compiled at once; in the evaluator of IR; under stress of the collector.
fn modes() -> [(&'static str, Lua); 4] {
    let with = |options: &[&str]| {
        let lua = Lua::new();
        options.iter().for_each(|o| lua.jit_option(o).expect("an option"));
        lua
    };
    let interpreted = Lua::new();
    interpreted.set_jit(false);
    [
        ("interpreted", interpreted),
        ("compiled", with(&["hotloop=1", "hotexit=1"])),
        ("evaluated", with(&["hotloop=2", "hotexit=2", "eval=1"])),
        ("compiled, collecting", with(&["hotloop=2", "hotexit=1", "gcstress=3000"])),
    ]
}

/// What a function of Rust may do to a program that calls it. `i` is the round, `t` a table of the program, `args` the other arguments.
type Action = fn(&Host, &Lua, i64, &Table, MultiValue) -> Result<MultiValue>;

/// What the actions share.
struct Host {
    ud: AnyUserData,
    co: Thread,
    callback: Function,
    calls: Cell<u32>,
}

fn values(lua: &Lua, v: impl perilune::IntoLuaMulti) -> Result<MultiValue> {
    v.into_lua_multi(lua)
}

const ACTIONS: [(&str, Action); 24] = [
    ("nothing", |_, lua, _, _, _| values(lua, ())),
    ("its arguments", |_, _, _, _, args| Ok(args)),
    ("a number, later a string, then nil", |_, lua, i, _, _| match i {
        0..20 => values(lua, i),
        20..40 => values(lua, i as f64 + 0.5),
        40..60 => values(lua, "text"),
        _ => values(lua, Value::Nil),
    }),
    ("many results", |_, lua, i, _, _| Ok((0..i % 40).map(|k| lua.pack(k)).collect::<Result<Vec<_>>>()?.into_iter().collect())),
    ("a store", |_, lua, i, t, _| {
        t.set("x", i)?;
        values(lua, t.raw_len())
    }),
    ("a store of another type", |_, lua, i, t, _| {
        if i % 10 == 9 {
            t.set("x", "9")?
        } else {
            t.set("x", 0.5)?
        }
        values(lua, ())
    }),
    ("new keys", |_, lua, i, t, _| {
        t.set(format!("k{}", i % 17), i)?;
        t.set(i % 30, i)?;
        values(lua, ())
    }),
    ("no table elements any more", |_, lua, i, t, _| {
        if i % 25 == 24 {
            t.clear()?;
            t.set("x", i)?;
        }
        values(lua, ())
    }),
    ("a metatable", |_, lua, i, t, _| {
        if i % 20 == 19 {
            let index = lua.create_function(|_, (_, k): (Value, Value)| k.to_string())?;
            t.set_metatable(if i % 40 == 39 { None } else { Some(lua.create_table_from([("__index", index)])?) })?;
        }
        values(lua, ())
    }),
    (
        "an error now and then",
        |_, lua, i, _, _| if i % 7 == 6 { Err(Error::runtime(format!("error {i}"))) } else { values(lua, i) },
    ),
    ("an error at last", |_, lua, i, _, _| if i > 60 { Err(Error::runtime("late")) } else { values(lua, true) }),
    ("a call of Lua", |host, _, i, t, _| host.callback.call((t, i))),
    ("a call of Lua now and then", |host, lua, i, t, _| if i % 13 == 12 { host.callback.call((t, i)) } else { values(lua, i) }),
    ("a collection now and then", |_, lua, i, _, _| {
        if i % 30 == 29 {
            lua.gc_collect()?;
        }
        values(lua, lua.create_string(format!("s{i}"))?)
    }),
    ("another environment", |host, lua, i, t, _| {
        if i % 30 == 29 {
            let env = lua.create_table_from([("g", i)])?;
            env.set_metatable(Some(lua.create_table_from([("__index", lua.globals())])?))?;
            host.callback.set_environment(env)?;
        }
        host.callback.call((t, i))
    }),
    ("a global", |_, lua, i, _, _| {
        lua.globals().set("g", i)?;
        values(lua, ())
    }),
    ("a coroutine", |host, lua, i, _, _| {
        if !host.co.is_resumable() {
            host.co.reset(host.callback.clone())?;
        }
        let v: MultiValue = host.co.resume((lua.create_table()?, i))?;
        Ok(v)
    }),
    ("a userdata", |host, _, _, _, _| Ok([Value::UserData(host.ud.clone())].into_iter().collect())),
    ("where it was called", |_, lua, _, _, _| {
        let line = lua.inspect_stack(1, |d| d.current_line()).flatten();
        let names = lua.inspect_stack(0, |d| d.names().name.map(|n| n.into_owned())).flatten();
        let text = lua.traceback(None, 1)?.to_str()?.lines().count();
        values(lua, (line, names, text))
    }),
    ("a table of the types", |_, lua, i, _, _| {
        if i == 50 {
            let index = lua.create_table_from([("twice", lua.create_function(|_, n: f64| Ok(2.0 * n))?)])?;
            lua.set_type_metatable::<perilune::Number>(Some(lua.create_table_from([("__index", index)])?));
        }
        values(lua, i)
    }),
    (
        "a chunk",
        |_, lua, i, t, _| {
            if i % 16 == 15 { lua.load("local t, i = ... t.x = i return t.x").call((t, i)) } else { values(lua, i) }
        },
    ),
    ("fuel", |_, lua, i, _, _| {
        match i {
            40 => lua.set_fuel(Some(1 << 40)),
            70 => lua.set_fuel(None),
            _ => {}
        }
        values(lua, i)
    }),
    ("other limits", |_, lua, i, _, _| {
        match i {
            30 => drop(lua.interrupt_handle()),
            60 => lua.set_memory_limit(1 << 30).map(drop)?,
            _ => {}
        }
        values(lua, i)
    }),
    ("no traces any more", |_, lua, i, _, _| {
        if i % 50 == 49 {
            lua.load("jit.flush()").exec()?;
        }
        values(lua, i)
    }),
];

/// Ways to call `f`, which gets the table and the round first.
const PLACES: [&str; 10] = [
    "show(f(i, t))",
    "local a, b = f(i, t, i) show(a, b)",
    "show(pcall(f, i, t, 'x'))",
    "t.y = f(i, t)",
    "show(select('#', f(i, t, 1, 2, 3)))",
    "local u = {f(i, t, t.x)} show(#u)",
    "show((function(...) return f(...) end)(i, t))",
    "show(t.x, (f(i, t)), t.x, up)",
    "if f(i, t) then show('yes') else show('no') end",
    "local c = coroutine.wrap(function() return f(i, t) end) show(c())",
];

/// A program of functions that do things at random, called at random places.
fn program(random: &mut fastrand::Rng) -> String {
    let mut code = String::from(
        "local out, up = {}, 0
        local function text(v) return type(v) == 'table' and 'table' or type(v) == 'function' and 'function' or tostring(v) end
        local function show(...)
            local s = ''
            for k = 1, select('#', ...) do s = s .. text((select(k, ...))) .. ' ' end
            out[#out + 1] = s
        end
        local t = {1, 2, 3, x = 0}
        local ok, e = pcall(function()
        for i = 0, 99 do\n local before = t.x up = up + 1\n",
    );
    for _ in 0..random.usize(1..4) {
        let place = random.choice(PLACES).unwrap_or_default();
        let f = random.usize(..ACTIONS.len());
        code.push_str(&format!("do local f = actions[{}] {place} end show(before, t.x, g)\n", f + 1));
    }
    code.push_str("end end) show(ok, e) return table.concat(out, '\\n')");
    code
}

fn run(lua: &Lua, code: &str) -> Result<String> {
    globals(lua)?;
    let callback: Function = lua
        .load("local n = 0 return function(t, i) n = n + 1 t.x = n g = (g or 0) + 1 if n % 3 == 0 and coroutine.isyieldable() then coroutine.yield(n) end return n, g end")
        .eval()?;
    let co = lua.create_thread(callback.clone())?;
    let host = Rc::new(Host { ud: lua.create_userdata(Counter(7.0))?, co, callback, calls: Cell::new(0) });
    let actions = lua.create_table()?;
    for (_, action) in ACTIONS {
        let host = Rc::clone(&host);
        actions.push(lua.create_function(move |lua, (i, t, args): (i64, Table, perilune::Variadic<Value>)| {
            host.calls.set(host.calls.get() + 1);
            action(&host, lua, i, &t, args.into_iter().collect())
        })?)?;
    }
    lua.globals().set("actions", actions)?;
    let text: String = lua.load(code).set_name("=program").eval()?;
    Ok(format!("{text}\n{} calls", host.calls.get()))
}

/// `CALLS_SEED` repeats one program, `CALLS_PROGRAMS` runs more of them.
#[test]
fn whatever_rust_does_the_program_goes_on_as_interpreted() {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let seeds = match number("CALLS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CALLS_PROGRAMS").unwrap_or(25),
    };
    for seed in seeds {
        let code = program(&mut fastrand::Rng::with_seed(seed));
        let mut expected = None;
        for (mode, lua) in modes() {
            let result = run(&lua, &code).unwrap_or_else(|e| panic!("seed {seed}, {mode}: {e}\n{code}"));
            let expected = expected.get_or_insert_with(|| result.clone());
            if *expected != result {
                let differs = expected.lines().zip(result.lines()).enumerate().find(|(_, (a, b))| a != b);
                panic!("seed {seed}, {mode}: {differs:?}\n{code}");
            }
        }
    }
}

/// More results than a trace has slots: the call is not part of the trace.
#[test]
fn very_many_results() -> Result<()> {
    let lua = Lua::new();
    let numbers = |_: &Lua, n: usize| Ok(Variadic::from((0..n).collect::<Vec<_>>()));
    lua.globals().set("numbers", lua.create_function(numbers)?)?;
    for n in [200, 300, 8000, 65_533, 65_600, 100_000] {
        let chunk = format!("local n = 0 for i = 1, 300 do n = n + select('#', numbers({n})) end return n");
        let hot = format!("jit.opt.start('hotloop=2', 'hotexit=2') {chunk}");
        assert_eq!(lua.load(&*hot).eval::<usize>()?, 300 * n);
        let made = format!("local n = 0 for i = 1, 30 do n = n + #{{ numbers({n}) }} end return n");
        assert_eq!(lua.load(&*made).eval::<usize>()?, 30 * n);
    }
    Ok(())
}
