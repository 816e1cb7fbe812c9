//! Values of any type.

use super::error::{Error, Result};
use super::failure;
use super::function::Function;
use super::handle::Handle;
use super::lua::Lua;
use super::string::LuaString;
use super::table::Table;
use super::thread::Thread;
use super::userdata::AnyUserData;
use perilune_vm::value::Value as Raw;
use std::ffi::c_void;

/// The integers that go to and from Lua. Lua numbers are doubles: integers of more than 53 bits lose their low bits.
pub type Integer = i64;
/// The numbers of Lua.
pub type Number = f64;

/// An address that Lua code passes around and compares. Perilune keeps the low 47 bits, all that user space has.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct LightUserData(pub *mut c_void);

impl LightUserData {
    pub(crate) fn raw(self) -> Raw {
        Raw::lightud(self.0.expose_provenance() as u64 & ((1 << 47) - 1))
    }
}

pub use Value::Nil;

/// A Lua value.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// nil
    #[default]
    Nil,
    /// A boolean.
    Boolean(bool),
    /// An address.
    LightUserData(LightUserData),
    /// A number without a fraction that fits.
    Integer(Integer),
    /// Any other number.
    Number(Number),
    /// A string.
    String(LuaString),
    /// A table.
    Table(Table),
    /// A function.
    Function(Function),
    /// A coroutine.
    Thread(Thread),
    /// A userdata.
    UserData(AnyUserData),
    /// An error of Rust code that Lua code has caught.
    Error(Box<Error>),
    /// A value of a type that the API does not know.
    Other(Other),
}

/// See [`Value::Other`].
#[derive(Clone, Debug)]
pub struct Other(pub(crate) Handle);

impl Value {
    /// nil as a value that structures like JSON can hold: a light userdata without an address.
    pub const NULL: Value = Value::LightUserData(LightUserData(core::ptr::null_mut()));

    /// The raw value, for use in a state.
    ///
    /// # Errors
    /// It is a handle of another state.
    pub(crate) fn raw_in(&self, lua: &Lua) -> Result<Raw> {
        match self {
            Value::Nil => return Ok(Raw::NIL),
            Value::Boolean(b) => return Ok(Raw::bool(*b)),
            Value::LightUserData(p) => return Ok(p.raw()),
            Value::Integer(i) => return Ok(Raw::number(*i as f64)),
            Value::Number(n) => return Ok(Raw::number(*n)),
            Value::Error(e) => return Ok(lua.0.enter(|vm| lua.0.error_value(vm, (**e).clone()))),
            _ => {}
        }
        self.handle().map_or(Ok(Raw::NIL), |h| h.get_in(&lua.0))
    }
    /// The handle of an object.
    pub(crate) fn handle(&self) -> Option<&Handle> {
        match self {
            Value::String(s) => Some(&s.0),
            Value::Table(t) => Some(&t.0),
            Value::Function(f) => Some(&f.0),
            Value::Thread(t) => Some(&t.0),
            Value::UserData(u) => Some(&u.0),
            Value::Other(o) => Some(&o.0),
            _ => None,
        }
    }
    /// A raw value of a state, rooted.
    pub(crate) fn from_raw(lua: &Lua, v: Raw) -> Value {
        if v.is_nil() {
            Value::Nil
        } else if v.is_bool() {
            Value::Boolean(v.truthy())
        } else if let Some(i) = v.as_int() {
            Value::Integer(i.into())
        } else if let Some(n) = v.as_number() {
            Value::from_number(n)
        } else if !v.is_gc() {
            Value::LightUserData(LightUserData(core::ptr::with_exposed_provenance_mut(v.payload() as usize)))
        } else if let Some(e) = v.as_udata().and_then(failure::error_in) {
            e.map_or(Value::Nil, |e| Value::Error(Box::new(e)))
        } else {
            let handle = lua.0.handle(v);
            if v.is_str() {
                Value::String(LuaString(handle))
            } else if v.is_table() {
                Value::Table(Table(handle))
            } else if v.is_func() {
                Value::Function(Function(handle))
            } else if v.as_thread().is_some() {
                Value::Thread(Thread(handle))
            } else if v.is_udata() {
                Value::UserData(AnyUserData(handle))
            } else {
                Value::Other(Other(handle))
            }
        }
    }
    /// Name of the type, as `type()` gives it; "error" for an error of Rust code.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Boolean(_) => "boolean",
            Value::LightUserData(_) => "lightuserdata",
            Value::Integer(_) => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Table(_) => "table",
            Value::Function(_) => "function",
            Value::Thread(_) => "thread",
            Value::UserData(_) => "userdata",
            Value::Error(_) => "error",
            Value::Other(o) => o.0.get().type_name(),
        }
    }
    /// Is this nil?
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }
    /// The text that `tostring` gives.
    pub(crate) fn display(&self, lua: &Lua) -> Result<String> {
        lua.0.tostring(self.raw_in(lua)?)
    }
    /// A number: an integer if it is one.
    pub(super) fn from_number(n: f64) -> Value {
        let i = n as i64;
        // -0 is no integer; 2^63 would wrap around.
        let exact = i as f64 == n && i != i64::MAX && !(i == 0 && n.is_sign_negative());
        if exact { Value::Integer(i) } else { Value::Number(n) }
    }
}

/// Raw equality; numbers by value.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        let (a, b) = match (self, other) {
            (Value::Nil, Value::Nil) => return true,
            (Value::Boolean(a), Value::Boolean(b)) => return a == b,
            (Value::LightUserData(a), Value::LightUserData(b)) => return a == b,
            (Value::Integer(a), Value::Integer(b)) => return a == b,
            (Value::Integer(a), Value::Number(b)) | (Value::Number(b), Value::Integer(a)) => return *a as f64 == *b,
            (Value::Number(a), Value::Number(b)) => return a == b,
            (Value::String(a), Value::String(b)) => return a == b,
            (Value::Table(a), Value::Table(b)) => (&a.0, &b.0),
            (Value::Function(a), Value::Function(b)) => (&a.0, &b.0),
            (Value::Thread(a), Value::Thread(b)) => (&a.0, &b.0),
            (Value::UserData(a), Value::UserData(b)) => (&a.0, &b.0),
            (Value::Other(a), Value::Other(b)) => (&a.0, &b.0),
            _ => return false,
        };
        a.is_same(b)
    }
}
