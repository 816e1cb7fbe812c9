//! The ffi library.

use super::{Args, Results};
use crate::rec::Recorder;
use perilune_vm::stdlib::Builtin;

impl Recorder {
    pub(super) fn lib_ffi(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        self.ffi_function(args.vm, b, &args.list)
    }
}
