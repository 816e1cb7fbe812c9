//! Functions in C, and the C API for code in Rust.
#![allow(unsafe_code, reason = "the functions here keep to the C API")]

use super::soundness::in_all_modes;
use perilune::{Error, Function, Lua, Result, Value, ffi, lua_State};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Adds its arguments, with its upvalues; raises the first argument that is no number.
unsafe extern "C-unwind" fn sum(state: *mut lua_State) -> c_int {
    // SAFETY: the state is that of the call.
    unsafe {
        let mut sum = 0.0;
        for i in 1..=ffi::lua_gettop(state) {
            if ffi::lua_type(state, i) != ffi::LUA_TNUMBER {
                ffi::lua_pushvalue(state, i);
                ffi::lua_error(state);
            }
            sum += ffi::lua_tonumber(state, i);
        }
        ffi::lua_pushnumber(state, sum);
    }
    1
}

#[test]
fn functions_in_c_are_called_from_loops() {
    in_all_modes(|lua| {
        // SAFETY: the function keeps to the C API.
        let f = unsafe { lua.create_c_function(sum) }.expect("a function");
        lua.globals().set("sum", f).expect("a global");
        let text = "local s = 0 for i = 1, 300 do s = sum(s, i, 0.5) end return s";
        assert_eq!(lua.load(text).eval::<f64>().expect("a number"), 45150.0 + 150.0);
        let text = "local t, n = {}, 0
            for i = 1, 300 do local ok, e = pcall(sum, 1, t) if not ok and e == t then n = n + 1 end end
            return n, select(2, pcall(sum, false))";
        assert_eq!(lua.load(text).eval::<(i32, bool)>().expect("the values"), (300, false));
    });
}

#[test]
fn closures_use_the_c_api() {
    in_all_modes(|lua| {
        let add = lua.create_function(|_, (a, b): (i32, i32)| Ok(a + b)).expect("a function");
        lua.globals().set("add", add).expect("a global");
        let mut calls = 0;
        for i in 0..300 {
            let call = |state| {
                calls += 1;
                // SAFETY: the state is that of the call, and the names end with a NUL.
                unsafe {
                    ffi::lua_getglobal(state, c"add".as_ptr());
                    ffi::lua_insert(state, 1);
                    ffi::lua_call(state, 2, 1);
                    ffi::lua_pushboolean(state, ffi::lua_isnone(state, 2));
                }
            };
            // SAFETY: the closure keeps to the C API.
            let (sum, is_alone): (i32, bool) = unsafe { lua.exec_raw((i, 7), call) }.expect("the values");
            assert!(sum == i + 7 && is_alone);
        }
        assert_eq!(calls, 300);
    });
}

#[test]
fn errors_of_closures_are_those_of_lua() {
    in_all_modes(|lua| {
        let raise = |state| {
            // SAFETY: the state is that of the call.
            unsafe { ffi::lua_error(state) };
        };
        // SAFETY: the closure keeps to the C API.
        let e = unsafe { lua.exec_raw::<()>("no", raise) }.expect_err("an error");
        assert!(matches!(&e, Error::RuntimeError(text) if text.starts_with("no")), "{e}");
        let t = lua.create_table().expect("a table");
        // SAFETY: as above.
        let e = unsafe { lua.exec_raw::<()>(&t, raise) }.expect_err("an error");
        assert!(matches!(&e, Error::LuaError(e) if e.value(lua).is_ok_and(|v| v == Value::Table(t.clone()))), "{e}");
        let fail = lua.create_function(|_, ()| -> Result<()> { Err(Error::runtime("failed")) }).expect("a function");
        let call = |state| {
            // SAFETY: as above.
            unsafe { ffi::lua_call(state, 0, 0) };
        };
        // SAFETY: as above.
        let e = unsafe { lua.exec_raw::<()>(fail, call) }.expect_err("an error");
        assert!(e.to_string().contains("failed"), "{e}");
        // SAFETY: as above.
        let wrong = unsafe { lua.exec_raw::<i32>("text", |_| ()) };
        assert!(matches!(wrong, Err(Error::FromLuaConversionError { .. })));
    });
}

