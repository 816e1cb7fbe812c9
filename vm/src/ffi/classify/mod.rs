//! Where the calling convention of C has arguments and results.
//!
//! A value is described by its size, its alignment and its [`Form`]; the answer is a [`Location`]: pieces of the value, each in a register or
//! on the stack. Both conventions can be asked on any machine; [`Host`] is that of this one.

mod aapcs64;
mod describe;
mod members;
mod plan;
mod system_v;
#[cfg(test)]
mod tests;

pub use aapcs64::Aapcs64;
pub use describe::describe;
pub use members::{Members, Scalar};
pub use plan::{CallPlan, Value, Variadic};
pub use system_v::SystemV;

/// The convention of this machine.
#[cfg(target_arch = "x86_64")]
pub type Host = SystemV;
/// The convention of this machine.
#[cfg(not(target_arch = "x86_64"))]
pub type Host = Aapcs64;

/// What decides where a value goes, besides its size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// An integer, a `bool`, an enum or a pointer.
    Integer,
    /// `float`, `double` or `long double`.
    Float,
    /// A vector.
    Vector,
    /// A struct, a union or a complex number.
    Aggregate(Members),
}

/// A value to be passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passed {
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Its form.
    pub form: Form,
}

/// A register, or a place on the stack.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A general register, by its number among those of arguments, or of results.
    General(u8),
    /// A vector register, likewise.
    Vector(u8),
    /// The stack, bytes from the first argument there.
    Stack(u32),
}

/// Where a part of a value is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where the part begins in the value.
    pub offset: u32,
    /// Bytes of the part.
    pub size: u32,
    /// Where it is.
    pub place: Place,
}

/// Where a value is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pieces: [Piece; Location::MOST],
    len: u8,
    /// Is the address of the value passed, or of the memory for a result?
    pub by_reference: bool,
}

impl Location {
    /// Pieces at most: the members of a homogeneous aggregate.
    const MOST: usize = 4;
    /// No piece: of an empty struct.
    pub const NOTHING: Location =
        Location { pieces: [Piece { offset: 0, size: 0, place: Place::Stack(0) }; Location::MOST], len: 0, by_reference: false };

    fn push(&mut self, offset: u32, size: u32, place: Place) {
        self.pieces[usize::from(self.len)] = Piece { offset, size, place };
        self.len += 1;
    }
    /// The whole of the value in one place.
    fn whole(size: u32, place: Place) -> Location {
        let mut location = Location::NOTHING;
        location.push(0, size, place);
        location
    }
    /// The address of the value in one place.
    fn reference(place: Place) -> Location {
        Location { by_reference: true, ..Location::whole(8, place) }
    }
    /// The pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces[..usize::from(self.len)]
    }
}

/// The value cannot be passed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Unsupported;

/// Registers and bytes of the stack that arguments have taken so far.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct ArgSpace {
    /// General registers.
    pub general: u8,
    /// Vector registers.
    pub vector: u8,
    /// Bytes of the stack.
    pub stack: u32,
}

impl ArgSpace {
    /// Takes `size` bytes of the stack, which are whole words. Its own alignment is that of every call.
    fn stack(&mut self, size: u32, align: u32) -> Result<Place, Unsupported> {
        const STACK_ALIGN: u32 = 16;
        if align > STACK_ALIGN {
            return Err(Unsupported);
        }
        let at = self.stack.next_multiple_of(align.max(8));
        self.stack = at.checked_add(size.next_multiple_of(8)).ok_or(Unsupported)?;
        Ok(Place::Stack(at))
    }
}

/// A calling convention. An implementation has seen the arguments so far.
pub trait Convention: Default {
    /// The result, before all arguments: its address may be passed in front of them. Its pieces are in registers of results.
    fn result(&mut self, value: &Passed) -> Result<Location, Unsupported>;
    /// The next argument.
    fn argument(&mut self, value: &Passed) -> Result<Location, Unsupported>;
    /// What the arguments have taken.
    fn space(&self) -> ArgSpace;
}
