// The operations: those of mlua's own benchmarks, and calls out of loops of Lua code. Compiled twice: `mlua` is mlua, or Perilune.

use crate::measure::Row;
use mlua::{
    Function, Lua, LuaOptions, LuaSerdeExt, LuaString, MetaMethod, StdLib, Table, UserData, UserDataFields, UserDataMethods,
    UserDataRegistry, Value,
};
use std::cell::Cell;
use std::rc::Rc;

/// Collects what the batches before have left.
fn collect(lua: &Lua) -> impl Fn() + 'static {
    let lua = lua.clone();
    move || {
        lua.gc_collect().unwrap();
        lua.gc_collect().unwrap();
    }
}

/// Counts.
fn counter() -> impl FnMut() -> usize + 'static {
    let n = Cell::new(0);
    move || n.replace(n.get() + 1)
}

fn nothing() {}

pub fn rows() -> Vec<Row> {
    let mut rows = tables();
    rows.extend(functions());
    rows.extend(registry());
    rows.extend(userdata());
    rows.extend(asynchronous());
    rows.extend(data());
    rows.extend(loops());
    rows
}

fn tables() -> Vec<Row> {
    let lua = Lua::new();
    let l = lua.clone();
    let create_empty = Row::new("table [create empty]", collect(&lua), nothing, move |()| drop(l.create_table().unwrap()));
    let l = lua.clone();
    let create_array = Row::new("table [create array]", collect(&lua), nothing, move |()| drop(l.create_sequence_from(1..=10).unwrap()));
    let l = lua.clone();
    let create_hash = Row::new("table [create hash]", collect(&lua), nothing, move |()| {
        let names = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
        drop(l.create_table_from(names.into_iter().map(|s| (s, s))).unwrap())
    });
    let l = lua.clone();
    let get_set = Row::new("table [get and set]", collect(&lua), move || l.create_table().unwrap(), |table| {
        for (i, s) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].into_iter().enumerate() {
            table.raw_set(s, i).unwrap();
            assert_eq!(table.raw_get::<usize>(s).unwrap(), i);
        }
    });
    let l = lua.clone();
    let pairs = Row::new("table [traversal pairs]", nothing, move || l.globals(), |globals| {
        for pair in globals.pairs::<String, Value>() {
            let (_k, _v) = pair.unwrap();
        }
    });
    let l = lua.clone();
    let for_each = Row::new("table [traversal for_each]", nothing, move || l.globals(), |globals| {
        globals.for_each::<String, Value>(|_, _| Ok(())).unwrap()
    });
    let sequence = lua.create_sequence_from(1..1000).unwrap();
    let sequence = Row::new("table [traversal sequence]", nothing, move || sequence.clone(), |table| {
        for v in table.sequence_values::<i32>() {
            let _i = v.unwrap();
        }
    });
    let table = lua.create_table().unwrap();
    let clone = Row::new("table [ref clone]", collect(&lua), nothing, move |()| drop(table.clone()));
    vec![create_empty, create_array, create_hash, get_set, pairs, for_each, sequence, clone]
}

fn functions() -> Vec<Row> {
    let lua = Lua::new();
    let l = lua.clone();
    let create = Row::new("function [create Rust]", collect(&lua), nothing, move |()| drop(l.create_function(|_, ()| Ok(123)).unwrap()));
    let sum = lua.create_function(|_, (a, b, c): (i64, i64, i64)| Ok(a + b - c)).unwrap();
    let lua_sum: Function = lua.load("function(a, b, c) return a + b - c end").eval().unwrap();
    let call = |name, f: Function| {
        Row::new(name, collect(&lua), nothing, move |()| assert_eq!(f.call::<i64>((10, 20, 30)).unwrap(), 0))
    };
    let (rust_sum, lua_sum) = (call("function [call Rust sum]", sum), call("function [call Lua sum]", lua_sum));
    let concat = lua
        .create_function(|_, (a, b): (LuaString, LuaString)| Ok(format!("{}{}", a.to_str()?, b.to_str()?)))
        .unwrap();
    let lua_concat: Function = lua.load("function(a, b) return a .. b end").eval().unwrap();
    let call = |name, f: Function| {
        Row::new(name, collect(&lua), counter(), move |i| {
            assert_eq!(f.call::<LuaString>(("num:", i)).unwrap(), format!("num:{i}"));
        })
    };
    let rust_concat = call("function [call Rust concat string]", concat);
    let lua_concat = call("function [call Lua concat string]", lua_concat);
    vec![create, rust_sum, lua_sum, rust_concat, lua_concat]
}

