//! No safe function breaks memory: what code of the host may do at the worst moment, in three modes and with a collection at every
//! safepoint. `Lua` programs run the same code interpreted, compiled, and compiled at once.

use perilune::observe::{memprof, profile};
use perilune::{Error, FromLua, Function, Lua, LuaOptions, Result, StdLib, Table, Value};
use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// How many objects show that a state is usable. With a collection at every safepoint each takes Miri seconds.
const FEW: i32 = if cfg!(miri) { 5 } else { 100 };

/// A program that makes `n` tables.
fn tables(n: i32) -> String {
    format!("local t = {{}} for i = 1, {n} do t[i] = {{i}} end")
}

/// A state. Miri takes a minute to open all libraries, and then seconds for each collection: there it has few.
fn new_state() -> Lua {
    if cfg!(miri) { Lua::new_with(StdLib::STRING | StdLib::TABLE, LuaOptions::default()).expect("a state") } else { Lua::new() }
}

/// Runs a test in each mode, without and with a collection at every safepoint; under Miri that is a step of 1,000 bytes' work.
pub fn in_all_modes(test: impl Fn(&Lua)) {
    for stress in ["gcstress=0", if cfg!(miri) { "gcstress=1000" } else { "gcstress=1" }] {
        // Miri runs no machine code.
        let modes = if cfg!(miri) { &[None][..] } else { &[None, Some("hotloop=56"), Some("hotloop=1")] };
        for &mode in modes {
            let lua = new_state();
            lua.jit_option(stress).expect("an option");
            match mode {
                Some(option) => lua.jit_option(option).expect("an option"),
                None => lua.set_jit(false),
            }
            test(&lua);
            // What was done has left the heap in order.
            lua.gc_collect().expect("a collection");
            let sum = lua.load(tables(FEW) + " return #t").eval::<i32>();
            assert_eq!(sum.expect("the state is usable"), FEW);
        }
    }
}

/// Runs a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A Lua function that nobody refers to, with a payload whose `Drop` runs `f`.
fn dead_payload(lua: &Lua, f: impl FnMut() + 'static) {
    let payload = OnDrop(f);
    let function = lua.create_function(move |_, ()| {
        let _ = &payload;
        Ok(())
    });
    drop(function.expect("a function"));
}

/// A program that allocates enough for several cycles of the collector; under Miri it is shorter, and the tests collect themselves.
const ALLOCATES: &str = if cfg!(miri) {
    "local t = {} for i = 1, 8 do t[i % 5] = {i, tostring(i)} end"
} else {
    "local t = {} for i = 1, 3000 do t[i % 100] = {i, tostring(i)} end"
};

#[test]
fn handles_of_another_state_are_refused() {
    let foreign = new_state();
    let table = foreign.create_table().expect("a table");
    let function = foreign.load("return 1").into_function().expect("a function");
    let string = foreign.create_string("text").expect("a string");
    in_all_modes(|lua| {
        let refused = |result: Result<()>| assert!(matches!(result, Err(Error::ForeignValue { .. })), "{result:?}");
        let own = lua.create_table().expect("a table");
        refused(own.set("t", &table));
        refused(own.raw_set("t", &table));
        refused(own.set(&table, 1));
        refused(own.set("s", Value::String(string.clone())));
        refused(own.get::<Value>(&table).map(drop));
        refused(own.set_metatable(Some(table.clone())));
        let identity: Function = lua.load("return ...").into_function().expect("a function");
        refused(identity.call::<()>(&table));
        refused(identity.call::<()>((1, vec![function.clone()])));
        refused(lua.create_registry_value(&table).map(drop));
        let given = table.clone();
        let gives = lua.create_function(move |_, ()| Ok(given.clone())).expect("a function");
        let error = gives.call::<Value>(()).expect_err("a result of another state");
        assert!(error.to_string().contains("a table of another Lua state was used"), "{error}");
        assert!(own.is_empty());
    });
    // A closed state.
    drop(foreign);
    let lua = new_state();
    assert!(matches!(lua.globals().set("t", &table), Err(Error::ForeignValue { .. })));
    assert!(matches!(table.len(), Err(Error::StateClosed { .. })));
    assert!(catch_unwind(AssertUnwindSafe(|| table.raw_len())).is_err());
}

