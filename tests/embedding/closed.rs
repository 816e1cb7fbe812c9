//! Handles whose state is closed: methods with a `Result` give an error that names them, others panic as mlua's do.

use perilune::{
    AnyUserData, Error, Function, HookTriggers, IntoLua, Lua, LuaString, ObjectLike, Result, Table, Thread, UserDataMetatable,
    Value, VmState,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Handles of a closed state.
struct Closed {
    string: LuaString,
    table: Table,
    function: Function,
    thread: Thread,
    userdata: AnyUserData,
    metatable: UserDataMetatable,
    other: Value,
}

fn closed() -> Closed {
    let lua = Lua::new();
    let (weak, interrupt) = (lua.weak(), lua.interrupt_handle());
    let function: Function = lua.load("return ...").into_function().expect("a function");
    let userdata = lua.create_any_userdata(7_i32).expect("a userdata");
    let closed = Closed {
        string: lua.create_string("12").expect("a string"),
        table: lua.create_table_from([("x", 1)]).expect("a table"),
        thread: lua.create_thread(function.clone()).expect("a coroutine"),
        metatable: userdata.metatable().expect("a metatable"),
        other: lua.load("return newproxy()").eval().expect("a value"),
        function,
        userdata,
    };
    drop(lua);
    assert!(weak.try_upgrade().is_none() && !interrupt.interrupt());
    closed
}

/// The method that the error names.
#[track_caller]
fn named<T>(result: Result<T>) -> &'static str {
    match result {
        Err(Error::StateClosed { used }) => used,
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("the state is closed"),
    }
}

macro_rules! check {
    ($($name:literal: $result:expr;)*) => {$( assert_eq!(named($result), $name); )*};
}

#[test]
fn methods_of_tables_name_themselves() {
    let Closed { table: t, .. } = closed();
    check! {
        "Table::get": t.get::<i32>("x");
        "Table::set": t.set("x", 1);
        "Table::contains_key": t.contains_key("x");
        "Table::equals": t.equals(&t);
        "Table::len": t.len();
        "Table::push": t.push(1);
        "Table::pop": t.pop::<i32>();
        "Table::raw_get": t.raw_get::<i32>("x");
        "Table::raw_set": t.raw_set("x", 1);
        "Table::raw_seti": t.raw_seti(1, 1);
        "Table::raw_insert": t.raw_insert(1, 1);
        "Table::raw_push": t.raw_push(1);
        "Table::raw_pop": t.raw_pop::<i32>();
        "Table::raw_remove": t.raw_remove(1);
        "Table::clear": t.clear();
        "Table::set_metatable": t.set_metatable(None);
        "TablePairs::next": t.for_each(|_: Value, _: Value| Ok(()));
        "TableSequence::next": t.for_each_value(|_: Value| Ok(()));
        "ObjectLike::get": ObjectLike::get::<i32>(&t, "x");
        "ObjectLike::set": ObjectLike::set(&t, "x", 1);
        "ObjectLike::call": t.call::<()>(());
        "ObjectLike::call_method": t.call_method::<()>("f", ());
        "ObjectLike::call_function": t.call_function::<()>("f", ());
        "ObjectLike::get_path": t.get_path::<i32>(".x");
    }
    // An iterator ends after its error.
    assert_eq!(t.pairs::<Value, Value>().count(), 1);
    assert_eq!(t.sequence_values::<Value>().count(), 1);
}

#[test]
fn methods_of_other_handles_name_themselves() {
    let Closed { string, function: f, thread, userdata: u, metatable: meta, other, table } = closed();
    check! {
        "LuaString::to_str": string.to_str();
        "Function::call": f.call::<()>(());
        "Function::bind": f.bind(1);
        "Function::set_environment": f.set_environment(table.clone());
        "Function::deep_clone": f.deep_clone();
        "Thread::resume": thread.resume::<()>(());
        "Thread::resume_error": thread.resume_error::<()>("e");
        "Thread::reset": thread.reset(f.clone());
        "Thread::set_hook": thread.set_hook(HookTriggers::EVERY_LINE, |_, _| Ok(VmState::Continue));
        "AnyUserData::borrow": u.borrow::<i32>();
        "AnyUserData::borrow_mut": u.borrow_mut::<i32>();
        "AnyUserData::borrow_scoped": u.borrow_scoped(|n: &i32| *n);
        "AnyUserData::borrow_mut_scoped": u.borrow_mut_scoped(|n: &mut i32| *n);
        "AnyUserData::take": u.take::<i32>();
        "AnyUserData::destroy": u.destroy();
        "AnyUserData::set_nth_user_value": u.set_user_value(1);
        "AnyUserData::nth_user_value": u.user_value::<i32>();
        "AnyUserData::set_named_user_value": u.set_named_user_value("x", 1);
        "AnyUserData::named_user_value": u.named_user_value::<i32>("x");
        "AnyUserData::metatable": u.metatable();
        "AnyUserData::type_name": u.type_name();
        "ObjectLike::get": u.get::<i32>("x");
        "ObjectLike::to_string": u.to_string();
        "Value::to_string": other.to_string();
        "UserDataMetatable::get": meta.get::<Value>("__name");
        "UserDataMetatable::set": meta.set("__name", 1);
        "UserDataMetatable::contains": meta.contains("__name");
        "TablePairs::next": meta.pairs::<Value>().next().expect("an error");
    }
    let values =
        [Value::String(string), Value::Table(table), Value::Function(f), Value::Thread(thread), Value::UserData(u), other];
    for v in &values {
        check! {
            "Value::to_string": v.to_string();
            "Value::equals": v.equals(v);
            "Value::equals": v.equals(&Value::Nil);
            "Value::equals": Value::Nil.equals(v);
        }
    }
}

