//! Values of C while they are recorded.
#![allow(unsafe_code, reason = "the recorder reads what the interpreter is about to read")]

use perilune_vm::ffi::ctype::CTypeId;
use perilune_vm::ffi::scalar::{Number, Scalar};
use perilune_vm::object::{Cdata, Gc};

/// The address of the payload of a cdata.
pub(super) fn payload_address(c: Gc<Cdata>) -> u64 {
    c.payload().expose_provenance() as u64
}

/// The scalar at an address, which the operation that is recorded reads as well.
pub(super) fn peek(scalar: Scalar, address: u64) -> Number {
    let at = core::ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: the interpreter executes the instruction next, and reads the same scalar. If the address were wrong, that would be the
    // program's fault.
    unsafe { scalar.read(at) }
}

/// The type that a cdata stands for.
pub(super) fn type_of_ctype(c: Gc<Cdata>) -> Option<CTypeId> {
    (c.ctype() == CTypeId::CTYPEID).then(|| CTypeId(peek(Scalar::U32, payload_address(c)).to_u64() as u32))
}
