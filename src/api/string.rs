//! Strings.
#![allow(unsafe_code, reason = "strings neither move nor change, and the root of the handle keeps its string alive")]

use super::error::{Error, Result};
use super::state::Root;

/// A Lua string: any bytes.
#[derive(Clone)]
pub struct LuaString(pub(crate) Root);

impl LuaString {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        let s = self.0.get().as_str();
        let Some(s) = s else { return &[] };
        let bytes = s.bytes();
        // SAFETY: strings neither move nor change, and the root keeps this one alive as long as `self`.
        unsafe { core::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) }
    }
    /// The text, if the bytes are UTF-8.
    pub fn to_str(&self) -> Result<&str> {
        core::str::from_utf8(self.as_bytes()).map_err(|_| Error::conversion("string", "UTF-8 text"))
    }
}

impl std::fmt::Debug for LuaString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}
