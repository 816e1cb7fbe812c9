//! What the command says of itself: its options, the parameters of the compiler, the commands of `-j`.

use super::report::program;
use perilune_jit::params::{OPTIMISATIONS, Params};
use perilune_jit::stdlib::commands;

/// An option, in LuaJIT's form.
pub struct Flag {
    /// Its letter.
    pub letter: Option<char>,
    /// Its name.
    pub name: Option<&'static str>,
    /// What follows it, if something does.
    pub value: &'static str,
    /// What it is for.
    pub help: &'static str,
}

const fn flag(letter: char, value: &'static str, help: &'static str) -> Flag {
    Flag { letter: Some(letter), name: None, value, help }
}

/// All options, in the order in which they are listed.
pub const FLAGS: [Flag; 13] = [
    flag('e', " chunk", "Execute string 'chunk'."),
    flag('l', " name", "Require library 'name'."),
    flag('b', " ...", "Save or list bytecode."),
    flag('j', " cmd", "Perform LuaJIT control command; -jhelp lists them."),
    flag('O', "[opt]", "Control LuaJIT optimizations; -Ohelp lists them."),
    flag('i', "", "Enter interactive mode after executing 'script'."),
    flag('v', "", "Show version information."),
    flag('E', "", "Ignore environment variables."),
    Flag { letter: None, name: Some("memory-limit"), value: " bytes[k|m|g]", help: "Limit the memory of the program." },
    Flag { letter: None, name: Some("time-limit"), value: " time[ms|s|m|h]", help: "End the program after so much time." },
    Flag { letter: None, name: Some("fuel"), value: " number", help: "End the program after so many instructions." },
    Flag { letter: Some('h'), name: Some("help"), value: "", help: "Show this, and end." },
    Flag { letter: None, name: Some("version"), value: "", help: "Show version information, and end." },
];

/// The first line of what is said of the options.
pub fn synopsis() -> Vec<u8> {
    [b"usage: ", program(), b" [options]... [script [args]...].\n"].concat()
}

/// What `--help` prints; `subcommands` with what they are for.
pub fn help(subcommands: &[(String, String)]) -> Vec<u8> {
    let mut text = String::from("Available options are:\n");
    for f in FLAGS {
        let letter = f.letter.map(|l| format!("-{l}"));
        let name = f.name.map(|n| format!("--{n}"));
        let form: Vec<String> = letter.into_iter().chain(name).collect();
        text += &row(&format!("{}{}", form.join(", "), f.value), f.help);
    }
    text += &row("--", "Stop handling options.");
    text += &row("-", "Execute stdin and stop handling options.");
    text += "Available commands are, with options of their own (--help):\n";
    for (name, about) in subcommands {
        text += &row(name, about);
    }
    text += "A script that is called like a command is run as ./script, or after --.\n";
    [synopsis(), text.into_bytes()].concat()
}

/// A line of a list, or two if what is explained is long.
fn row(what: &str, meaning: &str) -> String {
    const WIDTH: usize = 12;
    if what.len() < WIDTH { format!("  {what:WIDTH$}{meaning}\n") } else { format!("  {what}\n  {:WIDTH$}{meaning}\n", "") }
}

/// What `-Ohelp` prints.
pub fn optimisations() -> String {
    let mut text =
        String::from("Optimizations, all on: -O-name or -Ono-name switches one off, -O0 all, -O1 all but fold, cse, dce.\n");
    for (name, meaning) in OPTIMISATIONS {
        text += &row(name, meaning.trim());
    }
    text += "Parameters, with their defaults: -Oname=number sets one.\n";
    for (name, default, meaning) in Params::TABLE {
        // Where it is explained in the source is for those who have that.
        let meaning = meaning.trim().trim_end_matches("See `policy`.").trim_end();
        text += &format!("  {:19} {meaning}\n", format!("{name}={default}"));
    }
    text
}

/// What `-jhelp` prints.
pub fn control_commands() -> String {
    let mut text = String::from("Commands: -jname or -jname=arguments.\n");
    for (name, meaning) in
        [("on", "Switch the compiler on (the default)."), ("off", "Switch it off."), ("flush", "Throw away all compiled code.")]
    {
        text += &row(name, meaning);
    }
    for (name, meaning) in commands() {
        text += &row(name, &format!("{meaning}."));
    }
    text += "Any other name is that of a module jit.name with a function start.\n";
    text
}
