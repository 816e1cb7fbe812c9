//! What a type says about itself as a userdata, and what it adds its fields to.

use super::methods::UserDataMethods;
use super::{AnyUserData, UserDataRegistry};
use crate::api::Lua;
use crate::api::convert::{FromLua, IntoLua};
use crate::api::error::Result;
use crate::api::sync::MaybeSend;

/// A type whose values can be userdata: what Lua code can do with them.
///
/// A value of such a type becomes a userdata wherever a Lua value is made of it. The type's metatable is made once per state. Methods are
/// functions in a table, so that a lookup costs a lookup in a table, also in compiled code; only types with fields that are computed have
/// an `__index` function.
///
/// ```
/// use perilune::{Lua, MetaMethod, UserData, UserDataFields, UserDataMethods};
///
/// struct Account {
///     balance: i64,
/// }
///
/// impl UserData for Account {
///     fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
///         fields.add_field_method_get("balance", |_, this| Ok(this.balance));
///     }
///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
///         methods.add_method_mut("deposit", |_, this, amount: i64| {
///             this.balance += amount;
///             Ok(())
///         });
///         methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("{} coins", this.balance)));
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("account", Account { balance: 5 })?;
/// lua.load("account:deposit(10) assert(account.balance == 15) assert(tostring(account) == '15 coins')").exec()?;
/// assert!(lua.load("account.balance = 1000").exec().is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait UserData: Sized {
    /// Adds the fields.
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        let _ = fields;
    }
    /// Adds methods and metamethods.
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        let _ = methods;
    }
    /// Adds everything: the fields, then the methods. For types that want one function instead of two.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataFields, UserDataMethods, UserDataRegistry};
    ///
    /// struct Lamp(bool);
    /// impl UserData for Lamp {
    ///     fn register(registry: &mut UserDataRegistry<Self>) {
    ///         registry.add_field_method_get("on", |_, this| Ok(this.0));
    ///         registry.add_method_mut("switch", |_, this, ()| Ok(this.0 = !this.0));
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("lamp", Lamp(false))?;
    /// assert!(lua.load("lamp:switch() return lamp.on").eval::<bool>()?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn register(registry: &mut UserDataRegistry<Self>) {
        Self::add_fields(registry);
        Self::add_methods(registry);
    }
}

/// Fields of a userdata type. See [`UserData`].
///
/// ```
/// use perilune::{AnyUserData, Lua, UserData, UserDataFields};
///
/// struct Lamp {
///     watts: u32,
/// }
/// impl UserData for Lamp {
///     fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
///         fields.add_field("kind", "lamp");
///         fields.add_field_method_get("watts", |_, this| Ok(this.watts));
///         fields.add_field_method_set("watts", |_, this, watts: u32| {
///             this.watts = watts;
///             Ok(())
///         });
///         // These get the userdata instead of the value: here, for a Lua value that is kept with it.
///         fields.add_field_function_get("note", |_, this: AnyUserData| this.user_value::<Option<String>>());
///         fields.add_field_function_set("note", |_, this: AnyUserData, note: String| this.set_user_value(note));
///         fields.add_meta_field("__version", 1);
///         // A key that is neither a field nor a method is looked up here.
///         fields.add_meta_field_with("__index", |lua| lua.create_table_from([("colour", "white")]));
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("lamp", Lamp { watts: 40 })?;
/// lua.load("lamp.watts = lamp.watts + 20 lamp.note = 'hall'").exec()?;
/// let (kind, watts, note): (String, u32, String) = lua.load("return lamp.kind, lamp.watts, lamp.note").eval()?;
/// assert_eq!((kind.as_str(), watts, note.as_str()), ("lamp", 60, "hall"));
/// assert_eq!(lua.load("lamp.colour").eval::<String>()?, "white");
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait UserDataFields<T> {
    /// A field with the same value for all userdata of the type, also for the type's proxy ([`Lua::create_proxy`]).
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_field("kind", "lamp");
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.kind").eval::<String>()?, "lamp");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_field<V>(&mut self, name: impl Into<String>, value: V)
    where
        V: IntoLua + 'static;

    /// A field that is read by calling `method`.
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_field_method_get("watts", |_, this| Ok(*this));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.watts").eval::<u32>()?, 40);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_field_method_get<M, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T) -> Result<R> + MaybeSend + 'static,
        R: IntoLua;

    /// A field that is written by calling `method`.
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<Vec<u32>>(|registry| {
    ///     registry.add_field_method_set("next", |_, this, watts| Ok(this.push(watts)));
    ///     registry.add_field_method_get("count", |_, this| Ok(this.len()));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(vec![40_u32])?)?;
    /// assert_eq!(lua.load("u.next = 60 return u.count").eval::<usize>()?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_field_method_set<M, A>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua;

    /// A field that is read by calling `function` with the userdata.
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_field_function_get("type", |_, this| this.type_name());
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.type").eval::<String>()?, "u32");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_field_function_get<F, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, AnyUserData) -> Result<R> + MaybeSend + 'static,
        R: IntoLua;

    /// A field that is written by calling `function` with the userdata.
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_field_function_set("note", |_, this, note: String| this.set_user_value(note));
    ///     registry.add_field_function_get("note", |_, this| this.user_value::<String>());
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.note = 'hall' return u.note").eval::<String>()?, "hall");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_field_function_set<F, A>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, AnyUserData, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua;

    /// A field of the metatable. `__index` and `__newindex` are used for keys that are neither a field nor a method, and must be a table
    /// or a function.
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| registry.add_meta_field("__version", 2))?;
    /// let meta = lua.create_any_userdata(40_u32)?.metatable()?;
    /// assert_eq!(meta.get::<i32>("__version")?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_meta_field<V>(&mut self, name: impl Into<String>, value: V)
    where
        V: IntoLua + 'static;

    /// A field of the metatable, computed when the metatable is made.
    ///
    /// ```
    /// use perilune::{Lua, UserDataFields};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_meta_field_with("__index", |lua| lua.create_table_from([("colour", "white")]));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.colour").eval::<String>()?, "white");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_meta_field_with<F, R>(&mut self, name: impl Into<String>, f: F)
    where
        F: FnOnce(&Lua) -> Result<R> + 'static,
        R: IntoLua;
}
