//! Strings, characters and paths.

use super::{FromLua, IntoLua, take_value};
use crate::api::error::{Error, Result};
use crate::api::lua::Lua;
use crate::api::passing::{Passed, Place, pass_bytes};
use crate::api::string::{BorrowedBytes, BorrowedStr, LuaString};
use crate::api::value::Value;
use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A string, or the text of a number.
fn string(v: Value, to: &str, lua: &Lua) -> Result<LuaString> {
    let from = v.what();
    lua.coerce_string(v)?.ok_or_else(|| Error::conversion_because(from, to, "expected string or number"))
}

/// A string, or the text of a number, as UTF-8.
fn text(v: Value, to: &str, lua: &Lua) -> Result<BorrowedStr> {
    string(v, to, lua)?.to_str()
}

/// A string, or the text of a number, as bytes.
fn bytes(v: Value, to: &str, lua: &Lua) -> Result<BorrowedBytes> {
    string(v, to, lua)?.open_bytes("FromLua::from_lua")
}

macro_rules! into_string {
    ($($(#[$meta:meta])* $t:ty: |$s:ident| $bytes:expr;)*) => {$(
        $(#[$meta])*
        impl IntoLua for $t {
            fn into_lua(self, lua: &Lua) -> Result<Value> {
                let $s = self;
                Ok(Value::String(lua.create_string($bytes)?))
            }
            fn pass(self, lua: &Lua) -> Result<()> {
                let $s = self;
                pass_bytes(lua, AsRef::<[u8]>::as_ref(&$bytes))
            }
        }
    )*};
}
into_string! {
    &str: |s| s;
    String: |s| s;
    &String: |s| s;
    Box<str>: |s| &*s;
    Cow<'_, str>: |s| &*s;
    CString: |s| s.as_bytes();
    &CStr: |s| s.to_bytes();
    Cow<'_, CStr>: |s| s.to_bytes();
    OsString: |s| s.as_bytes();
    &OsStr: |s| s.as_bytes();
    PathBuf: |s| s.as_os_str().as_bytes();
    &Path: |s| s.as_os_str().as_bytes();
    char: |c| c.encode_utf8(&mut [0; 4]);
    #[cfg(feature = "bstr")]
    bstr::BString: |s| s;
    #[cfg(feature = "bstr")]
    &bstr::BStr: |s| s;
}

macro_rules! from_string {
    ($($(#[$meta:meta])* $t:ty: |$v:ident, $lua:ident| $converted:expr;)*) => {$(
        $(#[$meta])*
        impl FromLua for $t {
            fn from_lua($v: Value, $lua: &Lua) -> Result<$t> {
                $converted
            }
        }
    )*};
}
/// A string, or the text of a number.
impl FromLua for LuaString {
    fn from_lua(v: Value, lua: &Lua) -> Result<LuaString> {
        string(v, "string", lua)
    }
    fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<LuaString> {
        let raw = values.raw(i);
        if raw.is_str() {
            return Ok(LuaString(values.lua.handle(raw)));
        }
        take_value(values, i, place)
    }
}
/// A string, or the text of a number, as UTF-8.
impl FromLua for String {
    fn from_lua(v: Value, lua: &Lua) -> Result<String> {
        Ok(text(v, "String", lua)?.to_owned())
    }
    fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<String> {
        let s = values.raw(i).as_str();
        match s.and_then(|s| core::str::from_utf8(s.bytes()).ok().map(str::to_owned)) {
            Some(text) => Ok(text),
            None => take_value(values, i, place),
        }
    }
}
from_string! {
    BorrowedStr: |v, lua| text(v, "BorrowedStr", lua);
    BorrowedBytes: |v, lua| bytes(v, "BorrowedBytes", lua);
    Box<str>: |v, lua| Ok((*text(v, "Box<str>", lua)?).into());
    OsString: |v, lua| Ok(OsString::from_vec(bytes(v, "OsString", lua)?.to_vec()));
    PathBuf: |v, lua| Ok(OsString::from_vec(bytes(v, "PathBuf", lua)?.to_vec()).into());
    #[cfg(feature = "bstr")]
    bstr::BString: |v, lua| Ok(bytes(v, "BString", lua)?.to_vec().into());
}

/// A string without a zero byte.
impl FromLua for CString {
    fn from_lua(v: Value, lua: &Lua) -> Result<CString> {
        let from = v.what();
        let bytes = bytes(v, "CString", lua)?.to_vec();
        CString::new(bytes).map_err(|e| Error::conversion_because(from, "CString", e.to_string()))
    }
}

macro_rules! into_borrowed {
    ($($t:ty)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::String(self.lua_string()))
            }
        }
    )*};
}
into_borrowed! { BorrowedStr &BorrowedStr BorrowedBytes &BorrowedBytes }

/// A string of one character, or the number of a code point.
impl FromLua for char {
    fn from_lua(v: Value, _: &Lua) -> Result<char> {
        let because = |why: &str| Error::conversion_because(v.what(), "char", why);
        match &v {
            Value::Integer(i) => {
                let c = u32::try_from(*i).ok().and_then(char::from_u32);
                c.ok_or_else(|| because("integer out of range when converting to char"))
            }
            Value::String(s) => {
                let s = s.to_str()?;
                let mut chars = s.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Ok(c),
                    _ => Err(because("expected string to have exactly one char when converting to char")),
                }
            }
            _ => Err(because("expected string or integer")),
        }
    }
}