/// Where a handle of a closed state is given to another one.
#[test]
fn values_of_closed_states_are_foreign() {
    let closed = closed();
    let lua = Lua::new();
    let mine = lua.create_table().expect("a table");
    let what = closed.table.into_lua(&lua).expect("a value");
    let string = Value::String(closed.string);
    for v in [what, Value::Function(closed.function), string.clone()] {
        let results = [
            mine.set("x", v.clone()),
            mine.raw_set(v.clone(), 1),
            lua.globals().set(v.clone(), 1),
            lua.load("return ...").call::<()>(v.clone()),
            lua.create_registry_value(v).map(drop),
        ];
        for result in results {
            assert!(matches!(result, Err(Error::ForeignValue { what: "value" })), "{result:?}");
        }
    }
    check! {
        "LuaString::to_str": lua.unpack::<String>(string.clone());
        "FromLua::from_lua": lua.unpack::<i32>(string.clone());
        "FromLua::from_lua": lua.unpack::<f64>(string.clone());
        "FromLua::from_lua": lua.unpack::<std::path::PathBuf>(string.clone());
        "FromLua::from_lua": lua.coerce_number(string);
        "AnyUserData::borrow": lua.unpack::<perilune::UserDataRef<i32>>(Value::UserData(closed.userdata));
    }
    let text = Error::StateClosed { used: "Table::get" }.to_string();
    assert_eq!(text, "Lua instance is destroyed: Table::get was called with a handle of it");
}

#[test]
fn methods_without_a_result_panic() {
    let Closed { table: t, string, function, thread, .. } = closed();
    let uses: [(&str, &dyn Fn()); 6] = [
        ("raw_len", &|| _ = t.raw_len()),
        ("metatable", &|| drop(t.metatable())),
        ("as_bytes", &|| drop(string.as_bytes())),
        ("info", &|| drop(function.info())),
        ("status", &|| _ = thread.status()),
        ("weak_lua", &|| drop(ObjectLike::weak_lua(&t).upgrade())),
    ];
    for (name, using) in uses {
        let panic = catch_unwind(AssertUnwindSafe(using)).expect_err(name);
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
        assert!(text.is_some_and(|t| t.contains("Lua instance is destroyed")), "{name}");
    }
    // To copy and drop a handle needs no state.
    drop(t.clone());
}

/// Handles, and what holds them, are shown with and without a state, on one line and with their content.
#[test]
fn handles_are_shown() {
    let Closed { string, table, function, thread, userdata, metatable, other } = closed();
    assert_eq!(format!("{string:?} {string:#?} {}", string.display()), ["<closed state>"; 3].join(" "));
    assert_eq!(format!("{table:?} {table:#?}"), "Table(Ref(<closed state>)) table: <closed state>");
    assert_eq!(format!("{function:?}"), "Function(Ref(<closed state>))");
    assert_eq!(format!("{thread:?}"), "Thread(Ref(<closed state>))");
    assert_eq!(format!("{userdata:?} {userdata:#?}"), "AnyUserData(Ref(<closed state>)) userdata: <closed state>");
    assert_eq!(format!("{metatable:?}"), "UserDataMetatable(Table(Ref(<closed state>)))");
    let all = perilune::MultiValue::from_iter([Value::String(string.clone()), Value::Nil]);
    assert_eq!(format!("{all:?}"), "MultiValue([String(<closed state>), Nil])");
    let values = [
        (Value::String(string), "String(<closed state>)", "string: <closed state>"),
        (Value::Table(table), "Table(Ref(<closed state>))", "table: <closed state>"),
        (Value::Function(function), "Function(Ref(<closed state>))", "function: <closed state>"),
        (Value::Thread(thread), "Thread(Ref(<closed state>))", "thread: <closed state>"),
        (Value::UserData(userdata), "AnyUserData(Ref(<closed state>))", "userdata: <closed state>"),
        (other, "AnyUserData(Ref(<closed state>))", "userdata: <closed state>"),
    ];
    for (v, flat, pretty) in values {
        assert!(format!("{v:?}").contains(flat), "{v:?}");
        assert_eq!(format!("{v:#?}"), pretty);
    }
}

