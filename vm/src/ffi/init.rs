//! Initialisers: of arrays and structs, by tables and by lists of values.
#![allow(unsafe_code, reason = "fields and elements are inside of the value that there is room for")]

use super::convert::Mode;
use super::ctype::{CTypeId, Ct, Info, NO_SIZE, attrib};
use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::object::{Gc, Str, Table};
use crate::value::Value;
use core::ops::Range;

/// A field that is initialised, or a struct without a name inside of another one.
#[derive(Copy, Clone)]
struct Field {
    id: CTypeId,
    info: Info,
    offset: u32,
    /// Does it have a name?
    named: bool,
}

/// Where initialisers come from.
enum Source {
    /// A table: by position from the index on (−1: by name only).
    Table(Gc<Table>, i32),
    /// Arguments of the running builtin.
    Arguments(Range<usize>),
}

impl Vm {
    #[cold]
    fn too_many(&mut self, d: CTypeId) -> LuaError {
        let text = self.ctype_text(d);
        self.rt_error_bytes(&[b"too many initializers for '", &text[..], b"'"].concat())
    }
    /// Initialises an array or struct of the type `d` (without attributes) from a table.
    ///
    /// # Safety
    /// There is room for a value of this type at `to`.
    pub(super) unsafe fn store_table(&mut self, d: CTypeId, to: *mut u8, t: Gc<Table>, mode: Mode) -> LuaResult<()> {
        let ct = self.ctypes()?.get(d);
        let (info, size) = (ct.info, ct.size);
        // SAFETY: by the contract.
        unsafe {
            if info.is_struct() {
                to.write_bytes(0, size as usize);
                return self.store_fields(d, to, &mut Source::Table(t, 0), mode);
            }
            self.array_from_table(d, size, to, t, mode)
        }
    }
    /// The element type of an array, and its size.
    fn element(&mut self, array: CTypeId) -> LuaResult<(CTypeId, u32)> {
        let types = self.ctypes()?;
        let id = types.raw_child(types.get(array));
        Ok((id, types.get(id).size))
    }
    /// # Safety
    /// As for [`Vm::store_table`].
    unsafe fn array_from_table(&mut self, d: CTypeId, size: u32, to: *mut u8, t: Gc<Table>, mode: Mode) -> LuaResult<()> {
        let (element, step) = self.element(d)?;
        let mut offset = 0u32;
        for i in 0.. {
            let v = t.get_int(i);
            if v.is_nil() {
                // Tables begin at 0 or at 1.
                if i == 0 {
                    continue;
                }
                break;
            }
            if offset >= size {
                return Err(self.too_many(d));
            }
            // SAFETY: the offset is inside of the array.
            unsafe { self.store_value(element, to.add(offset as usize), v, mode)? };
            offset += step;
        }
        if size != NO_SIZE {
            // SAFETY: the array has this size.
            unsafe { fill_up(to, offset, step, size) };
        }
        Ok(())
    }
    /// The next member that is initialised, from an entry of the list of members on, and the entry after it.
    fn next_field(&mut self, mut id: CTypeId) -> LuaResult<Option<(Field, CTypeId)>> {
        let types = self.ctypes()?;
        while id != CTypeId::NONE {
            let ct = types.get(id);
            if matches!(ct.info.ct(), Ct::Field | Ct::Bitfield) || ct.info.is_attrib_of(attrib::SUBTYPE) {
                let field = Field { id, info: ct.info, offset: ct.size, named: ct.name.is_some() };
                return Ok(Some((field, ct.sib)));
            }
            id = ct.sib;
        }
        Ok(None)
    }
    /// # Safety
    /// As for [`Vm::store_table`]; `d` is a struct or union.
    unsafe fn store_fields(&mut self, d: CTypeId, to: *mut u8, source: &mut Source, mode: Mode) -> LuaResult<()> {
        let ct = self.ctypes()?.get(d);
        let (union, mut next) = (ct.info.has(Info::UNION), ct.sib);
        while let Some((f, behind)) = self.next_field(next)? {
            next = behind;
            // SAFETY: fields are inside of the struct.
            let at = unsafe { to.add(f.offset as usize) };
            if f.info.is_attrib() {
                let inner = self.ctypes()?.raw_id(f.info.child());
                if self.ctypes()?.get(inner).info.is_struct() {
                    // SAFETY: the member is inside of the struct.
                    unsafe { self.store_fields(inner, at, source, mode)? };
                    if union && matches!(source, Source::Arguments(_)) {
                        break;
                    }
                }
                continue;
            }
            if !f.named {
                continue;
            }
            let v = match self.initializer(&f, source)? {
                Initializer::Value(v) => v,
                Initializer::Skip => continue,
                Initializer::End => break,
            };
            if f.info.is_ct(Ct::Bitfield) {
                // SAFETY: the container is inside of the struct.
                unsafe { self.store_bitfield(f.info, at, v)? };
            } else {
                // SAFETY: there is room for the field.
                unsafe { self.store_value(f.info.child(), at, v, mode)? };
            }
            if union {
                break;
            }
        }
        Ok(())
    }
    /// The initialiser of a field with a name.
    fn initializer(&mut self, f: &Field, source: &mut Source) -> LuaResult<Initializer> {
        match source {
            Source::Arguments(left) => Ok(match left.next() {
                Some(i) => Initializer::Value(self.arg(i)),
                None => Initializer::End,
            }),
            Source::Table(t, next) => {
                let first = *next;
                if first >= 0 {
                    let mut i = first;
                    let mut v = t.get_int(i);
                    if v.is_nil() && i == 0 {
                        i = 1;
                        v = t.get_int(i);
                    }
                    if !v.is_nil() {
                        *next = i + 1;
                        return Ok(Initializer::Value(v));
                    }
                    if first != 0 {
                        return Ok(Initializer::End);
                    }
                    // Nothing is there by position.
                    *next = -1;
                }
                let v = t.get_str(self.field_name(f.id)?);
                Ok(if v.is_nil() { Initializer::Skip } else { Initializer::Value(v) })
            }
        }
    }
    /// The name of a field. It is kept: the next struct is likely to be initialised alike.
    fn field_name(&mut self, field: CTypeId) -> LuaResult<Gc<Str>> {
        if let Some(known) = self.ffi.as_ref().and_then(|ffi| ffi.field_name(field)) {
            return Ok(known);
        }
        let name = self.ctypes()?.get(field).name.clone().unwrap_or_default();
        let name = self.new_str(&name);
        if let Some(ffi) = &mut self.ffi {
            ffi.field_names.insert(field, name);
        }
        Ok(name)
    }
    /// Initialises a new value of the type `d` (without attributes) and this size with arguments of the running builtin, of which there may
    /// be none.
    ///
    /// # Safety
    /// There are so many bytes at `to`, which are zero.
    pub(super) unsafe fn initialize(&mut self, d: CTypeId, size: u32, to: *mut u8, values: Range<usize>) -> LuaResult<()> {
        let info = self.ctypes()?.get(d).info;
        let first = self.arg(values.start);
        let multiple = match values.len() {
            0 => return Ok(()),
            1 => self.is_list(d, first)?,
            _ => true,
        };
        if !multiple {
            // SAFETY: by the contract.
            return unsafe { self.store_value(d, to, first, Mode::VALUE) };
        }
        if info.is_array() {
            let (element, step) = self.element(d)?;
            if values.len() as u64 * u64::from(step) > u64::from(size) {
                return Err(self.too_many(d));
            }
            let mut offset = 0;
            for i in values {
                let v = self.arg(i);
                // SAFETY: all elements are inside of the array.
                unsafe { self.store_value(element, to.add(offset as usize), v, Mode::VALUE)? };
                offset += step;
            }
            // SAFETY: the array has this size.
            unsafe { fill_up(to, offset, step, size) };
            return Ok(());
        }
        if info.is_struct() {
            let mut source = Source::Arguments(values);
            // SAFETY: by the contract.
            unsafe { self.store_fields(d, to, &mut source, Mode::VALUE)? };
            if matches!(source, Source::Arguments(left) if !left.is_empty()) {
                return Err(self.too_many(d));
            }
            return Ok(());
        }
        Err(self.too_many(d))
    }
    /// Is a single initialiser the first of a list of elements or fields? Else it is the whole value.
    fn is_list(&mut self, d: CTypeId, v: Value) -> LuaResult<bool> {
        let types = self.ctypes()?;
        let info = types.get(d).info;
        if !info.is_plain_array() && !info.is_struct() {
            return Ok(false);
        }
        let whole =
            v.is_table() || v.is_str() && !info.is_struct() || v.as_cdata().is_some_and(|c| types.raw_ref(c.ctype()) == d);
        Ok(!whole)
    }
}

/// What a field is initialised with.
enum Initializer {
    Value(Value),
    /// Nothing; others follow.
    Skip,
    /// There are no more.
    End,
}

/// Fills an array of which so many bytes are initialised: a single element is repeated, other elements are zero.
///
/// # Safety
/// The array has `size` bytes.
pub(crate) unsafe fn fill_up(to: *mut u8, initialized: u32, step: u32, size: u32) {
    let (step, size) = (step as usize, size as usize);
    let mut offset = initialized as usize;
    // SAFETY: all offsets are below the size.
    unsafe {
        if offset == step && step != 0 {
            while offset + step <= size {
                core::ptr::copy_nonoverlapping(to, to.add(offset), step);
                offset += step;
            }
        } else if offset < size {
            to.add(offset).write_bytes(0, size - offset);
        }
    }
}
