//! Hooks: functions that are called before Lua code goes on.

use super::callback;
use super::debug::{Debug, DebugEvent};
use super::error::{Error, Result};
use super::lua::Lua;
use super::state::State;
use super::sync::{MaybeSend, Shared, WeakShared};
use super::thread::Thread;
use perilune_vm::Vm;
use perilune_vm::error::LuaResult;
use perilune_vm::interp::hook;
use perilune_vm::object::{Gc, Table, ThreadStatus};
use perilune_vm::value::Value as Raw;
use std::cell::{Cell, RefCell};
use std::ops::{BitOr, BitOrAssign};
use std::rc::Rc;

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
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert_eq!(HookTriggers::ON_CALLS, HookTriggers::new().on_calls());
    /// ```
    pub const ON_CALLS: HookTriggers = HookTriggers::new().on_calls();
    /// Returns only.
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert_eq!(HookTriggers::ON_RETURNS, HookTriggers::new().on_returns());
    /// ```
    pub const ON_RETURNS: HookTriggers = HookTriggers::new().on_returns();
    /// Lines only.
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert_eq!(HookTriggers::EVERY_LINE, HookTriggers::new().every_line());
    /// ```
    pub const EVERY_LINE: HookTriggers = HookTriggers::new().every_line();

    /// Never.
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert_eq!(HookTriggers::new(), HookTriggers::default());
    /// assert!(!HookTriggers::new().on_calls);
    /// ```
    pub const fn new() -> HookTriggers {
        HookTriggers { on_calls: false, on_returns: false, every_line: false, every_nth_instruction: None }
    }
    /// Then, and before calls.
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert!(HookTriggers::new().on_calls().on_calls);
    /// ```
    #[must_use]
    pub const fn on_calls(mut self) -> HookTriggers {
        self.on_calls = true;
        self
    }
    /// Then, and before returns.
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert!(HookTriggers::new().on_returns().on_returns);
    /// ```
    #[must_use]
    pub const fn on_returns(mut self) -> HookTriggers {
        self.on_returns = true;
        self
    }
    /// Then, and before each line.
    ///
    /// ```
    /// use perilune::HookTriggers;
    ///
    /// assert!(HookTriggers::new().every_line().every_line);
    /// ```
    #[must_use]
    pub const fn every_line(mut self) -> HookTriggers {
        self.every_line = true;
        self
    }
    /// Then, and after each `n` instructions.
    ///
    /// ```
    /// use perilune::{Error, HookTriggers, Lua};
    ///
    /// // A program that runs for too long.
    /// let lua = Lua::new();
    /// let triggers = HookTriggers::new().every_nth_instruction(1000);
    /// lua.set_hook(triggers, |_, _| Err(Error::runtime("too long")))?;
    /// assert!(lua.load("while true do end").exec().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
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
    /// Events since hooks of coroutines that have ended were looked for.
    unanswered: Cell<u32>,
    /// Instructions between two events of the VM that count them.
    count: Cell<u32>,
}

/// Name of the registry's table with the hooks of coroutines. Its keys are weak: a hook lives no longer than its coroutine.
const OF_THREADS: &[u8] = b"_HOOKS_OF_THREADS";

/// The table with the hooks of coroutines.
fn of_threads(vm: &mut Vm) -> Gc<Table> {
    let registry = vm.realm.registry;
    if let Some(table) = vm.field(registry, OF_THREADS).as_table() {
        return table;
    }
    let (table, meta) = (vm.new_table(0, 0), vm.new_table(0, 1));
    vm.set_field(registry, OF_THREADS, Raw::table(table));
    let mode = Raw::str(vm.new_str(b"k"));
    vm.set_field(meta, b"__mode", mode);
    vm.set_table_meta(table, Some(meta));
    table
}

/// Takes the hook out of what the table has for a coroutine.
fn take_hook(v: Raw) -> Option<Hook> {
    v.as_udata()?.with(Option::<Hook>::take).flatten()
}

