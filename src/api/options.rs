//! What a new state has and allows.
#![allow(
    unsafe_code,
    reason = "`unsafe_new` is unsafe for its callers, who may give programs libraries that break memory; nothing unsafe is done here"
)]

use super::callback;
use super::error::{Error, Result};
use super::lua::Lua;
use perilune_vm::stdlib::StdLib;
use perilune_vm::value::Value as Raw;

/// Options of a new state.
///
/// ```
/// use perilune::{Lua, LuaOptions, StdLib};
///
/// let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().catch_rust_panics(false))?;
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LuaOptions {
    /// Do `pcall` and `xpcall` catch panics of Rust functions? A panic that they catch is resumed when it comes back to Rust.
    pub catch_rust_panics: bool,
    /// How many coroutines of asynchronous calls are kept for the next calls.
    #[cfg(feature = "async")]
    pub thread_pool_size: usize,
}

impl LuaOptions {
    /// The defaults: panics are caught, no coroutine is kept.
    ///
    /// ```
    /// use perilune::LuaOptions;
    ///
    /// assert!(LuaOptions::new().catch_rust_panics);
    /// ```
    pub const fn new() -> LuaOptions {
        LuaOptions {
            catch_rust_panics: true,
            #[cfg(feature = "async")]
            thread_pool_size: 0,
        }
    }
    /// Sets [`LuaOptions::catch_rust_panics`].
    ///
    /// ```
    /// use perilune::LuaOptions;
    ///
    /// assert!(!LuaOptions::new().catch_rust_panics(false).catch_rust_panics);
    /// ```
    #[must_use]
    pub const fn catch_rust_panics(mut self, yes: bool) -> LuaOptions {
        self.catch_rust_panics = yes;
        self
    }
    /// Sets [`LuaOptions::thread_pool_size`].
    ///
    /// ```
    /// use perilune::{Lua, LuaOptions, StdLib};
    ///
    /// let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().thread_pool_size(16))?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[cfg(feature = "async")]
    #[must_use]
    pub const fn thread_pool_size(mut self, size: usize) -> LuaOptions {
        self.thread_pool_size = size;
        self
    }
}

impl Default for LuaOptions {
    fn default() -> LuaOptions {
        LuaOptions::new()
    }
}

/// Refuses libraries that a safe state must not have.
pub(super) fn check_safe(libs: StdLib, how: &str) -> Result<()> {
    for (library, name) in [(StdLib::DEBUG, "debug"), (StdLib::FFI, "ffi")] {
        if libs.contains(library) {
            return Err(Error::SafetyError(format!("the unsafe `{name}` module can't be loaded {how}")));
        }
    }
    Ok(())
}

impl Lua {
    /// A new state with the libraries of [`StdLib::ALL_SAFE`], and the compiler on.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert!(lua.load("debug == nil and string ~= nil").eval::<bool>()?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn new() -> Lua {
        Lua::with_libraries(StdLib::ALL_SAFE, LuaOptions::new(), true)
    }
    /// A new state with the chosen libraries.
    ///
    /// ```
    /// use perilune::{Lua, LuaOptions, StdLib};
    ///
    /// let lua = Lua::new_with(StdLib::MATH | StdLib::STRING, LuaOptions::new())?;
    /// assert!(lua.load("math ~= nil and io == nil and os == nil").eval::<bool>()?);
    /// // Programs that are not trusted get no files.
    /// let lua = Lua::new_with(StdLib::SANDBOX, LuaOptions::new())?;
    /// assert!(lua.load("io == nil and os == nil and require == nil and dofile == nil").eval::<bool>()?);
    /// assert!(Lua::new_with(StdLib::ALL, LuaOptions::new()).is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::SafetyError`] if the unsafe libraries `debug` or `ffi` are among them.
    pub fn new_with(libs: StdLib, options: LuaOptions) -> Result<Lua> {
        check_safe(libs, "using safe `new_with`")?;
        Ok(Lua::with_libraries(libs, options, true))
    }
    /// A new state with all libraries.
    ///
    /// # Safety
    /// What the scripts do with the unsafe libraries `debug` and `ffi` must be sound.
    ///
    /// ```
    /// // SAFETY: the script is known.
    /// let lua = unsafe { perilune::Lua::unsafe_new() };
    /// assert!(lua.load("debug ~= nil").eval::<bool>()?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub unsafe fn unsafe_new() -> Lua {
        Lua::with_libraries(StdLib::ALL, LuaOptions::new(), false)
    }
    /// A new state with the chosen libraries, which may be unsafe ones.
    ///
    /// # Safety
    /// What the scripts do with the unsafe libraries `debug` and `ffi` must be sound.
    ///
    /// ```
    /// use perilune::{Lua, LuaOptions, StdLib};
    ///
    /// // SAFETY: the script is known.
    /// let lua = unsafe { Lua::unsafe_new_with(StdLib::DEBUG, LuaOptions::new()) };
    /// assert!(lua.load("debug ~= nil and io == nil").eval::<bool>()?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub unsafe fn unsafe_new_with(libs: StdLib, options: LuaOptions) -> Lua {
        Lua::with_libraries(libs, options, false)
    }
    /// Makes more libraries available.
    ///
    /// ```
    /// use perilune::{Lua, LuaOptions, StdLib};
    ///
    /// let lua = Lua::new_with(StdLib::NONE, LuaOptions::new())?;
    /// lua.load_std_libs(StdLib::TABLE)?;
    /// assert_eq!(lua.load("table.concat({ 1, 2 }, ' ')").eval::<String>()?, "1 2");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::SafetyError`] if the unsafe libraries `debug` or `ffi` are among them and the state was made without `unsafe`.
    pub fn load_std_libs(&self, libs: StdLib) -> Result<()> {
        let _lock = self.0.lock();
        if self.0.safe {
            check_safe(libs, "in safe mode")?;
        }
        self.0.enter(|vm| super::state::open_libs(vm, libs));
        if self.0.safe && libs.contains(StdLib::PACKAGE) {
            self.refuse_c_modules();
        }
        Ok(())
    }
    /// Has the library `package`, which was just opened, load no modules in C.
    pub(super) fn refuse_c_modules(&self) {
        let _lock = self.0.lock();
        let refuse = |_: &Lua, (): ()| Err::<(), _>(Error::SafetyError("package.loadlib is disabled in safe mode".to_owned()));
        let loadlib = self.handle(callback::new(self, callback::closure(refuse)));
        let loader = callback::closure(|_, ()| Ok("\n\tcan't load C modules in safe mode"));
        let loader = self.handle(callback::new(self, loader));
        self.0.enter(|vm| {
            let package = vm.library(b"package");
            vm.set_field(package, b"loadlib", loadlib.get());
            // The third and the fourth look for libraries.
            if let Some(loaders) = vm.field(package, b"loaders").as_table() {
                vm.table_set_int(loaders, 3, loader.get());
                vm.table_set_int(loaders, 4, Raw::NIL);
            }
        });
    }
}
