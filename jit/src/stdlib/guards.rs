//! The conditions of guards in words.

use super::funcinfo::location;
use crate::trace::Entry;
use perilune_recorder::ir::{Const, Ins, IrRef, Op, SlotIdx, Trace, Ty};
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::object::{Func, Gc};

/// The word for a type.
pub fn type_word(ty: Ty) -> &'static str {
    match ty {
        Ty::Nil => "nil",
        Ty::False => "false",
        Ty::True => "true",
        Ty::LightUd => "a light userdata",
        Ty::Str => "a string",
        Ty::Thread => "a coroutine",
        Ty::Proto => "a prototype",
        Ty::Func => "a function",
        Ty::Tab => "a table",
        Ty::Udata => "a userdata",
        Ty::Num | Ty::Float => "a number",
        ty if ty.is_int() => "an integer",
        _ => "a word",
    }
}

/// The name of a builtin, or the location of a Lua function.
pub fn function_name(f: Gc<Func>) -> String {
    match f.proto() {
        Some(p) => String::from_utf8_lossy(&location(p, p.first_line)).into_owned(),
        None if f.ffid() > 1 => super::names().nth(f.ffid() as usize).unwrap_or_default(),
        None => format!("C:{:x}", f.native().map_or(0, |n| n as usize)),
    }
}

/// Operands and conditions of a trace in words.
pub struct Words<'a> {
    entry: &'a Entry,
    trace: &'a Trace,
}

