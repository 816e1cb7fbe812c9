//! Exits that the interpreter takes without calling the compiler.
//!
//! At most exits there is nothing to do but to count. So the compiler allows the interpreter to take an exit a number of times by itself
//! ([`PlainExit`]): until the exit may be hot, or its root trace may be unprofitable. These exits are counted when the compiler is called
//! again, or before the counters are read.

use super::side_exit::Charge;
use super::table::ExitTable;
use crate::Jit;
use crate::policy::cost;
use crate::trace::{Exit, Registry};
use crate::view::events::{Event, handler};
use crate::view::log::{self, Topic};
use core::ops::Range;
use perilune_recorder::ir::Snapshot;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::hooks::PlainExit;
use perilune_vm::{ExitId, Vm};

/// The most exits that are allowed at once, so that the counters never lag far behind.
const MAX_ALLOWED: u32 = 1000;

impl ExitTable {
    /// How often an exit was taken without a call of the compiler. From now on the compiler is called.
    pub fn settle_plain(&mut self, id: ExitId) -> u32 {
        let Some(d) = self.descriptor_mut(id) else { return 0 };
        let allowed = core::mem::take(&mut d.allowed);
        allowed - core::mem::take(&mut self.plain[id.index()].remaining)
    }
    /// The traces that these exits belong to are being removed.
    pub(super) fn forget_plain(&mut self, ids: Range<usize>) {
        for id in ids.clone().map(|id| ExitId::new(id as u32)) {
            let times = self.settle_plain(id);
            let counts = self.descriptor(id).is_some_and(|d| !d.facts.is_end);
            self.taken_before += if counts { u64::from(times) } else { 0 };
        }
        self.plain[ids].fill(PlainExit::NONE);
    }
    /// Allows the interpreter to take an exit so many times by itself. `itern`: see [`PlainExit`].
    fn allow(&mut self, id: ExitId, times: u32, itern: Option<Ins>) {
        let Some(d) = self.descriptor_mut(id) else { return };
        // An exit of a frame, or with slots, that do not fit the numbers: the compiler is always called.
        let (Ok(unboxed_len), Ok(stack)) = (d.unboxed.len().try_into(), d.facts.stack.try_into()) else { return };
        d.allowed = times;
        let (multres, pc, unboxed) = (d.facts.multres, d.facts.pc.as_ptr(), d.unboxed.as_ptr());
        self.plain[id.index()] = PlainExit { remaining: times, multres, pc, unboxed, unboxed_len, itern, stack };
    }
}

