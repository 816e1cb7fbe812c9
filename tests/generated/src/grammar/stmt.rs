//! Statements.

use super::{Grammar, Kind};
use crate::program::Node;

fn line(text: impl Into<String>) -> Node {
    Node::line(text)
}

impl Grammar {
    /// Adds a statement (with what it needs around it).
    pub(super) fn statement(&mut self, out: &mut Vec<Node>) {
        // Deep inside only what nests no further.
        let most = if self.depth > 6 { 48 } else { 100 };
        let node = match self.rng.u32(0..most) {
            0..=7 => {
                let kind = *self.choose(&[Kind::Number, Kind::Number, Kind::Text, Kind::Array, Kind::Map, Kind::Object]);
                self.declare(kind)
            }
            8..=20 => self.assign(),
            21..=24 => self.assign_text(),
            25..=31 => self.store(),
            32..=35 => self.array(),
            36..=39 => self.show(),
            40..=42 => self.leave(),
            43..=45 => self.count(),
            46..=47 => self.yields(),
            48..=59 => self.branch(),
            60..=67 => self.numeric_for(),
            68..=72 => self.conditional_loop(out),
            73..=79 => self.generic_for(),
            80..=84 if !self.function => self.function(),
            80..=85 => self.closure(out),
            86..=92 => self.protected(),
            93..=95 => self.coroutine(out),
            96 => {
                let body = self.body(3);
                Node::block("do", body, "end")
            }
            97 => return self.scene(out),
            _ => line(format!("P(pcall(function() return {} end))", self.in_called(false, 1, |g| g.wild()))),
        };
        out.push(node);
    }

    /// A local variable of a kind.
    pub(super) fn declare(&mut self, kind: Kind) -> Node {
        let value = match kind {
            Kind::Number => self.number(1),
            Kind::Text => self.string(1),
            Kind::Array => (*self.choose(&["{}", "{1, 2, 3}", "{5, 4, 3, 2, 1}", "{\"b\", \"a\"}", "{0.5, 1, 2}"])).into(),
            Kind::Object => match self.var(Kind::Object) {
                Some(v) => format!("getmetatable({}).new({}, {})", v.name, self.number(2), self.scalar(2)),
                None => return self.declare(Kind::Number),
            },
            _ => (*self.choose(&[
                "{}",
                "{x = 1, y = 2}",
                "{1, 2, x = 3}",
                "{[0] = 1, a = \"s\"}",
                "setmetatable({}, {__index = {x = 5}})",
            ]))
            .into(),
        };
        let cost = self.var(kind).map_or(0, |v| v.cost);
        let name = self.name("v");
        self.bind(&name, kind);
        if let Some(last) = self.vars.last_mut() {
            last.cost = cost;
        }
        line(format!("local {name} = {value}"))
    }

    fn assign(&mut self) -> Node {
        let Some(a) = self.target(Kind::Number) else { return self.declare(Kind::Number) };
        match self.target(Kind::Number) {
            Some(b) if self.chance(15) => line(format!("{a}, {b} = {}, {a}", self.number(1))),
            Some(b) if self.chance(5) => match self.var(Kind::Function) {
                Some(f) if self.affords(f.cost) => {
                    self.cost += self.weight * f.cost;
                    line(format!("{a}, {b} = {}({}, {})", f.name, self.any(2), self.any(2)))
                }
                _ => line(format!("{a} = N({a}) + 1")),
            },
            _ if self.chance(20) => line(format!("{a} = {a} + {}", self.number(1))),
            _ => line(format!("{a} = {}", self.number(0))),
        }
    }

    fn assign_text(&mut self) -> Node {
        let Some(a) = self.target(Kind::Text) else { return self.declare(Kind::Text) };
        line(format!("{a} = S({})", self.string(0)))
    }

    fn store(&mut self) -> Node {
        let kind = if self.chance(25) { Kind::Object } else { Kind::Map };
        let Some(t) = self.var(kind) else { return self.declare(Kind::Map) };
        if kind == Kind::Object {
            return line(format!("{}.{} = {}", t.name, self.choose(&["x", "y", "z"]), self.scalar(1)));
        }
        let value = if self.chance(10) { "nil".into() } else { self.scalar(1) };
        let key = self.key(0);
        if self.chance(20) {
            return line(format!("{0}[{key}] = N({0}[{key}]) + {1}", t.name, self.number(1)));
        }
        line(format!("{}[{key}] = {value}", t.name))
    }

