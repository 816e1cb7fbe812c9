//! Chunks: source text or bytecode with a name and an environment.

use super::convert::IntoLua;
use super::error::{Error, Result};
use super::function::Function;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::table::Table;
use super::value::Value;
use perilune_vm::value::Value as Raw;
use std::borrow::Cow;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// What can be loaded.
///
/// ```
/// use perilune::{AsChunk, ChunkMode, Lua, Result, Table};
/// use std::borrow::Cow;
///
/// struct Greeting;
/// impl AsChunk for Greeting {
///     fn name(&self) -> Option<String> {
///         Some("=greeting".to_owned())
///     }
///     fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
///         lua.create_table_from([("name", "moon")]).map(Some)
///     }
///     fn mode(&self) -> Option<ChunkMode> {
///         Some(ChunkMode::Text)
///     }
///     fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>> {
///         Ok(Cow::Borrowed(b"return 'hello, ' .. name"))
///     }
/// }
/// assert_eq!(Lua::new().load(Greeting).eval::<String>()?, "hello, moon");
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait AsChunk {
    /// The name, see [`Chunk::set_name`]. Without one the chunk is named after the place of [`Lua::load`] in the Rust program.
    fn name(&self) -> Option<String> {
        None
    }
    /// The table of globals, if it is not that of the state.
    ///
    /// # Errors
    /// It cannot be made.
    fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
        let _ = lua;
        Ok(None)
    }
    /// What the chunk has to be; without it, either.
    fn mode(&self) -> Option<ChunkMode> {
        None
    }
    /// Source text or bytecode.
    ///
    /// # Errors
    /// It cannot be read.
    fn source<'a>(&self) -> io::Result<Cow<'a, [u8]>>
    where
        Self: 'a;
}

macro_rules! chunk {
    (borrowed { $($t:ty: |$s:ident| $bytes:expr;)* } owned { $($u:ty: |$o:ident| $owned:expr;)* } files { $($f:ty)* }) => {
        $(impl AsChunk for $t {
            fn source<'a>(&self) -> io::Result<Cow<'a, [u8]>>
            where
                Self: 'a,
            {
                let $s = *self;
                Ok(Cow::Borrowed($bytes))
            }
        })*
        $(impl AsChunk for $u {
            fn source<'a>(&self) -> io::Result<Cow<'a, [u8]>> {
                let $o = self;
                Ok(Cow::Owned($owned))
            }
        })*
        $(
            /// A file, which names the chunk.
            impl AsChunk for $f {
                fn name(&self) -> Option<String> {
                    Some(format!("@{}", self.display()))
                }
                fn source<'a>(&self) -> io::Result<Cow<'a, [u8]>> {
                    std::fs::read(self).map(Cow::Owned)
                }
            }
        )*
    };
}
chunk! {
    borrowed {
    &str: |s| s.as_bytes();
    &String: |s| s.as_bytes();
    &[u8]: |s| s;
    &Vec<u8>: |s| s;
    } owned {
    String: |s| s.clone().into_bytes();
    Vec<u8>: |s| s.clone();
    } files { &Path PathBuf }
}

impl<C: AsChunk + ?Sized> AsChunk for Box<C> {
    fn name(&self) -> Option<String> {
        (**self).name()
    }
    fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
        (**self).environment(lua)
    }
    fn mode(&self) -> Option<ChunkMode> {
        (**self).mode()
    }
    fn source<'a>(&self) -> io::Result<Cow<'a, [u8]>>
    where
        Self: 'a,
    {
        (**self).source()
    }
}

/// What a chunk is.
///
/// ```
/// use perilune::{ChunkMode, Lua};
///
/// let lua = Lua::new();
/// assert_eq!(lua.load("return 1").mode(), ChunkMode::Text);
/// assert_eq!(lua.load(lua.load("return 1").into_function()?.dump(true)).mode(), ChunkMode::Binary);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ChunkMode {
    /// Source text.
    Text,
    /// Bytecode.
    Binary,
}

impl ChunkMode {
    /// What source text or bytecode is.
    fn of(source: &[u8]) -> ChunkMode {
        if source.first() == Some(&0x1b) { ChunkMode::Binary } else { ChunkMode::Text }
    }
    fn name(self) -> &'static str {
        match self {
            ChunkMode::Text => "text",
            ChunkMode::Binary => "binary",
        }
    }
}

