//! Collects what a type says about itself, until the metatable is made of it.
#![allow(unsafe_code, reason = "a value inside a userdata is reached by the borrow that was just taken")]

use super::borrow::userdata_of;
use super::cell::{BorrowFlag, Content, Mode, Payload, Scoped};
use super::{AnyUserData, MetaMethod, UserData, UserDataFields, UserDataMethods, wrapper};
#[cfg(feature = "async")]
use super::{UserDataRef, UserDataRefMut};
#[cfg(feature = "async")]
use crate::api::asynchronous::{self, Start};
use crate::api::callback::Closure;
use crate::api::convert::{FromLua, IntoLua};
use crate::api::error::{Error, Result};
use crate::api::multi::{FromLuaMulti, IntoLuaMulti};
use crate::api::passing::Passed;
use crate::api::sync::MaybeSend;
use crate::api::type_name::short_type_name;
use crate::api::{Lua, Value};
use perilune_vm::object::{Gc, Udata};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// Collects fields and methods of a userdata type. See [`UserData::register`] and [`Lua::register_userdata_type`].
///
/// ```
/// use perilune::{Lua, UserData, UserDataFields, UserDataMethods, UserDataRegistry};
///
/// struct Clock(u32);
/// impl UserData for Clock {
///     fn register(registry: &mut UserDataRegistry<Self>) {
///         registry.add_field_method_get("hour", |_, this| Ok(this.0));
///         registry.add_method_mut("tick", |_, this, ()| Ok(this.0 = (this.0 + 1) % 24));
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("clock", Clock(23))?;
/// assert_eq!(lua.load("clock:tick() return clock.hour").eval::<u32>()?, 0);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct UserDataRegistry<T> {
    reach: Reach,
    pub(super) members: Members,
    value: PhantomData<T>,
}

/// What a method calls.
pub enum Body {
    /// A closure.
    Plain(Rc<Closure>),
    /// A closure that makes a future.
    #[cfg(feature = "async")]
    Async(Rc<Start>),
}

/// Makes the value of a field. It waits until the type has its metatable: the value may be one of the type itself.
pub type Conversion = Box<dyn FnOnce(&Lua) -> Result<Value>>;

/// Fields and methods of a type.
#[derive(Default)]
pub struct Members {
    /// Fields with a value.
    pub fields: Vec<(String, Conversion)>,
    /// Fields that are read by a call.
    pub getters: Vec<(String, Rc<Closure>)>,
    /// Fields that are written by a call.
    pub setters: Vec<(String, Rc<Closure>)>,
    /// Methods and functions.
    pub methods: Vec<(String, Body)>,
    /// Fields of the metatable with a value.
    pub meta_fields: Vec<(String, Conversion)>,
    /// Metamethods.
    pub meta_methods: Vec<(String, Body)>,
    /// Name of the type.
    pub type_name: String,
}

/// How methods get at the value of a userdata. The pointers are to the type that the registry is for, which may not be `'static`.
#[derive(Clone)]
enum Reach {
    /// Any userdata with a value of the type.
    Typed {
        /// Finds the value, and the state of its borrows, if the userdata holds it without a wrapper. Both live as long as the userdata is
        /// used by a call.
        find: fn(Gc<Udata>) -> Option<(*mut (), *const BorrowFlag)>,
        read: fn(&Content, &mut dyn FnMut(*const ())) -> Result<()>,
        write: fn(&Content, &mut dyn FnMut(*mut ())) -> Result<()>,
    },
    /// Only the userdata with this value.
    Only(Rc<Scoped>),
}

impl Reach {
    fn typed<T: 'static>() -> Reach {
        Reach::Typed {
            find: |u| {
                let found = u.with(|p: &mut Payload| p.shared::<T>().map(|v| (v.as_ptr().cast(), &raw const v.flag)));
                found.flatten()
            },
            read: |content, f| wrapper::read(content, |v: &T| f((&raw const *v).cast())),
            write: |content, f| wrapper::write(content, |v: &mut T| f((&raw mut *v).cast())),
        }
    }
    /// See [`Reach::Typed`].
    #[inline]
    fn find(&self, args: Passed<'_>) -> Option<(*mut (), *const BorrowFlag)> {
        match self {
            Reach::Typed { find, .. } => find(args.raw(0).as_udata()?),
            Reach::Only(_) => None,
        }
    }
    /// Is this the one value that can be reached? If not, the other's value is not touched.
    fn check(only: &Rc<Scoped>, content: &Content) -> Result<()> {
        match content {
            Content::Scoped(v) if Rc::ptr_eq(v, only) => Ok(()),
            _ => Err(Error::UserDataTypeMismatch),
        }
    }
    fn read(&self, content: &Content, f: &mut dyn FnMut(*const ())) -> Result<()> {
        match self {
            Reach::Typed { read, .. } => read(content, f),
            Reach::Only(only) => {
                Reach::check(only, content)?;
                let _borrow = only.flag.during_call(Mode::Shared)?;
                f(only.value);
                Ok(())
            }
        }
    }
    fn write(&self, content: &Content, f: &mut dyn FnMut(*mut ())) -> Result<()> {
        match self {
            Reach::Typed { write, .. } => write(content, f),
            Reach::Only(only) => {
                Reach::check(only, content)?;
                let _borrow = only.flag.during_call(Mode::Exclusive)?;
                f(only.value);
                Ok(())
            }
        }
    }
}

