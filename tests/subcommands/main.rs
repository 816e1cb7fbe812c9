//! The subcommands `heap`, `memprof`, `profile` and `trace` from outside.

mod profile;
mod reports;
mod trace;
