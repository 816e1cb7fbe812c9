//! Fuzz targets. Each is a function of some bytes that returns, whatever the bytes are; what it finds wrong panics, or is found by
//! AddressSanitizer.
//!
//! [`for_each_target`] is the table of all targets. The drivers for libFuzzer (`bin`), the corpora (`corpus/TARGET`) and the run in
//! the usual tests (`tests/replay.rs`) derive from it.

pub mod input;
pub mod mutate;
pub mod programs;
pub mod states;
pub mod targets;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys;

/// Calls a macro with the names of all targets, which are modules of [`targets`].
#[macro_export]
macro_rules! for_each_target {
    ($consumer:ident) => {
        $consumer! { parser bytecode bytecode_edits patterns format numbers buffer ir memprof heap_files api declarations }
    };
}

macro_rules! table {
    ($($name:ident)*) => {
        /// All targets: name and function.
        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), targets::$name::run)),*];
    };
}
for_each_target! { table }

/// The function of a target.
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|t| t.0 == name).map(|t| t.1)
}

/// The driver of a target for libFuzzer.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! libfuzzer {
    ($target:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::targets::$target::run(data));
    };
}
