//! What belongs to a state as a whole: its globals, its modules, and the metatables of its types.

use super::convert::IntoLua;
use super::error::Result;
use super::function::Function;
use super::lua::Lua;
use super::string::LuaString;
use super::table::Table;
use super::thread::Thread;
use super::value::{LightUserData, Number};
use perilune_vm::Vm;
use perilune_vm::stdlib::{LOADED, PRELOAD};
use perilune_vm::value::Value as Raw;

/// A type whose values share a metatable.
///
/// ```
/// let lua = perilune::Lua::new();
/// // The types: bool, Number, LightUserData, LuaString, Function, Thread.
/// lua.set_type_metatable::<bool>(Some(lua.create_table_from([("__index", lua.create_table_from([("kind", "truth")])?)])?));
/// assert_eq!(lua.load("(true).kind").eval::<String>()?, "truth");
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait LuaType {
    #[doc(hidden)]
    fn any_value(vm: &mut VmRef<'_>) -> AnyValue;
}

/// Keeps the VM out of the interface.
#[doc(hidden)]
pub struct VmRef<'a>(&'a mut Vm);
/// A value of a type.
#[doc(hidden)]
pub struct AnyValue(Raw);

macro_rules! types {
    ($($t:ident, $vm:ident => $value:expr;)*) => {$(
        impl LuaType for $t {
            fn any_value(vm: &mut VmRef<'_>) -> AnyValue {
                let $vm = &mut *vm.0;
                AnyValue($value)
            }
        }
    )*};
}
types! {
    bool, _vm => Raw::TRUE;
    Number, _vm => Raw::number(0.0);
    LightUserData, _vm => Raw::lightud(0);
    LuaString, vm => Raw::str(vm.new_str(b""));
    Thread, vm => Raw::thread(vm.realm.main);
    Function, vm => Raw::func(vm.new_native(|_| Ok(0), 1, &[]));
}

impl Lua {
    /// Replaces the table of globals, for chunks that are loaded from now on. Functions that exist keep theirs.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.set_globals(lua.create_table_from([("answer", 42)])?)?;
    /// assert_eq!(lua.load("return answer").eval::<i32>()?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The table belongs to another state.
    pub fn set_globals(&self, globals: Table) -> Result<()> {
        let _lock = self.0.lock();
        if let Some(t) = globals.0.get_in(&self.0)?.as_table() {
            self.0.enter(|vm| vm.set_globals(t));
        }
        Ok(())
    }
    /// The metatable that all values of a type share.
    ///
    /// ```
    /// use perilune::{Lua, LuaString, Table};
    ///
    /// let lua = Lua::new();
    /// let meta = lua.type_metatable::<LuaString>().unwrap();
    /// assert!(meta.get::<Table>("__index")?.contains_key("upper")?);
    /// assert!(lua.type_metatable::<bool>().is_none());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn type_metatable<T: LuaType>(&self) -> Option<Table> {
        let _lock = self.0.lock();
        let meta = self.0.enter(|vm| {
            let AnyValue(v) = T::any_value(&mut VmRef(vm));
            vm.metatable_of(v)
        });
        meta.map(|meta| Table(self.handle(Raw::table(meta))))
    }
    /// Sets or removes the metatable that all values of a type share.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let meta = lua.create_table()?;
    /// meta.set("__len", lua.create_function(|_, n: f64| Ok(n.sqrt()))?)?;
    /// lua.set_type_metatable::<perilune::Number>(Some(meta));
    /// assert_eq!(lua.load("local n = 16 return #n").eval::<f64>()?, 4.0);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Panics
    /// The metatable belongs to another state.
    pub fn set_type_metatable<T: LuaType>(&self, metatable: Option<Table>) {
        let _lock = self.0.lock();
        let meta = metatable.map(|t| t.0.get_in(&self.0).expect("a table of this state"));
        self.0.enter(|vm| {
            let AnyValue(v) = T::any_value(&mut VmRef(vm));
            vm.set_metatable_of(v, meta.and_then(|m| m.as_table()));
        });
    }
    /// A table of the registry.
    fn registry_table(&self, name: &[u8]) -> Table {
        let _lock = self.0.lock();
        let t = self.0.enter(|vm| Raw::table(vm.registry_table(name)));
        Table(self.handle(t))
    }
    /// Makes a value a module: `require(name)` gives it.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.register_module("answers", lua.create_table_from([("all", 42)])?)?;
    /// assert_eq!(lua.load("return require('answers').all").eval::<i32>()?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn register_module(&self, name: &str, value: impl IntoLua) -> Result<()> {
        self.registry_table(LOADED).raw_set(name, value)
    }
    /// Has `require(name)` call a function, which gives the module, the first time.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.preload_module("answers", lua.create_function(|lua, _: String| lua.create_table_from([("all", 42)]))?)?;
    /// assert_eq!(lua.load("return require('answers').all").eval::<i32>()?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn preload_module(&self, name: &str, loader: Function) -> Result<()> {
        self.registry_table(PRELOAD).raw_set(name, loader)
    }
    /// Forgets a module that was loaded or registered: `require(name)` will look for it again.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// lua.register_module("answers", 42)?;
    /// lua.unload_module("answers")?;
    /// assert!(lua.load("return require('answers')").exec().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn unload_module(&self, name: &str) -> Result<()> {
        self.registry_table(LOADED).raw_set(name, super::value::Nil)
    }
}
