//! The Cranelift IR of small traces, against files. `BLESS=1 cargo test --test clif` rewrites them; read the difference.

mod common;

use common::{Build, Machine, exit_id, trace_id, value_of};
use perilune_backend::thunk::ThunkAddrs;
use perilune_backend::{CompileRequest, Compiler, Emitted, TraceTree, isa};
use perilune_recorder::ir::{Const, IrRef, Link, Op, SlotIdx, SnapId, SnapSlot, Trace, Ty, sload};
use perilune_vm::Value;
use perilune_vm::layout::Field;
use perilune_vm::value as v;

fn check(name: &str, trace: &Trace) {
    check_tree(name, TraceTree::single(trace, trace_id(1), exit_id(0)));
}

/// The code of a tree for x86-64, on all hosts.
fn emit(tree: TraceTree<'_>) -> Emitted {
    let isa = isa::foreign("x86_64-unknown-linux-gnu", &["has_sse41", "has_avx"]).unwrap();
    // Addresses of helpers are their numbers, so that the text is the same everywhere.
    let mut compiler = Compiler::new(isa, |helper| 0x100 + helper as usize);
    let req = CompileRequest { listing: true, ..CompileRequest::new(tree, |_| 4) };
    compiler.emit(&req, &ThunkAddrs::placeholder()).unwrap()
}

fn check_tree(name: &str, tree: TraceTree<'_>) {
    let listing = emit(tree).listing.unwrap();
    assert!(!listing.asm.is_empty() && !listing.map.is_empty());
    let path = format!("{}/tests/clif/{name}.clif", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &listing.clif).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(want == listing.clif, "{path} differs (BLESS=1 rewrites it):\n{}", listing.clif);
}

#[test]
fn array_loop() {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let table = t.guarded(Op::SLOAD, Ty::Tab, IrRef(3), checked);
    let sum = t.guarded(Op::SLOAD, Ty::Num, IrRef(4), checked);
    let size = t.emit(Op::FLOAD, Ty::Int, table, IrRef(Field::TabAsize as u16));
    let array = t.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabArray as u16));
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, i), (4, sum)]);
    t.emit(Op::ABC, Ty::Int, size, i);
    let p = t.emit(Op::AREF, Ty::P64, array, i);
    let x = t.guarded(Op::ALOAD, Ty::Num, p, IrRef::NIL);
    let sum2 = t.emit(Op::ADD, Ty::Num, sum, x);
    let one = t.int(1);
    let i2 = t.emit(Op::ADDOV, Ty::Int, i, one);
    t.emit(Op::PHI, Ty::Int, i, i2);
    t.emit(Op::PHI, Ty::Num, sum, sum2);
    t.t.link = Link::Loop;
    check("array_loop", &t.t);
}

/// The least and the greatest of two numbers take one instruction each.
#[test]
fn least_and_greatest() {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let x = t.guarded(Op::SLOAD, Ty::Num, IrRef(2), checked);
    let y = t.guarded(Op::SLOAD, Ty::Num, IrRef(3), checked);
    let least = t.emit(Op::MIN, Ty::Num, x, y);
    let greatest = t.emit(Op::MAX, Ty::Num, x, y);
    t.snap(&[(2, least), (3, greatest)]);
    t.t.link = Link::Interp;
    let asm = emit(TraceTree::single(&t.t, trace_id(1), exit_id(0))).listing.unwrap().asm;
    let count = |what: &str| asm.matches(what).count();
    assert_eq!((count("minsd"), count("maxsd"), count("ucomisd")), (1, 1, 0), "{asm}");
}

/// Remainders by a divisor that does not change in the loop need no division, those with a quotient share its one, and of one that is compared
/// with zero the sign does not matter.
#[test]
fn remainders() {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let n = t.guarded(Op::SLOAD, Ty::Int, IrRef(3), checked);
    let zero = t.int(0);
    t.guarded(Op::GT, Ty::Int, i, zero);
    t.guarded(Op::GT, Ty::Int, n, zero);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, i)]);
    t.guarded(Op::GT, Ty::Int, i, zero);
    let by_invariant = t.emit(Op::MOD, Ty::Int, i, n);
    let remainder = t.emit(Op::MOD, Ty::Int, n, i);
    let quotient = t.emit(Op::DIV, Ty::Int, n, i);
    let sum = t.emit(Op::ADD, Ty::Int, by_invariant, remainder);
    let sum = t.emit(Op::ADD, Ty::Int, sum, quotient);
    let compared = t.emit(Op::MOD, Ty::Int, sum, i);
    t.guarded(Op::NE, Ty::Int, compared, zero);
    let signed = t.emit(Op::MOD, Ty::Int, by_invariant, i);
    t.emit(Op::PHI, Ty::Int, i, signed);
    t.t.link = Link::Loop;
    check("remainders", &t.t);
}

