//! Looking at the calls that are active, and hooks: functions that are called before Lua code goes on.

use super::callback;
use super::error::{Error, Result};
use super::function::Function;
use super::lua::Lua;
use super::state::State;
use super::string::LuaString;
use super::thread::Thread;
use perilune_vm::Vm;
use perilune_vm::error::LuaResult;
use perilune_vm::interp::frames::{self, Level};
use perilune_vm::interp::hook;
use perilune_vm::object::{Func, Gc};
use perilune_vm::text::chunk::chunk_id;
use perilune_vm::value::Value as Raw;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::{BitOr, BitOrAssign};
use std::rc::{Rc, Weak};

/// What happens after a hook.
///
/// ```
/// use perilune::{HookTriggers, Lua, VmState};
///
/// let lua = Lua::new();
/// lua.set_hook(HookTriggers::ON_CALLS, |_, _| Ok(VmState::Continue))?;
/// assert_eq!(lua.load("return tostring(1)").eval::<String>()?, "1");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum VmState {
    /// The program goes on.
    Continue,
    /// The coroutine yields. LuaJIT's hooks cannot do that: it is an error.
    Yield,
}

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

/// When a hook is called.
///
/// ```
/// use perilune::HookTriggers;
///
/// let triggers = HookTriggers::EVERY_LINE | HookTriggers::new().every_nth_instruction(1000);
/// assert!(triggers.every_line && !triggers.on_calls);
/// let calls = HookTriggers::new().on_calls().on_returns();
/// assert_eq!(calls, HookTriggers::ON_CALLS | HookTriggers::ON_RETURNS);
/// assert_eq!(calls.every_line(), calls | HookTriggers::EVERY_LINE);
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct HookTriggers {
    /// Before a function is entered.
    pub on_calls: bool,
    /// Before a Lua function returns.
    pub on_returns: bool,
    /// Before the first instruction of a line, and after a jump backwards.
    pub every_line: bool,
    /// After so many instructions.
    pub every_nth_instruction: Option<u32>,
}

impl HookTriggers {
    /// Calls only.
    pub const ON_CALLS: HookTriggers = HookTriggers::new().on_calls();
    /// Returns only.
    pub const ON_RETURNS: HookTriggers = HookTriggers::new().on_returns();
    /// Lines only.
    pub const EVERY_LINE: HookTriggers = HookTriggers::new().every_line();

    /// Never.
    pub const fn new() -> HookTriggers {
        HookTriggers { on_calls: false, on_returns: false, every_line: false, every_nth_instruction: None }
    }
    /// Then, and before calls.
    #[must_use]
    pub const fn on_calls(mut self) -> HookTriggers {
        self.on_calls = true;
        self
    }
    /// Then, and before returns.
    #[must_use]
    pub const fn on_returns(mut self) -> HookTriggers {
        self.on_returns = true;
        self
    }
    /// Then, and before each line.
    #[must_use]
    pub const fn every_line(mut self) -> HookTriggers {
        self.every_line = true;
        self
    }
    /// Then, and after each `n` instructions.
    #[must_use]
    pub const fn every_nth_instruction(mut self, n: u32) -> HookTriggers {
        self.every_nth_instruction = Some(n);
        self
    }
    /// The events as the VM has them.
    fn mask(self) -> u8 {
        let bits = [
            (self.on_calls, hook::CALL),
            (self.on_returns, hook::RETURN),
            (self.every_line, hook::LINE),
            (self.every_nth_instruction.is_some(), hook::COUNT),
        ];
        bits.iter().filter(|(on, _)| *on).fold(0, |mask, (_, bit)| mask | bit)
    }
}
impl BitOr for HookTriggers {
    type Output = HookTriggers;
    fn bitor(self, other: HookTriggers) -> HookTriggers {
        HookTriggers {
            on_calls: self.on_calls || other.on_calls,
            on_returns: self.on_returns || other.on_returns,
            every_line: self.every_line || other.every_line,
            every_nth_instruction: self.every_nth_instruction.or(other.every_nth_instruction),
        }
    }
}
impl BitOrAssign for HookTriggers {
    fn bitor_assign(&mut self, other: HookTriggers) {
        *self = *self | other;
    }
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
    lua: &'a Lua,
    level: usize,
    event: DebugEvent,
    line: Option<u32>,
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
    pub fn event(&self) -> DebugEvent {
        self.event
    }
    /// The function.
    ///
    /// # Panics
    /// The call has ended.
    pub fn function(&self) -> Function {
        let f = self.func().expect("an active call");
        Function(self.lua.handle(Raw::func(f)))
    }
    /// How it was called.
    pub fn names(&self) -> DebugNames<'_> {
        let name = self.lua.0.enter(|vm| at(vm, self.level)?.name());
        let (what, name) = name.map_or((None, None), |(what, name)| (Some(what), Some(name)));
        DebugNames { name: name.map(|n| Cow::Owned(String::from_utf8_lossy(&n).into_owned())), name_what: what }
    }
    /// Where it comes from.
    pub fn source(&self) -> DebugSource<'_> {
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
    pub fn current_line(&self) -> Option<usize> {
        let line = self.line.or_else(|| self.lua.0.enter(|vm| at(vm, self.level)?.line()));
        line.map(|n| n as usize)
    }
    /// Has the function replaced its caller? As in LuaJIT this is not known.
    pub fn is_tail_call(&self) -> bool {
        self.event == DebugEvent::TailCall
    }
    /// What it has on the stack.
    pub fn stack(&self) -> DebugStack {
        let Some(f) = self.func() else { return DebugStack { num_upvalues: 0, num_params: 0, is_vararg: true } };
        let (num_params, is_vararg) = f.proto().map_or((0, true), |p| (p.num_params(), p.is_vararg()));
        DebugStack { num_upvalues: f.num_upvalues() as u8, num_params: num_params as u8, is_vararg }
    }
}

