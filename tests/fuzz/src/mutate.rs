//! A small mutator, for runs without libFuzzer.

use fastrand::Rng;

/// Longest mutant.
const MOST: usize = 4096;

/// Makes a mutant of some members of a corpus, which may be empty.
pub fn mutant(corpus: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut bytes = random.choice(corpus).cloned().unwrap_or_default();
    if bytes.len() > MOST {
        // A piece of it, but rather the start, which has what tells that it is worth reading on.
        let from = if random.bool() { 0 } else { random.usize(..bytes.len() - MOST) };
        bytes.drain(..from);
        bytes.truncate(MOST);
    }
    for _ in 0..random.usize(1..6) {
        step(&mut bytes, corpus, random);
    }
    bytes.truncate(MOST);
    bytes
}

fn step(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Rng) {
    let at = random.usize(..=bytes.len());
    let run = random.usize(..=(bytes.len() - at).min(16));
    match random.u8(..9) {
        0 => bytes.insert(at, random.u8(..)),
        1 => drop(bytes.drain(at..at + run)),
        2 => {
            if let Some(b) = bytes.get_mut(at) {
                *b ^= 1 << random.u8(..8);
            }
        }
        3 => {
            if let Some(b) = bytes.get_mut(at) {
                *b = b.wrapping_add(random.u8(..)).wrapping_sub(16);
            }
        }
        4 => {
            if let Some(b) = bytes.get_mut(at) {
                *b = *random.choice(&[0, 1, 0x7f, 0x80, 0xff, b'0', b'%', b'"']).unwrap_or(&0);
            }
        }
        5 => {
            // The same once more.
            let copy = bytes[at..at + run].to_vec();
            bytes.splice(at..at, copy);
        }
        6 => bytes.truncate(at),
        _ => {
            // A part of another one.
            if let Some(other) = random.choice(corpus).filter(|o| !o.is_empty()) {
                let from = random.usize(..other.len());
                let n = random.usize(1..=(other.len() - from).min(64));
                let end = (at + random.usize(..=n)).min(bytes.len());
                bytes.splice(at..end, other[from..from + n].iter().copied());
            }
        }
    }
}
