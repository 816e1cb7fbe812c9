//! Evaluates addresses, loads, stores, allocations and calls.

use super::{Eval, Step, box_word, guard, memory, ops};
use crate::ir::{Const, Ins, IrRef, Mode, Op, Ty, sload};
use perilune_vm::gc::color::{BARRIER, BLACK};
use perilune_vm::helper::Helper;
use perilune_vm::layout::{AbiType, Field, ofs};
use perilune_vm::value::{self as v, Value};

/// Executes any instruction that is not arithmetic.
pub(super) fn step(e: &mut Eval<'_>, ins: Ins) -> Step {
    match ins.op {
        Op::AREF | Op::HREFK | Op::HREF | Op::NEWREF | Op::UREFO | Op::UREFC | Op::FREF | Op::STRREF | Op::LREF | Op::SREF => {
            reference(e, ins)
        }
        Op::SLOAD => slot_load(e, ins),
        Op::ALOAD | Op::HLOAD | Op::ULOAD => value_load(e.val(ins.a), ins, ins.is_guard(), ins.ty == Ty::Num),
        Op::VLOAD => value_load(e.val(ins.a) + 8 * u64::from(ins.b.0), ins, ins.is_guard(), ins.ty == Ty::Num),
        Op::FLOAD => Ok(raw_load(e.val(ins.a) + field(ins), ins.ty)),
        Op::XLOAD => Ok(raw_load(e.val(ins.a), ins.ty)),
        Op::ALEN => Ok(e.call(Helper::TabLen, &[e.val(ins.a)])),
        Op::ASTORE | Op::HSTORE | Op::USTORE => {
            memory::store64(e.val(ins.a), e.boxed(ins.b));
            Ok(0)
        }
        Op::FSTORE | Op::XSTORE => {
            raw_store(e.val(ins.a), e.val(ins.b), ins.ty);
            Ok(0)
        }
        Op::TBAR | Op::OBAR => {
            barrier(e, ins);
            Ok(0)
        }
        Op::CALLN | Op::CALLA | Op::CALLL | Op::CALLS => call(e, ins),
        Op::CALLXS => foreign_call(e, ins),
        Op::XBAR => Ok(0),
        _ => object(e, ins),
    }
}

fn field(ins: Ins) -> u64 {
    Field::ALL[usize::from(ins.b.0)].offset() as u64
}

fn reference(e: &mut Eval<'_>, ins: Ins) -> Step {
    let object = if ins.op.mode_a() == Mode::Ref { e.val(ins.a) } else { 0 };
    match ins.op {
        Op::AREF => Ok(object + 8 * u64::from(e.int(ins.b) as u32)),
        Op::STRREF => Ok(object + ofs::STR_DATA as u64 + u64::from(e.int(ins.b) as u32)),
        Op::FREF => Ok(object + field(ins)),
        Op::LREF => Ok(e.vm_field(ofs::VM_CUR)),
        Op::SREF => Ok(e.slot_address(ins.a.slot())),
        Op::HREFK => {
            let Some(Const::Slot(key, n)) = e.t.konst(ins.b) else { unreachable!("HREFK without KSLOT") };
            let node = object + u64::from(n) * ofs::NODE_SIZE as u64;
            if ins.is_guard() {
                guard(memory::load64(node + ofs::NODE_KEY as u64) == e.boxed(key))?;
            }
            Ok(node + ofs::NODE_VAL as u64)
        }
        Op::HREF => Ok(match e.t.ty(ins.b) {
            Ty::Str => e.call(Helper::TabGetStr, &[object, e.val(ins.b)]),
            Ty::Int => e.call(Helper::TabGetInt, &[object, e.val(ins.b)]),
            _ => e.call(Helper::TabGet, &[object, e.boxed(ins.b)]),
        }),
        Op::NEWREF if ins.is_guard() => {
            let slot = e.call(Helper::TabTryNewKey, &[object, e.boxed(ins.b)]);
            guard(slot != 0)?;
            Ok(slot)
        }
        Op::NEWREF => Ok(e.call(Helper::TabNewKey, &[object, e.boxed(ins.b)])),
        _ => {
            let upvalue = memory::load64(object + ofs::FUNC_UPVALUES as u64 + 8 * u64::from(ins.b.0 >> 8));
            let closed = memory::load8(upvalue + ofs::UPVAL_CLOSED as u64) != 0;
            if ins.is_guard() {
                guard(closed == (ins.op == Op::UREFC))?;
            }
            Ok(if ins.op == Op::UREFC { upvalue + ofs::UPVAL_TV as u64 } else { memory::load64(upvalue + ofs::UPVAL_V as u64) })
        }
    }
}

