//! Exits: what is known of each before it is taken, and what is done when compiled code has left by it.

pub(crate) mod descriptor;
pub(crate) mod plain_exits;
mod side_exit;
mod stress;
