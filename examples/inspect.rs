//! What the compiler made of a script, and what the script left on the heap.
//!
//! ```text
//! cargo run --example inspect [SCRIPT]
//! ```

use perilune::Lua;
use std::error::Error;

const SCRIPT: &str = "
points = {}
for i = 1, 20000 do
  points[i] = { x = i, y = i * 2 }
end
local sum = 0
for round = 1, 20 do
  for i = 1, #points do
    sum = sum + points[i].x * points[i].y
  end
end
return sum
";

fn main() -> Result<(), Box<dyn Error>> {
    let script = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => SCRIPT.to_owned(),
    };
    let lua = Lua::new();
    lua.start_explorer();
    lua.load(script.as_str()).set_name("=script").exec()?;
    let report = lua.stop_explorer().ok_or("the explorer is running")?;

    println!("{} traces", report.traces.len());
    for t in &report.traces {
        let line = t.start.map_or(0, |start| start.line);
        println!("  trace {} at line {line}: {}, {} instructions, {} bytes", t.number, t.link.kind, t.instructions, t.mcode);
        for exit in t.left.iter().filter(|exit| exit.taken > 0) {
            println!("    exit {} was taken {} times", exit.exit, exit.taken);
        }
    }
    for abort in &report.aborts {
        println!("  given up {} times: {}", abort.count, abort.reason);
    }

    lua.gc_collect()?;
    let heap = lua.heap_walk();
    println!("{} objects, {} bytes", heap.total_objects, heap.total_bytes);
    for kind in &heap.buckets {
        println!("  {:8} {:6} {:8} bytes", kind.type_name, kind.count, kind.bytes);
    }
    let compiler = lua.jit_state_snapshot();
    println!("{} traces entered, {} exits to the interpreter", compiler.trace_dispatched_count, compiler.trace_deopt_count);
    Ok(())
}
