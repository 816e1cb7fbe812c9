//! The grammar. Here: the state of the generator, with names in scope, loops around, and what the program made so far costs to run.

mod define;
mod expr;
mod objects;
mod places;
mod scenes;
mod slots;
mod stmt;
mod template;
#[cfg(test)]
mod tests;

use crate::program::Node;

/// A program of the grammar.
pub struct Program {
    /// Its statements.
    pub nodes: Vec<Node>,
    /// Does it mean the same to LuaJIT?
    pub everywhere: bool,
    /// Statements that it may run.
    pub budget: u64,
    /// The templates that it is made from.
    pub templates: Vec<String>,
}

/// What a variable holds, as far as the generator keeps to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    /// Numbers and strings from 1 on, without holes.
    Array,
    /// A table with keys of any kind.
    Map,
    /// A function of two arguments.
    Function,
    /// An instance of a class of the program.
    Object,
    /// A function that counts, or a wrapped coroutine: called without arguments.
    Source,
}

/// A local variable.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    kind: Kind,
    /// May statements assign to it? Not to loop variables that count.
    assignable: bool,
    /// Statements that a call runs.
    cost: u64,
}

/// Makes one program.
pub struct Grammar {
    rng: fastrand::Rng,
    vars: Vec<Var>,
    /// Names that were given.
    names: u32,
    /// Blocks around this place.
    depth: u32,
    /// Statements that the program may run.
    budget: u64,
    /// Is there nothing in it that LuaJIT does not know, or does otherwise?
    everywhere: bool,
    /// Names of the templates used.
    templates: Vec<String>,
    /// How often the statement being made is run.
    weight: u64,
    /// Statements run by the function being made.
    cost: u64,
    /// Labels that continue the loops around, innermost last.
    labels: Vec<String>,
    /// Is this the body of a function with `...`?
    vararg: bool,
    /// Is this the body of a coroutine?
    yields: bool,
    /// Is this the body of a function (not of the program)?
    function: bool,
}

impl Grammar {
    /// For the program of a seed, which is the same everywhere and always.
    pub fn new(seed: u64) -> Grammar {
        Grammar {
            rng: fastrand::Rng::with_seed(seed),
            vars: Vec::new(),
            names: 0,
            depth: 0,
            budget: 0,
            everywhere: true,
            templates: Vec::new(),
            weight: 1,
            cost: 0,
            labels: Vec::new(),
            vararg: false,
            yields: false,
            function: false,
        }
    }

    /// A whole program, without the prelude. Most are small: what goes wrong mostly does so in few lines.
    pub fn program(mut self) -> Program {
        let large = self.rng.u32(0..100);
        let (budget, size) = match large {
            0..=69 => (self.rng.u64(150..400), 1),
            70..=93 => (self.rng.u64(400..1200), 2),
            94..=98 => (self.rng.u64(1200..4000), 3),
            _ => (10_000, 4),
        };
        self.budget = budget;
        let nodes = self.sections(size);
        Program { nodes, everywhere: self.everywhere, budget, templates: self.templates }
    }

    fn sections(&mut self, size: u32) -> Vec<Node> {
        let mut nodes = Vec::new();
        let kinds = [Kind::Number, Kind::Number, Kind::Text, Kind::Array, Kind::Map, Kind::Number];
        for kind in &kinds[..3 + size.min(3) as usize] {
            nodes.push(self.declare(*kind));
        }
        for _ in 0..self.rng.u32(0..size + 1) / 2 {
            nodes.push(self.class());
        }
        for _ in 0..self.rng.u32(0..size + 1) {
            nodes.push(self.function());
        }
        let visible = self.vars.len();
        for _ in 0..self.rng.u32(1..=size) {
            let rounds = *self.choose(&[1, 3, 10, 30]);
            if self.chance(75) {
                self.scene(&mut nodes);
                continue;
            }
            let body = self.in_loop(rounds, None, |g| {
                let most = g.rng.u32(1..2 + 2 * size);
                g.statements(most)
            });
            let counter = self.name("round");
            let open = format!("P(pcall(function() for {counter} = 1, {rounds} do");
            nodes.push(Node::block(open, body, "end end))"));
        }
        for var in &self.vars[..visible] {
            if matches!(var.kind, Kind::Number | Kind::Text) {
                nodes.push(Node::Line(format!("P(\"{0}\", {0})", var.name)));
            }
        }
        nodes
    }