/// Source text or bytecode with a name and an environment. See [`Lua::load`].
///
/// ```
/// use perilune::{Chunk, Lua};
///
/// let lua = Lua::new();
/// let chunk: Chunk = lua.load("local x = ... return x * 2").set_name("=double");
/// assert_eq!(chunk.call::<i32>(21)?, 42);
/// # Ok::<(), perilune::Error>(())
/// ```
#[must_use = "a chunk does nothing until it is run"]
pub struct Chunk<'a> {
    lua: Lua,
    name: String,
    env: Result<Option<Table>>,
    mode: Option<ChunkMode>,
    source: io::Result<Cow<'a, [u8]>>,
}

impl<'a> Chunk<'a> {
    pub(super) fn new(lua: &Lua, chunk: impl AsChunk + 'a, caller: &Location<'_>) -> Chunk<'a> {
        Chunk {
            lua: lua.clone(),
            name: chunk.name().unwrap_or_else(|| format!("@{}:{}", caller.file(), caller.line())),
            env: chunk.environment(lua),
            mode: chunk.mode(),
            source: chunk.source(),
        }
    }
    /// The name.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.load("return 1").set_name("=one").name(), "=one");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Names the chunk, for messages: `@file`, `=(what it is)`, or its source text.
    ///
    /// ```
    /// let e = perilune::Lua::new().load("error('no')").set_name("@config.lua").exec().unwrap_err();
    /// assert_eq!(e.message(), "config.lua:1: no");
    /// ```
    pub fn set_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
    /// The table of globals, if it is not that of the state.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let env = lua.create_table()?;
    /// assert!(lua.load("x = 1").environment().is_none());
    /// assert_eq!(lua.load("x = 1").set_environment(env.clone()).environment(), Some(&env));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn environment(&self) -> Option<&Table> {
        self.env.as_ref().ok()?.as_ref()
    }
    /// Gives the chunk a table of globals of its own: it sees nothing else, not even the libraries.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let env = lua.create_table_from([("width", 4)])?;
    /// lua.load("height = width * 2").set_environment(env.clone()).exec()?;
    /// assert_eq!(env.get::<i32>("height")?, 8);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_environment(mut self, env: Table) -> Self {
        self.env = Ok(Some(env));
        self
    }
    /// What the chunk has to be, or else what it is.
    ///
    /// ```
    /// use perilune::{ChunkMode, Lua};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.load("return 1").mode(), ChunkMode::Text);
    /// assert_eq!(lua.load("return 1").set_mode(ChunkMode::Binary).mode(), ChunkMode::Binary);
    /// ```
    pub fn mode(&self) -> ChunkMode {
        self.mode.unwrap_or_else(|| self.source.as_ref().map_or(ChunkMode::Text, |s| ChunkMode::of(s)))
    }
    /// Says what the chunk has to be: anything else is refused.
    ///
    /// ```
    /// use perilune::{ChunkMode, Lua};
    ///
    /// let lua = Lua::new();
    /// let bytes = lua.load("return 1").into_function()?.dump(false);
    /// assert!(lua.load(bytes).set_mode(ChunkMode::Text).exec().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_mode(mut self, mode: ChunkMode) -> Self {
        self.mode = Some(mode);
        self
    }
    /// Compiles source text with what was said about the chunk.
    fn compile(&self, source: &[u8]) -> Result<Function> {
        let _lock = self.lua.0.lock();
        let lua = &self.lua;
        let found = ChunkMode::of(source);
        if let Some(wanted) = self.mode
            && wanted != found
        {
            return Err(Error::syntax(
                format!("attempt to load a {} chunk, not a {} one", found.name(), wanted.name()).as_bytes(),
            ));
        }
        let env = self.env.as_ref().map_err(Error::clone)?;
        let loaded = lua.0.enter(|vm| match vm.load_chunk(source, self.name.as_bytes(), None) {
            Ok(f) => Ok(Raw::func(f)),
            Err(message) if message == vm.heap.no_memory() => Err(Error::MemoryError(message.to_str_lossy().into_owned())),
            Err(message) => Err(Error::syntax(message.bytes())),
        })?;
        let f = Function(lua.handle(loaded));
        if let Some(env) = env {
            f.set_environment(env.clone())?;
        }
        Ok(f)
    }
    /// The chunk as an expression, if it is one.
    fn compile_expression(&self) -> Option<Function> {
        let source = self.source.as_ref().ok()?;
        match self.mode() {
            ChunkMode::Text => self.compile(&[b"return ", &**source].concat()).ok(),
            ChunkMode::Binary => None,
        }
    }
    /// Compiles the chunk.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let next = lua.load("n = (n or 0) + 1 return n").into_function()?;
    /// assert_eq!((next.call::<i32>(())?, next.call::<i32>(())?), (1, 2));
    /// assert!(lua.load("n = = 1").into_function().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// It cannot be read, has a syntax error, is damaged bytecode, or is not what [`Chunk::set_mode`] asks for.
    pub fn into_function(mut self) -> Result<Function> {
        let source = core::mem::replace(&mut self.source, Ok(Cow::Borrowed(b"")))?;
        self.compile(&source)
    }
    /// Calls the chunk with arguments, which it has as `...`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.load("local a, b = ... return a + b").call::<i32>((2, 3))?, 5);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chunk::into_function`] and [`Function::call`].
    pub fn call<R: FromLuaMulti>(self, args: impl IntoLuaMulti) -> Result<R> {
        self.into_function()?.call(args)
    }
    /// Runs the chunk.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.load("answer = 6 * 7").exec()?;
    /// assert_eq!(lua.globals().get::<i32>("answer")?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chunk::into_function`] and [`Function::call`].
    pub fn exec(self) -> Result<()> {
        self.call(())
    }
    /// Evaluates the chunk: an expression, or statements that end in `return`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.load("6 * 7").eval::<i32>()?, 42);
    /// assert_eq!(lua.load("local x = 6 return x, 'six'").eval::<(i32, String)>()?, (6, "six".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chunk::into_function`] and [`Function::call`].
    pub fn eval<R: FromLuaMulti>(self) -> Result<R> {
        match self.compile_expression() {
            Some(f) => f.call(()),
            None => self.call(()),
        }
    }
}

