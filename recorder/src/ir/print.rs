//! Traces as text, in the columns of LuaJIT's dump.
//!
//! ```text
//! 0001 >  int SLOAD  #2    T
//! 0002    int ADD    0001  +1
//! ....        SNAP   #1   pc=12 [ ---- ---- 0002 ]
//! 0003 >  int LE     0002  +100
//! ```
//!
//! Columns: number, `>` for a guard or `}` for a sunk instruction, `+` for an operand of a PHI, type, operation, operands. Constants are
//! printed by value: ints with a sign, nums with a sign and a point or exponent, strings quoted, other objects as `{kind:index}`, the key
//! and node of an HREFK as `"key"@node`. NOPs are left out. A snapshot lists the slots from 0 to its limit; `----` stands for a slot that
//! was not modified. A slot's value may be followed by `|` (frame), `^` (continuation frame), `!` (not stored), `~` (held).

use super::{
    Const, FpMath, Ins, IrRef, Link, Mode, Op, SlotIdx, SnapId, SnapSlot, Snapshot, Trace, Transfer, Ty, VmRef, conv, sload,
    uref, xload,
};
use core::fmt::Write;
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;

/// Names of objects that a trace knows by their addresses.
pub trait Names {
    /// A name for an object, to be printed in braces.
    fn object(&self, v: Value) -> String;
}

/// Objects are numbered by kind in the order of the trace's constants.
pub struct ByOrder<'a>(pub &'a Trace);

/// The word for an object's kind, as in the type column.
pub fn kind_name(v: Value) -> &'static str {
    Ty::NAMES[Ty::of_value(v) as usize]
}

impl Names for ByOrder<'_> {
    fn object(&self, v: Value) -> String {
        let kind = kind_name(v);
        let mut same = self.0.consts.iter().filter_map(|k| match k {
            Const::Gc(o) if kind_name(*o) == kind && !o.is_str() => Some(*o),
            _ => None,
        });
        format!("{kind}:{}", same.position(|o| o == v).unwrap_or(0))
    }
}

/// Prints a trace.
pub fn print(trace: &Trace, names: &dyn Names) -> String {
    let mut out = String::new();
    let p = Printer { trace, names };
    if let Some(parent) = trace.parent {
        let _ = writeln!(out, "parent {parent}");
    }
    if trace.entry != SlotIdx::BASE {
        let _ = writeln!(out, "entry {}", trace.entry);
    }
    if trace.top_slot != 0 {
        let _ = writeln!(out, "top {}", trace.top_slot);
    }
    if trace.checked_slot != 0 {
        let _ = writeln!(out, "checked {}", trace.checked_slot);
    }
    let mut snaps = trace.snap_ids().peekable();
    for (i, ins) in trace.ins.iter().enumerate().skip(1) {
        while let Some(k) = snaps.next_if(|k| trace.snap(*k).at.ins_index() <= i) {
            p.snapshot(&mut out, k);
        }
        if ins.op != Op::NOP {
            p.line(&mut out, i, *ins);
        }
    }
    for k in snaps {
        p.snapshot(&mut out, k);
    }
    if trace.link != Link::None {
        let _ = match trace.link {
            Link::Root(n) => writeln!(out, "link root {n}"),
            link => writeln!(out, "link {}", link.name()),
        };
    }
    let _ = match trace.transfer {
        None => Ok(()),
        Some(Transfer::Call { func, nargs, link: Some(link) }) => writeln!(out, "transfer call {func} {nargs} {}", link.get()),
        Some(Transfer::Call { func, nargs, link: None }) => writeln!(out, "transfer tail-call {func} {nargs}"),
        Some(Transfer::Return { first, count }) => writeln!(out, "transfer return {first} {count}"),
    };
    out
}

/// Prints one instruction.
pub fn print_ins(trace: &Trace, i: usize, names: &dyn Names) -> String {
    let mut out = String::new();
    if let Some(ins) = trace.ins.get(i) {
        Printer { trace, names }.line(&mut out, i, *ins);
    }
    out
}

/// Prints an instruction without its number. Its operands are references of the trace; it need not be in the trace itself.
pub fn print_op(trace: &Trace, ins: Ins, names: &dyn Names) -> String {
    let mut out = String::new();
    Printer { trace, names }.op(&mut out, ins);
    out
}

