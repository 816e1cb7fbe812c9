//! The embedding API, by part.

mod userdata;
mod values;
