//! The layout of structs and unions, as the compilers of the platform do it.

use super::ctype::{CTypeId, CTypeTable, Ct, Info};

/// A field whose offset is not known yet. Its entry has the type as its child.
#[derive(Copy, Clone, Debug)]
pub struct FieldSpec {
    /// The entry.
    pub id: CTypeId,
    /// The width, if it is a bitfield.
    pub bits: Option<u32>,
    /// Is the field itself packed?
    pub packed: bool,
    /// Logarithm of the alignment that it asks for.
    pub align_log: Option<u32>,
}

/// How closely the fields of a struct are packed.
#[derive(Copy, Clone, Debug)]
pub struct Packing {
    /// Is the struct packed?
    pub packed: bool,
    /// Logarithm of the alignment that it asks for.
    pub align_log: u32,
    /// Logarithm of the largest alignment of a field, as `#pragma pack` sets it.
    pub limit: u32,
}

/// Larger fields have no offset in bits.
const MAX_FIELD: u32 = 1 << 29;

/// Does a bitfield without a name align the struct that it is in? It always aligns the next one, if it has no width.
const UNNAMED_ALIGN: bool = cfg!(target_arch = "aarch64");

/// Computes the offsets of the fields of a struct or union, and its size and alignment. None if it is too large, or a field has no size.
pub fn layout(types: &mut CTypeTable, id: CTypeId, fields: &[FieldSpec], packing: Packing) -> Option<()> {
    let mut word = types.get(id).info;
    let union = word.has(Info::UNION);
    let mut max_align = packing.align_log;
    // Offsets and sizes are in bits.
    let (mut offset, mut largest) = (0u32, 0u32);
    for f in fields {
        let child = types.get(f.id).info.child();
        let (info, size) = types.info(child);
        word.0 |= info.qualifiers() | if info.is_variable() { Info::VLA } else { 0 };
        let fits = size.filter(|s| *s < MAX_FIELD && offset.checked_add(8 * s).is_some() && !info.is_variable());
        let size = match fits {
            Some(size) => size,
            // An array without a size takes none.
            None if size.is_none() && info.is_array() && !union => 0,
            None => return None,
        };
        let packed = f.packed || packing.packed;
        let mut align = info.align_log();
        if packed || f.align_log.is_some_and(|log| log > align) {
            align = f.align_log.unwrap_or(0);
        }
        align = align.min(packing.limit);
        let aligns_struct = f.bits.is_none() || UNNAMED_ALIGN || types.get(f.id).name.is_some();
        if align > max_align && aligns_struct {
            max_align = align;
        }
        let mask = (8u32 << align) - 1;
        let container = 8 * size;
        let start = |offset: u32| Some(offset.checked_add(mask)? & !mask);
        let bits = match f.bits {
            None => {
                offset = start(offset)?;
                let is_subtype = types.get(f.id).info.is_attrib();
                let entry = types.get_mut(f.id);
                entry.size = offset / 8;
                if !is_subtype {
                    entry.info = Info::new(Ct::Field, child.0).with_align_log(align);
                }
                container
            }
            Some(bits) => {
                let crosses = (offset & mask) + bits > container;
                if bits == 0 || f.align_log.is_some() || !packed && crosses {
                    offset = start(offset)?;
                }
                let entry = types.get_mut(f.id);
                if bits == container && offset & mask == 0 {
                    // It is a whole field.
                    entry.info = Info::new(Ct::Field, child.0).with_align_log(size.ilog2());
                    entry.size = offset / 8;
                } else {
                    // A packed bitfield is in a smaller container, if it fits.
                    let container = if container > mask + 1 && bits <= mask + 1 { mask + 1 } else { container };
                    let flags = info.0 & (Info::QUAL | Info::UNSIGNED | Info::BOOL);
                    entry.info = Info::bitfield(flags, offset & (container - 1), bits, container / 8);
                    entry.size = (offset & !(container - 1)) / 8;
                }
                bits
            }
        };
        if union {
            largest = largest.max(bits);
        } else {
            offset = offset.checked_add(bits)?;
        }
    }
    let bits = if union { largest } else { offset };
    let mask = (8u32 << max_align) - 1;
    let entry = types.get_mut(id);
    entry.info = word.with_align_log(max_align);
    entry.size = (bits.checked_add(mask)? & !mask) / 8;
    Some(())
}
