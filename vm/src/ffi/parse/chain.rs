//! The chain of a declaration: the type of its specifiers, and then what its declarator makes of it, from the inside out.

use super::super::ctype::{CType, CTypeId, Ct, Info, NO_SIZE, POINTER_SIZE, attrib};
use super::attributes::Attributes;
use super::{MAX_CHAIN, Parser, Res, message};
use std::rc::Rc;

/// An element: an entry of the table to be, without its child.
#[derive(Copy, Clone, Debug)]
pub(super) struct Element {
    pub(super) info: Info,
    pub(super) size: u32,
    /// The first parameter of a function.
    pub(super) params: CTypeId,
    /// An array whose size was computed already.
    sized: bool,
}

/// Which declarators are accepted.
#[derive(Copy, Clone, Default)]
pub(super) struct Mode {
    /// With a name.
    pub(super) direct: bool,
    /// Without one.
    pub(super) abstract_: bool,
    /// The width of a bitfield may follow.
    pub(super) field: bool,
}

/// A declaration that is being parsed.
#[derive(Default)]
pub(super) struct Decl {
    chain: Vec<Element>,
    /// New elements are inserted after this one.
    pub(super) pos: usize,
    pub(super) mode: Mode,
    pub(super) attr: Attributes,
    /// The declared name, and what it means already.
    pub(super) name: Option<Rc<[u8]>>,
    pub(super) meaning: CTypeId,
    /// The symbol that `__asm__` names.
    pub(super) redirect: Option<Rc<[u8]>>,
    /// Width of a bitfield.
    pub(super) bits: Option<u32>,
    /// The state after the specifiers, for the next declarator.
    specifiers: (usize, Attributes),
}

impl Decl {
    /// The first element, if the specifiers name a struct or enumeration.
    pub(super) fn tag(&self) -> Option<CTypeId> {
        self.chain.first().filter(|e| e.info.is_ct(Ct::Typedef)).map(|e| e.info.child())
    }
    /// Notes that the specifiers end here.
    pub(super) fn end_specifiers(&mut self) {
        self.specifiers = (self.pos, self.attr);
    }
    /// Goes back to the end of the specifiers.
    pub(super) fn reset(&mut self) {
        (self.pos, self.attr) = self.specifiers;
        self.chain.truncate(self.pos + 1);
        self.name = None;
        self.redirect = None;
        self.bits = None;
    }
}

