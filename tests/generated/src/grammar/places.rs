//! Calls in every place that Lua knows: loops, coroutines, metamethods, callbacks of builtins, handlers, finalizers.

use super::Grammar;
use crate::program::Node;

/// Metamethods of an operation on `o` and the number `q`.
const EVENTS: &[(&str, &str)] = &[
    ("index", "o[q]"),
    ("index", "o.x"),
    ("newindex", "(function() o[q] = 1 return 2 end)()"),
    ("add", "o + q"),
    ("sub", "q - o"),
    ("mul", "o * o"),
    ("div", "o / q"),
    ("mod", "o % q"),
    ("pow", "o ^ q"),
    ("unm", "-o"),
    ("len", "#o"),
    ("concat", "o .. q"),
    ("concat", "q .. \"x\" .. o"),
    ("call", "o(q, 2)"),
    ("call", "(o(q))"),
    ("eq", "o == o2"),
    ("lt", "o < o2"),
    ("lt", "o2 > o"),
    ("le", "o <= o2"),
    ("le", "o2 >= o"),
    ("tostring", "#tostring(o)"),
];

impl Grammar {
    /// Calls of something in a place, some times. Something may be a function of many slots, one that yields, or one that fails.
    pub(super) fn scene_places(&mut self, out: &mut Vec<Node>) {
        let times = *self.choose(&[2, 3, 4, 5, 8, 12, 20]);
        if !self.affords(times * 14) {
            return;
        }
        self.cost += self.weight * times * 14;
        let resumed = self.chance(25);
        let nodes = self.in_called(false, 1, |g| {
            let mut nodes = Vec::new();
            let mut name = g.called(times, &mut nodes);
            // One place inside another.
            for _ in 0..g.rng.u32(0..3) / 2 {
                name = g.wrapped(&name, &mut nodes);
            }
            g.place(&name, times, &mut nodes);
            nodes
        });
        if resumed {
            out.push(Node::block("local go = coroutine.wrap(function(...)", nodes, "end)"));
            out.push(Node::line(format!("for w = 1, {} do P(pcall(go, w)) end", times + 2)));
        } else {
            out.push(Node::block("P(pcall(function()", nodes, "end))"));
        }
    }

    /// A function of one number, the name of which is given, to be called so many times. May yield or fail.
    fn called(&mut self, times: u64, out: &mut Vec<Node>) -> String {
        let wide = if self.chance(65) { Some(self.wide_function(out)) } else { None };
        let name = self.name("body");
        let mut body = self.in_called(false, times, |g| {
            let mut body = vec![Node::line("local s = I(q)")];
            if g.chance(60) {
                let times = *g.choose(&[1, 2, 3, 6, 12]);
                body.push(Node::block(format!("for i = 1, {times} do"), vec![Node::line("s = s + i % 3")], "end"));
            }
            if g.chance(20) {
                body.extend(g.body(2));
            }
            body
        });
        if let Some(wide) = wide {
            body.push(Node::line(match self.rng.u32(0..6) {
                0 => format!("local r = {wide}(q)"),
                1 => format!("local t = {{{wide}(q, s)}} local r = t[1]"),
                2 => format!("C(select(\"#\", {wide}(q, s))) local r = 1"),
                3 => format!("local ok, r = pcall({wide}, q, s)"),
                _ => format!("local r = {wide}(q, 2, 3)"),
            }));
            body.push(Node::line("s = s + N(r)"));
        }
        if self.chance(25) {
            body.push(Node::line(match self.rng.u32(0..3) {
                0 => "if s % 3 == 0 then s = s + N(coroutine.yield(s)) end",
                _ => "s = s + N(coroutine.yield(s))",
            }));
        }
        if self.chance(20) {
            body.push(Node::line(match self.rng.u32(0..4) {
                0 => "if s % 4 == 1 then error(\"deep\") end",
                1 => "if s % 3 == 1 then error({}) end",
                2 => "if s % 5 == 1 then s = s + nil end",
                _ => "if s % 2 == 1 then error(\"far\", 2) end",
            }));
        }
        let tail = self.chance(15);
        body.push(Node::line(if tail { "return I(s), q" } else { "return s" }));
        out.push(Node::block(format!("local function {name}(q, r)"), body, "end"));
        name
    }