fn registry() -> Vec<Row> {
    let lua = Lua::new();
    lua.gc_stop();
    let l = lua.clone();
    let create = Row::new("registry value [create]", collect(&lua), nothing, move |()| l.create_registry_value("hello").unwrap());
    let value = lua.create_registry_value("hello").unwrap();
    let l = lua.clone();
    let get = Row::new("registry value [get]", collect(&lua), nothing, move |()| {
        assert_eq!(l.registry_value::<LuaString>(&value).unwrap(), "hello");
    });
    vec![create, get]
}

struct Plain(#[allow(unused, reason = "only made")] i64);
impl UserData for Plain {}

struct Indexed;
impl UserData for Indexed {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, key: LuaString| Ok(key));
    }
}

struct Adds(i64);
impl UserData for Adds {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("add", |_, this, i: i64| Ok(this.0 + i));
        methods.add_async_method("add_later", |_, this, i: i64| async move {
            tokio::task::yield_now().await;
            Ok(this.0 + i)
        });
    }
}

/// Its methods are behind an `__index` function.
struct Complex(u64);
impl UserData for Complex {
    fn register(registry: &mut UserDataRegistry<Self>) {
        registry.add_field_method_get("val", |_, this| Ok(this.0));
        registry.add_field_method_set("val", |_, this, v: u64| {
            this.0 = v;
            Ok(())
        });
        registry.add_method_mut("inc_by", |_, this, by: u64| {
            this.0 += by;
            Ok(this.0)
        });
    }
}

fn userdata() -> Vec<Row> {
    let lua = Lua::new();
    let l = lua.clone();
    let create = Row::new("userdata [create]", collect(&lua), nothing, move |()| drop(l.create_userdata(Plain(123)).unwrap()));
    let ud = lua.create_userdata(Indexed).unwrap();
    let index: Function = lua.load("function(ud) return ud.test end").eval().unwrap();
    let index = Row::new("userdata [call index]", collect(&lua), nothing, move |()| {
        assert_eq!(index.call::<LuaString>(&ud).unwrap(), "test");
    });
    let ud = lua.create_userdata(Adds(123)).unwrap();
    let method: Function = lua.load("function(ud, i) return ud:add(i) end").eval().unwrap();
    let method = Row::new("userdata [call method]", collect(&lua), counter(), move |i| {
        assert_eq!(method.call::<usize>((&ud, i)).unwrap(), 123 + i);
    });
    let ud = lua.create_userdata(Complex(0)).unwrap();
    let complex: Function = lua.load("function(ud, s) return ud:inc_by(s) end").eval().unwrap();
    let complex = Row::new("userdata [call method complex]", collect(&lua), nothing, move |()| complex.call::<()>((&ud, 1)).unwrap());
    vec![create, index, method, complex]
}

