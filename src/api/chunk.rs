//! Chunks of source text.

use super::error::{Error, Result};
use super::function::Function;
use super::lua::Lua;
use super::multi::FromLuaMulti;
use perilune_vm::value::Value as Raw;

/// What can be loaded.
pub trait AsChunk {
    /// The source text.
    fn into_source(self) -> Vec<u8>;
}

impl AsChunk for &str {
    fn into_source(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}
impl AsChunk for String {
    fn into_source(self) -> Vec<u8> {
        self.into_bytes()
    }
}
impl AsChunk for &String {
    fn into_source(self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }
}
impl AsChunk for &[u8] {
    fn into_source(self) -> Vec<u8> {
        self.to_vec()
    }
}
impl AsChunk for Vec<u8> {
    fn into_source(self) -> Vec<u8> {
        self
    }
}

/// Source text with a name. See [`Lua::load`].
#[must_use = "a chunk does nothing until it is run"]
pub struct Chunk {
    lua: Lua,
    source: Vec<u8>,
    name: Option<Vec<u8>>,
}

impl Chunk {
    pub(crate) fn new(lua: Lua, source: Vec<u8>) -> Chunk {
        Chunk { lua, source, name: None }
    }
    /// Names the chunk, for messages: `@file`, `=(what it is)`, or its source text (the default).
    pub fn set_name(mut self, name: impl AsRef<[u8]>) -> Chunk {
        self.name = Some(name.as_ref().to_vec());
        self
    }
    /// Compiles the chunk.
    pub fn into_function(self) -> Result<Function> {
        let name = self.name.as_deref().unwrap_or(&self.source);
        let loaded = self.lua.0.enter(|vm| match vm.load_chunk(&self.source, name, None) {
            Ok(f) => Ok(Raw::func(f)),
            Err(message) if message == vm.heap.no_memory() => Err(Error::MemoryError(message.to_str_lossy().into_owned())),
            Err(message) => Err(Error::syntax(message.bytes())),
        })?;
        Ok(Function(self.lua.handle(loaded)))
    }
    /// Runs the chunk.
    pub fn exec(self) -> Result<()> {
        self.into_function()?.call(())
    }
    /// Evaluates the chunk: an expression, or statements that end in `return`.
    pub fn eval<R: FromLuaMulti>(self) -> Result<R> {
        let expression = [b"return ", &*self.source].concat();
        let name = self.name.clone().unwrap_or_else(|| self.source.clone());
        let as_expression = Chunk { lua: self.lua.clone(), source: expression, name: Some(name) }.into_function();
        match as_expression {
            Ok(f) => f.call(()),
            Err(_) => self.into_function()?.call(()),
        }
    }
}