/// What a hook calls.
type HookCallback = dyn Fn(&Lua, &Debug<'_>) -> Result<VmState>;

#[derive(Clone)]
struct Hook {
    triggers: HookTriggers,
    callback: Rc<HookCallback>,
    /// Instructions until the next event.
    left: Rc<Cell<u32>>,
}

impl Hook {
    fn new(triggers: HookTriggers, callback: Rc<HookCallback>) -> Hook {
        Hook { triggers, callback, left: Rc::new(Cell::new(triggers.every_nth_instruction.unwrap_or(0))) }
    }
    /// Is the hook for this event? `count`: instructions since the last event that counts them.
    fn wants(&self, event: DebugEvent, count: u32) -> bool {
        match event {
            DebugEvent::Call | DebugEvent::TailCall => self.triggers.on_calls,
            DebugEvent::Ret => self.triggers.on_returns,
            DebugEvent::Line => self.triggers.every_line,
            DebugEvent::Count => self.triggers.every_nth_instruction.is_some_and(|n| {
                let left = self.left.get().saturating_sub(count);
                self.left.set(if left == 0 { n } else { left });
                left == 0
            }),
            DebugEvent::Unknown(_) => false,
        }
    }
}

/// The hooks of a state. The VM has one, which calls that of the running coroutine, or the one for all others.
#[derive(Default)]
pub struct Hooks {
    global: RefCell<Option<Hook>>,
    threads: RefCell<Vec<(Thread, Hook)>>,
    /// Instructions between two events of the VM that count them.
    count: Cell<u32>,
}

impl Hooks {
    /// The hook of the running coroutine.
    fn of_running(&self, lua: &Lua) -> Option<Hook> {
        let cur = lua.0.enter(|vm| Raw::thread(vm.cur));
        let own = self.threads.borrow().iter().find(|(t, _)| t.0.get() == cur).map(|(_, hook)| hook.clone());
        own.or_else(|| self.global.borrow().clone())
    }
}

/// What the VM's hook function has as upvalue.
struct HookOf(Weak<State>);

/// The VM's hook function.
fn hook_function(vm: &mut Vm) -> LuaResult<u32> {
    let data = vm.callee().native_upvalues().first().and_then(|v| v.get().as_udata());
    let Some(state) = data.and_then(|u| u.with(|h: &mut HookOf| h.0.upgrade())).flatten() else { return Ok(0) };
    let event = match vm.arg(0).as_str().map(|s| s.bytes().to_vec()).as_deref() {
        Some(b"call") => DebugEvent::Call,
        Some(b"return") => DebugEvent::Ret,
        Some(b"line") => DebugEvent::Line,
        Some(b"count") => DebugEvent::Count,
        _ => DebugEvent::Unknown(-1),
    };
    let line = vm.arg(1).as_number().map(|n| n as u32);
    callback::run_bare(vm, &Lua(state), |args| {
        let lua = args.lua;
        let hooks = &lua.0.hooks;
        let Some(hook) = hooks.of_running(lua).filter(|h| h.wants(event, hooks.count.get())) else { return Ok(()) };
        // Level 0 is this function.
        match (hook.callback)(lua, &Debug { lua, level: 1, event, line })? {
            VmState::Continue => Ok(()),
            VmState::Yield => Err(Error::runtime("attempt to yield from a hook")),
        }
    })
}

impl Lua {
    /// Has a function called before Lua code of the running coroutine goes on; instead of the one before. Code that is hooked is not
    /// compiled, and compiled code is not entered. While the function runs there are no events. An error that it returns is raised in the
    /// program.
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua, VmState};
    /// use std::cell::Cell;
    ///
    /// let lua = Lua::new();
    /// let steps = Cell::new(0);
    /// lua.set_hook(HookTriggers::new().every_nth_instruction(100), move |_, _| {
    ///     steps.set(steps.get() + 1);
    ///     if steps.get() > 1000 { Err(Error::runtime("too long")) } else { Ok(VmState::Continue) }
    /// })?;
    /// assert!(lua.load("while true do end").exec().is_err());
    /// lua.remove_hook();
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set_hook(
        &self,
        triggers: HookTriggers,
        callback: impl Fn(&Lua, &Debug<'_>) -> Result<VmState> + 'static,
    ) -> Result<()> {
        self.current_thread().set_hook(triggers, callback)
    }
    /// Removes the hook of the running coroutine.
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.set_hook(HookTriggers::EVERY_LINE, |_, _| Err(Error::runtime("stop")))?;
    /// assert!(lua.load("x = 1").exec().is_err());
    /// lua.remove_hook();
    /// assert!(lua.load("x = 1").exec().is_ok());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn remove_hook(&self) {
        self.current_thread().remove_hook();
    }
    /// Sets the hook of all coroutines that have none of their own.
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.set_global_hook(HookTriggers::EVERY_LINE, |_, _| Err(Error::runtime("stop")))?;
    /// assert!(lua.load("local ok, e = coroutine.resume(coroutine.create(print)) error(e)").exec().is_err());
    /// lua.remove_global_hook();
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_global_hook(
        &self,
        triggers: HookTriggers,
        callback: impl Fn(&Lua, &Debug<'_>) -> Result<VmState> + 'static,
    ) -> Result<()> {
        let old = self.0.hooks.global.replace(Some(Hook::new(triggers, Rc::new(callback))));
        self.update_hook();
        drop(old);
        Ok(())
    }
    /// Removes the hook of [`Lua::set_global_hook`].
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.set_global_hook(HookTriggers::EVERY_LINE, |_, _| Err(Error::runtime("stop")))?;
    /// lua.remove_global_hook();
    /// lua.load("x = 1").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn remove_global_hook(&self) {
        let old = self.0.hooks.global.take();
        self.update_hook();
        drop(old);
    }
    /// Gives the VM the hook that serves all.
    fn update_hook(&self) {
        let hooks = &self.0.hooks;
        let triggers: Vec<HookTriggers> = {
            let (threads, global) = (hooks.threads.borrow(), hooks.global.borrow());
            threads.iter().map(|(_, hook)| hook.triggers).chain(global.iter().map(|hook| hook.triggers)).collect()
        };
        let mask = triggers.iter().fold(0, |mask, t| mask | t.mask());
        let counts = triggers.iter().filter_map(|t| t.every_nth_instruction);
        let count = counts.fold(0, gcd);
        hooks.count.set(count);
        let weak = Rc::downgrade(&self.0);
        self.0.enter(|vm| {
            let f = if mask == 0 {
                Raw::NIL
            } else {
                let u = vm.new_host_udata(Box::new(HookOf(weak)), None);
                Raw::func(vm.new_native(hook_function, 1, &[Raw::udata(u)]))
            };
            let registry = vm.realm.registry;
            vm.set_field(registry, hook::FUNCTION, f);
            vm.set_hook(mask, i32::try_from(count).unwrap_or(i32::MAX), core::ptr::null());
        });
    }
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
        self.0.enter(|vm| at(vm, level).map(drop))?;
        Some(f(&Debug { lua: self, level, event: DebugEvent::Unknown(0), line: None }))
    }
    /// The active calls from a level on, as text behind a message.
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
        let text = self.0.enter(|vm| {
            let cur = vm.cur;
            perilune_vm::stdlib::traceback(vm, cur, message.map(str::as_bytes), level)
        });
        self.create_string(text)
    }
}

