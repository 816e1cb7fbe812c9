//! Userdata: borrow rules, destruction, scopes.

use perilune::{
    AnyUserData, Error, Function, Lua, MetaMethod, Result, UserData, UserDataFields, UserDataMethods, UserDataOwned, UserDataRef,
    UserDataRegistry, Value, Variadic,
};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

struct Counter {
    n: i64,
    dropped: Rc<Cell<u32>>,
}

impl Counter {
    fn new(n: i64) -> Counter {
        Counter { n, dropped: Rc::default() }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.dropped.set(self.dropped.get() + 1);
    }
}

impl UserData for Counter {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field("kind", "counter");
    }
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |_, this, ()| Ok(this.n));
        methods.add_method_mut("add", |_, this, n: i64| {
            this.n += n;
            Ok(this.n)
        });
        methods.add_method_mut("with", |_, this, f: Function| {
            this.n += 1;
            f.call::<Value>(this.n)
        });
        methods.add_method("reading", |_, _, f: Function| f.call::<Value>(()));
        methods.add_method_mut("panic", |_, _, ()| -> Result<()> { panic!("in a method") });
        methods.add_method_once("finish", |_, this, ()| Ok(this.n));
        methods.add_function("new", |_, n| Ok(Counter::new(n)));
        methods.add_meta_method(MetaMethod::Add, |_, this, n: i64| Ok(this.n + n));
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("counter at {}", this.n)));
    }
}

/// The innermost error of calls of Rust functions.
fn cause(e: &Error) -> &Error {
    match e {
        Error::CallbackError { cause, .. } => self::cause(cause),
        Error::BadArgument { cause, .. } => self::cause(cause),
        e => e,
    }
}

#[test]
fn a_type_without_computed_fields_has_an_index_table() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("c", Counter::new(1))?;
    lua.load("assert(c:get() == 1 and c:add(4) == 5 and c.kind == 'counter' and c + 1 == 6 and tostring(c) == 'counter at 5')")
        .exec()?;
    lua.load("assert(c.unknown == nil and getmetatable(c) == false)").exec()?;
    let c: AnyUserData = lua.globals().get("c")?;
    assert!(matches!(c.metatable()?.get::<Value>(MetaMethod::Index)?, Value::Table(_)));
    // All userdata of a type share one metatable.
    let d = lua.create_userdata(Counter::new(2))?;
    assert_eq!(c.metatable()?.get::<Value>("__index")?, d.metatable()?.get::<Value>("__index")?);
    Ok(())
}

/// A loop of method calls gives the same with and without compiled code.
#[test]
fn methods_in_hot_loops() -> Result<()> {
    for jit in [true, false] {
        let lua = Lua::new();
        lua.set_jit(jit);
        lua.globals().set("c", Counter::new(0))?;
        let sum: i64 = lua.load("local s = 0 for i = 1, 2000 do s = s + c:add(1) end return s").eval()?;
        assert_eq!(sum, 2_001_000);
    }
    Ok(())
}

#[test]
fn computed_fields_go_before_methods_and_the_index_function() -> Result<()> {
    let lua = Lua::new();
    lua.register_userdata_type::<RefCell<i64>>(|registry| {
        registry.add_field("fixed", 1);
        registry.add_field_method_get("value", |_, this| Ok(*this.borrow()));
        registry.add_field_method_set("value", |_, this, n: i64| {
            *this.get_mut() = n;
            Ok(())
        });
        registry.add_method("double", |_, this, ()| Ok(*this.borrow() * 2));
        registry.add_meta_method(MetaMethod::Index, |_, _, key: String| Ok(format!("no {key}")));
    })?;
    lua.globals().set("u", lua.create_any_userdata(RefCell::new(5i64))?)?;
    lua.load("for i = 1, 200 do u.value = i assert(u.value == i and u:double() == 2 * i and u.fixed == 1 and u.x == 'no x') end")
        .exec()?;
    let e = lua.load("u.x = 1").exec().unwrap_err();
    assert_eq!(e.message(), "attempt to set an unknown field 'x'");
    Ok(())
}

#[test]
fn borrows_are_refused_while_a_method_writes() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("c", Counter::new(1))?;
    let e = lua.load("c:with(function() return c:get() end)").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::UserDataBorrowError), "{e}");
    // The same mutable method runs already, for whichever userdata.
    let e = lua.load("c:with(function() return c:with(print) end)").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::RecursiveMutCallback), "{e}");
    let e = lua.load("c:with(function() return c:add(1) end)").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::UserDataBorrowMutError), "{e}");
    let e = lua.load("c:reading(function() return c:finish() end)").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::UserDataBorrowMutError), "{e}");
    // All borrows have ended.
    assert_eq!(lua.load("c:finish()").eval::<i64>()?, 4);
    let e = lua.load("return c + 1").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::UserDataDestructed), "{e}");
    Ok(())
}

#[test]
fn a_panic_ends_the_borrow() -> Result<()> {
    let lua = Lua::new();
    let c = lua.create_userdata(Counter::new(1))?;
    lua.globals().set("c", &c)?;
    assert!(catch_unwind(AssertUnwindSafe(|| lua.load("c:panic()").exec())).is_err());
    assert_eq!(lua.load("c:add(1)").eval::<i64>()?, 2);
    Ok(())
}

