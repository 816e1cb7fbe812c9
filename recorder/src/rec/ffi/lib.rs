//! The functions of the `ffi` library.

use super::aggregate::copy_of_bytes;
use super::types;
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::ffi::ctype::{CTypeId, Ct};
use perilune_vm::ffi::lib::{is_type, takes_finalizer};
use perilune_vm::helper::Helper;
use perilune_vm::stdlib::Builtin;
use perilune_vm::{Value, Vm};

impl Recorder {
    /// A call of a function of the library; `None` if the trace calls it.
    pub(in crate::rec) fn ffi_function(&mut self, vm: &Vm, b: Builtin, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let none = (IrRef::NIL, Value::NIL);
        let arg = |i: usize| args.get(i).copied().unwrap_or(none);
        let one = |r: IrRef| Ok(Some(vec![r]));
        match b {
            Builtin::FfiErrno => self.errno(vm, args),
            _ if args.is_empty() => Ok(None),
            Builtin::FfiNew => {
                let id = self.ctype_argument(vm, arg(0))?;
                one(self.new_cdata(vm, id, &args[1..])?)
            }
            Builtin::FfiCast if args.len() > 1 => {
                let id = self.ctype_argument(vm, arg(0))?;
                one(self.cast(vm, id, arg(1))?)
            }
            Builtin::FfiTypeof if args.len() == 1 => {
                let id = self.ctype_argument(vm, arg(0))?;
                let k = self.b.kint(id.0 as i32);
                one(self.new_box(CTypeId::CTYPEID, k)?)
            }
            Builtin::FfiIstype if args.len() > 1 => self.istype(vm, arg(0), arg(1)),
            Builtin::FfiSizeof | Builtin::FfiAlignof => self.measure(vm, b, args),
            Builtin::FfiOffsetof => self.offset_of(vm, args),
            Builtin::FfiString => self.ffi_string(vm, args),
            Builtin::FfiCopy => self.ffi_copy(vm, args),
            Builtin::FfiFill => self.ffi_fill(vm, args),
            Builtin::FfiGc if args.len() > 1 => one(self.ffi_gc(vm, arg(0), arg(1))?),
            _ => Ok(None),
        }
    }
    fn istype(&mut self, vm: &Vm, ct: Operand, v: Operand) -> Rec<Option<Vec<IrRef>>> {
        let a = self.ctype_argument(vm, ct)?;
        let Some(c) = v.1.as_cdata() else { return Ok(Some(vec![IrRef::FALSE])) };
        self.guard_ctype(v.0, c)?;
        let b = match super::peek::type_of_ctype(c) {
            Some(of) => {
                self.guard_type(v.0, of)?;
                of
            }
            None => c.ctype(),
        };
        let yes = is_type(types(vm)?, a, b);
        Ok(Some(vec![self.b.kvalue(Value::bool(yes))]))
    }
    /// `ffi.sizeof`, `ffi.alignof` of types of fixed size.
    fn measure(&mut self, vm: &Vm, b: Builtin, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let [ct] = *args else { return Ok(None) };
        let id = self.ctype_argument(vm, ct)?;
        let types = types(vm)?;
        let raw = types.raw_ref(id);
        if types.get(raw).info.is_variable() {
            return Ok(None);
        }
        let n = if b == Builtin::FfiSizeof {
            types.size(raw)
        } else {
            let entry = types.get(id);
            let id = if entry.info.is_ref() { entry.info.child() } else { id };
            Some(1 << types.info(id).0.align_log())
        };
        Ok(Some(vec![n.map_or(IrRef::NIL, |n| self.b.kint(n as i32))]))
    }
    fn offset_of(&mut self, vm: &Vm, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let [ct, (rn, name)] = *args else { return Ok(None) };
        let id = self.ctype_argument(vm, ct)?;
        let types = types(vm)?;
        let raw = types.raw_ref(id);
        let member = name.as_str().filter(|_| types.get(raw).info.is_struct()).and_then(|s| types.member(raw, s.bytes()));
        let Some(member) = member.filter(|m| types.get(m.id).info.is_ct(Ct::Field)) else { return Ok(None) };
        self.guard_is(rn, name)?;
        Ok(Some(vec![self.b.kint(member.offset as i32)]))
    }

