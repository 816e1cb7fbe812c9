//! The function under construction: instructions, jump lists, registers and constants.

use super::Parser;
use super::error::SyntaxError;
use super::fields::NewTable;
use super::scope::{GotoLabel, Scope, UvRef, Var};
use crate::bc::{Ins, KGc, KNum, Op, ProtoData, TableTemplate};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The end of a jump list.
pub(super) const NO_JMP: u32 = u32::MAX;
/// No register: the destination of a test whose value is not needed.
pub(super) const NO_REG: u8 = 255;
/// Most slots of a frame.
const MAX_SLOTS: u32 = 250;
/// Largest D operand.
const MAX_D: u32 = 0xffff;
/// Most instructions of a function.
const MAX_INS: u32 = 1 << 26;

/// An instruction and its line.
#[derive(Copy, Clone)]
pub(super) struct Line {
    pub(super) ins: Ins,
    pub(super) line: u32,
}

/// The constants of a function.
#[derive(Default)]
pub(super) struct Constants {
    /// Strings, prototypes and table templates.
    objects: Vec<KGc>,
    /// Index of each string. Ordered, so that its memory is freed in the same order in every run: hot counters depend on where code is.
    strings: HashMap<Rc<[u8]>, u32, RandomState>,
    numbers: Vec<KNum>,
    /// Index of each number: whether it is an integer, and its bits.
    number_index: BTreeMap<(bool, u64), u32>,
}

/// The upvalues of a function.
#[derive(Default)]
pub(super) struct Upvalues {
    /// Which variable (level, index) each one is.
    pub(super) vars: Vec<(u32, u32)>,
    /// Where each one comes from.
    pub(super) refs: Vec<UvRef>,
    pub(super) names: Vec<Box<[u8]>>,
    /// Upvalues of child prototypes, by index of their constant.
    pub(super) of_children: Vec<(u32, Vec<UvRef>)>,
}

/// The local variables of a function, with its labels and gotos.
#[derive(Default)]
pub(super) struct Locals {
    pub(super) scopes: Vec<Scope>,
    /// All variables in order of declaration.
    pub(super) all: Vec<Var>,
    /// Active and newly declared variables: indices into `all`.
    pub(super) map: Vec<u32>,
    /// Number of active variables; each is in the slot of its number.
    pub(super) active: u32,
    /// Gotos that have no label yet, and labels.
    pub(super) gotos: Vec<GotoLabel>,
    /// Number of variables, gotos and labels of the functions around it.
    pub(super) outside: u32,
}

/// The state of the compilation of one function.
#[derive(Default)]
pub(super) struct FuncState {
    pub(super) bc: Vec<Line>,
    /// The latest position known to be the target of a jump.
    pub(super) last_target: u32,
    /// Jumps to the next instruction, not yet patched.
    pub(super) jpc: u32,
    pub(super) free_reg: u32,
    pub(super) framesize: u32,
    pub(super) consts: Constants,
    pub(super) upvalues: Upvalues,
    pub(super) locals: Locals,
    /// New tables whose fields are counted, by slot.
    pub(super) new_tables: Vec<NewTable>,
    pub(super) first_line: u32,
    pub(super) num_params: u8,
    pub(super) is_vararg: bool,
    pub(super) has_child: bool,
    pub(super) has_return: bool,
    /// Returns in front of the first child function lack their UCLO.
    pub(super) fixup_return: bool,
}

