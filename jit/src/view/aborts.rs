//! The recordings that were given up, by place and reason.

use crate::Jit;
use crate::stdlib::{function_name, location};
use perilune_recorder::abort::Abort;
use perilune_recorder::rec::AbortInfo;
use perilune_vm::Value;
use perilune_vm::bc::Op;
use std::collections::HashMap;

/// More places are not remembered.
const MAX: usize = 1000;

/// Where a recording was given up, and why.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The reason with its details.
    pub reason: String,
    /// Source and line.
    pub location: String,
    /// The line.
    pub line: u32,
    /// The bytecode there.
    pub bytecode: &'static str,
}

/// How often each place was given up.
pub type Places = HashMap<Place, u32>;

/// A reason with its details, as LuaJIT's tools put it together.
pub(crate) fn reason_text(reason: Abort, info: AbortInfo, error: Option<Value>) -> String {
    if let Some(text) = error.and_then(|e| e.as_str()) {
        return text.to_str_lossy().into_owned();
    }
    let detail = match info {
        AbortInfo::None => "?".into(),
        AbortInfo::Bytecode(op) => Op::NAMES[op as usize].to_string(),
        AbortInfo::Func(f) => f.as_func().map_or_else(|| "?".into(), function_name),
        AbortInfo::Ir(op) => op.name().to_string(),
    };
    reason.message().replace("%s", &detail).replace("%d", &detail)
}

impl Jit {
    /// Remembers a recording that was given up at an instruction of a function.
    pub(crate) fn note_abort(&self, (func, pc): (Value, usize), reason: Abort, info: AbortInfo, error: Option<Value>) {
        let Some(proto) = func.as_func().and_then(|f| f.proto()) else { return };
        let line = if pc == 0 { proto.first_line } else { proto.line(pc) };
        let place = Place {
            reason: reason_text(reason, info, error),
            location: String::from_utf8_lossy(&location(proto, line)).into_owned(),
            line,
            bytecode: proto.ins(pc).map_or("", |i| Op::NAMES[i.op() as usize]),
        };
        let mut places = self.aborts.borrow_mut();
        if places.len() < MAX || places.contains_key(&place) {
            *places.entry(place).or_default() += 1;
        }
    }
    /// The places where recordings were given up, the most frequent first.
    pub fn given_up_places(&self) -> Vec<(Place, u32)> {
        let mut list: Vec<(Place, u32)> = self.aborts.borrow().iter().map(|(p, n)| (p.clone(), *n)).collect();
        list.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| (&a.location, &a.reason).cmp(&(&b.location, &b.reason))));
        list
    }
}