#[test]
fn references_keep_the_value_but_not_the_userdata() -> Result<()> {
    let lua = Lua::new();
    let counter = Counter::new(7);
    let dropped = Rc::clone(&counter.dropped);
    let c = lua.create_userdata(counter)?;
    let r: UserDataRef<Counter> = c.borrow()?;
    assert!(matches!(c.take::<Counter>(), Err(Error::UserDataBorrowMutError)));
    c.destroy()?;
    assert!(matches!(c.destroy(), Err(Error::UserDataDestructed)));
    drop((c, lua));
    assert_eq!((r.n, dropped.get()), (7, 0));
    drop(r);
    assert_eq!(dropped.get(), 1);
    Ok(())
}

#[test]
fn userdata_of_another_state_are_refused() -> Result<()> {
    let (lua, other) = (Lua::new(), Lua::new());
    let c = other.create_userdata(Counter::new(1))?;
    assert!(matches!(lua.globals().set("c", c), Err(Error::ForeignValue { .. })));
    Ok(())
}

/// A value whose `Drop` calls Lua and uses the scope it belongs to.
struct Meddler<'scope, 'env>(&'scope perilune::Scope<'scope, 'env>, Lua, Rc<Cell<u32>>);

impl Drop for Meddler<'_, '_> {
    fn drop(&mut self) {
        let seen = Rc::clone(&self.2);
        let late = self.0.create_function(move |_, ()| {
            seen.set(seen.get() + 1);
            Ok(())
        });
        let late = late.expect("memory is not limited");
        late.call::<()>(()).expect("the scope still makes functions");
        self.1.globals().set("late", late).expect("globals can be set");
        self.1.gc_collect().expect("a full collection");
    }
}

#[test]
fn values_of_a_scope_may_use_it_when_they_are_dropped() -> Result<()> {
    let lua = Lua::new();
    let seen = Rc::new(Cell::new(0));
    lua.scope(|scope| {
        let meddler = Meddler(scope, lua.clone(), Rc::clone(&seen));
        let f = scope.create_function(move |_, ()| {
            let _ = &meddler;
            Ok(())
        })?;
        f.call::<()>(())
    })?;
    assert_eq!(seen.get(), 1);
    // What was made while the scope ended has ended as well.
    assert_eq!(Rc::strong_count(&seen), 1);
    let e = lua.load("late()").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::CallbackDestructed), "{e}");
    Ok(())
}

#[test]
fn a_scope_ends_also_by_a_panic() -> Result<()> {
    let lua = Lua::new();
    let counter = Counter::new(0);
    let dropped = Rc::clone(&counter.dropped);
    let result = catch_unwind(AssertUnwindSafe(|| {
        lua.scope(|scope| -> Result<()> {
            lua.globals().set("c", scope.create_userdata(counter)?)?;
            panic!("inside");
        })
    }));
    assert!(result.is_err());
    assert_eq!(dropped.get(), 1);
    let e = lua.load("c:get()").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::UserDataDestructed), "{e}");
    Ok(())
}

#[test]
fn lent_values_cannot_be_taken() -> Result<()> {
    let lua = Lua::new();
    let mut text = String::from("a");
    lua.scope(|scope| {
        let u = scope.create_any_userdata_ref_mut(&mut text)?;
        assert!(matches!(u.borrow::<String>(), Err(Error::UserDataTypeMismatch)));
        assert!(matches!(u.take::<String>(), Err(Error::UserDataTypeMismatch)));
        assert!(matches!(u.destroy(), Err(Error::UserDataBorrowMutError)));
        u.borrow_mut_scoped::<String, _>(|s| {
            assert!(matches!(u.borrow_scoped::<String, _>(|_| ()), Err(Error::UserDataBorrowError)));
            s.push('b');
        })
    })?;
    assert_eq!(text, "ab");
    Ok(())
}

/// Methods of a value that is not `'static` are for this value only, also when another one has the same type.
#[test]
fn methods_of_a_scope_are_for_one_value() -> Result<()> {
    let lua = Lua::new();
    let (a, b) = (Cell::new(1), Cell::new(2));
    let register = |registry: &mut UserDataRegistry<&Cell<i32>>| {
        registry.add_method("get", |_, this, ()| Ok(this.get()));
    };
    lua.scope(|scope| {
        lua.globals().set("a", scope.create_any_userdata(&a, register)?)?;
        lua.globals().set("b", scope.create_any_userdata(&b, register)?)?;
        assert_eq!(lua.load("return a:get(), b:get()").eval::<(i32, i32)>()?, (1, 2));
        let e = lua.load("a.get(b)").exec().unwrap_err();
        assert!(matches!(cause(&e), Error::UserDataTypeMismatch), "{e}");
        Ok(())
    })
}

