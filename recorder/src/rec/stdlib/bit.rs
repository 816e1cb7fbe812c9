//! The bit library.

use super::{Args, Results, one};
use crate::ir::{IrRef, Op, Ty};
use crate::opt::fold::range;
use crate::rec::{Rec, Recorder};
use perilune_vm::stdlib::Builtin;

/// The operation of a function that shifts or rotates.
fn shift(b: Builtin) -> Option<Op> {
    Some(match b {
        Builtin::BitLshift => Op::BSHL,
        Builtin::BitRshift => Op::BSHR,
        Builtin::BitArshift => Op::BSAR,
        Builtin::BitRol => Op::BROL,
        Builtin::BitRor => Op::BROR,
        _ => return None,
    })
}

impl Recorder {
    fn bit_arg(&mut self, args: &Args<'_>, i: usize) -> Rec<IrRef> {
        let (r, v) = args.get(i);
        self.to_bits(r, v)
    }

    /// A function of the library with an argument that is cdata.
    fn wide_bits(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        let logic = match b {
            Builtin::BitTohex => return Ok(None),
            Builtin::BitTobit => return one(self.wide_low(args.vm, args.get(0))?),
            Builtin::BitBnot => Op::BNOT,
            Builtin::BitBswap => Op::BSWAP,
            Builtin::BitBand => Op::BAND,
            Builtin::BitBor => Op::BOR,
            Builtin::BitBxor => Op::BXOR,
            _ => {
                let Some(op) = shift(b) else { return Ok(None) };
                return one(self.wide_shift(args.vm, op, args.get(0), args.get(1), false)?);
            }
        };
        let unary = matches!(logic, Op::BNOT | Op::BSWAP);
        one(self.wide_logic(args.vm, logic, if unary { &args.list[..1] } else { &args.list })?)
    }

    pub(super) fn lib_bit(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        if args.len() == 0 {
            return Ok(None);
        }
        if args.list.iter().any(|a| a.1.is_cdata()) {
            return self.wide_bits(b, args);
        }
        let x = self.bit_arg(args, 0)?;
        let nary = match b {
            Builtin::BitTobit => {
                // A sum or product is its own bits if it is an int.
                range::rely(&mut self.b, x)?;
                return one(x);
            }
            Builtin::BitBnot => return one(self.b.emit(Op::BNOT, Ty::Int, x, IrRef::NONE)?),
            Builtin::BitBswap => return one(self.b.emit(Op::BSWAP, Ty::Int, x, IrRef::NONE)?),
            Builtin::BitBand => Op::BAND,
            Builtin::BitBor => Op::BOR,
            Builtin::BitBxor => Op::BXOR,
            _ => {
                let Some(op) = shift(b) else { return Ok(None) };
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
