//! Values of any type.

use super::error::{Error, Result};
use super::failure;
use super::function::Function;
use super::handle::Handle;
use super::lua::Lua;
use super::object;
use super::string::LuaString;
use super::table::Table;
use super::thread::Thread;
use super::userdata::AnyUserData;
use perilune_vm::value::Value as Raw;
use std::ffi::c_void;

/// The integers that go to and from Lua. Lua numbers are doubles: integers of more than 53 bits lose their low bits.
///
/// ```
/// let n: perilune::Integer = perilune::Lua::new().load("2 ^ 40").eval()?;
/// assert_eq!(n, 1 << 40);
/// # Ok::<(), perilune::Error>(())
/// ```
pub type Integer = i64;
/// The numbers of Lua.
///
/// ```
/// let n: perilune::Number = perilune::Lua::new().load("1 / 4").eval()?;
/// assert_eq!(n, 0.25);
/// # Ok::<(), perilune::Error>(())
/// ```
pub type Number = f64;

/// An address that Lua code passes around and compares. Perilune keeps the low 47 bits, all that user space has.
///
/// ```
/// use perilune::{LightUserData, Lua};
///
/// let lua = Lua::new();
/// let mut data = 5;
/// lua.globals().set("data", LightUserData((&raw mut data).cast()))?;
/// assert_eq!(lua.load("type(data)").eval::<String>()?, "userdata");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct LightUserData(pub *mut c_void);

impl LightUserData {
    pub(crate) fn raw(self) -> Option<Raw> {
        Raw::any_lightud(self.0.expose_provenance() as u64)
    }
}

pub use Value::Nil;

/// A Lua value.
///
/// ```
/// use perilune::{Error, LightUserData, Lua, Value};
///
/// let lua = Lua::new();
/// let eval = |code: &str| lua.load(code).eval::<Value>();
/// match eval("{ 1, 2 }")? {
///     Value::Table(t) => assert_eq!(t.len()?, 2),
///     other => panic!("a {}", other.type_name()),
/// }
/// assert!(eval("nil")?.is_nil() && Value::NULL.is_null());
/// assert!(eval("true")?.is_boolean() && eval("true")?.as_boolean() == Some(true));
/// // Numbers without a fraction are integers, others are numbers.
/// assert!(eval("7")?.is_integer() && eval("7.5")?.is_number());
/// assert_eq!((eval("7")?.as_integer(), eval("7.5")?.as_number()), (Some(7), Some(7.5)));
/// let (seven, half) = (eval("7")?, eval("7.5")?);
/// assert_eq!((seven.as_i32(), seven.as_u32(), seven.as_i64(), seven.as_u64()), (Some(7), Some(7), Some(7), Some(7)));
/// assert_eq!((seven.as_isize(), seven.as_usize()), (Some(7), Some(7)));
/// assert_eq!((half.as_f32(), half.as_f64()), (Some(7.5), Some(7.5)));
/// assert!(eval("'moon'")?.is_string() && eval("'moon'")?.as_string().is_some_and(|s| s == "moon"));
/// assert!(eval("{}")?.is_table() && eval("{}")?.as_table().is_some_and(|t| t.is_empty()));
/// assert!(eval("print")?.is_function() && eval("print")?.as_function().is_some());
/// let thread = eval("coroutine.create(print)")?;
/// assert!(thread.is_thread() && thread.as_thread().is_some_and(|t| t.is_resumable()));
/// let file = eval("io.stdout")?;
/// assert!(file.is_userdata() && file.as_userdata().is_some());
/// let address = Value::LightUserData(LightUserData(std::ptr::null_mut()));
/// assert!(address.is_light_userdata() && address.as_light_userdata().is_some());
/// let error = Value::Error(Box::new(Error::runtime("no")));
/// assert!(error.is_error() && error.as_error().is_some_and(|e| e.message() == "no"));
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Default)]
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
///
/// ```
/// // SAFETY: the script breaks no memory.
/// let lua = unsafe { perilune::Lua::unsafe_new() };
/// let value: perilune::Value = lua.load("require('ffi').new('int64_t', 42)").eval()?;
/// assert!(matches!(value, perilune::Value::Other(_)));
/// assert_eq!((value.type_name(), value.to_string()?.as_str()), ("other", "42LL"));
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Other(pub(crate) Handle);

