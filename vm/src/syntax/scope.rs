//! Scopes: local variables, upvalues, labels and gotos.

use super::emit::{FuncState, NO_JMP};
use super::error::SyntaxError;
use super::expr::{Exp, Kind};
use super::lex::Tok;
use super::{Parser, quoted};
use crate::bc::{Ins, Op, UvDesc, VarInfo};
use core::ops::Range;
use std::rc::Rc;

/// Most local variables of a function.
const MAX_LOCALS: u32 = 200;
/// Most upvalues of a function.
const MAX_UPVALUES: usize = 60;
/// Most variables, gotos and labels of the functions under construction.
const MAX_CHUNK_VARS: u32 = 65536 - MAX_UPVALUES as u32;

/// A local variable.
pub(super) struct Var {
    pub(super) name: Rc<[u8]>,
    pub(super) slot: u8,
    pub(super) start_pc: u32,
    pub(super) end_pc: u32,
    /// Assigned after its declaration.
    pub(super) written: bool,
    /// Declared by `const`.
    pub(super) constant: bool,
}

impl Var {
    /// Its debug information.
    pub(super) fn into_info(self) -> VarInfo {
        VarInfo { name: Box::from(&self.name[..]), start_pc: self.start_pc, end_pc: self.end_pc }
    }
}

/// Where an upvalue comes from, before the parent is finished.
#[derive(Copy, Clone)]
pub(super) enum UvRef {
    /// A local of the parent: index of the variable.
    Local(u32),
    /// An upvalue of the parent.
    Outer(u8),
}

impl UvRef {
    /// The final description, given the parent's variables.
    pub(super) fn describe(self, vars: &[Var]) -> UvDesc {
        match self {
            UvRef::Outer(index) => UvDesc { local: false, immutable: false, index },
            UvRef::Local(var) => {
                let var = &vars[var as usize];
                UvDesc { local: true, immutable: !var.written, index: var.slot }
            }
        }
    }
}

/// A block.
#[derive(Copy, Clone, Default)]
pub(super) struct Scope {
    /// Active locals at its start.
    nactvar: u32,
    /// Its first goto or label.
    first_gola: usize,
    /// Is it the scope that a `break` leaves?
    is_loop: bool,
    has_break: bool,
    has_continue: bool,
    has_gola: bool,
    /// Is one of its locals captured?
    pub(super) has_upval: bool,
    /// Does it not close its upvalues?
    no_close: bool,
}

/// The target of a jump in the source.
#[derive(Clone, PartialEq)]
enum Dest {
    /// After the loop.
    Break,
    /// The next iteration of the loop.
    Continue,
    Label(Rc<[u8]>),
}

/// A goto (or break or continue) that is not yet resolved, or a label.
#[derive(Clone)]
pub(super) struct GotoLabel {
    /// `None` once it is resolved or out of scope.
    dest: Option<Dest>,
    pc: u32,
    /// Active locals there.
    slot: u32,
    is_label: bool,
}

impl FuncState {
    /// The innermost scope.
    pub(super) fn scope(&mut self) -> Option<&mut Scope> {
        self.locals.scopes.last_mut()
    }
    /// The active local with a name. The same name is the same object.
    fn find_local(&self, name: &Rc<[u8]>) -> Option<u32> {
        let active = &self.locals.map[..self.locals.active as usize];
        active.iter().rposition(|&v| Rc::ptr_eq(&self.locals.all[v as usize].name, name)).map(|i| i as u32)
    }
    /// Notes that the scope of a local has a captured variable.
    fn mark_captured(&mut self, slot: u32) {
        if let Some(scope) = self.locals.scopes.iter_mut().rev().find(|s| s.nactvar <= slot) {
            scope.has_upval = true;
        }
    }
    /// The name of an active local.
    pub(super) fn local_name(&self, slot: usize) -> Option<&[u8]> {
        self.locals.map.get(slot).map(|&v| &*self.locals.all[v as usize].name)
    }
    /// Opens a scope.
    pub(super) fn scope_begin(&mut self, is_loop: bool) {
        let scope = Scope { nactvar: self.locals.active, first_gola: self.locals.gotos.len(), is_loop, ..Scope::default() };
        self.locals.scopes.push(scope);
    }
    /// Ends the lifetime of the locals from a level on.
    fn var_remove(&mut self, level: u32) {
        let pc = self.pc();
        self.settle_tables(level);
        while self.locals.active > level {
            self.locals.active -= 1;
            let var = self.locals.map[self.locals.active as usize];
            self.locals.all[var as usize].end_pc = pc;
        }
    }
    /// Makes `n` declared locals active.
    pub(super) fn var_add(&mut self, n: u32) {
        let pc = self.pc();
        for _ in 0..n {
            let var = self.locals.map[self.locals.active as usize];
            let var = &mut self.locals.all[var as usize];
            var.start_pc = pc;
            var.slot = self.locals.active as u8;
            self.locals.active += 1;
        }
    }
    /// Adds a goto or label here.
    fn gola_new(&mut self, dest: Dest, is_label: bool, pc: u32) -> usize {
        self.locals.gotos.push(GotoLabel { dest: Some(dest), pc, slot: self.locals.active, is_label });
        self.locals.gotos.len() - 1
    }
    /// Number of variables, gotos and labels.
    pub(super) fn num_vars(&self) -> u32 {
        (self.locals.all.len() + self.locals.gotos.len()) as u32
    }
    /// The label with a name in the innermost scope.
    fn find_label(&self, name: &[u8]) -> Option<&GotoLabel> {
        let first = self.locals.scopes.last().map_or(0, |s| s.first_gola);
        self.locals.gotos[first..].iter().find(|g| g.is_label && matches!(&g.dest, Some(Dest::Label(l)) if **l == *name))
    }
    /// Notes that the innermost scope has gotos or labels.
    fn mark_gola(&mut self) {
        if let Some(scope) = self.scope() {
            scope.has_gola = true;
        }
    }
}

