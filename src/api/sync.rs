//! What depends on the feature `send`, with which a state and its handles go from thread to thread.

pub(crate) use std::rc::Rc;

/// `Send` with the feature `send`; without it, any type.
pub trait MaybeSend {}
impl<T: ?Sized> MaybeSend for T {}
