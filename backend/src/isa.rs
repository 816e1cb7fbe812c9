//! The compilation target and its settings.
//!
//! Our optimiser has done its work by the time a trace gets here, so Cranelift's own mid-end is off: it would copy pure
//! operations into every exit (docs/design.md).

use crate::BackendError;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use target_lexicon::Triple;

/// The target of this process, with the features of its processor.
pub fn host() -> Result<OwnedTargetIsa, BackendError> {
    build(Triple::host(), &host_features())
}

/// A target by its name, with the given Cranelift features on (for listings and cross-compilation tests).
pub fn foreign(triple: &str, features: &[&str]) -> Result<OwnedTargetIsa, BackendError> {
    let triple = triple.parse().map_err(|e| BackendError::Target(format!("{triple}: {e}")))?;
    build(triple, features)
}

/// Settings common to all targets.
const FLAGS: &[(&str, &str)] = &[
    ("opt_level", "none"),
    ("regalloc_algorithm", "backtracking"),
    // Cranelift's x86-64 tail calls need it.
    ("preserve_frame_pointers", "true"),
    ("unwind_info", "false"),
    ("enable_probestack", "false"),
    ("enable_alias_analysis", "false"),
    ("enable_heap_access_spectre_mitigation", "false"),
    ("enable_table_access_spectre_mitigation", "false"),
    ("is_pic", "false"),
    ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
];

fn build(triple: Triple, features: &[&str]) -> Result<OwnedTargetIsa, BackendError> {
    let error = |e: &dyn core::fmt::Display| BackendError::Target(e.to_string());
    let mut flags = settings::builder();
    for (name, value) in FLAGS {
        flags.set(name, value).map_err(|e| error(&e))?;
    }
    let mut isa = isa::lookup(triple).map_err(|e| error(&e))?;
    for feature in features {
        isa.enable(feature).map_err(|e| error(&e))?;
    }
    isa.finish(settings::Flags::new(flags)).map_err(|e| error(&e))
}

/// Features of the processor as Cranelift's settings. AVX-512 stays off: its encodings gain nothing here.
#[cfg(target_arch = "x86_64")]
fn host_features() -> Vec<&'static str> {
    let known = [
        ("has_cmpxchg16b", std::is_x86_feature_detected!("cmpxchg16b")),
        ("has_sse3", std::is_x86_feature_detected!("sse3")),
        ("has_ssse3", std::is_x86_feature_detected!("ssse3")),
        ("has_sse41", std::is_x86_feature_detected!("sse4.1")),
        ("has_sse42", std::is_x86_feature_detected!("sse4.2")),
        ("has_popcnt", std::is_x86_feature_detected!("popcnt")),
        ("has_avx", std::is_x86_feature_detected!("avx")),
        ("has_avx2", std::is_x86_feature_detected!("avx2")),
        ("has_bmi1", std::is_x86_feature_detected!("bmi1")),
        ("has_bmi2", std::is_x86_feature_detected!("bmi2")),
        ("has_lzcnt", std::is_x86_feature_detected!("lzcnt")),
    ];
    known.into_iter().filter_map(|(name, present)| present.then_some(name)).collect()
}

/// The aarch64 baseline has all that traces use.
#[cfg(not(target_arch = "x86_64"))]
fn host_features() -> Vec<&'static str> {
    Vec::new()
}
