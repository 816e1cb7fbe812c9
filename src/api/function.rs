//! Functions.

#[cfg(feature = "async")]
use super::async_thread::{self, AsyncCallFuture};
use super::error::{Error, Result};
use super::handle::Handle;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::passing::Frame;
use super::table::Table;
use super::value::Value;
use perilune_vm::object::{Func, Gc};
use perilune_vm::stdlib::{Definition, set_function_env};
use perilune_vm::value::Value as Raw;
use std::ffi::c_void;

/// A Lua function, a library function, or a Rust closure made one.
///
/// ```
/// use perilune::{Function, Lua};
///
/// let lua = Lua::new();
/// let upper: Function = lua.load("string.upper").eval()?;
/// assert_eq!(upper.call::<String>("moon")?, "MOON");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Function(pub(crate) Handle);

/// What is known about a function, as `debug.getinfo` tells it.
///
/// ```
/// use perilune::{Function, Lua};
///
/// let lua = Lua::new();
/// let print: Function = lua.globals().get("print")?;
/// let info = print.info();
/// assert_eq!((info.what, info.is_vararg, info.line_defined), ("C", true, None));
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// A name of the function; none for a function that is not asked about while it runs.
    pub name: Option<String>,
    /// What the name is: "global", "local", "method", "field", "upvalue".
    pub name_what: Option<&'static str>,
    /// "Lua" for a Lua function, "main" for a chunk, "C" for others.
    pub what: &'static str,
    /// The name of the chunk.
    pub source: Option<String>,
    /// The name of the chunk as messages have it.
    pub short_src: Option<String>,
    /// The first line.
    pub line_defined: Option<usize>,
    /// The last line.
    pub last_line_defined: Option<usize>,
    /// Number of upvalues.
    pub num_upvalues: u8,
    /// Number of named parameters; 0 for functions that are not Lua's.
    pub num_params: u8,
    /// Does it take any number of arguments? True for functions that are not Lua's.
    pub is_vararg: bool,
}

/// More values than this cannot be bound to a function.
const MAX_BOUND: usize = 254;
/// As many are bound by one closure: it has upvalues for 60.
const BOUND_BY_ONE: usize = 50;

