//! The entry point.

use super::callback;
use super::chunk::{AsChunk, Chunk};
use super::convert::IntoLua;
use super::error::{Error, Result};
use super::function::Function;
use super::handle::Handle;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::native::exclusive;
use super::options::LuaOptions;
use super::passing::Frame;
use super::state::{State, new_vm_with};
use super::string::LuaString;
use super::sync::{MaybeSend, Shared, WeakShared};
use super::table::Table;
use perilune_vm::stdlib::StdLib;
use perilune_vm::value::Value as Raw;
use std::fmt;
use std::panic::Location;

/// As many values of an iterator are converted before they go into a table.
const BATCH: usize = 128;
/// An iterator may say that it gives more than this; a table has no room for more in advance.
const MOST_RESERVED: usize = 1 << 16;

/// An array may have fewer elements than this, as in LuaJIT.
const MOST_ELEMENTS: u32 = 1 << 27;

/// A table would be larger than tables can be.
fn table_overflow() -> Error {
    Error::MemoryError("table overflow".into())
}

/// A Lua state. Clones share it; it is closed when the last of them is dropped. Handles (tables, functions, ...) do not keep it.
///
/// ```
/// use perilune::Lua;
///
/// let lua = Lua::new();
/// lua.globals().set("name", "moon")?;
/// assert_eq!(lua.load("'hello, ' .. name").eval::<String>()?, "hello, moon");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone)]
pub struct Lua(pub(crate) Shared<State>);

/// What a panic says when a handle is used whose state is closed.
pub(super) const CLOSED: &str = "Lua instance is destroyed";

/// A state that may be closed already.
///
/// ```
/// use perilune::Lua;
///
/// let lua = Lua::new();
/// let weak = lua.weak();
/// assert!(weak.try_upgrade().is_some());
/// drop(lua);
/// assert!(weak.try_upgrade().is_none());
/// ```
#[derive(Clone)]
pub struct WeakLua(pub(super) WeakShared<State>);

impl Default for Lua {
    fn default() -> Lua {
        Lua::new()
    }
}
impl fmt::Debug for Lua {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lua({:p})", Shared::as_ptr(&self.0))
    }
}

impl WeakLua {
    pub(crate) fn of(state: &Shared<State>) -> WeakLua {
        WeakLua(Shared::downgrade(state))
    }
    pub(crate) fn is(&self, state: &Shared<State>) -> bool {
        core::ptr::eq(self.0.as_ptr(), Shared::as_ptr(state))
    }
    /// The state.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let weak = lua.weak();
    /// weak.upgrade().globals().set("x", 1)?;
    /// assert_eq!(lua.globals().get::<i32>("x")?, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Panics
    /// It is closed.
    pub fn upgrade(&self) -> Lua {
        self.try_upgrade().expect(CLOSED)
    }
    /// The state, if it is not closed.
    ///
    /// ```
    /// let weak = perilune::Lua::new().weak();
    /// assert!(weak.try_upgrade().is_none());
    /// ```
    #[inline]
    pub fn try_upgrade(&self) -> Option<Lua> {
        self.0.upgrade().map(Lua)
    }
}
impl PartialEq for WeakLua {
    fn eq(&self, other: &WeakLua) -> bool {
        self.0.ptr_eq(&other.0)
    }
}
impl Eq for WeakLua {}
impl fmt::Debug for WeakLua {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakLua({:p})", self.0.as_ptr())
    }
}

