//! Tests of patterns: their matches, and that compiled patterns behave as the reference does.

use super::cache::PatternCache;
use super::reference;
use super::{Capture, Matcher, PatternError, Program};
use crate::interrupt::Flag;
use std::rc::Rc;

/// No match is interrupted.
static NEVER: Flag = Flag::new();

fn program(pat: &[u8], caret_is_plain: bool) -> Program {
    let mut program = Program::default();
    assert_eq!(program.compile(pat, caret_is_plain, usize::MAX), Some(()));
    program
}

/// The match of a pattern as text: the match, then its captures.
fn matched(s: &str, pat: &str) -> Result<Option<Vec<String>>, PatternError> {
    let program = program(pat.as_bytes(), false);
    let mut m = Matcher::new(s.as_bytes(), &program, &NEVER);
    let Some((a, b)) = m.find(0)? else { return Ok(None) };
    let mut out = vec![s[a..b].to_string()];
    for i in 0..m.num_captures() {
        out.push(match m.capture(i, a, b)? {
            Capture::Range(a, b) => s[a..b].to_string(),
            Capture::Position(p) => format!("@{p}"),
        });
    }
    Ok(Some(out))
}

#[test]
fn patterns() {
    let cases: &[(&str, &str, &str)] = &[
        ("hello world", "o w", "o w"),
        ("hello world", "^(%w+)", "hello hello"),
        ("key = val", "^(%w+)%s*=%s*(%w+)$", "key = val key val"),
        ("THE (quick) fox", "%((%a+)%)", "(quick) quick"),
        ("f(a(b)c)d", "%b()", "(a(b)c)"),
        ("f(a(b", "%b()", "nil"),
        ("THE (quick) fox", "%f[%l]%l+", "quick"),
        ("THE", "%f[%z]", ""),
        ("abc", "()b()", "b @2 @3"),
        ("abcabc", "(abc)%1", "abcabc abc"),
        ("aaa", "a-", ""),
        ("aaa", "^(a-)$", "aaa aaa"),
        ("  x  ", "^%s*(.-)%s*$", "  x   x"),
        ("abc", "b*", ""),
        ("abbbc", "b+", "bbb"),
        ("ac", "ab?c", "ac"),
        ("a]b", "[]]", "]"),
        ("a]b", "[^]]", "a"),
        ("a-b", "[a-]+", "a-"),
        ("-", "[%a-z]", "-"),
        ("a", "[a-%z]", "nil"),
        ("z", "[a-%z]", "z"),
        ("x^2", "%^", "^"),
        ("a$", "$", ""),
        ("a$b", "$b", "$b"),
        ("0xFFg", "%x+", "0"),
        ("a.b", "%.", "."),
        ("\u{1}a", "%c%C", "\u{1}a"),
        ("one;two;;four", "([^;]*);([^;]*)", "one;two one two"),
        ("", ".*", ""),
        ("", ".", "nil"),
        ("abc", "[b-c]+$", "bc"),
        ("2024-01-02", "(%d+)-(%d+)-(%d+)", "2024-01-02 2024 01 02"),
    ];
    for (s, pat, expected) in cases {
        let got = matched(s, pat).unwrap().map_or("nil".to_string(), |v| v.join(" "));
        assert_eq!(got, *expected, "{pat}");
    }
}

