//! Looking at the calls that are active.

use super::error::Result;
use super::function::Function;
use super::lua::Lua;
use super::string::LuaString;
use perilune_vm::Vm;
use perilune_vm::interp::frames::{self, Level};
use perilune_vm::object::{Func, Gc};
use perilune_vm::text::chunk::chunk_id;
use perilune_vm::value::Value as Raw;
use std::borrow::Cow;

/// Why a hook is called.
///
/// ```
/// use perilune::debug::DebugEvent;
/// use perilune::{Error, HookTriggers, Lua, VmState};
///
/// let lua = Lua::new();
/// lua.set_hook(HookTriggers::EVERY_LINE, |_, debug| match (debug.event(), debug.current_line()) {
///     (DebugEvent::Line, Some(2)) => Err(Error::runtime("line 2 is out of bounds")),
///     _ => Ok(VmState::Continue),
/// })?;
/// assert!(lua.load("local x = 1\nx = 2\n").exec().is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DebugEvent {
    /// A function is entered.
    Call,
    /// A function returns.
    Ret,
    /// A function is entered that replaces its caller. Perilune tells [`DebugEvent::Call`] for it, as LuaJIT does.
    TailCall,
    /// The first instruction of a line is about to be executed.
    Line,
    /// So many instructions have been executed.
    Count,
    /// Another event; or none: the calls are only looked at.
    Unknown(i32),
}

/// A call that is active: see [`Lua::inspect_stack`] and [`Lua::set_hook`].
///
/// ```
/// use perilune::{Error, Lua, debug::DebugEvent};
///
/// let lua = Lua::new();
/// let caller = lua.create_function(|lua, ()| {
///     let text = lua.inspect_stack(1, |debug| {
///         // No hook has led here.
///         assert!(matches!(debug.event(), DebugEvent::Unknown(_)));
///         let (names, source, stack) = (debug.names(), debug.source(), debug.stack());
///         assert_eq!((stack.num_params, debug.function().info().what, debug.is_tail_call()), (1, "Lua", false));
///         format!("{}:{}: {}", source.short_src.unwrap(), debug.current_line().unwrap(), names.name.unwrap())
///     });
///     text.ok_or_else(|| Error::runtime("called by Rust"))
/// })?;
/// lua.globals().set("caller", caller)?;
/// let chunk = lua.load("local function greet(name)\n  local c = caller()\n  return c\nend\nlocal text = greet('moon') return text");
/// assert_eq!(chunk.set_name("@greet.lua").eval::<String>()?, "greet.lua:2: greet");
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct Debug<'a> {
    pub(super) lua: &'a Lua,
    pub(super) level: usize,
    pub(super) event: DebugEvent,
    pub(super) line: Option<u32>,
}

/// How a function was called.
///
/// ```
/// let lua = perilune::Lua::new();
/// let name = lua.create_function(|lua, ()| {
///     let names = lua.inspect_stack(1, |debug| debug.names().name.map(|name| name.into_owned()));
///     Ok(names.flatten())
/// })?;
/// lua.globals().set("name", name)?;
/// assert_eq!(lua.load("function f() local n = name() return n end local n = f() return n").eval::<String>()?, "f");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DebugNames<'a> {
    /// The name that it was called by, if it has one.
    pub name: Option<Cow<'a, str>>,
    /// What that names: a global variable, a local one, a method, a field, ...
    pub name_what: Option<&'static str>,
}

/// Where a function comes from.
///
/// ```
/// let lua = perilune::Lua::new();
/// let what = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.source().what)))?;
/// lua.globals().set("what", what)?;
/// assert_eq!(lua.load("local w = what() return w").eval::<String>()?, "main");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DebugSource<'a> {
    /// The name of its chunk, as it was given.
    pub source: Option<Cow<'a, str>>,
    /// The name of its chunk, as messages have it.
    pub short_src: Option<Cow<'a, str>>,
    /// The first line of a Lua function.
    pub line_defined: Option<usize>,
    /// The last line of a Lua function.
    pub last_line_defined: Option<usize>,
    /// `Lua`, `C`, or `main` for the main function of a chunk.
    pub what: &'static str,
}

/// What a function has on the stack.
///
/// ```
/// let lua = perilune::Lua::new();
/// let params = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.stack().num_params)))?;
/// lua.globals().set("params", params)?;
/// assert_eq!(lua.load("local function f(a, b) local n = params() return n end local n = f() return n").eval::<u8>()?, 2);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, Debug)]
pub struct DebugStack {
    /// Variables of enclosing functions.
    pub num_upvalues: u8,
    /// Parameters.
    pub num_params: u8,
    /// Has it variable arguments?
    pub is_vararg: bool,
}

/// What runs at a level of the running coroutine, without the frame that stands for the host.
fn at(vm: &Vm, level: usize) -> Option<Level> {
    frames::level(vm, vm.cur, level).filter(|l| !l.is_host())
}

