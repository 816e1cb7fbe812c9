//! What a trace is made of: bytecode, IR before and after optimisation, machine code, exits.

use super::failure::ValueNames;
use super::function::Functions;
use super::report::{Code, Exit, Guard, Ir, Machine, Place, Recorded};
use perilune_jit::stdlib::{ObjectNames, function_name, lines};
use perilune_jit::trace::{Entry, Part};
use perilune_jit::view::watch::Compiled;
use perilune_recorder::ir::history::Request;
use perilune_recorder::ir::print::{ByOrder, Names, print_op, print_ref, print_slots};
use perilune_recorder::ir::{IrRef, Op, SnapId, Trace};
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::object::{BcAddr, BcPos};
use std::collections::HashMap;
use std::fmt::Write;

/// An instruction that was recorded: function and index, or a builtin; and frames entered since the start.
#[derive(Clone)]
pub enum Step {
    /// An instruction.
    Ins(Place, usize),
    /// The call of a builtin.
    Builtin(String, usize),
}

/// Describes a trace.
pub fn describe(trace: &Compiled<'_>, path: &[Step], functions: &mut Functions, names: &ValueNames) -> Code {
    let names = &names.of_objects(trace.vm);
    let mut writer = Writer { entry: trace.entry, functions, names, code: Code::default(), known: HashMap::new() };
    writer.bytecode(path);
    for asked in &trace.history.requests {
        writer.asked(asked);
    }
    let emitted = &trace.history.recorded;
    writer.code.emitted = writer.ir(emitted);
    writer.code.optimised = writer.ir(&trace.entry.trace);
    writer.machine(trace.code);
    writer.exits();
    writer.code
}

/// Names for people.
struct Words<'a> {
    numbers: ByOrder<'a>,
    names: &'a ObjectNames<'a>,
}

impl Names for Words<'_> {
    fn object(&self, v: Value) -> String {
        match v.as_func() {
            Some(f) => function_name(f),
            None => (self.names)(v).unwrap_or_else(|| self.numbers.object(v)),
        }
    }
}

fn number(i: usize) -> String {
    format!("{i:04}")
}

struct Writer<'a> {
    entry: &'a Entry,
    functions: &'a mut Functions,
    names: &'a ObjectNames<'a>,
    code: Code,
    known: HashMap<Place, usize>,
}

