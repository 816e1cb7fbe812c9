//! Runs a script interrupted by 1,000 signals in a second of processor time that nobody looks at: what any sampling by signals costs on
//! a machine. Without the script's arguments: `arg` is left to the script.
//!
//! ```text
//! cargo run --profile dist --example signals -- SCRIPT
//! ```

use core::mem::MaybeUninit;
use perilune::Lua;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: perilune_vm::gc::reserve::Allocator = perilune_vm::gc::reserve::Allocator;

/// The first version of `struct perf_event_attr`, and what is set in it: see `vm/src/sample/clock.rs`, which sends the same signals.
#[repr(C)]
struct EventAttributes {
    kind_size: [u32; 2],
    config_period_type_format_flags: [u64; 5],
    wakeup_breakpoint: [u32; 2],
    config1: u64,
}

const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;
const NANOSECONDS: u64 = 1_000_000;
const REMOVE_ON_EXEC_AND_TRAP: u64 = 1 << 36 | 1 << 37;

extern "C" fn ignore(_: libc::c_int) {}

/// Begins to interrupt this thread; false if the system does not.
fn begin() -> bool {
    let attributes = EventAttributes {
        kind_size: [SOFTWARE, size_of::<EventAttributes>() as u32],
        config_period_type_format_flags: [TASK_CLOCK, NANOSECONDS, 0, 0, REMOVE_ON_EXEC_AND_TRAP],
        wakeup_breakpoint: [1, 0],
        config1: 0,
    };
    // SAFETY: all-zero is a value of `sigaction`; the handler does nothing; the attributes are valid during the call.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = ignore as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGTRAP, &action, core::ptr::null_mut());
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, 0) >= 0
    }
}

fn main() -> ExitCode {
    let Some(script) = std::env::args().nth(1) else {
        eprintln!("usage: signals SCRIPT");
        return ExitCode::FAILURE;
    };
    let run = || -> Result<(), Box<dyn std::error::Error>> {
        let source = std::fs::read(&script)?;
        if !begin() {
            return Err("the system sends no signals: see /proc/sys/kernel/perf_event_paranoid".into());
        }
        Lua::new().load(source).set_name(format!("@{script}")).exec()?;
        Ok(())
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("signals: {e}");
            ExitCode::FAILURE
        }
    }
}
