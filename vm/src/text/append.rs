//! Appending short texts without a call of `memmove`, and small integers without a buffer of their own. What is stored piece by piece must be
//! in the cache before it can be loaded as a whole, so that a text is stored in one piece where possible.

use super::NumText;
use super::number::PAIRS;

/// Short texts are stored as so many bytes, of which those after the text are cut off again.
pub const PIECE: usize = 16;

/// Appends `text`. As `extend_from_slice`, but short texts take no call; [`Str::append_to`](crate::object::Str::append_to) is faster.
#[inline(always)]
pub fn append(out: &mut Vec<u8>, text: &[u8]) {
    if text.len() <= PIECE {
        put_piece(out, low_bytes(text), text.len());
    } else {
        out.extend_from_slice(text);
    }
}

/// Appends an integer in decimal.
#[inline]
pub fn put_int(out: &mut Vec<u8>, i: i32) {
    match short_int(i) {
        Some((text, len)) => put_piece(out, text, len),
        None => out.extend_from_slice(&NumText::int(i)),
    }
}

/// The text of an integer of up to eight digits, its first byte the lowest, and how long it is.
#[inline(always)]
pub(super) fn short_int(i: i32) -> Option<(u128, usize)> {
    let u = i.unsigned_abs();
    if (i as u32) < 10_000 {
        let (text, len) = four_digits(u as usize);
        return Some((u128::from(text), len));
    }
    if u >= 100_000_000 {
        return None;
    }
    let digits = eight_digits(u);
    let leading_zeros = (digits.trailing_zeros() / 8).min(7);
    let text = u128::from((digits | u64::from_ne_bytes([b'0'; 8])) >> (8 * leading_zeros));
    let (text, len) = if i < 0 { (text << 8 | u128::from(b'-'), 9) } else { (text, 8) };
    Some((text, len - leading_zeros as usize))
}

/// Appends the `len` lowest bytes of `piece`.
#[inline(always)]
fn put_piece(out: &mut Vec<u8>, piece: u128, len: usize) {
    let (end, bytes) = (out.len() + len, piece.to_le_bytes());
    if out.capacity() - out.len() >= PIECE {
        out.extend_from_slice(&bytes);
        out.truncate(end);
    } else {
        out.extend_from_slice(&bytes[..len]);
    }
}

/// A text of up to 16 bytes, its first byte the lowest. It is loaded in two parts, which may overlap.
#[inline(always)]
pub fn low_bytes(text: &[u8]) -> u128 {
    let len = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk().map(|c| u64::from_le_bytes(*c)), text.last_chunk()) {
        return u128::from(first) | u128::from(u64::from_le_bytes(*last)) << (8 * (len - 8));
    }
    if let (Some(first), Some(last)) = (text.first_chunk().map(|c| u32::from_le_bytes(*c)), text.last_chunk()) {
        return u128::from(u64::from(first) | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4)));
    }
    let byte = |i: usize| u32::from(text[i]) << (8 * i);
    if len == 0 { 0 } else { u128::from(byte(0) | byte(len / 2) | byte(len - 1)) }
}

/// The digits of a number below 10,000, and how many there are. What follows waits for them, so that a table is faster than the steps of
/// [`eight_digits`], of which each waits for the one before.
#[inline(always)]
fn four_digits(u: usize) -> (u32, usize) {
    let pair = |u: usize| u32::from(u16::from_le_bytes(PAIRS[u]));
    match u {
        0..10 => (u32::from(b'0') + u as u32, 1),
        10..100 => (pair(u), 2),
        _ => {
            let all = pair(u / 100) | pair(u % 100) << 16;
            if u < 1000 { (all >> 8, 3) } else { (all, 4) }
        }
    }
}

/// The digits of a number below 100,000,000, with leading zeros; the first is the lowest byte. Each step divides all parts at once, which
/// multiplication does exactly for numbers of this size.
#[inline(always)]
fn eight_digits(u: u32) -> u64 {
    let fours = u64::from(u / 10_000) | u64::from(u % 10_000) << 32;
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = (twos * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (twos - tens * 10) << 8
}

#[cfg(test)]
mod tests {
    use super::{append, put_int};

    #[test]
    fn appended_texts_are_the_same() {
        let text: Vec<u8> = (b'a'..=b'z').collect();
        for capacity in [0, 5, 64] {
            for len in 0..text.len() {
                let mut out = Vec::with_capacity(capacity);
                append(&mut out, &text[..len]);
                append(&mut out, b"|");
                assert_eq!(out, [&text[..len], b"|"].concat());
            }
        }
    }

    #[test]
    fn integers_are_decimal() {
        let mut around: Vec<i32> = (0..10).flat_map(|k| [-1, 0, 1].map(|d| 10_i32.pow(k) + d)).collect();
        around.extend((0..100_000).map(|k| k * 1_009));
        around.extend((0..20_000).chain([99_999_999, i32::MAX, i32::MIN]));
        for i in around.iter().flat_map(|i| [*i, i.wrapping_neg()]) {
            for capacity in [0, 64] {
                let mut out = Vec::with_capacity(capacity);
                put_int(&mut out, i);
                assert_eq!(out, i.to_string().as_bytes());
            }
        }
    }
}
