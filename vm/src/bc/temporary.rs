//! Temporaries: slots that hold a value from the instruction that makes it to the one that uses it, as `t[i]` in `t[i].x = y`.

use super::Op;
use super::liveness::plain;
use super::verify::effect::effect;
use super::verify::{jumps, transfers};
use crate::object::Proto;

/// So many instructions are looked at, before the use and after it. Expressions that are longer are rare, and cost little by comparison.
const REACH: usize = 8;

/// Is what the instruction at index `made` leaves in its slot A indexed once, by an instruction that follows without a call or jump in between,
/// and used in no other way? Then nothing refers to the value afterwards.
pub fn is_used_once(p: &Proto, made: usize) -> bool {
    let Some(slot) = p.ins(made).map(|i| i.a()) else { return false };
    let Some(used) = (made + 1..=made + REACH).find(|&pc| !passes_by(p, pc, slot)) else { return false };
    let Some(ins) = p.ins(used) else { return false };
    let by_slot = matches!(ins.op(), Op::TGETV | Op::TSETV) && ins.c() == slot;
    let is_got = matches!(ins.op(), Op::TGETV | Op::TGETS | Op::TGETB);
    let is_set = matches!(ins.op(), Op::TSETV | Op::TSETS | Op::TSETB);
    // A debugger sees a variable as long as it is in scope.
    if ins.b() != slot || by_slot || !(is_got || is_set && ins.a() != slot) || p.local_name(slot as u32, used).is_some() {
        return false;
    }
    is_got && ins.a() == slot || is_dead(p, used + 1, slot, &mut { REACH })
}

/// Does the instruction at an index neither use the slot, nor jump, nor call?
fn passes_by(p: &Proto, pc: usize, slot: usize) -> bool {
    let Some(ins) = p.ins(pc).map(plain).filter(|ins| runs_on(ins.op())) else { return false };
    effect(p, ins).is_ok_and(|e| !e.reads.has(slot) && !e.writes.has(slot) && !e.kills.has(slot) && e.takes.is_none())
}

/// Does control go on to the next instruction, without a call that the program sees?
fn runs_on(op: Op) -> bool {
    let calls = matches!(op, Op::CALL | Op::CALLM | Op::ITERC | Op::ITERN);
    let enters = matches!(op, Op::JFORL | Op::JITERL | Op::JLOOP);
    op > Op::ISF && !jumps(op) && !transfers(op) && !calls && !enters
}

/// Is the slot written to before it is read, from the instruction at an index on, as far as `left` more instructions show?
fn is_dead(p: &Proto, mut pc: usize, slot: usize, left: &mut usize) -> bool {
    while *left != 0 {
        *left -= 1;
        let Some(ins) = p.ins(pc).map(plain) else { return false };
        let (op, a) = (ins.op(), ins.a());
        match op {
            // What is above the loop's own slots belongs to its body.
            Op::FORL | Op::JFORL => return slot > a + 3,
            Op::LOOP | Op::JLOOP => return slot >= a,
            Op::JMP => {
                pc = pc.wrapping_add_signed(ins.j() as isize + 1);
                continue;
            }
            Op::JITERL => return false,
            _ => {}
        }
        let Ok(e) = effect(p, ins) else { return false };
        if e.reads.has(slot) || e.takes.is_some() || e.if_taken {
            return false;
        }
        if op <= Op::ISF {
            return is_dead(p, pc + 1, slot, left) && is_dead(p, pc + 2, slot, left);
        }
        if e.writes.has(slot) || e.kills.has(slot) || matches!(op, Op::RET | Op::RET0 | Op::RET1) {
            return true;
        }
        if !runs_on(op) {
            return false;
        }
        pc += 1;
    }
    false
}
