//! Bytes to values. The bytes are not trusted: the result is always a value or an error.

use super::format::{MAX_DEPTH, ONE_BYTE, tag};
use super::object::{Dict, Dicts};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::ffi::ctype::CTypeId;
use crate::object::table_resize::hbits_for;
use crate::object::{Gc, Table};
use crate::value::Value;

/// Tables with larger parts are an error at once.
const MAX_ARRAY: u32 = (1 << 27) + 1;
const MAX_HASH: u32 = 1 << 26;

/// Decodes the value at the start of the bytes; and the number of bytes it takes. Runs no Lua code and does not collect.
pub fn decode(vm: &mut Vm, bytes: &[u8], dicts: Dicts) -> LuaResult<(Value, usize)> {
    let max_heap = vm.memory_limit().unwrap_or(usize::MAX);
    let mut d = Decoder { vm, rest: bytes, dicts, depth: 0, max_heap };
    let v = d.value()?;
    let left = d.rest.len();
    Ok((v, bytes.len() - left))
}

struct Decoder<'a> {
    vm: &'a mut Vm,
    rest: &'a [u8],
    dicts: Dicts,
    depth: u32,
    max_heap: usize,
}

impl<'a> Decoder<'a> {
    fn take(&mut self, n: usize) -> LuaResult<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.vm.rt_error("unexpected end of buffer")),
        }
    }
    fn fixed<const N: usize>(&mut self) -> LuaResult<[u8; N]> {
        let mut word = [0; N];
        word.copy_from_slice(self.take(N)?);
        Ok(word)
    }
    /// A length, or a tag.
    fn length(&mut self) -> LuaResult<u32> {
        let [b] = self.fixed()?;
        let first = u32::from(b);
        Ok(match first {
            0xff => u32::from_le_bytes(self.fixed()?),
            ONE_BYTE.. => ((first & 0x1f) << 8) + u32::from(self.fixed::<1>()?[0]) + ONE_BYTE,
            _ => first,
        })
    }
    #[cold]
    fn bad_tag(&mut self, tag: u32) -> LuaError {
        self.vm.rt_error(&format!("cannot deserialize tag 0x{tag:02x}"))
    }
    fn value(&mut self) -> LuaResult<Value> {
        self.vm.check_interrupt()?;
        let tag = self.length()?;
        Ok(match tag {
            tag::STR.. => {
                let bytes = self.take((tag - tag::STR) as usize)?;
                self.check_room(bytes.len())?;
                Value::str(self.vm.try_new_str(bytes)?)
            }
            tag::INT => Value::int(i32::from_le_bytes(self.fixed()?)),
            tag::NUM => {
                let n = f64::from_le_bytes(self.fixed()?);
                if n.is_nan() { Value::num(f64::NAN) } else { Value::number(n) }
            }
            tag::NIL => Value::NIL,
            tag::FALSE => Value::FALSE,
            tag::TRUE => Value::TRUE,
            tag::DICT_STR => self.entry(self.dicts.strings, Value::is_str)?,
            tag::TAB..=tag::DICT_MT => self.table(tag)?,
            tag::NULL => Value::lightud(0),
            tag::LIGHTUD32 => Value::lightud(u64::from(u32::from_le_bytes(self.fixed()?))),
            tag::LIGHTUD64 => {
                let address = u64::from_le_bytes(self.fixed()?);
                self.vm.new_lightud(address)?
            }
            tag::INT64..=tag::COMPLEX => {
                let bytes = self.take(if tag == tag::COMPLEX { 16 } else { 8 })?;
                // There is no cdata unless the FFI is open.
                if self.vm.ffi.is_none() {
                    return Err(self.bad_tag(tag));
                }
                let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
                Value::cdata(match (tag, &words[..]) {
                    (tag::COMPLEX, [re, im]) => {
                        let part = |bits: &u64| Some(f64::from_bits(*bits)).filter(|n| !n.is_nan()).unwrap_or(f64::NAN);
                        self.vm.heap.new_complex(part(re), part(im))
                    }
                    (tag::INT64, [word, ..]) => self.vm.heap.new_int64(CTypeId::INT64, *word),
                    (_, words) => self.vm.heap.new_int64(CTypeId::UINT64, words[0]),
                })
            }
            _ => return Err(self.bad_tag(tag)),
        })
    }
    /// The next entry of a dictionary.
    fn entry(&mut self, dict: Option<Dict>, fits: impl FnOnce(Value) -> bool) -> LuaResult<Value> {
        let i = self.length()?.wrapping_add(1) as i32;
        let v = dict.filter(|_| i >= 0).map_or(Value::NIL, |d| d.list.get_int(i));
        if fits(v) { Ok(v) } else { Err(self.vm.rt_error(&format!("cannot deserialize dictionary index {i}"))) }
    }
    /// The objects made so far become garbage only when this has failed, so collecting would not make room.
    fn check_room(&mut self, more: usize) -> LuaResult<()> {
        if self.vm.heap.total.saturating_add(more) > self.max_heap { Err(self.vm.out_of_memory()) } else { Ok(()) }
    }
    fn table(&mut self, mut tag: u32) -> LuaResult<Value> {
        if self.depth == MAX_DEPTH {
            return Err(self.vm.rt_error("too deep to serialize"));
        }
        self.depth += 1;
        let mut meta = None;
        if tag == tag::DICT_MT {
            meta = self.entry(self.dicts.metatables, Value::is_table)?.as_table();
            tag = self.length()?;
            if !(tag::TAB..tag::DICT_MT).contains(&tag) {
                return Err(self.bad_tag(tag));
            }
        }
        let array = if tag >= tag::TAB + tag::TAB_FROM_0 { self.length()? } else { 0 };
        let hash = if tag & tag::TAB_HASH != 0 { self.length()? } else { 0 };
        if array > MAX_ARRAY || hash > MAX_HASH {
            return Err(self.vm.operation_error("table overflow"));
        }
        // Every element takes at least a byte: a table that claims more elements than there are bytes is an error.
        let left = self.rest.len() as u32;
        let (asize, hsize) = (array.min(left + 2), hash.min(left / 2 + 1));
        self.check_room(asize as usize * 8 + hsize as usize * 24)?;
        let t = self.vm.try_new_table(asize, hbits_for(hsize))?;
        t.meta.set(meta);
        for i in u32::from(tag >= tag::TAB + tag::TAB_FROM_1)..array {
            let v = self.value()?;
            self.vm.try_table_set_int(t, i as i32, v)?;
        }
        for _ in 0..hash {
            self.hash_entry(t)?;
        }
        self.depth -= 1;
        Ok(Value::table(t))
    }
    fn hash_entry(&mut self, t: Gc<Table>) -> LuaResult<()> {
        let key = self.value()?;
        if !t.get(key).is_nil() {
            return Err(self.vm.rt_error("duplicate table key"));
        }
        // Checks that it can be a key.
        self.vm.table_set(t, key, Value::NIL)?;
        let v = self.value()?;
        self.vm.try_table_set(t, key, v)
    }
}