impl Debug<'_> {
    fn func(&self) -> Option<Gc<Func>> {
        self.lua.0.enter(|vm| at(vm, self.level).map(|l| l.func))
    }
    /// Why the hook was called.
    ///
    /// ```
    /// use perilune::{HookTriggers, Lua, VmState, debug::DebugEvent};
    ///
    /// let lua = Lua::new();
    /// lua.set_hook(HookTriggers::ON_CALLS, |_, debug| {
    ///     assert_eq!(debug.event(), DebugEvent::Call);
    ///     Ok(VmState::Continue)
    /// })?;
    /// lua.load("return tostring(1)").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn event(&self) -> DebugEvent {
        self.event
    }
    /// The function.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let caller = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.function())))?;
    /// lua.globals().set("caller", caller)?;
    /// assert_eq!(lua.load("local function f() local c = caller() return c end return f() == f").eval::<bool>()?, true);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Panics
    /// The call has ended.
    pub fn function(&self) -> Function {
        let _lock = self.lua.0.lock();
        let f = self.func().expect("an active call");
        Function(self.lua.handle(Raw::func(f)))
    }
    /// How it was called.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let kind = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.names().name_what)))?;
    /// lua.globals().set("kind", kind)?;
    /// assert_eq!(lua.load("local function f() local k = kind() return k end local k = f() return k").eval::<String>()?, "local");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn names(&self) -> DebugNames<'_> {
        let _lock = self.lua.0.lock();
        let name = self.lua.0.enter(|vm| at(vm, self.level)?.name());
        let (what, name) = name.map_or((None, None), |(what, name)| (Some(what), Some(name)));
        DebugNames { name: name.map(|n| Cow::Owned(String::from_utf8_lossy(&n).into_owned())), name_what: what }
    }
    /// Where it comes from.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let line = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.source().line_defined)))?;
    /// lua.globals().set("line", line)?;
    /// assert_eq!(lua.load("\n\nlocal function f() local n = line() return n end return f()").eval::<u32>()?, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn source(&self) -> DebugSource<'_> {
        let _lock = self.lua.0.lock();
        let text = |bytes: &[u8]| Some(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()));
        let nothing = DebugSource { source: None, short_src: None, line_defined: None, last_line_defined: None, what: "C" };
        let Some(f) = self.func() else { return nothing };
        match f.proto() {
            Some(p) => DebugSource {
                source: text(p.chunkname.bytes()),
                short_src: text(&chunk_id(p.chunkname.bytes())),
                line_defined: Some(p.first_line as usize),
                last_line_defined: Some(p.last_line as usize),
                what: if p.is_main() { "main" } else { "Lua" },
            },
            None => match perilune_vm::stdlib::written_in_lua(f) {
                Some(name) => {
                    let short_src = text(format!("[builtin:{name}]").as_bytes());
                    DebugSource { source: text(name.as_bytes()), short_src, what: "Lua", ..nothing }
                }
                None => DebugSource { source: text(b"=[C]"), short_src: text(b"[C]"), ..nothing },
            },
        }
    }
    /// The line that a Lua function is at.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let line = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.current_line())))?;
    /// lua.globals().set("line", line)?;
    /// assert_eq!(lua.load("local first = line()\nlocal second = line() return second - first").eval::<u32>()?, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn current_line(&self) -> Option<usize> {
        let _lock = self.lua.0.lock();
        let line = self.line.or_else(|| self.lua.0.enter(|vm| at(vm, self.level)?.line()));
        line.map(|n| n as usize)
    }
    /// Has the function replaced its caller? As in LuaJIT this is not known.
    ///
    /// ```
    /// use perilune::{HookTriggers, Lua, VmState};
    ///
    /// let lua = Lua::new();
    /// lua.set_hook(HookTriggers::ON_CALLS, |_, debug| {
    ///     assert!(!debug.is_tail_call());
    ///     Ok(VmState::Continue)
    /// })?;
    /// lua.load("return tostring(1)").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_tail_call(&self) -> bool {
        self.event == DebugEvent::TailCall
    }
    /// What it has on the stack.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let vararg = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |debug| debug.stack().is_vararg)))?;
    /// lua.globals().set("vararg", vararg)?;
    /// assert_eq!(lua.load("local function f(...) local v = vararg() return v end return f()").eval::<bool>()?, true);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn stack(&self) -> DebugStack {
        let _lock = self.lua.0.lock();
        let Some(f) = self.func() else { return DebugStack { num_upvalues: 0, num_params: 0, is_vararg: true } };
        let (num_params, is_vararg) = f.proto().map_or((0, true), |p| (p.num_params(), p.is_vararg()));
        DebugStack { num_upvalues: f.visible_upvalues() as u8, num_params: num_params as u8, is_vararg }
    }
}

impl Lua {
    /// Looks at an active call: level 0 is the function that runs now, level 1 its caller. `None` if there are not so many.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let caller = lua.create_function(|lua, ()| Ok(lua.inspect_stack(1, |d| d.current_line()).flatten()))?;
    /// lua.globals().set("caller", caller)?;
    /// assert_eq!(lua.load("\n\nlocal line = caller() return line").eval::<usize>()?, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn inspect_stack<R>(&self, level: usize, f: impl FnOnce(&Debug<'_>) -> R) -> Option<R> {
        let _lock = self.0.lock();
        self.0.enter(|vm| at(vm, level).map(drop))?;
        Some(f(&Debug { lua: self, level, event: DebugEvent::Unknown(0), line: None }))
    }
    /// The active calls from a level on, as text after a message.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let trace = lua.create_function(|lua, ()| lua.traceback(Some("here"), 1))?;
    /// lua.globals().set("trace", trace)?;
    /// let text: String = lua.load("local t = trace() return t").set_name("@main.lua").eval()?;
    /// assert!(text.starts_with("here\nstack traceback:") && text.contains("main.lua:1: in main chunk"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn traceback(&self, message: Option<&str>, level: usize) -> Result<LuaString> {
        let _lock = self.0.lock();
        let text = self.0.enter(|vm| {
            let cur = vm.cur;
            perilune_vm::stdlib::traceback(vm, cur, message.map(str::as_bytes), level)
        });
        self.create_string(text)
    }
}
