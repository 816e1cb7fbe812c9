//! A host with plugins: each file of a folder registers handlers of events. Plugins cannot change one another or the libraries, and one
//! that fails or takes too long is switched off, while the others stay.
//!
//! ```text
//! cargo run --example plugin_host [FOLDER]
//! ```

use perilune::{Chunk, ChunkMode, Error, ErrorContext, Function, Lua, LuaOptions, Result, StdLib, Table};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a handler may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// The memory for all plugins, in bytes.
const MEMORY: usize = 32 << 20;

struct Plugin {
    name: String,
    /// Its handlers, by the name of the event.
    handlers: Table,
    is_on: bool,
}

struct Host {
    lua: Lua,
    plugins: Vec<Plugin>,
}

impl Host {
    fn new() -> Result<Host> {
        // No files, no processes, no `require`.
        let lua = Lua::new_with(StdLib::STRING | StdLib::TABLE | StdLib::MATH, LuaOptions::new())?;
        lua.set_memory_limit(MEMORY)?;
        let host = lua.create_table()?;
        let say = |_: &Lua, text: String| {
            println!("host says: {text}");
            Ok(())
        };
        host.set("say", lua.create_function(say)?)?;
        host.set_readonly(true);
        lua.globals().set("host", host)?;
        lua.sandbox(true)?;
        Ok(Host { lua, plugins: Vec::new() })
    }

    /// Runs the file of a plugin, which adds its handlers to the table `on`.
    fn load(&mut self, file: &Path) -> Result<()> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let handlers = self.lua.create_table()?;
        // Globals of its own; what it does not find there it finds in those that all share.
        let globals = self.lua.create_table_from([("on", &handlers)])?;
        globals.set_metatable(Some(self.lua.create_table_from([("__index", self.lua.globals())])?))?;
        let chunk: Chunk<'_> = self.lua.load(file).set_name(format!("@{name}.lua"));
        self.lua.set_time_limit(Some(PATIENCE))?;
        let done = chunk.set_mode(ChunkMode::Text).set_environment(globals).exec();
        self.lua.set_time_limit(None)?;
        done.context(format!("loading plugin {name}"))?;
        self.plugins.push(Plugin { name, handlers, is_on: true });
        Ok(())
    }

    /// Tells the plugins of an event, each in turn, until one has something to say to it.
    fn tell(&mut self, event: &str, data: &[(&str, &str)]) -> Result<Option<String>> {
        for plugin in self.plugins.iter_mut().filter(|p| p.is_on) {
            let Some(handler) = plugin.handlers.get::<Option<Function>>(event)? else { continue };
            let data = self.lua.create_table_from(data.iter().copied())?;
            self.lua.set_time_limit(Some(PATIENCE))?;
            let answer = handler.call::<Option<String>>(data);
            self.lua.set_time_limit(None)?;
            match answer {
                Ok(None) => {}
                Ok(answer) => return Ok(answer),
                Err(e) => {
                    let why = if matches!(e, Error::TimeLimitExceeded(_)) { "it takes too long".to_owned() } else { e.message() };
                    println!("plugin {} is switched off: {why}", plugin.name);
                    plugin.is_on = false;
                }
            }
        }
        Ok(None)
    }
}

fn main() -> Result<()> {
    let folder =
        std::env::args_os().nth(1).map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/plugins"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|e| e == "lua"));
    files.sort();

    let mut host = Host::new()?;
    for file in files {
        host.load(&file)?;
    }
    for name in ["Ada", "Bo", "Ada"] {
        host.tell("join", &[("name", name)])?;
    }
    for text in ["hello", "one two three four five six seven"] {
        let answer = host.tell("message", &[("from", "Ada"), ("text", text)])?;
        println!("message {text:?}: {}", answer.as_deref().unwrap_or("keep"));
    }
    // This one the moderator does not expect.
    host.tell("message", &[("from", "Bo")])?;
    host.tell("join", &[("name", "Bo")])?;
    Ok(())
}