#[cfg(feature = "async")]
impl Chunk<'_> {
    /// Runs the chunk in a coroutine of its own, so that it may call asynchronous functions: see
    /// [`Function::call_async`].
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// lua.globals().set("fetch", lua.create_async_function(|_, id: u32| async move { Ok(id * 10) })?)?;
    /// lua.load("result = fetch(4)").exec_async().await?;
    /// assert_eq!(lua.globals().get::<u32>("result")?, 40);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    ///
    /// # Errors
    /// Those of [`Chunk::into_function`] and [`Function::call`].
    pub async fn exec_async(self) -> Result<()> {
        self.call_async(()).await
    }
    /// Evaluates the chunk, an expression or statements that end in `return`, in a coroutine of its own.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// lua.globals().set("twice", perilune::Function::wrap_raw_async(|n: i32| async move { 2 * n }))?;
    /// assert_eq!(lua.load("twice(20) + 2").eval_async::<i32>().await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    ///
    /// # Errors
    /// Those of [`Chunk::into_function`] and [`Function::call`].
    pub async fn eval_async<R: FromLuaMulti>(self) -> Result<R> {
        match self.compile_expression() {
            Some(f) => f.call_async(()).await,
            None => self.call_async(()).await,
        }
    }
    /// Calls the chunk with arguments, which it has as `...`, in a coroutine of its own.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.load("local a, b = ... return a .. b").call_async::<String>(("a", "b")).await?, "ab");
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    ///
    /// # Errors
    /// Those of [`Chunk::into_function`] and [`Function::call`].
    pub async fn call_async<R: FromLuaMulti>(self, args: impl IntoLuaMulti) -> Result<R> {
        self.into_function()?.call_async(args).await
    }
}

/// See [`Chunk::wrap`].
struct Wrapped<C> {
    chunk: C,
    caller: &'static Location<'static>,
}

impl Chunk<'_> {
    /// A chunk to be compiled when a state asks for it, as `set` of a table does: it becomes a function.
    ///
    /// ```
    /// use perilune::{Chunk, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("double", Chunk::wrap("return 2 * ..."))?;
    /// assert_eq!(lua.load("double(21)").eval::<i32>()?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[track_caller]
    pub fn wrap(chunk: impl AsChunk) -> impl IntoLua {
        Wrapped { chunk, caller: Location::caller() }
    }
}

impl<C: AsChunk> IntoLua for Wrapped<C> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Chunk::new(lua, self.chunk, self.caller).into_function().map(Value::Function)
    }
}
