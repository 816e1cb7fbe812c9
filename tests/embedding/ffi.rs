//! The FFI in states of a host: it has to be asked for, and what holds for programs holds through callbacks.

use perilune::{Function, Lua, LuaOptions, StdLib, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One test takes all callbacks that the process has.
static CALLBACKS: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    CALLBACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A state with the FFI, and functions that sort eight numbers with a callback.
fn with_ffi() -> Lua {
    // SAFETY: the programs declare what they call as it is.
    let lua = unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
    let program = "
        local ffi = require('ffi')
        ffi.cdef 'void qsort(void *, size_t, size_t, int (*)(const int *, const int *));'
        local compare = ffi.cast('int (*)(const int *, const int *)', function() return 0 end)
        function sort(f)
            local a = ffi.new('int[8]', 5, 3, 9, 1, 7, 2, 8, 0)
            compare:set(f)
            ffi.C.qsort(a, 8, 4, compare)
            local t = {}
            for i = 0, 7 do t[#t + 1] = a[i] end
            return table.concat(t, ' ')
        end
        function down(x, y) return y[0] - x[0] end";
    lua.load(program).exec().expect("the program is right");
    lua
}

/// What the API has no type for is "other", but messages say what it is.
#[test]
fn cdata_are_other_values() {
    let lua = with_ffi();
    let program = "local ffi = require('ffi') return ffi.new('int64_t', 42), ffi.cast('void *', 16)";
    let (number, pointer): (Value, Value) = lua.load(program).eval().expect("no error");
    assert_eq!((number.type_name(), pointer.type_name()), ("other", "other"));
    assert_eq!(number.to_string().expect("a text"), "42LL");
    assert!(pointer.to_string().expect("a text").starts_with("cdata<void *>: 0x"));
    let e = lua.unpack::<String>(pointer).expect_err("no string");
    assert!(e.to_string().contains("cdata"), "{e}");
}

/// The state works: also many times, so that it is compiled.
fn works(lua: &Lua) {
    let sorted: String = lua.load("local s for i = 1, 100 do s = sort(down) end return s").eval().expect("no error");
    assert_eq!(sorted, "9 8 7 5 3 2 1 0");
}

#[test]
fn it_must_be_asked_for() {
    let _alone = alone();
    for safe in [Lua::new(), Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new()).expect("safe libraries")] {
        assert!(safe.load("require('ffi')").exec().is_err());
        assert!(safe.load("return package.preload.ffi").eval::<perilune::Value>().expect("no error").is_nil());
    }
    works(&with_ffi());
}

/// A callback that does not end runs out of fuel, and the error goes through the C function.
#[test]
fn callbacks_use_fuel() {
    let _alone = alone();
    let lua = with_ffi();
    lua.set_fuel(Some(100_000));
    let error = lua.load("sort(function() while true do end end)").exec().expect_err("no end");
    assert!(error.to_string().contains("out of fuel"), "{error}");
    lua.set_fuel(None);
    works(&lua);
}

#[test]
fn callbacks_are_interrupted() {
    let _alone = alone();
    let lua = with_ffi();
    lua.set_time_limit(Some(Duration::from_millis(50))).expect("a limit");
    assert!(lua.load("sort(function() while true do end end)").exec().is_err());
    lua.set_time_limit(None).expect("no limit");
    works(&lua);
}

#[test]
fn callbacks_have_the_memory_limit() {
    let _alone = alone();
    let lua = with_ffi();
    lua.set_memory_limit(8 << 20).expect("a limit");
    let error =
        lua.load("local kept = {} sort(function() while true do kept[#kept + 1] = {} end end)").exec().expect_err("no end");
    assert!(error.to_string().contains("not enough memory"), "{error}");
    lua.set_memory_limit(0).expect("no limit");
    works(&lua);
}

/// A Rust function that a callback calls uses the state, and calls the C function again.
#[test]
fn callbacks_call_rust() {
    let _alone = alone();
    let lua = with_ffi();
    let nested = lua.create_function(|lua, depth: u32| {
        let sort: Function = lua.globals().get("sort")?;
        let down: Function = lua.globals().get("down")?;
        Ok(if depth == 0 { 0 } else { sort.call::<String>(down)?.len() })
    });
    lua.globals().set("nested", nested.expect("a function")).expect("a global");
    let program = "
        local ffi, n = require('ffi'), 0
        local f = ffi.cast('int (*)(int)', function(depth) n = n + nested(depth) return n end)
        for i = 1, 100 do f(1) f(0) end
        return n";
    assert_eq!(lua.load(program).eval::<usize>().expect("no error"), 1500);
    works(&lua);
}

/// A panic of Rust code is an error on its way through the C function, and comes out of the call of the host.
#[test]
fn panics_pass_through_callbacks() {
    let _alone = alone();
    let lua = with_ffi();
    let panics = lua.create_function(|_, (): ()| -> perilune::Result<i32> { panic!("in a callback") });
    lua.globals().set("panics", panics.expect("a function")).expect("a global");
    for _ in 0..20 {
        let run = || lua.load("sort(function() return panics() end)").exec();
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"in a callback"));
    }
    works(&lua);
}

/// States share the entries of callbacks, and give them back when they end.
#[test]
fn states_share_callbacks() {
    let _alone = alone();
    let fill = "local ffi, n = require('ffi'), 0
        local ok, e = pcall(function() while true do ffi.cast('int (*)(void)', function() return 1 end) n = n + 1 end end)
        assert(e:find('too many callbacks')) return n";
    for _ in 0..3 {
        let n: usize = with_ffi().load(fill).eval().expect("no error");
        assert!(n > 500);
    }
}