/// The last guard of a loop is its back edge.
#[test]
fn rotated_loop() {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let stop = t.guarded(Op::SLOAD, Ty::Int, IrRef(3), checked);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, i)]);
    let one = t.int(1);
    let next = t.emit(Op::ADD, Ty::Int, i, one);
    t.snap(&[(2, next)]);
    t.guarded(Op::LT, Ty::Int, next, stop);
    t.emit(Op::PHI, Ty::Int, i, next);
    t.t.link = Link::Loop;
    check("rotated_loop", &t.t);

    // Cranelift leaves it so: a conditional branch leads to the head of the loop.
    let emitted = emit(TraceTree::single(&t.t, trace_id(1), exit_id(0)));
    assert_eq!(branches_to_head(&emitted), 1, "{}", emitted.listing.unwrap().asm);
}

/// The number of conditional branches to the head of a loop.
fn branches_to_head(emitted: &Emitted) -> usize {
    let Emitted { code, body, .. } = emitted;
    let head = i64::from(body.as_ref().unwrap().start);
    let leads_to_head = |end: usize| {
        let distance = code[end - 4..end].try_into().map(i32::from_le_bytes).unwrap();
        end as i64 + i64::from(distance) == head
    };
    let is_branch = |at: usize| code[at] == 0x0f && code[at + 1] & 0xf0 == 0x80;
    (0..code.len() - 6).filter(|&i| is_branch(i) && leads_to_head(i + 6)).count()
}

/// A loop in chunks: the end of one is computed without a branch, that of the loop is read from its slot, and what leaves between two of them
/// is computed only there. In the loop the sum stays in its register, also where an earlier exit needs it.
#[test]
fn loop_in_chunks() {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let stop = t.guarded(Op::SLOAD, Ty::Int, IrRef(3), checked);
    let sum = t.guarded(Op::SLOAD, Ty::Num, IrRef(4), checked);
    let array = t.guarded(Op::SLOAD, Ty::P64, IrRef(5), checked);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, i), (4, sum)]);
    let p = t.emit(Op::AREF, Ty::P64, array, i);
    let x = t.guarded(Op::ALOAD, Ty::Num, p, IrRef::NIL);
    let sum2 = t.emit(Op::ADD, Ty::Num, sum, x);
    t.snap(&[(2, i), (4, sum2)]);
    let kept = SnapSlot { slot: SlotIdx::new(3), flags: SnapSlot::NORESTORE, value: stop };
    t.t.snaps.last_mut().unwrap().slots.push(kept);
    t.emit(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE);
    let one = t.int(1);
    let next = t.emit(Op::ADD, Ty::Int, i, one);
    t.snap(&[(2, next), (4, sum2)]);
    t.guarded(Op::LE, Ty::Int, next, stop);
    t.emit(Op::PHI, Ty::Int, i, next);
    t.emit(Op::PHI, Ty::Num, sum, sum2);
    t.t.link = Link::Loop;
    check("loop_in_chunks", &t.t);
    let emitted = emit(TraceTree::single(&t.t, trace_id(1), exit_id(0)));
    assert_eq!(branches_to_head(&emitted), 1, "{}", emitted.listing.unwrap().asm);
}

/// A num that lives across a call in front of its loop is in a register in the loop.
#[test]
fn invariant_behind_a_call() {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let table = t.guarded(Op::SLOAD, Ty::Tab, IrRef(3), checked);
    let bound = t.guarded(Op::SLOAD, Ty::Num, IrRef(4), checked);
    let array = t.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabArray as u16));
    let len = t.emit(Op::ALEN, Ty::Int, table, IrRef::NIL);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, i)]);
    let p = t.emit(Op::AREF, Ty::P64, array, i);
    let x = t.guarded(Op::ALOAD, Ty::Num, p, IrRef::NIL);
    t.guarded(Op::LT, Ty::Num, x, bound);
    let one = t.int(1);
    let next = t.emit(Op::ADD, Ty::Int, i, one);
    t.snap(&[(2, next)]);
    t.guarded(Op::LT, Ty::Int, next, len);
    t.emit(Op::PHI, Ty::Int, i, next);
    t.t.link = Link::Loop;
    check("invariant_behind_a_call", &t.t);

    let asm = emit(TraceTree::single(&t.t, trace_id(1), exit_id(0))).listing.unwrap().asm;
    let (_, behind) = asm.split_once("call ").unwrap();
    // It is loaded once; the other place is where it is converted, in front of the call.
    assert_eq!(behind.matches("(%rsp)").count(), 2, "{asm}");
}