impl FuncState {
    /// An empty function that starts at a line (0 for a main chunk).
    #[inline(never)]
    pub(super) fn new(first_line: u32) -> Box<FuncState> {
        Box::new(FuncState { jpc: NO_JMP, framesize: 1, first_line, ..FuncState::default() })
    }
    /// Position of the next instruction.
    pub(super) fn pc(&self) -> u32 {
        self.bc.len() as u32
    }
    /// The instruction at a position.
    pub(super) fn ins(&self, pc: u32) -> Ins {
        self.bc[pc as usize].ins
    }
    /// The same instruction, to be changed.
    pub(super) fn ins_mut(&mut self, pc: u32) -> &mut Ins {
        &mut self.bc[pc as usize].ins
    }
    /// The jump after `pc` in its list.
    pub(super) fn jmp_next(&self, pc: u32) -> u32 {
        match self.ins(pc).j() {
            -1 => NO_JMP,
            delta => (pc as i32 + 1 + delta) as u32,
        }
    }
    /// Does the list have a jump that does not produce a value?
    pub(super) fn jmp_novalue(&self, mut list: u32) -> bool {
        while list != NO_JMP {
            let test = self.ins(list.saturating_sub(1));
            if !(matches!(test.op(), Op::ISTC | Op::ISFC) || test.a() == NO_REG as usize) {
                return true;
            }
            list = self.jmp_next(list);
        }
        false
    }
    /// Makes the test of a jump store its value into a register; false if it has none.
    fn jmp_patchtestreg(&mut self, pc: u32, reg: u8) -> bool {
        let at = pc.saturating_sub(1);
        let test = self.ins(at);
        match test.op() {
            op @ (Op::ISTC | Op::ISFC) => {
                if reg != NO_REG && reg as usize != test.d() {
                    *self.ins_mut(at) = test.with_a(reg);
                } else {
                    let plain = if op == Op::ISTC { Op::IST } else { Op::ISF };
                    *self.ins_mut(at) = test.with_op(plain).with_a(0);
                }
                true
            }
            _ if test.a() == NO_REG as usize => {
                let jump = self.ins(pc);
                if reg == NO_REG {
                    *self.ins_mut(at) = Ins::aj(Op::JMP, jump.a() as u8, 0);
                } else {
                    *self.ins_mut(at) = test.with_a(reg);
                    if reg as usize >= jump.a() {
                        *self.ins_mut(pc) = jump.with_a(reg + 1);
                    }
                }
                true
            }
            _ => false,
        }
    }
    /// Drops the values of a jump list.
    pub(super) fn jmp_dropval(&mut self, mut list: u32) {
        while list != NO_JMP {
            self.jmp_patchtestreg(list, NO_REG);
            list = self.jmp_next(list);
        }
    }
    /// The index of a number constant.
    fn number(&mut self, n: KNum) -> u32 {
        let key = match n {
            KNum::Int(i) => (true, i as u32 as u64),
            KNum::Num(x) => (false, x.to_bits()),
        };
        let next = self.consts.numbers.len() as u32;
        let index = *self.consts.number_index.entry(key).or_insert(next);
        if index == next {
            self.consts.numbers.push(n);
        }
        index
    }
    /// Releases a register if it is a temporary.
    pub(super) fn reg_free(&mut self, reg: u8) {
        if reg as u32 >= self.locals.active {
            self.free_reg = self.free_reg.saturating_sub(1);
        }
    }
    /// The string constant of an index.
    pub(super) fn string_at(&self, index: usize) -> Option<&[u8]> {
        match self.consts.objects.get(index) {
            Some(KGc::Str(s)) => Some(s),
            _ => None,
        }
    }
    /// Puts the finished template of a table constructor into its constant.
    pub(super) fn set_template(&mut self, index: u32, table: TableTemplate) {
        self.consts.objects[index as usize] = KGc::Table(table);
    }
    /// The index of a new object constant. None if there is no room for it.
    pub(super) fn add_object(&mut self, k: KGc) -> Option<u16> {
        let index = self.consts.objects.len();
        if index > MAX_D as usize {
            return None;
        }
        self.consts.objects.push(k);
        Some(index as u16)
    }
    /// The finished prototype, and the sources of its upvalues.
    #[inline(never)]
    pub(super) fn into_proto(mut self: Box<Self>, last_line: u32, chunkname: Rc<[u8]>) -> (ProtoData, Vec<UvRef>) {
        let header = if self.is_vararg { Op::FUNCV } else { Op::FUNCF };
        if let Some(first) = self.bc.first_mut() {
            *first = Line { ins: Ins::ad(header, self.framesize as u8, 0), line: self.first_line };
        }
        for (index, refs) in core::mem::take(&mut self.upvalues.of_children) {
            let upvalues = refs.iter().map(|r| r.describe(&self.locals.all)).collect();
            if let Some(KGc::Proto(child)) = self.consts.objects.get_mut(index as usize) {
                child.upvalues = upvalues;
            }
        }
        let proto = ProtoData {
            bc: self.bc.iter().map(|l| l.ins).collect(),
            kgc: self.consts.objects,
            knum: self.consts.numbers,
            upvalues: Vec::new(),
            num_params: self.num_params,
            framesize: self.framesize as u8,
            is_vararg: self.is_vararg,
            has_children: self.has_child,
            first_line: self.first_line,
            last_line,
            lines: self.bc.iter().map(|l| l.line).collect(),
            chunkname,
            uv_names: self.upvalues.names,
            vars: self.locals.all.into_iter().map(Var::into_info).collect(),
        };
        (proto, self.upvalues.refs)
    }
}

