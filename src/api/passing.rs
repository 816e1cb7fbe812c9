//! Arguments and results on their way between Rust and Lua: raw values on a stack of the state, which keeps them alive, so that a call needs
//! no list of its own and no handles for what is converted at once.

use super::error::Result;
use super::lua::Lua;
use super::multi::MultiValue;
use super::value::Value;
use perilune_vm::host::Roots;
use perilune_vm::value::Value as Raw;

/// Puts a value on its way.
#[inline]
pub(crate) fn pass(lua: &Lua, v: Raw) {
    lua.0.roots.pass(v);
}

/// Puts a value of the API on its way.
///
/// # Errors
/// It is a handle of another state.
pub(crate) fn pass_value(lua: &Lua, v: &Value) -> Result<()> {
    let raw = v.raw_in(lua)?;
    pass(lua, raw);
    Ok(())
}

/// Puts a new string on its way.
///
/// # Errors
/// The memory limit is reached.
pub(crate) fn pass_bytes(lua: &Lua, bytes: &[u8]) -> Result<()> {
    let s = lua.0.try_enter(|vm| vm.check_alloc(bytes.len()).map(|()| Raw::str(vm.new_str(bytes))))?;
    pass(lua, s);
    Ok(())
}

/// What is on its way from here on is removed at the end, also when a panic passes.
pub(crate) struct Frame<'a> {
    roots: &'a Roots,
    /// Number of values that were on their way before.
    pub from: usize,
}

impl<'a> Frame<'a> {
    #[inline]
    pub fn new(lua: &'a Lua) -> Frame<'a> {
        let roots = &*lua.0.roots;
        Frame { roots, from: roots.passing_len() }
    }
    /// Number of values of this frame.
    #[inline]
    pub fn len(&self) -> usize {
        self.roots.passing_len() - self.from
    }
    /// Removes the values of this frame.
    pub fn clear(&self) {
        self.roots.truncate_passing(self.from);
    }
    /// Has only this value in the frame.
    #[inline]
    pub fn set(&self, v: Raw) {
        self.roots.replace_passing(self.from, &[v]);
    }
    /// Value number `i` of this frame.
    #[inline]
    pub fn raw(&self, i: usize) -> Raw {
        self.roots.passing(self.from + i)
    }
    /// Removes the values of this frame, and keeps them.
    #[cfg(feature = "async")]
    pub fn keep(&self) -> Kept {
        Kept(self.roots.keep_passing(self.from))
    }
    /// All values of this frame.
    #[inline]
    pub fn passed<'b>(&self, lua: &'b Lua) -> Passed<'b> {
        Passed { lua, from: self.from, len: self.len() }
    }
}

impl Drop for Frame<'_> {
    #[inline]
    fn drop(&mut self) {
        self.roots.truncate_passing(self.from);
    }
}

/// Values that are to be on their way later, rooted until they are passed or released.
#[cfg(feature = "async")]
pub(crate) struct Kept(u32);

#[cfg(feature = "async")]
impl Kept {
    /// Puts them on their way.
    pub fn pass(self, lua: &Lua) {
        lua.0.roots.pass_kept(self.0);
    }
    /// They are not needed.
    pub fn release(self, lua: &Lua) {
        let frame = Frame::new(lua);
        self.pass(lua);
        drop(frame);
    }
}

/// Arguments or results that Rust code is about to convert.
#[derive(Copy, Clone)]
pub struct Passed<'a> {
    pub(crate) lua: &'a Lua,
    from: usize,
    len: usize,
}

/// The number of the first argument, counted from 1, and the name of the function, for errors. `None` for results.
pub type Place<'a> = Option<(usize, Option<&'a str>)>;

impl Passed<'_> {
    /// Number of values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// Value number `i`; nil if there are not so many.
    #[inline]
    pub(crate) fn raw(&self, i: usize) -> Raw {
        if i < self.len { self.lua.0.roots.passing(self.from + i) } else { Raw::NIL }
    }
    /// Value number `i`, rooted.
    #[inline]
    pub(crate) fn value(&self, i: usize) -> Value {
        Value::from_raw(self.lua, self.raw(i))
    }
    /// The values without the first `n`.
    #[inline]
    #[must_use]
    pub(crate) fn skip(self, n: usize) -> Self {
        let n = n.min(self.len);
        // Field by field: a copy that is changed is read as one vector, for which the caller's stores of the fields have to be complete.
        Passed { lua: self.lua, from: self.from + n, len: self.len - n }
    }
    /// All values, rooted.
    pub(crate) fn to_multi(self) -> MultiValue {
        (0..self.len).map(|i| self.value(i)).collect()
    }
}

/// The place of the argument that is `n` places after this one.
#[inline]
pub(crate) fn behind(place: Place<'_>, n: usize) -> Place<'_> {
    place.map(|(i, to)| (i + n, to))
}
