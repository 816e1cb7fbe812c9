//! Userdata.

use super::handle::Handle;

/// A userdata of any type.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyUserData(pub(crate) Handle);
