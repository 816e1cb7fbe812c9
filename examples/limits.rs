//! A script that uses too much memory, recurses without end or fails: the host goes on.
//!
//! ```text
//! cargo run --example limits
//! ```

use perilune::Lua;

const SCRIPTS: [(&str, &str); 4] = [
    ("too much memory", "local t = {} while true do t[#t + 1] = { #t } end"),
    ("endless recursion", "local function f() return 1 + f() end return f()"),
    ("an error", "local config = nil\nreturn config.port"),
    ("caught by the script", "local ok, e = pcall(string.rep, 'x', 1e9) if not ok then return e end"),
];

fn main() -> perilune::Result<()> {
    for (what, script) in SCRIPTS {
        // A state for each script: they share nothing.
        let lua = Lua::new();
        lua.set_memory_limit(32 << 20)?;
        match lua.load(script).set_name("=script").eval::<Option<String>>() {
            Ok(result) => println!("{what}: returned {}", result.unwrap_or_default()),
            Err(e) => println!("{what}: {}", e.message()),
        }
    }
    Ok(())
}
