//! The optimiser.
//!
//! During emission ([`pipeline`]): FOLD ([`fold`]), then by kind of instruction CSE ([`cse`]), load forwarding or store elimination
//! ([`mem`]). On the finished trace ([`passes`]): LOOP ([`loops`]), with guard hoisting, DCE ([`dce`]), SINK ([`sink`]), numbers in string buffers
//! ([`buffers`]). All stages of emission look backwards only, which is why copying a loop's iteration through the same pipeline moves
//! invariant code out of the loop.
//!
//! # What makes CSE and forwarding sound across the loop
//! In the copy, a reference to an instruction before LOOP means its value in the *previous* iteration (for the first iteration of
//! the body, that is the recorded one). Everything proved about such references from the instructions alone therefore holds in
//! every iteration, provided that each of them that changes is updated by a PHI; [`loops`] adds those at the end.
//!
//! Next on the way of a hot loop: `jit/src/record/finish.rs`.

pub mod abc;
pub mod alias;
pub mod buffers;
pub mod cse;
pub mod dce;
pub mod fold;
pub mod held;
mod hoist;
pub mod loops;
pub mod mem;
pub mod narrow;
pub mod overflow;
pub mod passes;
pub mod pipeline;
mod reemit;
pub mod sink;

pub mod widen;

pub use passes::{Pass, finish};
pub use pipeline::{buffer, buffer_of};
pub use reemit::reemit;