impl Function {
    fn raw(&self) -> Gc<Func> {
        self.0.get().as_func().expect("the root of a function handle is a function")
    }
    /// Calls the function.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let max: Function = lua.load("math.max").eval()?;
    /// assert_eq!(max.call::<i32>((3, 9, 4))?, 9);
    /// assert!(max.call::<i32>("x").unwrap_err().message().contains("number expected, got string"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// An argument cannot be converted, the function fails, or a result is not an `R`.
    ///
    /// # Panics
    /// A Rust function that it calls panics: the panic goes through Lua and comes out here.
    pub fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        call(&*self.0.open("Function::call")?, self.0.get(), args)
    }
    /// Calls the function in a coroutine of its own, so that it may call asynchronous functions. What it yields otherwise is ignored.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let twice = lua.create_async_function(|_, n: i32| async move { Ok(2 * n) })?;
    /// assert_eq!(twice.call_async::<i32>(21).await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    ///
    /// # Errors
    /// As for [`Function::call`].
    #[cfg(feature = "async")]
    pub fn call_async<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
        match self.0.open("Function::call_async") {
            Ok(lua) => async_thread::call(&lua, self, args),
            Err(e) => AsyncCallFuture::failed(e),
        }
    }
    /// A function that calls this one with these arguments before its own. Loops that call it are compiled like others.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let join: Function = lua.load("function(a, b, c) return a .. b .. c end").eval()?;
    /// let greet = join.bind(("hello", ", "))?;
    /// assert_eq!(greet.call::<String>("moon")?, "hello, moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BindError`] for more than 254 arguments; an argument cannot be converted.
    pub fn bind(&self, args: impl IntoLuaMulti) -> Result<Function> {
        let lua = self.0.open("Function::bind")?;
        let args = args.into_lua_multi(&lua)?.into_vec();
        if args.len() > MAX_BOUND {
            return Err(Error::BindError);
        }
        args.chunks(BOUND_BY_ONE).try_fold(self.clone(), |f, args| {
            let names: String = (0..args.len()).map(|i| format!("a{i}, ")).collect();
            let variables = names.trim_end_matches(", ");
            let source = format!("local f, {variables} = ... return function(...) return f({names}...) end");
            let all: MultiValue = std::iter::once(Value::Function(f)).chain(args.iter().cloned()).collect();
            lua.load(source).set_name("=bind").call(all)
        })
    }
    /// The table of the function's globals; none for functions that are not Lua's.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.load("return x").into_function()?.environment(), Some(lua.globals()));
    /// assert!(lua.globals().get::<Function>("print")?.environment().is_none());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn environment(&self) -> Option<Table> {
        let _lock = self.0.lock();
        let f = self.raw();
        f.is_lua().then(|| Table(self.0.lua().handle(Raw::table(f.env.get()))))
    }
    /// Gives the function another table of globals. False for functions that are not Lua's, which keep theirs.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let f = lua.load("return name").into_function()?;
    /// f.set_environment(lua.create_table_from([("name", "moon")])?)?;
    /// assert_eq!(f.call::<String>(())?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The table belongs to another state.
    pub fn set_environment(&self, env: Table) -> Result<bool> {
        let lua = self.0.open("Function::set_environment")?;
        let (f, env) = (self.raw(), env.0.get_in(&lua.0)?);
        let Some(env) = env.as_table().filter(|_| f.is_lua()) else { return Ok(false) };
        lua.0.enter(|vm| set_function_env(vm, f, env));
        Ok(true)
    }
    /// What is known about the function.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let f: Function = lua.load("return\nfunction(a, b) end").set_name("@f.lua").eval()?;
    /// let info = f.info();
    /// assert_eq!((info.short_src.as_deref(), info.line_defined, info.num_params), (Some("f.lua"), Some(2), 2));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn info(&self) -> FunctionInfo {
        let _lock = self.0.lock();
        let f = self.raw();
        let d = Definition::of(f);
        let text = |bytes: Vec<u8>| Some(String::from_utf8_lossy(&bytes).into_owned());
        FunctionInfo {
            name: None,
            name_what: None,
            what: d.what,
            source: text(d.source),
            short_src: text(d.short_src),
            line_defined: d.first_line.try_into().ok(),
            last_line_defined: d.last_line.try_into().ok(),
            num_upvalues: f.visible_upvalues() as u8,
            num_params: f.proto().map_or(0, |p| p.num_params() as u8),
            is_vararg: f.proto().is_none_or(|p| p.is_vararg()),
        }
    }
    /// The function as bytecode, for [`Lua::load`]; its upvalues are not part of it. With `strip`, lines and names of variables are left
    /// out. Empty for functions that are not Lua's.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let bytes = lua.load("return 1 + 1").into_function()?.dump(true);
    /// assert_eq!(lua.load(bytes).call::<i32>(())?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn dump(&self, strip: bool) -> Vec<u8> {
        let _lock = self.0.lock();
        let f = self.raw();
        self.0.lua().0.enter(|vm| vm.dump(f, strip)).unwrap_or_default()
    }
    /// A copy of the function with upvalues of its own, which have the present values. Functions that are not Lua's are not copied.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let count: Function = lua.load("local n = 0 return function() n = n + 1 return n end").eval()?;
    /// let other = count.deep_clone()?;
    /// assert_eq!((count.call::<i32>(())?, count.call::<i32>(())?, other.call::<i32>(())?), (1, 2, 1));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn deep_clone(&self) -> Result<Function> {
        let lua = self.0.open("Function::deep_clone")?;
        let f = self.raw();
        let copy = Function(lua.handle(lua.0.enter(|vm| Raw::func(vm.clone_func(f)))));
        lua.0.step()?;
        Ok(copy)
    }
    /// The address, which tells functions apart.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let (a, b): (Function, Function) = lua.load("return print, print").eval()?;
    /// assert_eq!(a.to_pointer(), b.to_pointer());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_pointer(&self) -> *const c_void {
        self.0.address()
    }
}

/// Calls a raw value, which is rooted.
pub(crate) fn call<R: FromLuaMulti>(lua: &Lua, f: Raw, args: impl IntoLuaMulti) -> Result<R> {
    let frame = Frame::new(lua);
    args.pass_all(lua)?;
    lua.0.call_passed(f, &frame)?;
    R::take_all(frame.passed(lua), None)
}
