//! Functions with few and with very many slots, upvalues, parameters and results.

use super::{Grammar, Kind, Var};
use crate::program::Node;

/// Local variables that a function may have are 200; with temporaries its frame has up to 250 slots.
const COUNTS: &[usize] = &[1, 2, 3, 5, 8, 13, 20, 29, 30, 31, 45, 60, 76, 89, 90, 91, 110, 140, 170, 190];

impl Grammar {
    /// How many slots, upvalues or arguments something has.
    pub(super) fn how_many(&mut self, most: usize) -> usize {
        let n = if self.chance(50) { *self.choose(COUNTS) } else { self.rng.usize(1..200) };
        n.min(most)
    }

    /// A function of the arguments `q, r` that needs many slots, or has many upvalues, and gives a number. It is bound.
    pub(super) fn wide_function(&mut self, out: &mut Vec<Node>) -> String {
        let name = self.name("wide");
        let node = match self.rng.u32(0..12) {
            0..=4 => self.many_locals(&name),
            5..=6 => self.many_arguments(&name),
            7 => self.many_upvalues(&name, out),
            8 => self.many_temporaries(&name),
            9 => self.many_results(&name),
            _ => self.loaded(&name),
        };
        out.push(node);
        self.vars.push(Var { name: name.clone(), kind: Kind::Function, assignable: false, cost: 8 });
        name
    }

    fn many_locals(&mut self, name: &str) -> Node {
        let n = self.how_many(185);
        let vararg = self.chance(60);
        let names: Vec<String> = (1..=n).map(|i| format!("s{i}")).collect();
        let one = names[self.rng.usize(0..n)].clone();
        let mut body = vec![Node::line(match self.rng.u32(0..3) {
            0 => format!("local {}", names.join(", ")),
            1 if vararg => format!("local {} = ...", names.join(", ")),
            _ => format!("local {} = {}", names.join(", "), self.number(2)),
        })];
        if self.chance(40) {
            body.push(Node::line(format!("{one} = N({one}) + {}", self.number(2))));
        }
        if self.chance(40) && self.affords(10) {
            let times = *self.choose(&[2, 4, 9]);
            let step = Node::line(format!("{one} = N({one}) + w % 3"));
            body.push(Node::block(format!("for w = 1, {times} do"), vec![step], "end"));
        }
        if vararg && self.chance(30) {
            body.push(Node::line(format!("C(select(\"#\", ...)) {one} = N((...))")));
        }
        body.push(Node::line(match self.rng.u32(0..4) {
            0 => "return 1".into(),
            1 if vararg => "return ...".into(),
            2 => format!("return {one}, {}", names[n - 1]),
            _ => format!("return {one}"),
        }));
        let parameters = if vararg { "..." } else { "q, r" };
        Node::block(format!("local function {name}({parameters})"), body, "end")
    }

    fn many_arguments(&mut self, name: &str) -> Node {
        let n = self.how_many(180);
        let inner = self.name("inner");
        let names: Vec<String> = (1..=n).map(|i| format!("a{i}")).collect();
        let (parameters, result) = match self.rng.u32(0..3) {
            0 => ("...".into(), format!("select(\"#\", ...), (select(-{}, ...))", self.rng.usize(1..=n))),
            1 => (format!("{}, ...", names[..n.div_ceil(2)].join(", ")), format!("{}, select(\"#\", ...)", names[0])),
            _ => (names.join(", "), format!("{}, {}", names[n - 1], names[0])),
        };
        let values: Vec<String> = (0..n).map(|i| if i % 7 == 3 { "r".into() } else { format!("q + {i}") }).collect();
        let call = format!("{inner}({})", values.join(", "));
        let body = vec![
            Node::block(format!("local function {inner}({parameters})"), vec![Node::line(format!("return {result}"))], "end"),
            Node::line("q, r = N(q), N(r)"),
            Node::line(if self.chance(50) { format!("return {call}") } else { format!("return (N({call}))") }),
        ];
        Node::block(format!("local function {name}(q, r)"), body, "end")
    }

    fn many_upvalues(&mut self, name: &str, out: &mut Vec<Node>) -> Node {
        let n = self.how_many(59);
        let prefix = self.name("u");
        let names: Vec<String> = (1..=n).map(|i| format!("{prefix}_{i}")).collect();
        // A table of functions, so that the program does not run out of local variables.
        let one = names[self.rng.usize(0..n)].clone();
        let sum = names.iter().map(|n| format!("N({n})")).collect::<Vec<_>>().join(" + ");
        let set = Node::line(format!("{one} = N(q)"));
        let inner = Node::block("return function(q, r)", vec![set, Node::line(format!("return N({sum})"))], "end");
        let make = format!("{name}_make");
        let body = vec![Node::line(format!("local {} = {}", names.join(", "), self.number(2))), inner];
        out.push(Node::block(format!("local function {make}()"), body, "end"));
        if self.chance(50) {
            return Node::line(format!("local {name} = {make}()"));
        }
        Node::line(format!("local {name} = function(q, r) return {make}()(q, r) end"))
    }

    fn many_temporaries(&mut self, name: &str) -> Node {
        let n = self.how_many(180);
        let mut text = String::from("N(r)");
        let result = match self.rng.u32(0..3) {
            // Each level of the operand on the right needs a slot more.
            0 => {
                for i in 0..n.min(60) {
                    text = format!("q + {i} * ({text})");
                    if i % 8 == 7 {
                        text = format!("N({text})");
                    }
                }
                format!("N({text})")
            }
            1 => format!("#{{{}}}", (0..n).map(|i| format!("q + {i}")).collect::<Vec<_>>().join(", ")),
            _ => format!("#({})", vec!["q"; n].join(" .. ")),
        };
        let body = vec![Node::line("q = I(q)"), Node::line(format!("return {result}"))];
        Node::block(format!("local function {name}(q, r)"), body, "end")
    }

    fn many_results(&mut self, name: &str) -> Node {
        let n = self.how_many(190);
        let how = match self.rng.u32(0..5) {
            0 => format!("unpack({{1, 2, 3}}, 1, {n})"),
            1 => format!("(\"x\"):rep({n}):byte(1, -1)"),
            2 => format!("unpack({{...}}, -1, {n})"),
            3 => format!("select({}, unpack({{q = 1, 2, 3}}, 1, {n}))", self.rng.usize(1..=n)),
            _ => "...".into(),
        };
        let result = match self.rng.u32(0..4) {
            0 => format!("select(\"#\", {how})"),
            1 => format!("#{{{how}}}, 1"),
            2 => format!("(select(-1, {how}, 7))"),
            _ => how,
        };
        Node::block(format!("local function {name}(...)"), vec![Node::line(format!("return {result}"))], "end")
    }

    /// As a text that is loaded.
    fn loaded(&mut self, name: &str) -> Node {
        let n = self.how_many(190);
        let load = *self.choose(&["load", "loadstring"]);
        let end = *self.choose(&["return 1", "return ...", "return y", "= ... return y", "= ... y = 2 return y, ..."]);
        Node::line(format!("local {name} = {load}(\"local \" .. (\"x,\"):rep({n}) .. \"y {end}\")"))
    }
}
