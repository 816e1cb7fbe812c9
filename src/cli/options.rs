//! Options: scanned from left to right up to the script.

use std::time::Duration;

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
    /// `-Ohelp`
    OptimizeHelp,
    /// `-jhelp`
    ControlHelp,
}

/// What the process ends with at once.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// `--help`
    Help,
    /// `--version`
    Version,
}

/// The options.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub steps: Vec<Step>,
    pub interactive: bool,
    pub version: bool,
    pub no_env: bool,
    /// Is there an option that makes up for a script: `-e`, or one that only tells something?
    pub executes: bool,
    /// Is something to be shown, and no more to be done?
    pub shown: Option<Shown>,
    pub memory_limit: Option<usize>,
    pub time_limit: Option<Duration>,
    pub fuel: Option<u64>,
    /// Index of the script; the number of arguments if there is none.
    pub script: usize,
}

impl Options {
    /// Reads the command line from argument `i` on.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(argv: &[Vec<u8>], mut i: usize) -> Result<Options, String> {
        let mut o = Options::default();
        while let Some(a) = argv.get(i) {
            let Some(letters) = a.strip_prefix(b"-") else { break };
            let Some((&letter, tail)) = letters.split_first() else { break };
            i += 1;
            match letter {
                b'-' if tail.is_empty() => break,
                b'-' if tail == b"help" => o.shown = o.shown.or(Some(Shown::Help)),
                b'-' if tail == b"version" => o.shown = o.shown.or(Some(Shown::Version)),
                b'-' => {
                    if let Some(text) = value("--memory-limit", a, argv, &mut i)? {
                        let malformed = || format!("malformed number of bytes '{}' for '--memory-limit'", shown(text));
                        o.memory_limit = Some(bytes(text).ok_or_else(malformed)?);
                    } else if let Some(text) = value("--time-limit", a, argv, &mut i)? {
                        let malformed = || format!("malformed time '{}' for '--time-limit'", shown(text));
                        o.time_limit = Some(time(text).ok_or_else(malformed)?);
                    } else if let Some(text) = value("--fuel", a, argv, &mut i)? {
                        let malformed = || format!("malformed number of instructions '{}' for '--fuel'", shown(text));
                        o.fuel = Some(core::str::from_utf8(text).ok().and_then(|n| n.parse().ok()).ok_or_else(malformed)?);
                    } else {
                        return Err(unknown(a));
                    }
                }
                b'h' | b'i' | b'v' | b'E' if !tail.is_empty() => return Err(unknown(a)),
                b'h' => o.shown = o.shown.or(Some(Shown::Help)),
                b'i' => (o.interactive, o.version) = (true, true),
                b'v' => o.version = true,
                b'E' => o.no_env = true,
                b'O' if tail == b"help" => {
                    o.executes = true;
                    o.steps.push(Step::OptimizeHelp);
                }
                b'O' => o.steps.push(Step::Optimize(tail.to_vec())),
                b'b' => {
                    if o.interferes() {
                        return Err("of all options, only '-O' may come before '-b'".to_owned());
                    }
                    let letters = (!tail.is_empty()).then(|| [b"-", tail].concat());
                    let rest = argv[i..].iter().cloned();
                    o.steps.push(Step::Bytecode(letters.into_iter().chain(rest).collect()));
                    break;
                }
                b'e' | b'j' | b'l' => {
                    let mut text = tail;
                    if text.is_empty() {
                        text = argv.get(i).ok_or_else(|| format!("'{}' needs argument", shown(a)))?;
                        i += 1;
                    }
                    let text = text.to_vec();
                    let help = letter == b'j' && text == b"help";
                    o.executes |= letter == b'e' || help;
                    o.steps.push(match letter {
                        b'e' => Step::Execute(text),
                        b'j' if help => Step::ControlHelp,
                        b'j' => Step::Control(text),
                        _ => Step::Require(text),
                    });
                }
                _ => return Err(unknown(a)),
            }
        }
        o.script = i.min(argv.len());
        Ok(o)
    }
    /// Is there an option that `-b` does not go with?
    fn interferes(&self) -> bool {
        self.version || self.no_env || self.steps.iter().any(|s| !matches!(s, Step::Optimize(_)))
    }
}

