//! The ffi library, and operators of cdata that are called as functions.

use super::{Args, Results};
use crate::rec::Recorder;
use perilune_vm::stdlib::Builtin;

impl Recorder {
    pub(super) fn lib_ffi(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        let _ = (b, args);
        Ok(None)
    }
}
