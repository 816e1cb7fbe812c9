//! Where the paths of traces part.

use perilune_recorder::ir::{IrRef, SlotIdx, Snapshot};
use perilune_recorder::rec::{BranchSide, Path};
use perilune_vm::bc::Op;
use perilune_vm::object::BcAddr;

fn path(at: &[u64]) -> Path {
    let mut path = Path::default();
    at.iter().for_each(|&at| path.add(BcAddr::new(at), Op::MOV));
    path
}
fn exit(pc: u64, done: u16, decides: bool) -> Snapshot {
    let (base_slot, nslots, pc) = (SlotIdx::BASE, SlotIdx::BASE, BcAddr::new(pc));
    Snapshot { at: IrRef::NONE, base_slot, nslots, pc, multres: 0, decides, done, fuel: 0, slots: Vec::new() }
}

#[test]
fn the_sides_of_a_branch_part_behind_it() {
    let root = path(&[10, 11, 12, 13]);
    let side = |done, pc: u64| Some(BranchSide { done, pc: BcAddr::new(pc) });
    assert_eq!(root.other_side(&exit(20, 1, true), &path(&[20, 21])), side(2, 20), "the exit of a branch");
    assert_eq!(root.other_side(&exit(11, 1, false), &path(&[11, 12, 20])), side(3, 20), "the exit of a load");
    assert_eq!(root.other_side(&exit(11, 1, false), &path(&[11, 12, 13])), None, "the same path");
    assert_eq!(root.other_side(&exit(11, 2, false), &path(&[11, 12, 20])), None, "counted in another way");
    assert_eq!(root.other_side(&exit(20, 9, true), &path(&[20])), None, "behind the end");
}
#[test]
fn comparisons_tests_and_ends_of_for_loops_branch() {
    let mut path = path(&[1, 2]);
    for op in [Op::ISLT, Op::ISNEP, Op::ISF, Op::FORL, Op::JFORL, Op::ITERN, Op::JMP, Op::ISTYPE, Op::LOOP] {
        path.add(BcAddr::new(3), op);
    }
    assert_eq!(path.branches(), 6);
}
