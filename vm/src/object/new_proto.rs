//! Creation of prototypes from what the parser or the loader gives.

use super::Proto;
use crate::bc::{Ins, UvDesc, VarInfo};
use crate::value::Value;

impl Proto {
    /// Bytes of the boxes that the prototype owns; fixed once it is made.
    pub(crate) fn owned_bytes(&self) -> usize {
        let names: usize =
            self.uv_names.iter().map(|n| n.len()).sum::<usize>() + self.vars.iter().map(|v| v.name.len()).sum::<usize>();
        self.code_len() * size_of::<Ins>()
            + self.consts.len() * size_of::<Value>()
            + self.upvalues.len() * size_of::<UvDesc>()
            + self.lines.len() * 4
            + self.uv_names.len() * size_of::<Box<[u8]>>()
            + self.vars.len() * size_of::<VarInfo>()
            + names
    }
}
