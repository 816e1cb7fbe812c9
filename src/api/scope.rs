//! Functions and userdata that borrow from Rust code, and end with a scope.
#![allow(
    unsafe_code,
    reason = "what a scope lends has a shorter life than its handles: it is taken away before the scope ends, and handles find nothing then"
)]

use super::Lua;
use super::callback::{self, Closure};
use super::error::{Error, Result};
use super::function::Function;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::passing::Passed;
use super::userdata::cell::{BorrowFlag, Content, Payload, Scoped};
use super::userdata::{AnyUserData, UserData, UserDataRegistry};
use std::any::TypeId;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Makes functions and userdata that may borrow from what lives outside of the scope. See [`Lua::scope`].
///
/// ```
/// use perilune::Lua;
///
/// let lua = Lua::new();
/// let text = String::from("moon");
/// let len: usize = lua.scope(|scope| {
///     let len = scope.create_function(|_, ()| Ok(text.len()))?;
///     lua.load("local len = ... return len()").call(len)
/// })?;
/// assert_eq!(len, 4);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    lua: Lua,
    ends: RefCell<Vec<End<'env>>>,
    destructors: RefCell<Vec<Box<dyn FnOnce() + 'env>>>,
    /// Neither lifetime can be made shorter or longer.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

/// Takes a thing away from Lua code; the result is dropped when all of the scope are taken away.
type End<'env> = Box<dyn FnOnce() -> Box<dyn FnOnce() + 'env> + 'env>;

/// A closure of a scope.
type ScopeClosure<'a> = dyn Fn(Passed<'_>) -> Result<()> + 'a;
/// Where Lua code finds a closure of a scope; `None` when the scope has ended.
type Slot<'a> = Rc<RefCell<Option<Rc<ScopeClosure<'a>>>>>;

impl Lua {
    /// Runs `f` with a [`Scope`], whose functions and userdata may borrow from the stack. They end with the scope: functions raise
    /// [`Error::CallbackDestructed`] from then on, userdata [`Error::UserDataDestructed`].
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let mut seen = Vec::new();
    /// lua.scope(|scope| {
    ///     let note = scope.create_function_mut(|_, n: i64| {
    ///         seen.push(n);
    ///         Ok(())
    ///     })?;
    ///     lua.globals().set("note", note)?;
    ///     lua.load("for i = 1, 3 do note(i) end").exec()
    /// })?;
    /// assert_eq!(seen, [1, 2, 3]);
    /// assert!(lua.load("note(4)").exec().is_err());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// That of `f`.
    pub fn scope<'env, R>(&self, f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>) -> Result<R> {
        // The scope's functions and values need not be `Send`: no other thread uses the state before it ends.
        let _lock = self.0.lock();
        // Made now, so that nothing can fail when the scope ends.
        self.destructed_metatable()?;
        let scope = Scope {
            lua: self.clone(),
            ends: RefCell::default(),
            destructors: RefCell::default(),
            _scope: PhantomData,
            _env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
        // A panic of a destructor is the later one: the first goes on.
        let ended = scope.end();
        let result = result.unwrap_or_else(|panic| resume_unwind(panic));
        ended.unwrap_or_else(|panic| resume_unwind(panic));
        result
    }
}