/// Prints a reference: the number of an instruction, or a constant.
pub fn print_ref(trace: &Trace, r: IrRef, names: &dyn Names) -> String {
    Printer { trace, names }.reference(r)
}

/// Prints the slots of snapshot `k`.
pub fn print_slots(trace: &Trace, k: SnapId, names: &dyn Names) -> String {
    let mut out = String::new();
    if let Some(snap) = trace.snaps.get(k.index()) {
        Printer { trace, names }.slots(&mut out, snap);
    }
    out
}

/// A num, in a form that differs from an int.
pub fn number(n: f64) -> String {
    match n {
        _ if n.is_nan() => "nan".into(),
        _ if n.is_sign_negative() => format!("{n:?}"),
        _ => format!("+{n:?}"),
    }
}

/// A string in quotes, with escapes for bytes that are not printable.
pub fn quoted(s: &[u8]) -> String {
    let mut out = String::from("\"");
    for &c in s {
        match c {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(c as char);
            }
            b'\n' => out.push_str("\\n"),
            0x20..0x7f => out.push(c as char),
            _ => {
                let _ = write!(out, "\\x{c:02x}");
            }
        }
    }
    out.push('"');
    out
}

struct Printer<'a> {
    trace: &'a Trace,
    names: &'a dyn Names,
}

impl Printer<'_> {
    fn line(&self, out: &mut String, i: usize, ins: Ins) {
        let _ = write!(out, "{i:04} ");
        self.op(out, ins);
        out.push('\n');
    }

    fn op(&self, out: &mut String, ins: Ins) {
        if ins.op == Op::LOOP {
            out.push_str("------------ LOOP ------------");
            return;
        }
        let guard = match (ins.is_sunk(), ins.is_guard()) {
            (true, _) => '}',
            (false, true) => '>',
            (false, false) => ' ',
        };
        let phi = if ins.flags & Ins::PHI != 0 { '+' } else { ' ' };
        let _ = write!(out, "{guard}{phi} {} {:<6}", Ty::NAMES[ins.ty as usize], ins.op.name());
        let mut text = String::new();
        for (mode, r, first) in [(ins.op.mode_a(), ins.a, true), (ins.op.mode_b(), ins.b, false)] {
            let operand = match mode {
                Mode::Ref => self.reference(r),
                Mode::Lit => literal(ins.op, first, r.0),
                Mode::Cst | Mode::None => continue,
            };
            let _ = write!(text, " {operand:<5}");
        }
        out.push_str(text.trim_end());
        let end = out.trim_end_matches(' ').len();
        out.truncate(end);
    }

    fn reference(&self, r: IrRef) -> String {
        if r == IrRef::NONE {
            return "----".into();
        }
        if !r.is_const() {
            return format!("{:04}", r.ins_index());
        }
        match self.trace.konst(r) {
            Some(k) => self.konst(k),
            None => format!("?{}", r.const_index()),
        }
    }

    fn konst(&self, k: Const) -> String {
        match k {
            Const::Pri(Ty::Nil) => "nil".into(),
            Const::Pri(Ty::False) => "false".into(),
            Const::Pri(_) => "true".into(),
            Const::Int(k) => format!("{k:+}"),
            Const::Num(k) => number(f64::from_bits(k)),
            Const::Gc(v) => match v.as_str() {
                Some(s) => quoted(s.bytes()),
                None => format!("{{{}}}", self.names.object(v)),
            },
            Const::Ptr(k) => format!("[{k:#x}]"),
            Const::Word(k, Ty::I64) => format!("{:+}LL", k as i64),
            Const::Word(k, _) => format!("{k}ULL"),
            Const::Vm(VmRef::NilSlot) => "<nil>".into(),
            Const::Vm(VmRef::Scratch) => "<scratch>".into(),
            Const::Vm(VmRef::Multres) => "<multres>".into(),
            Const::Vm(VmRef::Depth) => "<depth>".into(),
            Const::Null(ty) => format!("null:{}", Ty::NAMES[ty as usize].trim_end()),
            Const::Slot(key, n) => format!("{}@{n}", self.reference(key)),
        }
    }

    fn snapshot(&self, out: &mut String, k: SnapId) {
        let snap = self.trace.snap(k);
        let _ = write!(out, "....        SNAP   #{:<3} pc={}", k.number(), snap.pc.get());
        if snap.base_slot != SlotIdx::BASE {
            let _ = write!(out, " base={}", snap.base_slot);
        }
        if snap.multres != 0 {
            let _ = write!(out, " mult={}", snap.multres);
        }
        out.push(' ');
        self.slots(out, snap);
        out.push('\n');
    }

    fn slots(&self, out: &mut String, snap: &Snapshot) {
        out.push('[');
        let mut next = 0;
        let skip = |out: &mut String, n: usize| (0..n).for_each(|_| out.push_str(" ----"));
        for s in &snap.slots {
            skip(out, s.slot.index().saturating_sub(next));
            next = s.slot.index() + 1;
            let _ = write!(out, " {}", self.reference(s.value));
            for (flag, mark) in [(SnapSlot::FRAME, '|'), (SnapSlot::CONT, '^'), (SnapSlot::NORESTORE, '!'), (SnapSlot::HELD, '~')]
            {
                if s.flags & flag != 0 {
                    out.push(mark);
                }
            }
        }
        skip(out, snap.nslots.index().saturating_sub(next));
        if snap.nslots.index() < next {
            let _ = write!(out, " <{}", snap.nslots);
        }
        out.push_str(" ]");
    }
}

