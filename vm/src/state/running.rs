//! What a VM does at the moment.

/// The activity of a VM.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Activity {
    /// Compiled code runs, or a builtin called by it.
    Compiled = b'N',
    /// The interpreter runs.
    Interpreter = b'I',
    /// A builtin called by the interpreter runs.
    Builtin = b'C',
    /// The collector runs.
    Collector = b'G',
    /// The compiler records, or decides whether to.
    Compiler = b'J',
    /// The compiler optimises a trace.
    Optimizer = b'O',
    /// The compiler makes machine code.
    Assembler = b'A',
    /// A trace is left: the compiler handles the exit.
    Exit = b'X',
}

/// Fields that each call of a builtin and each exit accesses: they are beside the registers of the VM, in one cache line.
#[derive(Debug)]
pub struct RunState {
    /// Is compiled code to be left? See [`Vm::is_exit_requested`].
    pub(crate) exit_requested: bool,
    /// The current activity. See [`Vm::begin_activity`].
    pub(crate) activity: Activity,
}

impl Default for RunState {
    fn default() -> RunState {
        RunState { exit_requested: false, activity: Activity::Interpreter }
    }
}
