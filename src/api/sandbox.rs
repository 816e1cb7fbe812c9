//! Sandboxes: programs that share libraries they cannot change.

use super::error::Result;
use super::lua::Lua;
use super::table::Table;
use perilune_vm::Vm;
use perilune_vm::object::{Gc, Table as RawTable};
use perilune_vm::stdlib::LOADED;
use perilune_vm::value::Value as Raw;

/// Name of the registry entry with the globals from before the sandbox.
const OUTSIDE: &[u8] = b"_SANDBOX";
/// Tables of the registry that are metatables of what libraries make.
const METATABLES: [&[u8]; 2] = [b"FILE*", b"buffer.method"];

/// The tables that are read-only in a sandbox: the globals, the libraries, and the metatables of types, with the tables in their `__index`.
fn shared_tables(vm: &mut Vm, globals: Gc<RawTable>) -> Vec<Gc<RawTable>> {
    let loaded = vm.registry_table(LOADED);
    let mut metatables: Vec<Gc<RawTable>> = vm.realm.base_meta.iter().flatten().copied().collect();
    let registry = vm.realm.registry;
    metatables.extend(METATABLES.iter().filter_map(|name| vm.field(registry, name).as_table()));
    let methods: Vec<Gc<RawTable>> = metatables.iter().filter_map(|t| vm.field(*t, b"__index").as_table()).collect();
    let libraries = loaded.nodes().iter().filter_map(|n| n.val.get().as_table());
    let mut all: Vec<Gc<RawTable>> = core::iter::once(globals).chain(libraries).chain(metatables).chain(methods).collect();
    all.retain(|t| *t != loaded);
    all
}

impl Lua {
    /// Begins a sandbox, or ends it: the libraries, the metatables of types and the globals become read-only, and programs get globals of their
    /// own, which show those behind them. What a program assigns to a global is gone when the sandbox ends. Bytecode is refused, as by
    /// [`Lua::allow_bytecode`].
    ///
    /// Compiled code respects it, at no cost for states that have no sandbox. Which libraries there are at all is chosen with the state:
    /// see [`Lua::new_with`].
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.sandbox(true)?;
    /// lua.load("secret = 1 assert(secret == 1)").exec()?;
    /// let e = lua.load("string.upper = nil").exec().unwrap_err();
    /// assert!(e.to_string().contains("attempt to modify a readonly table"));
    /// lua.sandbox(false)?;
    /// lua.load("assert(secret == nil) string.up = string.upper").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the new globals.
    pub fn sandbox(&self, enabled: bool) -> Result<()> {
        let _lock = self.0.lock();
        let (own, meta) = (self.create_table()?, self.create_table()?);
        self.0.enter(|vm| {
            let registry = vm.realm.registry;
            let outside = vm.field(registry, OUTSIDE).as_table();
            if outside.is_some() == enabled {
                return;
            }
            let globals = outside.unwrap_or(vm.realm.globals);
            for t in shared_tables(vm, globals) {
                vm.set_readonly(t, enabled);
            }
            vm.realm.text_only = enabled;
            if enabled {
                let (own, meta) = (own.raw(), meta.raw());
                vm.set_field(registry, OUTSIDE, Raw::table(globals));
                vm.set_field(meta, b"__index", Raw::table(globals));
                vm.set_readonly(meta, true);
                vm.set_field(own, b"_G", Raw::table(own));
                vm.set_table_meta(own, Some(meta));
                vm.set_globals(own);
            } else {
                vm.set_field(registry, OUTSIDE, Raw::NIL);
                vm.set_globals(globals);
            }
        });
        Ok(())
    }
    /// May programs load bytecode, with `load`, `loadstring`, `loadfile` and `require`? They may unless this says otherwise. What the host
    /// loads is not concerned: see [`Chunk::set_mode`](super::chunk::Chunk::set_mode).
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.allow_bytecode(false);
    /// let refused: (Option<perilune::Function>, String) = lua.load("load(string.dump(function() end))").eval()?;
    /// assert_eq!(refused, (None, "attempt to load chunk with wrong mode".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn allow_bytecode(&self, allowed: bool) {
        let _lock = self.0.lock();
        self.0.enter(|vm| vm.realm.text_only = !allowed);
    }
}

impl Table {
    /// Makes the table read-only, or writable again. A program that stores to a read-only table, by whatever means, gets the error "attempt to
    /// modify a readonly table"; so does the host. Elements of a sequence are kept like other keys in it, so that access to them takes longer.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table_from([("x", 1)])?;
    /// t.set_readonly(true);
    /// assert!(t.is_readonly() && t.set("x", 2).is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_readonly(&self, enabled: bool) {
        let _lock = self.0.lock();
        let t = self.raw();
        self.lua().0.enter(|vm| vm.set_readonly(t, enabled));
    }
    /// Is the table read-only?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// assert!(!t.is_readonly());
    /// t.set_readonly(true);
    /// assert!(t.is_readonly());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_readonly(&self) -> bool {
        let _lock = self.0.lock();
        self.raw().is_readonly()
    }
}
