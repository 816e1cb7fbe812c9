//! Running a script to look at it.
#![allow(unsafe_code, reason = "the guard of Ctrl-C is gone before the state is")]

use crate::cli::interrupt::Guard;
use crate::cli::report::{Prefix, message};
use clap::Args;
use perilune::Lua;
use perilune_tools::failure::{Failure, Outcome, about};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// An error of a script, as LuaJIT's command reports it: the message and the traceback.
pub fn failed(e: &perilune::Error) -> Failure {
    let traceback = e.traceback().map_or_else(String::new, |t| format!("\n{t}"));
    Failure::Other(e.message() + &traceback)
}

/// A state with all libraries, as scripts of the command have it.
pub fn new_state() -> Lua {
    // SAFETY: who runs the command answers for the script and for the modules that it loads.
    unsafe {
        let lua = Lua::unsafe_new();
        lua.allow_c_modules();
        lua
    }
}

/// A script and its arguments.
#[derive(Args)]
pub struct Script {
    /// The script to run.
    script: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// What is done once: when the script ends, or before that when the process does.
pub struct Once<T>(Arc<Mutex<Option<T>>>);

impl<T> Once<T> {
    pub fn new(value: T) -> Once<T> {
        Once(Arc::new(Mutex::new(Some(value))))
    }
    /// Provides a value.
    pub fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }
    /// The value, the first time.
    pub fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Default for Once<T> {
    /// Nothing so far.
    fn default() -> Once<T> {
        Once(Arc::default())
    }
}

impl<T> Clone for Once<T> {
    fn clone(&self) -> Once<T> {
        Once(Arc::clone(&self.0))
    }
}

impl Script {
    /// A script to run.
    pub fn new(script: PathBuf, arguments: Vec<String>) -> Script {
        Script { script, arguments }
    }
    /// Runs it. An error of the script is one of the command, but first `finally` looks at the state; also when the script ends the
    /// process.
    pub fn run(&self, lua: &Lua, finally: impl FnOnce(&Lua) -> Outcome + Send + 'static) -> Outcome {
        let once = Once::new(finally);
        let at_exit = once.clone();
        lua.at_exit(move |lua, _| {
            if let Some(Err(e)) = at_exit.take().map(|f| f(lua)) {
                message(Prefix::Program, e.to_string().as_bytes());
                std::process::exit(1);
            }
        });
        let result = self.start_interruptible(lua)?;
        once.take().map_or(Ok(()), |f| f(lua))?;
        result.map_err(|e| failed(&e))
    }
    /// Runs it: the inner result is the script's.
    pub fn start(&self, lua: &Lua) -> Outcome<perilune::Result<()>> {
        let source = std::fs::read(&self.script).map_err(|e| about(&self.script, e))?;
        Ok(self.call(lua, source))
    }
    /// Runs it so that Ctrl-C is an error in it.
    pub fn start_interruptible(&self, lua: &Lua) -> Outcome<perilune::Result<()>> {
        // SAFETY: the state lives, and nobody uses it before the script is run. The guard is gone when this returns.
        let _guard = unsafe {
            let vm = perilune::vm_of(lua);
            (*vm).set_interruptible(true);
            Guard::new(vm)
        };
        self.start(lua)
    }
    /// Is it there to be read?
    pub fn check(&self) -> Outcome {
        std::fs::File::open(&self.script).map(drop).map_err(|e| about(&self.script, e))
    }
    /// Its name.
    pub fn name(&self) -> String {
        self.script.to_string_lossy().into_owned()
    }
    /// Its arguments.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }
    fn call(&self, lua: &Lua, source: Vec<u8>) -> perilune::Result<()> {
        let arg = lua.create_sequence_from(self.arguments.iter().map(String::as_str))?;
        arg.raw_set(0, self.script.to_string_lossy().into_owned())?;
        lua.globals().set("arg", arg)?;
        let function = lua.load(source).set_name(format!("@{}", self.script.display())).into_function()?;
        function.call(perilune::Variadic::from(self.arguments.clone()))
    }
}
