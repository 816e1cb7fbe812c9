//! Scenes: statements around one part of the language, from templates.
//!
//! A file of `src/scenes` has templates after lines `--- NAME COST [often] [perilune]`: about how many statements it runs, whether it
//! is chosen more often than others (it is about what once went wrong), and whether LuaJIT knows all of it. The indentation says what is a block. A line that begins with `?` (and its block) is left out at times,
//! one with `*` is there up to three times. In a line
//!
//! | | |
//! |---|---|
//! | `$n`, `$s`, `$b`, `$x`, `$w` | an expression: a number, a string, a condition, any value, an operation on any values |
//! | `$c`, `$k`, `$t` | a number: at some border, from 1 to 9, how often a loop runs |
//! | `$v`, `$f`, `$a` | a variable with a number, a function of two arguments, an array |
//! | `$o`, `$r` | an arithmetic operator, one of comparison |
//! | `$(x\|y\|z)` | one of these |

use super::{Grammar, Kind};
use crate::program::Node;
use std::sync::LazyLock;

/// A template.
pub(super) struct Template {
    /// The part of the language that it is about: the file, and its name there.
    pub name: String,
    /// Statements that it runs.
    pub cost: u64,
    /// Does LuaJIT know all of it?
    pub everywhere: bool,
    /// How often it is chosen, in proportion.
    pub weight: u32,
    lines: Vec<(usize, String)>,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../scenes/", $name, ".lua")))),*] };
}

/// All templates.
pub(super) static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let files = files![
        "closures",
        "control",
        "coroutines",
        "debug",
        "dispatch",
        "environments",
        "errors",
        "ffi",
        "garbage",
        "jit",
        "numbers",
        "recursion",
        "strings",
        "syntax",
        "tables",
        "varargs",
    ];
    files.iter().flat_map(|(file, text)| read(file, text)).collect()
});

/// Weight of templates that are chosen more often.
const OFTEN: u32 = 5;

/// All weights together.
static WEIGHTS: LazyLock<u32> = LazyLock::new(|| TEMPLATES.iter().map(|t| t.weight).sum());

fn read(file: &str, text: &str) -> Vec<Template> {
    let mut out: Vec<Template> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        if let Some(head) = line.strip_prefix("--- ") {
            let words: Vec<&str> = head.split_whitespace().collect();
            let is = |word: &str| words.iter().skip(2).any(|w| *w == word);
            out.push(Template {
                name: format!("{file}/{}", words[0]),
                cost: words.get(1).and_then(|w| w.parse().ok()).unwrap_or(50),
                everywhere: !is("perilune"),
                weight: if is("often") { OFTEN } else { 1 },
                lines: Vec::new(),
            });
        } else if let Some(template) = out.last_mut() {
            let text = line.trim_start();
            template.lines.push((line.len() - text.len(), text.into()));
        }
    }
    out
}

/// Numbers at borders.
const BORDERS: &[&str] = &[
    "2147483647",
    "2147483646",
    "-2147483648",
    "-2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "2^53",
    "-2^53",
    "2^53 - 1",
    "2^52 + 0.5",
    "0x7fffffff",
    "0x80000000",
    "65535",
    "65536",
    "32767",
    "32768",
    "-32769",
    "46341",
    "0",
    "-0.0",
    "0.1",
    "-0.5",
    "1/0",
    "-1/0",
    "0/0",
    "1e308",
    "-1e-308",
    "5e-324",
    "1e15",
    "2^31 + 0.5",
    "1",
    "-1",
    "255",
    "256",
];

