//! A configuration file in Lua: it may compute, but reaches nothing outside, and a mistake in it is told with file and line.
//!
//! ```text
//! cargo run --example config --features serde [FILE]
//! ```

use perilune::{Error, Lua, LuaOptions, LuaSerdeExt, Result, StdLib, Table, Value};
use serde::Deserialize;
use std::collections::BTreeMap;

const EXAMPLE: &str = r#"
local domain = "example.org"

name = "shop"
workers = 4 * 2
listen = { "127.0.0.1:8080", "[::1]:8080" }
routes = {}
for _, page in ipairs { "cart", "search" } do
  routes["/" .. page] = { host = page .. "." .. domain, timeout = 2.5 }
end
routes["/admin"] = { host = env.USER .. "." .. domain }
"#;

/// Instructions that a configuration may execute: one that loops is a mistake.
const INSTRUCTIONS: u64 = 1_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    name: String,
    workers: u16,
    listen: Vec<std::net::SocketAddr>,
    routes: BTreeMap<String, Route>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    host: String,
    #[serde(default = "ten_seconds")]
    timeout: f64,
}

fn ten_seconds() -> f64 {
    10.0
}

/// Runs a configuration, whose globals are the settings.
fn read(name: &str, text: &str, variables: &[(&str, &str)]) -> Result<Config> {
    let lua = Lua::new_with(StdLib::STRING | StdLib::TABLE | StdLib::MATH, LuaOptions::new())?;
    lua.set_memory_limit(16 << 20)?;
    lua.set_fuel(Some(INSTRUCTIONS));
    lua.globals().set("env", lua.create_table_from(variables.iter().copied())?)?;
    // What the file assigns is in a table of its own, so that nothing but settings is in it.
    let settings: Table = lua.create_table()?;
    settings.set_metatable(Some(lua.create_table_from([("__index", lua.globals())])?))?;
    lua.load(text).set_name(format!("@{name}")).set_environment(settings.clone()).exec()?;
    lua.from_value(Value::Table(settings))
}

fn main() -> Result<()> {
    let (name, text) = match std::env::args().nth(1) {
        Some(file) => (file.clone(), std::fs::read_to_string(file)?),
        None => ("shop.conf".to_owned(), EXAMPLE.to_owned()),
    };
    let config = read(&name, &text, &[("USER", "ada")])?;
    println!("{} has {} workers and listens at {:?}", config.name, config.workers, config.listen);
    for (path, Route { host, timeout }) in &config.routes {
        println!("  {path} goes to {host}, which may take {timeout} s");
    }

    let mistakes = [
        "workers = 8 *\nname = 'shop'",
        "name = env.HOSTNAME:upper()",
        "while true do end",
        "name, workers, listen, routes = 'shop', 'many', {}, {}",
        "name, workers, listen, routes, colour = 'shop', 1, {}, {}, 'red'",
    ];
    for text in mistakes {
        let e = read("bad.conf", text, &[]).expect_err("a mistake");
        let kind = match &e {
            Error::SyntaxError { .. } => "syntax",
            Error::OutOfFuel(_) => "no end",
            Error::DeserializeError(_) => "settings",
            _ => "program",
        };
        println!("{kind}: {}", e.message());
    }
    Ok(())
}