impl Parser<'_> {
    /// Inserts an element after the position, which stays.
    pub(super) fn add(&self, decl: &mut Decl, info: Info, size: u32) -> Res<usize> {
        if decl.chain.len() >= MAX_CHAIN {
            return Err(self.error(message::TOO_DEEP));
        }
        let at = if decl.chain.is_empty() { 0 } else { decl.pos + 1 };
        decl.chain.insert(at, Element { info, size, params: CTypeId::NONE, sized: false });
        Ok(at)
    }
    /// Inserts an element and makes it the position.
    pub(super) fn push(&self, decl: &mut Decl, info: Info, size: u32) -> Res<()> {
        decl.pos = self.add(decl, info, size)?;
        Ok(())
    }
    /// Inserts a function.
    pub(super) fn add_function(&self, decl: &mut Decl, info: Info, count: u32, params: CTypeId) -> Res<()> {
        let at = self.add(decl, info, count)?;
        decl.chain[at].params = params;
        Ok(())
    }
    /// Inserts the alignment that attributes ask for.
    pub(super) fn push_alignment(&self, decl: &mut Decl) -> Res<()> {
        let is_func = decl.chain.get(decl.pos).is_some_and(|e| e.info.is_func());
        match decl.attr.align {
            Some(log) if !is_func && !decl.mode.field => self.push(decl, Info::attrib_of(attrib::ALIGN, CTypeId::NONE), log),
            _ => Ok(()),
        }
    }
    /// Inserts the elements of a type that exists, with the qualifiers of the declaration.
    pub(super) fn push_type(&self, decl: &mut Decl, id: CTypeId) -> Res<()> {
        let CType { info, size, sib, .. } = *self.types.get(id);
        let without_child = info.with_child(CTypeId::NONE);
        match info.ct() {
            // Structs and enumerations are not copied: they may be completed later.
            Ct::Struct | Ct::Enum => {
                self.push(decl, Info::new(Ct::Typedef, id.0), 0)?;
                let qual = decl.attr.take_qualifiers();
                if qual != 0 {
                    self.push(decl, Info::attrib_of(attrib::QUAL, CTypeId::NONE), qual)?;
                }
                Ok(())
            }
            Ct::Attrib => {
                if info.attrib() == attrib::QUAL {
                    decl.attr.qual &= !size;
                }
                self.push_type(decl, info.child())?;
                self.push(decl, without_child, size)
            }
            Ct::Array => {
                let own = info.is_vector() || info.is_complex();
                let qual = if own { decl.attr.take_qualifiers() } else { 0 };
                self.push_type(decl, info.child())?;
                self.push(decl, Info(without_child.0 | qual), size)?;
                decl.chain[decl.pos].sized = true;
                Ok(())
            }
            Ct::Func => {
                self.push(decl, info, size)?;
                decl.chain[decl.pos].params = sib;
                Ok(())
            }
            _ => {
                let qual = decl.attr.take_qualifiers();
                self.push(decl, Info(info.0 | qual), size)
            }
        }
    }
    /// Makes the type that the chain describes.
    pub(super) fn intern(&mut self, decl: &Decl) -> Res<CTypeId> {
        let mut made = Made { id: CTypeId::NONE, size: NO_SIZE, info: Info(0) };
        let mut without_attributes = false;
        for e in &decl.chain {
            let info = e.info;
            if without_attributes && info.is_attrib() {
                continue;
            }
            // Functions and references have no attributes.
            without_attributes = info.is_func() || info.is_ref();
            match info.ct() {
                Ct::Typedef => {
                    let id = info.child();
                    let ct = self.types.get(id);
                    made = Made { id, size: ct.size, info: ct.info };
                }
                Ct::Func => self.intern_function(&mut made, e)?,
                Ct::Attrib => {
                    match info.attrib() {
                        attrib::QUAL => made.info.0 |= e.size,
                        attrib::ALIGN => made.info = made.info.with_align_log(e.size),
                        _ => {}
                    }
                    made.id = self.types.intern(Info(info.0 | made.id.0), e.size)?;
                }
                Ct::Num => self.intern_number(&mut made, e, &decl.attr)?,
                Ct::Ptr => {
                    let to_reference = made.id != CTypeId::NONE && self.types.raw(made.id).info.is_ref();
                    if to_reference {
                        return Err(self.error(message::INVALID_TYPE));
                    }
                    let info = if info.is_ref() { Info(info.0 & !Info::VOLATILE) } else { info };
                    self.intern_plain(&mut made, info, e.size)?;
                }
                Ct::Array => self.intern_array(&mut made, e)?,
                _ => self.intern_plain(&mut made, info, e.size)?,
            }
        }
        Ok(made.id)
    }
    fn intern_plain(&mut self, made: &mut Made, info: Info, size: u32) -> Res<()> {
        // Copies of pointers have their child already.
        let info = Info(info.0 | made.id.0);
        *made = Made { id: self.types.intern(info, size)?, size, info };
        Ok(())
    }
    fn intern_function(&mut self, made: &mut Made, e: &Element) -> Res<()> {
        if made.id != CTypeId::NONE {
            let result = self.types.raw(made.id).info;
            if result.is_func() || result.is_plain_array() {
                return Err(self.error(message::INVALID_TYPE));
            }
        }
        let info = Info(e.info.0 | made.id.0);
        let id = self.types.add(info, e.size)?;
        self.types.get_mut(id).sib = e.params;
        *made = Made { id, size: NO_SIZE, info };
        Ok(())
    }
    /// A number, whose size the attributes may change, or a vector of numbers.
    fn intern_number(&mut self, made: &mut Made, e: &Element, attr: &Attributes) -> Res<()> {
        let (mut info, mut size) = (e.info, e.size);
        if !info.has(Info::BOOL) {
            if let Some(mode) = attr.mode
                && (!info.has(Info::FP) || matches!(mode, 4 | 8))
            {
                info = info.with_align_log(mode.ilog2().min(4));
                size = mode;
            }
            if let Some(log) = attr.vector
                && log >= size.ilog2()
            {
                made.id = self.types.intern(info, size)?;
                let align = log.min(4).max(info.align_log());
                info = Info::new(Ct::Array, info.qualifiers() | Info::VECTOR | Info::align_flags(align));
                size = 1 << log;
            }
        }
        self.intern_plain(made, info, size)
    }
    fn intern_array(&mut self, made: &mut Made, e: &Element) -> Res<()> {
        let (mut info, mut size) = (e.info, e.size);
        if !e.sized {
            if made.info.is_ref() {
                return Err(self.error(message::INVALID_TYPE));
            }
            if made.info.is_variable() || made.size == NO_SIZE {
                return Err(self.error(message::INVALID_SIZE));
            }
            if size != NO_SIZE {
                let bytes = u64::from(size) * u64::from(made.size);
                match u32::try_from(bytes) {
                    Ok(bytes) if bytes < 1 << 31 => size = bytes,
                    _ => return Err(self.error(message::INVALID_SIZE)),
                }
            }
        }
        if made.info.align_log() > info.align_log() {
            info = info.with_align_log(made.info.align_log());
        }
        info.0 |= made.info.qualifiers();
        self.intern_plain(made, info, size)
    }
    /// The pointer to a type.
    pub(super) fn pointer_to(&mut self, id: CTypeId) -> Res<CTypeId> {
        Ok(self.types.intern(Info::pointer(id, 0), POINTER_SIZE)?)
    }
}

/// The type made so far, and its word and size with attributes.
struct Made {
    id: CTypeId,
    size: u32,
    info: Info,
}
