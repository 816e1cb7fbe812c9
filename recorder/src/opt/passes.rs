//! The passes on a finished trace, in order.

use super::{buffers, dce, held, loops, sink};
use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::verify::verify;

/// What a pass did.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// Instructions before, see [`crate::ir::Trace::executed`]; for emission the requested ones.
    pub before: usize,
    /// Instructions after it.
    pub after: usize,
}

/// Runs the passes on a finished trace, and returns what each did. `looping` says that the trace closes a loop: then the last snapshot is
/// the state at the end of the iteration, in the frame of the trace's start. On [`Abort::TypeInstability`] and [`Abort::GuardAlwaysFails`]
/// the trace is unchanged, and another iteration may be recorded after it.
pub fn finish(b: &mut IrBuffer, looping: bool) -> Result<Vec<Pass>, Abort> {
    debug_verify(b, "recording");
    let history = b.history.take().map(|mut h| {
        h.recorded = b.trace.clone();
        h
    });
    let done = run_passes(b, looping);
    b.history = history;
    done
}

fn run_passes(b: &mut IrBuffer, looping: bool) -> Result<Vec<Pass>, Abort> {
    let emitted = Pass { name: "emit", before: b.requested, after: b.trace.executed() };
    held::run(b);
    let mut run = Run { b, done: vec![emitted] };
    if looping && run.b.flags.loop_ {
        // If the loop does not close, the next iteration may use references that no snapshot names: nothing may be removed before.
        run.pass("loop", loops::run)?;
        debug_verify(run.b, "loop");
    } else {
        run.pass("dce", always(dce::run))?;
        run.pass("sink", always(sink::run))?;
    }
    run.pass("dce", always(dce::run))?;
    debug_verify(run.b, "dce");
    if buffers::has_work(run.b) {
        run.pass("fuse", always(buffers::run))?;
        debug_verify(run.b, "fuse");
    }
    Ok(run.done)
}

/// A pass that does not fail.
fn always(run: fn(&mut IrBuffer)) -> impl FnOnce(&mut IrBuffer) -> Result<(), Abort> {
    move |b| {
        run(b);
        Ok(())
    }
}

/// The passes of one trace.
struct Run<'a> {
    b: &'a mut IrBuffer,
    done: Vec<Pass>,
}

impl Run<'_> {
    /// Runs a pass, and notes what it did.
    fn pass(&mut self, name: &'static str, run: impl FnOnce(&mut IrBuffer) -> Result<(), Abort>) -> Result<(), Abort> {
        let before = self.b.trace.executed();
        run(self.b)?;
        self.done.push(Pass { name, before, after: self.b.trace.executed() });
        Ok(())
    }
}

/// A malformed trace is a bug of the pass that just ran.
fn debug_verify(b: &IrBuffer, pass: &str) {
    if cfg!(debug_assertions)
        && let Err(e) = verify(&b.trace)
    {
        panic!("after {pass}: {e}\n{}", b.trace);
    }
}