/// A handle is equal to its clones alone when the state is closed.
#[test]
fn handles_are_compared() {
    let (first, second) = (closed(), closed());
    let open = Lua::new();
    let text = open.create_string("text").expect("a string");
    assert_eq!(first.string, first.string.clone());
    assert_ne!(first.string, second.string);
    assert_ne!(first.string, text);
    assert_ne!(first.string, "text");
    assert_eq!(first.table, first.table.clone());
    assert_ne!(first.table, second.table);
    assert_ne!(first.table, open.create_table().expect("a table"));
    assert_eq!(first.function, first.function.clone());
    assert_eq!(first.thread, first.thread.clone());
    assert_eq!(first.userdata, first.userdata.clone());
    assert_ne!(first.userdata, second.userdata);
    assert_eq!(first.other, first.other.clone());
    assert_ne!(Value::String(first.string), Value::Table(first.table));

    let lua = Lua::new();
    let (t, table, string) = (lua.create_table(), lua.create_table(), lua.create_string("text"));
    let (t, table, string) = (t.expect("a table"), table.expect("a table"), string.expect("a string"));
    let other = lua.create_string("text").expect("a string");
    assert_ne!(t, table);
    assert_eq!(string, other);
    assert_eq!(string, "text");
    drop(lua);
    assert_ne!(t, table);
    assert_ne!(string, other);
    assert_ne!(string, "text");
}

/// A value that is dropped when its state is closed, and uses a handle of it then.
#[test]
fn handles_used_while_the_state_is_closed() {
    struct User(std::rc::Rc<std::cell::RefCell<Vec<Error>>>, Table);
    impl Drop for User {
        fn drop(&mut self) {
            self.0.borrow_mut().extend(self.1.set("x", 1).err());
        }
    }
    let errors = std::rc::Rc::default();
    let lua = Lua::new();
    let t = lua.create_table().expect("a table");
    let user = lua.create_any_userdata(User(std::rc::Rc::clone(&errors), t)).expect("a userdata");
    drop((lua, user));
    assert!(matches!(errors.borrow()[..], [Error::StateClosed { used: "Table::set" }]), "{errors:?}");
}

#[cfg(feature = "async")]
#[test]
fn futures_name_what_was_called() {
    use futures_core::Stream;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    let Closed { function, thread, table, .. } = closed();
    let mut context = Context::from_waker(Waker::noop());
    let mut poll = |future: perilune::function::AsyncCallFuture<()>| match pin!(future).poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the state is closed"),
    };
    check! {
        "Function::call_async": poll(function.call_async(()));
        "ObjectLike::call_async": poll(table.call_async(()));
        "ObjectLike::call_async_method": poll(table.call_async_method("f", ()));
        "ObjectLike::call_async_function": poll(table.call_async_function("f", ()));
        "Thread::into_async": thread.into_async::<()>(()).map(drop);
    }
    // The state is closed after the future was made.
    let made = || {
        let lua = Lua::new();
        let thread = lua.create_thread(lua.load("return 1").into_function().expect("a function")).expect("a coroutine");
        thread.into_async::<i32>(()).expect("a future")
    };
    assert!(matches!(pin!(made()).poll(&mut context), Poll::Ready(Err(Error::StateClosed { used: "AsyncThread::poll" }))));
    let mut stream = pin!(made());
    let first = stream.as_mut().poll_next(&mut context);
    assert!(matches!(first, Poll::Ready(Some(Err(Error::StateClosed { used: "AsyncThread::poll_next" })))));
    assert!(matches!(stream.as_mut().poll_next(&mut context), Poll::Ready(None)));
}

#[cfg(feature = "serde")]
#[test]
fn serde_names_what_was_called() {
    use perilune::LuaSerdeExt;
    use serde::Deserialize;
    use serde_json::Value as Json;

    let Closed { string, table, userdata, function, .. } = closed();
    let values = [Value::String(string), Value::Table(table), Value::UserData(userdata), Value::Function(function)];
    for v in values {
        let text = serde_json::to_string(&v).expect_err("the state is closed").to_string();
        assert!(text.contains("Serialize::serialize was called"), "{text}");
        check! {
            "Deserializer::deserialize": Json::deserialize(perilune::serde::Deserializer::new(v.clone()));
            "Deserializer::deserialize": Lua::new().from_value::<Json>(v.clone());
        }
        if !matches!(v, Value::String(_)) {
            check! {
                "Deserializer::deserialize": Vec::<i32>::deserialize(perilune::serde::Deserializer::new(v.clone()));
                "Deserializer::deserialize": Lua::new().from_value::<std::collections::BTreeMap<String, i32>>(v);
            }
        }
    }
}
