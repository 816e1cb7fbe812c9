//! From a prototype in the heap back to plain data, for `string.dump`.
#![allow(unsafe_code, reason = "constants that are cdata are of the types of literals")]

use super::{Cdata, Gc, Proto, Table};
use crate::Vm;
use crate::bc::{Ins, KCdata, KGc, KNum, KVal, Op, ProtoData, TableTemplate};
use crate::ffi::ctype::CTypeId;
use crate::value::Value;
use std::rc::Rc;

impl Vm {
    /// A prototype with its children as plain data: the output of the parser, without the patches of the compiler.
    pub fn proto_data(&self, p: Gc<Proto>) -> ProtoData {
        let kgc: Vec<KGc> = (0..).map_while(|i| p.kgc(i)).map(|k| self.object_data(p, k)).collect();
        let mut bc: Vec<Ins> = (0..).map_while(|pc| p.ins(pc)).map(|ins| self.source_ins(ins)).collect();
        if let Some(header) = bc.first_mut() {
            *header = Ins::ad(if p.is_vararg() { Op::FUNCV } else { Op::FUNCF }, p.framesize() as u8, 0);
        }
        ProtoData {
            bc,
            has_children: kgc.iter().any(|k| matches!(k, KGc::Proto(_))),
            kgc,
            knum: (0..).map_while(|i| p.knum(i)).filter_map(number_data).collect(),
            upvalues: p.upvalues.to_vec(),
            num_params: p.num_params() as u8,
            framesize: p.framesize() as u8,
            is_vararg: p.is_vararg(),
            first_line: p.first_line,
            last_line: p.last_line,
            lines: p.lines.to_vec(),
            chunkname: Rc::from(p.chunkname.bytes()),
            uv_names: p.uv_names.to_vec(),
            vars: p.vars.to_vec(),
        }
    }
    /// The instruction that the parser emitted.
    fn source_ins(&self, ins: Ins) -> Ins {
        let ins = match ins.op() {
            Op::JFORL | Op::JITERL | Op::JLOOP => self.compiler.original_ins(ins),
            _ => ins,
        };
        ins.with_op(match ins.op() {
            Op::JFORI => Op::FORI,
            Op::IFORL => Op::FORL,
            Op::IITERL => Op::ITERL,
            Op::ILOOP => Op::LOOP,
            op => op,
        })
    }
    fn object_data(&self, p: Gc<Proto>, k: Value) -> KGc {
        if let Some(child) = k.as_proto() {
            return KGc::Proto(Box::new(self.proto_data(child)));
        }
        if let Some(c) = k.as_cdata() {
            return KGc::Cdata(cdata_data(c));
        }
        match k.as_table() {
            Some(t) => KGc::Table(template_data(p, t)),
            None => KGc::Str(k.as_str().map_or(Box::default(), |s| Box::from(s.bytes()))),
        }
    }
}

/// A constant that is cdata.
fn cdata_data(c: Gc<Cdata>) -> KCdata {
    // SAFETY: the payload of a constant is 8 bytes, or of this type two doubles.
    unsafe {
        match c.ctype() {
            CTypeId::COMPLEX_DOUBLE => {
                let [re, im] = c.read::<[f64; 2]>();
                KCdata::Complex(re, im)
            }
            CTypeId::UINT64 => KCdata::Uint64(c.read()),
            _ => KCdata::Int64(c.read()),
        }
    }
}

fn number_data(v: Value) -> Option<KNum> {
    if let Some(i) = v.as_int() { Some(KNum::Int(i)) } else { v.as_number().map(KNum::Num) }
}

fn value_data(v: Value) -> KVal {
    if let Some(s) = v.as_str() {
        return KVal::Str(s.bytes().into());
    }
    match number_data(v) {
        Some(KNum::Int(i)) => KVal::Int(i),
        Some(KNum::Num(n)) => KVal::Num(n),
        None if v.is_nil() => KVal::Nil,
        None => KVal::Bool(v.truthy()),
    }
}

/// A template table. Its keys are in an order that does not depend on addresses.
fn template_data(p: Gc<Proto>, t: Gc<Table>) -> TableTemplate {
    let array = (0..t.asize() as usize).map(|i| value_data(t.array_part()[i].get())).collect();
    let constants = || (0..).map_while(|i| p.kgc(i));
    let mut hash = Vec::new();
    for n in t.nodes() {
        let (k, v) = (n.key.get(), n.val.get());
        // A key without a value does not keep its string alive: it may be read only if it is a constant as well.
        if k.is_nil() || (v.is_nil() && k.is_gc() && !constants().any(|c| c == k)) {
            continue;
        }
        hash.push((value_data(k), value_data(v)));
    }
    hash.sort_by(|(a, _), (b, _)| order(a).cmp(&order(b)));
    TableTemplate { array, hash }
}

/// The sort key of a key.
fn order(k: &KVal) -> (u8, i64, &[u8]) {
    match k {
        KVal::Nil => (0, 0, b""),
        KVal::Bool(b) => (1, i64::from(*b), b""),
        KVal::Int(i) => (2, i64::from(*i), b""),
        KVal::Num(n) => (3, n.to_bits() as i64, b""),
        KVal::Str(s) => (4, 0, s),
    }
}
