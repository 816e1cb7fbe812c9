//! The members of an aggregate, as far as calling conventions look at them.

/// The class of eight bytes of an aggregate (System V).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Class {
    /// Padding.
    Nothing,
    /// For a vector register.
    Vector,
    /// For a general register.
    Integer,
    /// The aggregate is passed in memory.
    Memory,
}

/// The type that all members of an aggregate have (AAPCS64).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// There is no member yet.
    None,
    /// All are of this type and size, one for vector registers.
    All(Scalar, u32),
    /// They differ, or are none for vector registers.
    Mixed,
}

/// Types of members that are no aggregates. A complex number is two members.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// An integer, a `bool`, an enum or a pointer.
    Integer,
    /// A floating-point number.
    Float,
    /// A vector.
    Vector,
}

/// What is known of the members of an aggregate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Members {
    pub(super) classes: [Class; 2],
    pub(super) base: Base,
    /// The greatest alignment of a member.
    pub(super) align: u32,
}

impl Default for Members {
    fn default() -> Members {
        Members { classes: [Class::Nothing; 2], base: Base::None, align: 1 }
    }
}

impl Members {
    /// No aggregate that is larger is passed in registers by either convention: beyond that size only the first member matters.
    pub const MOST: u32 = 64;

    fn raise(&mut self, eight: u32, class: Class) {
        if let Some(c) = self.classes.get_mut(eight as usize) {
            *c = class.max(*c);
        }
    }
    fn mix(&mut self, base: Base) {
        self.base = match self.base {
            Base::None => base,
            same if same == base => base,
            _ => Base::Mixed,
        };
    }
    /// Adds a member at an offset from the start of the aggregate.
    pub fn scalar(&mut self, offset: u32, size: u32, scalar: Scalar) {
        if size == 0 {
            return;
        }
        let is_aligned = offset.is_multiple_of(size);
        let class = match scalar {
            _ if !is_aligned => Class::Memory,
            // `long double`, which goes to the x87 unit.
            Scalar::Float if size > 8 => Class::Memory,
            Scalar::Float | Scalar::Vector => Class::Vector,
            Scalar::Integer => Class::Integer,
        };
        self.raise(offset / 8, class);
        if size > 8 {
            // A vector of 16 bytes is one piece, which is told by its second half.
            self.raise(offset / 8 + 1, if scalar == Scalar::Vector { Class::Nothing } else { class });
        }
        self.mix(if scalar == Scalar::Integer { Base::Mixed } else { Base::All(scalar, size) });
    }
    /// There is a member with this alignment.
    pub fn align_to(&mut self, align: u32) {
        self.align = self.align.max(align);
    }
    /// Adds a bit-field, which has a name, at an offset in bits.
    pub fn bits(&mut self, offset: u32, size: u32) {
        if size == 0 {
            return;
        }
        for eight in offset / 64..=(offset + size - 1) / 64 {
            self.raise(eight, Class::Integer);
        }
        self.mix(Base::Mixed);
    }
    /// Adds an array without a size.
    pub fn open_array(&mut self) {
        self.mix(Base::Mixed);
    }
    /// Two members of a complex number whose parts have this size.
    pub fn complex(part: u32) -> Members {
        let mut members = Members::default();
        members.scalar(0, part, Scalar::Float);
        members.scalar(part, part, Scalar::Float);
        members.align_to(part);
        members
    }
    /// Size and number of the members of a homogeneous aggregate of this size: of floating-point numbers or vectors, at most four, without
    /// padding.
    pub(super) fn homogeneous(&self, size: u32) -> Option<(u32, u32)> {
        let Base::All(_, each) = self.base else { return None };
        let n = size / each;
        (n <= 4 && n * each == size).then_some((each, n))
    }
}
