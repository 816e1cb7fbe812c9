//! Exits of traces: their descriptors, and the work that is done when compiled code has left by one.

pub(crate) mod descriptor;
pub(crate) mod plain_exits;
mod side_exit;
mod stress;
pub(crate) mod table;