impl<'scope, 'env: 'scope> Scope<'scope, 'env> {
    /// A Lua function that calls a Rust closure until the scope ends.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let names = vec!["Ada", "Bo"];
    /// lua.scope(|scope| {
    ///     let name = scope.create_function(|_, i: usize| Ok(names.get(i).copied()))?;
    ///     assert_eq!(name.call::<String>(1)?, "Bo");
    ///     Ok(())
    /// })?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_function<F, A, R>(&'scope self, f: F) -> Result<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + 'scope,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let closure: Rc<ScopeClosure<'scope>> =
            Rc::new(move |args| f(args.lua, A::take_all(args, Some((1, None)))?)?.pass_all(args.lua));
        let slot: Slot<'scope> = Rc::new(RefCell::new(Some(closure)));
        // SAFETY: the lifetime is that of the scope, whose end takes the closure out of the slot. No call of it runs then: calls made in the
        // scope return before the scope's function does.
        let slot: Slot<'static> = unsafe { core::mem::transmute(slot) };
        let called = Rc::clone(&slot);
        let closure: Rc<Closure> = Rc::new(move |args| {
            let closure = called.borrow().clone().ok_or(Error::CallbackDestructed)?;
            closure(args)
        });
        let function = Function(self.lua.handle(callback::new(&self.lua, closure)));
        self.at_end(Box::new(move || {
            let closure = slot.take();
            assert_unused(closure.as_ref().is_none_or(|c| Rc::strong_count(c) == 1));
            Box::new(move || drop(closure))
        }));
        self.lua.0.step()?;
        Ok(function)
    }
    /// The same for a closure that changes what it has captured. It fails with [`Error::RecursiveMutCallback`] when it is called while it runs.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut sum = 0;
    /// lua.scope(|scope| {
    ///     let add = scope.create_function_mut(|_, n: i32| {
    ///         sum += n;
    ///         Ok(())
    ///     })?;
    ///     lua.load("local add = ... add(1) add(2)").call::<()>(add)
    /// })?;
    /// assert_eq!(sum, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_function_mut<F, A, R>(&'scope self, f: F) -> Result<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + 'scope,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let f = RefCell::new(f);
        self.create_function(move |lua, args| (f.try_borrow_mut().map_err(|_| Error::RecursiveMutCallback)?)(lua, args))
    }
    /// A userdata for a value that is lent to be read.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Log(Vec<String>);
    /// impl UserData for Log {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_method("last", |_, this, ()| Ok(this.0.last().cloned()));
    ///     }
    /// }
    ///
    /// let (lua, log) = (Lua::new(), Log(vec!["started".into()]));
    /// lua.scope(|scope| {
    ///     lua.globals().set("log", scope.create_userdata_ref(&log)?)?;
    ///     lua.load("assert(log:last() == 'started')").exec()
    /// })?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_userdata`].
    pub fn create_userdata_ref<T: UserData + 'static>(&'scope self, data: &'env T) -> Result<AnyUserData> {
        // SAFETY: the data outlives the scope, and is only read.
        unsafe { self.lend((&raw const *data).cast_mut(), false, T::register) }
    }
    /// A userdata for a value that is lent to be changed.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Score(u32);
    /// impl UserData for Score {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_method_mut("win", |_, this, points: u32| Ok(this.0 += points));
    ///     }
    /// }
    ///
    /// let (lua, mut score) = (Lua::new(), Score(1));
    /// lua.scope(|scope| {
    ///     let score = scope.create_userdata_ref_mut(&mut score)?;
    ///     lua.load("local score = ... score:win(2)").call::<()>(score)
    /// })?;
    /// assert_eq!(score.0, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_userdata`].
    pub fn create_userdata_ref_mut<T: UserData + 'static>(&'scope self, data: &'env mut T) -> Result<AnyUserData> {
        // SAFETY: the data outlives the scope, which nobody else uses it in.
        unsafe { self.lend(data, true, T::register) }
    }
    /// A userdata for a value of any type that is lent to be read. See [`Lua::create_any_userdata`].
    ///
    /// ```
    /// let (lua, words) = (perilune::Lua::new(), vec!["a", "b"]);
    /// lua.scope(|scope| {
    ///     let words = scope.create_any_userdata_ref(&words)?;
    ///     assert_eq!(words.borrow_scoped(|words: &Vec<&str>| words.len())?, 2);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_any_userdata`].
    pub fn create_any_userdata_ref<T: 'static>(&'scope self, data: &'env T) -> Result<AnyUserData> {
        // SAFETY: the data outlives the scope, and is only read.
        unsafe { self.lend((&raw const *data).cast_mut(), false, |_| {}) }
    }
    /// A userdata for a value of any type that is lent to be changed.
    ///
    /// ```
    /// let (lua, mut words) = (perilune::Lua::new(), vec!["a"]);
    /// lua.scope(|scope| {
    ///     let words = scope.create_any_userdata_ref_mut(&mut words)?;
    ///     words.borrow_mut_scoped(|words: &mut Vec<&str>| words.push("b"))
    /// })?;
    /// assert_eq!(words, ["a", "b"]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_any_userdata`].
    pub fn create_any_userdata_ref_mut<T: 'static>(&'scope self, data: &'env mut T) -> Result<AnyUserData> {
        // SAFETY: the data outlives the scope, which nobody else uses it in.
        unsafe { self.lend(data, true, |_| {}) }
    }
    /// A userdata with a value that may borrow from outside of the scope. It has a metatable of its own, and Rust code cannot borrow the
    /// value from the [`AnyUserData`], since its type cannot be known at run time.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct View<'a>(&'a [i32]);
    /// impl UserData for View<'_> {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_method("sum", |_, this, ()| Ok(this.0.iter().sum::<i32>()));
    ///     }
    /// }
    ///
    /// let (lua, numbers) = (Lua::new(), [1, 2, 3]);
    /// lua.scope(|scope| {
    ///     let view = scope.create_userdata(View(&numbers))?;
    ///     assert_eq!(lua.load("local view = ... return view:sum()").call::<i32>(view)?, 6);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_userdata`].
    pub fn create_userdata<T: UserData + 'env>(&'scope self, data: T) -> Result<AnyUserData> {
        self.create_any_userdata(data, T::register)
    }
    /// The same for a type that does not implement [`UserData`]: `register` says what Lua code can do with the value.
    ///
    /// ```
    /// use perilune::{Lua, UserDataMethods, UserDataRegistry};
    ///
    /// let lua = Lua::new();
    /// let mut text = String::from("a");
    /// lua.scope(|scope| {
    ///     let out = scope.create_any_userdata(&mut text, |registry: &mut UserDataRegistry<&mut String>| {
    ///         registry.add_method_mut("write", |_, out, s: String| Ok(out.push_str(&s)));
    ///     })?;
    ///     lua.globals().set("out", out)?;
    ///     lua.load("out:write('b')").exec()
    /// })?;
    /// assert_eq!(text, "ab");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_userdata`].
    pub fn create_any_userdata<T: 'env>(
        &'scope self,
        data: T,
        register: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<AnyUserData> {
        let data = Owner(Box::into_raw(Box::new(data)));
        let value = Rc::new(Scoped { flag: BorrowFlag::default(), value: data.0.cast(), writable: true, type_id: None });
        // SAFETY: the value is the `T` just made.
        let mut registry = unsafe { UserDataRegistry::only(Rc::clone(&value)) };
        register(&mut registry);
        let meta = super::userdata::metatable_of(&self.lua, registry)?;
        let u = self.lua.new_userdata(Payload::new(Content::Scoped(Rc::clone(&value))), size_of::<T>(), meta.0.get())?;
        self.end_userdata(&u, value, Box::new(move || drop(data)));
        Ok(u)
    }
    /// Has a function called when the scope ends, after its functions and userdata have ended.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut ended = false;
    /// lua.scope(|scope| {
    ///     scope.add_destructor(|| ended = true);
    ///     Ok(())
    /// })?;
    /// assert!(ended);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn add_destructor(&'scope self, f: impl FnOnce() + 'env) {
        self.destructors.borrow_mut().push(Box::new(f));
    }

    /// # Safety
    /// The data lives as long as the scope; nobody writes to it meanwhile, and if it is `writable`, nobody else uses it.
    unsafe fn lend<T: 'static>(
        &'scope self,
        data: *mut T,
        writable: bool,
        register: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<AnyUserData> {
        let meta = self.lua.userdata_metatable::<T>(register)?;
        let type_id = Some(TypeId::of::<T>());
        let value = Rc::new(Scoped { flag: BorrowFlag::default(), value: data.cast(), writable, type_id });
        let u = self.lua.new_userdata(Payload::new(Content::Scoped(Rc::clone(&value))), 0, meta)?;
        self.end_userdata(&u, value, Box::new(|| {}));
        Ok(u)
    }
    fn end_userdata(&'scope self, u: &AnyUserData, value: Rc<Scoped>, drop_value: Box<dyn FnOnce() + 'env>) {
        let u = u.clone();
        self.at_end(Box::new(move || {
            // The metatable exists: this cannot fail.
            let _ = u.destruct();
            assert_unused(!value.flag.is_borrowed());
            drop_value
        }));
    }
    fn at_end(&self, end: End<'env>) {
        self.ends.borrow_mut().push(end);
    }
    /// Ends the scope. This is no `Drop`: values of the scope may use it while they are dropped.
    fn end(&self) -> std::thread::Result<()> {
        let mut result = Ok(());
        // A value may make functions and userdata of the scope while it is dropped.
        while !self.ends.borrow().is_empty() {
            // Lua code must have lost all values before the first goes, as values may panic when they are dropped, or use Lua.
            let taken: Vec<_> = self.ends.take().into_iter().map(|end| end()).collect();
            result = result.and(catch_unwind(AssertUnwindSafe(|| taken.into_iter().for_each(|drop_value| drop_value()))));
        }
        let destructors = self.destructors.take();
        result.and(catch_unwind(AssertUnwindSafe(|| destructors.into_iter().for_each(|f| f()))))
    }
}

/// Ends the process if a call still uses what ends with a scope: it would use freed memory.
fn assert_unused(unused: bool) {
    if !unused {
        eprintln!("a scope ends while its functions or userdata are in use");
        std::process::abort();
    }
}

/// Owns a value by its address, so that the address stays usable while the owner is moved.
struct Owner<T>(*mut T);

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        // SAFETY: of `Box::into_raw`.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
