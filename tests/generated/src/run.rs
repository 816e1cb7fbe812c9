//! Runs a program in a fresh state, within this process.

use crate::modes::Mode;
use perilune_jit::Jit;
use perilune_vm::Vm;
use perilune_vm::bc::ProtoData;
use perilune_vm::error::LuaResult;
use perilune_vm::source::Source;
use perilune_vm::stdlib::LOADED;
use perilune_vm::syntax::compile;
use perilune_vm::value::Value;
use std::cell::RefCell;

/// What programs are called with: functions that the prelude makes.
pub const NAMES: &str = "I, N, S, T, C, A, text, P, K, J, chain, each, seldom";
const PRELUDE: &str = include_str!("prelude.lua");
const STANDALONE: &str = include_str!("standalone.lua");

/// The heap of a program may grow up to here.
const MEMORY: usize = 96 << 20;
/// So much of what a program shows is kept; of the rest, a hash.
const KEPT: usize = 16 << 10;

/// The prelude, whose last value ends a program.
pub fn prelude() -> String {
    format!("{PRELUDE}return finish, {NAMES}\n")
}

/// The first line of a program, so that lines have the same numbers wherever it runs.
pub fn chunk(body: &str) -> String {
    format!("local {NAMES} = ...\n{body}")
}

/// A program with all that it needs, as a file of its own; `before`: lines that run before it.
pub fn standalone(body: &str, before: &str) -> String {
    let prelude = prelude();
    format!(
        "{STANDALONE}local function emit(...) io.write(show(...)) end\n\
         local function prelude(...)\n{prelude}end\n\
         local function run(finish, ...)\n  \
           local ok, message = xpcall((function(...)\n{}end), debug.traceback, ...)\n  \
           finish()\n  if not ok then error(message, 0) end\nend\n{before}run(prelude(emit))\n",
        chunk(body)
    )
}

/// What programs show, and a hash of what there was no room for.
struct Shown {
    text: Vec<u8>,
    rest: u64,
}