/// Emission that may fail with a syntax error.
impl Parser<'_> {
    /// Appends an instruction and returns its position.
    pub(super) fn emit(&mut self, ins: Ins) -> Result<u32, SyntaxError> {
        let pc = self.fs.pc();
        let jpc = core::mem::replace(&mut self.fs.jpc, NO_JMP);
        self.jmp_patchval(jpc, pc, NO_REG, pc)?;
        if pc >= MAX_INS {
            return Err(self.err_limit(MAX_INS, "bytecode instructions"));
        }
        self.fs.bc.push(Line { ins, line: self.last_line });
        Ok(pc)
    }
    /// Appends an instruction with A, B and C.
    pub(super) fn emit_abc(&mut self, op: Op, a: u8, b: u8, c: u8) -> Result<u32, SyntaxError> {
        self.emit(Ins::abc(op, a, b, c))
    }
    /// Appends an instruction with A and D.
    pub(super) fn emit_ad(&mut self, op: Op, a: u8, d: u16) -> Result<u32, SyntaxError> {
        self.emit(Ins::ad(op, a, d))
    }
    /// Appends an instruction with A and a jump; -1 starts a list.
    pub(super) fn emit_aj(&mut self, op: Op, a: u8, offset: i32) -> Result<u32, SyntaxError> {
        self.emit(Ins::aj(op, a, offset))
    }
    /// Appends a jump, or turns a preceding UCLO into one.
    pub(super) fn emit_jmp(&mut self) -> Result<u32, SyntaxError> {
        let jpc = core::mem::replace(&mut self.fs.jpc, NO_JMP);
        let pc = self.fs.pc();
        let mut j = pc.saturating_sub(1);
        if pc > 0 && j >= self.fs.last_target && self.fs.ins(j).op() == Op::UCLO {
            let a = self.fs.ins(j).a() as u8;
            *self.fs.ins_mut(j) = Ins::aj(Op::UCLO, a, -1);
            self.fs.last_target = pc;
        } else {
            j = self.emit_aj(Op::JMP, self.fs.free_reg as u8, -1)?;
        }
        self.jmp_append(&mut j, jpc)?;
        Ok(j)
    }
    /// Sets the target of a jump.
    pub(super) fn jmp_patchins(&mut self, pc: u32, dest: u32) -> Result<(), SyntaxError> {
        let offset = dest as i64 - (pc as i64 + 1) + 0x8000;
        if !(0..=MAX_D as i64).contains(&offset) {
            return Err(self.err_tok("control structure too long"));
        }
        let ins = self.fs.ins(pc);
        *self.fs.ins_mut(pc) = ins.with_d(offset as u16);
        Ok(())
    }
    /// Joins two jump lists. Their order does not matter, except that a single jump stays in front. The end of the shorter one is searched,
    /// so that a list that grows by single jumps takes linear time.
    pub(super) fn jmp_append(&mut self, first: &mut u32, second: u32) -> Result<(), SyntaxError> {
        if second == NO_JMP {
            return Ok(());
        }
        if *first == NO_JMP {
            *first = second;
            return Ok(());
        }
        let (mut a, mut b) = (*first, second);
        loop {
            let (next_a, next_b) = (self.fs.jmp_next(a), self.fs.jmp_next(b));
            if next_a == NO_JMP {
                return self.jmp_patchins(a, second);
            }
            if next_b == NO_JMP {
                let rest = core::mem::replace(first, second);
                return self.jmp_patchins(b, rest);
            }
            (a, b) = (next_a, next_b);
        }
    }
    /// Patches a list: jumps with a value store it into `reg` and go to `vtarget`, the others to `dtarget`.
    pub(super) fn jmp_patchval(&mut self, list: u32, vtarget: u32, reg: u8, dtarget: u32) -> Result<(), SyntaxError> {
        let mut list = list;
        while list != NO_JMP {
            let next = self.fs.jmp_next(list);
            let target = if self.fs.jmp_patchtestreg(list, reg) { vtarget } else { dtarget };
            self.jmp_patchins(list, target)?;
            list = next;
        }
        Ok(())
    }
    /// Makes a list jump to the next instruction.
    pub(super) fn jmp_tohere(&mut self, list: u32) -> Result<(), SyntaxError> {
        self.fs.last_target = self.fs.pc();
        let mut jpc = self.fs.jpc;
        self.jmp_append(&mut jpc, list)?;
        self.fs.jpc = jpc;
        Ok(())
    }
    /// Makes a list jump to a target.
    pub(super) fn jmp_patch(&mut self, list: u32, target: u32) -> Result<(), SyntaxError> {
        if target == self.fs.pc() { self.jmp_tohere(list) } else { self.jmp_patchval(list, target, NO_REG, target) }
    }
    /// Makes sure that the frame has room for `n` more slots.
    pub(super) fn reg_bump(&mut self, n: u32) -> Result<(), SyntaxError> {
        let size = self.fs.free_reg + n;
        if size > self.fs.framesize {
            if size >= MAX_SLOTS {
                return Err(self.err_tok("function or expression too complex"));
            }
            self.fs.framesize = size;
        }
        Ok(())
    }
    /// Reserves `n` registers; the first is returned.
    pub(super) fn reg_reserve(&mut self, n: u32) -> Result<u8, SyntaxError> {
        self.reg_bump(n)?;
        let first = self.fs.free_reg as u8;
        self.fs.free_reg += n;
        Ok(first)
    }
    /// Checks the index of a constant.
    fn const_index(&self, index: u32) -> Result<u16, SyntaxError> {
        if index > MAX_D { Err(self.err_limit(MAX_D + 1, "constants")) } else { Ok(index as u16) }
    }
    /// The index of a string constant.
    pub(super) fn const_str(&mut self, s: &Rc<[u8]>) -> Result<u16, SyntaxError> {
        let index = match self.fs.consts.strings.get(s) {
            Some(&index) => index,
            None => {
                let index = self.fs.consts.objects.len() as u32;
                self.fs.consts.objects.push(KGc::Str(Box::from(&s[..])));
                self.fs.consts.strings.insert(s.clone(), index);
                index
            }
        };
        self.const_index(index)
    }
    /// The index of a new constant of another kind.
    pub(super) fn const_gc(&mut self, k: KGc) -> Result<u16, SyntaxError> {
        self.fs.add_object(k).ok_or_else(|| self.err_limit(MAX_D + 1, "constants"))
    }
    /// The index of a number constant.
    pub(super) fn const_num(&mut self, n: KNum) -> Result<u16, SyntaxError> {
        let index = self.fs.number(n);
        self.const_index(index)
    }
    /// Sets `n` slots to nil; merged with a preceding instruction that sets slots to nil.
    pub(super) fn emit_nil(&mut self, from: u8, n: u32) -> Result<(), SyntaxError> {
        let (first, pc) = (from as u32, self.fs.pc());
        let last = first + n - 1;
        if pc > self.fs.last_target && pc > 0 {
            let prev = self.fs.ins(pc - 1);
            let pfrom = prev.a() as u32;
            match prev.op() {
                Op::KPRI if prev.d() == 0 && (first == pfrom || first == pfrom + 1) => {
                    if last > pfrom {
                        *self.fs.ins_mut(pc - 1) = Ins::ad(Op::KNIL, pfrom as u8, last as u16);
                    }
                    return Ok(());
                }
                Op::KNIL if pfrom <= first && first <= prev.d() as u32 + 1 => {
                    *self.fs.ins_mut(pc - 1) = prev.with_d(last.max(prev.d() as u32) as u16);
                    return Ok(());
                }
                _ => {}
            }
        }
        if n == 1 {
            self.emit_ad(Op::KPRI, from, 0)?;
        } else {
            self.emit_ad(Op::KNIL, from, last as u16)?;
        }
        Ok(())
    }
}
