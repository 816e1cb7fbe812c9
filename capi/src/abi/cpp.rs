//! Is C++ in the process? Then errors are exceptions, so that destructors run; otherwise they jump, which takes a tenth of the time.
#![allow(unsafe_code, reason = "the dynamic linker is asked what is loaded")]

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

/// Functions of a runtime of C++ in the program itself, and of AddressSanitizer, which notes what lies on the stack: the unwinder tells it which
/// frames an error leaves.
const FUNCTIONS: [&CStr; 2] = [c"__gxx_personality_v0", c"__asan_init"];
/// The libraries that C++ programs and modules are linked with.
const RUNTIMES: [&CStr; 3] = [c"libstdc++.so.6", c"libc++abi.so.1", c"libc++.so.1"];

/// Number of objects that were loaded when the last answer was found, doubled, and whether one was a runtime of C++.
static ANSWER: AtomicU64 = AtomicU64::new(0);

/// The number of objects that were ever loaded.
fn loaded() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the linker gives the description of an object, and the data from below.
        unsafe { *data.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut n = 0_u64;
    // SAFETY: the function only writes to the number.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut n).cast()) };
    n
}

fn is_loaded(library: &CStr) -> bool {
    // SAFETY: nothing is loaded; a handle is given back.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        !handle.is_null() && libc::dlclose(handle) == 0
    }
}

/// Is a runtime of C++ in the process, as a library or in the program?
pub fn is_in_process() -> bool {
    let n = loaded();
    let answer = ANSWER.load(Ordering::Relaxed);
    if answer >> 1 == n {
        return answer & 1 != 0;
    }
    // SAFETY: a symbol is looked up.
    let is_function = |name: &CStr| !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null();
    let found = FUNCTIONS.iter().any(|name| is_function(name)) || RUNTIMES.iter().any(|library| is_loaded(library));
    ANSWER.store(n << 1 | u64::from(found), Ordering::Relaxed);
    found
}
