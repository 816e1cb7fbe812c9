//! Bytes taken as choices: whatever there are, they mean something, and after the end are zeros.

/// What is left of the bytes.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Begins with all of the bytes.
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { rest: bytes }
    }
    /// How many are left?
    pub fn len(&self) -> usize {
        self.rest.len()
    }
    /// Have all been taken?
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
    /// All that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.rest)
    }
    /// Up to `n` bytes.
    pub fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = rest;
        taken
    }
    /// `N` bytes, with zeros after the end.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.bytes(N);
        core::array::from_fn(|i| taken.get(i).copied().unwrap_or(0))
    }
    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }
    /// A number below `n`, which is at most 256 and not 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }
    /// One of a list.
    pub fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// A short piece of the bytes, with its length in front.
    pub fn piece(&mut self, most: usize) -> &'a [u8] {
        let n = usize::from(self.byte()) % (most + 1);
        self.bytes(n)
    }
    /// A double: one that is interesting, a small integer, or any.
    pub fn number(&mut self) -> f64 {
        const SOME: [f64; 24] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1e15,
            1e16,
            1e300,
            5e-324,
            2.2250738585072014e-308,
            2147483647.0,
            2147483648.0,
            -2147483648.0,
            -2147483649.0,
            4294967295.0,
            4294967296.0,
            9007199254740991.0,
            9007199254740992.0,
            -9007199254740993.0,
            9223372036854775808.0,
            18446744073709551616.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        match self.byte() {
            0..=63 => f64::from(self.byte() as i8),
            64..=127 => self.of(&SOME),
            128..=159 => f64::from(i32::from_le_bytes(self.array())),
            160..=191 => f64::from(i16::from_le_bytes(self.array())) / 100.0,
            _ => f64::from_bits(u64::from_le_bytes(self.array())),
        }
    }
}
