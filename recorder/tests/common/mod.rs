//! What tests of the IR share: a VM with named objects, and runs of traces on it.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod program;
pub mod recorder;

use perilune_recorder::eval::{self, Config, Exit, Outcome};
use perilune_recorder::ir::parse::Objects;
use perilune_recorder::ir::print::{Names, kind_name, number, quoted};
use perilune_recorder::ir::{SnapSlot, Trace, Ty};
use perilune_vm::ffi::ctype::CTypeId;
use perilune_vm::gc::Heap;
use perilune_vm::object::{Cdata, Gc, Table};
use perilune_vm::{Value, Vm};

/// A VM, and the objects that a text names.
pub struct World {
    pub vm: Box<Vm>,
    pub tables: Vec<Gc<Table>>,
    /// Boxes of `int64_t`, each with its index.
    pub boxes: Vec<Gc<Cdata>>,
    /// What light userdata point to, one after every 64 bytes.
    pub memory: Vec<u64>,
}

/// Slots of the test's stack before and after the base.
const BELOW: usize = 8;
const ABOVE: usize = 56;
/// Address of the first made-up object. Nothing lives there.
const FAKE: u64 = 0x10_0000;

impl World {
    pub fn new() -> World {
        let mut vm = Vm::new();
        // The same hashes in every world: the length of a table with holes depends on where its keys are. The objects that the
        // VM has made so far stay where they are.
        core::mem::forget(core::mem::replace(&mut vm.heap, Heap::with_seed(1)));
        World { vm, tables: Vec::new(), boxes: Vec::new(), memory: vec![0; 32] }
    }

    fn table(&mut self, index: usize) -> Gc<Table> {
        while self.tables.len() <= index {
            let t = self.vm.new_table(0, 0);
            self.tables.push(t);
        }
        self.tables[index]
    }

    /// A value as it is written in texts; numbers in either form.
    pub fn value(&mut self, s: &str) -> Option<Value> {
        let inside = |open: char, close: char| s.strip_prefix(open).and_then(|s| s.strip_suffix(close));
        Some(match s {
            "nil" => Value::NIL,
            "false" => Value::FALSE,
            "true" => Value::TRUE,
            _ => {
                if let Some(body) = inside('"', '"') {
                    Value::str(self.vm.new_str(body.as_bytes()))
                } else if let Some(name) = inside('{', '}') {
                    let (kind, index) = name.split_once(':')?;
                    self.object(kind, index.parse().ok()?)?
                } else if s.contains(['.', 'e', 'n']) {
                    Value::num(s.parse().ok()?)
                } else {
                    Value::int(s.parse().ok()?)
                }
            }
        })
    }

    /// Fills a table from a text: `1 2 x=3 {tab:1}`.
    pub fn fill(&mut self, index: usize, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let positional = words.iter().filter(|w| !w.contains('=')).count();
        let t = self.table(index);
        if positional > 0 {
            self.vm.table_resize(t, positional as u32 + 1, 0);
        }
        let mut n = 0;
        for word in words {
            let (key, value) = match word.split_once('=') {
                Some((key, value)) => (Value::str(self.vm.new_str(key.as_bytes())), value),
                None => {
                    n += 1;
                    (Value::int(n), word)
                }
            };
            let value = self.value(value).unwrap_or_else(|| panic!("bad value {value}"));
            let slot = t.find(key).unwrap_or_else(|| self.vm.table_new_key(t, key));
            // SAFETY: a slot of the table, just found or made.
            unsafe { *slot = value };
        }
    }

    /// A value as text; both forms of a number look alike.
    pub fn show(&self, v: Value) -> String {
        if let Some(n) = v.as_number() {
            let n = if n == 0.0 { n } else { n + 0.0 };
            return if n == n.trunc() && n.abs() < 1e15 { format!("{n:?}").trim_end_matches(".0").into() } else { number(n) };
        }
        match v.as_str() {
            Some(s) => quoted(s.bytes()),
            None if v.is_gc() || Ty::of_value(v) == Ty::LightUd => format!("{{{}}}", self.object_name(v)),
            None => format!("{v:?}"),
        }
    }

    fn object_name(&self, v: Value) -> String {
        let kind = kind_name(v);
        match v.as_table() {
            Some(t) => match self.tables.iter().position(|o| *o == t) {
                Some(i) => format!("{kind}:{i}"),
                None => "new table".into(),
            },
            None if let Some(c) = v.as_cdata() => match self.boxes.iter().position(|o| *o == c) {
                Some(i) => format!("{kind}:{i}"),
                None => format!("{kind} {}", self.show_cdata(c)),
            },
            None if kind == "lud" => format!("{kind}:{}", (v.payload() - self.memory.as_ptr().addr() as u64) / 64),
            None => format!("{kind}:{}", (v.payload() - FAKE) / 64),
        }
    }

    /// The type and the words of a new cdata.
    fn show_cdata(&self, c: Gc<Cdata>) -> String {
        match c.int64() {
            Some(bits) => format!("{} = {}", c.ctype().0, bits as i64),
            // SAFETY: tests make no other cdata but complex numbers.
            None => unsafe { format!("{} = {:?}", c.ctype().0, c.read::<[f64; 2]>()) },
        }
    }

