//! The bytecode: its table, the instruction word, prototypes as plain data.

pub mod dump;
mod ins;
mod ops;
mod proto;
#[cfg(test)]
mod tests;
pub mod undump;
mod verify;

pub use ins::{Ins, JUMP_BIAS, TSETM_BIAS};
pub use ops::Op;
pub use proto::{KGc, KNum, KVal, ProtoData, TableTemplate, UvDesc, VarInfo};