impl Shown {
    fn put(&mut self, line: &[u8]) {
        if self.text.len() < KEPT {
            return self.text.extend_from_slice(line);
        }
        for byte in line {
            self.rest = (self.rest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    fn take(&mut self) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.text);
        if self.rest != 0 {
            text.extend_from_slice(format!("(more: {:x})\n", self.rest).as_bytes());
        }
        self.rest = 0;
        text
    }
}

thread_local! {
    static SHOWN: RefCell<Shown> = const { RefCell::new(Shown { text: Vec::new(), rest: 0 }) };
}

/// Appends a number with all its digits, as `standalone.lua` does.
fn put_number(line: &mut Vec<u8>, x: f64) {
    use std::io::Write;
    // Writing to a vector cannot fail.
    let _ = if x.is_nan() {
        write!(line, "nan")
    } else if x == 0.0 {
        write!(line, "{}", if x.is_sign_negative() { "-0" } else { "0" })
    } else if x.is_infinite() {
        write!(line, "{}", if x > 0.0 { "inf" } else { "-inf" })
    } else if x.fract() == 0.0 && x.abs() < 1e15 {
        write!(line, "{}", x as i64)
    } else {
        let text = format!("{x:.24e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |e| ("-", e));
        write!(line, "{digits}e{sign}{exponent:0>2}")
    };
}

/// What programs have as `P`.
fn show(vm: &mut Vm) -> LuaResult<u32> {
    let mut line = Vec::with_capacity(64);
    for i in 0..vm.nargs() {
        if i > 0 {
            line.push(b' ');
        }
        let v = vm.arg(i);
        if let Some(s) = v.as_str() {
            line.extend_from_slice(s.bytes());
        } else if let Some(x) = v.as_number() {
            put_number(&mut line, x);
        } else if v.is_nil() {
            line.extend_from_slice(b"nil");
        } else if v.is_bool() {
            line.extend_from_slice(if v.truthy() { b"true" } else { b"false" });
        } else {
            line.extend_from_slice(format!("<{}>", v.type_name()).as_bytes());
        }
    }
    line.push(b'\n');
    SHOWN.with_borrow_mut(|shown| shown.put(&line));
    Ok(0)
}

/// How a program ended, with what it showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it showed, and the message of the error that ended it.
    pub shown: Vec<u8>,
    /// The traceback of that error.
    pub traceback: Vec<u8>,
}

impl Outcome {
    /// All of it, for people.
    pub fn text(&self) -> String {
        format!("{}{}", String::from_utf8_lossy(&self.shown), String::from_utf8_lossy(&self.traceback))
    }
}

/// A program, compiled to bytecode once for all states that it is run in; or the message of the syntax error.
pub struct Program(Result<ProtoData, Vec<u8>>);

impl Program {
    /// Compiles the body of a program.
    pub fn new(body: &str) -> Program {
        let data = compile(Source::whole(chunk(body).as_bytes()), b"=program");
        Program(data.map_err(|e| e.message().unwrap_or_default().to_vec()))
    }
}

/// Runs programs; what states have in common is made once.
pub struct Runner {
    prelude: ProtoData,
}

impl Runner {
    /// # Panics
    /// If the prelude cannot be compiled.
    #[allow(clippy::new_without_default, reason = "it compiles")]
    pub fn new() -> Runner {
        let prelude = compile(Source::whole(prelude().as_bytes()), b"=prelude").ok();
        Runner { prelude: prelude.expect("a prelude that compiles") }
    }
    /// Runs a program in a mode with options, and what is to run before it.
    pub fn run(&self, program: &Program, mode: &Mode, options: &[String], before: Option<&str>) -> Outcome {
        // SAFETY: the VM is used as its documentation says.
        let mut vm = unsafe { perilune::new_vm(true) };
        vm.set_memory_limit(Some(MEMORY));
        set(&mut vm, mode, options);
        let outcome = self.run_in(&mut vm, program, before);
        // Finalizers that run when the state ends show nothing: their order is nobody's business.
        drop(vm);
        SHOWN.with_borrow_mut(Shown::take);
        outcome
    }
    fn run_in(&self, vm: &mut Vm, program: &Program, before: Option<&str>) -> Outcome {
        let show = Value::func(vm.new_native(show, 1, &[]));
        let prelude = Value::func(vm.load_data(&self.prelude));
        let mut given = vm.pcall_traced(prelude, &[show]).unwrap_or_default();
        assert!(!given.is_empty(), "the prelude fails");
        let finish = given.remove(0);
        let root = vm.host.roots.add(finish);
        let mut traceback = Vec::new();
        let error = match &program.0 {
            Err(message) => Some([b"syntax error: ".as_slice(), message].concat()),
            Ok(data) => {
                let program = Value::func(vm.load_data(data));
                if let Some(before) = before {
                    run_before(vm, before);
                }
                vm.pcall_traced(program, &given).err().map(|(e, trace)| {
                    vm.errors.value = e;
                    traceback = trace;
                    vm.error_text()
                })
            }
        };
        vm.host.roots.release(root);
        let finished = vm.pcall_traced(finish, &[]).is_ok();
        let mut shown = SHOWN.with_borrow_mut(Shown::take);
        if let Some(e) = error {
            shown.extend_from_slice(&[b"error: ".as_slice(), &e, b"\n"].concat());
        }
        if !finished {
            shown.extend_from_slice(b"finish failed\n");
        }
        Outcome { shown, traceback }
    }
}

/// Runs Lua that a mode has before each program.
fn run_before(vm: &mut Vm, text: &str) {
    let chunk = vm.load_chunk(text.as_bytes(), b"=before", None);
    let done = chunk.is_ok_and(|f| vm.pcall_traced(Value::func(f), &[]).is_ok());
    assert!(done, "{text}");
}

/// Makes a new state run in a mode.
fn set(vm: &mut Vm, mode: &Mode, options: &[String]) {
    vm.set_loop_driver(mode.loop_driver || cfg!(debug_assertions));
    if !options.is_empty() {
        let loaded = vm.registry_table(LOADED);
        let opt = vm.field(loaded, b"jit.opt").as_table();
        let start = opt.map_or(Value::NIL, |t| vm.field(t, b"start"));
        let arguments: Vec<Value> = options.iter().map(|o| Value::str(vm.new_str(o.as_bytes()))).collect();
        let done = vm.pcall_traced(start, &arguments);
        assert!(done.is_ok(), "the options {options:?}");
    }
    if let Some(pause) = mode.pause {
        let globals = vm.realm.globals;
        let collect = vm.field(globals, b"collectgarbage");
        let what = Value::str(vm.new_str(b"setpause"));
        let done = vm.pcall_traced(collect, &[what, Value::int(pause)]);
        assert!(done.is_ok(), "setpause");
    }
    if !mode.compiler
        && let Some(jit) = Jit::of(vm)
    {
        jit.switch(vm, false);
        stay_off(vm);
    }
}

/// What programs do to the compiler must not switch it on where it is to be off. `jit.off` raises the errors of `jit.on`.
fn stay_off(vm: &mut Vm) {
    let loaded = vm.registry_table(LOADED);
    let [jit, opt] = [b"jit".as_slice(), b"jit.opt"].map(|module| vm.field(loaded, module).as_table());
    if let (Some(jit), Some(opt)) = (jit, opt) {
        let off = vm.field(jit, b"off");
        vm.set_field(jit, b"on", off);
        let nothing = Value::func(vm.new_native(|_| Ok(0), 1, &[]));
        vm.set_field(opt, b"start", nothing);
    }
}
