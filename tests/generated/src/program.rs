//! A generated program as a tree of statements, so that it can be made smaller while it still shows a fault.

use std::time::{Duration, Instant};

/// A statement: one line, or lines with blocks between them.
#[derive(Clone, Debug)]
pub enum Node {
    /// One line.
    Line(String),
    /// Each part is a line that opens a block (`if c then`, `else`, `for ... do`) and the block; then the closing line.
    Block(Vec<(String, Vec<Node>)>, String),
}

impl Node {
    /// A statement of one line.
    pub fn line(text: impl Into<String>) -> Node {
        Node::Line(text.into())
    }
    /// A statement with one block.
    pub fn block(open: impl Into<String>, body: Vec<Node>, close: impl Into<String>) -> Node {
        Node::Block(vec![(open.into(), body)], close.into())
    }
}

/// The source text of statements.
pub fn text(nodes: &[Node]) -> String {
    let mut out = String::new();
    write(&mut out, nodes, 0);
    out
}

fn write(out: &mut String, nodes: &[Node], depth: usize) {
    let line = |out: &mut String, text: &str| {
        out.extend(std::iter::repeat_n("  ", depth));
        out.push_str(text);
        out.push('\n');
    };
    for node in nodes {
        match node {
            Node::Line(text) => line(out, text),
            Node::Block(parts, close) => {
                for (open, body) in parts {
                    line(out, open);
                    write(out, body, depth + 1);
                }
                line(out, close);
            }
        }
    }
}

/// The smallest program this finds for which `fails` still holds: by leaving out statements, by putting blocks in place of the
/// statements around them, and by making expressions simpler. Gives up after `most`.
pub fn shrink(mut nodes: Vec<Node>, most: Duration, mut fails: impl FnMut(&[Node]) -> bool) -> Vec<Node> {
    let begun = Instant::now();
    let over = || begun.elapsed() > most;
    loop {
        let before = text(&nodes);
        shrink_statements(&mut nodes, &over, &mut fails);
        shrink_expressions(&mut nodes, &over, &mut fails);
        if text(&nodes) == before || over() {
            return nodes;
        }
    }
}

fn shrink_statements(nodes: &mut Vec<Node>, over: &impl Fn() -> bool, fails: &mut impl FnMut(&[Node]) -> bool) {
    loop {
        let before = count(nodes);
        let mut at = 0;
        while at < count(nodes) {
            let mut kept = true;
            for how in [Cut::Remove, Cut::Unwrap] {
                let mut smaller = nodes.clone();
                if over() || !cut(&mut smaller, &mut at.clone(), how) {
                    continue;
                }
                if fails(&smaller) {
                    *nodes = smaller;
                    kept = false;
                    break;
                }
            }
            at += usize::from(kept);
        }
        if count(nodes) == before || over() {
            return;
        }
    }
}

fn shrink_expressions(nodes: &mut [Node], over: &impl Fn() -> bool, fails: &mut impl FnMut(&[Node]) -> bool) {
    let mut at = 0;
    while let Some(line) = line_at(nodes, &mut at.clone()).cloned() {
        let simpler = simpler_lines(&line).into_iter().find(|simpler| {
            let mut changed = nodes.to_vec();
            if let Some(place) = line_at(&mut changed, &mut at.clone()) {
                place.clone_from(simpler);
            }
            !over() && fails(&changed)
        });
        match (simpler, line_at(nodes, &mut at.clone())) {
            // Maybe it becomes simpler still.
            (Some(simpler), Some(place)) => *place = simpler,
            _ => at += 1,
        }
    }
}

/// The line with number `at`, without those that only close blocks.
fn line_at<'a>(nodes: &'a mut [Node], at: &mut usize) -> Option<&'a mut String> {
    for node in nodes {
        match node {
            Node::Line(line) => {
                if *at == 0 {
                    return Some(line);
                }
                *at -= 1;
            }
            Node::Block(parts, _) => {
                for (open, body) in parts {
                    if *at == 0 {
                        return Some(open);
                    }
                    *at -= 1;
                    if let Some(found) = line_at(body, at) {
                        return Some(found);
                    }
                }
            }
        }
    }
    None
}

