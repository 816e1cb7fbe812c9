//! Names of metamethods.

use crate::api::error::{Error, Result};
use std::fmt;

macro_rules! meta_methods {
    ($($name:ident $text:literal $doc:literal)*) => {
        /// A metamethod that a userdata type can have. Methods that take names of metamethods take any string as well.
        ///
        /// `__gc` cannot be set: a type implements `Drop`. `__metatable` is false for all userdata, so that scripts do not reach metatables.
        ///
        /// ```
        /// use perilune::MetaMethod;
        ///
        /// assert_eq!(MetaMethod::Add.name(), "__add");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MetaMethod {
            $(#[doc = $doc] $name,)*
        }
        impl MetaMethod {
            /// All of them.
            pub(super) const ALL: &'static [MetaMethod] = &[$(MetaMethod::$name,)*];
            /// The key in the metatable.
            ///
            /// ```
            /// assert_eq!(perilune::MetaMethod::ToString.name(), "__tostring");
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $(MetaMethod::$name => $text,)*
                }
            }
        }
    };
}
meta_methods! {
    Add "__add" "`a + b`"
    Sub "__sub" "`a - b`"
    Mul "__mul" "`a * b`"
    Div "__div" "`a / b`"
    Mod "__mod" "`a % b`"
    Pow "__pow" "`a ^ b`"
    Unm "__unm" "`-a`"
    Concat "__concat" "`a .. b`"
    Len "__len" "`#a`"
    Eq "__eq" "`a == b`"
    Lt "__lt" "`a < b`"
    Le "__le" "`a <= b`"
    Index "__index" "`a[key]`, for a key that is neither a field nor a method"
    NewIndex "__newindex" "`a[key] = value`, for a key that is no field"
    Call "__call" "`a(...)`"
    ToString "__tostring" "`tostring(a)`"
    ToDebugString "__todebugstring" "The text of `{:#?}` in Rust; Lua code does not use it."
    Type "__name" "The name of the type, a string; it is the name of the Rust type unless set."
}

impl MetaMethod {
    /// The name of a metamethod.
    ///
    /// # Errors
    /// It is one that the API keeps for itself.
    pub(super) fn allowed(name: &str) -> Result<&str> {
        let restricted = matches!(name, "__gc" | "__metatable");
        if restricted { Err(Error::MetaMethodRestricted(name.to_owned())) } else { Ok(name) }
    }
}

impl fmt::Display for MetaMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
impl AsRef<str> for MetaMethod {
    fn as_ref(&self) -> &str {
        self.name()
    }
}
impl From<MetaMethod> for String {
    fn from(method: MetaMethod) -> String {
        method.name().to_owned()
    }
}
impl PartialEq<MetaMethod> for &str {
    fn eq(&self, other: &MetaMethod) -> bool {
        *self == other.name()
    }
}
impl PartialEq<MetaMethod> for String {
    fn eq(&self, other: &MetaMethod) -> bool {
        self == other.name()
    }
}
