//! Searching for bytes and byte strings.

use super::class::ByteSet;
use core::cmp::Ordering;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// How many words are searched before a search by vectors is called, which takes longer to start.
const NEAR_WORDS: usize = 8;
/// How many bytes are searched before a search is prepared that is faster for each byte.
const NEAR_TEXT: usize = 256;

/// Offset of the first `byte` in `hay`.
#[inline]
pub fn find_byte(hay: &[u8], byte: u8) -> Option<usize> {
    let (words, tail) = hay.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        if i == NEAR_WORDS {
            return memchr::memchr(byte, &hay[i * 8..]).map(|n| i * 8 + n);
        }
        if let Some(n) = find_in_word(u64::from_le_bytes(*word), byte) {
            return Some(i * 8 + n);
        }
    }
    // The bytes that follow the tail in its word are no part of it.
    let word = match hay.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last).checked_shr(8 * (8 - tail.len() as u32)).unwrap_or(0),
        None => short_word(tail),
    };
    find_in_word(word, byte).filter(|n| *n < tail.len()).map(|n| words.len() * 8 + n)
}

/// Position of the first of the bytes of a word, the lowest one first, that is `byte`.
#[inline(always)]
fn find_in_word(word: u64, byte: u8) -> Option<usize> {
    // The lowest byte that is zero after the exclusive-or is the first match.
    let x = word ^ (ONES * u64::from(byte));
    let zero = x.wrapping_sub(ONES) & !x & HIGHS;
    if zero == 0 { None } else { Some((zero.trailing_zeros() / 8) as usize) }
}

/// Up to seven bytes in a word, the first one lowest. It is made of pieces that may overlap.
#[inline(always)]
fn short_word(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (n - 4))
        }
        _ if n == 0 => 0,
        _ => [0, n / 2, n - 1].iter().fold(0, |word, i| word | u64::from(bytes[*i]) << (8 * i)),
    }
}

/// Offset of the first occurrence of `needle` in `hay`. The empty needle is found at 0.
#[inline]
pub fn find_plain(hay: &[u8], needle: &[u8]) -> Option<usize> {
    if let [byte] = needle { find_byte(hay, *byte) } else { find_text(hay, needle) }
}
/// The same for a needle that is not one byte.
#[inline(never)]
fn find_text(hay: &[u8], needle: &[u8]) -> Option<usize> {
    let Some((&first, rest)) = needle.split_first() else { return Some(0) };
    let starts = (hay.len() + 1).checked_sub(needle.len())?;
    let near = starts.min(NEAR_TEXT);
    let mut at = 0;
    while let Some(n) = find_byte(&hay[at..near], first) {
        at += n + 1;
        if same(&hay[at..at + rest.len()], rest) {
            return Some(at - 1);
        }
    }
    if near == starts { None } else { memchr::memmem::find(&hay[near..], needle).map(|i| near + i) }
}

/// The order of two texts.
#[inline]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    // Most texts differ early.
    match (a.first_chunk().map(|c| u64::from_be_bytes(*c)), b.first_chunk().map(|c| u64::from_be_bytes(*c))) {
        (Some(x), Some(y)) if x != y => x.cmp(&y),
        _ => a.cmp(b),
    }
}

/// Are the bytes the same? As `==`, but short ones are compared without a call.
#[inline(always)]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // Compares the first and the last bytes, which may overlap.
    match a.len() {
        0 => true,
        1..4 => {
            let (middle, last) = (a.len() / 2, a.len() - 1);
            a[0] == b[0] && a[middle] == b[middle] && a[last] == b[last]
        }
        4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
        8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
        _ => a == b,
    }
}

/// The special characters of patterns.
const SPECIAL: ByteSet = {
    let mut set = ByteSet::EMPTY;
    let mut rest: &[u8] = b"^$*+?.([%-";
    while let [c, others @ ..] = rest {
        set.add(*c);
        rest = others;
    }
    set
};

/// Does the pattern have no special characters, so that it can be searched as plain text?
pub fn is_plain(pattern: &[u8]) -> bool {
    !pattern.iter().any(|c| SPECIAL.has(*c))
}

/// The bytes before the first NUL: the text as a C function reads it.
#[inline]
pub fn until_nul(s: &[u8]) -> &[u8] {
    find_byte(s, 0).map_or(s, |end| &s[..end])
}
