//! Expressions.

use super::{Grammar, Kind};

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "10",
    "-1",
    "0.5",
    "1.5",
    "-2.25",
    "100",
    "255",
    "65536",
    "2147483647",
    "-2147483648",
    "1e10",
    "3.0",
    "-0.0",
    "1/0",
    "0/0",
    "2^53",
    "0x7fffffff",
    "1e-3",
];
const TEXTS: &[&str] = &["\"a\"", "\"bc\"", "\"x\"", "\"10\"", "\"hello world\"", "\"\"", "\"a,b,,c\"", "\"0x1p4\"", "\" 7 \""];
const FIELDS: &[&str] = &["x", "y", "z", "a"];
const PATTERNS: &[&str] =
    &["\"%w+\"", "\"l+\"", "\"(%w)(%w)\"", "\"%d+\"", "\"[^,]*\"", "\"o\"", "\".-e\"", "\"^%s*\"", "\"()b\"", "\"%f[%w]%w\""];

impl Grammar {
    /// An expression that gives a number (or raises an error).
    pub(super) fn number(&mut self, depth: u32) -> String {
        let deep = depth > 3;
        match self.rng.u32(0..100) {
            _ if deep => self.number_leaf(),
            0..=44 => self.number_leaf(),
            45..=69 => {
                let op = *self.choose(&["+", "-", "*", "+", "-", "*", "/", "%"]);
                format!("({} {op} {})", self.number(depth + 1), self.number(depth + 1))
            }
            // Exact, since LuaJIT has more than one way to raise to a power, with other last digits.
            70..=71 => format!("(I({}) ^ {})", self.number(depth + 1), self.choose(&["2", "0.5", "3"])),
            72..=74 => format!("(- {})", self.number(depth + 1)),
            75..=79 => self.bits(depth),
            80..=83 => self.mathematics(depth),
            84..=85 => format!("#{}", self.string(depth + 1)),
            86..=87 => format!("(tonumber({}) or {})", self.string(depth + 1), self.number_leaf()),
            88..=91 => self.element(depth),
            92..=93 => self.select(depth),
            _ => self.call(depth),
        }
    }

    fn number_leaf(&mut self) -> String {
        match self.rng.u32(0..10) {
            0..=5 => self.var(Kind::Number).map_or_else(|| "1".into(), |v| v.name),
            6..=8 => (*self.choose(&["1", "2", "3", "4", "5"])).into(),
            _ => (*self.choose(NUMBERS)).into(),
        }
    }

    fn bits(&mut self, depth: u32) -> String {
        let op = *self.choose(&["band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror"]);
        match self.rng.u32(0..8) {
            0 => format!("bit.bnot({})", self.number(depth + 1)),
            1 => format!("bit.bswap({})", self.number(depth + 1)),
            2 => format!("bit.tobit({})", self.number(depth + 1)),
            _ => format!("bit.{op}({}, {})", self.number(depth + 1), self.number(depth + 1)),
        }
    }

    fn mathematics(&mut self, depth: u32) -> String {
        let x = self.number(depth + 1);
        match self.rng.u32(0..6) {
            0 => format!("math.max({x}, {})", self.number(depth + 1)),
            1 => format!("math.min({x}, {}, 2)", self.number(depth + 1)),
            2 => format!("math.fmod(N({x}), 7)"),
            _ => format!("math.{}({x})", self.choose(&["floor", "ceil", "abs", "sqrt"])),
        }
    }

    /// Something out of a table, as a number.
    fn element(&mut self, depth: u32) -> String {
        let kind = *self.choose(&[Kind::Array, Kind::Map, Kind::Object]);
        match (self.var(kind), kind) {
            (Some(v), Kind::Array) => match self.rng.u32(0..4) {
                0 => format!("#{}", v.name),
                1 => format!("N({0}[#{0}])", v.name),
                _ => format!("N({}[{}])", v.name, self.number(depth + 2)),
            },
            (Some(v), Kind::Object) => format!("N({}.{})", v.name, self.choose(FIELDS)),
            (Some(v), _) => format!("N({}[{}])", v.name, self.key(depth + 1)),
            (None, _) => self.number_leaf(),
        }
    }

