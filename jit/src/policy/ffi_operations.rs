//! Operations on cdata add to hot counts. The interpreter takes as long for one as for a dozen bytecode instructions, and compiled code for
//! one or two of its own. So a loop or an exit after which there are many pays for its compilation much sooner than its iterations say.

use super::cost;
use perilune_recorder::ir::TraceExit;
use perilune_vm::Vm;
use perilune_vm::state::HOT_COUNTERS;

/// Numbers of operations at one time.
#[derive(Copy, Clone, Default, Debug)]
struct Mark {
    /// All that were executed.
    executed: u64,
    /// Those that have been counted for a loop, a function or an exit.
    counted: u64,
}

/// Which operations were executed since something was last counted, and have not been counted for anything else: those of an inner loop
/// do not belong to the loops around it.
#[derive(Debug)]
pub struct FfiOperations {
    /// When each hot counter was set.
    at_counter: Box<[Mark]>,
    /// When compiled code was left for the last time.
    at_exit: Mark,
    /// The exit that was taken then.
    exit: Option<TraceExit>,
    /// Operations that have been counted.
    counted: u64,
}

impl Default for FfiOperations {
    fn default() -> FfiOperations {
        FfiOperations {
            at_counter: vec![Mark::default(); HOT_COUNTERS].into_boxed_slice(),
            at_exit: Mark::default(),
            exit: None,
            counted: 0,
        }
    }
}

impl FfiOperations {
    fn now(&self, vm: &Vm) -> Mark {
        Mark { executed: vm.ffi_operations(), counted: self.counted }
    }
    /// Counts the operations since `mark` that have not been counted. Gives their number.
    fn count_since(&mut self, vm: &Vm, mark: Mark) -> f64 {
        let now = self.now(vm);
        let n = (now.executed - mark.executed).saturating_sub(now.counted - mark.counted);
        self.counted += n;
        n as f64
    }
    /// A hot counter was set.
    pub fn counter_set(&mut self, vm: &Vm, counter: usize) {
        self.at_counter[counter] = self.now(vm);
    }
    /// All hot counters were set.
    pub fn all_counters_set(&mut self, vm: &Vm) {
        self.at_counter.fill(self.now(vm));
    }
    /// A hot counter underflowed: the hot counts that the operations since it was set stand for.
    pub fn hot_counts(&mut self, vm: &Vm, counter: usize) -> u32 {
        (self.count_since(vm, self.at_counter[counter]) * cost::HOT_COUNTS_OF_FFI) as u32
    }
    /// An exit is taken. Gives the exit before it, and the exits that the operations since then stand for.
    pub fn exit_taken(&mut self, vm: &Vm, exit: TraceExit) -> Option<(TraceExit, u32)> {
        let before = self.exit.replace(exit);
        // Operations before the first exit belong to none.
        let exits = before.map_or(0.0, |_| self.count_since(vm, self.at_exit) * cost::EXITS_OF_FFI) as u32;
        self.at_exit = self.now(vm);
        let before = before?;
        (exits != 0).then_some((before, exits.min(cost::MOST_EXITS_OF_FFI)))
    }
}