#[test]
fn field_access_and_barrier() {
    let mut t = Build::new();
    let table = t.guarded(Op::SLOAD, Ty::Tab, IrRef(2), IrRef(sload::TYPECHECK));
    let nodes = t.emit(Op::FLOAD, Ty::P64, table, IrRef(Field::TabNode as u16));
    let key = t.konst(Const::Gc(value_of(v::TAG_STR << v::PAYLOAD_BITS | 0x1230)));
    let key = t.konst(Const::Slot(key, 3));
    let p = t.emit(Op::HREFK, Ty::P64, nodes, key);
    let x = t.guarded(Op::HLOAD, Ty::Str, p, IrRef::NIL);
    t.emit(Op::HSTORE, Ty::Str, p, x);
    t.emit(Op::TBAR, Ty::Nil, table, IrRef::NIL);
    check("field_access_and_barrier", &t.end(&[(3, x)], Link::Root(trace_id(7))));
}

/// A cell comes from the free list of its size class, or from the helper.
#[test]
fn small_cdata() {
    let mut t = Build::new();
    let (id, word) = (t.int(11), t.konst(Const::Word(7, Ty::I64)));
    let made = t.emit(Op::CNEWI, Ty::Cdata, id, word);
    check("small_cdata", &t.end(&[(2, made)], Link::Root(trace_id(7))));
}

#[test]
fn values_for_exits_are_computed_in_exits() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Num]);
    let twice = t.emit(Op::ADD, Ty::Int, s[0], s[0]);
    t.snap(&[(2, twice), (3, IrRef::NIL)]);
    let k = t.num(0.5);
    t.emit(Op::ULT, Ty::Num, s[1], k);
    check("values_for_exits_are_computed_in_exits", &t.end(&[], Link::Stitch));
}

#[test]
fn recursion_with_stack_check() {
    let mut t = Build::new();
    t.t.top_slot = 9;
    let n = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), IrRef(sload::TYPECHECK));
    let one = t.int(1);
    let n2 = t.emit(Op::SUBOV, Ty::Int, n, one);
    let mut trace = t.end(&[(6, n2)], Link::UpRec);
    trace.snaps[1].base_slot = SlotIdx::new(6);
    check("recursion_with_stack_check", &trace);
    // It also runs: the stack ends it.
    let mut m = Machine::new();
    *m.slot(2) = Value::int(0).bits();
    m.install(&trace, common::TRACE, exit_id(0));
    assert_eq!(m.enter(common::TRACE).0, 0);
}

/// A loop that counts to 100 and takes a side trace at every number above 50: nothing is loaded or checked on the way back.
#[test]
fn tree_with_a_loop() {
    let checked = IrRef(sload::TYPECHECK);
    let mut t = Build::new();
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let n = t.guarded(Op::SLOAD, Ty::Num, IrRef(3), checked);
    let (one, fifty) = (t.int(1), t.int(50));
    t.snap(&[]);
    t.emit(Op::LE, Ty::Int, i, fifty);
    let i2 = t.emit(Op::ADD, Ty::Int, i, one);
    let root = t.end(&[(2, i2), (3, n)], Link::TailRec);
    let mut t = Build::new();
    let i = t.emit(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let n = t.emit(Op::SLOAD, Ty::Num, IrRef(3), checked);
    let (one, hundred, half) = (t.int(1), t.int(100), t.num(0.5));
    t.snap(&[]);
    t.emit(Op::LE, Ty::Int, i, hundred);
    let i2 = t.emit(Op::ADD, Ty::Int, i, one);
    let n2 = t.emit(Op::ADD, Ty::Num, n, half);
    let side = t.end(&[(2, i2), (3, n2)], Link::Root(trace_id(1)));
    let sides = vec![(SnapId::new(1), TraceTree::single(&side, trace_id(2), exit_id(10)))];
    check_tree("tree_with_a_loop", TraceTree { sides, ..TraceTree::single(&root, trace_id(1), exit_id(0)) });
}
