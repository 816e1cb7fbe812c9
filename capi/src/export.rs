//! The macros that export functions.

/// Functions that raise no error: `fn name(l => vm, argument: type) -> type { body }`. The body uses the VM, in which the coroutine `l` runs.
macro_rules! plain {
    ($($(#[$doc:meta])* fn $name:ident($l:ident => $vm:ident $(, $arg:ident: $ty:ty)* $(,)?) $(-> $ret:ty)? $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($l: $crate::state::L $(, $arg: $ty)*) $(-> $ret)? {
            $crate::state::enter($l, move |$vm| $body)
        }
    )*};
}

/// Functions that raise errors, in the same form; the body returns a `LuaResult`.
macro_rules! raising {
    ($($(#[$doc:meta])* fn $name:ident($l:ident => $vm:ident $(, $arg:ident: $ty:ty)* $(,)?) -> $ret:ty $body:block)*) => {$(
        raising!(@inner outcome, $name($l => $vm $(, $arg: $ty)*) -> $ret, $crate::abi::Outcome, $body);
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        // SAFETY: the body follows the calling convention of C.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name($l: $crate::state::L $(, $arg: $ty)*) -> $ret {
            $crate::abi::stub!($name::inner)
        }
    )*};
    (@inner $outcome:ident, $name:ident($l:ident => $vm:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty, $returned:ty, $body:block) => {
        mod $name {
            use super::*;
            /// The Rust part.
            ///
            /// # Safety
            /// The contract of the crate.
            pub unsafe extern "C" fn inner($l: $crate::state::L $(, $arg: $ty)*) -> $returned {
                $crate::state::enter_for($l, $crate::abi::$outcome, move |$vm| -> perilune_vm::LuaResult<$ret> { $body })
            }
        }
    };
}

/// The same for functions that return a double.
macro_rules! raising_double {
    ($($(#[$doc:meta])* fn $name:ident($l:ident => $vm:ident $(, $arg:ident: $ty:ty)* $(,)?) $body:block)*) => {$(
        raising!(@inner double_outcome, $name($l => $vm $(, $arg: $ty)*) -> f64, $crate::abi::DoubleOutcome, $body);
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        // SAFETY: the body follows the calling convention of C.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name($l: $crate::state::L $(, $arg: $ty)*) -> f64 {
            $crate::abi::double_stub!($name::inner)
        }
    )*};
}

/// The same for functions with a format and variable arguments.
macro_rules! raising_variadic {
    ($($(#[$doc:meta])* fn $name:ident($l:ident => $vm:ident, $format:ident, $list:ident) -> $ret:ty $body:block)*) => {$(
        raising!(
            @inner outcome, $name($l => $vm, $format: *const c_char, $list: *mut $crate::abi::VaList) -> $ret, $crate::abi::Outcome, $body
        );
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate. After the format come as many arguments as it says, which the declaration in Rust does not have.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        // SAFETY: the body follows the calling convention of C.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name($l: $crate::state::L, $format: *const c_char) -> $ret {
            $crate::abi::variadic_stub!($name::inner)
        }
    )*};
}