/// The error of a userdata that a method cannot be called with.
fn bad_self(to: &str, cause: Error) -> Error {
    Error::BadArgument { to: Some(to.to_owned()), pos: 1, name: Some("self".to_owned()), cause: Arc::new(cause) }
}

/// What the userdata of a method call, its first argument, holds.
fn content_of_self<T>(args: Passed<'_>) -> Result<Content> {
    let this = args.raw(0);
    match this.as_udata() {
        Some(u) => Content::of(Some(u)),
        None if args.len() == 0 => Err(Error::conversion("missing argument", "userdata")),
        None => Content::of(userdata_of::<T>(args.value(0))?.0.get().as_udata()),
    }
}

/// What a method does to reach its value.
#[cfg(feature = "async")]
type Reached<V> = fn(&AnyUserData) -> Result<V>;

/// Calls a function that changes what it has captured: it refuses to run inside itself.
macro_rules! once_at_a_time {
    ($f:ident) => {{
        let f = RefCell::new($f);
        move |lua: &Lua, args| (f.try_borrow_mut().map_err(|_| Error::RecursiveMutCallback)?)(lua, args)
    }};
}

impl<T: 'static> UserDataRegistry<T> {
    pub(super) fn new() -> UserDataRegistry<T> {
        UserDataRegistry::with(Reach::typed::<T>())
    }
}