fn slot_load(e: &Eval<'_>, ins: Ins) -> Step {
    let (address, flags) = (e.slot_address(ins.a.slot()), ins.b.0);
    if flags & sload::KEYINDEX != 0 {
        return Ok(u64::from(memory::load32(address)));
    }
    let check = ins.is_guard() || flags & sload::TYPECHECK != 0;
    value_load(address, ins, check, flags & sload::CONVERT != 0 || check && ins.ty == Ty::Num)
}

/// Loads a boxed value as the type of the instruction. With `check`, another type leaves the trace; with `convert`, the other form of a
/// number is accepted and converted.
fn value_load(address: u64, ins: Ins, check: bool, convert: bool) -> Step {
    let word = memory::load64(address);
    let value = memory::value(word);
    let ty = ins.ty;
    if ty == Ty::Num || ty.is_int() {
        if ty == Ty::Num && convert && !value.is_num() {
            guard(!check || value.is_int())?;
            return Ok(f64::from(value.as_int_unchecked()).to_bits());
        }
        if ty != Ty::Num && check && convert && !value.is_int() {
            let exact = value.is_num() && Value::number(value.as_num_unchecked()).is_int();
            guard(exact)?;
            return Ok(u64::from(value.as_num_unchecked() as i32 as u32));
        }
        guard(!check || if ty == Ty::Num { value.is_num() } else { value.is_int() })?;
        return Ok(if ty == Ty::Num { word } else { u64::from(word as u32) });
    }
    if ty.is_pri() {
        guard(!check || word == box_word(0, ty))?;
        return Ok(0);
    }
    match ty.tag() {
        Some(tag) => {
            guard(!check || value.tag() == tag)?;
            Ok(word & v::PAYLOAD_MASK)
        }
        None => Ok(word),
    }
}

fn raw_load(address: u64, ty: Ty) -> u64 {
    match ty {
        Ty::I8 => u64::from(memory::load8(address) as i8 as i32 as u32),
        Ty::U8 => u64::from(memory::load8(address)),
        Ty::I16 => u64::from(memory::load16(address) as i16 as i32 as u32),
        Ty::U16 => u64::from(memory::load16(address)),
        Ty::Int | Ty::U32 | Ty::Float => u64::from(memory::load32(address)),
        _ => memory::load64(address),
    }
}

fn raw_store(address: u64, word: u64, ty: Ty) {
    match ty {
        Ty::I8 | Ty::U8 => memory::store8(address, word as u8),
        Ty::I16 | Ty::U16 => memory::store16(address, word as u16),
        Ty::Int | Ty::U32 | Ty::Float => memory::store32(address, word as u32),
        _ => memory::store64(address, word),
    }
}

fn barrier(e: &mut Eval<'_>, ins: Ins) {
    let address = e.val(ins.a);
    let (object, bits) = if ins.op == Op::TBAR { (address, BARRIER) } else { (address - ofs::UPVAL_TV as u64, BLACK) };
    if memory::load8(object + ofs::GC_MARKED as u64) & bits == 0 {
        return;
    }
    if ins.op == Op::TBAR {
        e.call(Helper::BarrierTable, &[object, e.boxed(ins.b)]);
    } else {
        e.call(Helper::BarrierUpval, &[address, e.boxed(ins.b)]);
    }
}

