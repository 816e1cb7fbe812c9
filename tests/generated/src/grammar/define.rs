//! Functions, closures, classes and coroutines.

use super::{Grammar, Kind, Var};
use crate::program::Node;

fn line(text: impl Into<String>) -> Node {
    Node::Line(text.into())
}

impl Grammar {
    /// A function of two arguments that the program can call: plain, with `...`, or recursive.
    pub(super) fn function(&mut self) -> Node {
        let name = self.name("f");
        let [a, b] = [self.name("a"), self.name("b")];
        let vararg = self.chance(25);
        let levels = if self.chance(25) { *self.choose(&[3, 10, 40]) } else { 0 };
        let (body, cost) = self.in_function(vararg, |g| {
            let mut body = Vec::new();
            if vararg {
                body.push(line(format!("local {a}, {b} = ...")));
            }
            body.push(line(format!("{a}, {b} = N({a}), N({b})")));
            // What counts down is not assigned to.
            g.vars.push(Var { name: a.clone(), kind: Kind::Number, assignable: levels == 0, cost: 0 });
            g.bind(&b, Kind::Number);
            if levels > 0 {
                body.push(line(format!("if {a} > {levels} then {a} = {levels} end")));
                body.push(line(format!("if {a} < 1 then return {} end", g.number(1))));
            }
            body.extend(g.body(4));
            let result = match g.rng.u32(0..6) {
                _ if levels > 0 => {
                    let operand = g.number(1);
                    let call = format!("{name}({a} - 1, {})", g.number(2));
                    if g.chance(30) { call } else { format!("N({call}) + {operand}") }
                }
                0 => format!("{}, {}", g.scalar(1), g.number(1)),
                1 if vararg => "...".into(),
                2 if vararg => format!("select({}, ...)", g.choose(&["2", "1", "-1"])),
                _ => g.scalar(0),
            };
            body.push(line(format!("return {result}")));
            body
        });
        self.vars.push(Var { name: name.clone(), kind: Kind::Function, assignable: false, cost: cost * (levels + 1) + 1 });
        let parameters = if vararg { "...".into() } else { format!("{a}, {b}") };
        Node::block(format!("local function {name}({parameters})"), body, "end")
    }

    /// A function without arguments over the variables around it.
    pub(super) fn closure(&mut self, out: &mut Vec<Node>) -> Node {
        let Some(v) = self.target(Kind::Number) else { return self.declare(Kind::Number) };
        let name = self.name("c");
        if self.chance(40) {
            // Each with a variable of its own.
            let (list, inner) = (self.name("list"), self.name("n"));
            out.push(line(format!("local {list} = {{}}")));
            let (step, _) = self.in_function(false, |g| g.number(2));
            let make =
                line(format!("{list}[{inner}] = function() {v} = N({v}) + 1 {inner} = {inner} + {step} return {inner} end"));
            out.push(Node::block(format!("for {inner} = 1, 3 do"), vec![make], "end"));
            self.vars.push(Var { name: format!("{list}[2]"), kind: Kind::Source, assignable: false, cost: 2 });
            return line(format!("C({list}[1]() + {list}[3]() + {list}[1]())"));
        }
        let (mut body, cost) = self.in_function(false, |g| g.body(2));
        body.push(line(format!("{v} = N({v}) + 1")));
        body.push(line(format!("return {v}")));
        self.vars.push(Var { name: name.clone(), kind: Kind::Source, assignable: false, cost: cost + 2 });
        Node::block(format!("local function {name}()"), body, "end")
    }

    /// A class with metamethods, and one object of it.
    pub(super) fn class(&mut self) -> Node {
        let (class, object) = (self.name("Class"), self.name("o"));
        let ((methods, cost), base) = (self.in_function(false, |g| g.methods(&class)), self.var(Kind::Object));
        let mut nodes = vec![line(format!("{class} = {{}}"))];
        nodes.push(match (&base, self.rng.u32(0..3)) {
            (Some(base), 0) => {
                line(format!("{class}.__index = setmetatable({class}, {{__index = getmetatable({})}})", base.name))
            }
            (_, 1) => {
                line(format!("{class}.__index = function(t, k) return {class}[k] or (k == \"a\" and {}) end", self.number(2)))
            }
            _ => line(format!("{class}.__index = {class}")),
        });
        nodes.extend(methods);
        nodes.push(line(format!("function {class}.new(x, y) return setmetatable({{x = N(x), y = y}}, {class}) end")));
        nodes.push(line(format!("{object} = {class}.new({}, {})", self.number(2), self.scalar(2))));
        let inherited = base.map_or(0, |b| b.cost);
        self.vars.push(Var { name: object.clone(), kind: Kind::Object, assignable: false, cost: cost + inherited + 3 });
        Node::block(format!("local {class}, {object} do"), nodes, "end")
    }

