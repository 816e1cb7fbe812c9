//! Modules in C.
#![allow(unsafe_code, reason = "the caller answers for what modules in C do")]

use crate::api::Lua;

impl Lua {
    /// Lets scripts of a state that was made by [`Lua::unsafe_new`] load modules in C for Lua 5.1, along `package.cpath` and by
    /// `package.loadlib`. Feature `c-modules`.
    ///
    /// The modules call functions of the program, which must export them. The build script of its package says so to the linker:
    ///
    /// ```text
    /// println!("cargo:rustc-link-arg-bins=-rdynamic");
    /// ```
    ///
    /// # Safety
    /// Modules in C can do anything, and scripts may load any.
    ///
    /// ```
    /// // SAFETY: the script is known.
    /// let lua = unsafe { perilune::Lua::unsafe_new() };
    /// // SAFETY: as above.
    /// unsafe { lua.allow_c_modules() };
    /// let message: String = lua.load("select(2, pcall(require, 'none'))").eval()?;
    /// assert!(message.contains("no file './none.so'"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub unsafe fn allow_c_modules(&self) {
        let _lock = self.0.lock();
        // SAFETY: the caller's promise.
        self.0.enter(|vm| unsafe { perilune_capi::allow_modules(vm) });
    }
}
