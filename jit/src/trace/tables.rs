//! The tables of traces and exits that the VM points to. They have their largest size from the start, since compiled code has their
//! addresses; few programs use more than a small part. So the states of a thread reuse them, cleared as far as they were used.

use std::cell::RefCell;

/// Trace numbers are 16 bits wide in bytecode.
pub const MAX_TRACES: usize = 1 << 16;
/// Exits of all traces together; when they are used up, everything is flushed.
pub const MAX_EXITS: usize = 1 << 18;
/// Tables of which more was used are not reused: their memory goes back to the system.
const KEPT: usize = 1 << 14;

/// The tables, all zeros at first.
#[derive(Debug, Default)]
pub struct Tables {
    /// Code by trace number.
    pub trace_code: Vec<usize>,
    /// Times entered by trace number.
    pub entered: Vec<u64>,
    /// Runs left by trace number, for side traces.
    pub side_countdown: Vec<i32>,
    /// Code by exit id.
    pub exit_table: Vec<usize>,
}

thread_local! {
    static IDLE: RefCell<Option<Tables>> = const { RefCell::new(None) };
}

/// Tables for a new state, all zeros.
pub fn take() -> Tables {
    let idle = IDLE.try_with(RefCell::take).ok().flatten();
    idle.unwrap_or_else(|| Tables {
        trace_code: vec![0; MAX_TRACES],
        entered: vec![0; MAX_TRACES],
        side_countdown: vec![0; MAX_TRACES],
        exit_table: vec![0; MAX_EXITS],
    })
}

/// Keeps the tables of a state that ends for the next one. `traces` and `exits` say how much of them was used.
pub fn keep(mut tables: Tables, traces: usize, exits: usize) {
    if traces.max(exits) <= KEPT {
        tables.trace_code[..traces].fill(0);
        tables.entered[..traces].fill(0);
        tables.side_countdown[..traces].fill(0);
        tables.exit_table[..exits].fill(0);
        // When the thread itself ends, the tables are dropped.
        let _ = IDLE.try_with(|idle| idle.replace(Some(tables)));
    }
}
