//! Builtins: what a call of one does, as IR.
//!
//! A builtin is recorded with the call instruction, from the arguments as they are now. Its guards come before its effects.

mod base;
mod bit;
mod math;
mod string;
mod table;

use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::IrRef;
use perilune_vm::bc::Ins;
use perilune_vm::lib::Builtin;
use perilune_vm::object::{Func, Gc};
use perilune_vm::{Value, Vm};

/// The arguments of a call.
pub(super) struct Args<'a> {
    vm: &'a Vm,
    f: Gc<Func>,
    /// References and values.
    list: Vec<(IrRef, Value)>,
}

impl Args<'_> {
    /// Argument `i`; nil when absent.
    fn get(&self, i: usize) -> (IrRef, Value) {
        self.list.get(i).copied().unwrap_or((IrRef::NIL, Value::NIL))
    }
    fn len(&self) -> usize {
        self.list.len()
    }
}

/// Results of a builtin; `None` when it is not compiled.
type Results = Rec<Option<Vec<IrRef>>>;

/// One result.
fn one(r: IrRef) -> Results {
    Ok(Some(vec![r]))
}

impl Recorder {
    /// Records a call of a builtin whose function is in local `a`.
    pub(super) fn builtin(&mut self, vm: &Vm, _: *const Ins, f: Gc<Func>, a: usize, nargs: usize, want: usize) -> Rec<()> {
        let mut list = Vec::with_capacity(nargs);
        for i in 0..nargs {
            list.push(self.operand_of_call(vm, a + 2 + i)?);
        }
        let args = Args { vm, f, list };
        let Some(b) = Builtin::from_id(f.ffid()) else { return self.nyi_func(Value::func(f)) };
        let results = match self.builtin_results(b, &args) {
            Ok(Some(r)) => r,
            Ok(None) => return self.nyi_func(Value::func(f)),
            Err(e) => {
                if matches!(e, Abort::NyiBytecode | Abort::BadType) {
                    return self.nyi_func(Value::func(f));
                }
                return Err(e);
            }
        };
        let n = if want == 0 { results.len() } else { want - 1 };
        let dest = self.base + a;
        self.clear_from(dest);
        for i in 0..n {
            self.set_abs(dest + i, results.get(i).copied().unwrap_or(IrRef::NIL));
        }
        self.open_top = 0;
        self.multres = 0;
        if want == 0 {
            self.multres = n as u32;
            self.open_top = dest + n;
        }
        self.in_builtin += 1;
        Ok(())
    }
    /// An argument. The interpreter copies those of an iterator only when it executes the call.
    fn operand_of_call(&mut self, vm: &Vm, i: usize) -> Rec<(IrRef, Value)> {
        let from = if self.iterating { i - 4 } else { i };
        Ok((self.get(vm, i)?, super::view::slot(vm, from as isize)))
    }

    fn builtin_results(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        let name = b.name();
        if name.starts_with("math.") {
            self.lib_math(b, args)
        } else if name.starts_with("bit.") {
            self.lib_bit(b, args)
        } else if name.starts_with("string.") {
            self.lib_string(b, args)
        } else if name.starts_with("table.") {
            self.lib_table(b, args)
        } else {
            self.lib_base(b, args)
        }
    }
}
