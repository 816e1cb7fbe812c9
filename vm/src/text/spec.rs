//! Format specifications of `string.format`.

/// The conversion of a specification.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Conv {
    /// `%d %i`
    Int,
    /// `%u`
    Uint,
    /// `%x`
    Hex,
    /// `%o`
    Oct,
    /// `%e`
    Exp,
    /// `%f`
    Fixed,
    /// `%g`
    General,
    /// `%a`
    HexFloat,
    /// `%c`
    Char,
    /// `%s`
    Str,
    /// `%q`
    Quoted,
    /// `%p`
    Ptr,
}

/// One specification.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Conversion.
    pub conv: Conv,
    /// Flag `-`: pad on the right.
    pub left: bool,
    /// Flag `+`: always a sign.
    pub plus: bool,
    /// Flag space: a space where a sign would be.
    pub space: bool,
    /// Flag `#`: the alternate form.
    pub alt: bool,
    /// Flag `0`: pad with zeros.
    pub zero: bool,
    /// Upper-case conversion letter.
    pub upper: bool,
    /// Minimum width.
    pub width: u8,
    /// Precision, if given.
    pub prec: Option<u8>,
}

impl Conv {
    const ALL: [Conv; 12] = [
        Conv::Int,
        Conv::Uint,
        Conv::Hex,
        Conv::Oct,
        Conv::Exp,
        Conv::Fixed,
        Conv::General,
        Conv::HexFloat,
        Conv::Char,
        Conv::Str,
        Conv::Quoted,
        Conv::Ptr,
    ];
}

/// The flags of a packed specification, from the lowest bit on; above them are the conversion, counted from 1 (4 bits), the width and the
/// precision, counted from 1 (7 bits each).
const FLAGS: usize = 6;

impl Spec {
    /// All of it in one word, which is not 0.
    pub const fn pack(&self) -> i32 {
        let flags = self.left as i32
            | (self.plus as i32) << 1
            | (self.space as i32) << 2
            | (self.alt as i32) << 3
            | (self.zero as i32) << 4
            | (self.upper as i32) << 5;
        let prec = match self.prec {
            Some(prec) => prec as i32 + 1,
            None => 0,
        };
        flags | (self.conv as i32 + 1) << FLAGS | (self.width as i32) << (FLAGS + 4) | prec << (FLAGS + 11)
    }
    /// The specification that [`Spec::pack`] has packed; none for 0.
    pub fn unpack(word: i32) -> Option<Spec> {
        let flag = |n: u32| word >> n & 1 != 0;
        let conv = *Conv::ALL.get(((word >> FLAGS & 15) as usize).checked_sub(1)?)?;
        Some(Spec {
            conv,
            left: flag(0),
            plus: flag(1),
            space: flag(2),
            alt: flag(3),
            zero: flag(4),
            upper: flag(5),
            width: (word >> (FLAGS + 4) & 127) as u8,
            prec: ((word >> (FLAGS + 11) & 127) as u8).checked_sub(1),
        })
    }
    /// A specification without flags, width and precision.
    pub const fn new(conv: Conv) -> Spec {
        Spec { conv, left: false, plus: false, space: false, alt: false, zero: false, upper: false, width: 0, prec: None }
    }
    /// Has it neither flags nor width nor precision?
    #[inline]
    pub fn is_plain(&self) -> bool {
        *self == Spec { upper: self.upper, ..Spec::new(self.conv) }
    }
    /// The sign to print before a number.
    pub(super) fn sign(&self, negative: bool) -> &'static [u8] {
        if negative {
            b"-"
        } else if self.plus {
            b"+"
        } else if self.space {
            b" "
        } else {
            b""
        }
    }
}

/// A piece of a format string.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// Text to copy.
    Literal(&'a [u8]),
    /// Converts an argument.
    Spec(Spec),
    /// An invalid specification, up to and including the offending character. The last piece.
    Bad(&'a [u8]),
}

/// The pieces of a format string.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// Splits a format string.
    pub fn new(format: &'a [u8]) -> Pieces<'a> {
        Pieces { rest: format }
    }
    /// What is left of the format.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// A specification after a `%` at the start of the rest, which is not `%%`.
    fn spec(&mut self) -> Piece<'a> {
        let s = self.rest;
        let at = |i: usize| s.get(i).copied().unwrap_or(0);
        let digit = |i: usize| at(i).is_ascii_digit().then(|| at(i) - b'0');
        let mut spec = Spec::new(Conv::Int);
        let mut i = 1;
        loop {
            match at(i) {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alt = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            i += 1;
        }
        // At most two digits each.
        let number = |i: &mut usize| {
            let mut n = 0;
            for _ in 0..2 {
                let Some(d) = digit(*i) else { break };
                n = n * 10 + d;
                *i += 1;
            }
            n
        };
        spec.width = number(&mut i);
        if at(i) == b'.' {
            i += 1;
            spec.prec = Some(number(&mut i));
        }
        let letter = at(i);
        let known = match letter {
            b'd' | b'i' => Some(Conv::Int),
            b'u' => Some(Conv::Uint),
            b'x' | b'X' => Some(Conv::Hex),
            b'o' => Some(Conv::Oct),
            b'e' | b'E' => Some(Conv::Exp),
            b'f' | b'F' => Some(Conv::Fixed),
            b'g' | b'G' => Some(Conv::General),
            b'a' | b'A' => Some(Conv::HexFloat),
            b'c' => Some(Conv::Char),
            b's' => Some(Conv::Str),
            b'q' => Some(Conv::Quoted),
            b'p' => Some(Conv::Ptr),
            _ => None,
        };
        match known {
            Some(conv) => {
                spec.conv = conv;
                spec.upper = letter.is_ascii_uppercase();
                self.rest = &s[i + 1..];
                Piece::Spec(spec)
            }
            None => {
                self.rest = &[];
                Piece::Bad(&s[..if letter >= 32 { i + 1 } else { i }])
            }
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;
    fn next(&mut self) -> Option<Piece<'a>> {
        let s = self.rest;
        match (s.first()?, s.get(1)) {
            (b'%', Some(b'%')) => {
                self.rest = &s[2..];
                Some(Piece::Literal(&s[..1]))
            }
            (b'%', _) => Some(self.spec()),
            _ => {
                let end = super::find_byte(s, b'%').unwrap_or(s.len());
                self.rest = &s[end..];
                Some(Piece::Literal(&s[..end]))
            }
        }
    }
}
