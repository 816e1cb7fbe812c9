//! Lua errors inside the VM.

/// An error is being raised; its value is in [`ErrorState::value`](crate::state::ErrorState::value). One word, so that hot results stay
/// small.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct LuaError(());

impl LuaError {
    /// Only [`crate::Vm`] makes errors, after parking the value.
    pub(crate) const fn parked() -> LuaError {
        LuaError(())
    }
}

/// Result of an operation that may raise a Lua error.
pub type LuaResult<T> = Result<T, LuaError>;
