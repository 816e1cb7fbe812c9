//! What a trace does with a call of a builtin or of a function of the host.

use perilune_vm::object::{Func, Gc};
use perilune_vm::stdlib::{Builtin, OnTrace};

/// What a trace does with a call of a function that is not Lua's.
pub(super) fn on_trace(f: Gc<Func>) -> OnTrace {
    if f.is_of_host() {
        return OnTrace::Call;
    }
    Builtin::from_id(f.ffid()).unwrap_or(Builtin::NativeFunction).on_trace()
}