    /// Another function that calls `name` in some place of its own, once a call.
    fn wrapped(&mut self, name: &str, out: &mut Vec<Node>) -> String {
        let outer = self.name("outer");
        let line = match self.rng.u32(0..16) {
            0 => format!("local function {outer}(q) return {name}(q, 1) end"),
            1 => format!("local function {outer}(...) return {name}(...) end"),
            2 => format!("local function {outer}(q) return (coroutine.wrap({name})(q)) end"),
            3 => format!("local function {outer}(q) local a, b = pcall({name}, q) return N(b) end"),
            4 => format!("local function {outer}(q) return select(2, pcall(pcall, {name}, q)) end"),
            5 => format!(
                "local function {outer}(q) local a, b = xpcall({name}, function(e) return text(e) end, q) return N(b) end"
            ),
            6 => {
                let depth = *self.choose(&[1, 2, 5, 20, 60]);
                self.cost += self.weight * depth * 4;
                out.push(Node::line(format!(
                    "local function {outer}_down(d, q) if d < 1 then return {name}(q) end return (N({outer}_down(d - 1, q))) end"
                )));
                format!("local function {outer}(q) return {outer}_down({depth}, q) end")
            }
            7 => format!("local {outer} = setmetatable({{}}, {{__call = function(_, q) return {name}(q) end}})"),
            8 => format!("local {outer} = load(\"local f = ... return function(...) return f(...) end\")({name})"),
            9 => format!("local function {outer}(q, ...) local r = {{{name}(q, ...)}} return unpack(r) end"),
            10 => {
                let event = self.choose(EVENTS);
                let (event, operation) = *event;
                out.push(Node::line(format!(
                    "local {outer}_o = setmetatable({{}}, {{__{event} = function(a, b) return {name}(I(b)) end}})"
                )));
                let operation = operation.replace("o2", "p").replace("#tostring(o)", "1");
                let operation = operation.replace('o', &format!("{outer}_o")).replace('p', &format!("{outer}_o"));
                // Names of functions contain the letter as well.
                if operation.contains("functi") {
                    format!("local function {outer}(q) return {outer}_o .. q end")
                } else {
                    format!("local function {outer}(q) return N({operation}) end")
                }
            }
            11 => format!("local function {outer}(q) local r for v in {name}, q do r = v break end return N(r) end"),
            12 => {
                let n = self.how_many(60);
                let names: Vec<String> = (0..n).map(|i| format!("z{i}")).collect();
                format!("local function {outer}(q) local {} = q return N({name}(z0)) end", names.join(", "))
            }
            13 => {
                format!(
                    "local function {outer}(...) local n = select(\"#\", ...) return {name}((select(n > 0 and n or 1, 1, ...))) end"
                )
            }
            14 => format!("local function {outer}(q) local t = {{{name}(q)}} return #t > 0 and t[1] or 0 end"),
            _ => format!(
                "local {outer} = function(q) do local s = q local f = function() s = N({name}(s)) return s end return f() end end"
            ),
        };
        out.push(Node::line(line));
        outer
    }