impl Jit {
    /// Allows the interpreter to take an exit by itself until there may be something to do.
    #[inline]
    pub(crate) fn allow_plain_exit(&self, vm: &Vm, registry: &mut Registry, id: ExitId) {
        let Some(facts) = registry.exits.descriptor(id).map(|d| d.facts) else { return };
        if facts.multres == Snapshot::OPEN || self.exits_are_reported(vm) {
            return;
        }
        let mut times = MAX_ALLOWED;
        if !facts.is_end {
            let Some(x) = registry.exit(facts.exit) else { return };
            if x.hot_count != Exit::DONE {
                times = times.min(x.next_check.saturating_sub(x.hot_count).saturating_sub(1));
                if self.policy.borrow().ffi.is_some() {
                    times = times.min(cost::LUAJIT_HOT_EXIT);
                }
            }
        }
        if let Some(Charge { root, saving }) = registry.charge(vm, &facts)
            && saving < 0
            && let Some(r) = registry.get(root)
        {
            times = times.min(u32::try_from((r.account.saved + cost::MAX_LOSS) / -saving).unwrap_or(0));
        }
        let ins = facts.pc.ins();
        let original = if ins.op() == Op::JLOOP { registry.original_ins(ins) } else { ins };
        registry.exits.allow(id, times, Some(original).filter(|i| i.op() == Op::ITERN));
    }
    fn exits_are_reported(&self, vm: &Vm) -> bool {
        self.is_watched() || handler(vm, Event::Texit).is_some() || log::on(Topic::Exit)
    }
    /// Counts all exits that were taken without a call of the compiler, and has the compiler called at each exit from now on: before
    /// counters are read, a handler of exits is attached, or an option changes what is done at exits.
    pub(crate) fn settle_exits(&self) {
        let mut registry = self.registry.borrow_mut();
        for id in registry.exits.ids() {
            let times = registry.exits.settle_plain(id);
            let Some(facts) = registry.exits.descriptor(id).map(|d| d.facts).filter(|facts| times != 0 && !facts.is_end) else {
                continue;
            };
            self.count(|c| c.deopt += u64::from(times));
            if let Some(x) = registry.exit_mut(facts.exit) {
                x.taken = x.taken.saturating_add(times);
                if x.hot_count != Exit::DONE {
                    x.hot_count += times;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Jit;
    use crate::exit::descriptor::ExitFacts;
    use perilune_vm::bc::Op;
    use perilune_vm::{Value, Vm};

    /// Runs a chunk. How often the interpreter has taken the exits that `is_meant` describes, by exit.
    fn taken(source: &str, is_meant: fn(&ExitFacts) -> bool) -> Vec<u32> {
        let mut vm = Vm::new();
        vm.open_libs();
        crate::attach(&mut vm);
        let chunk = vm.load_chunk(source.as_bytes(), b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
        assert!(vm.call1(Value::func(chunk), &[]).is_ok());
        let jit = Jit::of(&vm).expect("the compiler was attached");
        let mut registry = jit.registry.borrow_mut();
        let meant = registry.exits.ids().filter(|&id| registry.exits.descriptor(id).is_some_and(|d| is_meant(&d.facts)));
        let meant: Vec<_> = meant.collect();
        meant.into_iter().map(|id| registry.exits.settle_plain(id)).collect()
    }

    #[test]
    fn the_interpreter_takes_exits_of_stack_checks() {
        // The calls are interpreted, so that the function has a trace of its own. Its first guard is that its argument is a table.
        let source = "require 'jit.opt'.start('hotloop=10', 'hotexit=1000')
            local function get(t) local a, b, c = 1, 2, 3 return t.len, a, b, c end
            local function calls(t, n) for _ = 1, n do get(t) end end
            require 'jit'.off(calls)
            calls({}, 50)
            calls('text', 101)";
        assert_eq!(taken(source, |exit| exit.stack != 0), [100], "the compiler was called at the first of the exits alone");
    }

    #[test]
    fn the_interpreter_takes_exits_in_front_of_compiled_loops() {
        // Where the condition does not hold, the exit continues at the loop, which has a trace.
        let source = "require 'jit.opt'.start('hotloop=10', 'hotexit=1000')
            local function count(x)
              local i, n = 0, 9
              if x > 5 then n = n + 9 end
              repeat i = i + 1 until i == n
              return i
            end
            local function calls(x, n) for _ = 1, n do count(x) end end
            require 'jit'.off(calls)
            calls(9, 100)
            calls(1, 101)";
        let at_loop = |exit: &ExitFacts| exit.pc.ins().op() == Op::JLOOP && !exit.is_end && exit.stack == 0;
        assert!(taken(source, at_loop).contains(&100), "{:?}", taken(source, at_loop));
    }

    #[test]
    fn the_interpreter_takes_exits_at_compiled_loops_over_pairs() {
        // The first guard of the loop fails at its end. The exit continues at the loop itself, which must not enter its trace again.
        let source = "require 'jit.opt'.start('hotloop=10', 'hotexit=1000')
            local function walk(t)
              local last
              for _, v in pairs(t) do last = v end
              return last
            end
            local function walks(t, n) for _ = 1, n do walk(t) end end
            require 'jit'.off(walks)
            walks({ 1, 2, 3 }, 50)
            walks({}, 101)";
        let at_pairs = |exit: &ExitFacts| exit.pc.ins().op() == Op::JLOOP && !exit.is_end;
        assert!(taken(source, at_pairs).iter().any(|&n| n >= 99), "{:?}", taken(source, at_pairs));
    }
}
