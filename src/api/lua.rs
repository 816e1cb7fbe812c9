//! The entry point.

use super::callback;
use super::chunk::{AsChunk, Chunk};
use super::convert::IntoLua;
use super::error::{Error, Result};
use super::function::Function;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::state::State;
use super::string::LuaString;
use super::table::Table;
use super::value::Value;
use perilune_vm::value::Value as Raw;
use std::rc::Rc;

/// A Lua state. Clones share it; it is closed when the last handle into it is dropped.
///
/// A Rust function that owns handles into its own state keeps that state alive forever.
#[derive(Clone)]
pub struct Lua(pub(crate) Rc<State>);

impl Default for Lua {
    fn default() -> Lua {
        Lua::new()
    }
}

impl Lua {
    /// A new state with all libraries and the compiler on.
    pub fn new() -> Lua {
        Lua(State::new())
    }
    /// A chunk of source text: to be run, evaluated or made a function of.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let (a, b): (i32, String) = lua.load("return 1 + 1, 'two'").set_name("=pair").eval()?;
    /// assert_eq!((a, b.as_str()), (2, "two"));
    /// assert!(lua.load("return return").exec().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn load(&self, source: impl AsChunk) -> Chunk {
        Chunk::new(self.clone(), source.into_source())
    }
    /// The table of globals.
    pub fn globals(&self) -> Table {
        let globals = self.0.with(|vm| Raw::table(vm.realm.globals));
        Table(self.0.root(globals))
    }
    /// A new table.
    pub fn create_table(&self) -> Table {
        let t = self.0.with(|vm| Raw::table(vm.new_table(0, 0)));
        let t = Table(self.0.root(t));
        self.0.step();
        t
    }
    /// A new table with the elements of an iterator.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from([3, 1, 2])?;
    /// lua.globals().set("t", t)?;
    /// assert_eq!(lua.load("table.sort(t) return table.concat(t, ' ')").eval::<String>()?, "1 2 3");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn create_sequence_from<T: IntoLua>(&self, items: impl IntoIterator<Item = T>) -> Result<Table> {
        let t = self.create_table();
        for (i, v) in items.into_iter().enumerate() {
            t.raw_set(i + 1, v)?;
        }
        Ok(t)
    }
    /// A new table with the pairs of an iterator.
    pub fn create_table_from<K: IntoLua, V: IntoLua>(&self, items: impl IntoIterator<Item = (K, V)>) -> Result<Table> {
        let t = self.create_table();
        for (k, v) in items {
            t.raw_set(k, v)?;
        }
        Ok(t)
    }
    /// A string, of any bytes.
    pub fn create_string(&self, bytes: impl AsRef<[u8]>) -> LuaString {
        let s = self.0.with(|vm| Raw::str(vm.new_str(bytes.as_ref())));
        let s = LuaString(self.0.root(s));
        self.0.step();
        s
    }
    /// A Lua function that calls a Rust closure. An error that it returns is raised with its message as the error value.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let divide = lua.create_function(|_, (a, b): (i64, i64)| match b {
    ///     0 => Err(Error::runtime("division by zero")),
    ///     _ => Ok((a / b, a % b)),
    /// })?;
    /// lua.globals().set("divide", divide)?;
    /// assert_eq!(lua.load("return divide(17, 5)").eval::<(i64, i64)>()?, (3, 2));
    /// assert_eq!(lua.load("return pcall(divide, 1, 0)").eval::<(bool, String)>()?, (false, "division by zero".into()));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn create_function<A, R>(&self, f: impl Fn(&Lua, A) -> Result<R> + 'static) -> Result<Function>
    where
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let f = callback::new(self, f);
        let f = Function(self.0.root(f));
        self.0.step();
        Ok(f)
    }
    /// Converts a Rust value.
    pub fn pack(&self, v: impl IntoLua) -> Result<Value> {
        v.into_lua(self)
    }
    /// Limits the memory of the state to `bytes`; 0 takes the limit away. The limit before.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_memory_limit(8 << 20);
    /// let e = lua.load("local s = 'x' while true do s = s .. s end").exec().unwrap_err();
    /// assert!(e.message().contains("not enough memory"));
    /// ```
    pub fn set_memory_limit(&self, bytes: usize) -> usize {
        self.0.with(|vm| {
            let before = vm.memory_limit().unwrap_or(0);
            vm.set_memory_limit((bytes != 0).then_some(bytes));
            before
        })
    }
    /// Writes what Lua programs have written to files, standard output among them, and still is in buffers.
    pub fn flush(&self) {
        perilune_vm::stdlib::io::flush_all();
    }
    /// Has `f` called with the status when the program ends the process by `os.exit`.
    pub fn at_exit(&self, f: impl FnOnce(&Lua, i32) + 'static) {
        let state = Rc::downgrade(&self.0);
        let call = move |vm: &mut perilune_vm::Vm, status| {
            if let Some(state) = state.upgrade() {
                let lua = Lua(state);
                lua.0.inside(vm, || f(&lua, status));
            }
        };
        self.0.with(|vm| vm.host.at_exit.push(Box::new(call)));
    }
    /// Bytes in use.
    pub fn used_memory(&self) -> usize {
        self.0.with(|vm| vm.heap.total)
    }
    /// A full collection.
    pub fn gc_collect(&self) {
        self.0.with(|vm| vm.full_gc());
    }
    /// Switches the compiler on or off, as `jit.on()` and `jit.off()` do.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_jit(false);
    /// assert!(!lua.load("return (jit.status())").eval::<bool>()?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_jit(&self, on: bool) {
        // The library is always there, and neither function fails.
        let _ = self.load(if on { "jit.on()" } else { "jit.off()" }).exec();
    }
    /// Sets options of the compiler, as one argument of `jit.opt.start` does.
    ///
    /// ```no_run
    /// let lua = perilune::Lua::new();
    /// lua.jit_option("hotloop=10")?;
    /// assert!(lua.jit_option("nonsense").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn jit_option(&self, option: &str) -> Result<()> {
        self.load("jit.opt.start(...)").into_function()?.call(option).map_err(|e| Error::runtime(e.message()))
    }
}
