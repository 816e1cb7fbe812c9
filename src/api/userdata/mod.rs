//! Userdata: Rust values that Lua code holds, calls and passes on.

mod borrow;
pub(crate) mod cell;
mod create;
mod meta_method;
mod metatable;
mod methods;
mod registry;
mod traits;
mod wrapper;

pub use borrow::{UserDataOwned, UserDataRef, UserDataRefMut};
pub use create::Types;
pub use meta_method::MetaMethod;
pub use metatable::{UserDataMetatable, UserDataMetatablePairs};
pub use methods::UserDataMethods;
pub use registry::UserDataRegistry;
pub use traits::{UserData, UserDataFields};

#[cfg(feature = "serde")]
pub(super) use wrapper::read as read_content;

use super::Lua;
use super::convert::{FromLua, IntoLua};
use super::error::{Error, Result};
use super::function::Function;
use super::handle::{CLOSED_STATE, Handle};
use super::string::LuaString;
use super::sync::Shared as Counted;
use super::table::Table;
use super::value::Value;
use cell::Content;
use perilune_vm::object::{Gc, Udata};
use perilune_vm::value::Value as Raw;
use std::any::TypeId;
use std::ffi::c_void;
use std::fmt;

/// A userdata of any type.
///
/// Userdata that the API has not made, like the files of `io`, can be passed on but hold no value for Rust.
///
/// ```
/// use perilune::{Error, Lua};
///
/// let lua = Lua::new();
/// let u = lua.create_any_userdata(String::from("moon"))?;
/// u.borrow_mut::<String>()?.push('!');
/// assert_eq!(&*u.borrow::<String>()?, "moon!");
/// assert!(matches!(u.borrow::<u8>(), Err(Error::UserDataTypeMismatch)));
/// assert_eq!(u.take::<String>()?, "moon!");
/// assert!(matches!(u.borrow::<String>(), Err(Error::UserDataDestructed)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct AnyUserData(pub(crate) Handle);

