//! The bit library.

use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty};
use crate::rec::{Rec, Recorder};
use perilune_vm::stdlib::Builtin;

impl Recorder {
    fn bit_arg(&mut self, args: &Args<'_>, i: usize) -> Rec<IrRef> {
        let (r, v) = args.get(i);
        self.to_bits(r, v)
    }

    pub(super) fn lib_bit(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        if args.len() == 0 {
            return Ok(None);
        }
        let x = self.bit_arg(args, 0)?;
        let nary = match b {
            Builtin::BitTobit => return one(x),
            Builtin::BitBnot => return one(self.b.emit(Op::BNOT, Ty::Int, x, IrRef::NONE)?),
            Builtin::BitBswap => return one(self.b.emit(Op::BSWAP, Ty::Int, x, IrRef::NONE)?),
            Builtin::BitBand => Op::BAND,
            Builtin::BitBor => Op::BOR,
            Builtin::BitBxor => Op::BXOR,
            _ => {
                let op = match b {
                    Builtin::BitLshift => Op::BSHL,
                    Builtin::BitRshift => Op::BSHR,
                    Builtin::BitArshift => Op::BSAR,
                    Builtin::BitRol => Op::BROL,
                    Builtin::BitRor => Op::BROR,
                    _ => return Ok(None),
                };
                let n = self.bit_arg(args, 1)?;
                return one(self.b.emit(op, Ty::Int, x, n)?);
            }
        };
        let mut r = x;
        for i in 1..args.len() {
            let y = self.bit_arg(args, i)?;
            r = self.b.emit(nary, Ty::Int, r, y)?;
        }
        one(r)
    }
}