    /// The entries of a table; nested new ones as well.
    pub fn show_table(&self, t: Gc<Table>, depth: usize) -> String {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some((next, k, v)) = t.next_index(at) {
            let value = match v.as_table() {
                Some(inner) if depth > 0 && !self.tables.contains(&inner) => {
                    format!("{{ {} }}", self.show_table(inner, depth - 1))
                }
                _ => self.show(v),
            };
            out.push(format!("{}={}", self.show(k), value));
            at = next;
        }
        out.sort();
        out.join(" ")
    }
}

fn fake<T>(address: u64) -> Gc<T> {
    // SAFETY: the passes compare the addresses of constants, and follow none.
    unsafe { Gc::from_addr(address) }
}

impl Objects for World {
    fn string(&mut self, s: &[u8]) -> Value {
        Value::str(self.vm.new_str(s))
    }
    fn object(&mut self, kind: &str, index: u32) -> Option<Value> {
        let address = FAKE + u64::from(index) * 64;
        Some(match kind {
            "tab" => Value::table(self.table(index as usize)),
            "fun" => Value::func(fake(address)),
            "pro" => Value::proto(fake(address)),
            "udt" => Value::udata(fake(address)),
            "thr" => Value::thread(fake(address)),
            "cdt" => {
                while self.boxes.len() <= index as usize {
                    self.boxes.push(self.vm.heap.new_int64(CTypeId::INT64, self.boxes.len() as u64));
                }
                Value::cdata(self.boxes[index as usize])
            }
            "lud" => Value::lightud(self.memory[index as usize * 8..].as_ptr().expose_provenance() as u64),
            _ => return None,
        })
    }
}

impl Names for World {
    fn object(&self, v: Value) -> String {
        self.object_name(v)
    }
}

/// What a run did, as text, and its counts.
pub struct Run {
    pub text: String,
    pub exit: Exit,
}

impl World {
    /// Runs a trace on a stack with the given slots; what can be seen of it afterwards.
    pub fn run(&mut self, trace: &Trace, slots: &[(u16, Value)], fuel: u64) -> Run {
        let mut stack = vec![Value::NIL; BELOW + ABOVE];
        for &(slot, value) in slots {
            stack[BELOW + usize::from(slot) - 2] = value;
        }
        let before = stack.clone();
        let base = stack.as_mut_ptr().wrapping_add(BELOW);
        // What is not a loop comes back to its start.
        let mut config = Config { fuel, ..Config::default() };
        // SAFETY: the trace was made for this VM and this stack.
        let mut exit = unsafe { eval::run_with(&config, trace, &raw mut *self.vm, base) };
        while exit.outcome == Outcome::Again {
            config.fuel = fuel.saturating_sub(exit.executed);
            // SAFETY: the trace was made for this VM and this stack.
            let next = unsafe { eval::run_with(&config, trace, &raw mut *self.vm, exit.base) };
            let (executed, iterations) = (exit.executed + next.executed, exit.iterations + 1);
            exit = Exit { executed, in_loop: executed, iterations, ..next };
        }
        let mut text = match exit.outcome {
            Outcome::Exit(k) => format!("exit pc={}", trace.snap(k).pc.get()),
            Outcome::Root(n) => format!("root {n}"),
            Outcome::Again => "again".into(),
            Outcome::OutOfFuel => "out of fuel".into(),
        };
        let moved = (exit.base as isize - base as isize) / 8;
        if moved != 0 {
            text += &format!(" base{moved:+}");
        }
        // Slots of dead temporaries may differ: only those below the limit of the exit count.
        let limit = match exit.outcome {
            Outcome::Exit(k) => trace.snap(k).nslots.index(),
            _ => ABOVE,
        };
        // Passes may take held variables out of snapshots.
        let held: Vec<usize> = match exit.outcome {
            Outcome::Exit(k) => {
                let held = trace.snap(k).slots.iter().filter(|s| s.flags & SnapSlot::HELD != 0);
                held.map(|s| s.slot.index()).collect()
            }
            _ => Vec::new(),
        };
        for (i, v) in stack.iter().enumerate() {
            let slot = i + 2 - BELOW.min(i + 2);
            if i + 2 >= BELOW && slot < limit && *v != before[i] && !held.contains(&slot) {
                let shown = match v.as_table() {
                    Some(t) if !self.tables.contains(&t) => format!("{{ {} }}", self.show_table(t, 3)),
                    _ => self.show(*v),
                };
                text += &format!(" {slot}={shown}");
            }
        }
        let words = self.memory.iter().map(|w| format!("{w:x}")).collect::<Vec<_>>().join(" ");
        if let used @ 1.. = words.trim_end_matches([' ', '0']).len() {
            text += &format!("\nmemory {}", &words[..used]);
        }
        for i in 0..self.tables.len() {
            text += &format!("\ntab:{i} {{ {} }}", self.show_table(self.tables[i], 3));
        }
        Run { text, exit }
    }
}

/// Are all values in snapshots what the interpreter can hold?
pub fn check_exits(trace: &Trace) {
    for snap in &trace.snaps {
        for s in &snap.slots {
            let raw = matches!(trace.ty(s.value), Ty::P64 | Ty::I64) && s.flags & (SnapSlot::FRAME | SnapSlot::CONT) == 0;
            assert!(!raw, "slot {} of a snapshot is no value", s.slot);
        }
    }
}
