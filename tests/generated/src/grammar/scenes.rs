//! Which scene comes where.

use super::Grammar;
use super::template::Template;
use crate::program::Node;

/// How often a template is looked for that the program can afford.
const TRIES: u32 = 3;

impl Grammar {
    /// Statements around one part of the language, in a place of their own.
    pub(crate) fn scene(&mut self, out: &mut Vec<Node>) {
        let visible = self.vars.len();
        let mut nodes = Vec::new();
        match self.rng.u32(0..100) {
            0..=19 => self.scene_places(&mut nodes),
            20..=29 => self.scene_objects(&mut nodes),
            _ => self.scene_of_template(&mut nodes),
        }
        self.vars.truncate(visible);
        if !nodes.is_empty() {
            out.push(Node::block("do", nodes, "end"));
        }
    }

    fn scene_of_template(&mut self, out: &mut Vec<Node>) {
        let fits = |g: &Grammar, t: &Template| g.affords(t.cost);
        let mut template = self.template();
        for _ in 0..TRIES {
            if !fits(self, template) {
                template = self.template();
            }
        }
        let times = *self.choose(&[1, 1, 1, 2, 4, 10]);
        let times = if self.affords(template.cost * times) { times } else { 1 };
        if !fits(self, template) {
            return;
        }
        self.cost += self.weight * template.cost * times;
        self.everywhere &= template.everywhere;
        self.templates.push(template.name.clone());
        let body = self.in_called(false, times, |g| g.in_loop(10, None, |g| g.expand(template)));
        match self.rng.u32(0..10) {
            0 => {
                out.push(Node::block("local go = coroutine.wrap(function()", body, "end)"));
                out.push(Node::line("P(pcall(go))"));
            }
            1..=3 => {
                // As a function that is called in some place.
                out.push(Node::block(
                    "local function body(q, r)",
                    [body, vec![Node::line("do return I(q) end")]].concat(),
                    "end",
                ));
                let mut calls = Vec::new();
                self.place("body", times, &mut calls);
                out.push(Node::block("P(pcall(function()", calls, "end))"));
            }
            4 => out.push(Node::block(format!("for w = 1, {times} do P(pcall(function()"), body, "end)) end")),
            _ if times > 1 => out.push(Node::block(format!("P(pcall(function() for w = 1, {times} do"), body, "end end))")),
            _ => out.push(Node::block("P(pcall(function()", body, "end))")),
        }
    }
}
