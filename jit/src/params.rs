//! The parameters and flags of the compiler: what `-O` and `jit.opt.start` set.

use core::cell::Cell;
use perilune_recorder::params::Limits;
use perilune_recorder::params::OptFlags;
use perilune_recorder::rec::RecParams;

/// Calls the given macro with all parameters: name, default, meaning.
#[macro_export]
macro_rules! for_each_param {
    ($consumer:ident) => {
        $consumer! {
            /// Traces that may live at once; when it is reached, all are flushed.
            maxtrace = 8000;
            /// Instructions that one trace may have.
            maxrecord = 4000;
            /// Constants that one trace may have.
            maxirconst = 500;
            /// Side traces of one root trace.
            maxside = 100;
            /// Snapshots that one trace may have.
            maxsnap = 500;
            /// Instructions that a trace must have for another to be stitched to it.
            minstitch = 0;
            /// Iterations before a loop is recorded; calls count half. More while compiling takes long, unless this is set. See `policy`.
            hotloop = $crate::policy::cost::HOT_LOOP;
            /// Exits taken before a side trace is recorded; likewise.
            hotexit = $crate::policy::cost::HOT_EXIT;
            /// Runs of side traces, for each instruction of their tree, before the tree is compiled as one function.
            hottree = $crate::policy::cost::HOT_TREE;
            /// Attempts at a side trace.
            tryside = 4;
            /// Iterations recorded more when types are not stable.
            instunroll = 4;
            /// Iterations of an inner loop that a trace may unroll.
            loopunroll = 15;
            /// Calls of one function that a trace may inline inside one another.
            callunroll = 3;
            /// Recursive calls that a trace inlines before it links to itself.
            recunroll = 2;
            /// Slots that the exits of a trace store in all, before the trace stores them once.
            maxstore = 300;
            /// Size of one area of machine code in KB (accepted; there is one area).
            sizemcode = 64;
            /// Machine code in all, KB.
            maxmcode = 32768;
            /// Percent of the running time that compiling may take before thresholds rise; 0: they stay. See `policy`.
            budget = $crate::policy::cost::BUDGET;
            /// Files that give perf the names of compiled code: 1: /tmp/perf-PID.map, 2: jit-PID.dump for perf inject, 3: both.
            perf = 0;
            /// 1: the program describes compiled code to gdb, which then shows names, lines and callers.
            gdb = 0;
            /// 1: traces are run by the evaluator, not compiled (for tests; slow).
            eval = 0;
            /// Exit stress (for tests): of every so many guards one leaves although what it asserts holds; 0: none.
            exitof = 0;
            /// Which of them: the remainder of its running number.
            exitat = 0;
            /// How often: each time that so many of those chosen have run.
            exitevery = 1;
            /// Stress of the collector (for tests): at every safepoint 1: a full collection, n: a step of n bytes' work.
            gcstress = 0;
        }
    };
}

macro_rules! define_params {
    ($(#[doc = $doc:literal] $name:ident = $default:expr;)*) => {
        /// The parameters.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        pub struct Params { $(#[doc = $doc] pub $name: u32,)* }

        impl Default for Params {
            fn default() -> Params {
                Params { $($name: $default,)* }
            }
        }

        impl Params {
            /// Names, defaults and meanings, in order.
            pub const TABLE: &'static [(&'static str, u32, &'static str)] = &[$((stringify!($name), $default, $doc),)*];
            /// Names in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];
            /// Who reads compiled code: the bits of [`perilune_backend::perf`] and [`perilune_backend::gdb::GDB`].
            pub fn code_readers(&self) -> u32 {
                self.perf | if self.gdb != 0 { perilune_backend::gdb::GDB } else { 0 }
            }
            fn field(&mut self, name: &str) -> Option<&mut u32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}
for_each_param!(define_params);

/// Names of the optimisations that `-O` switches on and off, with what they do.
pub const OPTIMISATIONS: &[(&str, &str)] = OptFlags::TABLE;

/// Which thresholds were set by the user, and are taken literally.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Set {
    /// `hotloop`
    pub hotloop: bool,
    /// `hotexit`
    pub hotexit: bool,
}

/// Parameters and passes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Parameters.
    pub params: Params,
    /// Those that were set.
    pub set: Set,
    /// Passes that run.
    pub flags: OptFlags,
}

/// Whether the compiler is on, its options, and what they count.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Off, nothing new is compiled.
    pub enabled: Cell<bool>,
    /// See [`Options`].
    pub options: Cell<Options>,
    /// Guards that exit stress has numbered so far.
    pub stress_guards: Cell<u32>,
}

/// What a changed option requires of a running compiler.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Changed {
    /// Nothing more.
    Nothing,
    /// Hot counters start again.
    HotCounters,
    /// All traces are flushed: they are run in another way.
    Engine,
    /// Stress of exits or of the collector begins or ends.
    Stress,
}

impl Options {
    /// Sets an option as one argument of `jit.opt.start` says; `None` if there is no such option.
    pub fn apply(&mut self, option: &str) -> Option<Changed> {
        if let [digit @ b'0'..=b'9'] = option.as_bytes() {
            self.flags = OptFlags::level(u32::from(digit - b'0'));
            return Some(Changed::Nothing);
        }
        if let Some((name, value)) = option.split_once('=') {
            let field = self.params.field(name)?;
            let digits = value.bytes().all(|c| c.is_ascii_digit());
            let number = if value.is_empty() { 0 } else { value.parse().ok().filter(|_| digits)? };
            *field = number;
            self.set.hotloop |= name == "hotloop";
            self.set.hotexit |= name == "hotexit";
            return Some(match name {
                "hotloop" | "budget" => Changed::HotCounters,
                "eval" | "perf" | "gdb" => Changed::Engine,
                "exitevery" | "gcstress" => Changed::Stress,
                _ => Changed::Nothing,
            });
        }
        if let Some(name) = option.strip_prefix('+') {
            return self.set_flag(name, true);
        }
        if self.set_flag(option, true).is_some() {
            return Some(Changed::Nothing);
        }
        let name = option.strip_prefix('-').or_else(|| option.strip_prefix("no-")).or_else(|| option.strip_prefix("no"))?;
        self.set_flag(name, false)
    }
    fn set_flag(&mut self, name: &str, on: bool) -> Option<Changed> {
        self.flags.set(name, on).then_some(Changed::Nothing)
    }
    /// The parameters for the recorder; `history` as in [`RecParams`].
    pub fn recorder(&self, history: bool) -> RecParams {
        let p = &self.params;
        let limits = Limits { maxrecord: p.maxrecord, maxirconst: p.maxirconst, maxsnap: p.maxsnap };
        RecParams {
            flags: self.flags,
            limits,
            callunroll: p.callunroll,
            recunroll: p.recunroll,
            loopunroll: p.loopunroll,
            instunroll: p.instunroll,
            maxstore: p.maxstore,
            minstitch: p.minstitch,
            history,
        }
    }
}
