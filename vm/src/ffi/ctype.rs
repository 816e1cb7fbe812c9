//! The table of C types.
//!
//! A type is an entry with an [`Info`] word, a size, a sibling and a name, in LuaJIT's form: `ffi.typeinfo` shows it, and libraries that
//! reflect on types read it. The low half of the word is the child of the entry: what a pointer points to, the element of an array, the
//! result of a function, the type of a field. Entries are never removed; those without a name are shared.

mod info;

pub use info::{Ct, Info, attrib, cconv};

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
use std::rc::Rc;

/// The number of a type: its index in the table.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct CTypeId(pub u32);

/// One more than the largest number of a type.
pub const MAX_TYPES: usize = 65536;
/// The size of a type that has none (`void`, functions), or whose size varies or is not known yet.
pub const NO_SIZE: u32 = u32::MAX;
/// Size of a pointer.
pub const POINTER_SIZE: u32 = 8;

/// An entry of the table.
#[derive(Clone, Debug)]
pub struct CType {
    /// Kind, flags, child.
    pub info: Info,
    /// Size of values; offset of a field; value of a constant; length of the list of parameters of a function.
    pub size: u32,
    /// The next field, parameter or constant; 0 for none.
    pub sib: CTypeId,
    /// The name, if there is one.
    pub name: Option<Rc<[u8]>>,
}

