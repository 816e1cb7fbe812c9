//! Sets of libraries: which of them a state has.

use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// A set of libraries. The functions without a library (`print`, `pcall`, ...) and `coroutine` are always there, but for
/// `loadfile` and `dofile`, which come with `io` and with `package`.
#[derive(Copy, Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Hash)]
pub struct StdLib(u32);

impl StdLib {
    /// The `table` library.
    pub const TABLE: StdLib = StdLib(1 << 1);
    /// The `io` library.
    pub const IO: StdLib = StdLib(1 << 2);
    /// The `os` library.
    pub const OS: StdLib = StdLib(1 << 3);
    /// The `string` library, which strings have as methods, and `string.buffer`.
    pub const STRING: StdLib = StdLib(1 << 4);
    /// The `bit` library.
    pub const BIT: StdLib = StdLib(1 << 6);
    /// The `math` library.
    pub const MATH: StdLib = StdLib(1 << 7);
    /// The `package` library, with `require` and `module`.
    pub const PACKAGE: StdLib = StdLib(1 << 8);
    /// The `jit` library. The compiler itself does not depend on it.
    pub const JIT: StdLib = StdLib(1 << 12);
    /// The `misc` library, which observes memory and traces (feature `observe`).
    pub const MISC: StdLib = StdLib(1 << 13);
    /// The `ffi` library. It is unsafe: it reads and writes any memory.
    pub const FFI: StdLib = StdLib(1 << 30);
    /// The `debug` library. It is unsafe: it changes what other code relies on, such as the metatables of types and the upvalues of
    /// functions.
    pub const DEBUG: StdLib = StdLib(1 << 31);
    /// No library.
    pub const NONE: StdLib = StdLib(0);
    /// All libraries, including the unsafe ones.
    pub const ALL: StdLib = StdLib(u32::MAX);
    /// All libraries but `debug` and `ffi`: as in mlua, programs can break no memory with them. Yet `io`, `os` and `package` reach files,
    /// processes and the environment, and `misc` writes files; see [`StdLib::SANDBOX`].
    pub const ALL_SAFE: StdLib = StdLib((1 << 30) - 1);
    /// The libraries that reach nothing outside of their state: `table`, `string`, `bit` and `math`. (`print`, which every state has, writes
    /// to the standard output.)
    pub const SANDBOX: StdLib = StdLib(StdLib::TABLE.0 | StdLib::STRING.0 | StdLib::BIT.0 | StdLib::MATH.0);

    /// Do the sets have a library in common?
    pub const fn contains(self, libraries: StdLib) -> bool {
        self.0 & libraries.0 != 0
    }
    /// The library that has a global of this name; none for a global that every state has.
    pub(super) fn named(name: &str) -> Option<StdLib> {
        Some(match name {
            "table" => StdLib::TABLE,
            "io" => StdLib::IO,
            "os" => StdLib::OS,
            "string" => StdLib::STRING,
            "bit" => StdLib::BIT,
            "math" => StdLib::MATH,
            "debug" => StdLib::DEBUG,
            "ffi" => StdLib::FFI,
            _ => return None,
        })
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident, $assign:ident $assign_function:ident;)*) => {$(
        impl $operator for StdLib {
            type Output = StdLib;
            fn $function(self, other: StdLib) -> StdLib {
                StdLib(self.0.$function(other.0))
            }
        }
        impl $assign for StdLib {
            fn $assign_function(&mut self, other: StdLib) {
                *self = self.$function(other);
            }
        }
    )*};
}
operators! {
    BitAnd bitand, BitAndAssign bitand_assign;
    BitOr bitor, BitOrAssign bitor_assign;
    BitXor bitxor, BitXorAssign bitxor_assign;
}

/// All other libraries.
impl Not for StdLib {
    type Output = StdLib;
    fn not(self) -> StdLib {
        StdLib(!self.0)
    }
}
