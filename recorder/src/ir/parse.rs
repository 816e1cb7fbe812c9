//! Text to traces: the inverse of [`mod@super::print`].

use super::print::{SLOAD_FLAGS, TOSTR_KINDS, XLOAD_FLAGS};
use super::{
    Const, FpMath, Ins, IrRef, Link, Mode, Op, SlotIdx, SnapId, SnapSlot, Snapshot, Trace, TraceExit, Transfer, Ty, VmRef, conv,
    uref,
};
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::object::BcAddr;
use perilune_vm::{TraceId, Value};

/// Makes the objects that a text names.
pub trait Objects {
    /// A string.
    fn string(&mut self, s: &[u8]) -> Value;
    /// The object printed as `{kind:index}`; `kind` is a type's three letters.
    fn object(&mut self, kind: &str, index: u32) -> Option<Value>;
}

/// An error in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// The error.
    pub what: String,
}

impl core::fmt::Display for ParseError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}
impl core::error::Error for ParseError {}

type Res<T> = Result<T, String>;

/// The most instructions, and the most constants, that references can name.
const MOST: usize = 0x7f00;

/// Parses a trace.
pub fn parse(text: &str, objects: &mut dyn Objects) -> Result<Trace, ParseError> {
    let mut p = Parser { trace: Trace::default(), objects };
    for (n, line) in text.lines().enumerate() {
        let code = line.trim();
        if code.is_empty() || code.starts_with(';') {
            continue;
        }
        p.line(code).map_err(|what| ParseError { line: n + 1, what: format!("{what}: {code}") })?;
    }
    Ok(p.trace)
}

struct Parser<'a> {
    trace: Trace,
    objects: &'a mut dyn Objects,
}

/// Splits at blanks, but not inside of strings.
fn tokens(s: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut in_string, mut escaped) = (None, false, false);
    for (i, c) in s.char_indices() {
        if c == ' ' && !in_string {
            if let Some(from) = start.take() {
                out.push(&s[from..i]);
            }
            continue;
        }
        start.get_or_insert(i);
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = in_string;
        } else if c == '"' {
            in_string = !in_string;
        }
    }
    out.extend(start.map(|from| &s[from..]));
    out
}

fn int<T: core::str::FromStr>(s: &str) -> Res<T> {
    s.parse().map_err(|_| format!("'{s}' is no number"))
}

fn slot(s: &str) -> Res<SlotIdx> {
    int(s).map(|n: u16| SlotIdx::new(n.into()))
}

fn trace_id(s: &str) -> Res<TraceId> {
    TraceId::new(int(s)?).ok_or_else(|| format!("'{s}' is no trace number"))
}

fn position(names: &[&str], s: &str) -> Res<u16> {
    names.iter().position(|n| n.trim_end() == s).map(|i| i as u16).ok_or_else(|| format!("unknown name '{s}'"))
}

fn type_of(s: &str) -> Res<Ty> {
    position(&Ty::NAMES, s).map(|i| Ty::ALL[usize::from(i)])
}

