//! The constants that decide what is compiled, with their reasons.

use perilune_recorder::ir::Trace;
use perilune_recorder::rec::FFI_BYTECODES;
use std::time::Duration;

/// Iterations, half of the calls, before a loop or a function is recorded, and exits before a side trace is.
///
/// Rent or buy: a position is compiled when interpreting it has cost more than compiling it would (`Counted::pays`: 7,000 iterations). That
/// bounds the loss of a program that stops at the worst moment to half of its time. But a program that has run for long mostly continues for
/// longer still (if the distribution of lengths has a heavy tail), so it pays to wait for less. Between 1,200 and 2,400 iterations, an exit
/// counting as two to three of them, the time of public programs does not depend on the number. The lower end is chosen for programs that
/// end soon.
pub const HOT_LOOP: u32 = 1_200;
/// See [`HOT_LOOP`].
pub const HOT_EXIT: u32 = 480;
/// LuaJIT's threshold of loops.
pub const LUAJIT_HOT_LOOP: u32 = 56;
/// LuaJIT's threshold of exits.
pub const LUAJIT_HOT_EXIT: u32 = 10;
/// Compile budget: the percentage of the running time that compiling may take, as much as a user hardly notices. When it is used up,
/// thresholds are multiplied by [`BACK_OFF`], and again for each further multiple of it, but no further than compiling pays by itself.
pub const BUDGET: u32 = 10;
/// See [`BUDGET`]. The number of positions that are n times as hot as others falls about as 1 / n: with 2, half of the positions still
/// reach the doubled threshold, and compiling soon uses up the next multiple. Of 30 programs of public libraries compiling took 20 % of the
/// time in the mean, and up to 33 %, with 2; 15 % and up to 23 % with 4.
pub const BACK_OFF: f64 = 4.0;
/// A side trace may find that its root trace assumes too much: only integers where other numbers occur, for example. Recording the root trace
/// again makes better code, but its whole tree has to be compiled again. So such side traces are kept until the tree has one of their
/// instructions for so many others. With 1 or 2, loops with few side traces are not recorded again, although they run twice as long as they
/// could (a Fourier transform of integers); large trees, such as those of interpreters, are kept with 8 and less.
pub const OUTDATED: u32 = 4;
/// Setting up the compiler with the first trace takes so long: measured.
pub const SETUP: Duration = Duration::from_micros(700);
/// Leaving compiled code and entering it again takes as long as so many bytecode instructions: 10 ns, measured.
pub const ENTRY_COST: i64 = 6;
/// Traces with the same start that may follow one another, each at the first exit of the one before. Passing one takes 4 ns: its code counts
/// a run, loads a value and compares. If all values occur equally often, half of the traces are passed in the mean: 32 ns, as much as an exit, an
/// entry and a usual trace interpreted.
pub const MAX_CHAIN: usize = 16;
/// The same of loops that make these checks once, as where many functions are given to one `map`. They pass the others once for all their
/// iterations: with so many functions, each given as often, loops of ten iterations take as long as interpreted (measured).
pub const MAX_CHECKED_ONCE: usize = 64;
/// The most traces of other loops with the same start. They have their body twice, so that there are fewer than in a chain; the number itself is
/// not measured.
pub const MAX_VARIANTS: usize = 6;
/// Of those, how many may be loops that the next iteration leaves again. With the root trace these are three loops, each with a side trace for
/// each of the other two kinds of iterations: six. With a fourth there would be twelve. Measured on 14 of 146 programs that were not made for it: with
/// none, loops over three kinds (an interpreter, a list of entities) take 1.2 times as long; without a limit, such over eight kinds 1.25 times. On 60
/// others, and on the public programs, nothing changes (0.767 and 0.765 of LuaJIT).
pub const MAX_LEFT_VARIANTS: usize = 2;
/// Bytecode instructions that a root trace may lose before it is disabled. Interpreting so many takes as long as compiling one of the
/// shortest traces (100 us).
pub const MAX_LOSS: i64 = 50_000;

/// Runs of side traces, for each instruction of a tree, that pay for compiling the tree as one function: an instruction takes
/// 4.5 us from its recorded form to machine code, and a run saves 1.5 ns, a jump through a table to the side trace and one back, with the
/// slots stored and loaded (measured on loops with one branch).
pub const HOT_TREE: u32 = 3_000;
/// Time that the whole compiler takes for a trace: for each trace, for each of its instructions, and for each instruction and a thousand
/// others, since snapshots and live ranges become longer. Measured on 813 of these traces, with caches as programs leave them. (Compiling
/// the same trace a second time takes a sixth less.)
const TRACE: f64 = 65e-6;
const INSTRUCTION: f64 = 5e-6;
const THOUSAND: f64 = 5e-6;
/// Time by which a bytecode instruction is faster compiled than interpreted: measured. Where instructions wait for memory or for builtins,
/// compiling saves less; but with half of the value 30 programs of public libraries take as long (0.995), and so do the compilers of Fennel and
/// Teal, which were in no set (0.98).
const BYTECODE: f64 = 1.6e-9;
/// Instructions of a trace for each of bytecode: the median of 4,700 traces of 85 public programs (a fifth has one or less, a fifth 2.7 or
/// more).
const PER_BYTECODE: f64 = 1.7;
/// Bytecode instructions for each that branches: the mean of 5,900 side traces of 233 public programs. Half of these have between four and ten.
const PER_BRANCH: u32 = 7;
/// Branches that a side trace is expected to run through before it is left at one of them. Nine of ten side traces have at most so many; where paths
/// have more, because they go on through the rest of a loop, another branch mostly ends them before.
const RUN: u32 = 13;
/// Time that an exit takes with the next entry.
const EXIT: f64 = ENTRY_COST as f64 * BYTECODE;

