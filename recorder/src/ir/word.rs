//! Operations on 64-bit integers, for what executes or folds IR.

use super::{Ins, Op, Ty};
use perilune_vm::ffi::arith::int64;
use perilune_vm::meta::MM;

/// What an instruction on words gives for its operands; none if it is no operation on words. Shifts and rotations count modulo 64.
pub fn operate(ins: Ins, x: u64, y: u64) -> Option<u64> {
    let n = y as u32 & 63;
    let mm = match ins.op {
        Op::ADD => MM::Add,
        Op::SUB => MM::Sub,
        Op::MUL => MM::Mul,
        Op::DIV => MM::Div,
        Op::MOD => MM::Mod,
        Op::POW => MM::Pow,
        Op::NEG => MM::Unm,
        Op::BNOT => return Some(!x),
        Op::BSWAP => return Some(x.swap_bytes()),
        Op::BAND => return Some(x & y),
        Op::BOR => return Some(x | y),
        Op::BXOR => return Some(x ^ y),
        Op::BSHL => return Some(x << n),
        Op::BSHR => return Some(x >> n),
        Op::BSAR => return Some((x as i64 >> n) as u64),
        Op::BROL => return Some(x.rotate_left(n)),
        Op::BROR => return Some(x.rotate_right(n)),
        _ => return None,
    };
    Some(int64(mm, ins.ty == Ty::I64, x, y))
}
