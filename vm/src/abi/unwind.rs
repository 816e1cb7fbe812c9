//! Exceptions of C++ at the border.
//!
//! A border call catches every exception: its personality routine says so, and the unwinder continues at `land` of the machine, which
//! returns from the border call. An error that goes through frames of C++ functions is an exception, too, so that their destructors run.
#![allow(
    unsafe_code,
    reason = "the unwinder calls these functions with an exception and a context that it keeps alive meanwhile"
)]

use super::{FOREIGN, RAISED, machine};
use core::ffi::{c_int, c_void};

/// The head of all exceptions, `_Unwind_Exception`.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Exception {
    class: u64,
    cleanup: Option<unsafe extern "C" fn(reason: c_int, *mut Exception)>,
    private: [u64; 2],
}

/// The class of exceptions that carry an error of Lua.
const CLASS: u64 = u64::from_be_bytes(*b"PERILLUA");

/// Actions and results of personality routines.
const SEARCH_PHASE: c_int = 1;
const HANDLER_FRAME: c_int = 4;
const HANDLER_FOUND: c_int = 6;
const INSTALL_CONTEXT: c_int = 7;
const CONTINUE_UNWIND: c_int = 8;

// SAFETY: these are the declarations of the unwinder's interface (Itanium C++ ABI, level 1).
unsafe extern "C" {
    /// Raises an exception. Returns only if nothing catches it.
    pub fn _Unwind_RaiseException(exception: *mut Exception) -> c_int;
    fn _Unwind_DeleteException(exception: *mut Exception);
    fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut c_void, address: usize);
}

impl Exception {
    /// An exception that carries the error which is being raised.
    pub fn of_error() -> *mut Exception {
        unsafe extern "C" fn cleanup(_: c_int, exception: *mut Exception) {
            // SAFETY: made from a box below.
            drop(unsafe { Box::from_raw(exception) });
        }
        Box::into_raw(Box::new(Exception { class: CLASS, cleanup: Some(cleanup), private: [0; 2] }))
    }
    /// Frees an exception.
    ///
    /// # Safety
    /// It is one that is not being raised.
    pub unsafe fn delete(exception: *mut Exception) {
        // SAFETY: the caller's promise.
        unsafe { _Unwind_DeleteException(exception) }
    }
}

/// The personality routine of border calls.
///
/// # Safety
/// Called by the unwinder.
pub(super) unsafe extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut Exception,
    context: *mut c_void,
) -> c_int {
    if actions & SEARCH_PHASE != 0 {
        return HANDLER_FOUND;
    }
    if actions & HANDLER_FRAME == 0 {
        // The thread is being ended.
        return CONTINUE_UNWIND;
    }
    let kind = if class == CLASS { RAISED } else { FOREIGN };
    // SAFETY: registers 0 and 1 are those of an outcome on all machines, and the code at `land` expects them.
    unsafe {
        _Unwind_SetGR(context, 0, exception.expose_provenance());
        _Unwind_SetGR(context, 1, kind as usize);
        _Unwind_SetIP(context, machine::land as *const () as usize);
    }
    INSTALL_CONTEXT
}