    fn array(&mut self) -> Node {
        let Some(t) = self.var(Kind::Array).map(|v| v.name) else { return self.declare(Kind::Array) };
        match self.rng.u32(0..12) {
            0..=3 => {
                let value = if self.chance(80) { self.number(1) } else { self.string(1) };
                line(format!("do local v = {value} if #{t} < 100 then {t}[#{t} + 1] = v end end"))
            }
            4 => line(format!("if #{t} < 100 then table.insert({t}, {}) end", self.number(1))),
            5 => line(format!("if #{t} < 100 then table.insert({t}, 1, {}) end", self.number(1))),
            6 => line(format!("C(table.remove({t}))")),
            7 => line(format!("C(table.remove({t}, 1))")),
            8 => line(format!("do local k, v = I({}), {} {t}[k % (#{t} + 1) + 1] = v end", self.number(1), self.number(1))),
            9 => line(format!("P(pcall(table.sort, {t}))")),
            10 => line(format!("table.sort({t}, function(p, q) return N(p) > N(q) end)")),
            _ => line(format!("C(select(\"#\", unpack({t}))) C((unpack({t})))")),
        }
    }

    fn show(&mut self) -> Node {
        if self.chance(30) {
            return line(format!("P({}, {})", self.any(1), self.scalar(2)));
        }
        line(format!("C({})", self.scalar(1)))
    }

    /// Out of a loop, on with a loop, out of a function, or an error.
    fn leave(&mut self) -> Node {
        let condition = self.condition(1);
        let label = self.labels.last().cloned();
        let what = match (self.rng.u32(0..6), label) {
            (0..=1, Some(_)) => "break".into(),
            (2..=3, Some(label)) => format!("goto {label}"),
            (4, _) if self.function && !self.yields => format!("return {}", self.scalar(1)),
            (5, _) => {
                let error = *self.choose(&[
                    "\"oops\"",
                    "{}",
                    "nil",
                    "\"here\", 2",
                    "\"plain\", 0",
                    "42",
                    "setmetatable({}, {__tostring = function() return \"e\" end})",
                ]);
                // Seldom, or little else would run.
                format!("if seldom() then error({error}) end")
            }
            _ => format!("C({})", self.number(1)),
        };
        line(format!("if {condition} then {what} end"))
    }

    fn count(&mut self) -> Node {
        match self.var(Kind::Source) {
            Some(v) if self.affords(v.cost) => {
                self.cost += self.weight * v.cost;
                line(format!("C({}())", v.name))
            }
            _ => line(format!("C({})", self.number(1))),
        }
    }

    fn yields(&mut self) -> Node {
        if self.yields {
            return line(format!("C(coroutine.yield({}))", self.scalar(1)));
        }
        line(format!("C({})", self.scalar(1)))
    }

    fn branch(&mut self) -> Node {
        let mut parts = vec![(format!("if {} then", self.condition(0)), self.body(3))];
        if self.chance(15) {
            parts.push((format!("elseif {} then", self.condition(0)), self.body(2)));
        }
        if self.chance(50) {
            parts.push(("else".into(), self.body(3)));
        }
        Node::Block(parts, "end".into())
    }

    /// How often a loop here may run.
    fn times(&mut self) -> Option<u64> {
        let times = *self.choose(&[2, 3, 5, 10, 20, 30, 70, 120]);
        if self.affords(times * 6) {
            return Some(times);
        }
        self.affords(12).then_some(2)
    }

    /// The body of a loop, inside a block that `goto` can leave to continue the loop.
    fn loop_body(&mut self, times: u64, names: &[(&str, Kind)]) -> (Vec<Node>, String) {
        let label = self.name("next");
        let body = self.in_loop(times, Some(label.clone()), |g| {
            for (name, kind) in names {
                g.bind_fixed(name, *kind);
            }
            g.body(4)
        });
        (body, label)
    }

