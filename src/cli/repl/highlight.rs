//! Colours of the line that is edited: reserved words, strings, numbers and comments as the VM's lexer sees them, and the bracket that
//! belongs to the one at the cursor.

use anstyle::{AnsiColor, Style};
use perilune_vm::source::Source;
use perilune_vm::syntax::lex::{Lexer, Tok};

/// What part of a text is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Class {
    Plain,
    Keyword,
    String,
    Number,
    Comment,
    /// An opening bracket, and the byte that closes it.
    Open(u8),
    Close(u8),
}

impl Class {
    fn of(t: &Tok) -> Class {
        match t {
            Tok::Num(_) | Tok::Cdata(_) => Class::Number,
            Tok::Str(_) => Class::String,
            Tok::Char(b'(') => Class::Open(b')'),
            Tok::Char(b'[') => Class::Open(b']'),
            Tok::Char(b'{') => Class::Open(b'}'),
            Tok::Char(c @ (b')' | b']' | b'}')) => Class::Close(*c),
            t if t.is_keyword() => Class::Keyword,
            _ => Class::Plain,
        }
    }
    fn style(self) -> Style {
        match self {
            Class::Keyword => AnsiColor::Magenta.on_default(),
            Class::String => AnsiColor::Green.on_default(),
            Class::Number => AnsiColor::Cyan.on_default(),
            Class::Comment => AnsiColor::BrightBlack.on_default(),
            Class::Plain | Class::Open(_) | Class::Close(_) => Style::new(),
        }
    }
}

/// How a pair of brackets looks.
const MATCHED: Style = AnsiColor::Yellow.on_default().bold();

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Part {
    start: usize,
    end: usize,
    class: Class,
}

/// The parts of a text other than blanks. What the lexer does not read, because a string or a comment does not end, is the last.
fn parts(text: &[u8]) -> Vec<Part> {
    let mut lexer = Lexer::new(Source::whole(text), b"=stdin");
    let (mut parts, mut end) = (Vec::new(), 0);
    loop {
        let token = lexer.next().ok().filter(|t| *t != Tok::Eof);
        let span = token.as_ref().map_or((text.len(), text.len()), |_| lexer.span());
        between_tokens(text, end, span.0, &mut parts);
        let Some(token) = token else { return parts };
        parts.push(Part { start: span.0, end: span.1, class: Class::of(&token) });
        end = span.1;
    }
}

/// Adds what is between two tokens, or after the last that can be read: comments, or a string that does not end.
fn between_tokens(text: &[u8], start: usize, end: usize, parts: &mut Vec<Part>) {
    let gap = &text[start..end];
    let start = end - gap.trim_ascii_start().len();
    let class = match &text[start..end] {
        [] => return,
        [b'-', b'-', rest @ ..] => {
            let line = gap.len() - gap.trim_ascii_start().len();
            let newline = gap[line..].iter().position(|b| *b == b'\n').filter(|_| !matches!(rest, [b'[', b'[' | b'=', ..]));
            if let Some(length) = newline {
                parts.push(Part { start, end: start + length, class: Class::Comment });
                return between_tokens(text, start + length, end, parts);
            }
            Class::Comment
        }
        [b'"' | b'\'' | b'[', ..] => Class::String,
        _ => Class::Plain,
    };
    parts.push(Part { start, end, class });
}

/// The brackets of the pair of which one is at the cursor, or in front of it.
fn pair_at(parts: &[Part], cursor: usize) -> Option<[usize; 2]> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for p in parts {
        match p.class {
            Class::Open(closing) => open.push((p.start, closing)),
            Class::Close(c) => {
                let (start, closing) = open.pop()?;
                if closing != c {
                    return None;
                }
                pairs.push([start, p.start]);
            }
            _ => {}
        }
    }
    let touches = |at: usize| pairs.iter().find(|pair| pair.contains(&at)).copied();
    touches(cursor).or_else(|| touches(cursor.checked_sub(1)?))
}

/// A line with colours. `before` are the lines of the chunk in front of it, each with its newline; `cursor` is where in the line the
/// cursor is, if it is being edited.
pub fn highlight(before: &str, line: &str, cursor: Option<usize>) -> String {
    let text = [before, line].concat();
    let parts = parts(text.as_bytes());
    let pair = cursor.and_then(|at| pair_at(&parts, before.len() + at));
    let mut out = String::with_capacity(line.len() + 64);
    let mut at = before.len();
    for p in parts.iter().filter(|p| p.end > before.len()) {
        let style = if pair.is_some_and(|pair| pair.contains(&p.start)) { MATCHED } else { p.class.style() };
        let start = p.start.max(at);
        // A part ends inside of a character only where the text is not Lua.
        let (Some(blank), Some(shown)) = (text.get(at..start), text.get(start..p.end)) else { return line.to_owned() };
        out += blank;
        out += &format!("{style}{shown}{style:#}");
        at = p.end;
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that have a class of their own.
    fn classes(text: &str) -> Vec<(Class, &str)> {
        let parts = parts(text.as_bytes());
        parts.iter().filter(|p| p.class != Class::Plain).map(|p| (p.class, &text[p.start..p.end])).collect()
    }

    #[test]
    fn parts_are_what_the_lexer_reads() {
        use Class::{Comment, Keyword, Number, String};
        assert_eq!(classes("local x = 'a' .. 12"), [(Keyword, "local"), (String, "'a'"), (Number, "12")]);
        assert_eq!(classes("x = [[a]] -- b"), [(String, "[[a]]"), (Comment, "-- b")]);
        assert_eq!(classes("-- a\nend -- b\n-- c"), [(Comment, "-- a"), (Keyword, "end"), (Comment, "-- b"), (Comment, "-- c")]);
        assert_eq!(classes("--[[ a\nb ]] nil"), [(Comment, "--[[ a\nb ]] "), (Keyword, "nil")]);
        assert_eq!(classes("x = 'open"), [(String, "'open")]);
        assert_eq!(classes("x = --[==[ open\n1"), [(Comment, "--[==[ open\n1")]);
        assert_eq!(classes("é = 0x1p4 'ü'"), [(Number, "0x1p4"), (String, "'ü'")]);
    }

    #[test]
    fn brackets_match() {
        let pair = |text: &str, at| pair_at(&parts(text.as_bytes()), at);
        assert_eq!(pair("f({1})", 1), Some([1, 5]));
        assert_eq!(pair("f({1})", 2), Some([2, 4]));
        assert_eq!(pair("f({1})", 6), Some([1, 5]));
        assert_eq!(pair("f(')')", 1), Some([1, 5]));
        assert_eq!(pair("f({1)}", 1), None);
        assert_eq!(pair("f 1", 1), None);
    }

    #[test]
    fn lines_keep_their_text() {
        for (before, line) in [("", "x = {1, 'a'} -- é"), ("t = [[a\n", "b]] return 1"), ("", "'"), ("", ""), ("", "\u{e9}$ 'é")]
        {
            let coloured = highlight(before, line, Some(0));
            let plain = anstream::adapter::strip_str(&coloured).to_string();
            assert_eq!(plain, line);
        }
        // A string goes on from the line before.
        assert!(highlight("t = [[a\n", "end]] end", None).starts_with("\u{1b}[32mend]]\u{1b}[0m \u{1b}[35mend"));
        assert!(highlight("", "f()", Some(1)).contains("\u{1b}[1m\u{1b}[33m(\u{1b}[0m\u{1b}[1m\u{1b}[33m)\u{1b}[0m"));
    }
}
