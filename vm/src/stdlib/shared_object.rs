//! Shared objects: libraries of the system, and their symbols.
//!
//! They stay loaded until the process ends: code of theirs may still be known to others when a state is closed.
#![allow(unsafe_code, reason = "the host that allows code in C answers for what libraries do when they are loaded")]

use std::ffi::{CStr, CString, c_int, c_void};

/// The longest path of a library.
const MAX_PATH: usize = 4096;

/// A loaded shared object.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SharedObject(*mut c_void);

/// When the functions are looked up that a library refers to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    /// When it is loaded.
    Now,
    /// When they are first called.
    Lazy,
}

impl SharedObject {
    /// The program, with all libraries whose symbols are there for others.
    pub const PROGRAM: SharedObject = SharedObject(libc::RTLD_DEFAULT);

    /// Loads a library, or finds it among the loaded ones; its symbols are there for others if `global`. The error is the message of the
    /// system.
    pub fn open(path: &[u8], binding: Binding, global: bool) -> Result<SharedObject, Vec<u8>> {
        if path.len() >= MAX_PATH {
            return Err(b"path too long".to_vec());
        }
        let Ok(path) = CString::new(path) else { return Err(b"path with a NUL".to_vec()) };
        let binding: c_int = match binding {
            Binding::Now => libc::RTLD_NOW,
            Binding::Lazy => libc::RTLD_LAZY,
        };
        let visibility = if global { libc::RTLD_GLOBAL } else { libc::RTLD_LOCAL };
        // SAFETY: a path that ends with a NUL. The library runs its constructors, for which the host answers.
        let library = unsafe { libc::dlopen(path.as_ptr(), binding | visibility) };
        if library.is_null() { Err(message()) } else { Ok(SharedObject(library)) }
    }
    /// The address of a symbol. The error is the message of the system.
    pub fn symbol(self, name: &[u8]) -> Result<*mut c_void, Vec<u8>> {
        let Ok(name) = CString::new(name) else { return Err(b"name with a NUL".to_vec()) };
        // SAFETY: a library that is loaded, and a name that ends with a NUL.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if symbol.is_null() { Err(message()) } else { Ok(symbol) }
    }
}

/// The name that a shared object, or the program, exports for an address; `None` if the address is not that of an exported symbol.
pub fn symbol_at(address: usize) -> Option<Vec<u8>> {
    // Miri loads no shared objects.
    if cfg!(miri) {
        return None;
    }
    let p: *const c_void = core::ptr::without_provenance(address);
    // SAFETY: a structure of pointers, for which null is a value.
    let mut found: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: only the tables of the loaded objects are read; what is found goes to `found`.
    let is_found = unsafe { libc::dladdr(p, &mut found) } != 0;
    if !is_found || found.dli_saddr.addr() != address || found.dli_sname.is_null() {
        return None;
    }
    // SAFETY: a name in the object's table of strings, which ends with a NUL. The object stays loaded as long as the address is called.
    Some(unsafe { CStr::from_ptr(found.dli_sname) }.to_bytes().to_vec())
}

/// The message of the last failure on this thread.
fn message() -> Vec<u8> {
    // SAFETY: it ends with a NUL, and is copied at once.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() { b"dlopen failed".to_vec() } else { CStr::from_ptr(message).to_bytes().to_vec() }
    }
}
