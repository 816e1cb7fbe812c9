//! A rules engine: each customer writes rules, the host runs all of them for each order. Limits of instructions, memory and recursion hold
//! for each rule, also in compiled code, and a rule that reaches one harms no other.
//!
//! ```text
//! cargo run --example rules
//! ```

use perilune::{ChunkMode, Error, Function, Lua, LuaOptions, Result, StdLib, Table};

const RULES: [(&str, &str); 7] = [
    ("large orders", "return order.total > 100 and { discount = 0.1 } or nil"),
    ("three of a kind", "for _, item in ipairs(order.items) do if item.count >= 3 then return { gift = item.name } end end"),
    ("busy loop", "while true do end"),
    ("too much memory", "local t = {} while true do t[#t + 1] = { order.total } end"),
    ("endless recursion", "local function f() return 1 + f() end return f()"),
    ("will not be stopped", "while true do pcall(function() while true do end end) end"),
    ("a mistake", "return { discount = order.customer.discount }"),
];

/// Instructions that a rule may execute for an order: the same rule ends at the same one each time.
const INSTRUCTIONS: u64 = 10_000_000;
/// The memory for all rules, in bytes.
const MEMORY: usize = 32 << 20;

struct Rule {
    name: &'static str,
    function: Function,
}

/// What a rule has decided.
#[derive(Default)]
struct Decision {
    discount: f64,
    gift: Option<String>,
}

fn compile(lua: &Lua, name: &'static str, source: &str) -> Result<Rule> {
    // Rules share the libraries, which they cannot change, and see no globals of one another.
    let globals = lua.create_table()?;
    globals.set_metatable(Some(lua.create_table_from([("__index", lua.globals())])?))?;
    let chunk = lua.load(format!("local order = ... {source}")).set_name(format!("={name}"));
    let function = chunk.set_mode(ChunkMode::Text).set_environment(globals).into_function()?;
    Ok(Rule { name, function })
}

fn order(lua: &Lua, items: &[(&str, u32, f64)]) -> Result<Table> {
    let order = lua.create_table()?;
    let list = lua.create_table()?;
    for (name, count, price) in items {
        let item = lua.create_table()?;
        item.set("name", *name)?;
        item.set("count", *count)?;
        item.set("price", *price)?;
        list.push(item)?;
    }
    order.set("items", list)?;
    order.set("total", items.iter().map(|(_, count, price)| f64::from(*count) * price).sum::<f64>())?;
    Ok(order)
}

/// Runs a rule within its limits.
fn decide(lua: &Lua, rule: &Rule, order: &Table) -> Result<Decision> {
    lua.set_fuel(Some(INSTRUCTIONS));
    let decision = rule.function.call::<Option<Table>>(order);
    lua.set_fuel(None);
    let Some(decision) = decision? else { return Ok(Decision::default()) };
    Ok(Decision { discount: decision.get::<Option<f64>>("discount")?.unwrap_or_default(), gift: decision.get("gift")? })
}

fn main() -> Result<()> {
    let lua = Lua::new_with(StdLib::STRING | StdLib::TABLE | StdLib::MATH, LuaOptions::new())?;
    lua.set_memory_limit(MEMORY)?;
    lua.set_stack_limit(20_000);
    lua.sandbox(true)?;
    let mut rules = RULES.iter().map(|(name, source)| compile(&lua, name, source)).collect::<Result<Vec<Rule>>>()?;

    let orders = [order(&lua, &[("lamp", 1, 40.0), ("bulb", 4, 2.5)])?, order(&lua, &[("desk", 1, 250.0)])?];
    for (i, order) in orders.iter().enumerate() {
        println!("order {}", i + 1);
        rules.retain(|rule| match decide(&lua, rule, order) {
            Ok(Decision { discount, gift }) => {
                println!("  {}: {:.0} % off, gift: {}", rule.name, discount * 100.0, gift.as_deref().unwrap_or("none"));
                true
            }
            Err(e) => {
                let why = match &e {
                    Error::OutOfFuel(_) => "too many instructions".to_owned(),
                    Error::MemoryError(_) => "too much memory".to_owned(),
                    _ => e.message(),
                };
                println!("  {} is removed: {why}", rule.name);
                false
            }
        });
    }
    Ok(())
}