#[test]
fn drop_may_use_the_state() {
    in_all_modes(|lua| {
        let dropped = Rc::new(Cell::new(0));
        for _ in 0..3 {
            let (count, weak) = (Rc::clone(&dropped), lua.weak());
            dead_payload(lua, move || {
                let lua = weak.upgrade();
                lua.gc_collect().expect("a collection");
                lua.load(format!("made = {{}} for i = 1, {FEW} do made[i] = {{tostring(i)}} end")).exec().expect("no error");
                lua.globals().set("fresh", lua.create_table().expect("a table")).expect("set");
                count.set(count.get() + 1);
            });
        }
        lua.load(ALLOCATES).exec().expect("no error");
        lua.gc_collect().expect("a collection");
        lua.gc_collect().expect("a collection");
        assert_eq!(dropped.get(), 3);
        assert_eq!(lua.load("return #made").eval::<i32>().expect("a number"), FEW);
    });
}

#[test]
fn drop_may_make_more_to_drop() {
    in_all_modes(|lua| {
        fn chain(lua: &Lua, length: u32, ended: Rc<Cell<bool>>) {
            let weak = lua.weak();
            dead_payload(lua, move || match length {
                0 => ended.set(true),
                n => chain(&weak.upgrade(), n - 1, Rc::clone(&ended)),
            });
        }
        let ended = Rc::new(Cell::new(false));
        chain(lua, 20, Rc::clone(&ended));
        for _ in 0..30 {
            lua.gc_collect().expect("a collection");
        }
        assert!(ended.get());
    });
}

#[test]
fn drop_may_panic() {
    in_all_modes(|lua| {
        let dropped = Rc::new(Cell::new(0));
        for i in 0..10 {
            let count = Rc::clone(&dropped);
            dead_payload(lua, move || {
                count.set(count.get() + 1);
                assert!(i % 2 == 0, "a panic of the test, to be ignored");
            });
        }
        lua.load(ALLOCATES).exec().expect("no error");
        lua.gc_collect().expect("a collection");
        assert_eq!(dropped.get(), 10);
    });
}

#[test]
fn a_payload_drops_handles() {
    in_all_modes(|lua| {
        let table = lua.create_table().expect("a table");
        table.set(1, "kept").expect("set");
        let captured = table.clone();
        let function = lua.create_function(move |_, ()| captured.get::<String>(1)).expect("a function");
        assert_eq!(function.call::<String>(()).expect("text"), "kept");
        drop(function);
        lua.gc_collect().expect("a collection");
        assert_eq!(table.get::<String>(1).expect("text"), "kept");
    });
}

#[test]
fn payloads_of_a_closed_state() {
    let left = Rc::new(RefCell::new(Vec::new()));
    let lua = new_state();
    for i in 0..3 {
        let (left, weak) = (Rc::clone(&left), lua.weak());
        let payload = OnDrop(move || left.borrow_mut().push((i, weak.try_upgrade().is_none())));
        let function = lua.create_function(move |_, ()| {
            let _ = &payload;
            Ok(())
        });
        lua.globals().set(format!("f{i}"), function.expect("a function")).expect("set");
    }
    drop(lua);
    left.borrow_mut().sort_unstable();
    assert_eq!(*left.borrow(), [(0, true), (1, true), (2, true)]);
}

/// Each panic is reported by its hook alone, and the others are dropped all the same.
#[test]
fn drops_may_panic_while_the_state_is_closed() {
    let dropped = Rc::new(Cell::new(0));
    let lua = new_state();
    for i in 0..4 {
        let count = Rc::clone(&dropped);
        let payload = OnDrop(move || {
            count.set(count.get() + 1);
            panic!("a panic of the test, to be ignored");
        });
        lua.globals().set(i, perilune::AnyUserData::wrap(payload)).expect("set");
    }
    drop(lua);
    assert_eq!(dropped.get(), 4);
}

/// A writer that runs Lua.
struct Runs(Lua, Rc<Cell<u32>>);

impl Write for Runs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.set(self.1.get() + 1);
        self.0.load(tables(10 * FEW)).exec().map_err(|e| io::Error::other(e.to_string()))?;
        self.0.gc_collect().map_err(|e| io::Error::other(e.to_string()))?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Drop for Runs {
    fn drop(&mut self) {
        self.0.load("dropped = {}").exec().expect("no error");
    }
}