/// How long a trace is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Size {
    /// Instructions of its IR: what compiling it costs.
    pub instructions: u32,
    /// Bytecode instructions that it stands for: what it saves. Operations of the FFI count as what they cost the interpreter.
    pub bytecodes: u32,
    /// How many of them branch: where it may be left.
    pub branches: u32,
    /// Is it that of a whole trace? Otherwise the recording was given up, see [`Size::given_up`].
    pub is_whole: bool,
}

impl Size {
    /// That of a usual trace of public programs: the estimate before a trace is recorded.
    pub const USUAL: Size = {
        let instructions = 50;
        let bytecodes = (instructions as f64 / PER_BYTECODE) as u32;
        Size { instructions, bytecodes, branches: bytecodes / PER_BRANCH, is_whole: true }
    };
    /// The size of a recorded trace with so many branches. Where a bytecode instruction has more instructions than usual, it takes the interpreter
    /// longer as well.
    pub fn of(trace: &Trace, branches: u32) -> Size {
        let done = trace.snaps.last().map_or(0, |last| last.done);
        Size::recorded(trace.ins.len() as u32, done.into(), branches)
    }
    /// The size of a recording so far.
    pub fn recorded(instructions: u32, bytecodes: u32, branches: u32) -> Size {
        let size = Size::of_instructions(instructions);
        Size { bytecodes: size.bytecodes.max(bytecodes), branches, ..size }
    }
    /// What is noted of a recording that was given up at this size: the whole trace is larger. It is recorded again when one of twice the size
    /// would pay, so that all recordings that are given up cost no more than the one that is finished.
    pub fn given_up(self) -> Size {
        let Size { instructions, bytecodes, branches, .. } = self;
        Size { instructions: 2 * instructions, bytecodes: 2 * bytecodes, branches: 2 * branches, is_whole: false }
    }
    /// The size of a trace with so many instructions, and as many for each of bytecode as usual.
    pub fn of_instructions(instructions: u32) -> Size {
        let bytecodes = (f64::from(instructions) / PER_BYTECODE).ceil() as u32;
        Size { instructions, bytecodes, branches: bytecodes / PER_BRANCH, is_whole: true }
    }
    /// Bytecode instructions that it is expected to run before it is left, if it is a side trace.
    fn run(self) -> f64 {
        f64::from(self.bytecodes) * (f64::from(RUN) / f64::from(self.branches.max(1))).min(1.0)
    }
}

/// Bytecode instructions of a usual trace.
const USUAL_BYTECODES: f64 = Size::USUAL.bytecodes as f64;
/// Hot counts, two for each iteration of a usual loop, that take the interpreter as long as an operation on cdata.
pub const HOT_COUNTS_OF_FFI: f64 = 2.0 * FFI_BYTECODES as f64 / USUAL_BYTECODES;
/// The same in exits.
pub const EXITS_OF_FFI: f64 = FFI_BYTECODES as f64 / (USUAL_BYTECODES + ENTRY_COST as f64);
/// Exits that the operations after one exit stand for, at most. Whatever they cost, an exit is taken as often as in LuaJIT
/// before there is a side trace: the operations may belong to other code that runs after the exit.
pub const MOST_EXITS_OF_FFI: u32 = HOT_EXIT / LUAJIT_HOT_EXIT;

/// Estimated time of compiling a trace with so many instructions.
pub fn of_trace(length: u32) -> Duration {
    let n = f64::from(length);
    Duration::from_secs_f64(TRACE + (INSTRUCTION + THOUSAND * n / 1e3) * n)
}

/// What is counted until something is compiled.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Iterations of a loop, and calls.
    Iterations,
    /// Exits, and returns from stitched calls.
    Exits,
}

impl Counted {
    /// The count after which interpreting has cost as much as compiling a trace of this size.
    fn pays(self, size: Size) -> f64 {
        let saved = match self {
            Counted::Iterations => BYTECODE * f64::from(size.bytecodes),
            Counted::Exits => BYTECODE * size.run() + EXIT,
        };
        of_trace(size.instructions).as_secs_f64() / saved
    }
    /// The threshold of traces of this size, divided by that of usual ones: whatever compiling costs, it begins at the same part of the count
    /// after which it pays.
    pub fn relative(self, size: Size) -> f64 {
        (self.pays(size) / self.pays(Size::USUAL)).max(1.0)
    }
    /// The factor by which the threshold may rise while the budget is used up: to the count after which compiling pays by itself.
    pub fn most_pressure(self, size: Size) -> f64 {
        let usual = if self == Counted::Exits { HOT_EXIT } else { HOT_LOOP };
        (self.pays(size) / (f64::from(usual) * self.relative(size))).max(1.0)
    }
}

/// Number of slots that the exits of a trace store, all together; constants are not stored.
pub fn slots(t: &Trace) -> u64 {
    t.snap_ids().flat_map(|k| t.snap(k).restored()).filter(|s| !s.value.is_const()).count() as u64
}
