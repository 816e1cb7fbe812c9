//! From the address of an object to its position in the order in which the heap lists objects, without a word for each object.
//!
//! Objects lie at multiples of 16 in blocks of 64 KB and are listed block by block in order of address. So a bit for each 16 bytes
//! of a block, the number of bits before each word, and the position of the block's first object are enough. Large objects, which
//! lie anywhere, have a map.

use perilune_vm::Vm;
use perilune_vm::gc::BLOCK_SIZE;
use perilune_vm::interrupt::{Interrupted, Poll};
use perilune_vm::object::{Gc, GcHeader};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Alignment of objects.
const UNIT: u64 = 16;
/// Words of bits for a block.
const WORDS: usize = BLOCK_SIZE / UNIT as usize / 64;

struct Block {
    /// Position of the first object.
    first: u32,
    /// Objects before each word.
    ranks: [u16; WORDS],
    bits: [u64; WORDS],
}

/// Mixes the bits of an address: the keys are multiples of powers of two.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, n: u64) {
        self.0 = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

type Map<V> = HashMap<u64, V, BuildHasherDefault<Mix>>;

/// Positions of objects.
#[derive(Default)]
pub struct Index {
    blocks: Map<Box<Block>>,
    /// Positions of objects that are not in their block's order.
    others: Map<u32>,
    len: u32,
}

fn split(address: u64) -> (u64, usize, u32) {
    let unit = address % BLOCK_SIZE as u64 / UNIT;
    (address / BLOCK_SIZE as u64, unit as usize / 64, unit as u32 % 64)
}

impl Index {
    /// The objects for which `wanted` holds.
    ///
    /// # Errors
    /// An interrupt waits.
    pub fn new(vm: &Vm, poll: Poll<'_>, wanted: impl Fn(Gc<GcHeader>) -> bool) -> Result<Index, Interrupted> {
        let mut index = Index::default();
        let (mut block, mut last) = (u64::MAX, 0);
        vm.heap.try_for_each_object(|o| {
            if wanted(o) {
                let (b, ..) = split(o.addr());
                if b == block && o.addr() > last || b != block && !index.blocks.contains_key(&b) {
                    block = b;
                    last = o.addr();
                    index.push(o.addr());
                } else {
                    index.others.insert(o.addr(), index.len);
                }
                index.len += 1;
            }
            poll.look()
        })?;
        index.count();
        Ok(index)
    }
    fn push(&mut self, address: u64) {
        let (b, word, bit) = split(address);
        let first = self.len;
        let block = self.blocks.entry(b).or_insert_with(|| Box::new(Block { first, ranks: [0; WORDS], bits: [0; WORDS] }));
        block.bits[word] |= 1 << bit;
    }
    fn count(&mut self) {
        for block in self.blocks.values_mut() {
            let mut n = 0;
            for (rank, bits) in block.ranks.iter_mut().zip(&block.bits) {
                *rank = n;
                n += bits.count_ones() as u16;
            }
        }
    }
    /// How many objects there are.
    pub fn len(&self) -> u32 {
        self.len
    }
    /// The position of an object, if it is one of them.
    #[inline]
    pub fn position(&self, o: Gc<GcHeader>) -> Option<u32> {
        let address = o.addr();
        let (b, word, bit) = split(address);
        if let Some(block) = self.blocks.get(&b)
            && block.bits[word] >> bit & 1 != 0
        {
            let before = (block.bits[word] & ((1 << bit) - 1)).count_ones();
            return Some(block.first + u32::from(block.ranks[word]) + before);
        }
        self.others.get(&address).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_walk() {
        let mut vm = Vm::new();
        vm.open_libs();
        for i in 0..3 {
            let s = vm.new_str("x".repeat(40_000 + i).as_bytes());
            vm.push(perilune_vm::Value::str(s));
        }
        let index = Index::new(&vm, Poll::Never, |_| true).unwrap();
        let mut n = 0;
        vm.heap.for_each_object(|o| {
            assert_eq!(index.position(o), Some(n));
            n += 1;
        });
        assert_eq!(index.len(), n);
    }
}
