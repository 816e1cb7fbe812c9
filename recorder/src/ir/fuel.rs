//! Fuel in traces ([`perilune_vm::fuel`]): FUEL takes the instructions of a segment of the trace in advance. A segment ends at the next FUEL,
//! at a call of a builtin, or at the end of the trace. An exit gives back what has not run.

use super::{Op, SnapId, Trace};

impl Trace {
    /// The fuel that exit `k` gives back, if the FUEL at index `taken` was the last one executed.
    pub fn fuel_back(&self, k: SnapId, taken: usize) -> u32 {
        let (ins, snap) = (self.ins[taken], self.snap(k));
        debug_assert_eq!(ins.op, Op::FUEL);
        let (begin, end) = (u32::from(ins.a.0), u32::from(ins.b.0));
        // The snapshot in force at the FUEL resumes where the segment begins. In a loop it has the count of the end of the iteration before.
        let done = if snap.at.ins_index() <= taken { begin } else { snap.fuel };
        debug_assert!((begin..=end).contains(&done), "exit {k:?}: {done} of {begin} to {end}");
        end.saturating_sub(done)
    }
}