/// The memory profiler writes in the middle of allocations and sweeps: what it is given cannot run Lua there, and says so.
#[test]
fn a_memprof_writer_that_runs_lua_fails() {
    in_all_modes(|lua| {
        let called = Rc::new(Cell::new(0));
        let stopped = Rc::new(Cell::new(false));
        let (at_stop, weak) = (Rc::clone(&stopped), lua.weak());
        let options =
            memprof::Options::new(Runs(lua.clone(), Rc::clone(&called))).buffer(Vec::with_capacity(64)).on_stop(move || {
                at_stop.set(true);
                weak.upgrade().load("return 1").exec().map_err(|e| io::Error::other(e.to_string()))
            });
        let started = lua.start_memprof(options);
        assert!(started.is_err(), "the first write fails");
        assert!(called.get() > 0 && stopped.get());
        lua.load(ALLOCATES).exec().expect("no error");
        assert!(lua.stop_memprof().is_err());
    });
}

/// Bytes that [`RunsLater`] writes once the profiler has started; [`ALLOCATES`] makes the profiler write more.
const GOOD_FOR: usize = if cfg!(miri) { 100 } else { 20_000 };

/// A writer that is well-behaved for so many bytes.
struct RunsLater(Runs, Rc<Cell<usize>>);

impl Write for RunsLater {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.1.get().checked_sub(bytes.len()) {
            Some(left) => {
                self.1.set(left);
                Ok(bytes.len())
            }
            None => self.0.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_memprof_writer_that_runs_lua_later_fails() {
    in_all_modes(|lua| {
        let called = Rc::new(Cell::new(0));
        let left = Rc::new(Cell::new(usize::MAX));
        let writer = RunsLater(Runs(lua.clone(), Rc::clone(&called)), Rc::clone(&left));
        lua.start_memprof(memprof::Options::new(writer).buffer(Vec::with_capacity(64))).expect("it starts");
        left.set(GOOD_FOR);
        lua.load(ALLOCATES).exec().expect("no error");
        assert!(lua.stop_memprof().is_err());
        assert_eq!(called.get(), 1);
    });
}

#[test]
fn heap_dumps_go_to_writers_that_run_lua() {
    in_all_modes(|lua| {
        let called = Rc::new(Cell::new(0));
        lua.dump_heap(&mut Runs(lua.clone(), Rc::clone(&called))).expect("it is written");
        lua.snapshot_heap(&mut Runs(lua.clone(), Rc::clone(&called))).expect("it is written");
        assert!(called.get() >= 2);
    });
}

#[test]
#[cfg_attr(miri, ignore = "signals")]
fn a_profile_goes_to_a_function_that_runs_lua() {
    let lua = Lua::new();
    let called = Rc::new(Cell::new(false));
    let (flag, state) = (Rc::clone(&called), lua.weak());
    let options = profile::Options::new().on_end(move |_| {
        flag.set(true);
        state.upgrade().load("return 1").exec().expect("the state is closed");
    });
    lua.start_profile(options).expect("it starts");
    lua.load("for i = 1, 1e6 do end").exec().expect("no error");
    drop(lua);
    assert!(called.get());
}

/// Bytes that are made by running Lua.
struct Collects<'a>(&'a Lua);

impl AsRef<[u8]> for Collects<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.gc_collect().expect("a collection");
        self.0.load(tables(FEW)).exec().expect("no error");
        b"bytes"
    }
}

impl From<Collects<'_>> for String {
    fn from(bytes: Collects<'_>) -> String {
        String::from_utf8_lossy(bytes.as_ref()).into_owned()
    }
}

#[test]
fn as_ref_may_use_the_state() {
    in_all_modes(|lua| {
        let string = lua.create_string(Collects(lua)).expect("a string");
        assert_eq!(string, "bytes");
        lua.load("return 1").set_name(Collects(lua)).exec().expect("no error");
    });
}

/// Conversions run Lua while other arguments have been converted already.
struct Converts;

impl perilune::IntoLua for Converts {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.gc_collect()?;
        lua.load(tables(FEW) + " return t").eval()
    }
}
impl perilune::FromLua for Converts {
    fn from_lua(_: Value, lua: &Lua) -> Result<Converts> {
        lua.gc_collect()?;
        lua.load(tables(FEW)).exec()?;
        Ok(Converts)
    }
}

