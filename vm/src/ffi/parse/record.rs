//! Structs, unions and enumerations.

use super::super::ctype::{CTypeId, Ct, Info, NO_SIZE, attrib};
use super::super::layout::{self, FieldSpec};
use super::chain::{Decl, Mode};
use super::decl::storage;
use super::lexer::{Constant, ORDINARY, TAGS, Tok};
use super::{Parser, Res, message};

/// The widest bitfield, in bits.
const MAX_BITFIELD: u32 = 32;

impl Parser<'_> {
    fn redefined(&self, name: &[u8]) -> super::ParseError {
        self.error(&format!("attempt to redefine '{}'", String::from_utf8_lossy(name)))
    }
    /// The name of a struct, union or enumeration, and its entry, which is made if there is none.
    fn tag(&mut self, decl: &mut Decl, info: Info) -> Res<CTypeId> {
        self.lexer.names = TAGS;
        self.advance()?;
        self.attributes(decl)?;
        self.lexer.names = ORDINARY;
        let id = if self.tok() == Tok::Char(b'{') {
            self.types.add(info, NO_SIZE)?
        } else {
            let name = self.name()?;
            let known = self.lexer.meaning;
            let id = if known == CTypeId::NONE {
                if self.single {
                    return Err(self.error(&format!("undeclared or implicit tag '{}'", String::from_utf8_lossy(&name))));
                }
                let id = self.types.add(info, NO_SIZE)?;
                self.types.set_name(id, &name);
                self.types.publish(id);
                id
            } else {
                let other = self.types.get(known).info;
                if other.ct() != info.ct() || info.is_struct() && (other.0 ^ info.0) & Info::UNION != 0 {
                    return Err(self.redefined(&name));
                }
                known
            };
            self.advance()?;
            id
        };
        if self.tok() == Tok::Char(b'{') {
            let ct = self.types.get(id);
            if ct.size != NO_SIZE || ct.sib != CTypeId::NONE || self.open.contains(&id) {
                let name = ct.name.clone().unwrap_or_default();
                return Err(self.redefined(&name));
            }
        }
        Ok(id)
    }
    /// A struct or union, at its keyword; `flags` has [`Info::UNION`] for a union.
    pub(super) fn record(&mut self, decl: &mut Decl, flags: u32) -> Res<CTypeId> {
        let id = self.tag(decl, Info::new(Ct::Struct, flags))?;
        if !self.skip_char(b'{')? {
            return Ok(id);
        }
        self.open.push(id);
        let mut members = Members::default();
        while self.tok() != Tok::Char(b'}') {
            self.member_declaration(&mut members)?;
        }
        self.advance()?;
        self.open.pop();
        self.link(id, &members.ids);
        // Attributes after the members belong to the struct.
        self.attributes(decl)?;
        let packing =
            layout::Packing { packed: decl.attr.packed, align_log: decl.attr.align.unwrap_or(0), limit: self.packing() };
        match layout::layout(self.types, id, &members.fields, packing) {
            Some(()) => Ok(id),
            None => Err(self.error(message::INVALID_SIZE)),
        }
    }
    /// Makes entries the members of another one.
    fn link(&mut self, id: CTypeId, members: &[CTypeId]) {
        let mut last = id;
        for m in members {
            self.types.get_mut(last).sib = *m;
            last = *m;
        }
    }
    /// A declaration of members.
    fn member_declaration(&mut self, members: &mut Members) -> Res<()> {
        let mut decl = Decl::default();
        let class = self.specifiers(&mut decl, storage::STATIC)?;
        let is_field = class & storage::STATIC == 0;
        decl.mode = Mode { direct: true, abstract_: is_field, field: is_field };
        loop {
            if members.ended {
                return Err(self.expected(Tok::Char(b'}')));
            }
            self.declarator(&mut decl)?;
            let ty = self.intern(&decl)?;
            let member = if is_field { self.field(&decl, ty, members)? } else { self.static_constant(ty)? };
            if let Some(name) = &decl.name {
                self.types.set_name(member, name);
            }
            members.ids.push(member);
            if !self.skip_char(b',')? {
                break;
            }
            decl.reset();
        }
        self.expect_char(b';')
    }
    /// The entry of a field. Its offset is not known yet.
    fn field(&mut self, decl: &Decl, ty: CTypeId, members: &mut Members) -> Res<CTypeId> {
        let (info, size) = (self.types.raw(ty).info, self.types.raw(ty).size);
        let mut spec = FieldSpec { id: CTypeId::NONE, bits: decl.bits, packed: decl.attr.packed, align_log: decl.attr.align };
        if let Some(bits) = decl.bits {
            // Only numbers have a size for sure.
            let widest = if info.has(Info::BOOL) { 1 } else { size.saturating_mul(8) };
            let unnamed = decl.name.is_none();
            if !info.is_integer_or_bool() || bits == 0 && !unnamed || widest > MAX_BITFIELD || bits > widest {
                return Err(self.lexer.error(message::BAD_VALUE, Some(Tok::Char(b':'))));
            }
        } else {
            // An array without a size is the last field.
            members.ended = info.is_array() && size == NO_SIZE;
            if decl.name.is_none() {
                let transparent = info.is_struct() && !info.has(Info::VLA);
                if !transparent && !info.is_enum() {
                    return Err(self.expected(Tok::Ident));
                }
                let id = self.types.add(Info::attrib_of(attrib::SUBTYPE, ty), 0)?;
                // An enumeration only adds its constants.
                if transparent {
                    spec.id = id;
                    members.fields.push(spec);
                }
                return Ok(id);
            }
        }
        spec.id = self.types.add(Info::new(Ct::Field, ty.0), 0)?;
        members.fields.push(spec);
        Ok(spec.id)
    }
    /// An enumeration, at its keyword.
    pub(super) fn enumeration(&mut self, decl: &mut Decl) -> Res<CTypeId> {
        let id = self.tag(decl, Info::new(Ct::Enum, CTypeId::VOID.0))?;
        if !self.skip_char(b'{')? {
            return Ok(id);
        }
        self.open.push(id);
        let mut constants = Vec::new();
        let mut underlying = CTypeId::UINT32;
        let mut k = Constant { bits: 0, id: CTypeId::INT32 };
        loop {
            let name = self.name()?;
            if self.lexer.meaning != CTypeId::NONE {
                return Err(self.redefined(&name));
            }
            self.advance()?;
            if self.skip_char(b'=')? {
                k = self.constant_int()?;
                if k.id == CTypeId::UINT32 {
                    // Constants are signed, unless they need the sign bit.
                    if (k.bits as i32) >= 0 {
                        k.id = CTypeId::INT32;
                    }
                } else {
                    k.id = CTypeId::INT32;
                    if (k.bits as i32) < 0 {
                        underlying = CTypeId::INT32;
                    }
                }
            }
            let constant = self.types.add(Info::new(Ct::Constval, Info::CONST | k.id.0), k.bits)?;
            self.types.set_name(constant, &name);
            self.types.publish(constant);
            constants.push(constant);
            k.bits = k.bits.wrapping_add(1);
            if k.bits == 1 << 31 {
                k.id = CTypeId::UINT32;
            }
            if !self.skip_char(b',')? || self.tok() == Tok::Char(b'}') {
                break;
            }
        }
        self.expect_char(b'}')?;
        self.open.pop();
        self.link(id, &constants);
        let ct = self.types.get_mut(id);
        ct.info = Info::new(Ct::Enum, Info::align_flags(2) | underlying.0);
        ct.size = 4;
        Ok(id)
    }
}

/// The members of a struct that is being parsed.
#[derive(Default)]
struct Members {
    ids: Vec<CTypeId>,
    /// Those that have an offset.
    fields: Vec<FieldSpec>,
    /// An array without a size was the last one.
    ended: bool,
}
