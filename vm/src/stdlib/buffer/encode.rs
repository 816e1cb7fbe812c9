//! Values to bytes.

use super::format::{MAX_DEPTH, ONE_BYTE, TWO_BYTES, tag};
use super::object::{Dicts, MAX_LEN};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::ffi::ctype::Info;
use crate::object::{Cdata, Gc, Str, Table};
use crate::value::Value;

/// The most bytes of a value other than a string or table, and of tags and lengths.
const SMALL: usize = 32;
/// The encoding of NaN.
const NAN: u64 = 0xfff8_0000_0000_0000;

/// Appends the encoding of a value. Runs no Lua code and does not collect.
pub fn encode(vm: &mut Vm, out: &mut Vec<u8>, dicts: Dicts, v: Value) -> LuaResult<()> {
    // A value may be reached by more paths than memory could hold.
    let room = vm.memory_limit().map_or(MAX_LEN, |limit| limit.saturating_sub(vm.heap.total));
    let max = out.len().saturating_add(room).min(MAX_LEN);
    Encoder { vm, out, dicts, depth: 0, max }.value(v)
}

/// Appends a length.
fn put_length(out: &mut Vec<u8>, n: u32) {
    if n < ONE_BYTE {
        out.push(n as u8);
    } else if n < TWO_BYTES {
        let n = n - ONE_BYTE;
        out.extend_from_slice(&[0xe0 | (n >> 8) as u8, n as u8]);
    } else {
        out.push(0xff);
        out.extend_from_slice(&n.to_le_bytes());
    }
}

struct Encoder<'a> {
    vm: &'a mut Vm,
    out: &'a mut Vec<u8>,
    dicts: Dicts,
    depth: u32,
    max: usize,
}

impl Encoder<'_> {
    fn tag(&mut self, tag: u32) {
        self.out.push(tag as u8);
    }
    fn value(&mut self, v: Value) -> LuaResult<()> {
        if self.out.len() >= self.max {
            return Err(self.vm.out_of_memory());
        }
        self.vm.check_interrupt()?;
        self.vm.room(self.out, SMALL)?;
        if let Some(s) = v.as_str() {
            return self.string(s);
        } else if let Some(t) = v.as_table() {
            return self.table(t);
        } else if let Some(n) = v.as_number() {
            self.tag(tag::NUM);
            let bits = if n.is_nan() { NAN } else { n.to_bits() };
            self.out.extend_from_slice(&bits.to_le_bytes());
        } else if v.is_nil() {
            self.tag(tag::NIL);
        } else if v.is_bool() {
            self.tag(if v.truthy() { tag::TRUE } else { tag::FALSE });
        } else if v.is_lightud() {
            self.address(v.address());
        } else if let Some(c) = v.as_cdata() {
            return self.cdata(c);
        } else {
            return Err(self.refuse(v));
        }
        Ok(())
    }
    /// A 64-bit integer or a complex number.
    fn cdata(&mut self, c: Gc<Cdata>) -> LuaResult<()> {
        let types = self.vm.ctypes()?;
        let ct = types.raw(c.ctype());
        let (tag, size) = if ct.info.is_integer() && ct.size == 8 {
            (if ct.info.has(Info::UNSIGNED) { tag::UINT64 } else { tag::INT64 }, 8)
        } else if ct.info.is_complex() && ct.size == 16 {
            (tag::COMPLEX, 16)
        } else {
            return Err(self.refuse(Value::cdata(c)));
        };
        self.tag(tag);
        self.out.extend_from_slice(&c.bytes(size));
        Ok(())
    }
    #[cold]
    fn refuse(&mut self, v: Value) -> LuaError {
        self.vm.rt_error(&format!("cannot serialize '{}'", v.type_name()))
    }
    fn string(&mut self, s: Gc<Str>) -> LuaResult<()> {
        if s.len() > self.max - self.out.len() {
            return Err(self.vm.out_of_memory());
        }
        self.vm.room(self.out, s.len() + SMALL)?;
        put_length(self.out, tag::STR + s.len() as u32);
        self.vm.put(self.out, s.bytes())
    }
    fn address(&mut self, address: u64) {
        if address == 0 {
            self.tag(tag::NULL);
        } else if let Ok(low) = u32::try_from(address) {
            self.tag(tag::LIGHTUD32);
            self.out.extend_from_slice(&low.to_le_bytes());
        } else {
            self.tag(tag::LIGHTUD64);
            self.out.extend_from_slice(&address.to_le_bytes());
        }
    }
    fn table(&mut self, t: Gc<Table>) -> LuaResult<()> {
        if self.depth == MAX_DEPTH {
            return Err(self.vm.rt_error("too deep to serialize"));
        }
        self.depth += 1;
        self.metatable(t);
        let array = t.array_part();
        let used = array.iter().rposition(|v| !v.get().is_nil()).map_or(0, |last| last + 1);
        let array = &array[..used];
        let from_1 = array.first().is_some_and(|v| v.get().is_nil());
        let entries = t.nodes().iter().filter(|n| !n.val.get().is_nil()).count();
        let hash = if entries > 0 { tag::TAB_HASH } else { 0 };
        self.tag(match (used > 0, from_1) {
            (false, _) => tag::TAB + hash,
            (true, false) => tag::TAB + tag::TAB_FROM_0 + hash,
            (true, true) => tag::TAB + tag::TAB_FROM_1 + hash,
        });
        for n in [used, entries] {
            if n > 0 {
                put_length(self.out, n as u32);
            }
        }
        for v in &array[usize::from(from_1)..] {
            self.value(v.get())?;
        }
        if entries > 0 {
            // Backwards, because nodes are allocated from the end.
            for n in t.nodes().iter().rev().filter(|n| !n.val.get().is_nil()) {
                self.key(n.key.get())?;
                self.value(n.val.get())?;
            }
        }
        self.depth -= 1;
        Ok(())
    }
    fn metatable(&mut self, t: Gc<Table>) {
        if let (Some(dict), Some(meta)) = (self.dicts.metatables, t.meta.get())
            && let Some(i) = dict.index.get(Value::table(meta)).as_int()
        {
            self.tag(tag::DICT_MT);
            put_length(self.out, i as u32);
        }
    }
    fn key(&mut self, key: Value) -> LuaResult<()> {
        if let (Some(dict), Some(s)) = (self.dicts.strings, key.as_str())
            && let Some(i) = dict.index.get_str(s).as_int()
        {
            self.tag(tag::DICT_STR);
            put_length(self.out, i as u32);
            return Ok(());
        }
        self.value(key)
    }
}