#[test]
fn conversions_may_use_the_state() {
    in_all_modes(|lua| {
        let f = lua.create_function(|lua, (s, _, t): (String, Converts, Table)| {
            lua.gc_collect()?;
            Ok((format!("{s}{}", t.len()?), Converts, lua.create_string("last")?.to_str()?.to_owned()))
        });
        lua.globals().set("f", f.expect("a function")).expect("set");
        let program =
            format!("local r for i = 1, {FEW} do local s, t, l = f('x' .. i, {{}}, {{1, i}}) r = s .. #t .. l end return r");
        assert_eq!(lua.load(program).eval::<String>().expect("text"), format!("x{FEW}2{FEW}last"));
        let last: Function = lua.load("return select('#', ...), ...").into_function().expect("a function");
        let (n, first, _, _, s): (i32, Table, Value, Value, String) =
            last.call((Converts, Converts, "text", "end")).expect("results");
        assert_eq!((n, first.len().expect("a length"), s.as_str()), (4, i64::from(FEW), "end"));
    });
}

thread_local! {
    /// The state that [`Loud`] uses: an error must be able to go to another thread, which a handle of a state is not.
    static LOUD: RefCell<Option<perilune::WeakLua>> = const { RefCell::new(None) };
}

/// `Display` of an error is called by Lua's `tostring`.
#[derive(Debug)]
struct Loud;

impl std::fmt::Display for Loud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lua = LOUD.with_borrow(|weak| weak.as_ref().expect("the state of this test").upgrade());
        lua.gc_collect().expect("a collection");
        let n: i32 = lua.load("return 1 + 1").eval().expect("a number");
        write!(f, "loud {n}")
    }
}
impl std::error::Error for Loud {}

#[test]
fn display_of_errors_may_use_the_state() {
    in_all_modes(|lua| {
        LOUD.set(Some(lua.weak()));
        let f = lua.create_function(|_, ()| Err::<(), _>(Error::external(Loud))).expect("a function");
        lua.globals().set("f", f).expect("set");
        let program = "local text for i = 1, 5 do local _, e = pcall(f) text = tostring(e) end return text";
        let text: String = lua.load(program).eval().expect("text");
        assert!(text.contains("loud 2"), "{text}");
    });
}

#[test]
fn panics_go_through_lua() {
    in_all_modes(|lua| {
        let panics = lua.create_function(|_, ()| -> Result<()> { panic!("a panic of the test") }).expect("a function");
        lua.globals().set("panics", panics).expect("set");
        for program in ["panics()", "table.sort({3, 2, 1}, panics)", "('x'):gsub('x', panics)", "coroutine.wrap(panics)()"] {
            let result = catch_unwind(AssertUnwindSafe(|| lua.load(program).exec()));
            let panic = result.expect_err("a panic");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"a panic of the test"), "{program}");
        }
        assert!(!lua.load("return (pcall(panics))").eval::<bool>().expect("a boolean"));
    });
}

/// Much native stack at every level.
#[inline(never)]
fn deep(lua: &Lua, function: &Function) -> Result<i32> {
    let mut large = [0u8; 40_000];
    std::hint::black_box(&mut large);
    let result = function.call::<i32>(());
    std::hint::black_box(&mut large);
    let _ = lua;
    result
}

#[test]
#[cfg_attr(miri, ignore = "the end of the native stack is not known")]
fn nested_callbacks_with_large_frames_end_in_an_error() {
    let nest = || {
        let lua = Lua::new();
        let f = lua.create_function(|lua, ()| deep(lua, &lua.globals().get("lua_f")?)).expect("a function");
        lua.globals().set("f", f).expect("set");
        lua.load("function lua_f() return f() + 1 end").exec().expect("no error");
        let error = lua.load("return lua_f()").eval::<i32>().expect_err("the stack ends");
        assert!(error.to_string().contains("C stack overflow"), "{error}");
        // Caught by Lua code, and again usable.
        assert!(!lua.load("return (pcall(lua_f))").eval::<bool>().expect("a boolean"));
        lua.load("function f() return 0 end").exec().expect("no error");
        assert_eq!(lua.load("return lua_f()").eval::<i32>().expect("a number"), 1);
    };
    for size in [1 << 20, 2 << 20, 16 << 20] {
        std::thread::Builder::new().stack_size(size).spawn(nest).expect("a thread").join().expect("no panic");
    }
}

