//! Counts of aborted recordings, by site and reason.

use super::counters::AbortSite;
use super::names::{function_name, location};
use crate::Jit;
use perilune_recorder::abort::Abort;
use perilune_recorder::rec::AbortInfo;
use perilune_vm::Value;
use perilune_vm::bc::Op;

/// The most sites that are remembered.
const MAX: usize = 1000;

/// The text of a reason with its details, as LuaJIT's tools show it.
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
    /// Counts a recording that was aborted at an instruction of a function.
    pub(crate) fn count_abort(&self, (func, pc): (Value, usize), reason: Abort, info: AbortInfo, error: Option<Value>) {
        let Some(proto) = func.as_func().and_then(|f| f.proto()) else { return };
        let line = if pc == 0 { proto.first_line } else { proto.line(pc) };
        let site = AbortSite {
            reason: reason_text(reason, info, error),
            location: String::from_utf8_lossy(&location(proto, line)).into_owned(),
            line,
            bytecode: proto.ins(pc).map_or("", |i| Op::NAMES[i.op() as usize]),
        };
        let mut counts = self.stats.aborts.borrow_mut();
        if counts.len() < MAX || counts.contains_key(&site) {
            *counts.entry(site).or_default() += 1;
        }
    }
    /// The sites at which recordings were aborted, the most frequent first.
    pub fn abort_sites(&self) -> Vec<(AbortSite, u32)> {
        let mut list: Vec<(AbortSite, u32)> = self.stats.aborts.borrow().iter().map(|(p, n)| (p.clone(), *n)).collect();
        list.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| (&a.location, &a.reason).cmp(&(&b.location, &b.reason))));
        list
    }
}
