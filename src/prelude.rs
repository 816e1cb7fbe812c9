//! Everything under names that begin with `Lua`, so that it can be imported as a whole: `use perilune::prelude::*`.
//!
//! ```
//! use perilune::prelude::*;
//!
//! let lua = Lua::new();
//! let text: LuaString = lua.load("('x'):rep(3)").eval()?;
//! assert_eq!(text, "xxx");
//! # Ok::<(), LuaError>(())
//! ```

#[doc(no_inline)]
pub use crate::{
    AnyUserData as LuaAnyUserData, AsChunk as AsLuaChunk, BorrowedBytes as LuaBorrowedBytes, BorrowedStr as LuaBorrowedStr,
    Chunk as LuaChunk, ChunkMode as LuaChunkMode, Either as LuaEither, Error as LuaError, ErrorContext as LuaErrorContext,
    ExternalError as LuaExternalError, ExternalResult as LuaExternalResult, FromLua, FromLuaMulti, Function as LuaFunction,
    FunctionInfo as LuaFunctionInfo, HookTriggers as LuaHookTriggers, Integer as LuaInteger, IntoLua, IntoLuaMulti,
    LightUserData as LuaLightUserData, Lua, LuaNativeFn, LuaNativeFnMut, LuaOptions, LuaString, MetaMethod as LuaMetaMethod,
    MultiValue as LuaMultiValue, Nil as LuaNil, Number as LuaNumber, ObjectLike as LuaObjectLike, RegistryKey as LuaRegistryKey,
    Result as LuaResult, StdLib as LuaStdLib, Table as LuaTable, TablePairs as LuaTablePairs, TableSequence as LuaTableSequence,
    Thread as LuaThread, ThreadStatus as LuaThreadStatus, UserData as LuaUserData, UserDataFields as LuaUserDataFields,
    UserDataMetatable as LuaUserDataMetatable, UserDataMethods as LuaUserDataMethods, UserDataOwned as LuaUserDataOwned,
    UserDataRef as LuaUserDataRef, UserDataRefMut as LuaUserDataRefMut, UserDataRegistry as LuaUserDataRegistry,
    Value as LuaValue, Variadic as LuaVariadic, VmState as LuaVmState, WeakLua,
    state::{GcIncParams as LuaGcIncParams, GcMode as LuaGcMode},
};
#[cfg(feature = "async")]
#[doc(no_inline)]
pub use crate::{AsyncThread as LuaAsyncThread, LuaNativeAsyncFn};
#[cfg(feature = "serde")]
#[doc(no_inline)]
pub use crate::{
    DeserializeOptions as LuaDeserializeOptions, LuaSerdeExt, SerializableValue as LuaSerializableValue,
    SerializeOptions as LuaSerializeOptions,
};
