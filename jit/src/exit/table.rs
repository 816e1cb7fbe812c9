//! The exits of all traces by id, and the tables by which the VM and compiled code leave through them.

use super::descriptor::ExitDescriptor;
use crate::trace::tables::MAX_EXITS;
use core::ops::Range;
use perilune_backend::code::Ranges;
use perilune_vm::hooks::PlainExit;
use perilune_vm::{ExitId, Vm};

/// The exits of all traces. [`perilune_vm::state::CompiledState`] points to three of the tables.
#[derive(Debug)]
pub struct ExitTable {
    /// What the runtime needs for an exit, by id.
    descriptors: Vec<Option<ExitDescriptor>>,
    /// How often the interpreter may take an exit by itself, by id.
    pub(super) plain: Vec<PlainExit>,
    /// The code that an exit leads to, by id: its side trace, or the exit stub. Never reallocated.
    code: Vec<usize>,
    /// The exit stub for each exit, for a VM whose compiled code may be asked to leave; empty until then.
    leaving: Vec<usize>,
    /// Ids in use.
    ids: Ranges,
    /// One more than the highest id that was ever used.
    pub most: usize,
    /// Exits of removed traces that the interpreter took by itself and that nobody has counted.
    pub taken_before: u64,
}

impl ExitTable {
    /// No exits; `code` has [`MAX_EXITS`] zeros.
    pub fn new(code: Vec<usize>) -> ExitTable {
        ExitTable {
            descriptors: Vec::new(),
            plain: Vec::new(),
            code,
            leaving: Vec::new(),
            ids: Ranges::new(MAX_EXITS),
            most: 0,
            taken_before: 0,
        }
    }
    /// Takes back what [`ExitTable::new`] was given.
    pub fn take_code(&mut self) -> Vec<usize> {
        core::mem::take(&mut self.code)
    }
    /// Points a VM to the code of exits.
    pub fn connect(&mut self, vm: &mut Vm) {
        vm.compiled.exits_linked = self.code.as_mut_ptr();
        vm.compiled.exit_table = vm.compiled.exits_linked;
    }
    /// Points a VM to the plain exits, a table that moves when it grows.
    pub fn connect_plain(&mut self, vm: &mut Vm) {
        vm.compiled.plain_exits = self.plain.as_mut_ptr();
    }
    /// Provides the table with which compiled code leaves at every exit, when it is to be left.
    pub fn provide_leaving(&mut self, vm: &mut Vm, stub: usize) {
        if self.leaving.is_empty() {
            self.leaving = vec![0; MAX_EXITS];
            self.leaving[..self.descriptors.len()].fill(stub);
            vm.compiled.exits_leaving = self.leaving.as_mut_ptr();
        }
    }
    /// The first of `n` consecutive ids that are free.
    pub fn free(&self, n: usize) -> Option<ExitId> {
        self.ids.find(n).map(|id| ExitId::new(id as u32))
    }
    /// Takes ids into use, from `first` on one for each descriptor. The exits lead to `stub`.
    pub fn insert(&mut self, first: ExitId, descriptors: impl ExactSizeIterator<Item = ExitDescriptor>, stub: usize) {
        let ids = first.index()..first.index() + descriptors.len();
        self.ids.reserve(ids.start, ids.len());
        self.most = self.most.max(ids.end);
        self.code[ids.clone()].fill(stub);
        if let Some(leaving) = self.leaving.get_mut(ids.clone()) {
            leaving.fill(stub);
        }
        if self.descriptors.len() < ids.end {
            self.descriptors.resize(ids.end, None);
            self.plain.resize(ids.end, PlainExit::NONE);
        }
        for (id, descriptor) in ids.zip(descriptors) {
            self.descriptors[id] = Some(descriptor);
        }
    }
    /// Makes an exit lead to code at an address.
    pub fn link(&mut self, id: ExitId, code: usize) {
        self.code[id.index()] = code;
    }
    /// Frees the ids of a trace that is being removed.
    pub fn remove(&mut self, ids: Range<usize>) {
        self.ids.release(ids.start, ids.len());
        self.code[ids.clone()].fill(0);
        self.forget_plain(ids.clone());
        self.descriptors[ids].fill(None);
    }
    /// Frees all ids.
    pub fn clear(&mut self) {
        self.forget_plain(0..self.descriptors.len());
        self.descriptors.clear();
        self.plain.clear();
        self.ids.clear();
    }
    /// All ids up to the highest, some of which may not be in use.
    pub fn ids(&self) -> impl Iterator<Item = ExitId> + use<> {
        (0..self.descriptors.len() as u32).map(ExitId::new)
    }
    /// The descriptor of an exit.
    #[inline]
    pub fn descriptor(&self, id: ExitId) -> Option<&ExitDescriptor> {
        self.descriptors.get(id.index())?.as_ref()
    }
    /// The descriptor of an exit, to be changed.
    #[inline]
    pub fn descriptor_mut(&mut self, id: ExitId) -> Option<&mut ExitDescriptor> {
        self.descriptors.get_mut(id.index())?.as_mut()
    }
}
