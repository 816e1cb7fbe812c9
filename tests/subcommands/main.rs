//! The subcommands `heap`, `memprof`, `profile` and `trace` from outside.

mod findings;
mod folder;
mod profile;
mod reports;
mod trace;