impl Parser<'_> {
    fn line(&mut self, s: &str) -> Res<()> {
        let (word, rest) = s.split_once(' ').unwrap_or((s, ""));
        let rest = rest.trim_start();
        match word {
            "...." => self.snapshot(rest),
            "parent" => {
                let (parent, exit) = rest.split_once('/').ok_or("parent/exit expected")?;
                self.trace.parent = Some(TraceExit { trace: trace_id(parent)?, exit: SnapId::new(int(exit)?) });
                Ok(())
            }
            "entry" => {
                self.trace.entry = slot(rest)?;
                Ok(())
            }
            "top" => {
                self.trace.top_slot = int(rest)?;
                Ok(())
            }
            "checked" => {
                self.trace.checked_slot = int(rest)?;
                Ok(())
            }
            "link" => {
                self.trace.link = link(rest)?;
                Ok(())
            }
            "transfer" => {
                self.trace.transfer = Some(transfer(rest)?);
                Ok(())
            }
            _ => self.instruction(int(word)?, rest),
        }
    }

    fn instruction(&mut self, number: usize, mut s: &str) -> Res<()> {
        if number < self.trace.ins.len() || number > MOST {
            return Err("instruction number out of order".into());
        }
        let nop = Ins::new(Op::NOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
        self.trace.ins.resize(number, nop);
        if s.contains("- LOOP -") {
            self.trace.ins.push(Ins::new(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE));
            return Ok(());
        }
        let mut flags = 0;
        while let Some(c @ ('>' | '+' | '}')) = s.chars().next() {
            flags |= match c {
                '>' => Ins::GUARD,
                '+' => Ins::PHI,
                _ => Ins::SINK,
            };
            s = s[1..].trim_start();
        }
        let all = tokens(s);
        let (&ty, &op) = (all.first().ok_or("type expected")?, all.get(1).ok_or("operation expected")?);
        let op = Op::ALL[usize::from(position(Op::NAMES, op)?)];
        let mut words = &all[2..];
        let mut ins = Ins { op, ty: type_of(ty)?, flags, a: IrRef::NONE, b: IrRef::NONE };
        for (mode, first) in [(op.mode_a(), true), (op.mode_b(), false)] {
            let r = match mode {
                Mode::Ref => {
                    let (word, more) = words.split_first().ok_or("operand expected")?;
                    words = more;
                    self.reference(word)?
                }
                Mode::Lit => {
                    let (lit, used) = literal(op, first, words)?;
                    words = &words[used..];
                    IrRef(lit)
                }
                Mode::Cst | Mode::None => continue,
            };
            if first {
                ins.a = r;
            } else {
                ins.b = r;
            }
        }
        if !words.is_empty() {
            return Err("too many operands".into());
        }
        self.trace.ins.push(ins);
        Ok(())
    }

    fn konst(&mut self, k: Const) -> Res<IrRef> {
        if let Some(found) = self.trace.consts.iter().position(|c| *c == k) {
            return Ok(IrRef::of_const(found));
        }
        if self.trace.consts.len() > MOST {
            return Err("too many constants".into());
        }
        self.trace.consts.push(k);
        Ok(IrRef::of_const(self.trace.consts.len() - 1))
    }

    fn reference(&mut self, s: &str) -> Res<IrRef> {
        if s == "----" {
            return Ok(IrRef::NONE);
        }
        if s.bytes().all(|c| c.is_ascii_digit()) {
            let number = int(s)?;
            return if number > MOST { Err(format!("'{s}' is no instruction")) } else { Ok(IrRef::of_ins(number)) };
        }
        if let Some((key, node)) = s.rsplit_once('@')
            && !node.contains('"')
        {
            let key = self.reference(key)?;
            return self.konst(Const::Slot(key, int(node)?));
        }
        let k = self.constant(s)?;
        self.konst(k)
    }

    fn constant(&mut self, s: &str) -> Res<Const> {
        let inside = |open: char, close: char| s.strip_prefix(open).and_then(|s| s.strip_suffix(close));
        Ok(match s {
            "nil" => Const::Pri(Ty::Nil),
            "false" => Const::Pri(Ty::False),
            "true" => Const::Pri(Ty::True),
            "<nil>" => Const::Vm(VmRef::NilSlot),
            "<scratch>" => Const::Vm(VmRef::Scratch),
            "<multres>" => Const::Vm(VmRef::Multres),
            "<depth>" => Const::Vm(VmRef::Depth),
            "nan" => Const::Num(f64::NAN.to_bits()),
            _ => {
                if let Some(body) = inside('"', '"') {
                    Const::Gc(self.objects.string(&unquoted(body)?))
                } else if let Some(name) = inside('{', '}') {
                    let (kind, index) = name.split_once(':').ok_or("{kind:index} expected")?;
                    Const::Gc(self.objects.object(kind, int(index)?).ok_or("no such object")?)
                } else if let Some(hex) = inside('[', ']') {
                    let hex = hex.trim_start_matches("0x");
                    Const::Ptr(u64::from_str_radix(hex, 16).map_err(|_| "hexadecimal number expected")?)
                } else if let Some(k) = s.strip_suffix("ULL") {
                    Const::Word(int(k)?, Ty::U64)
                } else if let Some(k) = s.strip_suffix("LL") {
                    Const::Word(int::<i64>(k)? as u64, Ty::I64)
                } else if let Some(ty) = s.strip_prefix("null:") {
                    Const::Null(type_of(ty)?)
                } else if s.contains(['.', 'e', 'n']) {
                    Const::Num(int::<f64>(s)?.to_bits())
                } else {
                    Const::Int(int(s)?)
                }
            }
        })
    }

    fn snapshot(&mut self, s: &str) -> Res<()> {
        let words = tokens(s);
        let [head, number, fields @ ..] = &words[..] else { return Err("SNAP expected".into()) };
        if *head != "SNAP" || *number != format!("#{}", self.trace.snaps.len()) {
            return Err("snapshot out of order".into());
        }
        let at = self.trace.next_ref();
        let mut snap = Snapshot {
            at,
            base_slot: SlotIdx::BASE,
            nslots: SlotIdx::FUNC,
            pc: BcAddr::default(),
            multres: 0,
            decides: false,
            fuel: 0,
            done: 0,
            slots: Vec::new(),
        };
        let mut in_list = false;
        for &word in fields {
            if word == "[" {
                in_list = true;
            } else if word == "]" {
                in_list = false;
            } else if in_list {
                self.snapshot_slot(&mut snap, word)?;
            } else {
                match word.split_once('=') {
                    Some(("pc", n)) => snap.pc = BcAddr::new(int(n)?),
                    Some(("base", n)) => snap.base_slot = slot(n)?,
                    Some(("mult", n)) => snap.multres = int(n)?,
                    _ => return Err(format!("unknown field '{word}'")),
                }
            }
        }
        self.trace.snaps.push(snap);
        Ok(())
    }

    fn snapshot_slot(&mut self, snap: &mut Snapshot, word: &str) -> Res<()> {
        if let Some(n) = word.strip_prefix('<')
            && n.bytes().all(|c| c.is_ascii_digit())
        {
            snap.nslots = slot(n)?;
            return Ok(());
        }
        let slot = snap.nslots;
        snap.nslots = slot.checked_add(1).ok_or("too many slots")?;
        let mut flags = 0;
        let mut value = word;
        while let Some(rest) = value.strip_suffix(['|', '^', '!', '~']) {
            let flag = value.as_bytes()[rest.len()];
            value = rest;
            flags |= match flag {
                b'|' => SnapSlot::FRAME,
                b'^' => SnapSlot::CONT,
                b'~' => SnapSlot::HELD,
                _ => SnapSlot::NORESTORE,
            };
        }
        let value = self.reference(value)?;
        if value != IrRef::NONE {
            snap.slots.push(SnapSlot { slot, flags, value });
        }
        Ok(())
    }
}

