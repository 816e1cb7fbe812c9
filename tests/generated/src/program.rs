//! A generated program as a tree of statements, so that it can be made smaller while it still shows a fault.

use std::time::{Duration, Instant};

/// A statement: one line, or lines with blocks between them.
#[derive(Clone, Debug)]
pub enum Node {
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

/// The smallest program this finds by leaving out statements, and by putting blocks in place of the statements around
/// them, for which `fails` still holds. Gives up after `most`.
pub fn shrink(mut nodes: Vec<Node>, most: Duration, mut fails: impl FnMut(&[Node]) -> bool) -> Vec<Node> {
    let begun = Instant::now();
    let over = || begun.elapsed() > most;
    loop {
        let before = count(&nodes);
        let mut at = 0;
        while at < count(&nodes) {
            let mut kept = true;
            for how in [Cut::Remove, Cut::Unwrap] {
                let mut smaller = nodes.clone();
                if over() || !cut(&mut smaller, &mut at.clone(), how) {
                    continue;
                }
                if fails(&smaller) {
                    nodes = smaller;
                    kept = false;
                    break;
                }
            }
            at += usize::from(kept);
        }
        if count(&nodes) == before || over() {
            return nodes;
        }
    }
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
