//! The embedding API, by part.

#[cfg(feature = "async")]
mod asynchronous;
mod compiled_calls;
#[cfg(feature = "serde")]
mod data;
mod errors;
mod ffi;
mod hooks;
mod sandbox;
mod soundness;
mod state;
mod threads;
mod userdata;
mod values;