/// A number whose conversions collect, run Lua code, and sometimes fail.
struct Busy(i64);

fn disturb(lua: &Lua) {
    lua.load("local t = {} for i = 1, 3 do t[i] = { i .. 'x' } end").exec().expect("a program");
    lua.gc_collect().expect("a collection");
}

impl perilune::IntoLua for Busy {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        disturb(lua);
        if self.0 < 0 {
            Err(Error::runtime("negative"))
        } else {
            Ok(Value::String(lua.create_string(format!("busy {}", self.0))?))
        }
    }
}
impl FromLua for Busy {
    fn from_lua(v: Value, lua: &Lua) -> Result<Busy> {
        let text = String::from_lua(v, lua)?;
        disturb(lua);
        text.strip_prefix("busy ").and_then(|n| n.parse().ok()).map(Busy).ok_or_else(|| Error::runtime("not busy"))
    }
}

/// More results than the stack has room for at first, and how often a value goes through all conversions, each of which takes Miri seconds.
const MANY: usize = if cfg!(miri) { 60 } else { 300 };
const TIMES: usize = if cfg!(miri) { 1 } else { 5 };

#[test]
fn values_on_their_way_are_kept() {
    in_all_modes(|lua| {
        // Arguments and results of calls in both directions, the first of which nothing else refers to when the others are converted.
        let back = lua.create_function(|_, (a, b, c): (String, Busy, String)| {
            assert_eq!((&*a, b.0, &*c), ("first 1", 2, "third 3"));
            Ok((format!("{a}!"), Busy(b.0 + 1), format!("{c}!")))
        });
        let back = back.expect("a function");
        for _ in 0..TIMES {
            let results: (String, Busy, String) =
                back.call(("first 1".to_owned(), Busy(2), "third 3".to_owned())).expect("a call");
            assert_eq!((&*results.0, results.1.0, &*results.2), ("first 1!", 3, "third 3!"));
        }
        lua.globals().set("back", &back).expect("a global");
        let code = format!(
            "local function f(i) return back('first ' .. i, 'busy 2', 'third ' .. (i + 2)) end
             local a, b, c for _ = 1, {TIMES} do a, b, c = f(1) end return a .. b .. c"
        );
        assert_eq!(lua.load(code).eval::<String>().expect("a program"), "first 1!busy 3third 3!");

        // A conversion that fails, or a panic, leaves nothing behind.
        assert!(back.call::<()>(("first 1", Busy(-1), "third 3")).is_err());
        assert!(back.call::<()>(("first 1", "idle", "third 3")).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| back.call::<()>(("other", Busy(2), "third 3")))).is_err());
        let many = lua.create_function(|_, ()| Ok(perilune::Variadic::from(vec!["many"; MANY]))).expect("a function");
        assert_eq!(many.call::<perilune::MultiValue>(()).expect("a call").len(), MANY);

        // Tables that are made of values, fields and registry keys.
        let list = lua.create_sequence_from((0..300).map(Busy).step_by(100)).expect("a table");
        assert_eq!(list, ["busy 0", "busy 100", "busy 200"]);
        assert!(lua.create_sequence_from([Busy(1), Busy(-1)]).is_err());
        let map = lua.create_table_from([("key 1".to_owned(), Busy(1)), ("key 2".to_owned(), Busy(2))]).expect("a table");
        map.set("key 3".to_owned(), Busy(3)).expect("a field");
        map.raw_set("key 4".to_owned(), Busy(4)).expect("a field");
        let sum: i64 = map.pairs::<String, Busy>().map(|pair| pair.expect("a pair").1.0).sum();
        assert_eq!((sum, map.get::<Busy>("key 3").expect("a field").0), (10, 3));
        let key = lua.create_registry_value(Busy(7)).expect("a key");
        assert_eq!(lua.registry_value::<Busy>(&key).expect("a value").0, 7);
        let refused = lua.create_table_from([(Value::Nil, 1)]);
        assert!(refused.is_err());
    });
}
