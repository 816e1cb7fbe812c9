//! The embedding API, by part.

mod soundness;