/// Letters of SLOAD's flags.
pub(super) const SLOAD_FLAGS: [(u16, char); 7] = [
    (sload::PARENT, 'P'),
    (sload::FRAME, 'F'),
    (sload::TYPECHECK, 'T'),
    (sload::CONVERT, 'C'),
    (sload::READONLY, 'R'),
    (sload::INHERIT, 'I'),
    (sload::KEYINDEX, 'K'),
];

/// Letters of XLOAD's flags.
pub(super) const XLOAD_FLAGS: [(u16, char); 3] = [(xload::READONLY, 'R'), (xload::VOLATILE, 'V'), (xload::UNTYPED, 'U')];

/// Kinds of TOSTR.
pub(super) const TOSTR_KINDS: [&str; 3] = ["int", "num", "char"];

/// A literal operand.
fn literal(op: Op, first: bool, lit: u16) -> String {
    let n = usize::from(lit);
    let named = |names: &[&str]| names.get(n).map_or_else(|| format!("#{n}"), |s| (*s).to_string());
    match (op, first) {
        (Op::SLOAD, false) => SLOAD_FLAGS.iter().filter(|f| lit & f.0 != 0).map(|f| f.1).collect(),
        (Op::FLOAD | Op::FREF, false) => named(Field::NAMES),
        (Op::CALLN | Op::CALLA | Op::CALLL | Op::CALLS, false) => named(Helper::NAMES),
        (Op::FPMATH, false) => named(&FpMath::NAMES),
        (Op::TOSTR, false) => named(&TOSTR_KINDS),
        (Op::XLOAD, false) => XLOAD_FLAGS.iter().filter(|f| lit & f.0 != 0).map(|f| f.1).collect(),
        (Op::UREFO | Op::UREFC, false) => format!("#{}{}", lit >> 8, if lit & uref::JOINED != 0 { "J" } else { "" }),
        (Op::CONV, false) => conversion(lit),
        _ => format!("#{n}"),
    }
}

fn conversion(lit: u16) -> String {
    let ty = |t: u16| Ty::NAMES.get(usize::from(t & 31)).map_or("?", |s| s.trim_end());
    let mut out = format!("{}.{}", ty(lit >> 5), ty(lit));
    if lit & conv::SEXT != 0 {
        out.push_str(" sext");
    }
    match lit & conv::MODE {
        conv::NONE => out.push_str(" none"),
        conv::INDEX => out.push_str(" index"),
        conv::CHECK => out.push_str(" check"),
        conv::BITS => out.push_str(" bits"),
        _ => {}
    }
    out
}

impl core::fmt::Display for Trace {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&print(self, &ByOrder(self)))
    }
}
