//! Strings.
#![allow(unsafe_code, reason = "strings neither move nor change, and the root of the handle keeps its string alive")]

use super::convert::IntoLua;
use super::error::{Error, Result};
use super::handle::{CLOSED_STATE, Handle};
use super::lua::Lua;
use super::value::Value;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ffi::c_void;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A Lua string: any bytes.
///
/// ```
/// let lua = perilune::Lua::new();
/// let s = lua.create_string("moon")?;
/// assert_eq!(s.to_str()?, "moon");
/// assert_eq!(s, "moon");
/// assert!(s < lua.create_string("sun")?);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone)]
pub struct LuaString(pub(crate) Handle);

/// The bytes of a string, which is kept meanwhile, with its state.
///
/// ```
/// let lua = perilune::Lua::new();
/// let s = lua.create_string("moon")?;
/// let bytes: perilune::string::BorrowedBytes = s.as_bytes();
/// assert_eq!(bytes.iter().filter(|b| **b == b'o').count(), 2);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct BorrowedBytes {
    bytes: *const [u8],
    keep: (Handle, Lua),
}
/// The text of a string, which is kept meanwhile, with its state.
///
/// ```
/// let lua = perilune::Lua::new();
/// let s = lua.create_string("moon")?;
/// let text: perilune::string::BorrowedStr = s.to_str()?;
/// assert!(text.starts_with("mo"));
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct BorrowedStr(BorrowedBytes);

impl LuaString {
    /// The bytes.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let s = lua.create_string(b"a\0\xff")?;
    /// assert_eq!(*s.as_bytes(), [b'a', 0, 0xff]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn as_bytes(&self) -> BorrowedBytes {
        BorrowedBytes::new(self, &self.0.lua(), false)
    }
    /// The bytes, and a zero after them.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(*lua.create_string("ab")?.as_bytes_with_nul(), *b"ab\0");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn as_bytes_with_nul(&self) -> BorrowedBytes {
        BorrowedBytes::new(self, &self.0.lua(), true)
    }
    /// The text.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_string("moon")?.to_str()?, "moon");
    /// assert!(lua.create_string(b"\xff")?.to_str().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn to_str(&self) -> Result<BorrowedStr> {
        let bytes = self.open_bytes("LuaString::to_str")?;
        match core::str::from_utf8(&bytes) {
            Ok(_) => Ok(BorrowedStr(bytes)),
            Err(e) => Err(Error::conversion_because("string", "&str", e.to_string())),
        }
    }
    /// The bytes.
    ///
    /// # Errors
    /// The state is closed; `used` is the method that was called.
    pub(super) fn open_bytes(&self, used: &'static str) -> Result<BorrowedBytes> {
        Ok(BorrowedBytes::new(self, &*self.0.open(used)?, false))
    }
    /// The text, with U+FFFD for what is not UTF-8.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_string(b"a\xff")?.to_string_lossy(), "a\u{fffd}");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_string_lossy(&self) -> String {
        String::from_utf8_lossy(&self.as_bytes()).into_owned()
    }
    /// For `{}`: as [`LuaString::to_string_lossy`], or `<closed state>` if its state is closed.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(format!("<{}>", lua.create_string("moon")?.display()), "<moon>");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn display(&self) -> impl fmt::Display + '_ {
        struct Lossy<'a>(&'a LuaString);
        impl fmt::Display for Lossy<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0.open_bytes("LuaString::display") {
                    Ok(bytes) => f.write_str(&String::from_utf8_lossy(&bytes)),
                    Err(_) => f.write_str(CLOSED_STATE),
                }
            }
        }
        Lossy(self)
    }
    /// The address, which tells strings apart: equal strings have the same.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_string("moon")?.to_pointer(), lua.create_string("moon")?.to_pointer());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_pointer(&self) -> *const c_void {
        self.0.address()
    }
    /// Bytes or text to be made a string when a state asks for it, as `set` of a table does.
    ///
    /// ```
    /// use perilune::{Lua, LuaString};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("name", LuaString::wrap("moon"))?;
    /// assert_eq!(lua.globals().get::<LuaString>("name")?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap(bytes: impl AsRef<[u8]>) -> impl IntoLua {
        Wrapped(bytes)
    }
}

/// See [`LuaString::wrap`].
struct Wrapped<T>(T);

impl<T: AsRef<[u8]>> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Ok(Value::String(lua.create_string(self.0)?))
    }
}

#[cfg(feature = "send")]
// SAFETY: the bytes of a string neither move nor change, and the string is alive as long as its handle.
unsafe impl Send for BorrowedBytes {}
#[cfg(feature = "send")]
// SAFETY: as above.
unsafe impl Sync for BorrowedBytes {}

