//! Builtins that the recorder expresses in IR (LuaJIT's `lj_ffrecord`).
//!
//! A builtin is recorded with the call instruction, with the arguments as they are now. Its guards come before its effects.

mod base;
mod bit;
mod buffer;
mod ffi;
mod format;
mod math;
mod string;
mod table;

use super::call::CallSite;
use super::on_trace::on_trace;
use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::IrRef;
use perilune_vm::object::{Func, Gc};
use perilune_vm::stdlib::{Builtin, Library, OnTrace};
use perilune_vm::{Value, Vm};

/// The arguments of a call.
pub(super) struct Args<'a> {
    vm: &'a Vm,
    f: Gc<Func>,
    /// References and values.
    list: Vec<(IrRef, Value)>,
    /// Number of results that are used, plus 1; 0 for all.
    want: usize,
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

/// Results of a builtin; `None` when the recorder cannot express the builtin.
type Results = Rec<Option<Vec<IrRef>>>;

/// One result.
fn one(r: IrRef) -> Results {
    Ok(Some(vec![r]))
}

impl Recorder {
    /// Records a call of a builtin.
    pub(super) fn builtin(&mut self, vm: &Vm, call: CallSite, f: (IrRef, Gc<Func>)) -> Rec<()> {
        let CallSite { pc, a, nargs, want } = call;
        match self.try_builtin(vm, f.1, (a, nargs), want)? {
            Some(results) => {
                self.place_builtin(a, &results, want);
                Ok(())
            }
            None => self.native(vm, pc, f, a, nargs),
        }
    }
    /// The results of a builtin as IR, whose frame is in local `a`; `None` where the recorder cannot express it, so that the trace calls it.
    /// Of the results `want` - 1 are used, or all if that is 0.
    pub(super) fn try_builtin(&mut self, vm: &Vm, f: Gc<Func>, (a, nargs): (usize, usize), want: usize) -> Results {
        let mut list = Vec::with_capacity(nargs);
        for i in 0..nargs {
            list.push(self.operand_of_call(vm, a + 2 + i)?);
        }
        match self.builtin_of_args(vm, f, list, want)? {
            None if self.is_for_stitch(f) => self.nyi_func(Value::func(f)),
            results => Ok(results),
        }
    }
    /// The same with these arguments; `None` also where the trace is stitched.
    pub(super) fn builtin_of_args(&mut self, vm: &Vm, f: Gc<Func>, list: Vec<(IrRef, Value)>, want: usize) -> Results {
        let OnTrace::Record(library) = on_trace(f) else { return Ok(None) };
        let args = Args { vm, f, list, want };
        let b = Builtin::from_id(f.ffid()).unwrap_or(Builtin::NativeFunction);
        match self.builtin_results(library, b, &args) {
            Ok(None) | Err(Abort::NyiBytecode | Abort::BadType) => Ok(None),
            done => done,
        }
    }
    /// Is the trace stitched at a call of this builtin here?
    pub(super) fn is_for_stitch(&self, f: Gc<Func>) -> bool {
        !matches!(on_trace(f), OnTrace::Record(_) | OnTrace::Call) || self.feedback.site.leaves
    }
    /// Puts results into the slots that the call instruction says.
    pub(super) fn place_builtin(&mut self, a: usize, results: &[IrRef], want: usize) {
        self.place_list(want, self.base + a, results);
        self.native.headers += 1;
    }
    /// An argument. The interpreter copies the arguments of an iterator only when it executes the call.
    fn operand_of_call(&mut self, vm: &Vm, i: usize) -> Rec<(IrRef, Value)> {
        let from = if self.native.iterating { i - 4 } else { i };
        Ok((self.get(vm, i)?, super::view::slot(vm, from as isize)))
    }

    fn builtin_results(&mut self, library: Library, b: Builtin, args: &Args<'_>) -> Results {
        match library {
            Library::Base => self.lib_base(b, args),
            Library::Bit => self.lib_bit(b, args),
            Library::Ffi => self.lib_ffi(b, args),
            Library::Math => self.lib_math(b, args),
            Library::String => self.lib_string(b, args),
            Library::Table => self.lib_table(b, args),
            Library::Buffer => self.lib_buffer(b, args),
        }
    }
}
