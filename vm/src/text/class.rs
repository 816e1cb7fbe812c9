//! Character classes as sets of bytes. Always those of the C locale.

/// A set of bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub const EMPTY: ByteSet = ByteSet([0; 4]);

    /// Every byte.
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);

    /// One byte.
    #[inline(always)]
    pub const fn one(c: u8) -> ByteSet {
        // Each word is stored separately, so that a store of a part is not followed by a load of the whole.
        let bit = 1u64 << (c & 63);
        let i = c >> 6;
        ByteSet([
            if i == 0 { bit } else { 0 },
            if i == 1 { bit } else { 0 },
            if i == 2 { bit } else { 0 },
            if i == 3 { bit } else { 0 },
        ])
    }
    /// Is there no byte?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
    /// The one byte of a set that has no other.
    #[inline]
    pub fn single(&self) -> Option<u8> {
        let [a, b, c, d] = self.0;
        let all = a ^ b ^ c ^ d;
        let filled = usize::from(a != 0) + usize::from(b != 0) + usize::from(c != 0) + usize::from(d != 0);
        (filled == 1 && all.is_power_of_two()).then(|| self.first())
    }
    /// The first byte; 0 if there is none.
    #[inline]
    pub fn first(&self) -> u8 {
        let i = self.0.iter().position(|w| *w != 0).unwrap_or(0);
        (i * 64) as u8 + (self.0[i].trailing_zeros() & 63) as u8
    }
    /// Removes the first byte from the set and returns it; 0 if there is none.
    pub fn take_first(&mut self) -> u8 {
        let c = self.first();
        self.0[usize::from(c >> 6)] &= !(1 << (c & 63));
        c
    }
    /// Is a byte in both sets?
    #[inline]
    pub fn meets(&self, other: &ByteSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
    /// The bytes of both sets.
    #[must_use]
    #[inline]
    pub fn intersection(&self, other: &ByteSet) -> ByteSet {
        let mut set = *self;
        for (a, b) in set.0.iter_mut().zip(other.0) {
            *a &= b;
        }
        set
    }
    /// Is the byte in the set?
    #[inline(always)]
    pub const fn has(&self, c: u8) -> bool {
        self.0[(c >> 6) as usize] >> (c & 63) & 1 != 0
    }
    /// Offset of the first byte of `s` that is in the set, or, if not `inside`, of the first that is not.
    #[inline(always)]
    pub fn find(&self, s: &[u8], inside: bool) -> Option<usize> {
        let (fours, tail) = s.as_chunks::<4>();
        let stops = |c: u8| self.has(c) == inside;
        for (i, [a, b, c, d]) in fours.iter().enumerate() {
            let at = i * 4;
            if stops(*a) {
                return Some(at);
            }
            if stops(*b) {
                return Some(at + 1);
            }
            if stops(*c) {
                return Some(at + 2);
            }
            if stops(*d) {
                return Some(at + 3);
            }
        }
        tail.iter().position(|c| stops(*c)).map(|i| fours.len() * 4 + i)
    }
    /// Adds a byte.
    #[inline(always)]
    pub const fn add(&mut self, c: u8) {
        self.0[(c >> 6) as usize] |= 1 << (c & 63);
    }
    /// Adds all bytes of `lo ..= hi`.
    pub fn add_range(&mut self, lo: u8, hi: u8) {
        for c in lo..=hi {
            self.add(c);
        }
    }
    /// Adds another set.
    #[inline]
    pub fn add_all(&mut self, other: &ByteSet) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
    /// All bytes that are not in the set.
    #[must_use]
    pub const fn complement(self) -> ByteSet {
        let [a, b, c, d] = self.0;
        ByteSet([!a, !b, !c, !d])
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $lower:literal $upper:literal |$c:ident| $test:expr;)*) => {
        $($(#[$doc])*
        pub static $name: [ByteSet; 2] = {
            let mut set = ByteSet::EMPTY;
            let mut i = 0;
            while i < 256 {
                let $c = i as u8;
                if $test {
                    set.add($c);
                }
                i += 1;
            }
            [set, set.complement()]
        };)*

        /// The set of a class letter in `%c`; an upper-case letter means the complement.
        #[inline]
        pub fn class(letter: u8) -> Option<&'static ByteSet> {
            match letter {
                $($lower => Some(&$name[0]), $upper => Some(&$name[1]),)*
                _ => None,
            }
        }
    };
}

classes! {
    /// Letters.
    ALPHA = b'a' b'A' |c| c.is_ascii_alphabetic();
    /// Control characters.
    CNTRL = b'c' b'C' |c| c.is_ascii_control();
    /// Decimal digits.
    DIGIT = b'd' b'D' |c| c.is_ascii_digit();
    /// Printing characters except space.
    GRAPH = b'g' b'G' |c| c.is_ascii_graphic();
    /// Lower-case letters.
    LOWER = b'l' b'L' |c| c.is_ascii_lowercase();
    /// Punctuation.
    PUNCT = b'p' b'P' |c| c.is_ascii_punctuation();
    /// White space, vertical tabs included.
    SPACE = b's' b'S' |c| c == b' ' || (c >= 9 && c <= 13);
    /// Upper-case letters.
    UPPER = b'u' b'U' |c| c.is_ascii_uppercase();
    /// Letters and digits.
    ALNUM = b'w' b'W' |c| c.is_ascii_alphanumeric();
    /// Hexadecimal digits.
    XDIGIT = b'x' b'X' |c| c.is_ascii_hexdigit();
    /// NUL.
    ZERO = b'z' b'Z' |c| c == 0;
}
