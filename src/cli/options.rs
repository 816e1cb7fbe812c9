//! Options: scanned from left to right up to the script.

/// What is printed when the options make no sense, behind the name of the command.
pub const USAGE: &str = " \
[options]... [script [args]...].
Available options are:
  -e chunk  Execute string 'chunk'.
  -l name   Require library 'name'.
  -b ...    Save or list bytecode.
  -j cmd    Perform LuaJIT control command.
  -O[opt]   Control LuaJIT optimizations.
  -i        Enter interactive mode after executing 'script'.
  -v        Show version information.
  -E        Ignore environment variables.
  --memory-limit bytes[k|m|g]
            Limit the memory of the program.
  --        Stop handling options.
  -         Execute stdin and stop handling options.
";

/// One thing to do before the script, in the order given.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// `-e`
    Execute(Vec<u8>),
    /// `-l`
    Require(Vec<u8>),
    /// `-j`
    Control(Vec<u8>),
    /// `-O`
    Optimize(Vec<u8>),
    /// `-b`: the last step, with all that follows.
    Bytecode(Vec<Vec<u8>>),
}

/// The options.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub steps: Vec<Step>,
    pub interactive: bool,
    pub version: bool,
    pub no_env: bool,
    /// Is there an `-e`?
    pub executes: bool,
    pub memory_limit: Option<usize>,
    /// Index of the script; the number of arguments if there is none.
    pub script: usize,
}

impl Options {
    /// Reads the command line, the program's name first. `None` if it is wrong.
    pub fn parse(argv: &[Vec<u8>]) -> Option<Options> {
        let mut o = Options::default();
        let mut i = 1;
        while let Some(a) = argv.get(i) {
            let Some(letters) = a.strip_prefix(b"-") else { break };
            let Some((&letter, tail)) = letters.split_first() else { break };
            i += 1;
            match letter {
                b'-' if tail.is_empty() => break,
                b'-' => o.memory_limit = Some(limit(tail, argv, &mut i)?),
                b'i' | b'v' if !tail.is_empty() => return None,
                b'i' => (o.interactive, o.version) = (true, true),
                b'v' => o.version = true,
                b'E' => o.no_env = true,
                b'O' => o.steps.push(Step::Optimize(tail.to_vec())),
                b'b' => {
                    if o.interferes() {
                        return None;
                    }
                    let letters = (!tail.is_empty()).then(|| [b"-", tail].concat());
                    let rest = argv[i..].iter().cloned();
                    o.steps.push(Step::Bytecode(letters.into_iter().chain(rest).collect()));
                    break;
                }
                b'e' | b'j' | b'l' => {
                    let mut text = tail;
                    if text.is_empty() {
                        text = argv.get(i)?;
                        i += 1;
                    }
                    let text = text.to_vec();
                    o.executes |= letter == b'e';
                    o.steps.push(match letter {
                        b'e' => Step::Execute(text),
                        b'j' => Step::Control(text),
                        _ => Step::Require(text),
                    });
                }
                _ => return None,
            }
        }
        o.script = i.min(argv.len());
        Some(o)
    }
    /// Is there an option that `-b` does not go with?
    fn interferes(&self) -> bool {
        self.version || self.no_env || self.steps.iter().any(|s| !matches!(s, Step::Optimize(_)))
    }
}

/// The value of `--memory-limit`, behind `=` or the next argument.
fn limit(option: &[u8], argv: &[Vec<u8>], i: &mut usize) -> Option<usize> {
    let rest = option.strip_prefix(b"memory-limit")?;
    let text = match rest.strip_prefix(b"=") {
        Some(text) => text,
        None if rest.is_empty() => {
            *i += 1;
            argv.get(*i - 1)?
        }
        None => return None,
    };
    bytes(text)
}

/// A number of bytes with an optional unit.
fn bytes(text: &[u8]) -> Option<usize> {
    let text = core::str::from_utf8(text).ok()?.to_ascii_lowercase();
    let unit = text.chars().last()?;
    let (digits, shift) = match unit {
        'k' => (&text[..text.len() - 1], 10),
        'm' => (&text[..text.len() - 1], 20),
        'g' => (&text[..text.len() - 1], 30),
        _ => (&*text, 0),
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Options> {
        let argv: Vec<Vec<u8>> = line.split(' ').map(|a| a.as_bytes().to_vec()).collect();
        Options::parse(&argv)
    }

    #[test]
    fn options_end_at_the_script() {
        let o = parse("perilune -e x -lfoo -joff -Ohotloop=1 -O s.lua -v").unwrap();
        let t = |s: &str| s.as_bytes().to_vec();
        assert_eq!(
            o.steps,
            [
                Step::Execute(t("x")),
                Step::Require(t("foo")),
                Step::Control(t("off")),
                Step::Optimize(t("hotloop=1")),
                Step::Optimize(t("")),
            ]
        );
        assert_eq!((o.script, o.version, o.executes), (7, false, true));
        assert_eq!(parse("perilune -- -x").unwrap().script, 2);
        assert_eq!(parse("perilune -i - a").unwrap().script, 2);
        assert!(parse("perilune -i").unwrap().version);
    }

    #[test]
    fn wrong_options() {
        for line in [
            "-joff -b",
            "-e x -bl",
            "-v -b",
            "-E -b",
            "-x",
            "-e",
            "-vv",
            "--foo",
            "-l",
            "--memory-limit",
            "--memory-limit 1x",
            "--memory-limits=1",
        ] {
            assert_eq!(parse(&format!("perilune {line}")), None, "{line}");
        }
    }

    #[test]
    fn memory_limits() {
        assert_eq!(parse("perilune --memory-limit 64m x").unwrap().memory_limit, Some(64 << 20));
        assert_eq!(parse("perilune --memory-limit=5 x").unwrap().script, 2);
        assert_eq!(bytes(b"1G"), Some(1 << 30));
        assert_eq!(bytes(b""), None);
        assert_eq!(bytes(b"99999999999999g"), None);
    }
}
