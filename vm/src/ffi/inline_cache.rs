//! What indexing a cdata means, remembered by its type and the key.
#![allow(unsafe_code, reason = "places are found from types, and from the pointers that programs have")]

use super::bitfield;
use super::conversion::scalar;
use super::ctype::{CTypeId, CTypeTable, Info};
use super::index::{Access, stored_type};
use super::load::{Load, load};
use super::scalar::{Number, Scalar};
use crate::value::Value;

/// What a key means for a type.
#[derive(Copy, Clone, Debug)]
pub enum Meaning {
    /// A place.
    Field(Field),
    /// A name that no member of this type has: its metatable decides.
    Method(CTypeId),
}

/// Where a place is, seen from a cdata.
#[derive(Copy, Clone, Debug)]
pub struct Place {
    /// How many pointers are followed, beginning with the payload.
    pub loads: u8,
    /// Is the last of them a pointer of 32 bits?
    pub narrow: bool,
    /// Only the lowest bit of the key counts.
    pub complex: bool,
    /// What is added to the address.
    pub offset: u32,
    /// What an integer key is multiplied by; 0 for a name.
    pub element: u32,
}

impl Place {
    /// The place of an access.
    pub fn of(a: &Access) -> Place {
        let Access { loads, narrow, complex, offset, element, .. } = *a;
        Place { loads, narrow, complex, offset, element: element.unwrap_or(0) }
    }
}

/// A place in memory, and how values are read from it and written to it.
#[derive(Copy, Clone, Debug)]
pub struct Field {
    /// The place.
    pub place: Place,
    /// How its value is loaded; none for a reference that is followed.
    pub load: Option<FieldLoad>,
    /// How a number is stored; none if it is no number, or constant.
    pub store: Option<FieldStore>,
}

/// How the value of a place is loaded.
#[derive(Copy, Clone, Debug)]
pub enum FieldLoad {
    /// It is of a type.
    Value(Load),
    /// It is a bitfield, with this mask.
    Bits(Info, u32),
}

/// How a number is stored to a place.
#[derive(Copy, Clone, Debug)]
pub enum FieldStore {
    /// As a scalar.
    Scalar(Scalar),
    /// As a bitfield, with this mask.
    Bits(Info, u32),
}

impl Field {
    /// How a place is used.
    pub fn of(types: &CTypeTable, access: Access) -> Field {
        if let Some(info) = access.bitfield {
            // One that crosses the border of its container has no mask.
            let mask = bitfield::mask(info);
            let constant = (info.0 | access.qual) & Info::CONST != 0;
            let stored = mask.filter(|_| !constant && !info.has(Info::BOOL));
            return Field {
                place: Place::of(&access),
                load: mask.map(|mask| FieldLoad::Bits(info, mask)),
                store: stored.map(|mask| FieldStore::Bits(info, mask)),
            };
        }
        let (follow, load) = load(types, access.value);
        let (_, id, qual) = stored_type(types, access.value);
        let constant = (qual | access.qual) & Info::CONST != 0;
        let ct = types.get(id);
        let store = scalar(ct).filter(|_| ct.info.is_num() && !constant && !follow);
        Field {
            place: Place::of(&access),
            load: (!follow).then_some(FieldLoad::Value(load)),
            store: store.map(FieldStore::Scalar),
        }
    }
}

impl FieldStore {
    /// Stores a number.
    ///
    /// # Safety
    /// The place is at the address.
    pub unsafe fn write(self, at: *mut u8, n: Number) {
        // SAFETY: by the contract.
        unsafe {
            match self {
                FieldStore::Scalar(scalar) => scalar.write(at, n),
                FieldStore::Bits(info, mask) => {
                    let to = if info.has(Info::UNSIGNED) { Scalar::U32 } else { Scalar::I32 };
                    let mut field = 0u32;
                    to.write((&raw mut field).cast(), n);
                    bitfield::write(info, mask, at, field);
                }
            }
        }
    }
}

/// An entry: the type of the cdata, the key (nil for all integers), and what it means.
type Entry = (CTypeId, Value, Meaning);

/// Number of entries, a power of two.
const ENTRIES: usize = 256;

/// The entries, each in the slot that its type and key determine. The keys are alive as long as they are here.
#[derive(Debug)]
pub struct IndexCache {
    entries: Box<[Option<Entry>; ENTRIES]>,
}

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache { entries: Box::new([None; ENTRIES]) }
    }
}

impl IndexCache {
    fn slot(id: CTypeId, key: Value) -> usize {
        let hash = (key.bits() >> 4).wrapping_add(u64::from(id.0).wrapping_mul(0x9e37_79b9));
        (hash ^ hash >> 8) as usize % ENTRIES
    }
    /// What a key means for a type, if it is known.
    #[inline]
    pub fn get(&self, id: CTypeId, key: Value) -> Option<&Meaning> {
        match &self.entries[IndexCache::slot(id, key)] {
            Some((i, k, meaning)) if *i == id && *k == key => Some(meaning),
            _ => None,
        }
    }
    /// Remembers what a key means.
    pub fn put(&mut self, id: CTypeId, key: Value, meaning: Meaning) {
        self.entries[IndexCache::slot(id, key)] = Some((id, key, meaning));
    }
    /// The keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = Value> + '_ {
        self.entries.iter().flatten().map(|(_, key, _)| *key)
    }
}
