//! Source locations of Cranelift IR: by them, the code generator tells from which instruction or exit of the trace each piece of code was
//! made.

use cranelift_codegen::ir::SourceLoc;
use perilune_recorder::ir::SnapId;

/// Source location of instruction `i` of the root trace.
pub(crate) fn location(i: usize) -> SourceLoc {
    SourceLoc::new(i as u32 + 1)
}
/// The instruction of a source location.
pub(crate) fn located(loc: SourceLoc) -> Option<usize> {
    (loc.bits() as usize).checked_sub(1).filter(|&i| i < 0x1_0000)
}
/// Source location of the code of side traces, and of code that exits share.
pub(crate) fn side_location() -> SourceLoc {
    SourceLoc::new(0x2_0000)
}
/// Source location of exit 0 of the root trace; the others follow.
const EXIT: u32 = 0x3_0000;
/// Source location of an exit of the root trace.
pub(crate) fn exit_location(exit: SnapId) -> SourceLoc {
    SourceLoc::new(EXIT + exit.number())
}
/// The exit of a source location.
pub(crate) fn exit_located(loc: SourceLoc) -> Option<SnapId> {
    (loc.bits() as usize).checked_sub(EXIT as usize).map(SnapId::new)
}
