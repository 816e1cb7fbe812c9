//! What belongs to a state: registry, application data, collector, modules, metatables of types, memory limit.

use perilune::state::{GcIncParams, GcMode};
use perilune::{Error, Function, Lua, LuaOptions, LuaString, Result, StdLib, Table, Thread, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

#[test]
fn registry_keys() -> Result<()> {
    let lua = Lua::new();
    let table = lua.create_table()?;
    let key = lua.create_registry_value(&table)?;
    lua.gc_collect()?;
    assert_eq!(lua.registry_value::<Table>(&key)?, table);
    // The key keeps its value when another key of the same value is gone, and when the handle is.
    let same = lua.create_registry_value(&table)?;
    drop((same, table));
    lua.expire_registry_values();
    lua.gc_collect()?;
    assert!(lua.registry_value::<Table>(&key)?.is_empty());
    let mut key = key;
    lua.replace_registry_value(&mut key, "text")?;
    assert_eq!(lua.registry_value::<String>(&key)?, "text");
    lua.replace_registry_value(&mut key, Value::Nil)?;
    assert_eq!(lua.registry_value::<Value>(&key)?, Value::Nil);
    let other = Lua::new();
    assert!(!other.owns_registry_value(&key));
    assert!(matches!(other.registry_value::<Value>(&key), Err(Error::MismatchedRegistryKey)));
    assert!(matches!(other.replace_registry_value(&mut key, 1), Err(Error::MismatchedRegistryKey)));
    assert!(matches!(other.remove_registry_value(key), Err(Error::MismatchedRegistryKey)));
    // Dropped on another thread.
    let key = lua.create_registry_value("elsewhere")?;
    std::thread::spawn(move || drop(key)).join().expect("no panic");
    Ok(())
}

#[test]
fn named_values_are_out_of_reach_of_scripts() -> Result<()> {
    let lua = Lua::new();
    lua.set_named_registry_value("secret", 42)?;
    lua.load("for k in pairs(debug and debug.getregistry() or {}) do assert(k ~= 'secret') end").exec()?;
    assert_eq!(lua.named_registry_value::<i32>("secret")?, 42);
    lua.unset_named_registry_value("secret")?;
    assert_eq!(lua.named_registry_value::<Value>("secret")?, Value::Nil);
    Ok(())
}

#[test]
fn application_data() {
    let lua = Lua::new();
    assert_eq!(lua.set_app_data(1_i32), None);
    assert_eq!(lua.set_app_data(2_i32), Some(1));
    lua.set_app_data("text");
    {
        let number = lua.app_data_ref::<i32>().expect("data");
        let mut text = lua.app_data_mut::<&str>().expect("data");
        *text = "changed";
        assert_eq!((*number, &**text, format!("{number} {text:?}")), (2, "changed", "2 \"changed\"".to_owned()));
        assert!(lua.try_app_data_mut::<i32>().is_err() && lua.try_app_data_ref::<&str>().is_err());
        assert_eq!(lua.try_set_app_data(0_u8), Err(0));
        assert!(catch_unwind(AssertUnwindSafe(|| lua.set_app_data(0_u8))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| lua.remove_app_data::<i32>())).is_err());
    }
    assert_eq!(lua.remove_app_data::<i32>(), Some(2));
    assert!(lua.app_data_ref::<i32>().is_none());
    // It goes with the state.
    let shared = Rc::new(());
    lua.set_app_data(Rc::clone(&shared));
    drop(lua);
    assert_eq!(Rc::strong_count(&shared), 1);
}

#[test]
fn collector() -> Result<()> {
    let lua = Lua::new();
    lua.gc_stop();
    let before = lua.used_memory();
    lua.load("for i = 1, 20000 do local t = { i } end").exec()?;
    lua.set_jit(false);
    lua.load("for i = 1, 20000 do local t = { i } end").exec()?;
    assert!(lua.used_memory() > before + 500_000, "nothing was collected");
    lua.gc_restart();
    while !lua.gc_step()? {}
    lua.gc_collect()?;
    assert!(lua.used_memory() < before + 200_000);
    let params = GcIncParams::default().pause(150).step_multiplier(300);
    lua.gc_set_mode(GcMode::Incremental(params));
    let GcMode::Incremental(now) = lua.gc_set_mode(GcMode::Incremental(GcIncParams::default())) else { panic!("the mode") };
    assert_eq!(now, params);
    Ok(())
}

#[test]
fn globals_and_modules() -> Result<()> {
    let lua = Lua::new();
    lua.register_module("registered", 42)?;
    let loader = lua.create_function(|lua, name: String| lua.create_table_from([("name", name)]))?;
    lua.preload_module("loaded", loader)?;
    // That scripts take `package` away does not matter.
    lua.load("package.loaded, package = nil, nil").exec()?;
    assert_eq!(lua.load("return require('registered')").eval::<i32>()?, 42);
    assert_eq!(lua.load("local m = require('loaded') return m.name").eval::<String>()?, "loaded");
    lua.unload_module("registered")?;
    assert!(lua.load("return require('registered')").exec().is_err());
    let old: Function = lua.load("return function() return type(print) end").eval()?;
    lua.set_globals(lua.create_table_from([("answer", 1)])?)?;
    assert_eq!(lua.load("return answer, print").eval::<(i32, Value)>()?, (1, Value::Nil));
    assert_eq!(old.call::<String>(())?, "function");
    Ok(())
}