macro_rules! basic_types {
    ($($(#[$doc:meta])* $name:ident = $size:expr, $ct:ident, $flags:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "numbers of the constants below, in their order")]
        enum Number { $($name,)* }
        /// The types that are always there.
        impl CTypeId {
            $($(#[$doc])* pub const $name: CTypeId = CTypeId(Number::$name as u32);)*
        }
        const BASIC: &[(u32, Info)] = &[$(($size, Info::new(Ct::$ct, $flags)),)*];
    };
}

const fn align(log: u32) -> u32 {
    Info::align_flags(log)
}

/// `char` is unsigned on some platforms.
pub const CHAR_SIGN: u32 = if core::ffi::c_char::MIN == 0 { Info::UNSIGNED } else { 0 };

basic_types! {
    /// Not a type.
    NONE = 0, Attrib, attrib::BAD << Info::ALIGN_SHIFT;
    /// `void`
    VOID = NO_SIZE, Void, 0;
    /// `const void`
    CVOID = NO_SIZE, Void, Info::CONST;
    /// `bool`
    BOOL = 1, Num, Info::BOOL | Info::UNSIGNED;
    /// `const char`
    CCHAR = 1, Num, Info::CONST | CHAR_SIGN;
    /// `int8_t`
    INT8 = 1, Num, 0;
    /// `uint8_t`
    UINT8 = 1, Num, Info::UNSIGNED;
    /// `int16_t`
    INT16 = 2, Num, align(1);
    /// `uint16_t`
    UINT16 = 2, Num, Info::UNSIGNED | align(1);
    /// `int32_t`
    INT32 = 4, Num, align(2);
    /// `uint32_t`
    UINT32 = 4, Num, Info::UNSIGNED | align(2);
    /// `int64_t`
    INT64 = 8, Num, Info::LONG | align(3);
    /// `uint64_t`
    UINT64 = 8, Num, Info::UNSIGNED | Info::LONG | align(3);
    /// `__int128`
    INT128 = 16, Num, align(4);
    /// `unsigned __int128`
    UINT128 = 16, Num, Info::UNSIGNED | align(4);
    /// `float`
    FLOAT = 4, Num, Info::FP | align(2);
    /// `double`
    DOUBLE = 8, Num, Info::FP | align(3);
    /// `complex float`
    COMPLEX_FLOAT = 8, Array, Info::COMPLEX | align(2) | CTypeId::FLOAT.0;
    /// `complex`
    COMPLEX_DOUBLE = 16, Array, Info::COMPLEX | align(3) | CTypeId::DOUBLE.0;
    /// `void *`
    P_VOID = 8, Ptr, align(3) | CTypeId::VOID.0;
    /// `const void *`
    P_CVOID = 8, Ptr, align(3) | CTypeId::CVOID.0;
    /// `const char *`
    P_CCHAR = 8, Ptr, align(3) | CTypeId::CCHAR.0;
    /// `uint8_t *`
    P_UINT8 = 8, Ptr, align(3) | CTypeId::UINT8.0;
    /// `const char []`
    A_CCHAR = NO_SIZE, Array, Info::CONST | CTypeId::CCHAR.0;
    /// The type of cdata that stand for a type: its number.
    CTYPEID = 4, Enum, align(2) | CTypeId::INT32.0;
}

/// Typedefs that are always there.
const TYPEDEFS: &[(&str, CTypeId)] = &[
    ("va_list", CTypeId::P_VOID),
    ("__builtin_va_list", CTypeId::P_VOID),
    ("__gnuc_va_list", CTypeId::P_VOID),
    ("ptrdiff_t", CTypeId::INT64),
    ("size_t", CTypeId::UINT64),
    ("wchar_t", CTypeId::INT32),
    ("int8_t", CTypeId::INT8),
    ("int16_t", CTypeId::INT16),
    ("int32_t", CTypeId::INT32),
    ("int64_t", CTypeId::INT64),
    ("int128_t", CTypeId::INT128),
    ("uint8_t", CTypeId::UINT8),
    ("uint16_t", CTypeId::UINT16),
    ("uint32_t", CTypeId::UINT32),
    ("uint64_t", CTypeId::UINT64),
    ("uint128_t", CTypeId::UINT128),
    ("intptr_t", CTypeId::INT64),
    ("uintptr_t", CTypeId::UINT64),
    ("ssize_t", CTypeId::INT64),
];

/// No type can be added: there are [`MAX_TYPES`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TableFull;

/// A set of kinds, for the search of names.
pub const fn kinds(list: &[Ct]) -> u32 {
    let (mut set, mut i) = (0, 0);
    while i < list.len() {
        set |= 1 << list[i] as u32;
        i += 1;
    }
    set
}

/// A member of a struct, union, enumeration or function that was found by its name.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its entry: of the kind field, bitfield or constant.
    pub id: CTypeId,
    /// Its offset from the start of the struct.
    pub offset: u32,
    /// Qualifiers of the members without a name that it is in.
    pub qual: u32,
}

/// A map whose keys are numbers and words of types, which need no hash that resists attacks.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// The hash of [`IdMap`].
#[derive(Copy, Clone, Default, Debug)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u32(u32::from(*b));
        }
    }
    #[inline]
    fn write_u32(&mut self, n: u32) {
        // 2^64 divided by the golden ratio; the upper bits depend on all bits of the key.
        self.0 = (self.0.rotate_left(32) ^ u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// The table of C types of a state.
#[derive(Debug)]
pub struct CTypeTable {
    types: Vec<CType>,
    /// Entries without a name, by word and size.
    shared: IdMap<(Info, u32), CTypeId>,
    /// The entry of `shared` that was asked for last: an access to an array in a structure asks for the same reference each time.
    last_shared: Option<(Info, u32, CTypeId)>,
    /// Entries by name, the newest first; by kind, there may be several.
    names: HashMap<Rc<[u8]>, Vec<CTypeId>>,
}

impl Default for CTypeTable {
    fn default() -> CTypeTable {
        CTypeTable::new()
    }
}

impl CTypeTable {
    /// A table with the basic types, the usual typedefs and the keywords.
    pub fn new() -> CTypeTable {
        let mut table =
            CTypeTable { types: Vec::with_capacity(256), shared: IdMap::default(), last_shared: None, names: HashMap::new() };
        for (size, info) in BASIC {
            let id = table.push_unnamed(*info, *size);
            table.shared.insert((*info, *size), id);
        }
        for (name, id) in TYPEDEFS {
            table.push_named(Info::new(Ct::Typedef, id.0), 0, name.as_bytes());
        }
        for (name, size, keyword) in super::keyword::KEYWORDS {
            table.push_named(Info::new(Ct::Kw, *keyword as u32), *size, name.as_bytes());
        }
        table
    }
    fn push_unnamed(&mut self, info: Info, size: u32) -> CTypeId {
        self.types.push(CType { info, size, sib: CTypeId::NONE, name: None });
        CTypeId(self.types.len() as u32 - 1)
    }
    fn push_named(&mut self, info: Info, size: u32, name: &[u8]) {
        let id = self.push_unnamed(info, size);
        self.set_name(id, name);
        self.publish(id);
    }
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.types.len()
    }
    /// Is it empty? It never is.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
    /// The entry of a number, which came from this table.
    #[inline]
    pub fn get(&self, id: CTypeId) -> &CType {
        &self.types[id.0 as usize]
    }
    /// The entry of any number.
    pub fn find(&self, id: u32) -> Option<&CType> {
        self.types.get(id as usize)
    }
    /// The same, to be changed.
    pub fn get_mut(&mut self, id: CTypeId) -> &mut CType {
        &mut self.types[id.0 as usize]
    }
    /// Adds an entry of its own.
    ///
    /// # Errors
    /// The table is full.
    pub fn add(&mut self, info: Info, size: u32) -> Result<CTypeId, TableFull> {
        if self.types.len() >= MAX_TYPES { Err(TableFull) } else { Ok(self.push_unnamed(info, size)) }
    }
    /// The entry without a name and siblings that has this word and size; made if there is none.
    ///
    /// # Errors
    /// The table is full.
    #[inline]
    pub fn intern(&mut self, info: Info, size: u32) -> Result<CTypeId, TableFull> {
        match self.last_shared {
            Some((i, s, id)) if i == info && s == size => Ok(id),
            _ => self.find_or_add(info, size),
        }
    }
    fn find_or_add(&mut self, info: Info, size: u32) -> Result<CTypeId, TableFull> {
        let id = match self.interned(info, size) {
            Some(id) => id,
            None => {
                let id = self.add(info, size)?;
                self.shared.insert((info, size), id);
                id
            }
        };
        self.last_shared = Some((info, size, id));
        Ok(id)
    }
    /// The entry without a name and siblings that has this word and size, if there is one.
    pub fn interned(&self, info: Info, size: u32) -> Option<CTypeId> {
        self.shared.get(&(info, size)).copied()
    }
    /// Gives an entry a name.
    pub fn set_name(&mut self, id: CTypeId, name: &[u8]) {
        self.types[id.0 as usize].name = Some(Rc::from(name));
    }
    /// Lets an entry be found by its name.
    pub fn publish(&mut self, id: CTypeId) {
        if let Some(name) = self.types[id.0 as usize].name.clone() {
            self.names.entry(name).or_default().insert(0, id);
        }
    }
    /// The newest entry with a name that is of one of the kinds.
    pub fn named(&self, name: &[u8], kinds: u32) -> Option<CTypeId> {
        self.names.get(name)?.iter().copied().find(|id| kinds >> self.get(*id).info.ct() as u32 & 1 != 0)
    }
    /// Forgets all entries from a number on: what a declaration with an error has added.
    pub fn truncate(&mut self, len: usize) {
        self.types.truncate(len);
        let stays = |id: &CTypeId| (id.0 as usize) < len;
        self.last_shared = self.last_shared.filter(|(_, _, id)| stays(id));
        self.shared.retain(|_, id| stays(id));
        self.names.retain(|_, ids| {
            ids.retain(stays);
            !ids.is_empty()
        });
    }
    /// The entry behind attributes.
    pub fn raw_id(&self, mut id: CTypeId) -> CTypeId {
        while self.get(id).info.is_attrib() && id != CTypeId::NONE {
            id = self.get(id).info.child();
        }
        id
    }
    /// The entry behind attributes.
    #[inline]
    pub fn raw(&self, id: CTypeId) -> &CType {
        self.get(self.raw_id(id))
    }
    /// The child of an entry, without its attributes.
    pub fn raw_child(&self, ct: &CType) -> CTypeId {
        self.raw_id(ct.info.child())
    }
    /// The entry behind attributes and references.
    pub fn raw_ref(&self, mut id: CTypeId) -> CTypeId {
        while (self.get(id).info.is_attrib() || self.get(id).info.is_ref()) && id != CTypeId::NONE {
            id = self.get(id).info.child();
        }
        id
    }
    /// Size of values of a type; none if it has no size, or a variable one.
    pub fn size(&self, id: CTypeId) -> Option<u32> {
        let ct = self.raw(id);
        (ct.info.has_size() && ct.size != NO_SIZE).then_some(ct.size)
    }
    /// The array at the end of a struct of variable size, or the array itself.
    pub fn variable_part(&self, id: CTypeId) -> Option<CTypeId> {
        let id = self.raw_id(id);
        if self.get(id).info.is_array() {
            return Some(id);
        }
        let last = self.members(id).filter(|m| self.get(*m).info.is_ct(Ct::Field)).last()?;
        Some(self.raw_id(self.get(last).info.child()))
    }
    /// Size of a value of a type of variable size with so many elements. None if it is too large.
    pub fn variable_size(&self, id: CTypeId, elements: u64) -> Option<u32> {
        let ct = self.raw(id);
        let fixed = if ct.info.is_struct() { u64::from(ct.size) } else { 0 };
        let element = self.raw_child(self.get(self.variable_part(id)?));
        let size = u64::from(self.get(element).size).checked_mul(elements)?.checked_add(fixed)?;
        u32::try_from(size).ok().filter(|s| *s < 1 << 31)
    }
    /// The word of a type with the qualifiers and alignment of its attributes, and its size. An enumeration has that of its integer type.
    pub fn info(&self, id: CTypeId) -> (Info, Option<u32>) {
        let mut id = id;
        let mut qual = 0;
        let mut align = None;
        loop {
            let ct = self.get(id);
            let info = ct.info;
            match info.ct() {
                Ct::Attrib if info.attrib() == attrib::QUAL => qual |= ct.size,
                Ct::Attrib if info.attrib() == attrib::ALIGN && align.is_none() => align = Some(ct.size),
                Ct::Attrib | Ct::Typedef | Ct::Enum => {}
                _ => {
                    let size = (info.has_size() && ct.size != NO_SIZE).then_some(ct.size);
                    let info = Info(info.0 | qual);
                    return (align.map_or(info, |a| info.with_align_log(a)), size);
                }
            }
            id = info.child();
        }
    }
    /// The members, parameters or constants of an entry, with attributes among them.
    pub fn members(&self, id: CTypeId) -> impl Iterator<Item = CTypeId> + '_ {
        let mut next = self.get(id).sib;
        core::iter::from_fn(move || {
            let id = next;
            if id == CTypeId::NONE {
                return None;
            }
            next = self.get(id).sib;
            Some(id)
        })
    }
    /// A member by its name, also of members without a name.
    pub fn member(&self, id: CTypeId, name: &[u8]) -> Option<Member> {
        for m in self.members(id) {
            let ct = self.get(m);
            if ct.name.as_deref() == Some(name) {
                return Some(Member { id: m, offset: ct.size, qual: 0 });
            }
            if ct.info.is_attrib_of(attrib::SUBTYPE) {
                let mut inner = ct.info.child();
                let mut qual = 0;
                while self.get(inner).info.is_attrib() {
                    let a = self.get(inner);
                    if a.info.attrib() == attrib::QUAL {
                        qual |= a.size;
                    }
                    inner = a.info.child();
                }
                if let Some(found) = self.member(inner, name) {
                    return Some(Member { offset: found.offset + ct.size, qual: found.qual | qual, ..found });
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{CTypeId, CTypeTable, Info, POINTER_SIZE};

    #[test]
    fn entries_without_a_name_are_shared_until_they_are_forgotten() {
        let mut types = CTypeTable::new();
        let before = types.len();
        let mut pointer = |to| types.intern(Info::pointer(to, 0), POINTER_SIZE).map(|id| id.0 as usize).unwrap();
        let first = pointer(CTypeId::P_CVOID);
        assert_eq!(first, before, "it is new");
        assert_eq!(pointer(CTypeId::P_CVOID), first, "asked for last");
        assert_eq!(pointer(CTypeId::P_VOID), first + 1);
        assert_eq!(pointer(CTypeId::P_CVOID), first, "asked for before");

        // The last one is forgotten as well.
        types.truncate(before);
        let again = types.intern(Info::pointer(CTypeId::P_CVOID, 0), POINTER_SIZE).unwrap();
        assert_eq!((again.0 as usize, types.len()), (before, before + 1));
        assert_eq!(types.get(again).info, Info::pointer(CTypeId::P_CVOID, 0));
    }
}