    fn select(&mut self, depth: u32) -> String {
        if !self.vararg {
            return self.number_leaf();
        }
        match self.rng.u32(0..4) {
            0 => "select(\"#\", ...)".into(),
            1 => format!("N((select({}, ...)))", self.choose(&["1", "2", "-1", "3"])),
            2 => "#{...}".into(),
            _ => format!("N(({{...}})[{}])", self.number(depth + 2)),
        }
    }

    /// The call of a function of the program.
    fn call(&mut self, depth: u32) -> String {
        let kind = *self.choose(&[Kind::Function, Kind::Function, Kind::Source, Kind::Object]);
        let Some(v) = self.var(kind) else { return self.number_leaf() };
        if !self.affords(v.cost.max(1)) {
            return self.number_leaf();
        }
        self.cost += self.weight * v.cost;
        match kind {
            Kind::Function => format!("N({}({}, {}))", v.name, self.any(depth + 1), self.any(depth + 1)),
            Kind::Source => format!("N({}())", v.name),
            _ => match self.rng.u32(0..4) {
                0 => format!("N({}:get({}))", v.name, self.number(depth + 1)),
                1 => format!("N({} {} {})", v.name, self.choose(&["+", "-", "*"]), self.number(depth + 1)),
                2 => format!("N({}({}))", v.name, self.number(depth + 1)),
                _ => format!("N({}[{}])", v.name, self.number(depth + 1)),
            },
        }
    }

    /// A key of a map.
    pub(super) fn key(&mut self, depth: u32) -> String {
        match self.rng.u32(0..10) {
            0..=1 => format!("{} % 8", self.number(depth + 2)),
            2..=4 => (*self.choose(&["1", "2", "3", "4", "2.5", "-1", "true"])).into(),
            5..=8 => format!("\"{}\"", self.choose(FIELDS)),
            _ => self.string(depth + 2),
        }
    }

    /// An expression that gives a string (or raises an error).
    pub(super) fn string(&mut self, depth: u32) -> String {
        match self.rng.u32(0..100) {
            _ if depth > 3 => self.string_leaf(),
            0..=44 => self.string_leaf(),
            45..=59 => {
                let (a, b) = (self.string(depth + 1), self.part(depth + 1));
                if self.chance(30) { format!("S({a} .. {b} .. {})", self.part(depth + 1)) } else { format!("S({a} .. {b})") }
            }
            60..=64 => format!("tostring(I({}))", self.number(depth + 1)),
            65..=74 => {
                format!("S({}:sub({}, {}))", self.prefix(depth), self.choose(&["1", "2", "-2", "0"]), self.number(depth + 2))
            }
            75..=79 => format!("{}:{}()", self.prefix(depth), self.choose(&["upper", "lower", "reverse"])),
            80..=82 => format!("{}:rep({})", self.prefix(depth), self.choose(&["0", "1", "2", "3"])),
            83..=86 => self.format(depth),
            87..=90 => format!("S(({}:match({})))", self.prefix(depth), self.choose(PATTERNS)),
            91..=94 => {
                let to = *self.choose(&["\"%0%0\"", "\"-\"", "\"\"", "string.upper", "{o = \"0\", l = false}"]);
                format!("S(({}:gsub({}, {to})))", self.prefix(depth), self.choose(PATTERNS))
            }
            95..=96 => format!("string.char(I({}) % 128)", self.number_leaf()),
            97..=98 => self.var(Kind::Array).map_or("\"\"".into(), |v| format!("S(J({}))", v.name)),
            _ => format!("type({})", self.any(depth + 1)),
        }
    }