#[test]
fn metatables_of_types() -> Result<()> {
    let lua = Lua::new();
    let strings = lua.type_metatable::<LuaString>().expect("strings have one");
    assert_eq!(strings.get::<Table>("__index")?, lua.globals().get::<Table>("string")?);
    let meta = lua.create_table()?;
    meta.set("__index", lua.create_function(|_, (_, key): (Value, String)| Ok(key))?)?;
    lua.set_type_metatable::<bool>(Some(meta.clone()));
    lua.set_type_metatable::<Function>(Some(meta.clone()));
    lua.set_type_metatable::<Thread>(Some(meta.clone()));
    let program = "local t, co = true, coroutine.create(print) return t.yes, print.name, co.status";
    let expected = ("yes".to_owned(), "name".to_owned(), "status".to_owned());
    assert_eq!(lua.load(program).eval::<(String, String, String)>()?, expected);
    lua.set_type_metatable::<bool>(None);
    assert!(lua.type_metatable::<bool>().is_none());
    assert!(lua.load("local t = true return t.yes").exec().is_err());
    Ok(())
}

/// Bytes that the state has after `f` beyond those before.
fn growth(lua: &Lua, f: impl FnOnce() -> Result<()>) -> Result<usize> {
    lua.gc_collect()?;
    let before = lua.used_memory();
    f()?;
    Ok(lua.used_memory().saturating_sub(before))
}

#[test]
fn calls_that_fail_and_lookups_let_the_collector_work() -> Result<()> {
    const MOST: usize = 2 << 20;
    for with_compiler in [true, false] {
        let lua = Lua::new();
        if !with_compiler {
            lua.load("jit.off()").exec()?;
        }
        // Each call makes the text of the number before it fails, or an error value of Rust.
        let failing = lua.create_function(|_, _: Value| -> Result<()> { Err(Error::runtime("no")) })?;
        let calls: Function = lua.load("local f = ... for i = 1, 200000 do pcall(f, i) end").into_function()?;
        let rep: Function = lua.load("return string.rep").eval()?;
        assert!(growth(&lua, || calls.call(&rep))? < MOST, "caught by pcall");
        assert!(growth(&lua, || calls.call(&failing))? < MOST, "errors of Rust caught by pcall");
        let caught =
            || (0..50_000).try_for_each(|_| if failing.call::<()>(1).is_err() { Ok(()) } else { Err(Error::runtime("?")) });
        assert!(growth(&lua, caught)? < MOST, "errors that come out to Rust");
        let t = lua.create_table()?;
        let lookups = || {
            (0..100_000).try_for_each(|i| {
                t.get::<Value>(format!("a key that is not there, number {i}"))?;
                t.raw_get::<Value>(format!("another one, number {i}")).map(drop)
            })
        };
        assert!(growth(&lua, lookups)? < MOST, "keys of lookups");
    }
    Ok(())
}

#[test]
fn the_memory_limit_holds_for_rust() -> Result<()> {
    let lua = Lua::new();
    lua.set_memory_limit(4 << 20)?;
    let full = |result: Result<()>| assert!(matches!(result, Err(Error::MemoryError(_))), "{result:?}");
    full(lua.create_string(vec![b'x'; 8 << 20]).map(drop));
    full(lua.create_table_with_capacity(1 << 20, 0).map(drop));
    full(lua.create_sequence_from(0..1_000_000).map(drop));
    let mut kept = Vec::new();
    full((0..1_000_000).try_for_each(|_| lua.create_function(|_, ()| Ok(())).map(|f| kept.push(f))));
    kept.clear();
    lua.gc_collect()?;
    let mut threads = Vec::new();
    let f = lua.load("return 1").into_function()?;
    full((0..1_000_000).try_for_each(|_| lua.create_thread(f.clone()).map(|t| threads.push(t))));
    drop(threads);
    lua.gc_collect()?;
    lua.load("local t = {}").exec()
}

#[test]
fn safe_states_load_no_modules_in_c() -> Result<()> {
    let lua = Lua::new();
    let refused = lua.load("package.loadlib('x.so', '*')").exec().unwrap_err();
    assert!(matches!(refused.parent(), Some(Error::SafetyError(_))), "{refused}");
    let missing = lua.load("require 'no_such_module'").exec().unwrap_err();
    assert!(missing.message().contains("can't load C modules in safe mode"), "{missing}");
    // Also where the library comes later, and where a script has changed the globals.
    let lua = Lua::new_with(StdLib::NONE, LuaOptions::new())?;
    lua.load("package = { loaders = {} }").exec()?;
    lua.load_std_libs(StdLib::PACKAGE)?;
    assert!(lua.load("package.loadlib('x.so', '*')").exec().unwrap_err().parent().is_some());
    // SAFETY: the program only fails to load a library.
    let lua = unsafe { Lua::unsafe_new() };
    assert!(lua.load("package.loadlib('/no/such.so', '*') == nil").eval::<bool>()?);
    Ok(())
}