#[test]
fn pattern_errors() {
    let cases: &[(&str, PatternError)] = &[
        ("%", PatternError::EndsWithPercent),
        ("a%", PatternError::EndsWithPercent),
        ("[a", PatternError::MissingBracket),
        ("[]", PatternError::MissingBracket),
        ("[^]", PatternError::MissingBracket),
        ("[a%", PatternError::MissingBracket),
        ("[a%]", PatternError::MissingBracket),
        ("%f", PatternError::MissingFrontierSet),
        ("%fa", PatternError::MissingFrontierSet),
        ("%b", PatternError::Unbalanced),
        ("%ba", PatternError::Unbalanced),
        (")", PatternError::InvalidCapture),
        ("a)", PatternError::InvalidCapture),
        ("%1", PatternError::InvalidIndex),
        ("(%1)", PatternError::InvalidIndex),
        ("%0", PatternError::InvalidIndex),
        ("(a", PatternError::Unfinished),
    ];
    for (pat, e) in cases {
        assert_eq!(matched("aaa", pat), Err(*e), "{pat}");
    }
    // Parts that are not reached are not checked.
    assert_eq!(matched("aaa", "b%"), Ok(None));
    assert_eq!(matched("a", &"()".repeat(33)), Err(PatternError::TooManyCaptures));
    assert_eq!(matched("a", &"x?".repeat(300)), Ok(Some(vec![String::new()])));
    assert_eq!(matched(&"x".repeat(300), &"x?".repeat(300)), Err(PatternError::TooComplex));
}

/// A match and its captures, or the error.
type Outcome = Result<Option<(usize, usize, Vec<Result<Capture, PatternError>>)>, PatternError>;

/// The first match at or after an offset.
fn compiled(s: &[u8], pat: &[u8], init: usize, caret_is_plain: bool) -> Outcome {
    let program = program(pat, caret_is_plain);
    let mut m = Matcher::new(s, &program, &NEVER);
    let found = m.find(init)?;
    Ok(found.map(|(a, b)| (a, b, (0..m.num_values() + 1).map(|i| m.capture(i, a, b)).collect())))
}

fn expected(s: &[u8], pat: &[u8], init: usize, caret_is_plain: bool) -> Outcome {
    let (anchored, pat) = match pat {
        [b'^', rest @ ..] if !caret_is_plain => (true, rest),
        _ => (false, pat),
    };
    let mut m = reference::Matcher::new(s, pat);
    let found = if anchored { m.match_at(init)?.map(|e| (init, e)) } else { m.find(init)? };
    Ok(found.map(|(a, b)| (a, b, (0..m.num_values() + 1).map(|i| m.capture(i, a, b)).collect())))
}

/// A generator of patterns and subjects.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
    fn subject(&mut self) -> Vec<u8> {
        const PARTS: &[&str] =
            &["a", "b", "ab", "c", " ", "  ", "=", "1", "-", "(", ")", "(a)", ",", "%", "\0", "]", "^", "\n", "aaa"];
        let most = if self.below(8) == 0 { 60 } else { 12 };
        let n = self.below(most);
        (0..n).flat_map(|_| self.pick(PARTS).bytes()).collect()
    }
    fn pattern(&mut self) -> Vec<u8> {
        const ITEMS: &[&str] = &[
            "a", "b", "c", "1", " ", "=", ",", ".", "%a", "%d", "%s", "%w", "%S", "%W", "%A", "%p", "%z", "%-", "%(", "%)", "%%",
            "[ab]", "[^a]", "[^ab]", "[%w_]", "[a-c]", "[^%s]", "[^,]", "[]]", "[^]]", "[%s,]", "[a-]", "[^=]", "[^%s%S]",
            "[%s%S]", "]",
        ];
        const OTHERS: &[&str] =
            &["(", ")", "()", "(", ")", "%1", "%2", "%b()", "%bab", "%f[%w]", "%f[^a]", "%f[%z]", "$", "^", "ab", "aab"];
        const WRONG: &[&str] = &["%", "[", "[^]", "[a", "%f", "%b", "%ba", "%0", "%9", ")", "\0", "*", "+", "?", "-"];
        let mut pat = String::new();
        if self.below(5) == 0 {
            pat.push('^');
        }
        let mut open = 0;
        for _ in 0..1 + self.below(7) {
            match self.below(24) {
                0..15 => {
                    pat.push_str(self.pick(ITEMS));
                    pat.push_str(self.pick(&["", "", "", "*", "+", "?", "-"]));
                }
                15..17 => {
                    pat.push('(');
                    open += 1;
                }
                17..19 if open > 0 => {
                    pat.push(')');
                    open -= 1;
                }
                23 if self.below(8) == 0 => pat.push_str(self.pick(WRONG)),
                _ => pat.push_str(self.pick(OTHERS)),
            }
        }
        if self.below(8) != 0 {
            pat.push_str(&")".repeat(open));
        }
        if self.below(4) == 0 {
            pat.push('$');
        }
        pat.into_bytes()
    }
    /// A pattern that is nested too deeply, or nearly.
    fn deep_pattern(&mut self) -> Vec<u8> {
        let parts = [self.pick(&["a?", "a*", "b-", "()", "%s*"]), self.pick(&["a?", "b?", "c?", "a-", "(a)", "a"])];
        let n = 90 + self.below(130);
        let mut pat: String = (0..n).map(|_| parts[self.below(2)]).collect();
        pat.push_str(self.pick(&["", "", "$", "b", "%", "(", ")"]));
        pat.into_bytes()
    }
}

