//! Reasons of aborts: one table, in LuaJIT's order and wording, since tools print them by number.

/// Calls the given macro with all reasons: `(Name, "message")`. `%s` and `%d` stand for details that the event carries.
#[macro_export]
macro_rules! for_each_abort {
    ($consumer:ident) => {
        $consumer! {
            /// A Lua error, or a hook.
            (Error, "error thrown or hook called during recording")
            /// Not worth a trace.
            (TooShort, "trace too short")
            /// `maxrecord` or `maxirconst` reached.
            (TooLong, "trace too long")
            /// Too many frames.
            (TooDeep, "trace too deep")
            /// `maxsnap` reached.
            (TooManySnapshots, "too many snapshots")
            /// The instruction where the trace should start is blacklisted.
            (Blacklisted, "blacklisted")
            /// Start again at once: the next attempt knows what this one has found.
            (Retry, "retry recording")
            /// A bytecode that is not compiled.
            (NyiBytecode, "NYI: bytecode %s")
            /// The loop ends.
            (LeavingLoop, "leaving loop in root trace")
            /// Another loop starts.
            (InnerLoop, "inner loop in root trace")
            /// Unrolled too often.
            (LoopUnroll, "loop unroll limit reached")
            /// A builtin would raise an error.
            (BadType, "bad argument type")
            /// `jit.off` for this function.
            (JitOff, "JIT compilation disabled for function")
            /// Too many calls of one function in the trace.
            (CallUnroll, "call unroll limit reached")
            /// A better start was found: recording begins there.
            (DownRecursion, "down-recursion, restarting")
            /// A builtin called in a way that is not compiled.
            (NyiFastFunc, "NYI: unsupported variant of FastFunc %s")
            /// Returns below the start in a way that is not compiled.
            (NyiReturn, "NYI: return to lower frame")
            /// A store would raise an error.
            (NilOrNanKey, "store with nil or NaN key")
            /// An operation would raise an error.
            (MissingMetamethod, "missing metamethod")
            /// `__index` chain too long.
            (LoopingIndex, "looping index lookup")
            /// Table with array and hash part iterated.
            (MixedTable, "NYI: mixed sparse/dense table")
            /// (FFI)
            (SymbolCache, "symbol not in cache")
            /// (FFI)
            (NyiCConv, "NYI: unsupported C type conversion")
            /// (FFI)
            (NyiCFunc, "NYI: unsupported C function type")
            /// A guard contradicts what was recorded.
            (GuardAlwaysFails, "guard would always fail")
            /// Too many loop-carried values.
            (TooManyPhis, "too many PHIs")
            /// A loop-carried value keeps changing its type.
            (TypeInstability, "persistent type instability")
            /// No memory for code.
            (NoCodeMemory, "failed to allocate mcode memory")
            /// Code too long.
            (CodeTooLong, "machine code too long")
            /// Code memory is full.
            (CodeFull, "hit mcode limit (retrying)")
            /// (Register allocation)
            (SpillSlots, "too many spill slots")
            /// (Register allocation)
            (RegisterAllocation, "inconsistent register allocation")
            /// The backend lacks an instruction.
            (NyiIr, "NYI: cannot assemble IR instruction %d")
            /// (Register allocation)
            (PhiShuffle, "NYI: PHI shuffling too complex")
            /// (Register allocation)
            (Coalescing, "NYI: register coalescing too complex")
        }
    };
}

macro_rules! define_aborts {
    ($($(#[$doc:meta])* ($name:ident, $text:literal))*) => {
        /// Why a recording was aborted.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Abort { $($(#[$doc])* $name,)* }

        impl Abort {
            /// All reasons in order.
            pub const ALL: &'static [Abort] = &[$(Abort::$name,)*];
            /// Messages in order (`jit.vmdef.traceerr`).
            pub const MESSAGES: &'static [&'static str] = &[$($text,)*];
        }
    };
}
for_each_abort!(define_aborts);

impl Abort {
    /// The message.
    pub const fn message(self) -> &'static str {
        Abort::MESSAGES[self as usize]
    }
}

impl core::fmt::Display for Abort {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.message())
    }
}
impl core::error::Error for Abort {}

// ORDER: the numbers are LuaJIT's.
const _: () = assert!(Abort::ALL.len() == 35 && Abort::NyiBytecode as u8 == 7 && Abort::NyiFastFunc as u8 == 15);
const _: () = assert!(Abort::GuardAlwaysFails as u8 == 24 && Abort::NyiIr as u8 == 32 && Abort::Coalescing as u8 == 34);
