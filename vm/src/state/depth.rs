//! The limits of the depth of calls.

/// How deep calls may nest.
#[derive(Debug)]
pub(crate) struct DepthLimits {
    /// The most slots of a stack: beyond, "stack overflow".
    pub stack: u32,
    /// The most calls from native code into the VM that are active at once.
    pub native: u32,
}

impl DepthLimits {
    /// The limits of a new VM. LuaJIT's limit of a stack is 65,500 slots; a recursion 100,000 deep fits here. Calls from native code end where the
    /// native stack does (`vm/src/interp/native_stack.rs`), long before their limit.
    pub const MOST: DepthLimits = DepthLimits { stack: 1_000_000, native: 1_000_000 };
    /// The most calls from native code on a native stack whose end is not known: as many as in Lua 5.1, less what the handler of an error may
    /// need. C functions with a buffer of 8 KB each take 1.3 MB.
    pub const ON_UNKNOWN_STACK: u32 = 160;
}
