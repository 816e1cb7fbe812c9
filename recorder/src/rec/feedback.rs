//! Type feedback: what earlier recordings found at each bytecode instruction, and what this one adds (V8's feedback vector; LuaJIT has
//! none).

use crate::ir::Ty;
use perilune_vm::object::{BcAddr, Func, Gc, InsPtr, Proto, ProtoFlags, ShapeId, Str, Table};
use perilune_vm::{Value, Vm};

/// What recordings found at one bytecode instruction: types of numbers, called functions, shapes of tables.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Site {
    /// Integers overflowed there.
    pub overflows: bool,
    /// Integers were loaded.
    pub ints: bool,
    /// Other numbers were loaded.
    pub nums: bool,
    /// The builtin called there may not simply return: it may call Lua, for example.
    pub leaves: bool,
    /// Addresses of the function called there last, and of its prototype.
    pub callee: (usize, usize),
    /// The prototypes of called functions for which an exit there was taken.
    pub callees: Distinct<8>,
    /// The tables that keys were looked up in last.
    pub tables: TableFeedback,
    /// The shapes for which an exit there was taken.
    pub shapes: Distinct<4>,
    /// Tables of several shapes were met.
    pub by_node: bool,
    /// Address of the class (the `__index` of the object's metatable) that a key was looked up in last; 0 if none was.
    pub class: usize,
    /// Several classes were met.
    pub classes: bool,
    /// The strings for which the builtin called there was recorded, where they may be others: as many as V8's inline caches distinguish.
    pub texts: Distinct<4>,
    /// Address of the environment that a global was looked up in last; 0 if none was.
    pub environment: usize,
    /// Address of the closure, executing the instruction, that it was recorded for last; 0 if it was recorded for all closures.
    pub closure: usize,
}

impl Site {
    /// Are tables of so many shapes met there that keys are looked up without the shape? Otherwise each shape takes a side trace.
    pub(super) fn has_many_shapes(&self) -> bool {
        self.shapes.is_full()
    }
    /// Are so many functions called there that calls are left to the functions' own traces? Otherwise each function takes a side trace.
    pub(super) fn has_many_callees(&self) -> bool {
        self.callees.is_full()
    }
    /// The same of a tail call. Where functions end in calls of each other, as in threaded code, each of them has such a call, so that side
    /// traces multiply: fewer functions are enough, one more than V8's inline caches distinguish.
    pub(super) fn has_many_tail_callees(&self) -> bool {
        self.callees.len() > 4
    }
}

/// The tables that one execution of an instruction has looked up constant keys in; 0 if there was none. If there were several, each word is
/// a hash over all of them.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct TableFeedback {
    /// The shape of the first one.
    first: ShapeId,
    /// Their shapes.
    shapes: u32,
    /// The sizes of their hash parts, and the nodes that the keys were found in.
    nodes: u32,
}

impl TableFeedback {
    /// Adds a table, with the node that the key was found in.
    pub(super) fn add(&mut self, t: &Table, node: Option<u32>) {
        let mix = |before: u32, x: u32| before.wrapping_mul(0x9e37_79b1).wrapping_add(x).max(1);
        let place = t.hmask.get().wrapping_mul(0x0101).wrapping_add(node.map_or(1, |n| n.wrapping_add(2)));
        if self.nodes == 0 {
            self.first = t.shape.get();
        }
        self.nodes = mix(self.nodes, place);
        self.shapes = mix(self.shapes, t.shape.get().number());
    }
}

/// Up to `N` different values that a site has met; none of them is 0.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Distinct<const N: usize>([u32; N]);

impl<const N: usize> Default for Distinct<N> {
    fn default() -> Distinct<N> {
        Distinct([0; N])
    }
}

