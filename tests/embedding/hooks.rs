//! Hooks and active calls, from Rust.

use perilune::debug::DebugEvent;
use perilune::{Error, Function, HookTriggers, Lua, Result, VmState};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What a hook has seen.
type Log<T> = Rc<RefCell<Vec<T>>>;

fn log_lines(lua: &Lua) -> Result<Log<usize>> {
    let log = Log::default();
    let lines = Rc::clone(&log);
    lua.set_hook(HookTriggers::EVERY_LINE, move |_, debug| {
        lines.borrow_mut().extend(debug.current_line());
        Ok(VmState::Continue)
    })?;
    Ok(log)
}

#[test]
fn lines() -> Result<()> {
    let lua = Lua::new();
    let log = log_lines(&lua)?;
    lua.load("local x = 1\nfor i = 1, 2 do\nx = x + i\nend").exec()?;
    lua.remove_hook();
    lua.load("local y = 1").exec()?;
    assert_eq!(*log.borrow(), [1, 2, 3, 2, 3, 2, 4]);
    Ok(())
}

/// LuaJIT has written `string.len` in Lua, without lines.
#[test]
fn lines_of_builtins_written_in_lua() -> Result<()> {
    let lua = Lua::new();
    let log = log_lines(&lua)?;
    lua.load("local s = 'x'\nlocal n = string.len(s) local m = n\nlocal t = type(m)").exec()?;
    assert_eq!(*log.borrow(), [1, 2, 0, 2, 3]);
    Ok(())
}

#[test]
fn calls_with_names() -> Result<()> {
    let lua = Lua::new();
    let log: Log<(DebugEvent, Option<String>, &str)> = Log::default();
    let calls = Rc::clone(&log);
    lua.set_hook(HookTriggers::ON_CALLS.on_returns(), move |_, debug| {
        let name = debug.names().name.map(|n| n.into_owned());
        calls.borrow_mut().push((debug.event(), name, debug.source().what));
        Ok(VmState::Continue)
    })?;
    lua.load("local function f() return 1 end local x = f() local y = type(x)").exec()?;
    lua.remove_hook();
    let f = || Some("f".to_owned());
    let expected = [
        (DebugEvent::Call, None, "main"),
        (DebugEvent::Call, f(), "Lua"),
        (DebugEvent::Ret, f(), "Lua"),
        (DebugEvent::Call, Some("type".to_owned()), "C"),
        (DebugEvent::Ret, None, "main"),
    ];
    assert_eq!(*log.borrow(), expected);
    Ok(())
}

#[test]
fn an_error_ends_the_program() -> Result<()> {
    let lua = Lua::new();
    let left = Cell::new(1000);
    lua.set_hook(HookTriggers::new().every_nth_instruction(10), move |_, debug| {
        assert_eq!(debug.event(), DebugEvent::Count);
        left.set(left.get() - 10);
        if left.get() > 0 { Ok(VmState::Continue) } else { Err(Error::runtime("time's up")) }
    })?;
    let error = lua.load("while true do end").exec().unwrap_err();
    assert!(matches!(&error, Error::RuntimeError(text) if text == "time's up"), "{error:?}");
    lua.remove_hook();
    // Compiled again.
    lua.load("local s = 0 for i = 1, 1e5 do s = s + i end assert(s == 5000050000)").exec()
}

#[test]
fn each_coroutine_has_its_hook() -> Result<()> {
    let lua = Lua::new();
    let log: Log<&str> = Log::default();
    let logs = |name: &'static str| {
        let log = Rc::clone(&log);
        move |_: &Lua, _: &perilune::debug::Debug<'_>| {
            log.borrow_mut().push(name);
            Ok(VmState::Continue)
        }
    };
    lua.set_global_hook(HookTriggers::EVERY_LINE, logs("all"))?;
    let program: Function = lua.load("return function() local x = 1 end").eval()?;
    log.borrow_mut().clear();
    let (one, two) = (lua.create_thread(program.clone())?, lua.create_thread(program.clone())?);
    one.set_hook(HookTriggers::EVERY_LINE, logs("one"))?;
    one.resume::<()>(())?;
    two.resume::<()>(())?;
    program.call::<()>(())?;
    lua.remove_global_hook();
    program.call::<()>(())?;
    one.remove_hook();
    assert_eq!(*log.borrow(), ["one", "all", "all"]);
    Ok(())
}

#[test]
fn a_hook_cannot_yield() -> Result<()> {
    let lua = Lua::new();
    let thread = lua.create_thread(lua.load("local x = 1").into_function()?)?;
    thread.set_hook(HookTriggers::EVERY_LINE, |_, _| Ok(VmState::Yield))?;
    assert!(thread.resume::<()>(()).unwrap_err().message().contains("attempt to yield from a hook"));
    Ok(())
}

#[test]
fn active_calls() -> Result<()> {
    let lua = Lua::new();
    assert!(lua.inspect_stack(0, |_| ()).is_none());
    let look = lua.create_function(|lua, ()| {
        assert_eq!(lua.inspect_stack(0, |d| d.source().what), Some("C"));
        let (name, line, stack) =
            lua.inspect_stack(1, |d| (d.names().name.map(|n| n.into_owned()), d.current_line(), d.stack())).expect("a caller");
        assert_eq!((name.as_deref(), line), (Some("f"), Some(2)));
        assert_eq!((stack.num_upvalues, stack.num_params, stack.is_vararg), (1, 2, true));
        let traceback = lua.traceback(Some("here"), 1)?.to_str()?.to_owned();
        assert!(traceback.starts_with("here\nstack traceback:\n\tactive.lua:2: in function 'f'"), "{traceback}");
        assert!(lua.inspect_stack(3, |_| ()).is_none());
        Ok(())
    })?;
    let source = "local look = ... local function f(a, b, ...)\nlook() return 1 end\nlocal x = f() return x";
    lua.load(source).set_name("@active.lua").into_function()?.call::<()>(look)
}

/// A hook of a coroutine keeps nothing alive: neither the coroutine, nor the events of others once it is gone or has ended.
#[test]
fn hooks_go_with_their_coroutines() -> Result<()> {
    let lua = Lua::new();
    let f: Function = lua.load("function(i) local big = ('x'):rep(10000) .. i coroutine.yield() return big end").eval()?;
    let mut used = 0;
    for i in 1..=300 {
        let thread = lua.create_thread(f.clone())?;
        thread.set_hook(HookTriggers::ON_CALLS, |_, _| Ok(VmState::Continue))?;
        thread.resume::<()>(i)?;
        if i % 100 == 0 {
            drop(thread);
            lua.gc_collect()?;
            lua.gc_collect()?;
            used = if i == 100 { lua.used_memory() } else { used };
        }
    }
    assert!(lua.used_memory() < used + 500_000, "{used} bytes, then {}", lua.used_memory());

    let lua = Lua::new();
    let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
    thread.set_hook(HookTriggers::EVERY_LINE, |_, _| Ok(VmState::Continue))?;
    thread.resume::<i32>(())?;
    let hooked = "local n = 0 for i = 1, 3000000 do\n n = n + 1\n end return n, require('jit.util').counters(true).entered";
    assert_eq!(lua.load(hooked).eval::<(i32, i32)>()?.0, 3_000_000);
    // By now the events without a hook have had it looked for. Other code is compiled.
    let (_, entered) = lua.load(hooked).eval::<(i32, i32)>()?;
    assert!(entered > 0, "the state is still hooked");
    Ok(())
}
