//! What `cdata[key]` and `cdata.name` mean: decided from the type and the key alone.

use super::ctype::{CTypeId, CTypeTable, Ct, Info, NO_SIZE, attrib};

/// A key.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Key<'a> {
    /// An integer.
    Integer,
    /// A name.
    Name(&'a [u8]),
    /// Any other value.
    Other,
}

/// A place in memory, found from a cdata.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// How many pointers are followed, beginning with the payload: none if the value is in the payload itself.
    pub loads: u8,
    /// Is the last of them a pointer of 32 bits?
    pub narrow: bool,
    /// What is added to the address.
    pub offset: u32,
    /// The size of an element, by which an integer key is multiplied.
    pub element: Option<u32>,
    /// The type of the value there.
    pub value: CTypeId,
    /// It is a bitfield with this word.
    pub bitfield: Option<Info>,
    /// Qualifiers of the aggregate and its members.
    pub qual: u32,
    /// Only the lowest bit of the key counts: the cdata is a complex number.
    pub complex: bool,
}

/// What an index means.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// A place in memory.
    Access(Access),
    /// The constant of this entry.
    Constant(CTypeId),
    /// Elements of this type have no size.
    NoSize,
    /// Nothing: the metatable of the type decides.
    Missing {
        /// The type.
        id: CTypeId,
        /// Its qualifiers.
        qual: u32,
    },
}

/// What indexing a cdata of a type means. A cdata that stands for a type is of the type `of`.
pub fn index(types: &CTypeTable, id: CTypeId, of: Option<CTypeId>, key: Key) -> Index {
    let mut id = id;
    let (mut loads, mut narrow, mut qual) = (0, false, 0);
    if types.get(id).info.is_ref() {
        loads = 1;
        id = types.get(id).info.child();
    }
    loop {
        while types.get(id).info.is_attrib() {
            let ct = types.get(id);
            if ct.info.attrib() == attrib::QUAL {
                qual |= ct.size;
            }
            id = ct.info.child();
        }
        let ct = types.get(id);
        let access = Access {
            loads,
            narrow,
            offset: 0,
            element: None,
            value: CTypeId::NONE,
            bitfield: None,
            qual,
            complex: ct.info.is_complex(),
        };
        match key {
            Key::Integer if ct.info.is_pointer_or_array() => {
                let value = ct.info.child();
                let Some(size) = types.size(value).filter(|s| *s != NO_SIZE) else { return Index::NoSize };
                let element = Some(size);
                return Index::Access(if ct.info.is_ptr() {
                    Access { loads: loads + 1, narrow: ct.size == 4, element, value, ..access }
                } else {
                    // Elements of vectors and parts of complex numbers are constant.
                    let own = if ct.info.is_plain_array() { 0 } else { Info::CONST };
                    Access { element, value, qual: qual | own, ..access }
                });
            }
            Key::Name(name) if ct.info.is_struct() => {
                if let Some(m) = types.member(id, name) {
                    let entry = types.get(m.id);
                    if entry.info.is_ct(Ct::Constval) {
                        return Index::Constant(m.id);
                    }
                    let bitfield = entry.info.is_ct(Ct::Bitfield).then_some(entry.info);
                    let value = if bitfield.is_some() { CTypeId::NONE } else { entry.info.child() };
                    return Index::Access(Access { offset: m.offset, value, bitfield, qual: qual | m.qual, ..access });
                }
            }
            Key::Name(name) if ct.info.is_complex() => {
                let offset = match name {
                    b"re" => Some(0),
                    b"im" => Some(ct.size / 2),
                    _ => None,
                };
                if let Some(offset) = offset {
                    return Index::Access(Access { offset, value: ct.info.child(), qual: qual | Info::CONST, ..access });
                }
            }
            Key::Name(name) => {
                if let Some(of) = of {
                    let mut of = types.raw_id(of);
                    if types.get(of).info.is_ptr() {
                        of = types.raw_child(types.get(of));
                    }
                    let constant = types.get(of).info.is_struct().then(|| types.member(of, name)).flatten();
                    return match constant.filter(|m| types.get(m.id).info.is_ct(Ct::Constval)) {
                        Some(m) => Index::Constant(m.id),
                        None => Index::Missing { id: of, qual },
                    };
                }
            }
            _ => {}
        }
        // A pointer to a struct is followed.
        if !ct.info.is_ptr() || !types.raw(ct.info.child()).info.is_struct() {
            return Index::Missing { id, qual };
        }
        loads += 1;
        narrow = ct.size == 4;
        id = ct.info.child();
    }
}

/// The qualifiers of a value behind its attributes, and the type that it is stored as.
pub fn stored_type(types: &CTypeTable, id: CTypeId) -> (bool, CTypeId, u32) {
    let ct = types.get(id);
    let (follow, mut id) = if ct.info.is_ref() { (true, ct.info.child()) } else { (false, id) };
    let mut qual = 0;
    while types.get(id).info.is_attrib() {
        let ct = types.get(id);
        if ct.info.attrib() == attrib::QUAL {
            qual |= ct.size;
        }
        id = ct.info.child();
    }
    (follow, id, qual | types.get(id).info.qualifiers())
}