    fn numeric_for(&mut self) -> Node {
        let Some(n) = self.times() else { return self.assign() };
        let i = self.name("i");
        let range = match self.rng.u32(0..8) {
            0 => format!("{n}, 1, -1"),
            1 => format!("1, {n} * 2, 2"),
            2 => format!("0.5, {n}"),
            3 => format!("0, {n} * 1.5 - 1, 1.5"),
            4 => format!("{0}, {0} + {n} - 1", self.choose(&["2147483630", "-5", "-2147483648", "2^46 - 1000"])),
            5 => format!("1, I({}) % {n} + 1", self.number(1)),
            _ => format!("1, {n}"),
        };
        let (body, label) = self.loop_body(n, &[(&i, Kind::Number)]);
        Node::block(format!("for {i} = {range} do do"), body, format!("end ::{label}:: end"))
    }

    fn conditional_loop(&mut self, out: &mut Vec<Node>) -> Node {
        let Some(n) = self.times() else { return self.assign() };
        let w = self.name("w");
        out.push(line(format!("local {w} = 0")));
        self.bind_fixed(&w, Kind::Number);
        let condition = if self.chance(30) { format!(" and {}", self.condition(1)) } else { String::new() };
        let (body, label) = self.loop_body(n, &[]);
        if self.chance(60) {
            return Node::block(format!("while {w} < {n}{condition} do {w} = {w} + 1 do"), body, format!("end ::{label}:: end"));
        }
        Node::block(format!("repeat {w} = {w} + 1 do"), body, format!("end ::{label}:: until {w} >= {n}"))
    }

    fn generic_for(&mut self) -> Node {
        let (k, v) = (self.name("k"), self.name("e"));
        let Some(n) = self.times().filter(|_| self.affords(120 * 4)) else { return self.assign() };
        let (over, n, kind) = match (self.rng.u32(0..10), self.var(Kind::Array), self.var(Kind::Map)) {
            (0..=1, Some(t), _) => (format!("ipairs({})", t.name), 20, Some(Kind::Number)),
            (2, _, Some(t)) => (format!("ipairs(K({}))", t.name), 8, Some(Kind::Number)),
            (3..=4, _, Some(t)) => {
                // The order is nobody's business, so the body may only add up.
                let open = format!("for {k}, {v} in {} do", self.choose(&["pairs(T)", "next, T"]).replace('T', &t.name));
                self.cost += self.weight * 10;
                return Node::block(open, vec![line(format!("A({k}, {v})"))], "end");
            }
            // Builtins whose results are of many types.
            (5, ..) => (format!("rawget, chain, {}", self.choose(&["\"s\"", "1", "2.5", "true"])), 8, None),
            (6, Some(t), _) => {
                let yielding = format!("for i = 1, #{0} do coroutine.yield({0}[i], {1}) end", t.name, self.any(2));
                (format!("coroutine.wrap(function() {yielding} end)"), 20, None)
            }
            (7, Some(t), _) => (format!("each({}, {})", t.name, self.any(2)), 20, None),
            (8, ..) => (format!("string.gmatch({}, \"(.)(.?)\")", self.string(2)), 20, Some(Kind::Text)),
            _ => {
                let start = self.number(2);
                (format!("function(s, c) if c < s then return c + 1, {start} end end, {n}, 0"), n, Some(Kind::Number))
            }
        };
        let names = kind.map(|kind| (k.as_str(), kind));
        let (body, label) = self.loop_body(n, names.as_slice());
        let open = format!("for {k}, {v} in {over} do C({k}) C({v}) do");
        Node::block(open, body, format!("end ::{label}:: end"))
    }

    fn protected(&mut self) -> Node {
        if !self.affords(20) {
            return self.assign();
        }
        let yields = self.yields;
        let body = self.in_called(false, 1, |g| {
            g.yields = yields;
            let mut body = g.body(3);
            body.push(match g.rng.u32(0..5) {
                0 => line(format!("do return {}, {} end", g.number(1), g.scalar(1))),
                1 => line(format!("do return {} end", g.wild())),
                2 => line(format!("assert({}, \"no\")", g.condition(1))),
                _ => line(format!("C({})", g.number(1))),
            });
            body
        });
        match self.rng.u32(0..5) {
            0 => Node::block("P(xpcall(function(...)", body, "end, function(e) return text(e) .. \"!\" end, 1, 2))"),
            1 => Node::block("P(select(\"#\", pcall(function()", body, "end)))"),
            _ => Node::block("P(pcall(function()", body, "end))"),
        }
    }
}
