//! Lua values as serde sees data.

use perilune::{
    AnyUserData, DeserializeOptions, Error, Lua, LuaSerdeExt, Result, SerializeOptions, UserData, UserDataMethods, Value,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
enum Shape {
    Empty,
    Circle(f64),
    Box(u32, u32),
    Named { name: String },
}

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone)]
struct Everything {
    flag: bool,
    number: f64,
    text: String,
    list: Vec<i64>,
    map: BTreeMap<String, Option<u8>>,
    shapes: Vec<Shape>,
    unit: (),
    nothing: Option<String>,
    character: char,
}

#[test]
fn there_and_back() -> Result<()> {
    let lua = Lua::new();
    let everything = Everything {
        flag: true,
        number: 1.5,
        text: "text".to_owned(),
        list: vec![1, -2, 3],
        map: [("a".to_owned(), Some(1)), ("b".to_owned(), None)].into(),
        shapes: vec![Shape::Empty, Shape::Circle(2.0), Shape::Box(1, 2), Shape::Named { name: "n".to_owned() }],
        unit: (),
        nothing: None,
        character: 'ä',
    };
    let value = lua.to_value(&everything)?;
    lua.globals().set("v", value.clone())?;
    lua.load("assert(v.list[2] == -2 and v.shapes[1] == 'Empty' and v.shapes[3].Box[2] == 2 and v.shapes[4].Named.name == 'n')")
        .exec()?;
    assert_eq!(lua.from_value::<Everything>(value)?, everything);
    Ok(())
}

fn json(lua: &Lua, source: &str, options: DeserializeOptions) -> Result<String> {
    let value: Value = lua.load(source).eval()?;
    Ok(lua.from_value_with::<serde_json::Value>(value, options)?.to_string())
}

