//! Modules and functions in C, and the C API for code in Rust.
#![allow(unsafe_code, reason = "the caller answers for what modules and functions in C do")]

use super::error::Result;
use super::function::Function;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::options::LuaOptions;
use super::state::{Payloads, State};
use perilune_capi::ffi::{lua_CFunction, lua_State, lua_gettop, lua_touserdata, lua_upvalueindex};
use perilune_capi::state::{c_function, vm_of};
use perilune_vm::value::Value as Raw;
use std::ffi::c_int;

impl Lua {
    /// Lets scripts of a state that was made by [`Lua::unsafe_new`] load modules in C for Lua 5.1, along `package.cpath` and by
    /// `package.loadlib`. Feature `c-modules`.
    ///
    /// The modules call functions of the program, which must export them. The build script of its package says so to the linker:
    ///
    /// ```text
    /// println!("cargo:rustc-link-arg-bins=-rdynamic");
    /// ```
    ///
    /// # Safety
    /// Modules in C can do anything, and scripts may load any.
    ///
    /// ```
    /// // SAFETY: the script is known.
    /// let lua = unsafe { perilune::Lua::unsafe_new() };
    /// // SAFETY: as above.
    /// unsafe { lua.allow_c_modules() };
    /// let message: String = lua.load("select(2, pcall(require, 'none'))").eval()?;
    /// assert!(message.contains("no file './none.so'"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub unsafe fn allow_c_modules(&self) {
        let _lock = self.0.lock();
        // SAFETY: the caller's promise.
        self.0.enter(|vm| unsafe { perilune_capi::allow_modules(vm) });
    }
    /// A Lua function that calls a function in C, or one in Rust that uses the C API: [`ffi`](crate::ffi). Feature `c-modules`.
    ///
    /// ```
    /// use perilune::{Lua, ffi, lua_State};
    ///
    /// unsafe extern "C-unwind" fn twice(state: *mut lua_State) -> i32 {
    ///     // SAFETY: the state is that of the call, and has room for a result.
    ///     unsafe { ffi::lua_pushnumber(state, 2.0 * ffi::luaL_checknumber(state, 1)) };
    ///     1
    /// }
    ///
    /// let lua = Lua::new();
    /// // SAFETY: the function keeps to the C API.
    /// let twice = unsafe { lua.create_c_function(twice)? };
    /// assert_eq!(twice.call::<i32>(21)?, 42);
    /// assert!(twice.call::<i32>("x").unwrap_err().to_string().contains("number expected, got string"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Safety
    /// The function keeps to the C API, and does not panic. It does not use the [`Lua`] of its state. Values with destructors do not live in a
    /// frame that an error leaves.
    ///
    /// # Errors
    /// The memory limit is reached.
    pub unsafe fn create_c_function(&self, f: lua_CFunction) -> Result<Function> {
        let _lock = self.0.lock();
        let f = Function(self.handle(self.0.enter(|vm| c_function(vm, f, &[]))));
        self.0.step()?;
        Ok(f)
    }
    /// Calls a closure that uses the C API, [`ffi`](crate::ffi). The arguments are on its stack, and what it leaves there are the results.
    /// Feature `c-modules`.
    ///
    /// ```
    /// use perilune::{Lua, ffi};
    ///
    /// let lua = Lua::new();
    /// let count = |state| {
    ///     // SAFETY: the state is that of the call, and has room for a result.
    ///     unsafe { ffi::lua_pushinteger(state, ffi::lua_gettop(state) as isize) };
    /// };
    /// // SAFETY: the closure keeps to the C API.
    /// let (a, b, n): (i32, String, i32) = unsafe { lua.exec_raw((1, "two"), count)? };
    /// assert_eq!((a, b.as_str(), n), (1, "two", 2));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Safety
    /// As for [`Lua::create_c_function`]. The state is not used after the closure has returned.
    ///
    /// # Errors
    /// An error that the closure raises, a result that is no `R`, or the memory limit.
    pub unsafe fn exec_raw<R: FromLuaMulti>(&self, args: impl IntoLuaMulti, f: impl FnOnce(*mut lua_State)) -> Result<R> {
        let _lock = self.0.lock();
        let mut closure = Some(f);
        let run = run_closure_of(&closure);
        let address = (&raw mut closure).expose_provenance() as u64;
        let upvalue = self.0.try_enter(|vm| vm.new_lightud(address))?;
        let function = Function(self.handle(self.0.enter(|vm| c_function(vm, run, &[upvalue]))));
        let emptied = Emptied(&function);
        let result = function.call(args);
        drop(emptied);
        result
    }
    /// The [`Lua`] of a state of the C API, the same one each time; of one that C code has made, too. Feature `c-modules`.
    ///
    /// ```
    /// use perilune::{Lua, ffi};
    ///
    /// // SAFETY: the state is closed when it is used no more.
    /// unsafe {
    ///     let state = ffi::luaL_newstate();
    ///     Lua::get_or_init_from_ptr(state).globals().set("name", "moon")?;
    ///     let name: String = Lua::get_or_init_from_ptr(state).globals().get("name")?;
    ///     assert_eq!(name, "moon");
    ///     ffi::lua_close(state);
    /// }
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Safety
    /// The state outlives `'a`, clones of the `Lua`, and the use of its handles: it is closed by `lua_close`, or is that of a [`Lua`]. It is a state
    /// that code may use through the C API now. The `Lua` is used by the thread of the state, and not by functions in C that Lua calls.
    ///
    /// # Panics
    /// The state is that of a [`Lua`] and is being closed, so that this is called by a finalizer.
    pub unsafe fn get_or_init_from_ptr<'a>(state: *mut lua_State) -> &'a Lua {
        // SAFETY: the caller's promise. Who closes the state drops the VM, which owns what is made here.
        unsafe {
            let vm = vm_of(state);
            if let Some(lua) = Payloads::lua_of(vm) {
                return lua;
            }
            drop(State::around(vm, LuaOptions::new(), false, false));
            Payloads::lua_of(vm).expect("the state was made just now")
        }
    }
}

/// Takes the address of the closure out of a function when this is dropped, also when a panic passes: code may have kept the function.
struct Emptied<'a>(&'a Function);

impl Drop for Emptied<'_> {
    fn drop(&mut self) {
        let function = self.0.0.get().as_func();
        for upvalue in function.iter().flat_map(|f| f.native_upvalues().first()) {
            upvalue.set(Raw::NIL);
        }
    }
}

/// [`run_closure`] for the type of a closure.
fn run_closure_of<F: FnOnce(*mut lua_State)>(_: &Option<F>) -> lua_CFunction {
    run_closure::<F>
}

/// Calls the closure at the address in the first upvalue, once.
///
/// # Safety
/// The upvalue is the address of one of this type, or nil.
unsafe extern "C-unwind" fn run_closure<F: FnOnce(*mut lua_State)>(state: *mut lua_State) -> c_int {
    // SAFETY: the upvalue is the address of the closure while `exec_raw` runs, and no address afterwards.
    unsafe {
        let closure = lua_touserdata(state, lua_upvalueindex(1)).cast::<Option<F>>();
        if let Some(f) = closure.as_mut().and_then(Option::take) {
            f(state);
        }
        lua_gettop(state)
    }
}
