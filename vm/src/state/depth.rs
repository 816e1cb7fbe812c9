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
    /// The limits of a new VM. LuaJIT's limit of a stack is 65,500 slots; a recursion 100,000 deep fits here.
    pub const MOST: DepthLimits = DepthLimits { stack: 1_000_000, native: 160 };
}
