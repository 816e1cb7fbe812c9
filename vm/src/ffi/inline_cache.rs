//! What indexing a cdata means, remembered by its type and the key.

use super::conversion::scalar;
use super::ctype::{CTypeId, CTypeTable, Info};
use super::index::{Access, stored_type};
use super::load::{Load, load};
use super::scalar::Scalar;
use crate::gc::Marker;
use crate::value::Value;

/// A place in memory, and how values are read from it and written to it.
#[derive(Copy, Clone, Debug)]
pub struct Field {
    /// The place.
    pub access: Access,
    /// How its value is loaded; none for a bitfield, and for a reference that is followed.
    pub load: Option<Load>,
    /// How a number is stored; none if it is no scalar, or constant.
    pub store: Option<Scalar>,
}

impl Field {
    /// How a place is used.
    pub fn of(types: &CTypeTable, access: Access) -> Field {
        if access.bitfield.is_some() {
            return Field { access, load: None, store: None };
        }
        let (follow, load) = load(types, access.value);
        let (_, id, qual) = stored_type(types, access.value);
        let constant = (qual | access.qual) & Info::CONST != 0;
        let ct = types.get(id);
        Field { access, load: (!follow).then_some(load), store: scalar(ct).filter(|_| ct.info.is_num() && !constant && !follow) }
    }
}

/// An entry: the type of the cdata, the key (nil for all integers), and what it means.
type Entry = (CTypeId, Value, Field);

/// Number of entries, a power of two.
const ENTRIES: usize = 256;

/// The entries, each in the slot that its type and key determine. The keys are alive as long as they are here.
#[derive(Debug)]
pub struct IndexCache {
    entries: Vec<Option<Entry>>,
}

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache { entries: vec![None; ENTRIES] }
    }
}

impl IndexCache {
    fn slot(id: CTypeId, key: Value) -> usize {
        let hash = (key.bits() >> 4).wrapping_add(u64::from(id.0).wrapping_mul(0x9e37_79b9));
        (hash ^ hash >> 8) as usize % ENTRIES
    }
    /// What a key means for a type, if it is known.
    #[inline]
    pub fn get(&self, id: CTypeId, key: Value) -> Option<&Field> {
        match &self.entries[IndexCache::slot(id, key)] {
            Some((i, k, field)) if *i == id && *k == key => Some(field),
            _ => None,
        }
    }
    /// Remembers what a key means.
    pub fn put(&mut self, id: CTypeId, key: Value, field: Field) {
        self.entries[IndexCache::slot(id, key)] = Some((id, key, field));
    }
    /// Marks the keys.
    pub(crate) fn mark(&self, m: &mut Marker) {
        for (_, key, _) in self.entries.iter().flatten() {
            m.mark_value(*key);
        }
    }
}
