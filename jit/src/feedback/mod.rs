//! What recordings and runs have shown about the program, for the recordings to come. What is noted of single instructions is in
//! [`crate::policy::site`].

pub(crate) mod known;
pub(crate) mod mixed;
mod recursion;
