//! Parameters of a recording: which passes run, the limits of a trace, and how far it unrolls.

macro_rules! define_flags {
    ($(#[doc = $doc:literal] $name:ident, $text:literal;)*) => {
        /// Which passes run.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        pub struct OptFlags { $(#[doc = $doc] pub $name: bool,)* }

        impl OptFlags {
            /// Names of the passes with what they do, in the order of `jit.status`.
            pub const TABLE: &'static [(&'static str, &'static str)] = &[$(($text, $doc),)*];
            /// Names of the passes, in the order of `jit.status`.
            pub const NAMES: &'static [&'static str] = &[$($text,)*];
            /// All passes.
            pub const ALL: OptFlags = OptFlags { $($name: true,)* };
            /// No pass.
            pub const NONE: OptFlags = OptFlags { $($name: false,)* };
            /// Switches one pass by its name; false when there is none of this name.
            pub fn set(&mut self, name: &str, on: bool) -> bool {
                match name {
                    $($text => self.$name = on,)*
                    _ => return false,
                }
                true
            }
            /// Names of the passes that are on.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                [$(if self.$name { Some($text) } else { None },)*].into_iter().flatten()
            }
        }
    };
}
define_flags! {
    /// Rewriting by operands.
    fold, "fold";
    /// Sharing of equal instructions.
    cse, "cse";
    /// Removal of unused instructions.
    dce, "dce";
    /// Forwarding of loads and stores.
    fwd, "fwd";
    /// Elimination of overwritten stores.
    dse, "dse";
    /// Narrowing of numbers to integers.
    narrow, "narrow";
    /// Loop optimisation.
    loop_, "loop";
    /// Elimination of array bounds checks.
    abc, "abc";
    /// Sinking of allocations.
    sink, "sink";
    /// Storing slots within the trace, so that exits are short.
    sync, "sync";
    /// Fusion of operands: of numbers into string buffers, and in the backend.
    fuse, "fuse";
}

impl Default for OptFlags {
    fn default() -> OptFlags {
        OptFlags::ALL
    }
}

impl OptFlags {
    /// The passes of a level: 0 none, 1 fold cse dce, 2 also narrow loop, 3 and above all.
    pub const fn level(n: u32) -> OptFlags {
        match n {
            0 => OptFlags::NONE,
            1 => OptFlags { fold: true, cse: true, dce: true, ..OptFlags::NONE },
            2 => OptFlags { fold: true, cse: true, dce: true, narrow: true, loop_: true, ..OptFlags::NONE },
            _ => OptFlags::ALL,
        }
    }
}

/// Limits of one trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions.
    pub maxrecord: u32,
    /// Constants.
    pub maxirconst: u32,
    /// Snapshots.
    pub maxsnap: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { maxrecord: 4000, maxirconst: 500, maxsnap: 500 }
    }
}

/// Parameters of recording.
#[derive(Copy, Clone, Debug)]
pub struct RecParams {
    /// Passes that run.
    pub flags: OptFlags,
    /// Limits of a trace.
    pub limits: Limits,
    /// Unrolled calls of one function that is not the start.
    pub callunroll: u32,
    /// Unrolled recursive calls of the start.
    pub recunroll: u32,
    /// Unrolled inner loops.
    pub loopunroll: u32,
    /// Further iterations that are recorded while types are not stable.
    pub instunroll: u32,
    /// Slots that exits store in all, before SYNC stores them once instead: code of exits takes time to compile.
    pub maxstore: u32,
    /// Instructions that a trace must have to be stitched to another one after a call.
    pub minstitch: u32,
    /// Keeps the requested instructions, see [`crate::rec::FinishedTrace::history`].
    pub history: bool,
}

impl Default for RecParams {
    fn default() -> RecParams {
        let (flags, limits) = (OptFlags::default(), Limits::default());
        let (callunroll, recunroll, loopunroll, instunroll) = (3, 2, 15, 4);
        RecParams { flags, limits, callunroll, recunroll, loopunroll, instunroll, maxstore: 300, minstitch: 0, history: false }
    }
}