#[test]
fn tables_as_arrays_and_maps() -> Result<()> {
    let lua = Lua::new();
    let plain = DeserializeOptions::new();
    let mixed = plain.detect_mixed_tables(true);
    for (source, options, expected) in [
        ("{}", plain, "{}"),
        ("{}", plain.encode_empty_tables_as_array(true), "[]"),
        ("{1, 2, x = 3}", plain, "[1,2]"),
        ("{1, 2, x = 3}", mixed, r#"{"1":1,"2":2,"x":3}"#),
        ("{1, nil, 3}", mixed, "[1,null,3]"),
        ("{[1000] = 1, a = 2}", plain, r#"{"1000":1,"a":2}"#),
        ("{b = 1, a = {c = 'x'}}", plain.sort_keys(true), r#"{"a":{"c":"x"},"b":1}"#),
    ] {
        if !expected.contains("\"1") {
            // JSON's keys are strings.
            assert_eq!(json(&lua, source, options)?, expected, "{source}");
        }
        let value: Value = lua.load(source).eval()?;
        let mut written = value.to_serializable().sort_keys(true).detect_mixed_tables(options.detect_mixed_tables);
        written = written.encode_empty_tables_as_array(options.encode_empty_tables_as_array);
        assert_eq!(serde_json::to_string(&written).expect("JSON"), expected, "{source}");
    }
    // The metatable says it.
    let table = lua.create_table()?;
    table.set_metatable(Some(lua.array_metatable()))?;
    assert_eq!(lua.from_value::<serde_json::Value>(Value::Table(table))?.to_string(), "[]");
    Ok(())
}

#[test]
fn what_has_no_form() -> Result<()> {
    let lua = Lua::new();
    let why = |source: &str| match json(&lua, source, DeserializeOptions::new()) {
        Err(Error::DeserializeError(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(why("{ print }").contains("unsupported value type `function`"));
    assert!(why("(function() local t = {} t.t = t return t end)()").contains("recursive table detected"));
    let lax = DeserializeOptions::new().deny_unsupported_types(false).deny_recursive_tables(false);
    assert_eq!(json(&lua, "{ 1, print, 2 }", lax)?, "[1,2]");
    assert_eq!(json(&lua, "(function() local t = { a = 1 } t.t = t return t end)()", lax)?, r#"{"a":1}"#);
    // The same table twice is no circle.
    assert_eq!(json(&lua, "(function() local t = { 1 } return { t, t } end)()", DeserializeOptions::new())?, "[[1],[1]]");
    assert!(lua.from_value::<Shape>(lua.load("{ Circle = 1, Box = 2 }").eval()?).is_err());
    Ok(())
}

#[test]
fn options_of_what_is_nothing() -> Result<()> {
    let lua = Lua::new();
    let some = [("a", None::<i32>)];
    let map: BTreeMap<_, _> = some.into();
    lua.globals().set("null", lua.null())?;
    lua.globals().set("kept", lua.to_value(&map)?)?;
    lua.globals().set("left", lua.to_value_with(&map, SerializeOptions::new().serialize_none_to_null(false))?)?;
    lua.load("assert(kept.a == null and left.a == nil)").exec()?;
    let bare = lua.to_value_with(&[1], SerializeOptions::new().set_array_metatable(false))?;
    lua.globals().set("bare", bare)?;
    lua.globals().set("marked", lua.to_value(&[1])?)?;
    lua.load("assert(getmetatable(bare) == nil and getmetatable(marked) == false)").exec()
}

impl UserData for Everything {}
impl UserData for Shape {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("read_myself", |lua, _, this: AnyUserData| lua.from_value::<Shape>(Value::UserData(this)));
    }
}

#[test]
fn userdata_that_can_be_serialized() -> Result<()> {
    let lua = Lua::new();
    let shape = lua.create_ser_userdata(Shape::Named { name: "n".to_owned() })?;
    assert_eq!(serde_json::to_string(&shape).expect("JSON"), r#"{"Named":{"name":"n"}}"#);
    let value = |u: &AnyUserData| Value::UserData(u.clone());
    assert_eq!(lua.from_value::<Shape>(value(&shape))?, Shape::Named { name: "n".to_owned() });
    for other in [Shape::Empty, Shape::Circle(2.0), Shape::Box(1, 2)] {
        let u = lua.create_ser_userdata(other.clone())?;
        assert_eq!(lua.from_value::<Shape>(value(&u))?, other);
    }
    // Inside of tables, and integers that a Lua number could not hold.
    lua.globals().set("big", lua.create_ser_any_userdata([u64::MAX, 1])?)?;
    lua.globals().set("map", AnyUserData::wrap_ser(BTreeMap::from([("k", 1)])))?;
    let table: Value = lua.load("{ big, map }").eval()?;
    assert_eq!(serde_json::to_string(&table).expect("JSON"), r#"[[18446744073709551615,1],{"k":1}]"#);
    assert_eq!(lua.from_value::<(Vec<f64>, BTreeMap<String, u8>)>(table)?.1["k"], 1);
    let unit = lua.create_ser_any_userdata(())?;
    assert_eq!(lua.from_value::<Option<()>>(value(&unit))?, Some(()));

    // What cannot be serialized: borrowed to write, gone, or of another type.
    lua.globals().set("shape", &shape)?;
    let refused = lua.load("shape:read_myself(shape)").exec().unwrap_err();
    assert!(refused.message().contains("error borrowing userdata"), "{refused}");
    shape.destroy()?;
    assert!(serde_json::to_string(&shape).is_err());
    let plain = lua.create_userdata(Shape::Empty)?;
    assert!(serde_json::to_string(&plain).unwrap_err().to_string().contains("cannot serialize <userdata>"));
    assert!(matches!(lua.from_value::<Shape>(value(&plain)), Err(Error::DeserializeError(_))));
    let lax = DeserializeOptions::new().deny_unsupported_types(false);
    lua.from_value_with::<()>(value(&shape), lax)
}

/// Tables that are nested deeper than the native stack allows are an error, and so is nothing else.
#[test]
fn deep_tables() -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Nothing {}
    let lua = Lua::new();
    let nested = |n: usize| {
        lua.load(format!("local t = {{}} local root = t for i = 1, {n} do t.x = {{}} t = t.x end return root")).eval::<Value>()
    };
    assert!(lua.from_value::<Nothing>(nested(100)?).is_ok());
    let e = lua.from_value::<Nothing>(nested(300_000)?).err().map(|e| e.to_string());
    assert!(e.as_ref().is_some_and(|e| e.contains("nested too deep")), "{e:?}");
    let e = serde_json::to_string(&nested(300_000)?).err().map(|e| e.to_string());
    assert!(e.as_ref().is_some_and(|e| e.contains("nested too deep")), "{e:?}");
    assert_eq!(lua.from_value::<i128>(Value::Integer(5))?, 5);
    assert_eq!(lua.from_value::<u128>(Value::Integer(5))?, 5);
    Ok(())
}
