//! Hot counters: two counts for each iteration of a loop, one for each call. Where one underflows, the policy says whether a recording
//! begins.
//!
//! Next on the way of a hot loop: `jit/src/record/start.rs`.

use crate::Jit;
use crate::frame;
use crate::policy::Policy;
use crate::trace::patch;
use perilune_recorder::rec::few_iterations;
use perilune_vm::Vm;
use perilune_vm::bc::Op;
use perilune_vm::object::{BcPos, InsPtr, ProtoFlags};

/// Sets a hot counter.
pub fn set_counter(vm: &mut Vm, policy: &mut Policy, counter: usize, n: u32) {
    let n = policy.counter_set(vm, counter, n);
    vm.set_hot_counter(counter, n);
}

/// Sets all hot counters to the threshold `hotloop`, in iterations; to the largest value if nothing is to become hot.
pub fn reset_counters(vm: &mut Vm, policy: &mut Policy, hotloop: Option<u32>) {
    let n = hotloop.map_or(u32::from(u16::MAX), |n| n.saturating_mul(2).wrapping_sub(1));
    let n = policy.all_counters_set(vm, n);
    vm.reset_hot_counters(n);
}

impl Jit {
    /// The hot counter of the instruction at `pc` underflowed: starts a recording there if it is hot enough. A STITCH has no hot counter of
    /// that kind; it calls this each time that there is no trace to enter.
    pub(crate) fn hot_counter_underflowed(&self, vm: &mut Vm, pc: InsPtr) {
        if !self.settings.enabled.get() {
            return reset_counters(vm, &mut self.policy.borrow_mut(), None);
        }
        if pc.ins().op() == Op::STITCH {
            return self.hot_stitch(vm, pc);
        }
        let Some(proto) = frame::proto(vm) else { return };
        let counter = proto.hot_counter(pc);
        if vm.underflowed_in_callback(counter) {
            return;
        }
        let Some(pos) = BcPos::of_address(proto, pc) else { return };
        let thresholds = self.thresholds(vm);
        let hot = thresholds.hotloop.saturating_mul(2);
        let counted = self.policy.borrow_mut().underflowed(vm, counter);
        self.set_counter(vm, pos, hot);
        if !self.may_record(vm) {
            return;
        }
        if proto.flags.get() & ProtoFlags::NOJIT != 0 {
            patch::blacklist(pos);
            return;
        }
        if self.protos.borrow().get(pos).is_some_and(|r| r.blacklisted) {
            return self.set_counter(vm, pos, u32::from(u16::MAX));
        }
        match self.missing_hot_count(pos, counted, hot, thresholds.literal) {
            0 if !thresholds.literal && self.unrolls_first(vm, pos, hot) => {}
            0 => self.start_root(vm, pos),
            n => self.set_counter(vm, pos, n),
        }
    }
    /// Is a hot loop left to the traces of what it is part of because it has few iterations? A function that it is part of is hot when the loop
    /// has counted as often for each call as it has iterations, twice, since a call counts half. If it has not been unrolled by then, it is
    /// recorded by itself.
    fn unrolls_first(&self, vm: &mut Vm, pos: BcPos, hot: u32) -> bool {
        let few = |pos: BcPos| few_iterations(&pos.proto, (pos.ptr(), pos.ins()?), |i| frame::local(vm, i));
        let wait = few(pos).and_then(|n| {
            // Loops of few iterations around it are unrolled as well.
            let around = loops_around(pos).map_while(few).fold(1, |all: u32, n| all.saturating_mul(n + 1));
            let wait = hot.saturating_mul(2 * (n + 1)).saturating_mul(around.min(MOST_AROUND));
            self.protos.borrow_mut().unroll_first(pos, wait)
        });
        if let Some(n) = wait {
            self.set_counter(vm, pos, n);
        }
        wait.is_some()
    }
}

/// Iterations of loops around a loop, each counted with its end, that the loop waits for at most: two loops of three iterations.
const MOST_AROUND: u32 = 16;

