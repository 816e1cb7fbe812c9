//! Searching for bytes and byte strings.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Offset of the first `byte` in `hay`.
#[inline]
pub fn find_byte(hay: &[u8], byte: u8) -> Option<usize> {
    let pattern = ONES * u64::from(byte);
    let (words, tail) = hay.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        // The lowest byte that is zero after the exclusive-or is the first match.
        let x = u64::from_le_bytes(*word) ^ pattern;
        let zero = x.wrapping_sub(ONES) & !x & HIGHS;
        if zero != 0 {
            return Some(i * 8 + (zero.trailing_zeros() / 8) as usize);
        }
    }
    tail.iter().position(|b| *b == byte).map(|i| words.len() * 8 + i)
}

/// Offset of the first occurrence of `needle` in `hay`. The empty needle is found at 0.
pub fn find_plain(hay: &[u8], needle: &[u8]) -> Option<usize> {
    let Some((&first, rest)) = needle.split_first() else { return Some(0) };
    if rest.is_empty() {
        return find_byte(hay, first);
    }
    let starts = (hay.len() + 1).checked_sub(needle.len())?;
    let mut at = 0;
    while at < starts {
        at += find_byte(&hay[at..starts], first)?;
        if &hay[at + 1..at + needle.len()] == rest {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Has the pattern no special characters, so that it can be searched for as it is?
pub fn is_plain(pattern: &[u8]) -> bool {
    !pattern.iter().any(|c| matches!(c, b'^' | b'$' | b'*' | b'+' | b'?' | b'.' | b'(' | b'[' | b'%' | b'-'))
}

/// The bytes in front of the first NUL: what C takes for the text.
#[inline]
pub fn until_nul(s: &[u8]) -> &[u8] {
    find_byte(s, 0).map_or(s, |end| &s[..end])
}