/// Greatest common divisor.
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Thread {
    /// Sets the hook of this coroutine, see [`Lua::set_hook`].
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua};
    ///
    /// let lua = Lua::new();
    /// let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
    /// thread.set_hook(HookTriggers::EVERY_LINE, |_, _| Err(Error::runtime("stop")))?;
    /// assert!(thread.resume::<i32>(()).is_err());
    /// // Other coroutines have not this hook.
    /// assert_eq!(lua.load("return 1").eval::<i32>()?, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_hook(
        &self,
        triggers: HookTriggers,
        callback: impl Fn(&Lua, &Debug<'_>) -> Result<VmState> + 'static,
    ) -> Result<()> {
        self.change_hook(Some(Hook::new(triggers, Rc::new(callback))));
        Ok(())
    }
    /// Removes the hook of this coroutine.
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua};
    ///
    /// let lua = Lua::new();
    /// let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
    /// thread.set_hook(HookTriggers::EVERY_LINE, |_, _| Err(Error::runtime("stop")))?;
    /// thread.remove_hook();
    /// assert_eq!(thread.resume::<i32>(())?, 1);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn remove_hook(&self) {
        self.change_hook(None);
    }
    fn change_hook(&self, hook: Option<Hook>) {
        let lua = self.0.lua();
        let old = {
            let mut threads = lua.0.hooks.threads.borrow_mut();
            let all = core::mem::take(&mut *threads);
            let (kept, old) = all.into_iter().partition(|(t, _)| t != self && !t.is_finished() && !t.is_error());
            *threads = kept;
            threads.extend(hook.map(|hook| (self.clone(), hook)));
            old
        };
        lua.update_hook();
        // A callback may run any code in its `Drop`.
        drop::<Vec<(Thread, Hook)>>(old);
    }
}
