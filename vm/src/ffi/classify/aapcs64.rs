//! The convention of aarch64 (AAPCS64): homogeneous aggregates are in vector registers, and an argument is in registers as a whole or not at
//! all.

use super::{ArgSpace, Convention, Form, Location, Passed, Place, Unsupported};

const GENERAL: u8 = 8;
const VECTORS: u8 = 8;
/// The largest aggregate that is passed by value, if it is not homogeneous.
const LARGEST: u32 = 16;

/// The convention of aarch64.
#[derive(Copy, Clone, Default, Debug)]
pub struct Aapcs64(ArgSpace);

/// Pieces of `each` bytes in registers from `first` on.
fn pieces(size: u32, each: u32, first: u8, place: fn(u8) -> Place) -> Location {
    let mut location = Location::NOTHING;
    for i in 0..size.div_ceil(each) {
        location.push(i * each, each.min(size - i * each), place(first + i as u8));
    }
    location
}

/// Size and number of pieces in vector registers; none if the value is not passed there.
fn in_vectors(value: &Passed) -> Result<Option<(u32, u32)>, Unsupported> {
    match &value.form {
        Form::Float if value.size <= 8 => Ok(Some((value.size, 1))),
        Form::Vector if matches!(value.size, 8 | 16) => Ok(Some((value.size, 1))),
        Form::Integer if value.size <= 8 => Ok(None),
        Form::Float | Form::Vector | Form::Integer => Err(Unsupported),
        Form::Aggregate(members) => Ok(members.homogeneous(value.size)),
    }
}

impl Convention for Aapcs64 {
    fn result(&mut self, value: &Passed) -> Result<Location, Unsupported> {
        Ok(match in_vectors(value)? {
            _ if value.size == 0 => Location::NOTHING,
            Some((each, _)) => pieces(value.size, each, 0, Place::Vector),
            None if value.size <= LARGEST => pieces(value.size, 8, 0, Place::General),
            // Its address is in a register of its own.
            None => Location { by_reference: true, ..Location::NOTHING },
        })
    }
    fn argument(&mut self, value: &Passed) -> Result<Location, Unsupported> {
        let space = &mut self.0;
        let homogeneous = in_vectors(value)?;
        if value.size == 0 {
            return Ok(Location::NOTHING);
        }
        // An attribute of an aggregate itself does not count, only those of its members.
        let align = match &value.form {
            Form::Aggregate(members) => members.align,
            _ => value.align,
        };
        let align = if align > 8 { 16 } else { 8 };
        if let Some((each, n)) = homogeneous {
            let first = space.vector;
            space.vector = VECTORS.min(first + n as u8);
            if first + n as u8 <= VECTORS {
                return Ok(pieces(value.size, each, first, Place::Vector));
            }
            return Ok(Location::whole(value.size, space.stack(value.size, align)?));
        }
        if value.size > LARGEST {
            let place = if space.general < GENERAL {
                space.general += 1;
                Place::General(space.general - 1)
            } else {
                space.stack(8, 8)?
            };
            return Ok(Location::reference(place));
        }
        let first = if align == 16 { space.general.next_multiple_of(2) } else { space.general };
        let n = value.size.div_ceil(8) as u8;
        space.general = GENERAL.min(first + n);
        if first + n <= GENERAL {
            return Ok(pieces(value.size, 8, first, Place::General));
        }
        Ok(Location::whole(value.size, space.stack(value.size, align)?))
    }
    fn space(&self) -> ArgSpace {
        self.0
    }
}