impl<'a> Writer<'a> {
    fn words<'b>(&self, trace: &'b Trace) -> Words<'b>
    where
        'a: 'b,
    {
        Words { numbers: ByOrder(trace), names: self.names }
    }
    fn index(&mut self, place: Place) -> usize {
        *self.known.entry(place).or_insert_with(|| {
            self.code.places.push(place);
            self.code.places.len() - 1
        })
    }
    fn place(&mut self, found: Option<BcPos>) -> Option<usize> {
        let pos = found?;
        let place = self.functions.place(pos.proto, pos.pc());
        Some(self.index(place))
    }
    fn at(&mut self, address: BcAddr) -> Option<usize> {
        self.place(self.entry.position_of(address))
    }
    fn bytecode(&mut self, path: &[Step]) {
        for step in path {
            let recorded = match step {
                Step::Ins(place, depth) => Recorded { place: Some(self.index(*place)), builtin: None, depth: *depth },
                Step::Builtin(name, depth) => Recorded { place: None, builtin: Some(name.clone()), depth: *depth },
            };
            self.code.bytecode.push(recorded);
        }
    }
    fn asked(&mut self, asked: &Request) {
        let trace = &self.entry.trace;
        let text = print_op(trace, asked.ins, &self.words(trace));
        let result = (asked.result != IrRef::NONE).then(|| print_ref(trace, asked.result, &self.words(trace)));
        let place = self.at(asked.origin);
        self.code.asked.push(Ir { number: result, snapshot: None, text, place, saved: !asked.is_new });
    }
    /// The lines of a trace, with its snapshots.
    fn ir(&mut self, trace: &Trace) -> Vec<Ir> {
        let mut out = Vec::with_capacity(trace.ins.len() + trace.snaps.len());
        let mut snaps = (0..trace.snaps.len()).peekable();
        for (i, ins) in trace.ins.iter().enumerate().skip(1) {
            while let Some(k) = snaps.next_if(|k| trace.snaps[*k].at.ins_index() <= i) {
                out.push(self.snapshot(trace, k));
            }
            if ins.op != Op::NOP {
                let place = self.at(trace.origin(i));
                let text = print_op(trace, *ins, &self.words(trace));
                out.push(Ir { number: Some(number(i)), text, place, ..Ir::default() });
            }
        }
        for k in snaps {
            out.push(self.snapshot(trace, k));
        }
        out
    }
    fn snapshot(&mut self, trace: &Trace, k: usize) -> Ir {
        let text = print_slots(trace, SnapId::new(k), &self.words(trace));
        Ir { snapshot: Some(k), text, place: self.at(trace.snaps[k].pc), ..Ir::default() }
    }
    fn exits(&mut self) {
        let trace = &self.entry.trace;
        for k in 0..trace.snaps.len() {
            let mut guards = Vec::new();
            for g in self.entry.guards_at(k, self.names) {
                let place = self.place(g.pos);
                guards.push(Guard { number: number(g.index), condition: g.condition, asks_type: g.asks_type, place });
            }
            let place = self.place(self.entry.resumes_at(k));
            self.code.exits.push(Exit { place, guards, slots: print_slots(trace, SnapId::new(k), &self.words(trace)) });
        }
    }
    fn machine(&mut self, code: &[u8]) {
        let (start, head) = (self.entry.code.address, self.entry.code.loop_offset);
        let map = &self.entry.map;
        let names = Symbols::new(self.entry);
        let text = &code[..code.len().min(map.text as usize)];
        let mut offset = 0;
        for line in lines(text, start) {
            let part = map.parts.partition_point(|p| p.0 as usize <= offset).checked_sub(1).map(|i| map.parts[i].1);
            let mut out = Machine { offset, head: head != 0 && offset == head as usize, ..Machine::default() };
            match part {
                Some(Part::Ins(i)) => {
                    out.number = Some(number(i));
                    out.place = self.at(self.entry.trace.origin(i));
                }
                Some(Part::Exit(k)) => out.exit = Some(k.index()),
                _ => {}
            }
            out.text = names.named(&line.text);
            offset += line.length;
            self.code.machine.push(out);
        }
        name_moves(&mut self.code.machine);
    }
}

/// Says of a jump to some moves of registers and a jump to an exit what it leads to.
fn name_moves(code: &mut [Machine]) {
    const MOVES: usize = 6;
    for i in 0..code.len() {
        let target = code[i].text.rsplit_once(" +0x").and_then(|t| usize::from_str_radix(t.1, 16).ok());
        let Some(to) = target.and_then(|t| code.binary_search_by_key(&t, |m| m.offset).ok()) else { continue };
        let end = code[to..].iter().take(MOVES).map(|m| &*m.text).find(|text| !text.starts_with("mov"));
        let name = end.filter(|text| text.starts_with("jmp")).and_then(|text| text.split_once("  ->"));
        if let Some(note) = name.map(|n| format!("  ->{}", n.1)) {
            code[i].text += &note;
        }
    }
}

/// What addresses in machine code mean.
struct Symbols {
    start: usize,
    end: usize,
    names: HashMap<usize, String>,
}

impl Symbols {
    fn new(entry: &Entry) -> Symbols {
        let (start, size, head) = (entry.code.address, entry.code.size, entry.code.loop_offset);
        let mut names: HashMap<usize, String> = HashMap::new();
        for (i, h) in Helper::ALL.iter().enumerate() {
            names.insert(h.address(), Helper::NAMES[i].to_owned());
        }
        for (at, part) in &entry.map.parts {
            if let Part::Exit(k) = part {
                names.insert(start + *at as usize, format!("exit {k}"));
            }
        }
        if head != 0 {
            names.insert(start + head as usize, "LOOP".into());
        }
        Symbols { start, end: start + size, names }
    }
    /// An instruction whose addresses are explained: those in the code of the trace are offsets.
    fn named(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut notes = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("0x") {
            let (before, number) = rest.split_at(at);
            let digits = number[2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(number.len(), |n| n + 2);
            out += before;
            let value = usize::from_str_radix(&number[2..digits], 16).unwrap_or(0);
            if (self.start..self.end).contains(&value) {
                let _ = write!(out, "+{:#x}", value - self.start);
            } else {
                out += &number[..digits];
            }
            if let Some(name) = self.names.get(&value) {
                let _ = write!(notes, "  ->{name}");
            }
            rest = &number[digits..];
        }
        out + rest + &notes
    }
}
