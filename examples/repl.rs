//! A prompt: expressions are evaluated and shown, statements that are not complete go on in the next line, errors have a traceback.
//!
//! ```text
//! cargo run --example repl
//! ```

use perilune::{Error, Lua, MultiValue, Result};
use std::io::{self, BufRead, Write};

/// Does the text need more lines?
fn is_incomplete(e: &Error) -> bool {
    matches!(e, Error::SyntaxError { incomplete_input: true, .. })
}

/// Runs a text, and shows its results.
fn run(lua: &Lua, text: &str) -> Result<()> {
    let results = lua.load(text).set_name("=stdin").eval::<MultiValue>();
    // What the program has written may stand in the buffers of Lua's files.
    lua.flush();
    let results = results?;
    // `{:#?}` shows the content of tables, `to_string` the text that `tostring` gives.
    let shown: Vec<String> =
        results.iter().map(|v| if v.is_table() { Ok(format!("{v:#?}")) } else { v.to_string() }).collect::<Result<_>>()?;
    if !shown.is_empty() {
        println!("{}", shown.join("\t"));
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let lua = Lua::new();
    let mut text = String::new();
    let mut lines = io::stdin().lock().lines();
    loop {
        print!("{}", if text.is_empty() { "> " } else { ">> " });
        io::stdout().flush()?;
        let Some(line) = lines.next().transpose()? else { break };
        text.push_str(&line);
        match run(&lua, &text) {
            Err(e) if is_incomplete(&e) => {
                text.push('\n');
                continue;
            }
            Err(e) => {
                println!("{}", e.message());
                if let Some(traceback) = e.traceback() {
                    println!("{traceback}");
                }
            }
            Ok(()) => {}
        }
        text.clear();
    }
    println!();
    Ok(())
}