impl<const N: usize> Distinct<N> {
    /// Adds a value, if it is new and there is room.
    pub(super) fn add(&mut self, value: u32) {
        if let Some(x) = self.0.iter_mut().find(|x| **x == 0 || **x == value) {
            *x = value;
        }
    }
    /// How many different values were met, `N` at most.
    pub(super) fn len(&self) -> usize {
        self.0.iter().filter(|x| **x != 0).count()
    }
    /// Were `N` different values met?
    pub(super) fn is_full(&self) -> bool {
        self.0.iter().all(|x| *x != 0)
    }
}

/// The feedback of the current instruction.
#[derive(Debug)]
pub(super) struct Feedback {
    /// The current instruction.
    pub(super) pc: InsPtr,
    /// What is known of it.
    pub(super) site: Site,
    /// Is the trace a side trace?
    pub(super) is_side: bool,
    /// May the side trace start at the exit of a guard of the current instruction?
    pub(super) at_exit: bool,
    /// The tables that the current instruction has looked keys up in.
    pub(super) tables: TableFeedback,
    /// Was feedback found that the recording itself, or traces above it, may contradict?
    pub(super) learned: bool,
    /// The same at the current instruction, in a side trace: do traces above it contradict it?
    asks_above: bool,
    /// What the trace expects, or one above it does, is less than what is known now: it should be recorded again.
    pub(super) stale: bool,
    /// The same of the traces above a side trace.
    pub(super) is_above_stale: bool,
    /// Instructions that were recorded for one type of numbers.
    specialized: Vec<InsPtr>,
    /// How many of them were recorded before the current instruction.
    earlier: usize,
}

