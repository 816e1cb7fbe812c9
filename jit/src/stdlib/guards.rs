//! The conditions of guards in words.

use crate::trace::Entry;
use crate::view::names::function_name;
use perilune_recorder::ir::{Const, Ins, IrRef, Op, Trace, Ty};
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;

macro_rules! define_guard_kinds {
    ($($(#[$doc:meta])* $name:ident $text:literal,)*) => {
        /// What a guard is about.
        #[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum GuardKind { $($(#[$doc])* $name,)* }

        impl GuardKind {
            /// The word for it.
            pub const fn name(self) -> &'static str {
                match self { $(GuardKind::$name => $text,)* }
            }
        }
    };
}

define_guard_kinds! {
    /// Which way a comparison of the program goes: a branch of an `if`, the end of a loop.
    Branch "branch",
    /// The type of a value.
    Type "type",
    /// The keys of a table and where they are.
    Shape "shape",
    /// The metatable of a table.
    Metatable "metatable",
    /// The function that is called.
    Function "function",
    /// The class that the methods of an object are looked up in, or another table that was taken for a constant.
    Class "class",
    /// Another object that was taken for a constant.
    Object "constant",
    /// Whether a key is in a table.
    Key "key",
    /// Whether an index is in the array part.
    Bounds "bounds",
    /// Whether the result of integer arithmetic is an integer.
    Integer "integer",
    /// Where a function returns to.
    Return "return",
    /// Whether the collector, a sample or a limit wants the trace to be left.
    Runtime "runtime",
    /// Something else.
    Other "other",
}

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

/// What the hidden variables of loops are.
fn loop_word(name: &str) -> Option<&'static str> {
    Some(match name {
        "(for index)" => "the loop's counter",
        "(for limit)" => "the loop's limit",
        "(for step)" => "the loop's step",
        "(for generator)" => "the loop's iterator",
        "(for state)" => "the loop's state",
        "(for control)" => "the loop's control variable",
        _ => return None,
    })
}

/// Operands and conditions of a trace in words.
pub struct Words<'a> {
    entry: &'a Entry,
    trace: &'a Trace,
    names: &'a ObjectNames<'a>,
}

/// What objects are called that are neither strings nor functions, where that is known.
pub type ObjectNames<'a> = dyn Fn(Value) -> Option<String> + 'a;

/// Objects have no names.
pub const NO_NAMES: &ObjectNames<'static> = &|_| None;