/// SNEW to STRTO.
fn object(e: &mut Eval<'_>, ins: Ins) -> Step {
    Ok(match ins.op {
        Op::SNEW | Op::XSNEW => e.call(Helper::StrNew, &[e.val(ins.a), e.val(ins.b)]),
        Op::TNEW => e.call(Helper::TabNew, &[u64::from(ins.a.0), u64::from(ins.b.0)]),
        Op::TDUP => e.call(Helper::TabDup, &[e.val(ins.a)]),
        Op::CNEW => e.call(Helper::CdataNew, &[e.val(ins.a), e.val(ins.b)]),
        Op::CNEWI => e.call(Helper::CdataBox, &[e.val(ins.a), e.val(ins.b)]),
        Op::BUFHDR => e.call(Helper::BufReset, &[]),
        Op::BUFPUT => e.call(Helper::BufPut, &[e.val(ins.b)]),
        Op::BUFNUM if e.t.ty(ins.b) == Ty::Num => e.call(Helper::BufPutNum, &[e.val(ins.b)]),
        Op::BUFNUM => e.call(Helper::BufPutInt, &[e.val(ins.b)]),
        Op::BUFFMT => call(e, e.t.formatting(ins))?,
        Op::BUFSTR => made(e.call(Helper::BufStr, &[]))?,
        Op::TOSTR => {
            let helper = match ins.b.0 {
                0 => Helper::StrFromInt,
                1 => Helper::StrFromNum,
                _ => Helper::StrFromChar,
            };
            e.call(helper, &[e.val(ins.a)])
        }
        Op::STRTO => {
            let ok = e.call(Helper::StrToNum, &[e.val(ins.a)]);
            guard(ok as i32 != 0)?;
            e.vm_field(ofs::VM_SCRATCH)
        }
        op => unreachable!("{} is not evaluated", op.name()),
    })
}

/// CALLXS.
fn foreign_call(e: &Eval<'_>, ins: Ins) -> Step {
    let mut args = Vec::new();
    let mut rest = ins.a;
    while let Some(carg) = e.t.def(rest).filter(|i| i.op == Op::CARG) {
        args.push((e.val(carg.b), e.t.ty(carg.b)));
        rest = carg.a;
    }
    if rest != IrRef::NIL {
        args.push((e.val(rest), e.t.ty(rest)));
    }
    args.reverse();
    let function = e.t.def(ins.b).filter(|i| i.op == Op::CARG).map_or(ins.b, |carg| carg.a);
    // SAFETY: the contract of [`super::run`]: a guard has passed the address, and the trace has the arguments that the function takes.
    let result = unsafe { memory::call_foreign(e.val(function), &args, ins.ty.is_float()) };
    Ok(match ins.ty {
        Ty::Nil => 0,
        Ty::Float => u64::from(result as u32),
        ty => ops::narrow(result, ty),
    })
}

/// CALLN to CALLS.
fn call(e: &mut Eval<'_>, ins: Ins) -> Step {
    let helper = Helper::ALL[usize::from(ins.b.0)];
    let params = helper.args();
    let mut args = vec![0; params.len()];
    let mut rest = ins.a;
    for n in (0..params.len()).rev() {
        let mut arg: IrRef = rest;
        if n > 0
            && let Some(carg) = e.t.def(rest)
        {
            arg = carg.b;
            rest = carg.a;
        }
        args[n] = if params[n] == AbiType::U64 { e.boxed(arg) } else { e.val(arg) };
    }
    let result = e.call(helper, &args);
    if ins.is_guard() { made(result) } else { Ok(result) }
}

/// The object that a helper has made; leaves if there was no memory for it.
fn made(object: u64) -> Step {
    guard(object != 0)?;
    Ok(object)
}