impl BorrowedBytes {
    fn new(s: &LuaString, lua: &Lua, nul: bool) -> BorrowedBytes {
        let keep = (s.0.clone(), Lua::clone(lua));
        let bytes = keep.0.get().as_str().map_or(&[][..] as *const [u8], |s| {
            let bytes = if nul { s.bytes_with_nul() } else { s.bytes() };
            bytes as *const [u8]
        });
        BorrowedBytes { bytes, keep }
    }
}
impl BorrowedBytes {
    /// The string that was borrowed from.
    pub(super) fn lua_string(&self) -> LuaString {
        LuaString(self.keep.0.clone())
    }
}
impl BorrowedStr {
    /// The string that was borrowed from.
    pub(super) fn lua_string(&self) -> LuaString {
        self.0.lua_string()
    }
}
impl From<&LuaString> for BorrowedBytes {
    fn from(s: &LuaString) -> BorrowedBytes {
        s.as_bytes()
    }
}
impl TryFrom<&LuaString> for BorrowedStr {
    type Error = Error;
    fn try_from(s: &LuaString) -> Result<BorrowedStr> {
        s.to_str()
    }
}
impl Deref for BorrowedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: strings neither move nor change, and the handle and the state keep this one alive as long as `self`.
        unsafe { &*self.bytes }
    }
}
impl Deref for BorrowedStr {
    type Target = str;
    fn deref(&self) -> &str {
        // SAFETY: checked when it was made.
        unsafe { core::str::from_utf8_unchecked(&self.0) }
    }
}

macro_rules! borrowed {
    ($t:ident $target:ty) => {
        impl AsRef<$target> for $t {
            fn as_ref(&self) -> &$target {
                self
            }
        }
        impl Borrow<$target> for $t {
            fn borrow(&self) -> &$target {
                self
            }
        }
        impl<T: AsRef<$target> + ?Sized> PartialEq<T> for $t {
            fn eq(&self, other: &T) -> bool {
                **self == *other.as_ref()
            }
        }
        impl Eq for $t {}
        impl<T: AsRef<$target> + ?Sized> PartialOrd<T> for $t {
            fn partial_cmp(&self, other: &T) -> Option<Ordering> {
                (**self).partial_cmp(other.as_ref())
            }
        }
        impl Ord for $t {
            fn cmp(&self, other: &$t) -> Ordering {
                (**self).cmp(&**other)
            }
        }
        impl Hash for $t {
            fn hash<H: Hasher>(&self, h: &mut H) {
                (**self).hash(h);
            }
        }
        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}
borrowed! { BorrowedBytes [u8] }
borrowed! { BorrowedStr str }
impl AsRef<[u8]> for BorrowedStr {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}
impl fmt::Display for BorrowedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
impl<'a> IntoIterator for &'a BorrowedBytes {
    type Item = &'a u8;
    type IntoIter = core::slice::Iter<'a, u8>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// As text in quotes, or `b"..."` where the bytes are not UTF-8; `<closed state>` if the state is closed.
impl fmt::Debug for LuaString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(bytes) = self.open_bytes("LuaString::fmt") else { return f.write_str(CLOSED_STATE) };
        match core::str::from_utf8(&bytes) {
            Ok(text) => text.fmt(f),
            Err(_) => {
                f.write_str("b\"")?;
                for c in bytes.iter() {
                    match c {
                        0 => f.write_str("\\0")?,
                        c => write!(f, "{}", c.escape_ascii())?,
                    }
                }
                f.write_str("\"")
            }
        }
    }
}
impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for LuaString {
    fn eq(&self, other: &T) -> bool {
        // `as_ref` is code of the caller's: it runs before.
        let other = other.as_ref();
        let _lock = self.0.lock();
        self.0.try_get().and_then(|v| v.as_str()).is_some_and(|s| s.bytes() == other)
    }
}
/// By their bytes; without these, where the state of one is closed, a string is equal to its clones alone.
impl PartialEq for LuaString {
    fn eq(&self, other: &LuaString) -> bool {
        match (self.open_bytes("LuaString::eq"), other.open_bytes("LuaString::eq")) {
            (Ok(a), Ok(b)) => *a == *b,
            _ => self.0.is_same(&other.0),
        }
    }
}
impl Eq for LuaString {}
impl<T: AsRef<[u8]> + ?Sized> PartialOrd<T> for LuaString {
    fn partial_cmp(&self, other: &T) -> Option<Ordering> {
        (*self.as_bytes()).partial_cmp(other.as_ref())
    }
}
impl PartialOrd for LuaString {
    fn partial_cmp(&self, other: &LuaString) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for LuaString {
    fn cmp(&self, other: &LuaString) -> Ordering {
        (*self.as_bytes()).cmp(&*other.as_bytes())
    }
}
impl Hash for LuaString {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (*self.as_bytes()).hash(h);
    }
}