impl Value {
    /// nil as a value that structures like JSON can hold: a light userdata without an address.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("null", Value::NULL)?;
    /// assert!(lua.load("return null ~= nil and null").eval::<Value>()?.is_null());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const NULL: Value = Value::LightUserData(LightUserData(core::ptr::null_mut()));

    /// The raw value, for use in a state.
    ///
    /// # Errors
    /// It is a handle of another state.
    pub(crate) fn raw_in(&self, lua: &Lua) -> Result<Raw> {
        match self {
            Value::Nil => return Ok(Raw::NIL),
            Value::Boolean(b) => return Ok(Raw::bool(*b)),
            Value::LightUserData(p) => return p.raw().ok_or_else(|| Error::runtime(perilune_vm::lightud::NO_PAYLOAD)),
            Value::Integer(i) => return Ok(Raw::number(*i as f64)),
            Value::Number(n) => return Ok(Raw::number(*n)),
            Value::Error(e) => return Ok(lua.0.enter(|vm| lua.0.error_value(vm, (**e).clone()))),
            _ => {}
        }
        self.handle().map_or(Ok(Raw::NIL), |h| h.get_in(&lua.0))
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
            Value::LightUserData(LightUserData(core::ptr::with_exposed_provenance_mut(v.address() as usize)))
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
    /// Name of the type, as `type()` gives it; "error" for an error of Rust code, "other" for [`Value::Other`].
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.load("{}").eval::<Value>()?.type_name(), "table");
    /// assert_eq!(Value::Integer(1).type_name(), "integer");
    /// # Ok::<(), perilune::Error>(())
    /// ```
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
            Value::Other(_) => "other",
        }
    }
    /// What messages call it: the type, also that of a [`Value::Other`].
    pub(crate) fn what(&self) -> &'static str {
        let Value::Other(o) = self else { return self.type_name() };
        let _lock = o.0.lock();
        o.0.try_get().map_or(self.type_name(), |v| v.type_name())
    }
    /// Is this [`Value::NULL`]?
    ///
    /// ```
    /// use perilune::Value;
    ///
    /// assert!(Value::NULL.is_null() && !Value::Nil.is_null());
    /// ```
    pub fn is_null(&self) -> bool {
        *self == Value::NULL
    }
    /// The handle of a value that has one.
    pub(crate) fn handle(&self) -> Option<&Handle> {
        Some(match self {
            Value::String(s) => &s.0,
            Value::Table(t) => &t.0,
            Value::Function(f) => &f.0,
            Value::Thread(t) => &t.0,
            Value::UserData(u) => &u.0,
            Value::Other(o) => &o.0,
            _ => return None,
        })
    }
    /// Are the values equal as `==` of Lua tests it? Tables and userdata are asked by way of `__eq`: the first one's, or else the
    /// second one's.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// let (a, b): (Value, Value) = lua
    ///     .load("local mt = { __eq = function() return true end } return setmetatable({}, mt), setmetatable({}, mt)")
    ///     .eval()?;
    /// assert!(a != b && a.equals(&b)?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod.
    pub fn equals(&self, other: &Value) -> Result<bool> {
        let alive = |v: &Value| v.handle().map(|h| h.alive("Value::equals")).transpose();
        let _states = (alive(self)?, alive(other)?);
        match (self, other) {
            (Value::Table(a), Value::Table(b)) => object::equals(&a.0, "Value::equals", &b.0),
            (Value::UserData(a), Value::UserData(b)) => a.equals(b),
            (a, b) => Ok(a == b),
        }
    }
    /// The address that tells this object apart from others; null for values that are no objects.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// let (a, b): (Value, Value) = lua.load("return print, print").eval()?;
    /// assert_eq!(a.to_pointer(), b.to_pointer());
    /// assert!(Value::Integer(1).to_pointer().is_null());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_pointer(&self) -> *const c_void {
        match self {
            Value::LightUserData(p) => p.0,
            v => v.handle().map_or(core::ptr::null(), Handle::address),
        }
    }
    /// The text that `tostring` gives, by way of `__tostring`; "null" for [`Value::NULL`], name of the type and address for other userdata.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// assert_eq!(Value::Number(1.5).to_string()?, "1.5");
    /// let lua = Lua::new();
    /// let value: Value = lua.load("setmetatable({}, { __tostring = function() return 'moon' end })").eval()?;
    /// assert_eq!(value.to_string()?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod; a string is not UTF-8.
    pub fn to_string(&self) -> Result<String> {
        let lua = self.handle().map(|h| h.open("Value::to_string")).transpose()?;
        Ok(match self {
            Value::Nil => "nil".to_owned(),
            Value::Boolean(b) => b.to_string(),
            Value::LightUserData(p) if p.0.is_null() => "null".to_owned(),
            Value::LightUserData(p) => format!("lightuserdata: {:p}", p.0),
            Value::Integer(i) => i.to_string(),
            Value::Number(n) => number_text(*n),
            Value::String(s) => s.to_str()?.to_owned(),
            Value::Error(e) => e.to_string(),
            // Userdata of libraries, like files, have no name of a type.
            Value::UserData(u) if u.metatable().is_ok() => u.to_text()?,
            v => match (v.handle(), lua) {
                (Some(handle), Some(lua)) => lua.0.tostring(handle.get_with(&lua))?,
                _ => String::new(),
            },
        })
    }
    /// The text that `tostring` gives.
    pub(crate) fn display(&self, lua: &Lua) -> Result<String> {
        let _lock = lua.0.lock();
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

/// The text that `tostring` gives for a number.
pub(super) fn number_text(n: Number) -> String {
    let mut text = Vec::new();
    perilune_vm::stdlib::tostring::put_value(&mut text, Raw::number(n));
    String::from_utf8_lossy(&text).into_owned()
}

/// An example that tests a value.
macro_rules! example {
    ($value:literal, $($test:expr),*) => {
        concat!(
            "```\nuse perilune::{Error, LightUserData, Lua, Value};\n\nlet lua = Lua::new();\nlet value: Value = ",
            $value,
            ";\nassert!(value.",
            $($test,)*
            ");\n# Ok::<(), Error>(())\n```"
        )
    };
}

macro_rules! variants {
    ($($is:ident $as:ident $variant:ident $t:ty, $what:literal, $value:literal, $content:literal;)*) => {
        /// Tests and views of the variants.
        impl Value {
            /// Is this nil?
            ///
            /// ```
            /// let lua = perilune::Lua::new();
            /// assert!(lua.globals().get::<perilune::Value>("unknown")?.is_nil());
            /// # Ok::<(), perilune::Error>(())
            /// ```
            pub fn is_nil(&self) -> bool {
                matches!(self, Value::Nil)
            }
            $(
                #[doc = concat!("Is this ", $what, "?\n\n", example!($value, stringify!($is), "()"))]
                pub fn $is(&self) -> bool {
                    matches!(self, Value::$variant(_))
                }
                #[doc = concat!("The value, if it is ", $what, ".\n\n", example!($value, stringify!($as), "()", $content))]
                pub fn $as(&self) -> Option<$t> {
                    match self {
                        Value::$variant(v) => Some(View::view(v)),
                        _ => None,
                    }
                }
            )*
        }
    };
}
variants! {
    is_boolean as_boolean Boolean bool, "a boolean", "lua.load(\"1 < 2\").eval()?", " == Some(true)";
    is_light_userdata as_light_userdata LightUserData LightUserData, "an address",
        "Value::LightUserData(LightUserData(std::ptr::null_mut()))", ".is_some_and(|address| address.0.is_null())";
    is_integer as_integer Integer Integer, "a number without a fraction that fits an [`Integer`]",
        "lua.load(\"3 + 4\").eval()?", " == Some(7)";
    is_number as_number Number Number, "a number that is no [`Value::Integer`]", "lua.load(\"15 / 2\").eval()?", " == Some(7.5)";
    is_string as_string String &LuaString, "a string", "lua.load(\"'mo' .. 'on'\").eval()?", ".is_some_and(|s| s == \"moon\")";
    is_table as_table Table &Table, "a table", "lua.load(\"{ 1, 2 }\").eval()?", ".is_some_and(|t| t.raw_len() == 2)";
    is_function as_function Function &Function, "a function", "lua.load(\"print\").eval()?",
        ".is_some_and(|f| f.info().what == \"C\")";
    is_thread as_thread Thread &Thread, "a coroutine", "lua.load(\"coroutine.create(print)\").eval()?",
        ".is_some_and(|t| t.is_resumable())";
    is_userdata as_userdata UserData &AnyUserData, "a userdata", "Value::UserData(lua.create_any_userdata(7_u8)?)",
        ".is_some_and(|u| u.is::<u8>())";
    is_error as_error Error &Error, "an error of Rust code", "Value::Error(Box::new(Error::runtime(\"no moon\")))",
        ".is_some_and(|e| e.message() == \"no moon\")";
}

/// How a view of a variant shows its content: small values as copies, others as references.
trait View<'a, T> {
    fn view(&'a self) -> T;
}
macro_rules! views {
    (copies $($t:ty)*; references $($r:ty)*;) => {
        $(impl View<'_, $t> for $t {
            fn view(&self) -> $t {
                *self
            }
        })*
        $(impl<'a> View<'a, &'a $r> for $r {
            fn view(&'a self) -> &'a $r {
                self
            }
        })*
    };
}
views! {
    copies bool LightUserData Integer Number;
    references LuaString Table Function Thread AnyUserData;
}
impl<'a> View<'a, &'a Error> for Box<Error> {
    fn view(&'a self) -> &'a Error {
        self
    }
}

