//! Limits: what ends a program that its host does not want to go on.

use super::error::{Error, Result};
use super::lua::Lua;
use perilune_vm::interrupt::Remote;
use std::time::Duration;

/// Ends the program of a state from any thread.
///
/// ```
/// use perilune::{Error, Lua};
/// use std::time::Duration;
///
/// let lua = Lua::new();
/// let handle = lua.interrupt_handle();
/// let other = std::thread::spawn(move || {
///     std::thread::sleep(Duration::from_millis(20));
///     handle.interrupt();
/// });
/// let e = lua.load("local i = 0 while true do pcall(function() while true do i = i + 1 end end) end").exec().unwrap_err();
/// assert!(matches!(e, Error::Interrupted(_)));
/// other.join().unwrap();
/// // Until the host takes the interrupt back, nothing runs.
/// assert!(lua.load("return 1").eval::<i32>().is_err());
/// lua.clear_interrupt();
/// assert_eq!(lua.load("return 1").eval::<i32>()?, 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct InterruptHandle(Remote);

impl InterruptHandle {
    /// Has the program end with [`Error::Interrupted`], also in compiled loops, in builtins that take long, and in reads that wait. The program
    /// cannot catch the error: it is raised again until [`Lua::clear_interrupt`] is called. False if the state is closed.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let handle = lua.interrupt_handle();
    /// handle.interrupt();
    /// assert!(matches!(lua.load("return 1").exec(), Err(Error::Interrupted(_))));
    /// drop(lua);
    /// assert!(!handle.interrupt());
    /// ```
    pub fn interrupt(&self) -> bool {
        self.0.interrupt()
    }
}

impl Lua {
    /// What interrupts this state from any thread. The first one has compiled loops of this state ask for interrupts, at most 4 % of their time,
    /// and is best made before programs run: what was compiled before is compiled again. With the feature `send` the first one waits as long as
    /// another thread runs a program of this state; later ones are made at once.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let handle = lua.interrupt_handle();
    /// std::thread::spawn(move || handle.interrupt());
    /// assert!(lua.load("while true do end").exec().is_err());
    /// ```
    pub fn interrupt_handle(&self) -> InterruptHandle {
        #[cfg(feature = "send")]
        if let Some(remote) = self.0.remote.get() {
            return InterruptHandle(remote.clone());
        }
        let _lock = self.0.lock();
        let remote = self.0.enter(|vm| vm.remote());
        #[cfg(feature = "send")]
        let remote = self.0.remote.get_or_init(|| remote).clone();
        InterruptHandle(remote)
    }
    /// Takes an interrupt back, be it of a handle or of the time limit, so that programs run again. The time limit stays off until it is set
    /// again.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.interrupt_handle().interrupt();
    /// assert!(lua.load("return 1").exec().is_err());
    /// lua.clear_interrupt();
    /// lua.load("return 1").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn clear_interrupt(&self) {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.set_time_limit(None));
    }
    /// Limits the number of bytecode instructions that programs execute from now on: then they end with [`Error::OutOfFuel`], which they
    /// cannot catch. The count is exact, and the same whether code is interpreted or compiled, so that a program ends at the same
    /// instruction each time. Instructions of functions that builtins call count as well. Finalizers do not, but are ended in the same way
    /// when all of them together have executed as many instructions. `None` takes the limit away.
    ///
    /// What a builtin does counts as one instruction, however long it takes: see [`Lua::set_time_limit`] for that. Compiled code counts only
    /// if there is a limit; what was compiled before the first one is compiled again.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let program = lua.load("for i = 1, 1e6 do end").into_function()?;
    /// lua.set_fuel(Some(10_000));
    /// assert!(matches!(program.call::<()>(()), Err(Error::OutOfFuel(_))));
    /// lua.set_fuel(Some(2_000_000));
    /// program.call::<()>(())?;
    /// assert!(lua.fuel().is_some_and(|left| left < 1_000_000));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set_fuel(&self, instructions: Option<u64>) {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.set_fuel(instructions));
    }
    /// How many instructions programs may still execute; `None` without a limit.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.fuel(), None);
    /// lua.set_fuel(Some(1000));
    /// lua.load("local x = 1").exec()?;
    /// assert!(lua.fuel() < Some(1000));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn fuel(&self) -> Option<u64> {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.fuel_left())
    }
    /// Limits how large the stack of each coroutine may become, in slots: a frame of a Lua function has one for each local and temporary value,
    /// and a few more. A program that recurses deeper gets the error "stack overflow" ([`Error::StackOverflow`]), which it can catch. The limit is
    /// 1,000,000 unless this sets a lower one, of at least 2,000.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_stack_limit(5_000);
    /// let e = lua.load("local function f() return 1 + f() end return f()").exec().unwrap_err();
    /// assert!(matches!(e, perilune::Error::StackOverflow(_)));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_stack_limit(&self, slots: usize) {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.set_stack_limit(slots));
    }
    /// Limits how many calls from native code into Lua may be active at once: those of Rust functions that call Lua, and of builtins like
    /// `string.gsub` and `table.sort` that call functions. A program that nests them deeper gets the error "C stack overflow"
    /// ([`Error::StackOverflow`]), as does one that has nearly used up the native stack. Without this, only the native stack limits the depth, and
    /// 160 calls where the end of that is not known, as on the stacks of a coroutine library. The lowest limit is 10.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_native_depth_limit(20);
    /// let e = lua.load("local function f(c) return (c:gsub('x', f)) end return f('x')").exec().unwrap_err();
    /// assert!(e.to_string().contains("C stack overflow"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_native_depth_limit(&self, calls: usize) {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.set_native_depth_limit(calls));
    }
    /// Ends programs with [`Error::TimeLimitExceeded`] when so much time has passed from now on; `None` takes the limit away. Programs cannot
    /// catch the error: it is raised again until a limit is set anew or [`Lua::clear_interrupt`] is called.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    /// use std::time::Duration;
    ///
    /// let lua = Lua::new();
    /// lua.set_time_limit(Some(Duration::from_millis(20)))?;
    /// let e = lua.load("while true do end").exec().unwrap_err();
    /// assert!(matches!(e, Error::TimeLimitExceeded(_)));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The system has no timer left.
    pub fn set_time_limit(&self, limit: Option<Duration>) -> Result<()> {
        let _lock = self.0.lock();
        let works = self.0.enter(|vm| vm.set_time_limit(limit));
        if works { Ok(()) } else { Err(Error::runtime("the system has no timer left for a time limit")) }
    }
}
