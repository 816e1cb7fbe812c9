//! The output of the parser: plain data, independent of any heap.

use super::{Ins, Op};
use std::rc::Rc;

/// A function prototype before it is loaded into a VM.
#[derive(Clone, Debug)]
pub struct ProtoData {
    /// Instructions; 0 is the FUNCF or FUNCV header, whose A is the frame size.
    pub bc: Vec<Ins>,
    /// Object constants.
    pub kgc: Vec<KGc>,
    /// Number constants.
    pub knum: Vec<KNum>,
    /// Where each upvalue comes from.
    pub upvalues: Vec<UvDesc>,
    /// Fixed parameters.
    pub num_params: u8,
    /// Frame size in slots.
    pub framesize: u8,
    /// Takes `...`.
    pub is_vararg: bool,
    /// Has child prototypes.
    pub has_children: bool,
    /// Line where the function starts; 0 for a main chunk.
    pub first_line: u32,
    /// Line where it ends.
    pub last_line: u32,
    /// Line of each instruction.
    pub lines: Vec<u32>,
    /// Chunk name, with its leading `@` or `=`.
    pub chunkname: Rc<[u8]>,
    /// Names of the upvalues.
    pub uv_names: Vec<Box<[u8]>>,
    /// Local variables in order of declaration.
    pub vars: Vec<VarInfo>,
}

impl ProtoData {
    /// Does it, or a child, have constants that are cdata?
    pub fn has_cdata(&self) -> bool {
        self.kgc.iter().any(|k| match k {
            KGc::Cdata(_) => true,
            KGc::Proto(child) => child.has_cdata(),
            KGc::Str(_) | KGc::Table(_) => false,
        })
    }
    /// Does it, or a child, have instructions of bit operators?
    pub(super) fn has_bitops(&self) -> bool {
        self.bc.iter().any(|i| (Op::BNOT as u8..=Op::BSAR as u8).contains(&(i.0 as u8)))
            || self.kgc.iter().any(|k| matches!(k, KGc::Proto(child) if child.has_bitops()))
    }
}

/// An object constant.
#[derive(Clone, Debug)]
pub enum KGc {
    /// A string.
    Str(Box<[u8]>),
    /// A child prototype.
    Proto(Box<ProtoData>),
    /// A template table.
    Table(TableTemplate),
    /// A number that is cdata.
    Cdata(KCdata),
}

/// A literal with a suffix: a cdata constant.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum KCdata {
    /// `LL`: an `int64_t`.
    Int64(i64),
    /// `ULL`: a `uint64_t`.
    Uint64(u64),
    /// `i`: a `complex`, of which the second number is the imaginary part.
    Complex(f64, f64),
}

impl KCdata {
    /// The negative number, which the compiler folds.
    pub fn negated(self) -> KCdata {
        match self {
            KCdata::Int64(i) => KCdata::Int64(i.wrapping_neg()),
            KCdata::Uint64(u) => KCdata::Uint64(u.wrapping_neg()),
            KCdata::Complex(re, im) => KCdata::Complex(re, -im),
        }
    }
    /// The 32-bit words of the number, in the order of memory.
    pub(super) fn words(self) -> Vec<u32> {
        let halves = |bits: u64| [bits as u32, (bits >> 32) as u32];
        match self {
            KCdata::Int64(i) => halves(i as u64).to_vec(),
            KCdata::Uint64(u) => halves(u).to_vec(),
            KCdata::Complex(re, im) => [halves(re.to_bits()), halves(im.to_bits())].concat(),
        }
    }
}

/// A number constant: an integer where an `i32` holds it exactly (and it is not -0).
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum KNum {
    /// Integer.
    Int(i32),
    /// Double.
    Num(f64),
}

/// Where an upvalue comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UvDesc {
    /// A local of the enclosing function (else one of its upvalues).
    pub local: bool,
    /// The local is never assigned after its initialisation.
    pub immutable: bool,
    /// Slot of the local, or index of the enclosing function's upvalue.
    pub index: u8,
}

/// A local variable in the debug information.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarInfo {
    /// Name.
    pub name: Box<[u8]>,
    /// First instruction where it is visible.
    pub start_pc: u32,
    /// First instruction where it no longer is.
    pub end_pc: u32,
}

/// Constant entries of a table constructor.
#[derive(Clone, Debug, Default)]
pub struct TableTemplate {
    /// Array part from index 0 on (index 0 is nil unless `[0]` is set).
    pub array: Vec<KVal>,
    /// Hash part.
    pub hash: Vec<(KVal, KVal)>,
}

/// A value of a template table.
#[derive(Clone, PartialEq, Debug)]
pub enum KVal {
    /// nil
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i32),
    /// A double.
    Num(f64),
    /// A string.
    Str(Rc<[u8]>),
}

impl From<KNum> for KVal {
    fn from(n: KNum) -> KVal {
        match n {
            KNum::Int(i) => KVal::Int(i),
            KNum::Num(x) => KVal::Num(x),
        }
    }
}