impl Grammar {
    /// One of the templates.
    pub(super) fn template(&mut self) -> &'static Template {
        let mut left = self.rng.u32(0..*WEIGHTS);
        let here = |t: &&Template| {
            let here = left < t.weight;
            left = left.saturating_sub(t.weight);
            here
        };
        TEMPLATES.iter().find(here).unwrap_or(&TEMPLATES[0])
    }

    /// The statements of a template.
    pub(super) fn expand(&mut self, template: &Template) -> Vec<Node> {
        let mut at = 0;
        self.block_of(&template.lines, &mut at, 0)
    }

    /// The lines from `at` on that are indented as far.
    fn block_of(&mut self, lines: &[(usize, String)], at: &mut usize, indent: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        while let Some((found, text)) = lines.get(*at).filter(|l| l.0 >= indent) {
            let (start, mark) = (*at, text.as_bytes()[0]);
            let times = match mark {
                b'?' => self.rng.u32(0..2),
                b'*' => self.rng.u32(1..4),
                _ => 1,
            };
            let text = text.trim_start_matches(['?', '*']);
            for _ in 0..times {
                *at = start;
                let node = self.node_of(lines, at, (*found, text));
                nodes.push(node);
            }
            if times == 0 {
                // The block is made and dropped: that is the way to its end.
                let everywhere = self.everywhere;
                self.node_of(lines, at, (*found, text));
                self.everywhere = everywhere;
            }
        }
        nodes
    }

    fn node_of(&mut self, lines: &[(usize, String)], at: &mut usize, (indent, text): (usize, &str)) -> Node {
        let mut open = self.fill(text);
        *at += 1;
        let mut parts = Vec::new();
        while lines.get(*at).is_some_and(|l| l.0 > indent) {
            let body = self.block_of(lines, at, indent + 1);
            let close = lines.get(*at).map_or(String::new(), |l| self.fill(&l.1));
            *at += 1;
            parts.push((std::mem::replace(&mut open, close), body));
        }
        if parts.is_empty() { Node::Line(open) } else { Node::Block(parts, open) }
    }

    /// A line with something for each mark in it.
    fn fill(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(i) = rest.find('$') {
            out.push_str(&rest[..i]);
            let mark = rest[i + 1..].chars().next().unwrap_or(' ');
            rest = &rest[i + 1 + mark.len_utf8()..];
            if mark == '(' {
                let (inside, behind) = alternatives(rest);
                let one = self.choose(&inside).to_string();
                rest = behind;
                out.push_str(&self.fill(&one));
            } else {
                out.push_str(&self.filling(mark));
            }
        }
        out.push_str(rest);
        out.replace("\\|", "|")
    }

    fn filling(&mut self, mark: char) -> String {
        let named = |v: Option<super::Var>, other: &str| v.map_or(other.to_owned(), |v| v.name);
        match mark {
            'n' => self.number(2),
            's' => self.string(2),
            'b' => self.condition(2),
            'x' => self.any(2),
            'w' => self.wild(),
            'c' => format!("({})", self.choose(BORDERS)),
            'k' => self.rng.u32(1..10).to_string(),
            't' => self.choose(&["2", "3", "4", "5", "7", "9", "12", "20"]).to_string(),
            'v' => self.target(Kind::Number).unwrap_or("unused".into()),
            'f' => {
                let f = self.var(Kind::Function).filter(|f| self.affords(f.cost * 20));
                self.cost += f.as_ref().map_or(0, |f| self.weight * f.cost * 20);
                named(f, "I")
            }
            'a' => named(self.var(Kind::Array), "{3, 1, 2}"),
            'o' => self.choose(&["+", "-", "*", "/", "%", "+", "-", "*"]).to_string(),
            'r' => self.choose(&["<", "<=", ">", ">=", "==", "~="]).to_string(),
            other => format!("${other}"),
        }
    }
}

/// What stands between the bars up to the closing parenthesis, and what is after that. Bars in strings, and those after a
/// backslash, separate nothing.
fn alternatives(text: &str) -> (Vec<&str>, &str) {
    let (mut depth, mut start, mut out, mut in_string) = (0, 0, Vec::new(), false);
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '{' | '[' => depth += 1,
            ')' if depth == 0 => {
                out.push(&text[start..i]);
                return (out, &text[i + 1..]);
            }
            ')' | '}' | ']' => depth -= 1,
            '|' if depth == 0 => {
                out.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    (vec![text], "")
}
