//! The subcommands `heap`, `memprof`, `profile` and `trace` from outside.

mod folder;
mod profile;
mod reports;
mod trace;