impl AnyUserData {
    fn raw(&self) -> Option<Gc<Udata>> {
        self.0.get().as_udata()
    }
    pub(super) fn content(&self) -> Result<Content> {
        Content::of(self.raw())
    }
    /// Does the userdata hold a `T` itself, not in a wrapper like `Rc`?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(1_u8)?;
    /// assert!(u.is::<u8>() && !u.is::<u16>());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is<T: 'static>(&self) -> bool {
        let _lock = self.0.lock();
        self.content().is_ok_and(|content| content.is::<T>())
    }
    /// Does the userdata stand for the type `T`? See [`Lua::create_proxy`].
    ///
    /// ```
    /// use perilune::{Lua, UserData};
    ///
    /// struct Point;
    /// impl UserData for Point {}
    ///
    /// let lua = Lua::new();
    /// assert!(lua.create_proxy::<Point>()?.is_proxy::<Point>());
    /// assert!(!lua.create_userdata(Point)?.is_proxy::<Point>());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_proxy<T: 'static>(&self) -> bool {
        self.is::<registry::Proxy<T>>()
    }
    /// The type of the value; `None` if the value is gone or its type is not `'static`.
    ///
    /// ```
    /// use std::any::TypeId;
    ///
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_any_userdata(1_u8)?.type_id(), Some(TypeId::of::<u8>()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn type_id(&self) -> Option<TypeId> {
        let _lock = self.0.lock();
        self.content().ok().and_then(|content| content.type_id())
    }
    /// Borrows the value to read. A value in an `Rc`, `Arc`, `Rc<RefCell>` or a lock of `parking_lot` in an `Arc` is reached as well.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let text = lua.create_any_userdata(String::from("moon"))?;
    /// assert_eq!(text.borrow::<String>()?.len(), 4);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is no `T` or belongs to a scope, it is gone, or it is borrowed to write.
    pub fn borrow<T: 'static>(&self) -> Result<UserDataRef<T>> {
        let _lua = self.0.open("AnyUserData::borrow")?;
        wrapper::borrow(&self.content()?)
    }
    /// Borrows the value to write.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let text = lua.create_any_userdata(String::from("moon"))?;
    /// text.borrow_mut::<String>()?.push('!');
    /// let reading = text.borrow::<String>()?;
    /// assert_eq!(*reading, "moon!");
    /// assert!(text.borrow_mut::<String>().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is no `T` or belongs to a scope, it is gone, or it is borrowed.
    pub fn borrow_mut<T: 'static>(&self) -> Result<UserDataRefMut<T>> {
        let _lua = self.0.open("AnyUserData::borrow_mut")?;
        wrapper::borrow_mut(&self.content()?)
    }
    /// Calls `f` with the value. This reaches also values of a scope, and values in a lock of the standard library in an `Arc`.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// let lua = perilune::Lua::new();
    /// let shared = lua.create_any_userdata(Arc::new(Mutex::new(7)))?;
    /// assert_eq!(shared.borrow_scoped(|n: &i32| *n)?, 7);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is no `T`, it is gone, or it is borrowed to write.
    pub fn borrow_scoped<T: 'static, R>(&self, f: impl FnOnce(&T) -> R) -> Result<R> {
        let _lua = self.0.open("AnyUserData::borrow_scoped")?;
        wrapper::read(&self.content()?, f)
    }
    /// Calls `f` with the value, which it can change.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// let lua = perilune::Lua::new();
    /// let value = Arc::new(Mutex::new(7));
    /// let shared = lua.create_any_userdata(Arc::clone(&value))?;
    /// shared.borrow_mut_scoped(|n: &mut i32| *n += 1)?;
    /// assert_eq!(*value.lock().unwrap(), 8);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is no `T`, it is gone, it is borrowed, or a scope has given it to be read only.
    pub fn borrow_mut_scoped<T: 'static, R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R> {
        let _lua = self.0.open("AnyUserData::borrow_mut_scoped")?;
        wrapper::write(&self.content()?, f)
    }
    /// Takes the value. The userdata is destroyed: each use of it from now on is [`Error::UserDataDestructed`].
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let text = lua.create_any_userdata(String::from("moon"))?;
    /// assert_eq!(text.take::<String>()?, "moon");
    /// assert!(matches!(text.take::<String>(), Err(Error::UserDataDestructed)));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is no `T` or belongs to a scope, it is gone, or it is borrowed.
    pub fn take<T: 'static>(&self) -> Result<T> {
        let _lua = self.0.open("AnyUserData::take")?;
        self.check_take::<T>()?;
        let Content::Owned(value) = self.destruct()? else { return Err(Error::UserDataDestructed) };
        let value = cell::downcast::<T>(value).ok_or(Error::UserDataTypeMismatch)?;
        Counted::into_inner(value).map(cell::Shared::into_inner).ok_or(Error::UserDataBorrowMutError)
    }
    /// Drops the value. The userdata is destroyed: each use of it from now on is [`Error::UserDataDestructed`]. A [`UserDataRef`] that is in
    /// use keeps the value.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let file = lua.create_any_userdata(std::io::stdout())?;
    /// file.destroy()?;
    /// assert!(file.destroy().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is gone, it belongs to a scope, or a method that uses it is running.
    pub fn destroy(&self) -> Result<()> {
        let _lua = self.0.open("AnyUserData::destroy")?;
        if !self.content()?.can_be_destroyed() {
            return Err(Error::UserDataBorrowMutError);
        }
        self.destruct().map(drop)
    }
    /// Takes what the userdata holds, and gives it the metatable of userdata whose value is gone.
    pub(super) fn destruct(&self) -> Result<Content> {
        let lua = self.0.lua();
        let meta = lua.destructed_metatable()?;
        let v = self.0.get();
        lua.0.enter(|vm| vm.set_metatable_of(v, meta.as_table()));
        Ok(Content::take_of(v.as_udata()))
    }

    /// Keeps a Lua value with the userdata; [`AnyUserData::user_value`] gives it back.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(())?;
    /// u.set_user_value(lua.create_sequence_from([1, 2])?)?;
    /// assert_eq!(u.user_value::<Vec<i32>>()?, [1, 2]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`AnyUserData::set_nth_user_value`].
    pub fn set_user_value(&self, v: impl IntoLua) -> Result<()> {
        self.set_nth_user_value(1, v)
    }
    /// The value of [`AnyUserData::set_user_value`]; nil if there is none.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(())?;
    /// assert_eq!(u.user_value::<Option<i32>>()?, None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`AnyUserData::nth_user_value`].
    pub fn user_value<V: FromLua>(&self) -> Result<V> {
        self.nth_user_value(1)
    }
    /// Keeps a Lua value with the userdata as number `n`, 1 to 65535.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(())?;
    /// u.set_nth_user_value(2, "second")?;
    /// assert!(u.set_nth_user_value(0, "none").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// `n` is out of range, the userdata is destroyed or not of the API, or `v` cannot be converted.
    pub fn set_nth_user_value(&self, n: usize, v: impl IntoLua) -> Result<()> {
        let lua = self.0.open("AnyUserData::set_nth_user_value")?;
        self.set_user_field(&lua, user_value_index(n)?, v)
    }
    /// The value number `n`; nil if there is none.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(())?;
    /// u.set_nth_user_value(2, "second")?;
    /// assert_eq!(u.nth_user_value::<String>(2)?, "second");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// `n` is out of range, the userdata is destroyed or not of the API, or the value is not a `V`.
    pub fn nth_user_value<V: FromLua>(&self, n: usize) -> Result<V> {
        let lua = self.0.open("AnyUserData::nth_user_value")?;
        self.user_field(&lua, user_value_index(n)?)
    }
    /// Keeps a Lua value with the userdata under a name.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(())?;
    /// u.set_named_user_value("owner", "Ada")?;
    /// assert_eq!(u.named_user_value::<String>("owner")?, "Ada");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The userdata is destroyed or not of the API, or `v` cannot be converted.
    pub fn set_named_user_value(&self, name: &str, v: impl IntoLua) -> Result<()> {
        let lua = self.0.open("AnyUserData::set_named_user_value")?;
        self.set_user_field(&lua, name, v)
    }
    /// The value with this name; nil if there is none.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(())?;
    /// assert_eq!(u.named_user_value::<Option<String>>("owner")?, None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The userdata is destroyed or not of the API, or the value is not a `V`.
    pub fn named_user_value<V: FromLua>(&self, name: &str) -> Result<V> {
        let lua = self.0.open("AnyUserData::named_user_value")?;
        self.user_field(&lua, name)
    }
    fn set_user_field(&self, lua: &Lua, key: impl IntoLua, v: impl IntoLua) -> Result<()> {
        self.content()?;
        let v = v.into_lua(lua)?;
        let values = match self.user_values(lua) {
            Some(values) => values,
            None => {
                let values = lua.create_table()?;
                let (u, t) = (self.raw(), values.0.get());
                lua.0.enter(|vm| u.into_iter().for_each(|u| vm.set_udata_anchor(u, t)));
                values
            }
        };
        values.raw_set(key, v)
    }
    fn user_field<V: FromLua>(&self, lua: &Lua, key: impl IntoLua) -> Result<V> {
        self.content()?;
        match self.user_values(lua) {
            Some(values) => values.raw_get(key),
            None => V::from_lua(Value::Nil, lua),
        }
    }
    fn user_values(&self, lua: &Lua) -> Option<Table> {
        let values = self.raw()?.anchor.get();
        values.is_table().then(|| Table(lua.handle(values)))
    }

    /// The metatable, which all userdata of the type share.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let (a, b) = (lua.create_any_userdata(1_u8)?, lua.create_any_userdata(2_u8)?);
    /// a.metatable()?.set("__len", lua.create_function(|_, _: perilune::Value| Ok(8))?)?;
    /// assert_eq!(lua.load("return #...").call::<i32>(b)?, 8);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is gone, or the userdata is not of the API.
    pub fn metatable(&self) -> Result<UserDataMetatable> {
        let _lua = self.0.open("AnyUserData::metatable")?;
        self.raw_metatable().map(UserDataMetatable)
    }
    fn raw_metatable(&self) -> Result<Table> {
        self.content()?;
        let meta = self.raw().and_then(|u| u.meta.get()).ok_or(Error::UserDataTypeMismatch)?;
        Ok(Table(self.0.lua().handle(Raw::table(meta))))
    }
    /// The address, which tells userdata apart.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let u = lua.create_any_userdata(1_u8)?;
    /// assert_eq!(u.to_pointer(), u.clone().to_pointer());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_pointer(&self) -> *const c_void {
        self.0.address()
    }
    /// The name of the type: `__name` of the metatable, or "userdata" if that is no string.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_any_userdata(vec![1_u8])?.type_name()?, "Vec<u8>");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value is gone, or the userdata is not of the API.
    pub fn type_name(&self) -> Result<LuaString> {
        let lua = self.0.open("AnyUserData::type_name")?;
        match self.raw_metatable()?.raw_get(MetaMethod::Type.name())? {
            Value::String(name) => Ok(name),
            _ => lua.create_string("userdata"),
        }
    }
    /// Equality as Lua has it: the same userdata, or what `__eq` of the type says.
    pub(crate) fn equals(&self, other: &AnyUserData) -> Result<bool> {
        let _lock = self.0.lock();
        if self == other {
            return Ok(true);
        }
        let meta = self.raw_metatable()?;
        if meta != other.raw_metatable()? {
            return Ok(false);
        }
        match meta.raw_get::<Option<Function>>(MetaMethod::Eq.name())? {
            Some(eq) => eq.call((self, other)),
            None => Ok(false),
        }
    }
    /// The error that [`AnyUserData::take`] would give, if it would give one.
    pub(crate) fn check_take<T: 'static>(&self) -> Result<()> {
        match self.content()? {
            Content::Owned(v) if v.value_type() != TypeId::of::<T>() => Err(Error::UserDataTypeMismatch),
            Content::Owned(v) if v.flag().is_borrowed() => Err(Error::UserDataBorrowMutError),
            Content::Owned(_) => Ok(()),
            _ => Err(Error::UserDataTypeMismatch),
        }
    }
    /// The text that `tostring` gives, with the name of the type where the type does not say more.
    pub(crate) fn to_text(&self) -> Result<String> {
        let _lock = self.0.lock();
        let meta = self.raw_metatable()?;
        if meta.raw_get::<Value>(MetaMethod::ToString.name())?.is_nil() {
            return Ok(format!("{}: {:?}", self.type_name()?.display(), self.to_pointer()));
        }
        self.0.lua().0.tostring(self.0.get())
    }
    /// The text of `{:#?}`: that of `__todebugstring` or `__tostring`, or the name of the type and the address, or that the state is closed.
    pub(crate) fn fmt_pretty(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(_state) = self.0.try_lua() else { return write!(f, "userdata: {CLOSED_STATE}") };
        let text = || -> Result<String> {
            match self.raw_metatable()?.raw_get::<Option<Function>>(MetaMethod::ToDebugString.name())? {
                Some(method) => method.call(self),
                None => self.to_text(),
            }
        };
        match text() {
            Ok(text) => f.write_str(&text),
            Err(_) => write!(f, "userdata: {:?}", self.to_pointer()),
        }
    }
}

/// The metatable of what was registered.
pub(super) fn metatable_of<T>(lua: &Lua, registry: UserDataRegistry<T>) -> Result<Table> {
    let meta = lua.create_table()?;
    metatable::fill(lua, &meta, registry.into_members())?;
    Ok(meta)
}

fn user_value_index(n: usize) -> Result<usize> {
    if (1..=usize::from(u16::MAX)).contains(&n) { Ok(n) } else { Err(Error::runtime("user value index out of bounds")) }
}

impl fmt::Debug for AnyUserData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { self.fmt_pretty(f) } else { f.debug_tuple("AnyUserData").field(&self.0).finish() }
    }
}
