//! Letters of the other case in short strings, without a loop over bytes: most strings are shorter than such a loop pays for.

use super::append::{PIECE, low_bytes};

/// Strings up to this length are changed here.
pub const SHORT: usize = PIECE;

/// The same byte sixteen times.
const fn each(byte: u8) -> u128 {
    u128::from_le_bytes([byte; PIECE])
}

/// The bytes, of which there are at most [`SHORT`], with the ASCII letters from `first` on, `a` or `A`, in the other case; zeros follow.
#[inline(always)]
pub fn change(bytes: &[u8], first: u8) -> [u8; SHORT] {
    let text = low_bytes(bytes);
    // Sums of 7 bits do not reach the next byte; the eighth says what is at least `first`, or more than the last letter.
    let low = text & each(0x7f);
    let letters = (low + each(0x80 - first)) ^ (low + each(0x7f - (first + 25)));
    (text ^ (letters & !text & each(0x80)) >> 2).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_at_all_places() {
        for len in 0..=SHORT {
            for (at, byte) in (0..len.max(1)).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                let mut bytes: Vec<u8> = b"aZz@[`{A\xe1\xc1\x00\xff\x80mM_"[..len].to_vec();
                if let Some(b) = bytes.get_mut(at) {
                    *b = byte;
                }
                assert_eq!(change(&bytes, b'a')[..len], bytes.to_ascii_uppercase());
                assert_eq!(change(&bytes, b'A')[..len], bytes.to_ascii_lowercase());
            }
        }
    }
}
