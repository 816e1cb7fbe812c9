//! Exits: what is known of each before it is taken, and what is done when compiled code has left by it.

pub(crate) mod departure;
mod side_exit;
mod stress;
