//! Exits of traces: their descriptors, and what is done when compiled code has left by one.

pub(crate) mod descriptor;
pub(crate) mod plain_exits;
mod side_exit;
pub(crate) mod stress;
pub(crate) mod table;