impl Hooks {
    /// The hook of the running coroutine.
    fn of_running(&self, lua: &Lua) -> Option<Hook> {
        let own = lua.0.enter(|vm| {
            let cur = Raw::thread(vm.cur);
            of_threads(vm).get(cur).as_udata().and_then(|u| u.with(|hook: &mut Option<Hook>| hook.clone())).flatten()
        });
        own.or_else(|| self.global.borrow().clone())
    }
    /// The triggers of all hooks of coroutines that have not ended. Those of others are taken out.
    fn triggers_of_threads(lua: &Lua) -> Vec<HookTriggers> {
        let mut triggers = Vec::new();
        let mut ended = Vec::new();
        lua.0.enter(|vm| {
            let table = of_threads(vm);
            let mut at = 0;
            while let Some((next, key, v)) = table.next_index(at) {
                at = next;
                if key.as_thread().is_some_and(|t| t.status.get() == ThreadStatus::Dead) {
                    ended.extend(take_hook(v));
                } else if let Some(found) =
                    v.as_udata().and_then(|u| u.with(|hook: &mut Option<Hook>| hook.as_ref().map(|h| h.triggers))).flatten()
                {
                    triggers.push(found);
                }
            }
        });
        // A callback may run any code in its `Drop`.
        drop(ended);
        triggers
    }
    /// An event that no hook was for. From time to time this looks whether there is a hook for it at all: the hooks that there were may be
    /// those of coroutines that have ended.
    fn note_unanswered(&self, lua: &Lua) {
        let n = self.unanswered.get();
        self.unanswered.set(if n == IDLE { 0 } else { n + 1 });
        if n == IDLE {
            let mask = lua.hook_needed().0;
            if lua.0.enter(|vm| vm.interp.hook.mask) != mask {
                lua.update_hook();
            }
        }
    }
}

/// Events without a hook for them until the hooks of ended coroutines are looked for: that takes as long as some events for each coroutine.
const IDLE: u32 = 1000;

/// What the VM's hook function has as upvalue.
struct HookOf(WeakShared<State>);

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
        let hook = hooks.of_running(lua);
        if hook.is_none() {
            hooks.note_unanswered(lua);
        }
        let Some(hook) = hook.filter(|h| h.wants(event, hooks.count.get())) else { return Ok(()) };
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
        callback: impl Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
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
        callback: impl Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    ) -> Result<()> {
        let _lock = self.0.lock();
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
        let _lock = self.0.lock();
        let old = self.0.hooks.global.take();
        self.update_hook();
        drop(old);
    }
    /// The events that hooks are for, and the instructions between two of them.
    fn hook_needed(&self) -> (u8, u32) {
        let mut triggers = Hooks::triggers_of_threads(self);
        triggers.extend(self.0.hooks.global.borrow().iter().map(|hook| hook.triggers));
        let mask = triggers.iter().fold(0, |mask, t| mask | t.mask());
        let counts = triggers.iter().filter_map(|t| t.every_nth_instruction);
        (mask, counts.fold(0, gcd))
    }
    /// Gives the VM the hook that serves all.
    fn update_hook(&self) {
        let (mask, count) = self.hook_needed();
        self.0.hooks.count.set(count);
        let weak = Shared::downgrade(&self.0);
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
        callback: impl Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    ) -> Result<()> {
        let lua = self.0.open("Thread::set_hook")?;
        self.change_hook(&lua, Some(Hook::new(triggers, Rc::new(callback))));
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
        self.change_hook(&self.0.lua(), None);
    }
    fn change_hook(&self, lua: &Lua, hook: Option<Hook>) {
        let thread = self.0.get();
        let old = lua.0.enter(|vm| {
            let table = of_threads(vm);
            let old = take_hook(table.get(thread));
            let new = hook.map_or(Raw::NIL, |hook| Raw::udata(vm.new_host_udata(Box::new(Some(hook)), None)));
            // A coroutine is a key.
            let _ = vm.table_set(table, thread, new);
            old
        });
        lua.update_hook();
        // A callback may run any code in its `Drop`.
        drop(old);
    }
}