impl<'a> Words<'a> {
    /// For a finished trace.
    pub fn of(entry: &'a Entry, names: &'a ObjectNames<'a>) -> Words<'a> {
        Words { entry, trace: &entry.trace, names }
    }
    /// The name of the variable in a slot of the function that the trace starts in, at instruction `i`.
    fn variable(&self, slot: u16, i: usize) -> Option<String> {
        let start = self.entry.position_of(self.trace.snaps.first()?.pc)?.proto;
        let here = self.entry.position_of(self.trace.origin(i))?;
        let local = u32::from(slot).checked_sub(self.trace.entry.index() as u32);
        let name = (here.proto == start).then(|| start.local_name(local?, here.pc())).flatten()?;
        Some(String::from_utf8_lossy(name).into_owned())
    }
    fn slot(&self, slot: u16, i: usize) -> String {
        match self.variable(slot, i) {
            Some(name) => loop_word(&name).map_or_else(|| format!("local '{name}'"), str::to_owned),
            None => format!("slot {slot}"),
        }
    }
    fn value(&self, v: Value) -> String {
        if let Some(s) = v.as_str() {
            return perilune_recorder::ir::print::quoted(s.bytes());
        }
        match v.as_func() {
            Some(f) => function_name(f),
            None => (self.names)(v).unwrap_or_else(|| format!("the {} that was recorded", v.type_name())),
        }
    }
    fn constant(&self, k: Const) -> String {
        match k {
            Const::Pri(ty) => type_word(ty).into(),
            Const::Int(n) => n.to_string(),
            Const::Num(bits) => f64::from_bits(bits).to_string(),
            Const::Gc(v) => self.value(v),
            Const::Null(_) => "none".into(),
            Const::Slot(key, _) => self.operand(key),
            Const::Ptr(p) => format!("{p:#x}"),
            Const::Word(k, Ty::I64) => (k as i64).to_string(),
            Const::Word(k, _) => k.to_string(),
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
            let here = self.entry.position_of(snap.pc).filter(|p| p.proto == start && snap.base_slot == self.trace.entry)?;
            let names =
                slots.filter_map(|s| start.local_name(s.slot.index().checked_sub(snap.base_slot.index())? as u32, here.pc()));
            let name = names.max_by_key(|name| !name.starts_with(b"("))?;
            let name = String::from_utf8_lossy(name);
            Some(loop_word(&name).map_or_else(|| format!("local '{name}'"), str::to_owned))
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
            Op::PROF => "nothing waits that compiled code is left for".into(),
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
        let other = self.operand(ins.b);
        let is = |field: Field| loaded.b.0 == field as u16;
        match ins.op {
            Op::EQ if is(Field::TabShape) => Some(format!("{object} has the same keys as before, in the same places")),
            Op::EQ if is(Field::TabMeta) && other == "none" => Some(format!("{object} has no metatable")),
            Op::NE if is(Field::TabMeta) && other == "none" => Some(format!("{object} has a metatable")),
            Op::EQ if is(Field::TabMeta) => Some(format!("the metatable of {object} is {other}")),
            Op::EQ if is(Field::FuncPc) => Some(format!("{object} is a function of the prototype that was recorded")),
            Op::ULT if is(Field::TabWatched) => Some(format!("no field of {object} is taken for a constant")),
            Op::ULT if is(Field::StrWatched) => Some(format!("no field {object} is taken for a constant")),
            _ => None,
        }
    }
    /// What guard `i` is about.
    pub fn kind(&self, i: usize) -> GuardKind {
        let ins = self.trace.ins[i];
        let loaded = self.trace.def(ins.a).filter(|d| d.op == Op::FLOAD).and_then(|d| Field::ALL.get(usize::from(d.b.0)));
        let is_address = |r: IrRef| self.trace.def(r).is_some_and(|d| matches!(d.op, Op::HREF | Op::HREFK));
        let is_object = |ty| matches!(self.trace.konst(ins.b), Some(Const::Gc(_))) && self.trace.ty(ins.a) == ty;
        match ins.op {
            _ if self.asks_type(i) => GuardKind::Type,
            Op::HREFK => GuardKind::Key,
            Op::ABC => GuardKind::Bounds,
            Op::ADDOV | Op::SUBOV | Op::MULOV | Op::CONV => GuardKind::Integer,
            Op::RETF => GuardKind::Return,
            Op::GCSTEP | Op::PROF | Op::FUEL | Op::COROOM | Op::BASE => GuardKind::Runtime,
            op if !op.is_comparison() => GuardKind::Other,
            _ if is_address(ins.a) => GuardKind::Key,
            _ => match loaded {
                Some(Field::TabShape) => GuardKind::Shape,
                Some(Field::TabMeta) => GuardKind::Metatable,
                Some(Field::FuncPc | Field::FuncEnv) => GuardKind::Function,
                Some(Field::TabAsize | Field::TabHmask) => GuardKind::Bounds,
                Some(Field::TabWatched | Field::StrWatched) => GuardKind::Object,
                _ if is_object(Ty::Func) => GuardKind::Function,
                _ if is_object(Ty::Tab) => GuardKind::Class,
                _ => GuardKind::Branch,
            },
        }
    }
    /// Does guard `i` check the type of its value?
    pub fn asks_type(&self, i: usize) -> bool {
        let op = self.trace.ins[i].op;
        matches!(op, Op::SLOAD | Op::ALOAD | Op::HLOAD | Op::ULOAD | Op::VLOAD | Op::XLOAD)
    }
}