macro_rules! narrower {
    ($($as:ident $from:ident $t:ident;)*) => {
        /// Views as other number types.
        impl Value {
            $(
                #[doc = concat!("The value as `", stringify!($t), "`, if it is what [`Value::", stringify!($from), "`] gives and fits.\n\n")]
                #[doc = concat!("```\nuse perilune::Value;\n\nassert_eq!(Value::Integer(7).", stringify!($as), "(), Some(7));\n")]
                #[doc = concat!("assert_eq!(Value::Number(7.5).", stringify!($as), "(), None);\n```")]
                pub fn $as(&self) -> Option<$t> {
                    self.$from()?.try_into().ok()
                }
            )*
            /// The value as `f32`, if it is what [`Value::as_number`] gives.
            ///
            /// ```
            /// assert_eq!(perilune::Value::Number(7.5).as_f32(), Some(7.5));
            /// ```
            pub fn as_f32(&self) -> Option<f32> {
                self.as_number().map(|n| n as f32)
            }
            /// The same as [`Value::as_number`].
            ///
            /// ```
            /// assert_eq!(perilune::Value::Number(7.5).as_f64(), Some(7.5));
            /// ```
            pub fn as_f64(&self) -> Option<f64> {
                self.as_number()
            }
        }
    };
}
narrower! {
    as_i32 as_integer i32; as_u32 as_integer u32; as_i64 as_integer i64; as_u64 as_integer u64; as_isize as_integer isize;
    as_usize as_integer usize;
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