/// A line with one expression in parentheses, or one call, made simpler. Each is shorter, so that this comes to an end.
fn simpler_lines(line: &str) -> Vec<String> {
    let bytes = line.as_bytes();
    let mut open = Vec::new();
    let mut out = Vec::new();
    let mut quoted = false;
    for (i, byte) in bytes.iter().enumerate() {
        if *byte == b'"' && (i == 0 || bytes[i - 1] != b'\\') {
            quoted = !quoted;
        }
        match byte {
            _ if quoted => {}
            b'(' => open.push(i),
            b')' => {
                let Some(start) = open.pop() else { continue };
                let is_name = |b: &&u8| b.is_ascii_alphanumeric() || b"_.:".contains(b);
                let name = bytes[..start].iter().rev().take_while(is_name).count();
                let put = |from: usize, text: &str| format!("{}{text}{}", &line[..from], &line[i + 1..]);
                out.push(put(start - name, "1"));
                out.push(if name > 0 { put(start, "()") } else { put(start, &line[start + 1..i]) });
            }
            _ => {}
        }
    }
    out.retain(|simpler| simpler.len() < line.len());
    // The largest steps first.
    out.sort_by_key(String::len);
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Remove,
    Unwrap,
}

/// How many statements there are, with those in blocks.
fn count(nodes: &[Node]) -> usize {
    let inner = |node: &Node| match node {
        Node::Line(_) => 0,
        Node::Block(parts, _) => parts.iter().map(|(_, body)| count(body)).sum(),
    };
    nodes.iter().map(|node| 1 + inner(node)).sum()
}

/// Changes the statement with number `at`; false if it cannot be changed in this way.
fn cut(nodes: &mut Vec<Node>, at: &mut usize, how: Cut) -> bool {
    for i in 0..nodes.len() {
        if *at == 0 {
            let node = nodes.remove(i);
            return match (how, node) {
                (Cut::Remove, _) => true,
                (Cut::Unwrap, Node::Line(_)) => false,
                (Cut::Unwrap, Node::Block(parts, _)) => {
                    nodes.splice(i..i, parts.into_iter().flat_map(|(_, body)| body));
                    true
                }
            };
        }
        *at -= 1;
        if let Node::Block(parts, _) = &mut nodes[i] {
            for (_, body) in parts {
                let inside = count(body);
                if *at < inside {
                    return cut(body, at, how);
                }
                *at -= inside;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn programs_are_reduced_to_what_fails() {
        let inner = vec![Node::line("a()"), Node::line("bad(f(1, 2), (x + 1))"), Node::line("b()")];
        let parts = vec![("if f(x) then".into(), vec![Node::line("c()")]), ("else".into(), inner)];
        let nodes = vec![Node::line("d()"), Node::block("do", vec![Node::Block(parts, "end".into())], "end")];
        let smaller = shrink(nodes, LONG, |nodes| text(nodes).contains("bad("));
        assert_eq!(text(&smaller), "bad()\n");
    }

    #[test]
    fn needed_parts_stay() {
        let nodes = vec![Node::line("a"), Node::block("for f(1) do", vec![Node::line("x"), Node::line("y")], "end")];
        let fails = |nodes: &[Node]| text(nodes).contains("for") && text(nodes).contains('y');
        assert_eq!(text(&shrink(nodes, LONG, fails)), "for 1 do\n  y\nend\n");
    }

    #[test]
    fn strings_do_not_confuse() {
        assert_eq!(simpler_lines("f(\"(\", g(x))"), ["1", "f()", "f(\"(\", 1)", "f(\"(\", g())"].map(str::to_owned).to_vec());
        assert_eq!(simpler_lines("a)"), [""; 0]);
    }
}
