//! Coroutines from Rust: resuming, errors, events, resetting.

use perilune::{Error, Function, Lua, Result, Table, Thread, ThreadEvent, ThreadStatus, ThreadTriggers, Value};
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn values_go_both_ways() -> Result<()> {
    let lua = Lua::new();
    let f: Function = lua
        .load("return function(...) local n = select('#', ...) while true do n = n + select('#', coroutine.yield(n)) end end")
        .eval()?;
    let thread = lua.create_thread(f)?;
    assert_eq!(thread.resume::<i32>((1, Value::Nil, "x"))?, 3);
    assert_eq!(thread.resume::<i32>(())?, 3);
    assert_eq!(thread.resume::<i32>((Value::Nil, Value::Nil))?, 5);
    assert_eq!(thread.status(), ThreadStatus::Resumable);
    Ok(())
}

#[test]
fn an_error_has_the_traceback_of_its_coroutine() -> Result<()> {
    let lua = Lua::new();
    let f = lua.load("local function inner() error('broken') end inner()").set_name("@coroutine.lua").into_function()?;
    let thread = lua.create_thread(f)?;
    let error = thread.resume::<()>(()).unwrap_err();
    assert_eq!(error.message(), "coroutine.lua:1: broken");
    assert!(error.traceback().is_some_and(|t| t.contains("in function 'inner'")), "{error}");
    assert!(thread.is_error());
    assert!(matches!(thread.resume::<()>(()), Err(Error::CoroutineUnresumable)));
    // A value that is no string.
    let thread = lua.create_thread(lua.load("error({ code = 7 })").into_function()?)?;
    let Err(Error::LuaError(error)) = thread.resume::<()>(()) else { panic!("an error with a value") };
    let Value::Table(value) = error.value(&lua)? else { panic!("the value") };
    assert_eq!(value.get::<i32>("code")?, 7);
    Ok(())
}

#[test]
fn errors_are_raised_where_a_coroutine_waits() -> Result<()> {
    let lua = Lua::new();
    let f: Function = lua.load("return function() local ok, e = pcall(coroutine.yield, 1) return ok, e end").eval()?;
    let thread = lua.create_thread(f.clone())?;
    assert_eq!(thread.resume::<i32>(())?, 1);
    assert_eq!(thread.resume_error::<(bool, String)>("reason")?, (false, "reason".to_owned()));
    assert!(thread.is_finished());
    // Not caught: before it has begun, and after.
    let thread = lua.create_thread(f)?;
    assert_eq!(thread.resume_error::<()>("early").unwrap_err().message(), "early");
    assert!(thread.is_error());
    let thread = lua.create_thread(lua.load("coroutine.yield()").into_function()?)?;
    thread.resume::<()>(())?;
    assert_eq!(thread.resume_error::<()>("late").unwrap_err().message(), "late");
    assert!(thread.is_error());
    Ok(())
}

#[test]
fn a_coroutine_is_reset_in_any_state_but_running() -> Result<()> {
    let lua = Lua::new();
    let source = "return function(kept) local v = 1 kept.f = function() v = v + 1 return v end coroutine.yield() end";
    let captures: Function = lua.load(source).eval()?;
    let again: Function = lua.load("return function(n) return n * 2 end").eval()?;
    let kept: Table = lua.create_table()?;
    let thread = lua.create_thread(captures)?;
    thread.resume::<()>(&kept)?;
    thread.reset(again.clone())?;
    lua.gc_collect()?;
    assert_eq!(thread.resume::<i32>(21)?, 42);
    // What a closure has captured lives on.
    let f: Function = kept.get("f")?;
    assert_eq!((f.call::<i32>(())?, f.call::<i32>(())?), (2, 3));
    let fails = lua.create_thread(lua.load("error('x')").into_function()?)?;
    assert!(fails.resume::<()>(()).is_err());
    fails.reset(again)?;
    assert_eq!(fails.resume::<i32>(1)?, 2);
    let resets = lua.create_function(|lua, ()| lua.current_thread().reset(lua.create_function(|_, ()| Ok(()))?))?;
    let error = lua.create_thread(resets)?.resume::<()>(()).unwrap_err();
    assert_eq!(error.message(), "cannot reset a running thread");
    Ok(())
}

#[test]
fn events_are_told() -> Result<()> {
    let lua = Lua::new();
    let events = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&events);
    let all = ThreadTriggers::ON_CREATE | ThreadTriggers::ON_RESUME | ThreadTriggers::ON_YIELD;
    lua.set_thread_event_callback(all, move |lua, event| {
        // Not told of this one.
        lua.create_thread(lua.load("return 1").into_function()?)?.resume::<i32>(())?;
        log.borrow_mut().push(match event {
            ThreadEvent::Create(_) => "create",
            ThreadEvent::Resume(_) => "resume",
            ThreadEvent::Yield(_) => "yield",
            _ => "?",
        });
        Ok(())
    });
    let thread = lua.create_thread(lua.load("coroutine.yield() return 5").into_function()?)?;
    thread.resume::<()>(())?;
    assert_eq!(thread.resume::<i32>(())?, 5);
    lua.remove_thread_event_callback();
    lua.create_thread(lua.load("return 1").into_function()?)?;
    assert_eq!(*events.borrow(), ["create", "resume", "yield", "resume"]);
    Ok(())
}

#[test]
fn a_rust_function_sees_who_runs() -> Result<()> {
    let lua = Lua::new();
    let outer = Rc::new(RefCell::new(None::<Thread>));
    let seen = Rc::clone(&outer);
    let look = lua.create_function(move |lua, ()| {
        let outer = seen.borrow().clone().expect("the outer coroutine");
        assert!(outer.is_normal() && lua.current_thread().is_running() && lua.current_thread() != outer);
        assert!(matches!(outer.resume::<()>(()), Err(Error::CoroutineUnresumable)));
        Ok(())
    })?;
    lua.globals().set("look", look)?;
    let source = "return function() local co = coroutine.create(function() look() end) assert(coroutine.resume(co)) end";
    let thread = lua.create_thread(lua.load(source).eval()?)?;
    *outer.borrow_mut() = Some(thread.clone());
    thread.resume::<()>(())?;
    assert!(thread.is_finished());
    Ok(())
}