fn link(s: &str) -> Res<Link> {
    let simple = [Link::Loop, Link::TailRec, Link::UpRec, Link::DownRec, Link::Interp, Link::Return, Link::Stitch];
    match s.strip_prefix("root ") {
        Some(n) => Ok(Link::Root(trace_id(n)?)),
        None => simple.into_iter().find(|l| l.name() == s).ok_or_else(|| format!("unknown link '{s}'")),
    }
}

fn transfer(s: &str) -> Res<Transfer> {
    match tokens(s)[..] {
        ["call", func, nargs, link] => {
            Ok(Transfer::Call { func: int(func)?, nargs: int(nargs)?, link: Some(BcAddr::new(int(link)?)) })
        }
        ["tail-call", func, nargs] => Ok(Transfer::Call { func: int(func)?, nargs: int(nargs)?, link: None }),
        ["return", first, count] => Ok(Transfer::Return { first: int(first)?, count: int(count)? }),
        _ => Err("call or return expected".into()),
    }
}

fn unquoted(s: &str) -> Res<Vec<u8>> {
    let mut out = Vec::new();
    let mut bytes = s.bytes();
    while let Some(c) = bytes.next() {
        match c {
            b'\\' => match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b'x') => {
                    let hex = [bytes.next().unwrap_or(0), bytes.next().unwrap_or(0)];
                    let hex = core::str::from_utf8(&hex).map_err(|_| "bad escape")?;
                    out.push(u8::from_str_radix(hex, 16).map_err(|_| "bad escape")?);
                }
                Some(c) => out.push(c),
                None => return Err("bad escape".into()),
            },
            c => out.push(c),
        }
    }
    Ok(out)
}

/// A literal operand, and how many words it takes.
fn literal(op: Op, first: bool, words: &[&str]) -> Res<(u16, usize)> {
    let word = words.first().copied();
    let number = |s: &str| int::<u16>(s.strip_prefix('#').ok_or_else(|| format!("# expected in '{s}'"))?);
    let need = || word.ok_or("operand expected");
    let one = |r: Res<u16>| r.map(|n| (n, 1));
    match (op, first) {
        (Op::SLOAD, false) => flags(&SLOAD_FLAGS, word),
        (Op::XLOAD, false) => flags(&XLOAD_FLAGS, word),
        (Op::FLOAD | Op::FREF, false) => one(position(Field::NAMES, need()?)),
        (Op::CALLN | Op::CALLA | Op::CALLL | Op::CALLS, false) => one(position(Helper::NAMES, need()?)),
        (Op::FPMATH, false) => one(position(&FpMath::NAMES, need()?)),
        (Op::TOSTR, false) => one(position(&TOSTR_KINDS, need()?)),
        (Op::UREFO | Op::UREFC, false) => {
            let (index, joined) = need()?.strip_suffix('J').map_or((need()?, 0), |index| (index, uref::JOINED));
            one(Ok(number(index)? << 8 | joined))
        }
        (Op::CONV, false) => conversion(words),
        _ => one(number(need()?)),
    }
}

/// Flags by their letters; no word if none is set.
fn flags(names: &[(u16, char)], word: Option<&str>) -> Res<(u16, usize)> {
    let mut flags = 0;
    for c in word.unwrap_or("").chars() {
        flags |= names.iter().find(|f| f.1 == c).ok_or_else(|| format!("unknown flag '{c}'"))?.0;
    }
    Ok((flags, usize::from(word.is_some())))
}

fn conversion(words: &[&str]) -> Res<(u16, usize)> {
    let (dst, src) = words.first().and_then(|s| s.split_once('.')).ok_or("dst.src expected")?;
    let mut lit = conv::pack(type_of(dst)?, type_of(src)?, 0);
    for word in &words[1..] {
        lit |= match *word {
            "sext" => conv::SEXT,
            "none" => conv::NONE,
            "index" => conv::INDEX,
            "check" => conv::CHECK,
            "bits" => conv::BITS,
            _ => return Err(format!("unknown mode '{word}'")),
        };
    }
    Ok((lit, words.len()))
}
