//! What is slow in any engine, and can be seen in the bytecode.

use super::report::{Hint, HintKind};
use perilune_vm::bc::{Ins, Op};
use perilune_vm::object::{Gc, Proto};

/// Instructions that are searched backwards for the one that made an operand: expressions are seldom longer.
const SEARCHED: usize = 60;

/// The hints of a function.
pub fn hints(p: Gc<Proto>) -> Vec<Hint> {
    let mut hints = Vec::new();
    for pc in 1..p.code_len() {
        let Some(ins) = p.ins(pc) else { continue };
        let kind = match ins.op() {
            Op::CAT if in_loop(p, pc) && grows(p, pc, ins) => HintKind::StringBuilt,
            Op::CALL | Op::CALLT if is_setmetatable(p, pc, ins) && makes(p, pc, ins.a() + 3) => HintKind::NewMetatable,
            _ => continue,
        };
        hints.push(Hint { kind, pc, line: p.line(pc) });
    }
    hints
}

/// The instruction before `pc` that writes `slot`, if nothing jumps in between.
fn writer(p: Gc<Proto>, pc: usize, slot: usize) -> Option<(usize, Ins)> {
    for at in (pc.saturating_sub(SEARCHED).max(1)..pc).rev() {
        let ins = p.ins(at)?;
        let stores = matches!(
            ins.op(),
            Op::TSETS
                | Op::TSETV
                | Op::TSETB
                | Op::GSET
                | Op::USETV
                | Op::USETS
                | Op::USETN
                | Op::USETP
                | Op::UCLO
                | Op::RETM
                | Op::RET
        );
        if matches!(ins.op(), Op::CALL | Op::CALLM) && slot >= ins.a() && slot < ins.a() + ins.b().max(2) - 1 {
            return Some((at, ins));
        }
        if !stores && !matches!(ins.op(), Op::CALL | Op::CALLM) && ins.a() == slot {
            return Some((at, ins));
        }
    }
    None
}

/// Does the last argument of a call to `setmetatable` come from a table constructor?
fn makes(p: Gc<Proto>, pc: usize, slot: usize) -> bool {
    writer(p, pc, slot).is_some_and(|(_, ins)| matches!(ins.op(), Op::TNEW | Op::TDUP))
}

fn is_setmetatable(p: Gc<Proto>, pc: usize, call: Ins) -> bool {
    let name = |i: usize| p.kgc(i).and_then(|v| v.as_str()).is_some_and(|s| s.bytes() == b"setmetatable");
    let Some((at, ins)) = writer(p, pc, call.a()) else { return false };
    match ins.op() {
        Op::GGET => name(ins.d()),
        Op::UGET => p.uv_names.get(ins.d()).is_some_and(|n| &**n == b"setmetatable"),
        Op::MOV => p.local_name(ins.d() as u32, at).is_some_and(|n| n == b"setmetatable"),
        _ => false,
    }
}

/// Is the result of a concatenation assigned to the variable that is its first operand?
fn grows(p: Gc<Proto>, pc: usize, cat: Ins) -> bool {
    let Some((_, first)) = writer(p, pc, cat.b()) else { return false };
    let Some(next) = p.ins(pc + 1) else { return false };
    match first.op() {
        Op::MOV => cat.a() == first.d() || next.op() == Op::MOV && next.d() == cat.a() && next.a() == first.d(),
        Op::UGET => next.op() == Op::USETV && next.a() == first.d() && next.d() == cat.a(),
        Op::GGET => next.op() == Op::GSET && next.d() == first.d() && next.a() == cat.a(),
        Op::TGETS => next.op() == Op::TSETS && next.a() == cat.a() && (next.b(), next.c()) == (first.b(), first.c()),
        _ => false,
    }
}

/// Does a loop go round an instruction?
fn in_loop(p: Gc<Proto>, pc: usize) -> bool {
    (pc..p.code_len()).filter_map(|at| Some((at, p.ins(at)?))).any(|(at, ins)| {
        let jumps = matches!(
            ins.op(),
            Op::FORL | Op::IFORL | Op::JFORL | Op::ITERL | Op::IITERL | Op::JITERL | Op::LOOP | Op::ILOOP | Op::JLOOP | Op::JMP
        );
        // A patched loop instruction has the number of its trace in place of the distance.
        let patched = matches!(ins.op(), Op::JFORL | Op::JITERL | Op::JLOOP);
        jumps && at > pc && (patched || (at as i64 + 1 + i64::from(ins.j())) <= pc as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use perilune_vm::Vm;

    #[track_caller]
    fn has(source: &str, expected: &[HintKind]) {
        let mut vm = Vm::new();
        let f = vm.load_chunk(source.as_bytes(), b"=t", None).unwrap();
        let found: Vec<HintKind> = hints(f.proto().unwrap()).iter().map(|h| h.kind).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn strings_that_grow() {
        has("local s = '' for i = 1, 9 do s = s .. i end", &[HintKind::StringBuilt]);
        has("s = '' for i = 1, 9 do s = s .. i .. ',' end", &[HintKind::StringBuilt]);
        has("local t = {s = ''} while x do t.s = t.s .. f() end", &[HintKind::StringBuilt]);
        has("local s = '' s = s .. 'once'", &[]);
        has("for i = 1, 9 do local s = 'a' .. i end", &[]);
        has("local s for i = 1, 9 do s = i .. s end", &[]);
    }

    #[test]
    fn metatables_that_are_made() {
        has("local o = setmetatable({}, {__index = P})", &[HintKind::NewMetatable]);
        has("local o = setmetatable({}, {__index = function() return f(1) end})", &[HintKind::NewMetatable]);
        has("return setmetatable({}, {})", &[HintKind::NewMetatable]);
        has("local set = setmetatable local o = set({}, {})", &[]);
        has("local m = {} local o = setmetatable({}, m)", &[]);
        has("local o = setmetatable({}, mt)", &[]);
    }
}