fn shown(option: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(option)
}

fn unknown(option: &[u8]) -> String {
    format!("unrecognized option '{}'", shown(option))
}

/// The value of an option with a name, after `=` or the next argument; none if the option is another one.
fn value<'a>(name: &str, option: &'a [u8], argv: &'a [Vec<u8>], i: &mut usize) -> Result<Option<&'a [u8]>, String> {
    let Some(rest) = option.strip_prefix(name.as_bytes()) else { return Ok(None) };
    if rest.is_empty() {
        *i += 1;
        let next = argv.get(*i - 1).ok_or_else(|| format!("'{name}' needs argument"))?;
        return Ok(Some(next));
    }
    Ok(rest.strip_prefix(b"="))
}

/// A time: seconds, or with a unit.
fn time(text: &[u8]) -> Option<Duration> {
    let text = core::str::from_utf8(text).ok()?;
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok()
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

    fn parse(line: &str) -> Result<Options, String> {
        let argv: Vec<Vec<u8>> = line.split(' ').map(|a| a.as_bytes().to_vec()).collect();
        Options::parse(&argv, 1)
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
        for (line, message) in [
            ("-joff -b", "of all options, only '-O' may come before '-b'"),
            ("-e x -bl", "of all options, only '-O' may come before '-b'"),
            ("-v -b", "of all options, only '-O' may come before '-b'"),
            ("-E -b", "of all options, only '-O' may come before '-b'"),
            ("-x", "unrecognized option '-x'"),
            ("-e", "'-e' needs argument"),
            ("-vv", "unrecognized option '-vv'"),
            ("-Ex", "unrecognized option '-Ex'"),
            ("--foo", "unrecognized option '--foo'"),
            ("-l", "'-l' needs argument"),
            ("--memory-limit", "'--memory-limit' needs argument"),
            ("--memory-limit 1x", "malformed number of bytes '1x' for '--memory-limit'"),
            ("--memory-limits=1", "unrecognized option '--memory-limits=1'"),
            ("--time-limit", "'--time-limit' needs argument"),
            ("--time-limit=-1", "malformed time '-1' for '--time-limit'"),
            ("--time-limit=1y", "malformed time '1y' for '--time-limit'"),
            ("--time-limit=", "malformed time '' for '--time-limit'"),
            ("--fuel=1e3", "malformed number of instructions '1e3' for '--fuel'"),
        ] {
            assert_eq!(parse(&format!("perilune {line}")), Err(message.to_owned()), "{line}");
        }
    }

    #[test]
    fn what_only_tells() {
        assert_eq!(parse("perilune --help -x").unwrap_err(), "unrecognized option '-x'");
        assert_eq!(parse("perilune -h").unwrap().shown, Some(Shown::Help));
        assert_eq!(parse("perilune --version --help").unwrap().shown, Some(Shown::Version));
        let o = parse("perilune -Ohelp -jhelp -j help").unwrap();
        assert_eq!(o.steps, [Step::OptimizeHelp, Step::ControlHelp, Step::ControlHelp]);
        assert!(o.executes);
    }

    #[test]
    fn time_limits() {
        let limit = |option: &str| parse(&format!("perilune {option} x")).unwrap().time_limit.unwrap();
        assert_eq!(limit("--time-limit 5"), Duration::from_secs(5));
        assert_eq!(limit("--time-limit=5s"), Duration::from_secs(5));
        assert_eq!(limit("--time-limit=1.5m"), Duration::from_secs(90));
        assert_eq!(limit("--time-limit 20ms"), Duration::from_millis(20));
        assert_eq!(limit("--time-limit 2h"), Duration::from_secs(7200));
    }
    #[test]
    fn memory_limits() {
        assert_eq!(parse("perilune --memory-limit 64m x").unwrap().memory_limit, Some(64 << 20));
        assert_eq!(parse("perilune --memory-limit=5 x").unwrap().script, 2);
        assert_eq!(parse("perilune --fuel 1000 x").unwrap().fuel, Some(1000));
        assert_eq!(bytes(b"1G"), Some(1 << 30));
        assert_eq!(bytes(b""), None);
        assert_eq!(bytes(b"99999999999999g"), None);
    }
}