    /// An argument that is an address.
    pub(in crate::rec) fn address_argument(&mut self, vm: &Vm, id: CTypeId, v: Operand) -> Rec<IrRef> {
        Ok(self.to_scalar(vm, id, v, false)?.0)
    }
    /// An argument that is an int of C, such as a number of bytes.
    fn int_argument(&mut self, vm: &Vm, v: Operand) -> Rec<IrRef> {
        let (r, _) = self.to_scalar(vm, CTypeId::INT32, v, false)?;
        if self.b.ty(r).is_int() { Ok(r) } else { Err(Abort::BadType) }
    }
    fn ffi_string(&mut self, vm: &Vm, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let (address, len) = match *args {
            [p, len] if !len.1.is_nil() => {
                let len = self.int_argument(vm, len)?;
                (self.address_argument(vm, CTypeId::P_CVOID, p)?, len)
            }
            [p] => {
                let address = self.address_argument(vm, CTypeId::P_CCHAR, p)?;
                (address, self.b.call(Helper::CStrLen, &[address])?)
            }
            _ => return Ok(None),
        };
        let zero = self.b.kint(0);
        self.b.emit(Op::GE, Ty::Int, len, zero)?;
        self.gc_step()?;
        Ok(Some(vec![self.b.emit(Op::XSNEW, Ty::Str, address, len)?]))
    }
    fn ffi_copy(&mut self, vm: &Vm, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let (to, from, len) = match *args {
            [to, from] => {
                let s = from.1.as_str().ok_or(Abort::BadType)?;
                let _ = s;
                let len = self.field(from.0, perilune_vm::layout::Field::StrLen)?;
                let one = self.b.kint(1);
                (to, from, self.b.emit(Op::ADD, Ty::Int, len, one)?)
            }
            [to, from, len] => (to, from, self.int_argument(vm, len)?),
            _ => return Ok(None),
        };
        let to = self.address_argument(vm, CTypeId::P_VOID, to)?;
        let source = from.1.as_cdata();
        let from = self.address_argument(vm, CTypeId::P_CVOID, from)?;
        let accesses = match self.b.as_int(len).map(u32::try_from) {
            Some(Ok(n)) => copy_of_bytes(types(vm)?, source.map(|c| c.ctype()), n),
            _ => None,
        };
        match accesses {
            Some(accesses) => {
                let value = self.loaded_as(accesses, from)?;
                // The memory may have been written as another type.
                self.raw_memory_changed()?;
                self.store_at(to, value)?;
            }
            None => self.b.call(Helper::MemCopy, &[to, from, len]).map(|_| ())?,
        }
        self.raw_memory_changed()?;
        Ok(Some(Vec::new()))
    }
    fn ffi_fill(&mut self, vm: &Vm, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let (to, len, byte) = match *args {
            [to, len] => (to, len, self.b.kint(0)),
            [to, len, byte] => (to, len, self.int_argument(vm, byte)?),
            _ => return Ok(None),
        };
        let to = self.address_argument(vm, CTypeId::P_VOID, to)?;
        let len = self.int_argument(vm, len)?;
        self.b.call(Helper::MemFill, &[to, byte, len])?;
        self.raw_memory_changed()?;
        Ok(Some(Vec::new()))
    }
    fn errno(&mut self, vm: &Vm, args: &[Operand]) -> Rec<Option<Vec<IrRef>>> {
        let new = args.first().map(|new| self.int_argument(vm, *new)).transpose()?;
        let old = self.b.call(Helper::Errno, &[])?;
        if let Some(new) = new {
            self.b.call(Helper::SetErrno, &[new])?;
            self.snaps.needed = true;
        }
        Ok(Some(vec![old]))
    }
    fn ffi_gc(&mut self, vm: &Vm, (r, v): Operand, f: Operand) -> Rec<IrRef> {
        let c = v.as_cdata().ok_or(Abort::BadType)?;
        if !takes_finalizer(types(vm)?.raw(c.ctype()).info) {
            return Err(Abort::BadType);
        }
        self.guard_ctype(r, c)?;
        self.set_finalizer(r, f.0)?;
        Ok(r)
    }
    pub(super) fn set_finalizer(&mut self, c: IrRef, f: IrRef) -> Rec<()> {
        self.b.call(Helper::CdataFinalizer, &[c, f])?;
        self.snaps.needed = true;
        Ok(())
    }
    pub(in crate::rec) fn raw_memory_changed(&mut self) -> Rec<()> {
        self.b.emit(Op::XBAR, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        self.snaps.needed = true;
        Ok(())
    }
}
