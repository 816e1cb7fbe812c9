//! Userdata whose values can be serialized.

use super::LuaSerdeExt;
use crate::api::convert::IntoLua;
use crate::api::error::{Error, Result};
use crate::api::lua::Lua;
use crate::api::sync::{MaybeSend, MaybeSync};
use crate::api::userdata::cell::{Content, Payload, Serialize as SerializeContent};
use crate::api::userdata::{AnyUserData, UserData, read_content};
use crate::api::value::Value;
use ::serde::ser::{Error as _, Serialize, Serializer};

/// A payload whose value can be serialized.
fn payload<T: Serialize + 'static>(data: T) -> Payload {
    let mut payload = Payload::new(Content::owned(data));
    payload.serialize = Some(|content, f| read_content(content, |v: &T| f(v)));
    payload
}

impl Lua {
    /// As [`Lua::create_userdata`] for a type that can be serialized: serde sees the userdata as it sees the value.
    ///
    /// ```
    /// use perilune::{Lua, UserData};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Player {
    ///     name: String,
    ///     score: u32,
    /// }
    /// impl UserData for Player {}
    ///
    /// let lua = Lua::new();
    /// let player = lua.create_ser_userdata(Player { name: "Ada".into(), score: 3 })?;
    /// assert_eq!(serde_json::to_string(&player).unwrap(), r#"{"name":"Ada","score":3}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_userdata`].
    pub fn create_ser_userdata<T: UserData + Serialize + MaybeSend + MaybeSync + 'static>(&self, data: T) -> Result<AnyUserData> {
        let _lock = self.0.lock();
        let meta = self.userdata_metatable::<T>(T::register)?;
        self.new_userdata(payload(data), size_of::<T>(), meta)
    }
    /// As [`Lua::create_any_userdata`] for a type that can be serialized.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let pair = lua.create_ser_any_userdata((1, "two"))?;
    /// assert_eq!(serde_json::to_string(&pair).unwrap(), r#"[1,"two"]"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lua::create_any_userdata`].
    pub fn create_ser_any_userdata<T: Serialize + MaybeSend + MaybeSync + 'static>(&self, data: T) -> Result<AnyUserData> {
        let _lock = self.0.lock();
        let meta = self.userdata_metatable::<T>(|_| {})?;
        self.new_userdata(payload(data), size_of::<T>(), meta)
    }
}

/// A value that becomes a userdata that can be serialized.
struct Wrapped<T>(T);

impl<T: Serialize + MaybeSend + MaybeSync + 'static> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_ser_any_userdata(self.0).map(Value::UserData)
    }
}

impl AnyUserData {
    /// Has a value become a userdata where a Lua value is made of it: as by [`Lua::create_ser_any_userdata`].
    ///
    /// ```
    /// use perilune::{AnyUserData, Lua, LuaSerdeExt, Value};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("pair", AnyUserData::wrap_ser((1, "two")))?;
    /// let pair: Value = lua.globals().get("pair")?;
    /// assert_eq!(lua.from_value::<(u8, String)>(pair)?, (1, "two".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap_ser<T: Serialize + MaybeSend + MaybeSync + 'static>(data: T) -> impl IntoLua {
        Wrapped(data)
    }
    fn serializer(&self) -> Option<SerializeContent> {
        self.0.get().as_udata()?.with(|p: &mut Payload| p.serialize)?
    }
    /// Can the value be serialized?
    pub(super) fn is_serializable(&self) -> bool {
        let _lock = self.0.lock();
        self.serializer().is_some() && self.content().is_ok()
    }
    /// Calls `f` with the value.
    ///
    /// # Errors
    /// The value is gone, it is borrowed to write, or its type cannot be serialized.
    fn with_serializable(&self, f: &mut dyn FnMut(&dyn erased_serde::Serialize)) -> Result<()> {
        let _lua = self.0.open("Serialize::serialize")?;
        let content = self.content()?;
        let serialize = self.serializer().ok_or_else(|| Error::SerializeError("cannot serialize <userdata>".to_owned()))?;
        serialize(&content, f)
    }
    /// The value as a Lua value that says the same.
    ///
    /// # Errors
    /// It cannot be serialized.
    pub(super) fn to_data(&self) -> Result<Value> {
        let lua = self.0.lua();
        let mut result = Ok(Value::Nil);
        self.with_serializable(&mut |v| result = lua.to_value(v))?;
        result
    }
}

/// As the value of the userdata.
impl Serialize for AnyUserData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut serializer = Some(serializer);
        let mut result = None;
        let read = self.with_serializable(&mut |v| result = serializer.take().map(|s| erased_serde::serialize(v, s)));
        read.map_err(S::Error::custom)?;
        result.unwrap_or_else(|| Err(S::Error::custom(Error::UserDataDestructed)))
    }
}
