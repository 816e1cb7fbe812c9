//! Values of any type.

use super::function::Function;
use super::lua::Lua;
use super::state::Root;
use super::string::LuaString;
use super::table::Table;
use perilune_vm::value::Value as Raw;

/// A Lua value.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// nil
    #[default]
    Nil,
    /// A boolean.
    Boolean(bool),
    /// A number. Lua makes no difference between integers and floats.
    Number(f64),
    /// A string.
    String(LuaString),
    /// A table.
    Table(Table),
    /// A function.
    Function(Function),
    /// A coroutine or userdata.
    Other(Other),
}

/// A value that only Lua code can use.
#[derive(Clone)]
pub struct Other(Root);

impl std::fmt::Debug for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0.get())
    }
}
impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0.get())
    }
}
impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0.get())
    }
}

impl Value {
    /// Name of the type, as `type()` gives it.
    pub fn type_name(&self) -> &'static str {
        self.raw().type_name()
    }
    /// Is this nil?
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }
    pub(crate) fn raw(&self) -> Raw {
        match self {
            Value::Nil => Raw::NIL,
            Value::Boolean(b) => Raw::bool(*b),
            Value::Number(n) => Raw::number(*n),
            Value::String(s) => s.0.get(),
            Value::Table(t) => t.0.get(),
            Value::Function(f) => f.0.get(),
            Value::Other(o) => o.0.get(),
        }
    }
    pub(crate) fn from_raw(lua: &Lua, v: Raw) -> Value {
        if v.is_nil() {
            Value::Nil
        } else if v.is_bool() {
            Value::Boolean(v.truthy())
        } else if let Some(n) = v.as_number() {
            Value::Number(n)
        } else {
            let root = lua.0.root(v);
            if v.is_str() {
                Value::String(LuaString(root))
            } else if v.is_table() {
                Value::Table(Table(root))
            } else if v.is_func() {
                Value::Function(Function(root))
            } else {
                Value::Other(Other(root))
            }
        }
    }
}

/// Raw equality.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.raw().raw_equals(other.raw())
    }
}
