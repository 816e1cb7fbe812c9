//! Chunks that the macro `chunk!` makes.

use super::Lua;
use super::chunk::{AsChunk, ChunkMode};
use super::error::Result;
use super::table::Table;
use std::borrow::Cow;
use std::cell::Cell;
use std::io;

/// Source text, and what sets the captured variables in the chunk's environment.
struct Captured<F> {
    source: &'static str,
    capture: Cell<Option<F>>,
}

impl<F: FnOnce(&Lua, &Table) -> Result<()>> AsChunk for Captured<F> {
    fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
        let Some(capture) = self.capture.take() else { return Ok(None) };
        // All other names are globals.
        let (globals, env, meta) = (lua.globals(), lua.create_table()?, lua.create_table()?);
        meta.raw_set("__index", &globals)?;
        meta.raw_set("__newindex", &globals)?;
        capture(lua, &env)?;
        env.set_metatable(Some(meta))?;
        Ok(Some(env))
    }
    fn mode(&self) -> Option<ChunkMode> {
        Some(ChunkMode::Text)
    }
    fn source<'a>(&self) -> io::Result<Cow<'a, [u8]>>
    where
        Self: 'a,
    {
        Ok(Cow::Borrowed(self.source.as_bytes()))
    }
}

/// A chunk that captures variables.
pub fn chunk(source: &'static str, capture: impl FnOnce(&Lua, &Table) -> Result<()>) -> impl AsChunk {
    Captured { source, capture: Cell::new(Some(capture)) }
}

/// A chunk that captures nothing.
pub fn plain_chunk(source: &'static str) -> impl AsChunk {
    Captured { source, capture: Cell::new(None::<fn(&Lua, &Table) -> Result<()>>) }
}