impl<T> UserDataRegistry<T> {
    /// A registry for one value.
    ///
    /// # Safety
    /// The value is a `T`.
    pub(crate) unsafe fn only(value: Rc<Scoped>) -> UserDataRegistry<T> {
        UserDataRegistry::with(Reach::Only(value))
    }
    fn with(reach: Reach) -> UserDataRegistry<T> {
        let members = Members { type_name: short_type_name::<T>(), ..Members::default() };
        UserDataRegistry { reach, members, value: PhantomData }
    }
    /// Takes what was collected.
    pub(crate) fn into_members(self) -> Members {
        self.members
    }
    /// The name of a function, for messages.
    fn full_name(&self, name: &str) -> String {
        format!("{}.{name}", self.members.type_name)
    }
    fn method<M, A, R>(&self, name: &str, method: M) -> Rc<Closure>
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let (to, reach) = (self.full_name(name), self.reach.clone());
        Rc::new(move |args| {
            // An argument may be the same userdata: all are converted before this one is borrowed.
            let converted = A::take_all(args.skip(1), Some((2, Some(&to))));
            if let Some((this, flag)) = reach.find(args) {
                // SAFETY: the first argument keeps its value, which is neither taken nor destroyed while a call has borrowed it.
                let _borrow = unsafe { &*flag }.during_call(Mode::Shared).map_err(|e| bad_self(&to, e))?;
                // SAFETY: a `T` (`Reach`), borrowed to read for this call.
                return method(args.lua, unsafe { &*this.cast::<T>() }, converted?)?.pass_all(args.lua);
            }
            let mut converted = Some(converted);
            let content = content_of_self::<T>(args).map_err(|e| bad_self(&to, e))?;
            let mut result = Ok(());
            let called = reach.read(&content, &mut |this| {
                // SAFETY: a `T` (`Reach`), borrowed to read for this call.
                let this = unsafe { &*this.cast::<T>() };
                let converted = converted.take().unwrap_or(Err(Error::UserDataBorrowError));
                result = converted.and_then(|a| method(args.lua, this, a)?.pass_all(args.lua));
            });
            called.map_err(|e| bad_self(&to, e))?;
            result
        })
    }
    fn method_mut<M, A, R>(&self, name: &str, method: M) -> Rc<Closure>
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let (to, reach, method) = (self.full_name(name), self.reach.clone(), RefCell::new(method));
        Rc::new(move |args| {
            let mut method = method.try_borrow_mut().map_err(|_| Error::RecursiveMutCallback)?;
            let converted = A::take_all(args.skip(1), Some((2, Some(&to))));
            if let Some((this, flag)) = reach.find(args) {
                // SAFETY: as for methods that read.
                let _borrow = unsafe { &*flag }.during_call(Mode::Exclusive).map_err(|e| bad_self(&to, e))?;
                // SAFETY: a `T` (`Reach`), borrowed to write for this call.
                return method(args.lua, unsafe { &mut *this.cast::<T>() }, converted?)?.pass_all(args.lua);
            }
            let mut converted = Some(converted);
            let content = content_of_self::<T>(args).map_err(|e| bad_self(&to, e))?;
            let mut result = Ok(());
            let called = reach.write(&content, &mut |this| {
                // SAFETY: a `T` (`Reach`), borrowed to write for this call.
                let this = unsafe { &mut *this.cast::<T>() };
                let converted = converted.take().unwrap_or(Err(Error::UserDataBorrowMutError));
                result = converted.and_then(|a| method(args.lua, this, a)?.pass_all(args.lua));
            });
            called.map_err(|e| bad_self(&to, e))?;
            result
        })
    }
    fn function<F, A, R>(&self, name: &str, function: F) -> Rc<Closure>
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let to = self.full_name(name);
        Rc::new(move |args| function(args.lua, A::take_all(args, Some((1, Some(&to))))?)?.pass_all(args.lua))
    }
    /// An asynchronous method, which keeps the value in the way that `this` says while its future exists.
    #[cfg(feature = "async")]
    fn async_method<V: 'static, A, MR, R>(
        &self,
        name: &str,
        (this, check): (Reached<V>, Reached<()>),
        method: impl Fn(Lua, V, A) -> MR + MaybeSend + 'static,
    ) -> Body
    where
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti,
    {
        let to = self.full_name(name);
        Body::Async(Rc::new(move |args| {
            let converted = A::take_all(args.skip(1), Some((2, Some(&to))));
            let first = if args.len() == 0 { Err(Error::conversion("missing argument", "userdata")) } else { Ok(args.value(0)) };
            let userdata = first.and_then(userdata_of::<T>).map_err(|e| bad_self(&to, e))?;
            if converted.is_err() {
                // A value that would be taken stays where it is.
                check(&userdata).map_err(|e| bad_self(&to, e))?;
            }
            let converted = converted?;
            let this = this(&userdata).map_err(|e| bad_self(&to, e))?;
            Ok(asynchronous::converted(args.lua, method(args.lua.clone(), this, converted)))
        }))
    }
    fn meta_field(&mut self, name: String, convert: impl FnOnce(&Lua) -> Result<Value> + 'static) {
        let method = name.clone();
        let checked = move |lua: &Lua| {
            let v = convert(lua)?;
            let is_usable = matches!(v, Value::Nil | Value::Table(_) | Value::Function(_));
            if !is_usable && (method == MetaMethod::Index || method == MetaMethod::NewIndex) {
                let message = Some("expected nil, table or function".to_owned());
                return Err(Error::MetaMethodTypeError { method, type_name: v.what(), message });
            }
            Ok(v)
        };
        self.members.meta_fields.push((name, Box::new(checked)));
    }
}

impl<T> UserDataFields<T> for UserDataRegistry<T> {
    fn add_field<V>(&mut self, name: impl Into<String>, value: V)
    where
        V: IntoLua + 'static,
    {
        self.members.fields.push((name.into(), Box::new(|lua| value.into_lua(lua))));
    }
    fn add_field_method_get<M, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T) -> Result<R> + MaybeSend + 'static,
        R: IntoLua,
    {
        let name = name.into();
        let getter = self.method(&name, move |lua, this, ()| method(lua, this));
        self.members.getters.push((name, getter));
    }
    fn add_field_method_set<M, A>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua,
    {
        let name = name.into();
        let setter = self.method_mut(&name, method);
        self.members.setters.push((name, setter));
    }
    fn add_field_function_get<F, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, AnyUserData) -> Result<R> + MaybeSend + 'static,
        R: IntoLua,
    {
        let name = name.into();
        let getter = self.function(&name, function);
        self.members.getters.push((name, getter));
    }
    fn add_field_function_set<F, A>(&mut self, name: impl Into<String>, mut function: F)
    where
        F: FnMut(&Lua, AnyUserData, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua,
    {
        let name = name.into();
        let function = move |lua: &Lua, (this, v)| function(lua, this, v);
        let setter = self.function(&name, once_at_a_time!(function));
        self.members.setters.push((name, setter));
    }
    fn add_meta_field<V>(&mut self, name: impl Into<String>, value: V)
    where
        V: IntoLua + 'static,
    {
        self.meta_field(name.into(), |lua| value.into_lua(lua));
    }
    fn add_meta_field_with<F, R>(&mut self, name: impl Into<String>, f: F)
    where
        F: FnOnce(&Lua) -> Result<R> + 'static,
        R: IntoLua,
    {
        self.meta_field(name.into(), |lua| f(lua)?.into_lua(lua));
    }
}

