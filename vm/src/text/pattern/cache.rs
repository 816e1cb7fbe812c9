//! The compiled patterns of a VM.

use super::Program;
use std::rc::Rc;

/// Number of patterns kept; a power of two.
const SIZE: usize = 256;
/// Most memory of all patterns kept.
const MAX_MEMORY: usize = 512 << 10;
/// Most memory of one that is kept.
const MAX_PROGRAM: usize = 64 << 10;

/// Keeps the programs of recently used patterns.
///
/// A pattern is found by its hash and its bytes, not by the address of a string, which may be freed.
#[derive(Debug)]
pub struct PatternCache {
    programs: Box<[Option<Rc<Program>>]>,
    memory: usize,
}

impl Default for PatternCache {
    fn default() -> PatternCache {
        PatternCache { programs: vec![None; SIZE].into_boxed_slice(), memory: 0 }
    }
}

impl PatternCache {
    /// The program of a pattern with that hash. If `caret_is_plain`, the pattern cannot have an anchor. `None` if there is no memory for
    /// it, or if it would take more than `most` bytes.
    #[inline]
    pub fn get(&mut self, text: &[u8], hash: u32, caret_is_plain: bool, most: usize) -> Option<Rc<Program>> {
        // It may be at either of two indices.
        let i = hash as usize % SIZE;
        for i in [i, i ^ 1] {
            if let Some(p) = &self.programs[i]
                && crate::text::same(&p.text, text)
                && p.caret_is_plain == caret_is_plain
            {
                return Some(Rc::clone(p));
            }
        }
        self.compile(text, i, caret_is_plain, most)
    }
    /// Compiles a pattern and keeps it at `i`. The pattern there moves to the other index, and the one at that index is dropped.
    #[cold]
    #[inline(never)]
    fn compile(&mut self, text: &[u8], i: usize, caret_is_plain: bool, most: usize) -> Option<Rc<Program>> {
        let old = self.programs[i ^ 1].take();
        self.memory -= old.as_ref().map_or(0, |p| p.memory());
        // The memory of a program that is not in use is reused.
        let mut program = old.filter(|p| Rc::strong_count(p) == 1).unwrap_or_default();
        let unused = Rc::get_mut(&mut program)?;
        unused.text.clear();
        unused.compile(text, caret_is_plain, most)?;
        if unused.nodes_memory() + text.len() > MAX_PROGRAM {
            return Some(program);
        }
        unused.text.extend_from_slice(text);
        let memory = program.memory();
        if self.memory + memory > MAX_MEMORY {
            self.programs.fill(None);
            self.memory = 0;
        }
        self.memory += memory;
        self.programs[i ^ 1] = self.programs[i].take();
        self.programs[i] = Some(Rc::clone(&program));
        Some(program)
    }
}
