//! What recordings and runs have shown about the program, for later recordings. The feedback of single instructions is in
//! [`crate::policy::proto_table`].

pub(crate) mod number_profile;
mod recursion;
pub(crate) mod trace_db;
