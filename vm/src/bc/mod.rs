//! The bytecode: its table, the instruction word, prototypes as plain data.

pub mod dump;
mod ins;
pub mod liveness;
mod ops;
mod proto;
pub(crate) mod temporary;
#[cfg(test)]
mod tests;
pub mod undump;
mod verify;

pub use ins::{Ins, JUMP_BIAS, TSETM_BIAS};
pub use ops::Op;
pub use proto::{KCdata, KGc, KNum, KVal, ProtoData, TableTemplate, UvDesc, VarInfo};