fn asynchronous() -> Vec<Row> {
    let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().thread_pool_size(1024)).unwrap();
    let runtime = Rc::new(tokio::runtime::Builder::new_current_thread().build().unwrap());
    let sum = lua
        .create_async_function(|_, (a, b, c): (i64, i64, i64)| async move {
            tokio::task::yield_now().await;
            Ok(a + b - c)
        })
        .unwrap();
    let ready = lua.create_async_function(|_, (a, b): (f64, f64)| async move { Ok(a * b + 1.0) }).unwrap();
    let rt = Rc::clone(&runtime);
    let ready_once = {
        let ready = ready.clone();
        Row::new("function [async call, ready]", collect(&lua), nothing, move |()| {
            assert_eq!(rt.block_on(ready.call_async::<f64>((10, 20))).unwrap(), 201.0);
        })
    };
    let rt = Rc::clone(&runtime);
    let in_a_loop: Function = lua.load("function(f) local s = 0 for i = 1, 1000 do s = f(s % 7, i) end return s end").eval().unwrap();
    let ready_in_a_loop = Row::new("loop [async call, ready]", collect(&lua), nothing, move |()| {
        rt.block_on(in_a_loop.call_async::<f64>(&ready)).unwrap();
    });
    let rt = Rc::clone(&runtime);
    let sum = Row::new("function [async call Rust sum]", collect(&lua), nothing, move |()| {
        assert_eq!(rt.block_on(sum.call_async::<i64>((10, 20, 30))).unwrap(), 0);
    });
    let ud = lua.create_userdata(Adds(123)).unwrap();
    let method: Function = lua.load("function(ud, i) return ud:add_later(i) end").eval().unwrap();
    let method = Row::new("userdata [async call method]", collect(&lua), counter(), move |i| {
        assert_eq!(runtime.block_on(method.call_async::<usize>((&ud, i))).unwrap(), 123 + i);
    });
    vec![sum, method, ready_once, ready_in_a_loop]
}

fn data() -> Vec<Row> {
    let lua = Lua::new();
    let encode = lua.create_function(|_, t: Value| Ok(serde_json::to_string(&t).unwrap())).unwrap();
    let table: Table = lua
        .load(
            r#"{
                name = "Clark Kent",
                address = { city = "Smallville", state = "Kansas", country = "USA" },
                age = 22,
                parents = { "Jonathan Kent", "Martha Kent" },
                superman = true,
                interests = { "flying", "saving the world", "kryptonite" },
            }"#,
        )
        .eval()
        .unwrap();
    let encode = Row::new("serialize json", collect(&lua), nothing, move |()| drop(encode.call::<LuaString>(&table).unwrap()));
    let decode = lua
        .create_function(|lua, s: String| lua.to_value(&serde_json::from_str::<serde_json::Value>(&s).unwrap()))
        .unwrap();
    let json = r#"{
        "name": "Clark Kent",
        "address": { "city": "Smallville", "state": "Kansas", "country": "USA" },
        "age": 22,
        "parents": ["Jonathan Kent", "Martha Kent"],
        "superman": true,
        "interests": ["flying", "saving the world", "kryptonite"]
    }"#;
    let decode = Row::new("deserialize json", collect(&lua), nothing, move |()| drop(decode.call::<Table>(json).unwrap()));
    vec![encode, decode]
}

/// Loops of Lua code that call Rust: 1000 rounds each.
fn loops() -> Vec<Row> {
    let lua = Lua::new();
    let row = |name, code: &str, values: &[(&str, Value)]| {
        for (name, v) in values {
            lua.globals().set(*name, v).unwrap();
        }
        let f: Function = lua.load(format!("local f, g, ud = f, g, ud return function() {code} end")).eval().unwrap();
        Row::new(name, collect(&lua), nothing, move |()| f.call::<()>(()).unwrap())
    };
    let f = Value::Function(lua.create_function(|_, (a, b): (f64, f64)| Ok(a * b + 1.0)).unwrap());
    let g = Value::Function(lua.create_function(|_, s: LuaString| Ok(s.as_bytes().len())).unwrap());
    let ud = Value::UserData(lua.create_userdata(Complex(0)).unwrap());
    let adds = Value::UserData(lua.create_userdata(Adds(1)).unwrap());
    vec![
        row("loop [call Rust numbers]", "local s = 0 for i = 1, 1000 do s = f(s % 7, i) end", &[("f", f)]),
        row("loop [call Rust string]", "local s = 0 for i = 1, 1000 do s = s + g('text') end", &[("g", g)]),
        row("loop [userdata get field]", "local s = 0 for i = 1, 1000 do s = s + ud.val end", &[("ud", ud.clone())]),
        row("loop [userdata set field]", "for i = 1, 1000 do ud.val = i end", &[("ud", ud)]),
        row("loop [userdata call method]", "local s = 0 for i = 1, 1000 do s = ud:add(i) end", &[("ud", adds)]),
    ]
}
