//! What recordings and runs have shown about the program, for the recordings to come. What is noted of single instructions is in
//! [`crate::policy::proto_table`].

pub(crate) mod number_profile;
mod recursion;
pub(crate) mod trace_db;