#[test]
fn wrapped_values_are_used_as_the_values() -> Result<()> {
    let lua = Lua::new();
    let shared = Rc::new(RefCell::new(Counter::new(1)));
    lua.globals().set("c", Rc::clone(&shared))?;
    assert_eq!(lua.load("c:add(1)").eval::<i64>()?, 2);
    let writing = shared.borrow_mut();
    let e = lua.load("c:get()").exec().unwrap_err();
    assert!(matches!(cause(&e), Error::UserDataBorrowError), "{e}");
    drop(writing);
    let c: AnyUserData = lua.globals().get("c")?;
    let reading = c.borrow::<Counter>()?;
    assert!(shared.try_borrow_mut().is_err());
    drop(reading);
    assert!(shared.try_borrow_mut().is_ok());
    Ok(())
}

/// A method that takes the value leaves it where it is, if it is not called because of another argument.
#[test]
fn a_wrong_argument_takes_nothing() -> Result<()> {
    struct Order(i32);
    impl UserData for Order {
        fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
            methods.add_method_once("finish", |_, order, x: i32| Ok(order.0 + x));
        }
    }
    let lua = Lua::new();
    lua.globals().set("o", Order(1))?;
    assert!(!lua.load("return (pcall(o.finish, o, 'x'))").eval::<bool>()?);
    assert_eq!(lua.load("return o:finish(2)").eval::<i32>()?, 3);
    assert!(!lua.load("return (pcall(function() return o:finish(2) end))").eval::<bool>()?);
    Ok(())
}

/// The same for functions, whichever of the arguments is wrong.
#[test]
fn a_wrong_argument_takes_no_argument() -> Result<()> {
    type Owned = UserDataOwned<i32>;
    let lua = Lua::new();
    let (a, b) = (lua.create_any_userdata(1)?, lua.create_any_userdata(2)?);
    let two = lua.create_function(|_, (a, n): (Owned, i32)| Ok(a.0 + n))?;
    let three = lua.create_function(|_, (a, b, c): (Owned, Option<Owned>, Owned)| Ok(a.0 + b.map_or(0, |b| b.0) + c.0))?;
    let e = two.call::<i32>((&a, "x")).unwrap_err();
    assert!(e.to_string().contains("bad argument #2"), "{e}");
    let e = three.call::<i32>((&a, Value::Nil, 1)).unwrap_err();
    assert!(e.to_string().contains("bad argument #3"), "{e}");
    let e = three.call::<i32>((&a, true, &b)).unwrap_err();
    assert!(e.to_string().contains("bad argument #2"), "{e}");
    let borrowed = b.borrow::<i32>()?;
    assert!(three.call::<i32>((&a, Value::Nil, &b)).is_err());
    drop(borrowed);
    assert!(lua.create_function(|_, all: Variadic<Owned>| Ok(all.len()))?.call::<usize>((&a, &b, 1)).is_err());
    assert_eq!(three.call::<i32>((&a, Value::Nil, &b))?, 3);
    assert!(matches!(a.borrow::<i32>(), Err(Error::UserDataDestructed)));
    Ok(())
}

/// A value of the type itself among the fields of a type.
#[derive(Clone)]
struct Vector(f64);

impl UserData for Vector {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field("ZERO", Vector(0.));
        fields.add_field_method_get("x", |_, this| Ok(this.0));
        fields.add_meta_field("one", Vector(1.));
        fields.add_meta_field_with("type", |lua| lua.create_proxy::<Vector>());
    }
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Unm, |_, this, ()| Ok(Vector(-this.0)));
    }
}

#[test]
fn a_type_has_values_of_itself() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("v", Vector(2.))?;
    assert_eq!(lua.load("return (-v).x, v.ZERO.x, v.ZERO.ZERO.x").eval::<(f64, f64, f64)>()?, (-2., 0., 0.));
    let meta = lua.globals().get::<AnyUserData>("v")?.metatable()?;
    assert_eq!(meta.get::<UserDataRef<Vector>>("one")?.0, 1.);
    assert_eq!(lua.load("return (...).ZERO.x").call::<f64>(meta.get::<Value>("type")?)?, 0.);
    lua.register_userdata_type::<u8>(|registry| registry.add_field("next", AnyUserData::wrap(1_u8)))?;
    assert!(lua.load("local n = ... return n.next.next == n.next").call::<bool>(AnyUserData::wrap(0_u8))?);
    Ok(())
}

/// A registration that fails leaves what was known of the type.
#[test]
fn a_failed_registration_changes_nothing() -> Result<()> {
    let lua = Lua::new();
    let registered = |error: &'static str| {
        lua.register_userdata_type::<u8>(|registry| {
            registry.add_field("name", error);
            registry.add_meta_field_with("other", move |_| match error {
                "" => Ok(1),
                "panic" => panic!("in a conversion"),
                error => Err(Error::runtime(error)),
            });
        })
    };
    let name = || lua.load("return (...).name").call::<Option<String>>(AnyUserData::wrap(0_u8));
    assert!(registered("first").is_err());
    assert!(name().is_err(), "the type has no fields");
    registered("")?;
    assert!(registered("second").is_err());
    assert_eq!(name()?.as_deref(), Some(""));
    assert!(catch_unwind(AssertUnwindSafe(|| registered("panic"))).is_err());
    assert_eq!(name()?.as_deref(), Some(""));
    Ok(())
}