    /// A name that no other variable has.
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.rng.usize(0..from.len())]
    }

    /// A variable of a kind in scope.
    fn var(&mut self, kind: Kind) -> Option<Var> {
        let fit: Vec<usize> = (0..self.vars.len()).filter(|&i| self.vars[i].kind == kind).collect();
        self.one_of(&fit).cloned()
    }

    /// The name of a variable of a kind that may be assigned to.
    fn target(&mut self, kind: Kind) -> Option<String> {
        let fit: Vec<usize> = (0..self.vars.len()).filter(|&i| self.vars[i].kind == kind && self.vars[i].assignable).collect();
        self.one_of(&fit).map(|v| v.name.clone())
    }

    fn one_of(&mut self, places: &[usize]) -> Option<&Var> {
        if places.is_empty() {
            return None;
        }
        let place = *self.choose(places);
        self.vars.get(place)
    }

    fn bind(&mut self, name: &str, kind: Kind) {
        self.vars.push(Var { name: name.into(), kind, assignable: true, cost: 0 });
    }

    fn bind_fixed(&mut self, name: &str, kind: Kind) {
        self.vars.push(Var { name: name.into(), kind, assignable: false, cost: 0 });
    }

    /// May this place run `more` statements each time?
    fn affords(&self, more: u64) -> bool {
        self.cost + self.weight * more < self.budget
    }

    /// Statements in a block of their own.
    fn body(&mut self, most: u32) -> Vec<Node> {
        let n = self.rng.u32(1..=most);
        self.scope(|g| g.statements(n))
    }

    fn scope<T>(&mut self, make: impl FnOnce(&mut Grammar) -> T) -> T {
        let visible = self.vars.len();
        self.depth += 1;
        let made = make(self);
        self.depth -= 1;
        self.vars.truncate(visible);
        made
    }

    /// A block that runs `times` times; `label` continues the loop.
    fn in_loop<T>(&mut self, times: u64, label: Option<String>, make: impl FnOnce(&mut Grammar) -> T) -> T {
        let weight = self.weight;
        self.weight *= times;
        let labelled = label.is_some();
        self.labels.extend(label);
        let made = self.scope(make);
        if labelled {
            self.labels.pop();
        }
        self.weight = weight;
        made
    }

    /// The body of a function, and the statements that one call runs.
    fn in_function<T>(&mut self, vararg: bool, make: impl FnOnce(&mut Grammar) -> T) -> (T, u64) {
        let outer = (self.weight, self.cost, self.vararg, self.yields, self.function);
        let labels = std::mem::take(&mut self.labels);
        (self.weight, self.cost, self.vararg, self.yields, self.function) = (1, 1, vararg, false, true);
        let made = self.scope(make);
        let cost = self.cost;
        (self.weight, self.cost, self.vararg, self.yields, self.function) = outer;
        self.labels = labels;
        (made, cost)
    }

    /// The body of a function that this place calls so many times each time that it is run: no more than its share of what the program
    /// may run, which is counted here.
    fn in_called<T>(&mut self, vararg: bool, calls: u64, make: impl FnOnce(&mut Grammar) -> T) -> T {
        /// Something is to be in it even where no more is afforded.
        const LEAST: u64 = 25;
        let budget = self.budget;
        let left = budget.saturating_sub(self.cost) / (self.weight * calls);
        self.budget = left.clamp(LEAST.min(budget), budget);
        let (made, cost) = self.in_function(vararg, make);
        self.budget = budget;
        self.cost += self.weight * calls * cost;
        made
    }

    fn statements(&mut self, n: u32) -> Vec<Node> {
        let mut nodes = Vec::new();
        for _ in 0..n {
            self.cost += self.weight;
            self.statement(&mut nodes);
        }
        nodes
    }
}