    /// Calls `body` so many times.
    pub(super) fn place(&mut self, body: &str, times: u64, out: &mut Vec<Node>) {
        let each = format!("for q = 1, {times} do");
        match self.rng.u32(0..22) {
            0..=1 => out.push(Node::block(each, vec![Node::line(format!("C({body}(q))"))], "end")),
            2..=5 => {
                let line = match self.rng.u32(0..4) {
                    0 => format!("P(coroutine.resume(coroutine.create({body}), q))"),
                    1 => format!("local co = coroutine.create({body}) C((coroutine.resume(co, q))) C((coroutine.resume(co, 2)))"),
                    _ => format!("C(coroutine.wrap({body})(q))"),
                };
                out.push(Node::block(each, vec![Node::line(line)], "end"));
            }
            6 => {
                let inner = Node::block(each, vec![Node::line(format!("coroutine.yield({body}(q))"))], "end");
                out.push(Node::block("local co = coroutine.wrap(function()", vec![inner], "end)"));
                out.push(Node::line(format!("for q = 1, {times} do C(co()) end")));
            }
            7..=8 => {
                let call = match self.rng.u32(0..5) {
                    0 => format!("P(pcall({body}, q))"),
                    1 => format!("P(xpcall({body}, function(e) return text(e) end, q))"),
                    2 => format!("P(xpcall({body}, function(e) return N({body}(2)) end, q))"),
                    3 => format!("C(select(\"#\", pcall(pcall, {body}, q)))"),
                    _ => format!("P(xpcall({body}, debug.traceback ~= nil and text, q))"),
                };
                out.push(Node::block(each, vec![Node::line(call)], "end"));
            }
            9..=12 => {
                let (event, operation) = *self.choose(EVENTS);
                let result = if event == "tostring" { format!("\"s\" .. I({body}(3))") } else { format!("{body}(I(b))") };
                out.push(Node::line(format!("local mt = {{__{event} = function(a, b) return {result} end}}")));
                out.push(Node::line("local o, o2 = setmetatable({}, mt), setmetatable({}, mt)"));
                out.push(Node::block(each, vec![Node::line(format!("C({operation})"))], "end"));
            }
            13 => {
                out.push(Node::line("local sorted = {5, 3, 8, 1, 9, 2, 7}"));
                let compare = format!("P(pcall(table.sort, sorted, function(a, b) {body}(a) return a < b end))");
                out.push(Node::block(format!("for q = 1, {} do", times.min(3)), vec![Node::line(compare)], "end"));
                out.push(Node::line("C(#J(sorted))"));
            }
            14 => {
                let text = "abcdefghijkl".chars().take(times as usize).collect::<String>();
                out.push(Node::line(format!("P(pcall(string.gsub, \"{text}\", \"%w\", function(c) return T({body}(#c)) end))")));
            }
            15 => {
                let next = format!("for k, v in function(_, c) if c < {times} then return c + 1, {body}(c) end end, nil, 0 do");
                out.push(Node::block(next, vec![Node::line("C(k) C(v)")], "end"));
            }
            16 => {
                let depth = *self.choose(&[3, 8, 30]);
                self.cost += self.weight * depth * times * 3;
                out.push(Node::line(format!(
                    "local function down(d, q) if d < 1 then return {body}(q) end return N(down(d - 1, q)) + 1 end"
                )));
                out.push(Node::block(each, vec![Node::line(format!("C(down({depth} - q % 2, q))"))], "end"));
            }
            17 => {
                out.push(Node::block(
                    format!("for q = 1, {} do", times.min(4)),
                    vec![
                        Node::line(format!(
                            "local p = newproxy(true) getmetatable(p).__gc = function() P(pcall({body}, q)) end p = nil"
                        )),
                        Node::line("collectgarbage()"),
                    ],
                    "end",
                ));
            }
            18 => {
                let outer = format!("C(coroutine.wrap(function(q) return coroutine.wrap({body})(q) end)(q))");
                out.push(Node::block(each, vec![Node::line(outer)], "end"));
            }
            19 => {
                out.push(Node::line(format!(
                    "local function again(n, q) if n > 0 then {body}(q) return again(n - 1, q + 1) end return q end"
                )));
                out.push(Node::line(format!("C(again({times}, 1))")));
            }
            20 => {
                out.push(Node::line(format!("local q = 0 repeat q = q + 1 local r = {body}(q) C(r) until q >= {times}")));
            }
            _ => {
                // Coroutines kept, so that each has a stack that grows by itself.
                out.push(Node::line("local kept = {}"));
                let resume = "local ok, v = coroutine.resume(kept[q], w) C(v)";
                out.push(Node::block(
                    each,
                    vec![Node::line(format!(
                        "kept[q] = coroutine.create(function(...) {body}(...) return {body}(coroutine.yield(1)) end)"
                    ))],
                    "end",
                ));
                out.push(Node::line(format!("for w = 1, 3 do for q = 1, {times} do {resume} end end")));
            }
        }
    }
}
