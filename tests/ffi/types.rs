//! Random C types, and values of them as text that is right in C and in Lua.

use fastrand::Rng;
use std::fmt::Write;

/// A type that is no aggregate: its name; and how its values are written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// With so many bits, of which the values use at most 31.
    Signed(u32),
    Unsigned(u32),
    Bool,
    Float,
    Double,
    Pointer,
    Enum,
    ComplexFloat,
    ComplexDouble,
}

pub const SCALARS: [(&str, Kind); 17] = [
    ("char", Kind::Signed(8)),
    ("int8_t", Kind::Signed(8)),
    ("uint8_t", Kind::Unsigned(8)),
    ("int16_t", Kind::Signed(16)),
    ("uint16_t", Kind::Unsigned(16)),
    ("int", Kind::Signed(32)),
    ("unsigned", Kind::Unsigned(32)),
    ("long", Kind::Signed(64)),
    ("int64_t", Kind::Signed(64)),
    ("uint64_t", Kind::Unsigned(64)),
    ("bool", Kind::Bool),
    ("float", Kind::Float),
    ("double", Kind::Double),
    ("void *", Kind::Pointer),
    ("enum e", Kind::Enum),
    ("float _Complex", Kind::ComplexFloat),
    ("double _Complex", Kind::ComplexDouble),
];

/// What both languages are told before anything else.
pub const DECLARATIONS: &str = "enum e { E0, E1, E2, E3 };\n";
pub const HEADERS: &str = "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <complex.h>\n#include <stdarg.h>\n#include <string.h>\n";

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    Scalar(&'static str, Kind),
    /// A struct or union by its name, with its members.
    Aggregate(String, Vec<Type>),
    /// An array, only as a member.
    Array(Box<Type>, usize),
}

/// A value as text.
#[derive(Clone, Debug)]
pub struct Text {
    pub c: String,
    pub lua: String,
}

impl Text {
    fn same(text: String) -> Text {
        Text { lua: text.clone(), c: text }
    }
}

impl Type {
    /// One of the scalars that `fits`.
    pub fn scalar(rng: &mut Rng, fits: impl Fn(Kind) -> bool) -> Type {
        loop {
            let (name, kind) = SCALARS[rng.usize(..SCALARS.len())];
            if fits(kind) {
                return Type::Scalar(name, kind);
            }
        }
    }
    /// Its name in a declaration.
    pub fn name(&self) -> String {
        match self {
            Type::Scalar(name, _) => (*name).into(),
            Type::Aggregate(name, _) => name.clone(),
            Type::Array(..) => unreachable!("arrays are members only"),
        }
    }
    /// The declaration of a member of this type.
    pub fn member(&self, name: &str) -> String {
        match self {
            Type::Array(element, n) => element.member(&format!("{name}[{n}]")),
            other => format!("{} {name}", other.name()),
        }
    }
    /// A random value.
    pub fn value(&self, rng: &mut Rng) -> Text {
        match self {
            Type::Scalar(name, kind) => scalar_value(name, *kind, rng),
            Type::Array(element, n) => {
                let all: Vec<Text> = (0..*n).map(|_| element.member_value(rng)).collect();
                join(&all)
            }
            Type::Aggregate(name, members) => {
                let all: Vec<Text> = members.iter().map(|m| m.member_value(rng)).collect();
                let list = join(&all);
                Text { c: format!("(({name}){})", list.c), lua: format!("ffi.new('{name}', {})", list.lua) }
            }
        }
    }
    /// A value inside of a list of initialisers.
    fn member_value(&self, rng: &mut Rng) -> Text {
        match self {
            Type::Aggregate(_, members) => {
                let all: Vec<Text> = members.iter().map(|m| m.member_value(rng)).collect();
                join(&all)
            }
            other => other.value(rng),
        }
    }
    /// Statements that add a value, the expression `at`, to the hash `h`.
    pub fn hash(&self, at: &str, out: &mut String) {
        match self {
            Type::Scalar(_, Kind::ComplexFloat | Kind::ComplexDouble) => {
                _ = write!(out, "h = add(h, (int64_t)(creal({at}) * 4)); h = add(h, (int64_t)(cimag({at}) * 4)); ");
            }
            Type::Scalar(_, Kind::Float | Kind::Double) => _ = write!(out, "h = add(h, (int64_t)({at} * 4)); "),
            Type::Scalar(..) => _ = write!(out, "h = add(h, (int64_t){at}); "),
            Type::Array(element, n) => (0..*n).for_each(|i| element.hash(&format!("{at}[{i}]"), out)),
            Type::Aggregate(_, members) => {
                members.iter().enumerate().for_each(|(i, m)| m.hash(&format!("{at}.m{i}"), out));
            }
        }
    }
}

fn join(all: &[Text]) -> Text {
    let list = |of: fn(&Text) -> &str| format!("{{{}}}", all.iter().map(of).collect::<Vec<_>>().join(", "));
    Text { c: list(|t| &t.c), lua: list(|t| &t.lua) }
}

fn scalar_value(name: &str, kind: Kind, rng: &mut Rng) -> Text {
    let quarters = |rng: &mut Rng| f64::from(rng.i16(..)) / 4.0;
    match kind {
        Kind::Signed(64) => Text::same(format!("{}LL", rng.i64(i64::MIN + 1..))),
        Kind::Unsigned(64) => Text::same(format!("{}ULL", rng.u64(..))),
        // Whether it has a sign depends on the machine.
        Kind::Signed(8) if name == "char" => Text::same(rng.u8(..128).to_string()),
        // Unary minus keeps the value in the range of the type.
        Kind::Signed(bits) => Text::same((rng.i64(-(1 << (bits - 1)) + 1..1 << (bits - 1))).to_string()),
        Kind::Unsigned(32) => {
            let v = rng.u32(..);
            Text { c: format!("{v}u"), lua: v.to_string() }
        }
        Kind::Unsigned(bits) => Text::same(rng.u64(..1 << bits).to_string()),
        Kind::Bool => Text::same(rng.bool().to_string()),
        Kind::Float | Kind::Double => Text::same(format!("{:?}", quarters(rng))),
        Kind::Pointer => {
            let v = rng.u32(..);
            Text { c: format!("(void *){v}ull"), lua: format!("ffi.cast('void *', {v})") }
        }
        Kind::Enum => Text { c: format!("E{}", rng.u8(..4)), lua: rng.u8(..1).to_string() }.enumerated(),
        Kind::ComplexFloat | Kind::ComplexDouble => {
            let (re, im) = (quarters(rng), quarters(rng));
            let part = if kind == Kind::ComplexFloat { "float" } else { "double" };
            Text { c: format!("(({part})({re:?}) + ({part})({im:?}) * I)"), lua: format!("ffi.new('{name}', {re:?}, {im:?})") }
        }
    }
}

impl Text {
    /// Gives Lua the number of the constant that C has by name.
    fn enumerated(self) -> Text {
        Text { lua: self.c[1..].into(), ..self }
    }
}
