//! Making userdata, and the metatables of their types.

use super::cell::{Content, Payload};
use super::registry::Proxy;
use super::{AnyUserData, UserData, UserDataRegistry, metatable};
use crate::api::Lua;
use crate::api::convert::IntoLua;
use crate::api::error::Result;
use crate::api::sync::{MaybeSend, MaybeSync};
use crate::api::value::Value;
use perilune_vm::value::Value as Raw;
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::marker::PhantomData;

/// The metatables of the userdata types of a state, as slots of its roots.
#[derive(Default)]
pub struct Types {
    of_type: RefCell<HashMap<TypeId, u32>>,
    destructed: Cell<Option<u32>>,
}

impl Lua {
    /// A userdata with a value of a type that says by [`UserData`] what Lua code can do with it.
    ///
    /// Where a Lua value is made of a Rust value, such a type needs no call of this function.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Dice(u32);
    /// impl UserData for Dice {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_method("sides", |_, this, ()| Ok(this.0));
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// let dice = lua.create_userdata(Dice(6))?;
    /// lua.globals().set("dice", &dice)?;
    /// assert_eq!(lua.load("dice:sides()").eval::<u32>()?, 6);
    /// assert_eq!(dice.borrow::<Dice>()?.0, 6);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached, or the type registers a metamethod that it must not have.
    pub fn create_userdata<T: UserData + MaybeSend + MaybeSync + 'static>(&self, data: T) -> Result<AnyUserData> {
        let _lock = self.0.lock();
        let meta = self.userdata_metatable::<T>(T::register)?;
        self.new_userdata(Payload::new(Content::owned(data)), size_of::<T>(), meta)
    }
    /// A userdata with a value of any type. Lua code can do with it what [`Lua::register_userdata_type`] has given to the type; without that
    /// it can only pass it on.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let words = lua.create_any_userdata(vec!["a", "b"])?;
    /// assert_eq!(words.borrow::<Vec<&str>>()?.len(), 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_any_userdata<T: MaybeSend + MaybeSync + 'static>(&self, data: T) -> Result<AnyUserData> {
        let _lock = self.0.lock();
        let meta = self.userdata_metatable::<T>(|_| {})?;
        self.new_userdata(Payload::new(Content::owned(data)), size_of::<T>(), meta)
    }
    /// Says what Lua code can do with userdata of a type that does not implement [`UserData`], for example one of another crate.
    ///
    /// Userdata that exist already are not changed.
    ///
    /// ```
    /// use perilune::{Lua, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<Vec<i64>>(|registry| {
    ///     registry.add_method("sum", |_, this, ()| Ok(this.iter().sum::<i64>()));
    /// })?;
    /// lua.globals().set("numbers", lua.create_any_userdata(vec![1i64, 2, 3])?)?;
    /// assert_eq!(lua.load("numbers:sum()").eval::<i64>()?, 6);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached, or the type registers a metamethod that it must not have.
    pub fn register_userdata_type<T: 'static>(&self, f: impl FnOnce(&mut UserDataRegistry<T>)) -> Result<()> {
        let _lock = self.0.lock();
        let mut registry = UserDataRegistry::new();
        f(&mut registry);
        let meta = self.create_table()?;
        let registration = Registration::begin(self, TypeId::of::<T>(), meta.0.get());
        metatable::fill(self, &meta, registry.into_members())?;
        registration.succeed();
        Ok(())
    }
    /// A userdata that stands for a type: it has the type's fields with a value and its functions, such as constructors.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Point(f64, f64);
    /// impl UserData for Point {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_function("new", |_, (x, y)| Ok(Point(x, y)));
    ///         methods.add_method("length", |_, this, ()| Ok(this.0.hypot(this.1)));
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("Point", lua.create_proxy::<Point>()?)?;
    /// assert_eq!(lua.load("Point.new(3, 4):length()").eval::<f64>()?, 5.0);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_userdata`].
    pub fn create_proxy<T: UserData + 'static>(&self) -> Result<AnyUserData> {
        let _lock = self.0.lock();
        self.create_userdata(Proxy::<T>(PhantomData))
    }

    /// A userdata.
    pub(crate) fn new_userdata(&self, payload: Payload, size: usize, meta: Raw) -> Result<AnyUserData> {
        self.0.try_enter(|vm| vm.check_alloc(size))?;
        let u = self.0.enter(|vm| {
            let u = vm.new_host_udata(Box::new(payload), meta.as_table());
            vm.set_udata_bytes(u, size);
            Raw::udata(u)
        });
        let u = AnyUserData(self.handle(u));
        self.0.step()?;
        Ok(u)
    }
    /// The metatable of a type, which is rooted; `register` is called for its first userdata.
    pub(crate) fn userdata_metatable<T: 'static>(&self, register: impl FnOnce(&mut UserDataRegistry<T>)) -> Result<Raw> {
        let _lock = self.0.lock();
        let id = TypeId::of::<T>();
        let known = self.0.types.of_type.borrow().get(&id).copied();
        if let Some(slot) = known {
            return Ok(self.0.roots.get(slot));
        }
        self.register_userdata_type(register)?;
        Ok(self.0.roots.get(self.0.types.of_type.borrow()[&id]))
    }
    /// The metatable of userdata whose value is gone, which is rooted.
    pub(crate) fn destructed_metatable(&self) -> Result<Raw> {
        if let Some(slot) = self.0.types.destructed.get() {
            return Ok(self.0.roots.get(slot));
        }
        let meta = metatable::of_destructed(self)?.0.get();
        self.0.types.destructed.set(Some(self.0.add_root(meta)));
        Ok(meta)
    }
}

/// A type that is being registered. Its metatable is known from the beginning, so that a value of the type among its own fields does not
/// register it once more. If the registration fails, or a conversion panics, what was known of the type before is in force again.
struct Registration<'a> {
    lua: &'a Lua,
    id: TypeId,
    /// The metatable until now, if the type was registered before.
    before: Option<u32>,
    succeeded: bool,
}

impl Registration<'_> {
    fn begin(lua: &Lua, id: TypeId, meta: Raw) -> Registration<'_> {
        let slot = lua.0.add_root(meta);
        let before = lua.0.types.of_type.borrow_mut().insert(id, slot);
        Registration { lua, id, before, succeeded: false }
    }
    fn succeed(mut self) {
        self.succeeded = true;
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let state = &self.lua.0;
        let unused = if self.succeeded {
            self.before
        } else {
            let mut of_type = state.types.of_type.borrow_mut();
            match self.before {
                Some(slot) => of_type.insert(self.id, slot),
                None => of_type.remove(&self.id),
            }
        };
        if let Some(slot) = unused {
            state.roots.release(slot);
        }
    }
}

/// A userdata with the value.
impl<T: UserData + MaybeSend + MaybeSync + 'static> IntoLua for T {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_userdata(self).map(Value::UserData)
    }
}

/// A value that becomes a userdata of any type.
struct Wrapped<T>(T);

impl<T: MaybeSend + MaybeSync + 'static> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_any_userdata(self.0).map(Value::UserData)
    }
}

impl AnyUserData {
    /// Has a value of any type become a userdata where a Lua value is made of it: as by [`Lua::create_any_userdata`].
    ///
    /// ```
    /// use perilune::{AnyUserData, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("bytes", AnyUserData::wrap(vec![1u8]))?;
    /// assert_eq!(lua.load("type(bytes)").eval::<String>()?, "userdata");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap<T: MaybeSend + MaybeSync + 'static>(data: T) -> impl IntoLua {
        Wrapped(data)
    }
}
