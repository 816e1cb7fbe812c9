//! The embedding API, by part. With the feature `send`, under which these closures and values would not compile: `tests/send.rs`.
#![cfg(not(feature = "send"))]

#[cfg(feature = "async")]
mod asynchronous;
#[cfg(feature = "c-modules")]
mod c_functions;
mod closed;
mod compiled_calls;
#[cfg(feature = "serde")]
mod data;
mod errors;
mod ffi;
mod hooks;
#[cfg(feature = "macros")]
mod macros;
mod sandbox;
mod soundness;
mod state;
mod threads;
mod userdata;
mod values;
