//! What recordings and runs have shown about the program, for the recordings to come. What is noted of single instructions is in
//! [`crate::policy::site`].

pub(crate) mod number_profile;
mod recursion;
pub(crate) mod trace_db;