/// Asynchronous methods: name, what they are given as the value, how that is got from the userdata, and the list that they belong to.
macro_rules! async_methods {
    ($($name:ident($this:ty): $borrow:expr, $list:ident;)*) => {$(
        #[cfg(feature = "async")]
        fn $name<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
        where
            T: 'static,
            M: Fn(Lua, $this, A) -> MR + MaybeSend + 'static,
            A: FromLuaMulti,
            MR: Future<Output = Result<R>> + MaybeSend + 'static,
            R: IntoLuaMulti,
        {
            let name = name.into();
            let method = self.async_method(&name, ($borrow, |this| this.borrow::<T>().map(drop)), method);
            self.members.$list.push((name, method));
        }
    )*};
}
/// Asynchronous functions, likewise.
macro_rules! async_functions {
    ($($name:ident: $list:ident;)*) => {$(
        #[cfg(feature = "async")]
        fn $name<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
        where
            F: Fn(Lua, A) -> FR + MaybeSend + 'static,
            A: FromLuaMulti,
            FR: Future<Output = Result<R>> + MaybeSend + 'static,
            R: IntoLuaMulti,
        {
            let name = name.into();
            let function = asynchronous::start(Some(self.full_name(&name)), function);
            self.members.$list.push((name, Body::Async(function)));
        }
    )*};
}

impl<T> UserDataMethods<T> for UserDataRegistry<T> {
    fn add_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let method = self.method(&name, method);
        self.members.methods.push((name, Body::Plain(method)));
    }
    fn add_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let method = self.method_mut(&name, method);
        self.members.methods.push((name, Body::Plain(method)));
    }
    fn add_method_once<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(&Lua, T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let to = self.full_name(&name);
        let method = move |args: Passed<'_>| {
            let converted = A::take_all(args.skip(1), Some((2, Some(&to))));
            let this = if args.len() == 0 {
                Err(Error::conversion("missing argument", "userdata"))
            } else {
                userdata_of::<T>(args.value(0))
            };
            let this = this.map_err(|e| bad_self(&to, e))?;
            if converted.is_err() {
                // The value stays where it is.
                this.borrow::<T>().map_err(|e| bad_self(&to, e))?;
            }
            let converted = converted?;
            let this = this.take::<T>().map_err(|e| bad_self(&to, e))?;
            method(args.lua, this, converted)?.pass_all(args.lua)
        };
        self.members.methods.push((name, Body::Plain(Rc::new(method))));
    }
    fn add_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let function = self.function(&name, function);
        self.members.methods.push((name, Body::Plain(function)));
    }
    fn add_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.add_function(name, once_at_a_time!(function));
    }
    fn add_meta_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let method = self.method(&name, method);
        self.members.meta_methods.push((name, Body::Plain(method)));
    }
    fn add_meta_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let method = self.method_mut(&name, method);
        self.members.meta_methods.push((name, Body::Plain(method)));
    }
    fn add_meta_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let function = self.function(&name, function);
        self.members.meta_methods.push((name, Body::Plain(function)));
    }
    fn add_meta_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.add_meta_function(name, once_at_a_time!(function));
    }

    async_methods! {
        add_async_method(UserDataRef<T>): |this| this.borrow(), methods;
        add_async_method_mut(UserDataRefMut<T>): |this| this.borrow_mut(), methods;
        add_async_method_once(T): |this| this.take(), methods;
        add_async_meta_method(UserDataRef<T>): |this| this.borrow(), meta_methods;
        add_async_meta_method_mut(UserDataRefMut<T>): |this| this.borrow_mut(), meta_methods;
    }
    async_functions! {
        add_async_function: methods;
        add_async_meta_function: meta_methods;
    }
}

/// Stands for a type without a value of it: see [`Lua::create_proxy`].
pub struct Proxy<T>(pub(super) PhantomData<fn() -> T>);

/// Types whose userdata have the fields and methods of another type.
macro_rules! as_inner {
    ($($(#[$attr:meta])* $t:ty)*) => {$(
        $(#[$attr])*
        impl<T: UserData + 'static> UserData for $t {
            fn register(registry: &mut UserDataRegistry<Self>) {
                let mut inner = UserDataRegistry::<T>::new();
                T::register(&mut inner);
                registry.members = Members { type_name: core::mem::take(&mut registry.members.type_name), ..inner.members };
            }
        }
    )*};
}
as_inner! {
    Proxy<T>
    Rc<T>
    Rc<RefCell<T>>
    Arc<T>
    Arc<std::sync::Mutex<T>>
    Arc<std::sync::RwLock<T>>
    #[cfg(feature = "userdata-wrappers")]
    Arc<parking_lot::Mutex<T>>
    #[cfg(feature = "userdata-wrappers")]
    Arc<parking_lot::RwLock<T>>
}
