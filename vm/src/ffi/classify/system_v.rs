//! The System V convention of x86-64: a small aggregate is classified by its eightbytes.

use super::members::Class;
use super::{ArgSpace, Convention, Form, Location, Members, Passed, Place, Unsupported};

const GENERAL: u8 = 6;
const VECTORS: u8 = 8;

/// The System V convention of x86-64.
#[derive(Copy, Clone, Default, Debug)]
pub struct SystemV(ArgSpace);

/// The pieces of an aggregate in registers; none if it is in memory. `general` and `vector` are the first registers.
fn in_registers(members: &Members, size: u32, general: &mut u8, vector: &mut u8) -> Option<Location> {
    if size > 16 || members.classes.contains(&Class::Memory) {
        return None;
    }
    let mut location = Location::NOTHING;
    if size == 16 && members.classes == [Class::Vector, Class::Nothing] && members.homogeneous(16).is_some_and(|(_, n)| n == 1) {
        location.push(0, 16, Place::Vector(*vector));
        *vector += 1;
        return Some(location);
    }
    for (i, class) in members.classes.iter().enumerate() {
        let offset = i as u32 * 8;
        let (next, place): (&mut u8, fn(u8) -> Place) = match class {
            Class::Vector => (vector, Place::Vector),
            Class::Integer => (general, Place::General),
            Class::Nothing | Class::Memory => continue,
        };
        location.push(offset, (size - offset).min(8), place(*next));
        *next += 1;
    }
    Some(location)
}

impl Convention for SystemV {
    fn result(&mut self, value: &Passed) -> Result<Location, Unsupported> {
        Ok(match &value.form {
            Form::Integer if value.size <= 8 => Location::whole(value.size, Place::General(0)),
            // The x87 unit has `long double`.
            Form::Float if value.size <= 8 => Location::whole(value.size, Place::Vector(0)),
            Form::Vector if matches!(value.size, 8 | 16) => Location::whole(value.size, Place::Vector(0)),
            Form::Integer | Form::Float | Form::Vector => return Err(Unsupported),
            Form::Aggregate(_) if value.size == 0 => Location::NOTHING,
            Form::Aggregate(members) => match in_registers(members, value.size, &mut 0, &mut 0) {
                Some(location) => location,
                // Alone, or as a complex number, it is a result of the x87 unit.
                None if members.homogeneous(value.size).is_some_and(|(each, n)| each == 16 && n <= 2) => return Err(Unsupported),
                None => {
                    self.0.general += 1;
                    Location::reference(Place::General(0))
                }
            },
        })
    }
    fn argument(&mut self, value: &Passed) -> Result<Location, Unsupported> {
        let size = value.size;
        let ArgSpace { mut general, mut vector, .. } = self.0;
        let location = match &value.form {
            Form::Integer if size <= 8 => {
                general += 1;
                Location::whole(size, Place::General(general - 1))
            }
            Form::Float if size <= 8 => {
                vector += 1;
                Location::whole(size, Place::Vector(vector - 1))
            }
            Form::Vector if matches!(size, 8 | 16) => {
                vector += 1;
                Location::whole(size, Place::Vector(vector - 1))
            }
            Form::Integer | Form::Float | Form::Vector => return Err(Unsupported),
            Form::Aggregate(_) if size == 0 => return Ok(Location::NOTHING),
            Form::Aggregate(members) => match in_registers(members, size, &mut general, &mut vector) {
                Some(location) => location,
                None => return Ok(Location::whole(size, self.0.stack(size, value.align)?)),
            },
        };
        if general > GENERAL || vector > VECTORS {
            // No part of it is in registers.
            return Ok(Location::whole(size, self.0.stack(size, value.align)?));
        }
        (self.0.general, self.0.vector) = (general, vector);
        Ok(location)
    }
    fn space(&self) -> ArgSpace {
        self.0
    }
}