impl<'a> Words<'a> {
    /// For a finished trace.
    pub fn of(entry: &'a Entry) -> Words<'a> {
        Words { entry, trace: &entry.trace }
    }
    /// The name of the variable in a slot of the function that the trace starts in, at instruction `i`.
    fn variable(&self, slot: u16, i: usize) -> Option<String> {
        let start = self.entry.position_of(self.trace.snaps.first()?.pc)?.proto;
        let here = self.entry.position_of(self.trace.origin(i))?;
        let name = (here.proto == start).then(|| start.local_name(u32::from(slot).checked_sub(2)?, here.pc())).flatten()?;
        Some(String::from_utf8_lossy(name).into_owned())
    }
    fn slot(&self, slot: u16, i: usize) -> String {
        match self.variable(slot, i) {
            Some(name) => format!("local '{name}'"),
            None => format!("slot {slot}"),
        }
    }
    fn value(v: Value) -> String {
        if let Some(s) = v.as_str() {
            return perilune_recorder::ir::print::quoted(s.bytes());
        }
        match v.as_func() {
            Some(f) => function_name(f),
            None => format!("the {} at {:#x}", v.type_name(), v.payload()),
        }
    }
    fn constant(&self, k: Const) -> String {
        match k {
            Const::Pri(ty) => type_word(ty).into(),
            Const::Int(n) => n.to_string(),
            Const::Num(bits) => f64::from_bits(bits).to_string(),
            Const::Gc(v) => Words::value(v),
            Const::Null(_) => "none".into(),
            Const::Slot(key, _) => self.operand(key),
            Const::Ptr(p) => format!("{p:#x}"),
            Const::Vm(_) => "the VM's own".into(),
        }
    }
    /// The key that an address in a hash part is for.
    fn key(&self, address: IrRef) -> Option<String> {
        let def = self.trace.def(address).filter(|d| matches!(d.op, Op::HREFK | Op::HREF | Op::NEWREF))?;
        Some(self.operand(def.b))
    }
    /// An operand.
    fn operand(&self, r: IrRef) -> String {
        if let Some(k) = self.trace.konst(r) {
            return self.constant(k);
        }
        let Some(ins) = self.trace.def(r) else { return "nothing".into() };
        let i = r.ins_index();
        match ins.op {
            Op::SLOAD => self.slot(ins.a.0, i),
            Op::HLOAD => self.key(ins.a).map_or_else(|| "a field".into(), |key| format!("field {key}")),
            Op::ALOAD => "an element".into(),
            Op::ULOAD => "an upvalue".into(),
            Op::FLOAD => {
                let field = Field::NAMES.get(usize::from(ins.b.0)).copied().unwrap_or("?");
                format!("{field} of {}", self.operand(ins.a))
            }
            op => self.assigned(r).or_else(|| self.arithmetic(*ins)).unwrap_or_else(|| format!("{i:04} ({})", op.name())),
        }
    }
    /// The variable to which a value is assigned.
    fn assigned(&self, r: IrRef) -> Option<String> {
        self.trace.snaps.iter().find_map(|snap| {
            let slots = snap.slots.iter().filter(|s| s.value == r);
            let start = self.entry.position_of(self.trace.snaps[0].pc)?.proto;
            let here = self.entry.position_of(snap.pc).filter(|p| p.proto == start && snap.base_slot == SlotIdx::BASE)?;
            let names = slots.filter_map(|s| start.local_name(u32::try_from(s.slot.from_base()).ok()?, here.pc()));
            let name = names.max_by_key(|name| !name.starts_with(b"("))?;
            Some(format!("local '{}'", String::from_utf8_lossy(name)))
        })
    }
    /// An arithmetic expression of two operands that are not expressions themselves.
    fn arithmetic(&self, ins: Ins) -> Option<String> {
        let sign = match ins.op {
            Op::ADD | Op::ADDOV => "+",
            Op::SUB | Op::SUBOV => "-",
            Op::MUL | Op::MULOV => "*",
            Op::DIV => "/",
            Op::MOD => "%",
            _ => return None,
        };
        let simple = |r: IrRef| self.trace.def(r).is_none_or(|d| matches!(d.op, Op::SLOAD | Op::HLOAD | Op::ALOAD | Op::ULOAD));
        (simple(ins.a) && simple(ins.b)).then(|| format!("{} {sign} {}", self.operand(ins.a), self.operand(ins.b)))
    }
    /// The condition that guard `i` checks.
    pub fn condition(&self, i: usize) -> String {
        let ins: Ins = self.trace.ins[i];
        let compare = |how: &str| format!("{} {how} {}", self.operand(ins.a), self.operand(ins.b));
        if let Some(text) = self.condition_of_table(ins) {
            return text;
        }
        match ins.op {
            Op::LT => compare("<"),
            Op::GE => compare(">="),
            Op::LE => compare("<="),
            Op::GT => compare(">"),
            Op::ULT => compare("< (unsigned or unordered)"),
            Op::UGE => compare(">= (unsigned or unordered)"),
            Op::ULE => compare("<= (unsigned or unordered)"),
            Op::UGT => compare("> (unsigned or unordered)"),
            Op::EQ => compare("is"),
            Op::NE => compare("is not"),
            Op::ABC => format!("index {} inside the array part ({})", self.operand(ins.b), self.operand(ins.a)),
            Op::RETF => "returns to where it did".into(),
            Op::GCSTEP => "the collector has nothing to do that must be done outside".into(),
            Op::PROF => "no sample waits to be taken".into(),
            Op::FUEL => format!("there is fuel for {} instructions", ins.b.0.saturating_sub(ins.a.0)),
            Op::ADDOV | Op::SUBOV | Op::MULOV => "the result is an integer".into(),
            Op::HREFK => format!("field {} is where it was", self.operand(ins.b)),
            Op::UREFO => "the upvalue is open".into(),
            Op::UREFC => "the upvalue is closed".into(),
            Op::STRTO => format!("{} denotes a number", self.operand(ins.a)),
            Op::CONV => format!("{} is integral", self.operand(ins.a)),
            Op::NATIVE => "the builtin returns as usual".into(),
            Op::COROOM => "the other stack has room".into(),
            Op::VLOAD => format!("the result is {}", type_word(ins.ty)),
            Op::BUFSTR | Op::CALLA => "there is memory for the new string".into(),
            Op::CALLN | Op::CALLL | Op::CALLS => {
                let name = Helper::NAMES.get(usize::from(ins.b.0)).copied().unwrap_or("?");
                format!("{name} gives {}", type_word(ins.ty))
            }
            _ => format!("{} is {}", self.operand(IrRef::of_ins(i)), type_word(ins.ty)),
        }
    }
    /// The condition of a guard on a property of a whole table.
    fn condition_of_table(&self, ins: Ins) -> Option<String> {
        let loaded = self.trace.def(ins.a).filter(|i| i.op == Op::FLOAD)?;
        let object = self.operand(loaded.a);
        let is = |field: Field| loaded.b.0 == field as u16;
        match ins.op {
            Op::EQ if is(Field::TabShape) => Some(format!("{object} has the same keys as before, in the same places")),
            Op::ULT if is(Field::TabWatched) => Some(format!("no field of {object} is taken for a constant")),
            Op::ULT if is(Field::StrWatched) => Some(format!("no field {object} is taken for a constant")),
            _ => None,
        }
    }
    /// Does guard `i` check the type of its value?
    pub fn asks_type(&self, i: usize) -> bool {
        let op = self.trace.ins[i].op;
        matches!(op, Op::SLOAD | Op::ALOAD | Op::HLOAD | Op::ULOAD | Op::VLOAD | Op::XLOAD)
    }
}
