//! How often a loop iterates, by its constants and by what it iterates over.

use super::view;
use perilune_vm::Value;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::object::{InsPtr, Proto, Table};
use perilune_vm::stdlib::Builtin;

/// The constant that the instructions before a FORI put in a slot of the loop.
pub(super) fn for_constant(proto: &Proto, fori: InsPtr, back: isize, slot: usize) -> Option<i32> {
    let at = proto.pc_of(fori)? as isize - back;
    let ins = proto.ins(usize::try_from(at).ok()?)?;
    if at < 1 || ins.op() != Bc::KSHORT || ins.a() != slot {
        return None;
    }
    // If a jump led after it, the value would be unknown.
    for i in 1..at as usize + back as usize {
        let j = proto.ins(i)?;
        let to = i as isize + 1 + j.j() as isize;
        if matches!(j.op(), Bc::JMP | Bc::UCLO) && to > at && to <= at + back {
            return None;
        }
    }
    Some(i32::from(ins.d() as u16 as i16))
}

/// The most iterations of a loop that is better unrolled into what it is part of than recorded by itself: a trace of its own has its body twice
/// (before the loop and in it), and is entered and left each time, so that unrolling takes about twice the code at most.
const FEW_ITERATIONS: i64 = 4;

/// How often the instruction at `pc` is executed, which counts the iterations of its loop, if they are few; `local` reads a local of its frame. The start and
/// the step of a numeric loop are constants; its limit, which often is the length of a short table, is what it is now. So are the elements
/// of a table that `ipairs`, `pairs` or `next` iterates over.
pub fn few_iterations(proto: &Proto, (pc, ins): (InsPtr, Ins), local: impl Fn(usize) -> Value) -> Option<u32> {
    // An iterator is called once more, and finds the end.
    let (n, more) = match ins.op() {
        Bc::FORL | Bc::IFORL => {
            let fori = view::at(view::target(pc, ins), -1);
            // The limit may be the length of an upvalue's field, with three instructions in between.
            let start = (3..=6).find_map(|back| for_constant(proto, fori, back, ins.a()))?;
            let step = for_constant(proto, fori, 1, ins.a() + 2)?;
            let stop = local(ins.a() + 1).as_int()?;
            ((i64::from(stop) - i64::from(start)).checked_div(i64::from(step))? + 1, 0)
        }
        Bc::ITERL | Bc::IITERL | Bc::ITERN => {
            let iterator = local(ins.a() - 3).as_func().and_then(|f| Builtin::from_id(f.ffid()));
            let table = local(ins.a() - 2);
            let n = match iterator? {
                Builtin::IpairsAux => i64::from(table.as_table()?.len()),
                Builtin::Next => few_entries(&*table.as_table()?),
                _ => return None,
            };
            (n, 1)
        }
        _ => return None,
    };
    (1..=FEW_ITERATIONS).contains(&n).then(|| n as u32 + more)
}

/// The number of fields of a record, or more than a few: how many entries another table has may differ each time.
fn few_entries(t: &Table) -> i64 {
    let (mut n, mut at) = (0, 0);
    while n <= FEW_ITERATIONS
        && let Some((next, key, _)) = t.next_index(at)
    {
        let is_record = key.is_str();
        (n, at) = (if is_record { n + 1 } else { i64::MAX }, next);
    }
    n
}