    fn methods(&mut self, class: &str) -> Vec<Node> {
        let (s, n) = (self.name("self"), self.name("n"));
        self.bind_fixed(&n, Kind::Number);
        let mut nodes = Vec::new();
        nodes.push(line(format!(
            "function {class}.get({s}, {n}) {n} = N({n}) {s}.x = N({s}.x) + 1 return {s}.x + {} end",
            self.number(2)
        )));
        for event in ["add", "sub", "mul", "lt", "le", "eq", "call", "unm", "concat", "newindex", "tostring", "len"] {
            if !self.chance(55) {
                continue;
            }
            let result = match event {
                "lt" | "le" | "eq" => format!("N({s}.x) <= N({n}.x)"),
                "concat" | "tostring" => format!("\"<\" .. T(type({s}) == \"table\" and {s}.x) .. \">\""),
                "newindex" => {
                    nodes.push(line(format!("function {class}.__newindex({s}, k, {n}) rawset({s}, k, N({n}) + 1) end")));
                    continue;
                }
                "add" | "sub" if self.chance(40) => {
                    nodes.push(line(format!(
                        "function {class}.__{event}({s}, {n}) return {class}.new(N(type({s}) == \"table\" and {s}.x) + 1, 0) end"
                    )));
                    continue;
                }
                _ => format!("N(type({s}) == \"table\" and {s}.x) + {}", self.number(2).replace(&n, &format!("N({n})"))),
            };
            nodes.push(line(format!("function {class}.__{event}({s}, {n}) return {result} end")));
        }
        nodes
    }

    /// A coroutine, resumed a few times.
    pub(super) fn coroutine(&mut self, out: &mut Vec<Node>) -> Node {
        if !self.affords(60) {
            return self.assign_or_show();
        }
        let (name, parameter) = (self.name("co"), self.name("p"));
        let times = *self.choose(&[3, 8, 30]);
        let body = self.in_called(true, 1, |g| {
            g.yields = true;
            let i = g.name("i");
            let mut body = vec![line(format!("local {parameter} = N((...))"))];
            g.bind(&parameter, Kind::Number);
            let inner = g.in_loop(times, None, |g| {
                g.bind_fixed(&i, Kind::Number);
                let mut inner = vec![line(format!("{parameter} = N(coroutine.yield({}))", g.scalar(1)))];
                inner.extend(g.body(2));
                inner
            });
            body.push(Node::block(format!("for {i} = 1, {times} do"), inner, "end"));
            body.push(line(format!("return {}", g.number(1))));
            body
        });
        if self.chance(50) {
            out.push(Node::block(format!("local {name} = coroutine.create(function(...)"), body, "end)"));
            let value = self.in_loop(times + 2, None, |g| g.scalar(1));
            let resume = line(format!("P(coroutine.resume({name}, {value}))"));
            let status = line(format!("C(coroutine.status({name}))"));
            return Node::block(format!("for {} = 1, {} do", self.name("r"), times + 2), vec![resume, status], "end");
        }
        out.push(Node::block(format!("local {name} = coroutine.wrap(function(...)"), body, "end)"));
        if self.chance(50) {
            let each = self.name("e");
            return Node::block(
                format!("P(pcall(function() for {each} in {name} do"),
                vec![line(format!("C({each})"))],
                "end end))",
            );
        }
        line(format!("P(pcall({name}, {})) P(pcall({name}))", self.scalar(1)))
    }

    fn assign_or_show(&mut self) -> Node {
        line(format!("C({})", self.scalar(1)))
    }
}
