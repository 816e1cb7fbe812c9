//! The functions of the libraries `jit`, `jit.util`, `jit.opt` and `jit.profile`, whose ids continue those of [`Builtin`].

use perilune_vm::stdlib::Builtin;

/// Calls a macro with the libraries: their names, and of each function the name and the path.
macro_rules! for_each_library {
    ($with:ident) => {
        $with! {
            "jit": on control::on, off control::off, flush control::flush, status control::status, security control::security,
                attach attach::attach;
            "jit.util": funcinfo funcinfo::funcinfo, funcbc funcinfo::funcbc, funck funcinfo::funck, funcuvname funcinfo::funcuvname,
                traceinfo traceinfo::traceinfo, traceir traceinfo::traceir, tracek traceinfo::tracek, tracesnap traceinfo::tracesnap,
                tracemc traceinfo::tracemc, traceexitstub traceinfo::traceexitstub, ircalladdr traceinfo::ircalladdr,
                counters tracestats::counters, tracestats tracestats::tracestats, exitinfo tracestats::exitinfo,
                aborts tracestats::aborts, bytecounts tracestats::bytecounts;
            "jit.opt": start opt::start;
            "jit.profile": start profile::start, stop profile::stop, dumpstack profile::dumpstack;
        }
    };
}
pub(super) use for_each_library;

macro_rules! names_in_full {
    ($($library:literal: $($name:ident $function:path),*;)*) => { [$($(concat!($library, ".", stringify!($name)),)*)*] };
}

/// The names of all functions that have an id, by id.
pub fn names() -> impl Iterator<Item = &'static str> {
    Builtin::NAMES.iter().copied().chain(for_each_library!(names_in_full))
}