/// The function that calls a closure goes no further than the call.
#[test]
fn a_closure_is_gone_after_its_call() {
    // SAFETY: the script is known.
    let lua = unsafe { Lua::unsafe_new() };
    let keep = lua.load("kept = debug.getinfo(2, 'f').func").into_function().expect("a function");
    let mut calls = 0;
    let call = |state| {
        calls += 1;
        // SAFETY: the state is that of the call.
        unsafe { ffi::lua_call(state, 0, 0) };
    };
    // SAFETY: the closure keeps to the C API.
    unsafe { lua.exec_raw::<()>(keep, call) }.expect("no error");
    let kept: Function = lua.globals().get("kept").expect("the function");
    assert_eq!((kept.call::<i32>(5).expect("its argument"), calls), (5, 1));
}

/// A state that C code has made, and closes.
#[test]
fn a_state_of_the_c_api() -> Result<()> {
    let dropped = std::rc::Rc::new(());
    let held = std::rc::Rc::clone(&dropped);
    // SAFETY: the state is closed when nothing uses it any more.
    unsafe {
        let state = perilune::ffi::luaL_newstate();
        let lua = Lua::get_or_init_from_ptr(state);
        let f = lua.create_function(move |lua, name: String| {
            let _held = &held;
            lua.globals().set("seen", name)
        })?;
        lua.globals().set("f", f)?;
        lua.load("f('moon') t = {} for i = 1, 1000 do t[i] = {i} end").exec()?;
        lua.gc_collect()?;
        assert_eq!(Lua::get_or_init_from_ptr(state).globals().get::<String>("seen")?, "moon");
        assert!(lua.load("local function fails() f() end fails()").exec().unwrap_err().to_string().contains("bad argument"));
        assert!(lua.load("return return").exec().is_err());
        perilune::ffi::lua_close(state);
    }
    assert_eq!(std::rc::Rc::strong_count(&dropped), 1);
    Ok(())
}

/// The state of a `Lua` is not counted by what leads from the C API to it.
#[test]
fn the_state_of_the_c_api_is_that_of_its_lua() -> Result<()> {
    let lua = Lua::new();
    let mut address = None;
    // SAFETY: the closure leaves the stack as it is, and does not use the state.
    unsafe { lua.exec_raw::<()>((), |state| address = Some(format!("{:?}", Lua::get_or_init_from_ptr(state))))? };
    assert_eq!(address, Some(format!("{lua:?}")));
    let weak = lua.weak();
    drop(lua);
    assert!(weak.try_upgrade().is_none());
    Ok(())
}

/// A finalizer that runs while the state closes.
unsafe extern "C-unwind" fn finalizer(state: *mut lua_State) -> c_int {
    // SAFETY: the state is that of the call. The `Lua`, if there is one, is not used.
    let find = AssertUnwindSafe(|| unsafe { drop(Lua::get_or_init_from_ptr(state).weak()) });
    let lua = catch_unwind(find);
    FOUND.with_borrow_mut(|found| found.push(lua.is_ok()));
    0
}

thread_local! {
    /// Whether [`finalizer`] has found a [`Lua`], each time.
    static FOUND: std::cell::RefCell<Vec<bool>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// No `Lua` is left then, and none is made.
#[test]
fn a_state_that_closes_has_no_lua() -> Result<()> {
    let lua = Lua::new();
    // SAFETY: the function keeps to the C API.
    lua.globals().set("finalizer", unsafe { lua.create_c_function(finalizer)? })?;
    lua.load("p = newproxy(true) getmetatable(p).__gc = finalizer").exec()?;
    lua.load("p = nil p = newproxy(true) getmetatable(p).__gc = finalizer collectgarbage()").exec()?;
    assert_eq!(FOUND.take(), [true]);
    drop(lua);
    assert_eq!(FOUND.take(), [false]);
    Ok(())
}