/// Variables.
impl Parser<'_> {
    /// Declares the `n`th new local.
    pub(super) fn var_new(&mut self, n: u32, name: Rc<[u8]>) -> Result<(), SyntaxError> {
        self.check_redeclared(0..self.fs.locals.active, &name)?;
        let at = self.fs.locals.active + n;
        if at >= MAX_LOCALS {
            return Err(self.err_limit(MAX_LOCALS, "local variables"));
        }
        self.check_chunk_vars()?;
        self.fs.locals.map.truncate(at as usize);
        self.fs.locals.map.push(self.fs.locals.all.len() as u32);
        self.fs.locals.all.push(Var { name, slot: 0, start_pc: 0, end_pc: 0, written: false, constant: false });
        Ok(())
    }
    /// Reports a chunk with too many variables, gotos and labels.
    fn check_chunk_vars(&self) -> Result<(), SyntaxError> {
        if self.fs.locals.outside + self.fs.num_vars() < MAX_CHUNK_VARS {
            return Ok(());
        }
        Err(self.err_plain(format!("chunk has more than {MAX_CHUNK_VARS} local variables")))
    }
    /// Makes the `n`th new local a constant.
    pub(super) fn set_constant(&mut self, n: u32, constant: bool) {
        self.consts |= constant;
        let var = self.fs.locals.map[(self.fs.locals.active + n) as usize];
        self.fs.locals.all[var as usize].constant = constant;
    }
    /// Reports a name that is a constant's: in these slots of the innermost function, or in a function around it.
    pub(super) fn check_redeclared(&self, slots: Range<u32>, name: &[u8]) -> Result<(), SyntaxError> {
        if !self.consts {
            return Ok(());
        }
        let is_const = |fs: &FuncState, v: u32| fs.locals.all[v as usize].constant && *fs.locals.all[v as usize].name == *name;
        let inner = self.fs.locals.map[slots.start as usize..slots.end as usize].iter().any(|&v| is_const(&self.fs, v));
        let around = |fs: &FuncState| fs.locals.map[..fs.locals.active as usize].iter().any(|&v| is_const(fs, v));
        if !inner && !self.outer.iter().any(|fs| around(fs)) {
            return Ok(());
        }
        Err(self.err_name("attempt to re-declare const variable", name))
    }
    /// Declares a hidden local.
    pub(super) fn var_new_fixed(&mut self, n: u32, name: &str) -> Result<(), SyntaxError> {
        let name = self.lex.name(name.as_bytes());
        self.var_new(n, name)
    }
    /// The function of a level: the outermost is 0.
    pub(super) fn level_mut(&mut self, level: usize) -> &mut FuncState {
        if level < self.outer.len() { &mut self.outer[level] } else { &mut self.fs }
    }
    /// The variable that a name refers to.
    #[inline(never)]
    pub(super) fn var_lookup(&mut self, name: Rc<[u8]>) -> Result<Exp, SyntaxError> {
        let top = self.outer.len();
        if let Some(slot) = self.fs.find_local(&name) {
            return Ok(Exp::new(Kind::Local { reg: slot as u8, var: self.fs.locals.map[slot as usize] }));
        }
        let found = (0..top).rev().find_map(|l| self.outer[l].find_local(&name).map(|slot| (l, slot)));
        let Some((level, slot)) = found else { return Ok(Exp::new(Kind::Global(name))) };
        self.outer[level].mark_captured(slot);
        let var = (level as u32, self.outer[level].locals.map[slot as usize]);
        // The error names the innermost function that has no room for the upvalue.
        for l in (level + 1..=top).rev() {
            let fs = self.level_mut(l);
            if fs.upvalues.vars.contains(&var) {
                break;
            }
            if fs.upvalues.vars.len() >= MAX_UPVALUES {
                let line = fs.first_line;
                return Err(self.err_limit_at(line, MAX_UPVALUES as u32, "upvalues"));
            }
        }
        let mut from = UvRef::Local(var.1);
        let mut index = 0;
        for l in level + 1..=top {
            index = self.upvalue_in(l, var, from, &name);
            from = UvRef::Outer(index);
        }
        Ok(Exp::new(Kind::Upval { index, var }))
    }
    /// The upvalue of a variable in the function of a level, made if it does not exist.
    fn upvalue_in(&mut self, level: usize, var: (u32, u32), from: UvRef, name: &[u8]) -> u8 {
        let fs = self.level_mut(level);
        if let Some(index) = fs.upvalues.vars.iter().position(|&v| v == var) {
            return index as u8;
        }
        let index = fs.upvalues.vars.len();
        fs.upvalues.vars.push(var);
        fs.upvalues.refs.push(from);
        fs.upvalues.names.push(Box::from(name));
        index as u8
    }
    /// Notes that a variable is assigned.
    pub(super) fn mark_written(&mut self, var: (u32, u32)) {
        self.level_mut(var.0 as usize).locals.all[var.1 as usize].written = true;
    }
}

