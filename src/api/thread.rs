//! Coroutines.

use super::handle::Handle;

/// A coroutine.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread(pub(crate) Handle);
