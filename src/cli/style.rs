//! Colours, where there is a terminal that has them and the user wants them.
//!
//! `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM` are looked at as other commands do (<https://bixense.com/clicolors/>).

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// How parts of messages look.
#[derive(Copy, Clone)]
pub struct Styles {
    /// Numbers of lines.
    pub gutter: Style,
    /// The mark below what is wrong.
    pub mark: Style,
    /// What few read: tracebacks.
    pub faint: Style,
}

impl Styles {
    /// Nothing but the text.
    pub const PLAIN: Styles = Styles { gutter: Style::new(), mark: Style::new(), faint: Style::new() };
    /// For terminals with colours.
    pub const COLOURFUL: Styles =
        Styles { gutter: AnsiColor::Blue.on_default(), mark: AnsiColor::Red.on_default().bold(), faint: Style::new().dimmed() };
}

/// The styles of messages on standard error.
pub fn stderr() -> Styles {
    of(AutoStream::choice(&std::io::stderr()))
}

/// Is text on standard output that is for people in colours: help, and what is typed in the interactive mode?
pub fn stdout_has_colours() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

fn of(choice: ColorChoice) -> Styles {
    if choice == ColorChoice::Never { Styles::PLAIN } else { Styles::COLOURFUL }
}
