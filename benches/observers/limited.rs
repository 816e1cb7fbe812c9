//! Runs a script in a state of the embedding API, with a limit that it does not reach or with none: what the limit costs.
//!
//! ```text
//! cargo run --profile dist --example limited -- none|time|fuel SCRIPT
//! ```
//!
//! The command's own states cannot tell: they always look for Ctrl-C.

use perilune::Lua;
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static MEMORY: perilune_vm::gc::reserve::Allocator = perilune_vm::gc::reserve::Allocator;

/// No program of the benchmarks takes so long.
const LONG: Duration = Duration::from_secs(3600);

/// Runs a script under a limit.
fn run(limit: &str, script: &str) -> Result<(), Box<dyn std::error::Error>> {
    let lua = Lua::new();
    match limit {
        "none" => {}
        "time" => lua.set_time_limit(Some(LONG))?,
        "fuel" => lua.set_fuel(Some(i64::MAX as u64)),
        _ => return Err(format!("there is no limit of '{limit}'").into()),
    }
    lua.load(std::fs::read(script)?).set_name(format!("@{script}")).exec()?;
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [limit, script] = args.as_slice() else {
        eprintln!("usage: limited none|time|fuel SCRIPT");
        return ExitCode::FAILURE;
    };
    match run(limit, script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("limited: {e}");
            ExitCode::FAILURE
        }
    }
}