impl Feedback {
    pub(super) fn new(pc: InsPtr, is_side: bool) -> Feedback {
        Feedback {
            pc,
            site: Site::default(),
            is_side,
            at_exit: false,
            tables: TableFeedback::default(),
            learned: false,
            asks_above: false,
            stale: false,
            is_above_stale: false,
            specialized: Vec::new(),
            earlier: 0,
        }
    }
    /// Begins the next instruction, at `pc`, whose feedback so far is `site`.
    pub(super) fn begin(&mut self, pc: InsPtr, site: Site) {
        self.pc = pc;
        self.site = site;
        self.earlier = self.specialized.len();
        self.tables = TableFeedback::default();
    }
    /// The result of the current instruction is no integer, though the operands are.
    pub(super) fn note_overflow(&mut self) {
        if !core::mem::replace(&mut self.site.overflows, true) {
            self.learned();
        }
    }
    /// The current instruction is recorded for one type of numbers.
    pub(super) fn note_specialized(&mut self) {
        self.specialized.push(self.pc);
    }
    /// The type to load a value with: where both forms of numbers were seen, integers are converted.
    pub(super) fn load_type(&mut self, v: Value) -> Ty {
        let ty = Ty::of_value(v);
        if !ty.is_number() {
            return ty;
        }
        let before = self.site;
        self.site.ints |= ty == Ty::Int;
        self.site.nums |= ty == Ty::Num;
        if !(self.site.ints && self.site.nums) {
            self.note_specialized();
            return ty;
        }
        if before != self.site {
            self.learned();
        }
        Ty::Num
    }
    /// The current instruction is recorded for this closure, which runs.
    pub(super) fn note_closure(&mut self, f: Gc<Func>) {
        self.site.closure = f.as_ptr() as usize;
    }
    /// The current instruction is recorded for all closures of the prototype that runs, since there are many by now. If a trace leads here that
    /// is for another closure, each further closure has to pass it.
    pub(super) fn note_any_closure(&mut self, f: Gc<Func>) {
        let before = self.site.closure;
        let passes_another = self.at_exit && before != 0 && before != f.as_ptr() as usize;
        if passes_another {
            self.learned();
        }
        if passes_another || !self.is_side {
            self.site.closure = 0;
        }
    }
    /// Is the called function one of many closures of its prototype?
    pub(super) fn one_of_many(&mut self, f: Gc<Func>, proto: Gc<Proto>) -> bool {
        let callee = (f.as_ptr() as usize, proto.as_ptr() as usize);
        let before = core::mem::replace(&mut self.site.callee, callee);
        if self.at_exit && before.1 != 0 && before.1 != callee.1 {
            // Objects are aligned: addresses differ in the lower half, without its last bits.
            self.site.callees.add((callee.1 >> 3) as u32 | 1);
        }
        let is_another = before.0 != 0 && before.0 != callee.0;
        if is_another && (before.1 == callee.1 || proto.has_several_closures()) && !proto.has_many_closures() {
            // A program that replaces its closures does so for all calls: each of them would have to learn it by a recording of its own. Where
            // closures of several prototypes take turns, the one before is never of the same prototype.
            proto.expect_many_closures();
            self.learned();
        }
        proto.has_many_closures()
    }
    /// Notes which tables the current instruction has met. If the trace starts at the exit of a guard of this instruction, a table of
    /// another shape may be the reason of that exit. From then on keys that are present are looked up in their nodes: such code works for
    /// all tables that have the key in the same node.
    pub(super) fn learn_shape(&mut self, vm: &mut Vm) {
        let met = self.tables;
        if met == TableFeedback::default() {
            return;
        }
        let before = core::mem::replace(&mut self.site.tables, met);
        if !self.at_exit || before == TableFeedback::default() || before == met {
            return;
        }
        let knew = core::mem::replace(&mut self.site.by_node, true);
        if before.nodes != met.nodes {
            self.site.shapes.add(met.nodes);
        } else if knew {
            self.site.shapes.add(met.shapes);
        } else {
            vm.heap.shape_varies(before.first);
            vm.heap.shape_varies(met.first);
        }
    }
    /// May the builtin that the current instruction calls be recorded for this string, which is guarded to be the one? Not where many were met:
    /// each of them takes a side trace.
    pub(super) fn is_one_of_few_texts(&mut self, s: Gc<Str>) -> bool {
        let texts = &mut self.site.texts;
        let few = !texts.is_full();
        // Objects are aligned: addresses differ in the lower half, without its last bits.
        texts.add((s.as_ptr() as usize >> 3) as u32 | 1);
        few
    }
    /// Have objects of several classes been met at the current instruction?
    pub(super) fn is_one_of_many_classes(&mut self, class: Gc<Table>) -> bool {
        let class = class.as_ptr() as usize;
        let before = core::mem::replace(&mut self.site.class, class);
        self.site.classes |= self.at_exit && before != 0 && before != class;
        self.site.classes
    }
    /// Have the functions of this prototype several environments? If the trace starts at the exit of a guard of the current instruction,
    /// another environment is the reason of that exit.
    pub(super) fn has_environments(&mut self, proto: Gc<Proto>, environment: Gc<Table>) -> bool {
        let environment = environment.as_ptr() as usize;
        let before = core::mem::replace(&mut self.site.environment, environment);
        if self.at_exit && before != 0 && before != environment {
            proto.flags.set(proto.flags.get() | ProtoFlags::ENVIRONMENTS);
        }
        proto.flags.get() & ProtoFlags::ENVIRONMENTS != 0
    }
    /// New feedback was found at the current instruction. If the trace, or one above it, was specialised for the instruction before, that one should
    /// be recorded again. This recording continues to its end nevertheless, so that the next one has all of its feedback.
    fn learned(&mut self) {
        let contradicts = self.specialized[..self.earlier].contains(&self.pc);
        self.stale |= contradicts;
        self.learned |= contradicts || self.is_side;
        self.asks_above = self.is_side;
    }
    /// Takes account of the feedback of the current instruction; `is_above` says whether traces above were recorded from an instruction.
    pub(super) fn ask_above(&mut self, is_above: impl FnOnce(BcAddr) -> bool) {
        if core::mem::take(&mut self.asks_above) && is_above(self.pc.addr()) {
            (self.stale, self.is_above_stale) = (true, true);
        }
    }
}