/// Ends of scopes, labels and gotos.
impl Parser<'_> {
    /// Closes the innermost scope.
    #[inline(never)]
    pub(super) fn scope_end(&mut self) -> Result<(), SyntaxError> {
        let Some(scope) = self.fs.locals.scopes.pop() else { return Ok(()) };
        self.fs.var_remove(scope.nactvar);
        self.fs.free_reg = self.fs.locals.active;
        if scope.has_upval && !scope.no_close {
            self.emit_aj(Op::UCLO, scope.nactvar as u8, 0)?;
        }
        if scope.has_break && scope.is_loop {
            self.check_chunk_vars()?;
            let label = GotoLabel { dest: Some(Dest::Break), pc: self.fs.pc(), slot: self.fs.locals.active, is_label: true };
            self.gola_resolve(scope.first_gola, &label, self.fs.locals.gotos.len())?;
        }
        if scope.has_gola || scope.has_continue || (scope.has_break && !scope.is_loop) {
            self.gola_fixup(&scope)?;
        }
        Ok(())
    }
    /// The next iteration of the loop starts here, or at `pc`.
    pub(super) fn continue_label(&mut self, pc: u32) -> Result<(), SyntaxError> {
        let slot = self.fs.locals.active;
        let Some(scope) = self.fs.scope() else { return Ok(()) };
        if !core::mem::take(&mut scope.has_continue) {
            return Ok(());
        }
        let first = scope.first_gola;
        self.check_chunk_vars()?;
        let label = GotoLabel { dest: Some(Dest::Continue), pc, slot, is_label: true };
        self.gola_resolve(first, &label, self.fs.locals.gotos.len())
    }
    /// Closes the outermost scope of a function, whose return closes the upvalues.
    pub(super) fn scope_end_noclose(&mut self) -> Result<(), SyntaxError> {
        if let Some(scope) = self.fs.scope() {
            scope.no_close = true;
        }
        self.scope_end()
    }
    /// Makes a goto jump to its label.
    fn gola_patch(&mut self, goto: usize, slot: u32, target: u32) -> Result<(), SyntaxError> {
        let pc = self.fs.locals.gotos[goto].pc;
        self.fs.locals.gotos[goto].dest = None;
        let ins = self.fs.ins(pc);
        *self.fs.ins_mut(pc) = ins.with_a(slot as u8);
        self.jmp_patch(pc, target)
    }
    /// Makes a goto close upvalues.
    fn gola_close(&mut self, goto: usize) -> Result<(), SyntaxError> {
        let GotoLabel { pc, slot, .. } = self.fs.locals.gotos[goto];
        let ins = self.fs.ins(pc).with_a(slot as u8);
        *self.fs.ins_mut(pc) = ins;
        if ins.op() == Op::JMP {
            let next = self.fs.jmp_next(pc);
            if next != NO_JMP {
                self.jmp_patch(next, pc)?;
            }
            *self.fs.ins_mut(pc) = Ins::aj(Op::UCLO, slot as u8, -1);
        }
        Ok(())
    }
    /// Resolves the pending gotos of a scope to a new label.
    fn gola_resolve(&mut self, first: usize, label: &GotoLabel, end: usize) -> Result<(), SyntaxError> {
        for goto in first..end {
            let g = &self.fs.locals.gotos[goto];
            if g.is_label || g.dest.is_none() || g.dest != label.dest {
                continue;
            }
            if g.slot < label.slot {
                let local = self.fs.local_name(g.slot as usize).unwrap_or(b"?");
                let jump = match &g.dest {
                    Some(Dest::Label(name)) => [b"<goto ", &**name].concat(),
                    _ => b"<continue".to_vec(),
                };
                let msg = quoted("> jumps into the scope of local", local);
                return Err(self.err_line(self.fs.bc[g.pc as usize].line, [jump, msg].concat()));
            }
            self.gola_patch(goto, label.slot, label.pc)?;
        }
        Ok(())
    }
    /// Resolves backward gotos of a closed scope and passes the others to the enclosing one.
    fn gola_fixup(&mut self, scope: &Scope) -> Result<(), SyntaxError> {
        let end = self.fs.locals.gotos.len();
        for at in scope.first_gola..end {
            let GotoLabel { dest, pc, slot, is_label } = self.fs.locals.gotos[at].clone();
            let Some(dest) = dest else { continue };
            if is_label {
                self.fs.locals.gotos[at].dest = None;
                for goto in at + 1..end {
                    let g = &self.fs.locals.gotos[goto];
                    if g.is_label || g.dest.as_ref() != Some(&dest) {
                        continue;
                    }
                    if scope.has_upval && g.slot > slot {
                        self.gola_close(goto)?;
                    }
                    self.gola_patch(goto, slot, pc)?;
                }
                continue;
            }
            let Some(outer) = self.fs.scope() else {
                let line = self.fs.bc[pc as usize].line;
                let msg = match dest {
                    Dest::Break => b"no loop to break".to_vec(),
                    Dest::Continue => b"no loop to continue".to_vec(),
                    Dest::Label(name) => quoted("undefined label", &name),
                };
                return Err(self.err_line(line, msg));
            };
            match dest {
                Dest::Break => outer.has_break = true,
                Dest::Continue => outer.has_continue = true,
                Dest::Label(_) => outer.has_gola = true,
            }
            self.fs.locals.gotos[at].slot = scope.nactvar;
            if scope.has_upval {
                self.gola_close(at)?;
            }
        }
        Ok(())
    }
    /// `break`.
    pub(super) fn parse_break(&mut self) -> Result<(), SyntaxError> {
        if let Some(scope) = self.fs.scope() {
            scope.has_break = true;
        }
        self.gola_jump(Dest::Break)
    }
    /// `continue`.
    pub(super) fn parse_continue(&mut self) -> Result<(), SyntaxError> {
        if let Some(scope) = self.fs.scope() {
            scope.has_continue = true;
        }
        self.gola_jump(Dest::Continue)
    }
    /// A jump whose target is not known yet.
    #[inline(never)]
    fn gola_jump(&mut self, dest: Dest) -> Result<(), SyntaxError> {
        let pc = self.emit_jmp()?;
        self.check_chunk_vars()?;
        self.fs.gola_new(dest, false, pc);
        Ok(())
    }
    /// `goto name`, after the keyword.
    #[inline(never)]
    pub(super) fn parse_goto(&mut self) -> Result<(), SyntaxError> {
        let name = self.lex_name()?;
        if let Some(label) = self.fs.find_label(&name) {
            // A backward goto within the scope counts as a loop.
            let slot = label.slot as u8;
            self.emit_aj(Op::LOOP, slot, -1)?;
        }
        self.fs.mark_gola();
        self.gola_jump(Dest::Label(name))
    }
    /// `::name::`.
    #[inline(never)]
    pub(super) fn parse_label(&mut self) -> Result<(), SyntaxError> {
        self.fs.last_target = self.fs.pc();
        self.fs.mark_gola();
        self.advance()?;
        let name = self.lex_name()?;
        if self.fs.find_label(&name).is_some() {
            return Err(self.err_name("duplicate label", &name));
        }
        self.check_chunk_vars()?;
        let label = self.fs.gola_new(Dest::Label(name), true, self.fs.pc());
        self.check(&Tok::Label)?;
        if self.tok == Tok::Label {
            self.enter()?;
            self.parse_label()?;
            self.leave();
        }
        let scope = self.fs.locals.scopes.last().copied().unwrap_or_default();
        if self.end_of_block() && self.tok != Tok::Until {
            self.fs.locals.gotos[label].slot = scope.nactvar;
        }
        let resolved = self.fs.locals.gotos[label].clone();
        self.gola_resolve(scope.first_gola, &resolved, label)
    }
}
