//! A host that a script extends: the script registers handlers, the host calls them with data.
//!
//! ```text
//! cargo run --example embed
//! ```

use perilune::{Error, Function, Lua};

const SCRIPT: &str = r#"
local seen = 0

on("order", function(order)
  seen = seen + 1
  log(("order %d: %d items"):format(order.id, #order.items))
  return #order.items * 2.5
end)

on("refund", function(order)
  if seen == 0 then error("nothing was ordered yet") end
  return -1
end)
"#;

fn main() -> Result<(), Error> {
    let lua = Lua::new();

    // What the host gives to the script: `log(text)` and `on(event, handler)`.
    let handlers = lua.create_table()?;
    let log = lua.create_function(|_, text: String| {
        println!("script: {text}");
        Ok(())
    })?;
    lua.globals().set("log", log)?;
    // A closure may own handles, which do not keep the state alive. It should not own a `Lua`, which would.
    let table = handlers.clone();
    let on = lua.create_function(move |_, (event, handler): (String, Function)| table.set(event, handler))?;
    lua.globals().set("on", on)?;

    lua.load(SCRIPT).set_name("=shop").exec()?;

    // What the host asks of the script.
    let refund: Function = handlers.get("refund")?;
    match refund.call::<f64>(lua.create_table()?) {
        Ok(amount) => println!("refund: {amount}"),
        Err(e) => println!("refund failed: {}", e.message()),
    }
    let order: Function = handlers.get("order")?;
    for id in 1..=3 {
        let data = lua.create_table()?;
        data.set("id", id)?;
        data.set("items", lua.create_sequence_from((0..id).map(|n| format!("item {n}")))?)?;
        println!("order {id} costs {}", order.call::<f64>(data)?);
    }
    Ok(())
}
