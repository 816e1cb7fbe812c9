//! What would depend on a feature `send`, with which a state and its handles go from thread to thread. There is none yet: a state belongs to
//! its thread, and so do its functions and userdata.

pub(crate) use std::rc::Rc;

/// A bound of mlua: `Send` with its feature `send`. Here any type has it.
///
/// ```
/// fn spawn(task: impl FnOnce() + perilune::MaybeSend + 'static) {
///     task();
/// }
/// spawn(|| {});
/// ```
pub trait MaybeSend {}
impl<T: ?Sized> MaybeSend for T {}