impl Lua {
    /// A new state with some libraries and the compiler. `safe`: unsafe libraries are refused later.
    pub(super) fn with_libraries(libs: StdLib, options: LuaOptions, safe: bool) -> Lua {
        let lua = Lua(State::new(new_vm_with(libs, false), options, safe));
        if safe && libs.contains(StdLib::PACKAGE) {
            lua.refuse_c_modules();
        }
        lua
    }
    /// The state, for structures that must not keep it.
    ///
    /// ```
    /// use perilune::Lua;
    ///
    /// let lua = Lua::new();
    /// // A closure that owned a `Lua` would keep its state for ever.
    /// let weak = lua.weak();
    /// let size = lua.create_function(move |_, ()| Ok(weak.upgrade().used_memory()))?;
    /// assert!(size.call::<usize>(())? > 0);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn weak(&self) -> WeakLua {
        WeakLua::of(&self.0)
    }
    pub(crate) fn handle(&self, v: Raw) -> Handle {
        self.0.handle(v)
    }
    /// A chunk of source text or bytecode: to be run, evaluated or made a function. Without a name of its own it is named after the place
    /// of this call in the Rust program.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let (a, b): (i32, String) = lua.load("return 1 + 1, 'two'").set_name("=pair").eval()?;
    /// assert_eq!((a, b.as_str()), (2, "two"));
    /// assert!(lua.load("return return").exec().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[track_caller]
    pub fn load<'a>(&self, source: impl AsChunk + 'a) -> Chunk<'a> {
        Chunk::new(self, source, Location::caller())
    }
    /// The table of globals.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.globals().set("x", 1)?;
    /// lua.load("x = x + 1").exec()?;
    /// assert_eq!(lua.globals().get::<i32>("x")?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn globals(&self) -> Table {
        let _lock = self.0.lock();
        let globals = self.0.enter(|vm| Raw::table(vm.realm.globals));
        Table(self.handle(globals))
    }
    /// A new table.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// t.set("x", 1)?;
    /// assert_eq!(t.get::<i32>("x")?, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_table(&self) -> Result<Table> {
        let _lock = self.0.lock();
        self.create_table_with_capacity(0, 0)
    }
    /// A new table with room for elements and fields.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table_with_capacity(100, 0)?;
    /// for i in 1..=100 {
    ///     t.push(i)?;
    /// }
    /// assert_eq!(t.len()?, 100);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_table_with_capacity(&self, elements: usize, fields: usize) -> Result<Table> {
        let _lock = self.0.lock();
        let elements = u32::try_from(elements).ok().filter(|n| *n < MOST_ELEMENTS).ok_or_else(table_overflow)?;
        let fields = u32::try_from(fields).ok().filter(|n| *n <= 1 << 26).ok_or_else(table_overflow)?;
        let t = self.0.try_enter(|vm| {
            // A slot of the array part takes 8 bytes, a node of the hash part 24.
            let (array, hash) = (elements as usize * 8, fields.next_power_of_two() as usize * 24);
            if vm.memory_limit().is_some() {
                vm.check_alloc(array + hash)?;
            } else {
                vm.check_alloc(array)?;
                vm.check_alloc(hash)?;
            }
            Ok(Raw::table(vm.new_table(elements, perilune_vm::object::hbits_for(fields))))
        })?;
        let t = Table(self.handle(t));
        self.0.step()?;
        Ok(t)
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
        let _lock = self.0.lock();
        let mut items = items.into_iter();
        let t = self.create_table_with_capacity(items.size_hint().0.min(MOST_RESERVED), 0)?;
        let frame = Frame::new(self);
        let mut len = 0;
        loop {
            items.by_ref().take(BATCH).try_for_each(|v| v.pass(self))?;
            let n = frame.len();
            if n == 0 {
                return Ok(t);
            }
            let first = len + 1;
            len = u32::try_from(n)
                .ok()
                .and_then(|n| n.checked_add(len))
                .filter(|n| *n < MOST_ELEMENTS)
                .ok_or_else(table_overflow)?;
            let table = t.raw_with(self);
            self.0.enter(|vm| {
                for (i, at) in (first..=len).enumerate() {
                    // Far from overflowing: `MOST_ELEMENTS`.
                    vm.table_set_int(table, at as i32, frame.raw(i));
                }
            });
            frame.clear();
            self.0.step()?;
        }
    }
    /// A new table with the pairs of an iterator.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table_from([("x", 1), ("y", 2)])?;
    /// assert_eq!(t.get::<i32>("y")?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn create_table_from<K: IntoLua, V: IntoLua>(&self, items: impl IntoIterator<Item = (K, V)>) -> Result<Table> {
        let _lock = self.0.lock();
        let mut items = items.into_iter();
        let t = self.create_table_with_capacity(0, items.size_hint().0.min(MOST_RESERVED))?;
        let frame = Frame::new(self);
        loop {
            items.by_ref().take(BATCH).try_for_each(|(k, v)| {
                k.pass(self)?;
                v.pass(self)
            })?;
            if frame.len() == 0 {
                return Ok(t);
            }
            let table = t.raw_with(self);
            self.0.try_enter(|vm| {
                (0..frame.len()).step_by(2).try_for_each(|i| vm.table_set(table, frame.raw(i), frame.raw(i + 1)))
            })?;
            frame.clear();
            self.0.step()?;
        }
    }
    /// A string, of any bytes.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let s = lua.create_string(b"\xff\x00")?;
    /// assert_eq!(*s.as_bytes(), [0xff, 0]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_string(&self, bytes: impl AsRef<[u8]>) -> Result<LuaString> {
        let _lock = self.0.lock();
        // `as_ref` is code of the caller's: it runs before the VM is entered.
        let bytes = bytes.as_ref();
        let s = self.0.try_enter(|vm| vm.check_alloc(bytes.len()).map(|()| Raw::str(vm.new_str(bytes))))?;
        let s = LuaString(self.handle(s));
        self.0.step()?;
        Ok(s)
    }
    /// A Lua function that calls a Rust closure. An error that it returns is raised in Lua; a panic is raised as well, and resumed where Rust
    /// code has called Lua.
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
    /// let (ok, e): (bool, Error) = lua.load("return pcall(divide, 1, 0)").eval()?;
    /// assert_eq!((ok, e.message().as_str()), (false, "division by zero"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn create_function<A, R>(&self, f: impl Fn(&Lua, A) -> Result<R> + MaybeSend + 'static) -> Result<Function>
    where
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        Function::of_closure(self, callback::closure(f))
    }
    /// As [`Lua::create_function`] for a closure that changes what it captured. Calling the function while it runs is an
    /// [`Error::RecursiveMutCallback`].
    ///
    /// ```
    /// use perilune::Lua;
    ///
    /// let lua = Lua::new();
    /// let mut n = 0;
    /// let count = lua.create_function_mut(move |_, ()| {
    ///     n += 1;
    ///     Ok(n)
    /// })?;
    /// lua.globals().set("count", count)?;
    /// assert_eq!(lua.load("count() return count()").eval::<i32>()?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_function_mut<A, R>(&self, f: impl FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static) -> Result<Function>
    where
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        Function::of_closure(self, callback::closure(exclusive(f)))
    }
    /// Limits the memory of the state to `bytes`; 0 takes the limit away. The limit before.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.set_memory_limit(8 << 20)?;
    /// let e = lua.load("local s = 'x' while true do s = s .. s end").exec().unwrap_err();
    /// assert!(matches!(e, Error::MemoryError(_)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set_memory_limit(&self, bytes: usize) -> Result<usize> {
        let _lock = self.0.lock();
        self.0.enter(|vm| {
            let before = vm.memory_limit().unwrap_or(0);
            vm.set_memory_limit((bytes != 0).then_some(bytes));
            Ok(before)
        })
    }
    /// Writes what Lua programs have written to files, standard output among them, and still is in buffers.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.load("io.write('working... ')").exec()?;
    /// lua.flush();
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn flush(&self) {
        perilune_vm::stdlib::io::flush_all();
    }
    /// Has `f` called with the status when the program ends the process by `os.exit`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.at_exit(|_, status| eprintln!("the script ends the process with status {status}"));
    /// ```
    pub fn at_exit(&self, f: impl FnOnce(&Lua, i32) + MaybeSend + 'static) {
        let _lock = self.0.lock();
        let state = Shared::downgrade(&self.0);
        let call = move |vm: &mut perilune_vm::Vm, status| {
            if let Some(state) = state.upgrade() {
                let lua = Lua(state);
                lua.0.leave(vm, || f(&lua, status));
            }
        };
        self.0.enter(|vm| vm.host.at_exit.push(Box::new(call)));
    }
    /// Bytes in use.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let before = lua.used_memory();
    /// lua.load("kept = ('x'):rep(1e6)").exec()?;
    /// assert!(lua.used_memory() > before + 1_000_000);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn used_memory(&self) -> usize {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.heap.total)
    }
    /// A full collection.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.load("local garbage = ('x'):rep(1e6)").exec()?;
    /// let before = lua.used_memory();
    /// lua.gc_collect()?;
    /// assert!(lua.used_memory() + 1_000_000 <= before);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn gc_collect(&self) -> Result<()> {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.full_gc());
        Ok(())
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
        let _lock = self.0.lock();
        self.0.enter(|vm| {
            if let Some(jit) = perilune_jit::Jit::of(vm) {
                jit.switch(vm, on);
            }
        });
    }
    /// Sets an option of the compiler, as one argument of `jit.opt.start` does.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.jit_option("hotloop=10")?;
    /// assert!(lua.jit_option("nonsense").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn jit_option(&self, option: &str) -> Result<()> {
        let _lock = self.0.lock();
        self.0.enter(|vm| perilune_jit::Jit::of(vm).map_or(Ok(()), |jit| jit.set_option(vm, option))).map_err(Error::RuntimeError)
    }
}