    fn string_leaf(&mut self) -> String {
        let var = if self.chance(60) { self.var(Kind::Text) } else { None };
        var.map_or_else(|| (*self.choose(TEXTS)).into(), |v| v.name)
    }

    /// An operand of a concatenation.
    fn part(&mut self, depth: u32) -> String {
        if self.chance(40) { format!("{}({})", self.choose(&["T", "I"]), self.number(depth + 1)) } else { self.string(depth + 1) }
    }

    /// A string that a method can be called on.
    fn prefix(&mut self, depth: u32) -> String {
        format!("({})", self.string(depth + 1))
    }

    fn format(&mut self, depth: u32) -> String {
        match self.rng.u32(0..6) {
            0 => format!("string.format(\"%d|%5d\", I({}), I({}))", self.number(depth + 1), self.number_leaf()),
            1 => format!("string.format(\"%s|%s\", {}, {})", self.string(depth + 1), self.condition(depth + 1)),
            2 => format!("string.format(\"%.3f\", I({}) / 10)", self.number(depth + 1)),
            3 => format!("string.format(\"%q\", S({}))", self.string(depth + 1)),
            4 => format!("string.format(\"%-8s|%x\", {}, I({}))", self.string(depth + 1), self.number_leaf()),
            _ => format!("string.format(\"%g\", I({}) / 100)", self.number(depth + 1)),
        }
    }

    /// A number, a string or a boolean.
    pub(super) fn scalar(&mut self, depth: u32) -> String {
        match self.rng.u32(0..8) {
            0..=3 => self.number(depth),
            4..=6 => self.string(depth),
            _ => self.condition(depth),
        }
    }

    /// A value of any type.
    pub(super) fn any(&mut self, depth: u32) -> String {
        let kind = match self.rng.u32(0..16) {
            0 => Kind::Map,
            1 => Kind::Array,
            2 => Kind::Object,
            3 => Kind::Function,
            4 => return "nil".into(),
            _ => return self.scalar(depth),
        };
        self.var(kind).map_or_else(|| "nil".into(), |v| v.name)
    }

    /// An expression used as a condition.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        match self.rng.u32(0..100) {
            0..=54 => {
                let op = *self.choose(&["<", "<=", ">", ">=", "==", "~="]);
                format!("({} {op} {})", self.number(depth + 1), self.number(depth + 1))
            }
            55..=64 => {
                let op = *self.choose(&["<", "<=", "==", "~="]);
                format!("({} {op} {})", self.string(depth + 1), self.string(depth + 1))
            }
            65..=76 if depth < 3 => {
                let op = *self.choose(&["and", "or"]);
                format!("({} {op} {})", self.condition(depth + 1), self.condition(depth + 1))
            }
            77..=82 if depth < 3 => format!("(not {})", self.condition(depth + 1)),
            83..=88 => format!("({} == {})", self.any(depth + 2), self.any(depth + 2)),
            89..=92 => self.var(Kind::Map).map_or("false".into(), |v| format!("{}[{}]", v.name, self.key(depth + 1))),
            93..=95 => {
                let (Some(a), Some(b)) = (self.var(Kind::Object), self.var(Kind::Object)) else { return "true".into() };
                format!("({} {} {})", a.name, self.choose(&["<", "<=", "=="]), b.name)
            }
            _ => format!("(type({}) == \"number\")", self.any(depth + 2)),
        }
    }

    /// An operation on operands of any types: often an error.
    pub(super) fn wild(&mut self) -> String {
        let op = *self.choose(&["+", "-", "*", "/", "%", "..", "<", "<=", "==", "^"]);
        match self.rng.u32(0..8) {
            0..=3 => format!("{} {op} {}", self.any(2), self.any(2)),
            4 => format!("({})[{}]", self.any(2), self.any(2)),
            5 => format!("({})({})", self.any(2), self.any(2)),
            6 => format!("- ({})", self.any(2)),
            // Not of a map, which may have more than one border.
            _ => format!("#({})", self.scalar(2)),
        }
    }
}
