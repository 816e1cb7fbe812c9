//! The heap and the collector.
//!
//! Objects live in cells of 64 KB blocks, one size class per block ([`heap`]); the memory that they own besides (array and hash parts,
//! stacks) comes from pools of the same classes ([`raw`]). The collector is an incremental tri-colour mark with a lazy sweep, and does not
//! move anything:
//!
//! ```text
//!   Pause -> Propagate -> Atomic -> Settle -> Sweep -> Finalize -> Pause
//! ```
//!
//! * *Propagate* blackens objects from a gray stack, a bounded amount per step ([`mark`]). The program runs between the steps;
//!   a store into a black object goes through a barrier ([`barrier`]).
//! * *Atomic* finishes the marking without interruption: stacks that have changed (`stacks`), tables touched since they were black, weak
//!   tables ([`weak`]), userdata with finalizers ([`finalize`]). Then the two whites change places: what is still white is dead.
//! * *Settle* takes what is dead off the heap's lists (`settle`).
//! * *Sweep* visits each block once, on demand of the allocator or in steps, frees the dead and whitens the rest ([`sweep`]).
//! * *Finalize* calls one `__gc` per step.
//!
//! All of it can be watched ([`watch`]).
//!
//! Steps run at safepoints only ([`step`]). Compiled code runs steps too, but neither Atomic nor Finalize. Allocation never
//! collects.

pub mod allocator;
pub mod barrier;
mod block;
mod cells;
pub mod color;
mod filter;
pub mod finalize;
pub mod heap;
pub mod limit;
pub mod mark;
mod os;
pub(crate) mod pages;
pub mod pause;
pub(crate) mod poison;
pub mod raw;
pub mod reserve;
mod settle;
pub mod size;
mod slices;
mod stacks;
mod stagger;
pub mod step;
pub mod sweep;
pub mod verify;
pub mod visit;
pub mod watch;
mod watcher;
pub mod weak;

#[cfg(test)]
pub(crate) mod tests;

pub use block::{BLOCK_SIZE, FreeCell};
pub use heap::{Heap, Phase};
pub use mark::Marker;
pub use pause::Pauses;
pub use visit::{Edge, Visitor};