/// The instructions of the loops around the one at `pos`, the innermost first.
fn loops_around(pos: BcPos) -> impl Iterator<Item = BcPos> {
    let at = move |index| BcPos { index, ..pos };
    let positions = (pos.index + 1..).map(at).take_while(|p| p.ins().is_some());
    positions.filter(move |p| {
        let Some(ins) = p.ins().filter(|i| matches!(i.op(), Op::FORL | Op::IFORL | Op::ITERL | Op::IITERL)) else { return false };
        p.index as isize + 1 + ins.j() as isize <= pos.index as isize
    })
}

#[cfg(test)]
mod tests {
    use crate::Jit;
    use perilune_vm::bc::Op;
    use perilune_vm::object::BcPos;
    use perilune_vm::{Value, Vm};

    /// The loops of a function that is called 5,000 times: whether each has a trace.
    fn loops_with_traces(text: &str) -> Vec<bool> {
        let mut vm = Vm::new();
        vm.open_libs();
        crate::attach(&mut vm);
        let jit = Jit::of(&vm).expect("a compiler");
        let f = Value::func(vm.load_chunk(text.as_bytes(), b"=test", None).expect("it compiles"));
        let Ok(f) = vm.call1(f, &[]) else { panic!("{text}") };
        let proto = f.as_func().and_then(|f| f.proto()).expect("a Lua function");
        for _ in 0..5000 {
            assert!(vm.call1(f, &[]).is_ok(), "{text}");
        }
        let protos = jit.protos.borrow();
        let loops = (0..)
            .map(|index| BcPos { proto, index })
            .map_while(|pos| pos.ins().map(|ins| (pos, ins.op())))
            .filter(|(_, op)| matches!(op, Op::FORL | Op::JFORL | Op::ITERL | Op::JITERL | Op::ITERN | Op::JLOOP));
        loops.map(|(pos, _)| protos.get(pos).is_some_and(|record| !record.roots.is_empty())).collect()
    }

    #[test]
    fn a_loop_of_few_iterations_is_unrolled_into_the_function_that_it_is_part_of() {
        let few =
            "local t, s = {1, 2, 3}, 0 return function() for i = 1, 3 do s = s + i end for i = 1, #t do s = s - t[i] end end";
        assert_eq!(loops_with_traces(few), [false, false]);
        let many = "local s = 0 return function() for i = 1, 30 do s = s + i end end";
        assert_eq!(loops_with_traces(many), [true]);
        let list = "local t, s = {1, 2, 3}, 0 return function() for _, x in ipairs(t) do s = s + x end end";
        assert_eq!(loops_with_traces(list), [false]);
        let record = "local t, s = {a = 1, b = 2}, 0 return function() for _, x in pairs(t) do s = s + x end end";
        assert!(!loops_with_traces(record).contains(&true));
    }
    #[test]
    fn loops_of_few_iterations_wait_for_the_loop_around_them() {
        let cells = "local g, s = {}, 0 for i = -1, 32 do g[i] = {} for k = -1, 32 do g[i][k] = i * k % 2 end end
            return function() for x = 0, 30 do for dy = -1, 1 do for dx = -1, 1 do s = s + g[x + dy][x + dx] end end end end";
        assert_eq!(loops_with_traces(cells), [false, false, true]);
    }
    #[test]
    fn a_loop_that_nothing_unrolls_is_recorded_by_itself() {
        let mut vm = Vm::new();
        crate::attach(&mut vm);
        let jit = Jit::of(&vm).expect("a compiler");
        let f = vm.load_chunk(b"for i = 1, 3 do end", b"=test", None).expect("it compiles");
        let pos = BcPos { proto: f.proto().expect("a Lua function"), index: 4 };
        let mut protos = jit.protos.borrow_mut();
        assert_eq!(protos.unroll_first(pos, 800), Some(800));
        assert_eq!(protos.penalty(pos), 800, "the hot counts that it waits for");
        assert_eq!(protos.unroll_first(pos, 800), None, "it is recorded now");
    }
}