fn compare(s: &[u8], pat: &[u8], init: usize, caret_is_plain: bool) {
    let (got, wanted) = (compiled(s, pat, init, caret_is_plain), expected(s, pat, init, caret_is_plain));
    assert_eq!(got, wanted, "{:?} on {:?} from {init}", String::from_utf8_lossy(pat), String::from_utf8_lossy(s));
}

/// Compiled patterns match as the reference does, with the same captures and errors. The environment variable `PATTERN_ROUNDS` sets the
/// number of rounds.
#[test]
fn compiled_patterns_agree() {
    let rounds = std::env::var("PATTERN_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60_000);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ rounds);
    for _ in 0..rounds {
        let pat = random.pattern();
        for _ in 0..4 {
            let s = random.subject();
            let init = random.below(s.len() + 1) * random.below(2);
            compare(&s, &pat, init, random.below(8) == 0);
        }
    }
}

#[test]
fn deep_patterns_agree() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..2000 {
        let pat = random.deep_pattern();
        let a = random.below(220);
        let mut s = b"a".repeat(a);
        s.extend_from_slice(&random.subject());
        if !pat.iter().all(|c| matches!(c, b'a'..=b'c' | b'?')) || pat.chunks(2).any(|c| c[1..] != *b"?") {
            // A match that fails tries all ways to repeat so many items.
            s.truncate(random.below(4));
        }
        compare(&s, &pat, 0, false);
    }
}

#[test]
fn cache_keeps_patterns() {
    let mut cache = PatternCache::default();
    let mut get = |pat: &str, hash, plain| cache.get(pat.as_bytes(), hash, plain, usize::MAX).unwrap();
    for round in 0..3 {
        for i in 0..1000u32 {
            // Many patterns share a hash, and a caret may match itself.
            let pat = format!("^a{i}");
            for plain in [false, true] {
                let program = get(&pat, i / 7, plain);
                let subject = format!("{}a{i}", if plain { "x^" } else { "" });
                let found = Matcher::new(subject.as_bytes(), &program, &NEVER).find(0);
                assert_eq!(found.map(|f| f.is_some()), Ok(true), "{pat} in round {round}");
                assert!(Rc::ptr_eq(&program, &get(&pat, i / 7, plain)), "{pat} is compiled again");
            }
        }
    }
    // Long patterns are not kept, and their text is not either.
    let long = "a?".repeat(10_000);
    let program = get(&long, 5, false);
    assert!(program.text.is_empty() && !Rc::ptr_eq(&program, &get(&long, 5, false)));
}

#[test]
fn programs_stay_within_their_memory() {
    let long = b".".repeat(10_000);
    let mut cache = PatternCache::default();
    assert!(cache.get(&long, 0, false, 100_000).is_none());
    assert!(cache.get(&long, 0, false, usize::MAX).is_some());
    assert!(cache.get(b"..", 0, false, 100_000).is_some());
}
