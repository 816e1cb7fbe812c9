//! The embedding API, by part.

mod values;
