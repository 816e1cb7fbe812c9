//! Creation of prototypes from the output of the parser or the loader.
#![allow(
    unsafe_code,
    reason = "a new cell is written before anybody can see it; `k` points into the box of constants of the same prototype"
)]

use super::proto::hot_origin;
use super::{Gc, Kind, Proto, ProtoFlags, StitchStubs, Str, Table, hbits_for};
use crate::Vm;
use crate::bc::{Ins, KCdata, KGc, KNum, KVal, ProtoData, TableTemplate, UvDesc, VarInfo};
use crate::ffi::ctype::CTypeId;
use crate::gc::Heap;
use crate::meta::knum_value;
use crate::state::HOT_COUNTERS;
use crate::value::Value;
use core::cell::{Cell, UnsafeCell};
use std::rc::Rc;

impl Proto {
    /// Bytes of the boxes that the prototype owns; fixed once it is made.
    pub(crate) fn owned_bytes(&self) -> usize {
        let names: usize =
            self.uv_names.iter().map(|n| n.len()).sum::<usize>() + self.vars.iter().map(|v| v.name.len()).sum::<usize>();
        self.code_len() * size_of::<Ins>()
            + self.consts.len() * size_of::<Value>()
            + self.upvalues.len() * size_of::<UvDesc>()
            + self.lines.len() * 4
            + self.uv_names.len() * size_of::<Box<[u8]>>()
            + self.vars.len() * size_of::<VarInfo>()
            + names
    }
}

/// The prototypes of a chunk, as far as they are made.
struct Chunk {
    /// Where the hot counters of the next one begin.
    place: usize,
    /// The name, which may be the whole source, as a string.
    name: Option<(Rc<[u8]>, Gc<Str>)>,
}

impl Heap {
    /// A prototype with its constants and child prototypes. Children are nested no deeper than the parser and the loader allow.
    pub fn new_proto(&mut self, d: &ProtoData) -> Gc<Proto> {
        // The hot counter that a chunk begins at is pseudo-random, but always the same.
        let hash = |h: u32, ins: &Ins| (h ^ ins.0).wrapping_mul(0x0100_0193).rotate_left(5);
        let place = d.bc.iter().fold(0, hash) as usize % HOT_COUNTERS;
        self.proto_in(d, &mut Chunk { place, name: None })
    }
    /// A prototype whose hot counters begin at the place that the chunk has come to, and which advances it to their end.
    fn proto_in(&mut self, d: &ProtoData, chunk: &mut Chunk) -> Gc<Proto> {
        let mut consts: Vec<Value> = d.kgc.iter().rev().map(|k| self.object_constant(k, chunk)).collect();
        let code = d.bc.clone().into_boxed_slice();
        consts.push(hot_origin(code.as_ptr(), chunk.place));
        chunk.place += code.len();
        consts.extend(d.knum.iter().map(|k| knum_value(*k)));
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        let chunkname = match &chunk.name {
            Some((name, s)) if Rc::ptr_eq(name, &d.chunkname) => *s,
            _ => {
                let s = self.new_str(&d.chunkname);
                chunk.name = Some((Rc::clone(&d.chunkname), s));
                s
            }
        };
        let hdr = self.header(Kind::Proto, d.framesize, d.num_params, 0);
        let p = self.alloc_cell(size_of::<Proto>()).cast::<Proto>();
        // SAFETY: a new cell of this size; `k` points to the first number constant of the box in its place, or after all.
        let p = unsafe {
            p.write(Proto {
                hdr,
                k: Cell::new(core::ptr::null()),
                code: UnsafeCell::new(code),
                consts: consts.into_boxed_slice(),
                num_kgc: d.kgc.len() as u32,
                flags: Cell::new(flag(d.has_children, ProtoFlags::CHILD) | flag(d.is_vararg, ProtoFlags::VARARG)),
                upvalues: d.upvalues.as_slice().into(),
                chunkname,
                first_line: d.first_line,
                last_line: d.last_line,
                lines: d.lines.as_slice().into(),
                uv_names: d.uv_names.as_slice().into(),
                vars: d.vars.as_slice().into(),
                stubs: StitchStubs::default(),
            });
            (*p).k.set((&raw const *(*p).consts).cast::<Value>().add(d.kgc.len() + 1));
            Gc::from_ptr(p)
        };
        self.note_proto(p);
        p
    }
    fn object_constant(&mut self, k: &KGc, chunk: &mut Chunk) -> Value {
        match k {
            KGc::Str(s) => Value::str(self.new_str(s)),
            KGc::Proto(d) => Value::proto(self.proto_in(d, chunk)),
            KGc::Table(t) => Value::table(self.new_template(t)),
            KGc::Cdata(KCdata::Int64(i)) => Value::cdata(self.new_int64(CTypeId::INT64, *i as u64)),
            KGc::Cdata(KCdata::Uint64(u)) => Value::cdata(self.new_int64(CTypeId::UINT64, *u)),
            KGc::Cdata(KCdata::Complex(re, im)) => Value::cdata(self.new_complex(*re, *im)),
        }
    }
    fn value_constant(&mut self, k: &KVal) -> Value {
        match k {
            KVal::Nil => Value::NIL,
            KVal::Bool(b) => Value::bool(*b),
            KVal::Int(i) => Value::int(*i),
            KVal::Num(n) => knum_value(KNum::Num(*n)),
            KVal::Str(s) => Value::str(self.new_str(s)),
        }
    }
    /// A template table. Keys with the value nil get nodes, too: each copy of the table is about to store to them.
    fn new_template(&mut self, d: &TableTemplate) -> Gc<Table> {
        let t = self.new_table(d.array.len() as u32, hbits_for(d.hash.len() as u32));
        for (i, k) in d.array.iter().enumerate() {
            let v = self.value_constant(k);
            t.array_part()[i].set(v);
        }
        for (k, v) in &d.hash {
            let (k, v) = (self.value_constant(k), self.value_constant(v));
            // The next key would take a node without a value, so such a node holds a value until all keys are inserted.
            self.table_put(t, k, if v.is_nil() { Value::table(t) } else { v });
        }
        for n in t.nodes() {
            if n.val.get().is_table() {
                n.val.set(Value::NIL);
            }
        }
        t
    }
}

impl Vm {
    /// A prototype with its constants and child prototypes.
    pub fn new_proto(&mut self, d: &ProtoData) -> Gc<Proto> {
        self.heap.new_proto(d)
    }
}
